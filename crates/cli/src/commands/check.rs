//! `writecliff drives --check`: simulated drives beside the published figures of the real ones.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use serde::Serialize;
use writecliff::{profile, simulated};
use writecliff_report::{TextTable, cut};
use writecliff_suite::check::{
    Bound, CheckProgress, Comparison, Kind, PUBLISHED, Published, TOLERANCE_PERCENT, Verdict,
    compare, parse,
};

use crate::error::CliError;
use crate::output::{ProgressLine, print, print_json, say};
use crate::progress::gone_and_left;

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// Check against these figures instead of those that ship (docs/formats.md)
    #[arg(long, value_name = "FILE", requires = "check")]
    pub(crate) figures: Option<PathBuf>,
    /// Print everything as JSON instead
    #[arg(long)]
    pub(crate) json: bool,
}

const SHIPPED: &str = "drives/published/figures.csv";

/// Compares, prints, and fails if a specification is missed.
pub(crate) fn check(names: &[OsString], options: &CheckArguments) -> Result<(), CliError> {
    let names: Vec<String> = names.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    let figures = chosen(&names, options)?;
    let mut drives: Vec<&str> = figures.iter().map(|figure| figure.drive.as_str()).collect();
    drives.dedup();
    let drives = match &drives[..] {
        [only] => (*only).to_owned(),
        drives => format!("{} simulated drives", drives.len()),
    };
    say(&format!("comparing {} figures of {drives}", figures.len()));
    let (line, began) = (ProgressLine::begin(), Instant::now());
    let compared = compare(&figures, simulated, |CheckProgress { drive, done, all }| {
        let time = || gone_and_left(began, Some(done as f64 / all as f64));
        line.show(|| format!("{done} of {all} experiments, {}; the last on {drive}", time()));
    })?;
    drop(line);
    match options.json {
        true => print_json(&report(&compared))?,
        false => print(&table(&compared))?,
    }
    match compared.iter().filter(|comparison| comparison.fails()).count() {
        0 => Ok(()),
        count => Err(CliError::SpecificationMissed { count }),
    }
}

/// The figures of the drives that were named; of all drives if none was.
fn chosen(names: &[String], options: &CheckArguments) -> Result<Vec<Published>, CliError> {
    let (file, text) = match &options.figures {
        None => (SHIPPED.to_owned(), PUBLISHED.to_owned()),
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .map_err(|source| CliError::FiguresUnreadable { path: path.clone(), source })?;
            (path.display().to_string(), text)
        }
    };
    let mut figures = parse(&file, &text)?;
    let names: Vec<_> = names.iter().map(|n| n.strip_prefix("sim:").unwrap_or(n)).collect();
    for name in &names {
        profile(name)?;
        if !figures.iter().any(|figure| figure.drive == *name) {
            return Err(CliError::NoFigures { drive: (*name).to_owned(), figures: file });
        }
    }
    figures.retain(|figure| names.is_empty() || names.contains(&figure.drive.as_str()));
    Ok(figures)
}

/// What a script gets.
#[derive(Serialize)]
struct Report<'a> {
    tolerance_percent: f64,
    specifications_missed: usize,
    comparisons: &'a [Comparison],
}

fn report(comparisons: &[Comparison]) -> Report<'_> {
    Report {
        tolerance_percent: TOLERANCE_PERCENT,
        specifications_missed: comparisons.iter().filter(|comparison| comparison.fails()).count(),
        comparisons,
    }
}

const WIDTH: usize = 100;
const FIGURE_WIDTH: usize = 24;
const CONDITION_WIDTH: usize = 22;

