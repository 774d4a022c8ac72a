//! `writecliff trace replay`: the storage bench with one trace and its options at hand.

use clap::Args;
use writecliff::{DriveName, Error};
use writecliff_suite::{Overrides, Plan, PlanError, storage_bench};
use writecliff_trace::{Map, name};

use crate::commands::run_plan::{result_name, run_plan};
use crate::error::CliError;
use crate::options::CommonOptions;
use crate::place::Place;

#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// The trace: light-2011, heavy-2011, destroyer-2013, or a .trace file
    trace: String,
    /// The drive to do it on
    drive: DriveName,
    /// Keep the trace's own clock: every I/O has its due time, idle time stays
    #[arg(long)]
    timed: bool,
    /// The trace's own clock, so many times as fast; 0.5 doubles every time
    #[arg(long, value_name = "FACTOR", allow_negative_numbers = true)]
    speed: Option<f64>,
    /// Where the trace's offsets lie on this drive
    #[arg(long, value_enum, default_value_t = MapName::Exact)]
    map: MapName,
    /// Widen ranges that are no whole LBAs of this drive
    #[arg(long)]
    align: bool,
    /// Leave the drive as it is: neither purge nor fill it first. A trace that only reads then
    /// needs no consent, and the drive may be in use
    #[arg(long)]
    as_is: bool,
    /// Only the first so many operations
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    operations: Option<u64>,
    #[command(flatten)]
    common: CommonOptions,
}

/// [`Map`] as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum MapName {
    /// Where they were; a trace that reaches past the drive's end is refused
    Exact,
    /// From the drive's beginning again whenever its end is reached
    Wrap,
    /// Spread over the drive, or pressed together; every MiB stays whole
    Scale,
}

impl From<MapName> for Map {
    fn from(name: MapName) -> Self {
        match name {
            MapName::Exact => Self::Exact,
            MapName::Wrap => Self::Wrap,
            MapName::Scale => Self::Scale,
        }
    }
}

pub(crate) fn replay(arguments: &ReplayArguments) -> Result<(), CliError> {
    let common = &arguments.common;
    let plan = Plan::StorageBench(storage_bench::Plan {
        traces: vec![name::from_anywhere(&arguments.trace)],
        speed: arguments.speed.or(arguments.timed.then_some(1.0)),
        map: arguments.map.into(),
        align: arguments.align,
        prepare: !arguments.as_is,
        operations: arguments.operations,
        ..storage_bench::Plan::default()
    });
    let plan = if common.quick { plan.quick() } else { plan };
    let overrides = Overrides { seed: common.seed, ..Overrides::default() };
    let plan = plan.with(&overrides).map_err(writecliff::Error::from)?;
    let name = || result_name("replay", &arguments.drive, &[]);
    let place = Place::named_or(common.out.as_deref(), name);
    run_plan(&plan, &arguments.drive, &place, common).map_err(as_typed)
}

/// Keys of a plan that are options of a replay.
const OF_REPLAY: [(&str, &str); 3] = [
    ("`map = \"wrap\"`", "--map wrap"),
    ("`map = \"scale\"`", "--map scale"),
    ("`align = true`", "--align"),
];

/// What keeps a trace from being replayed, with what a plan would say as options.
fn as_typed(error: CliError) -> CliError {
    match error {
        CliError::Library(Error::Plan(error)) => {
            let typed = |text: String, (key, option): &(&str, &str)| text.replace(key, option);
            let reason = OF_REPLAY.iter().fold(error.reason, typed);
            Error::Plan(PlanError { reason, ..error }).into()
        }
        error => error,
    }
}
