//! `writecliff meter`: adds a power meter's log to a run, and makes its report anew.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use clap::Args;
use writecliff::ReportOptions;
use writecliff_measure::{Adapter, MeterOptions, REPORT};
use writecliff_suite::{Review, add_meter};

use super::report::page_of;
use crate::error::CliError;
use crate::options::{ShownOptions, signed_seconds};
use crate::output::print;

#[derive(Debug, Args)]
pub(crate) struct MeterArguments {
    /// The run's directory
    pub(crate) run: PathBuf,
    /// The meter's log: CSV with times and power, or voltage and current (docs/formats.md)
    #[arg(value_name = "METER.csv")]
    pub(crate) log: PathBuf,
    /// Add this to the meter's clock to have this machine's, like 2.5s or -300ms
    #[arg(
        long,
        value_name = "TIME",
        default_value = "0s",
        allow_hyphen_values = true,
        value_parser = signed_seconds
    )]
    pub(crate) clock_offset: f64,
    /// The meter was in front of an adapter from 5 V to mSATA: take off what that draws
    #[arg(long)]
    pub(crate) msata_adapter: bool,
    #[command(flatten)]
    pub(crate) shown: ShownOptions,
}

pub(crate) fn meter(arguments: &MeterArguments) -> Result<(), CliError> {
    let MeterArguments { run, log, .. } = arguments;
    let options = MeterOptions {
        clock_offset_s: arguments.clock_offset,
        adapter: arguments.msata_adapter.then_some(Adapter::Msata),
    };
    let file =
        File::open(log).map_err(|source| CliError::LogUnreadable { path: log.clone(), source })?;
    let metered = add_meter(run, BufReader::new(file), &options)?;
    let (with_power, samples) = (metered.with_power, metered.samples);
    let shown = &arguments.shown;
    if !(shown.json || shown.quiet) {
        print(&format!(
            "{with_power} of {samples} samples have their power from {}\n\n",
            log.display()
        ))?;
    }
    // The page of the review that it is of shows it, too; what is printed is the run's.
    if let Some(review) = run.parent().filter(|parent| Review::is_at(parent)) {
        writecliff::report(&[review], &review.join(REPORT), &ReportOptions::default())?;
    }
    page_of(run, shown)
}