/// One block a drive, a line a figure, and below all of them what was cited.
fn table(comparisons: &[Comparison]) -> String {
    let mut sources: Vec<&str> = Vec::new();
    for comparison in comparisons {
        let source = comparison.figure.source.as_str();
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    let of_one_drive = comparisons.chunk_by(|a, b| a.figure.drive == b.figure.drive);
    let blocks: Vec<String> = of_one_drive.map(|block| drive_block(block, &sources)).collect();
    let mut text = blocks.join("\n");
    text += &summary(comparisons);
    text += "\nSources\n";
    for (index, source) in sources.iter().enumerate() {
        let number = format!("{:>4} ", format!("[{}]", index + 1));
        text += &(number + &cut(source, WIDTH - 5).join("\n     ") + "\n");
    }
    text
}

/// A figure a line; a title or a condition that is too long goes on below it.
fn drive_block(comparisons: &[Comparison], sources: &[&str]) -> String {
    let mut table = TextTable::new()
        .text("figure", FIGURE_WIDTH, FIGURE_WIDTH)
        .text("published how", CONDITION_WIDTH, CONDITION_WIDTH)
        .numbers("model", 0)
        .numbers("published", 0)
        .numbers("off by", 0)
        .text("verdict", 12, usize::MAX)
        .numbers("from", 0);
    for comparison in comparisons {
        let figure = &comparison.figure;
        let source = sources.iter().position(|source| *source == figure.source).unwrap_or(0);
        table.row(vec![
            figure.scenario.entry().title.to_owned(),
            figure.condition.clone(),
            number(comparison.model),
            format!("{} {:5}", figure.value, figure.unit),
            percent(comparison.deviation_percent),
            verdict(comparison),
            format!("[{}]", source + 1),
        ]);
    }
    format!("{}\n{}", comparisons[0].figure.drive, table.render())
}

/// In at most twelve characters.
fn verdict(comparison: &Comparison) -> String {
    let bound = match comparison.figure.bound() {
        Bound::Factor(factor) => format!("x{factor}"),
        bound => bound.to_string(),
    };
    let one_sided = matches!(comparison.figure.bound(), Bound::AtLeast | Bound::AtMost);
    match (comparison.verdict, one_sided) {
        (Verdict::Shown, _) => "shown".to_owned(),
        (Verdict::Within, true) => bound,
        (Verdict::Within, false) => format!("within {bound}"),
        (Verdict::Outside, true) => format!("NOT {bound}"),
        (Verdict::Outside, false) => format!("OUTSIDE {bound}"),
    }
}

fn summary(comparisons: &[Comparison]) -> String {
    let count = |kind, verdict| {
        let of = |c: &&Comparison| c.figure.kind == kind && c.verdict == verdict;
        comparisons.iter().filter(of).count()
    };
    let (within, outside) =
        (count(Kind::Specification, Verdict::Within), count(Kind::Specification, Verdict::Outside));
    let mut text =
        format!("\nSpecifications: {within} within {TOLERANCE_PERCENT} %, {outside} outside.\n");
    text += &format!(
        "Behaviour: {} within their bounds, {} outside, {} shown.\n",
        count(Kind::Behaviour, Verdict::Within),
        count(Kind::Behaviour, Verdict::Outside),
        count(Kind::Behaviour, Verdict::Shown),
    );
    text
}

/// As many decimals as make three or more digits.
fn number(value: f64) -> String {
    let decimals = match value.abs() {
        100.0.. => 0,
        10.0.. => 1,
        1.0.. => 2,
        _ => 4,
    };
    format!("{value:.decimals$}")
}

/// Always with its sign; far away, tenths of a percent say nothing.
fn percent(value: f64) -> String {
    match value.abs() {
        ..0.05 => "0.0 %".to_owned(),
        ..99.95 => format!("{value:+.1} %"),
        _ => format!("{value:+.0} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_show_what_they_mean() {
        assert_eq!([97654.3, 54.73, 7.2, 0.0219].map(number), ["97654", "54.7", "7.20", "0.0219"]);
        assert_eq!(
            [-0.04, 5.0, -12.34, 1234.5].map(percent),
            ["0.0 %", "+5.0 %", "-12.3 %", "+1234 %"]
        );
    }
}
