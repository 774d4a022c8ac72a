//! `writecliff report`: one page over any number of drives.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::TypedValueParser;
use writecliff::measure::REPORT;
use writecliff::{ReportOptions, Source};
use writecliff_device::printable;
use writecliff_suite::LabelError;

use crate::error::CliError;
use crate::output::print;

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// Directories of runs and reviews; NAME=DIR to call one NAME
    #[arg(required = true, value_name = "RUN", value_parser = source_parser())]
    runs: Vec<Source>,
    /// Where to put the page [default: RUN/report of a single run, else ./report]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Put runs of different plans on one page: it says what differs and ranks nothing across them
    #[arg(long)]
    different_plans: bool,
}

pub(crate) fn report(arguments: &ReportArguments) -> Result<(), CliError> {
    page_of(&arguments.runs, arguments.out.as_deref(), arguments.different_plans)
}

/// The page of one directory, where it belongs.
pub(crate) fn report_on(run: &Path) -> Result<(), CliError> {
    page_of(&[Source::from(run)], None, false)
}

fn page_of(runs: &[Source], out: Option<&Path>, different_plans: bool) -> Result<(), CliError> {
    let out = match (out, runs) {
        (Some(out), _) => out.to_owned(),
        (None, [single]) => single.path.join(REPORT),
        (None, _) => PathBuf::from(REPORT),
    };
    let mut options = ReportOptions::default();
    options.different_plans = different_plans;
    let report = writecliff::report(runs, &out, &options)?;
    for path in &report.repeated {
        let path = path.display().to_string();
        eprintln!("{} was named more than once and is shown once", printable(&path));
    }
    print(&format!("{}\nReport: {}\n", report.summary, report.page.display()))
}

/// A directory, or `NAME=DIR` if there is no directory of that whole name.
fn source_parser() -> impl TypedValueParser<Value = Source> {
    clap::builder::PathBufValueParser::new().try_map(source)
}

fn source(path: PathBuf) -> Result<Source, LabelError> {
    let named = path.to_str().filter(|_| !path.exists()).and_then(|text| text.split_once('='));
    match named {
        Some((label, directory)) => {
            Ok(Source { label: Some(label.parse()?), path: Path::new(directory).to_owned() })
        }
        None => Ok(Source::from(path)),
    }
}
