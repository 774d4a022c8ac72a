//! What can be typed.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand};
use writecliff::DriveName;
use writecliff_device::{Bytes, Nanos, ParseUnitError};
use writecliff_suite::TESTS;

use crate::commands::meter::signed_seconds;
use crate::commands::trace::TraceCommand;

/// Finds a drive's write cliff before its users do.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 100, after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const AFTER_HELP: &str = "\
DRIVE is sim:NAME, sim:PATH.toml, a block device, a file, or null: for none at all.
Exit codes: 0 done, 1 failed or interrupted, 2 wrong usage, 3 refused for safety.";

/// The drive that is reviewed when none is named.
pub(crate) const DEFAULT_DRIVE: &str = "sim:samsung-840-evo-250gb";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run every test on a drive and make its report
    Review {
        /// The drive to review [default: sim:samsung-840-evo-250gb]; with --resume, the drive that it
        /// began with, where that has another name by now
        drive: Option<DriveName>,
        #[command(flatten)]
        options: ReviewOptions,
    },
    /// Run one test on a drive and make its report
    Run {
        /// The test
        #[arg(value_parser = test_names())]
        test: String,
        /// The drive to test
        drive: DriveName,
        #[command(flatten)]
        options: RunOptions,
    },
    /// List simulated drives, and the block devices here with what the safety guard says of each
    Drives {
        /// Show everything about these: NAME or PATH.toml of a simulated drive, or a device
        #[arg(value_name = "NAME")]
        names: Vec<OsString>,
        /// Run simulated drives beside their published figures: all of them, or those named
        #[arg(long)]
        check: bool,
        #[command(flatten)]
        options: CheckOptions,
    },
    /// Record, convert, describe, make and replay traces of applications
    Trace {
        #[command(subcommand)]
        command: TraceCommand,
    },
    /// Add a power meter's log to a run on a real drive, and make its report anew
    Meter(MeterArguments),
    /// Hold a run or review against limits and an earlier one: exit code 1 if it is worse
    Gate {
        /// The directory of a run or of a review
        run: PathBuf,
        #[command(flatten)]
        options: GateOptions,
    },
    /// Make one report of any number of runs
    Report {
        /// Run directories
        #[arg(required = true, value_name = "RUN")]
        runs: Vec<PathBuf>,
        /// Where to put the page [default: RUN/report of a single run, else ./report]
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RunOptions {
    /// Leave this share of the LBAs untouched, in percent; spare-area takes a list: 10,25,40
    #[arg(long, value_name = "PERCENT", value_delimiter = ',', allow_negative_numbers = true,
          value_parser = percent)]
    pub(crate) spare: Vec<f64>,
    /// How long the part lasts that the test is about, like 2000s or 30min [default: the method's]
    #[arg(long, value_name = "TIME")]
    pub(crate) duration: Option<Nanos>,
    /// A test's plan as TOML (docs/formats.md); what it leaves out is the method's. For mixed also a
    /// fio job file
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    /// The traces of storage-bench: light-2011, heavy-2011, destroyer-2013, or .trace files
    #[arg(long, value_name = "TRACE", value_delimiter = ',')]
    pub(crate) traces: Vec<String>,
    #[command(flatten)]
    pub(crate) common: CommonOptions,
}

#[derive(Debug, Args)]
pub(crate) struct ReviewOptions {
    /// Run these tests instead of the usual ones: all but steady-state
    #[arg(long, value_name = "TEST", value_delimiter = ',', value_parser = test_names())]
    pub(crate) tests: Vec<String>,
    /// Run these tests as well
    #[arg(long, value_name = "TEST", value_delimiter = ',', value_parser = test_names())]
    pub(crate) with: Vec<String>,
    /// The settings of the spare-area test, in percent of the LBAs
    #[arg(long, value_name = "PERCENT", value_delimiter = ',', allow_negative_numbers = true,
          value_parser = percent)]
    pub(crate) spare: Vec<f64>,
    /// The traces of storage-bench: light-2011, heavy-2011, destroyer-2013, or .trace files
    /// [default: light-2011]
    #[arg(long, value_name = "TRACE", value_delimiter = ',')]
    pub(crate) traces: Vec<String>,
    /// Host writes that the drive's maker promises, like 72TB: says which share a review uses up
    #[arg(long, value_name = "BYTES")]
    pub(crate) rated_writes: Option<Bytes>,
    /// Go on with the interrupted review in this directory: finished tests are kept
    #[arg(long, value_name = "REVIEW",
          conflicts_with_all = ["tests", "with", "spare", "traces", "out", "seed", "quick", "every_io", "io_timeout"])]
    pub(crate) resume: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: CommonOptions,
}

