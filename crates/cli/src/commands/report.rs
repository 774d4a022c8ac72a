//! `writecliff report`: one page over any number of drives.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::TypedValueParser;
use writecliff::measure::REPORT;
use writecliff::{Format, ReportOptions, RunRecord, Source};
use writecliff_device::printable;
use writecliff_suite::LabelError;

use super::run_plan::show;
use crate::error::CliError;
use crate::open::open;
use crate::options::ShownOptions;
use crate::output::{print_json, say};
use crate::png::Painter;

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// Directories of runs and reviews; NAME=DIR to call one NAME
    #[arg(required = true, value_name = "RUN", value_parser = source_parser())]
    runs: Vec<Source>,
    /// Directory for the page, new, empty or an earlier page's [default: RUN/report of a single
    /// run, else ./report]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Put runs of different plans on one page: it says what differs and ranks nothing across them
    #[arg(long)]
    different_plans: bool,
    /// What to write: a page, or Markdown for an issue or a post (report.md)
    #[arg(long, value_enum, default_value = "html")]
    format: FormatName,
    /// Write every picture as PNG as well, beside its SVG
    #[arg(long)]
    png: bool,
    #[command(flatten)]
    shown: ShownOptions,
}

/// What a report is written as.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum FormatName {
    Html,
    Markdown,
}

pub(crate) fn report(arguments: &ReportArguments) -> Result<(), CliError> {
    let mut options = ReportOptions::default();
    options.different_plans = arguments.different_plans;
    options.format = match arguments.format {
        FormatName::Html => Format::Html,
        FormatName::Markdown => Format::Markdown,
    };
    let painter = arguments.png.then(Painter::new).transpose()?;
    let out = arguments.out.as_deref();
    pages_of(&arguments.runs, out, &options, painter.as_ref(), &arguments.shown)
}

/// The page of one directory, where it belongs.
pub(crate) fn page_of(run: &Path, shown: &ShownOptions) -> Result<(), CliError> {
    pages_of(&[Source::from(run)], None, &ReportOptions::default(), None, shown)
}

fn pages_of(
    runs: &[Source],
    out: Option<&Path>,
    options: &ReportOptions,
    painter: Option<&Painter>,
    shown: &ShownOptions,
) -> Result<(), CliError> {
    let out = match (out, runs) {
        (Some(out), _) => out.to_owned(),
        (None, [single]) => single.path.join(REPORT),
        (None, _) => PathBuf::from(REPORT),
    };
    let report = writecliff::report(runs, &out, options)?;
    if let Some(painter) = painter {
        report.pictures.iter().try_for_each(|svg| painter.paint(svg))?;
    }
    for path in &report.repeated {
        let path = path.display().to_string();
        say(&format!("{} was named more than once and is shown once", printable(&path)));
    }
    if shown.json {
        print_json(&report.records.iter().map(RunRecord::with_figures).collect::<Vec<_>>())?;
    } else {
        show(&report, shown)?;
    }
    if shown.open {
        open(&report.page);
    }
    Ok(())
}

/// A directory, or `NAME=DIR` if there is no directory of that whole name.
fn source_parser() -> impl TypedValueParser<Value = Source> {
    clap::builder::PathBufValueParser::new().try_map(source)
}

fn source(path: PathBuf) -> Result<Source, LabelError> {
    let named = path.to_str().and_then(|text| text.split_once('='));
    match named {
        Some((label, directory)) if !path.exists() => {
            Ok(Source { label: Some(label.parse()?), path: Path::new(directory).to_owned() })
        }
        _ => Ok(Source::from(path)),
    }
}
