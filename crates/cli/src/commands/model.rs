//! `writecliff model`: what other systems want to know of a drive, in their forms.

use std::ffi::OsString;
use std::path::Path;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use writecliff::{DriveName, MODEL_FORMATS, ModelFormat, ModelOptions, Overrides};
use writecliff_suite::cost_model;

use super::run_plan::{end_of, record_run, result_name, run_options};
use crate::error::CliError;
use crate::open::open;
use crate::options::CommonOptions;
use crate::output::{print, say};
use crate::place::Place;

#[derive(Debug, Args)]
pub(crate) struct ModelArguments {
    /// The directory of a run of cost-model, or of a review with one; or a drive, which is measured first
    #[arg(value_name = "RUN|DRIVE")]
    of: OsString,
    /// What to write, to standard output
    #[arg(long, value_parser = format_names(), default_value = "iocost", conflicts_with = "json")]
    format: String,
    /// The rates that the drive keeps where reads and writes come together, instead of those of each by itself
    #[arg(long)]
    mixed: bool,
    /// Where the drive is mounted, for seastar
    #[arg(long, value_name = "DIR")]
    mount_point: Option<String>,
    #[command(flatten)]
    common: CommonOptions,
}

pub(crate) fn model(arguments: &ModelArguments) -> Result<(), CliError> {
    let ModelArguments { of, format, mixed, mount_point, common } = arguments;
    let format = if common.shown.json { "json" } else { format };
    let Some(format) = ModelFormat::find(format) else {
        unreachable!("only formats that there are get here");
    };
    let mut options = ModelOptions::default();
    options.mixed = *mixed;
    options.mount_point.clone_from(mount_point);
    if Path::new(of).is_dir() {
        return match common.of_a_run() {
            Some(option) => Err(CliError::OfNoRun { option }),
            None => print(&writecliff::cost_model(Path::new(of), format, options)?),
        };
    }
    let drive = DriveName::from(of.clone());
    let test = cost_model::Plan::NAME;
    let plan = writecliff::plan(test)?;
    let plan = if common.quick { plan.quick() } else { plan };
    let seed = Overrides { seed: common.seed, ..Overrides::default() };
    let plan = plan.with(&seed).map_err(writecliff::Error::from)?;
    let place = Place::named_or(common.out.as_deref(), || result_name(test, &drive, &[]));
    let (record, report) = record_run(&plan, &drive, &place, common, run_options(common))?;
    end_of(&record)?;
    if common.shown.open {
        open(&report.page);
    }
    if !common.shown.quiet {
        say(&format!("Report: {}", report.page.display()));
    }
    print(&writecliff::cost_model_of(&record, format, options)?)
}

/// The forms, with what they are.
fn format_names() -> PossibleValuesParser {
    let value = |format: &ModelFormat| PossibleValue::new(format.name).help(format.what);
    MODEL_FORMATS.iter().map(value).collect::<Vec<_>>().into()
}
