//! `writecliff trace make`: a synthetic trace from a plan, and how it compares with the plan.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use serde::Serialize;
use writecliff_output::Existing;
use writecliff_report::TextTable;
use writecliff_trace::make::{Comparison, Figure};
use writecliff_trace::{MakeError, Maker, PLANS, Plan, Summary, TraceWriter};

use super::existing;
use super::source::note;
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::options::{Percent, seed};
use crate::output::{ProgressLine, print, print_json};
use crate::progress::gone_and_left;

/// Operations between two looks at Ctrl-C, and two lines of progress.
const STRIDE: u64 = 1 << 18;

#[derive(Debug, Args)]
pub(crate) struct MakeArguments {
    /// heavy-2011, light-2011, destroyer-2013, or PLAN.toml (docs/formats.md)
    plan: String,
    /// The file to write, as --out says it
    #[arg(value_name = "OUT.trace", conflicts_with = "out")]
    output: Option<PathBuf>,
    /// The file to write [default: ./NAME.trace]
    #[arg(long, value_name = "FILE.trace")]
    out: Option<PathBuf>,
    /// Decides everything that the plan leaves open
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true,
          value_parser = seed)]
    seed: u64,
    /// Only this share of the plan's operations, bytes and duration, in percent, like 1%
    #[arg(long, value_name = "PERCENT", default_value = "100%", allow_hyphen_values = true)]
    scale: Percent,
    /// Replace the file if it is there already
    #[arg(long)]
    force: bool,
    /// Print what was made as JSON instead of a table
    #[arg(long)]
    json: bool,
    /// Print the plan as TOML instead: where its numbers come from, and how to write another
    #[arg(long, conflicts_with_all = ["output", "out", "seed", "scale", "force", "json"])]
    print_plan: bool,
}

/// What a script gets.
#[derive(Serialize)]
struct Made<'a> {
    path: &'a Path,
    summary: &'a Summary,
    figures: &'a [Figure],
}

pub(crate) fn make(arguments: &MakeArguments) -> Result<(), CliError> {
    let shipped = PLANS.iter().find(|plan| plan.name == arguments.plan);
    if let Some(shipped) = shipped.filter(|_| arguments.print_plan) {
        return print(shipped.text);
    }
    let plan = Plan::named(&arguments.plan)?;
    let Percent(percent) = arguments.scale;
    let plan = if percent < 100.0 { plan.scaled(percent / 100.0) } else { plan };
    let maker = Maker::new(&plan, arguments.seed)?;
    if arguments.print_plan {
        let path = PathBuf::from(&arguments.plan);
        let text = std::fs::read_to_string(&path);
        return print(&text.map_err(|source| MakeError::Read { path, source })?);
    }
    let path = arguments.out.clone().or_else(|| arguments.output.clone());
    let path = path.unwrap_or_else(|| PathBuf::from(format!("{}.trace", plan.name)));
    let existing = existing(&path, arguments.force)?;
    let mut comparison = Comparison::new(&plan);
    let summary = write(maker, &path, existing, &mut comparison)?;
    let figures = comparison.figures();
    match arguments.json {
        true => print_json(&Made { path: &path, summary: &summary, figures: &figures })?,
        false => print(&describe(&plan, &path, &summary, &figures))?,
    }
    warn(&figures);
    Ok(())
}

fn write(
    maker: Maker,
    path: &Path,
    existing: Existing,
    comparison: &mut Comparison,
) -> Result<Summary, CliError> {
    let interrupt = Interrupt::catch()?;
    let header = maker.header().clone();
    let ios = maker.summary().ios();
    let mut writer = TraceWriter::create(path, existing)?;
    let (progress, began) = (ProgressLine::begin(), Instant::now());
    for (index, io) in (0..).zip(maker) {
        if index % STRIDE == 0 {
            if interrupt.is_raised() {
                return Err(CliError::NothingWritten);
            }
            let done = index as f64 / ios.max(1) as f64;
            let time = || gone_and_left(began, Some(done));
            progress.show(|| {
                format!("{:3.0} %  {index} of {ios} operations, {}", done * 100.0, time())
            });
        }
        comparison.add(&io);
        writer.write(&io)?;
    }
    Ok(writer.finish(&header)?)
}

fn describe(plan: &Plan, path: &Path, summary: &Summary, figures: &[Figure]) -> String {
    let mut text = format!(
        "{}: {} operations over {}, {} streams\n{}\n\n",
        path.display(),
        summary.ios(),
        summary.duration(),
        plan.scenario.len(),
        plan.about,
    );
    let mut table =
        TextTable::new().text("", 24, usize::MAX).numbers("plan", 14).numbers("trace", 14);
    for Figure { name, asked, made } in figures {
        table.row(vec![name.clone(), number(*asked), number(*made)]);
    }
    text += &table.render();
    text += "\nThe plan's comments say which figures are published (--print-plan).\n";
    text
}

/// Tells what the trace has not as the plan has it.
fn warn(figures: &[Figure]) {
    let missed: Vec<&str> =
        figures.iter().filter(|figure| !figure.is_met()).map(|figure| &figure.name[..]).collect();
    if !missed.is_empty() {
        note(&format!(
            "more than 1 % off the plan: {}; more operations come closer (--scale)",
            missed.join(", ")
        ));
    }
}

/// Counts whole, all else to three places.
fn number(value: f64) -> String {
    if value.fract() == 0.0 && value >= 1000.0 { format!("{value}") } else { format!("{value:.3}") }
}