#[derive(Debug, Args)]
pub(crate) struct CommonOptions {
    /// Minutes instead of hours: shorter, and on the first 2 GiB only; the report says so
    #[arg(long)]
    pub(crate) quick: bool,
    /// Decides which LBAs are used, in which order, and with what data [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Directory for the result [default: ./runs/TEST-DRIVE-TIME]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Keep every single I/O, not only every second (about 13 bytes each)
    #[arg(long)]
    pub(crate) every_io: bool,
    /// How long a real drive may take for one I/O. What takes longer has failed; if it has not come
    /// back after as long again, the run ends
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = io_timeout)]
    pub(crate) io_timeout: Nanos,
    /// Agree to lose all data on this drive: its serial, or what `writecliff drives DRIVE` says
    #[arg(long, value_name = "NAME")]
    pub(crate) destroy_data_on: Option<OsString>,
    /// Print the record as JSON instead of the summary
    #[arg(long)]
    pub(crate) json: bool,
}

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
}

#[derive(Debug, Args)]
pub(crate) struct GateOptions {
    /// Least IOPS in the worst second of the steady window (consistency)
    #[arg(long, value_name = "N", value_parser = number)]
    pub(crate) min_floor_iops: Option<f64>,
    /// Least mean IOPS of the steady window (consistency)
    #[arg(long, value_name = "N", value_parser = number)]
    pub(crate) min_mean_iops: Option<f64>,
    /// Least share of the mean in the worst second, like 80% (consistency)
    #[arg(long, value_name = "PERCENT")]
    pub(crate) min_floor_to_mean: Option<Percent>,
    /// Longest 99th percentile of the latency in the steady window, like 20ms (consistency)
    #[arg(long, value_name = "TIME")]
    pub(crate) max_p99: Option<Nanos>,
    /// Longest 99.9th percentile (consistency)
    #[arg(long, value_name = "TIME")]
    pub(crate) max_p999: Option<Nanos>,
    /// Longest 99.99th percentile (consistency)
    #[arg(long, value_name = "TIME")]
    pub(crate) max_p9999: Option<Nanos>,
    /// Longest latency of the whole torture (consistency)
    #[arg(long, value_name = "TIME")]
    pub(crate) max_latency: Option<Nanos>,
    /// An earlier run or review of the same tests: no figure may be worse than there
    #[arg(long, value_name = "RUN")]
    pub(crate) baseline: Option<PathBuf>,
    /// By how much a figure may be worse than the baseline's all the same
    #[arg(long, value_name = "PERCENT", default_value = "5%", requires = "baseline")]
    pub(crate) tolerance: Percent,
    /// Write the checks as JUnit XML for a CI server, too
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Print the checks as JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// `5%` or `5`: a share from 0 to 100 percent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Percent(pub(crate) f64);

impl FromStr for Percent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.strip_suffix('%').unwrap_or(text).trim().parse();
        let is_share = |percent: &f64| (0.0..=100.0).contains(percent);
        let percent: Option<f64> = number.ok().filter(is_share);
        percent.map(Self).ok_or_else(|| "expected a share like 5%, from 0% to 100%".to_owned())
    }
}

#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    /// Check against these figures instead of those that ship (docs/formats.md)
    #[arg(long, value_name = "FILE", requires = "check")]
    pub(crate) figures: Option<PathBuf>,
    /// Print the comparison as JSON instead of a table
    #[arg(long, requires = "check")]
    pub(crate) json: bool,
}

/// `25` or `25%`; whether it is possible is the plan's to say.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    number.parse().map_err(|_| "expected a share in percent, like 25 or 25%".to_owned())
}

/// A second is the unit that runs are recorded in.
fn io_timeout(text: &str) -> Result<Nanos, String> {
    let timeout: Nanos = text.parse().map_err(|error: ParseUnitError| error.to_string())?;
    if (Nanos::from_secs(1)..=Nanos::from_secs(24 * 3600)).contains(&timeout) {
        return Ok(timeout);
    }
    Err("expected a time from 1s to 24h, like 60s".to_owned())
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "expected a number, like 6000".to_owned())
}

fn test_names() -> clap::builder::PossibleValuesParser {
    let tests = TESTS.iter();
    tests.map(|test| clap::builder::PossibleValue::new(test.name).help(test.question)).into()
}
