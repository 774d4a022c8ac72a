//! What can be typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use writecliff_device::Nanos;
use writecliff_suite::TESTS;

use crate::commands::meter::signed_seconds;
use crate::drive::DriveName;

/// Finds a drive's write cliff before its users do.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 100, after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const AFTER_HELP: &str = "\
DRIVE is sim:NAME, sim:PATH.toml, a block device or a file.
Exit codes: 0 done, 1 failed or interrupted, 2 wrong usage, 3 refused for safety.";

/// The drive that is reviewed when none is named.
const DEFAULT_DRIVE: &str = "sim:samsung-840-evo-250gb";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run every test on a drive and make its report
    Review {
        /// The drive to review
        #[arg(default_value = DEFAULT_DRIVE)]
        drive: DriveName,
        #[command(flatten)]
        options: RunOptions,
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
        names: Vec<String>,
        /// Run simulated drives beside their published figures: all of them, or those named
        #[arg(long)]
        check: bool,
        #[command(flatten)]
        options: CheckOptions,
    },
    /// Add a power meter's log to a run on a real drive, and make its report anew
    Meter(MeterArguments),
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
    /// Leave this share of the LBAs untouched, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, allow_negative_numbers = true)]
    pub(crate) spare: f64,
    /// How long to write randomly, like 2000s or 30min
    #[arg(long, value_name = "TIME", default_value = "2000s")]
    pub(crate) duration: Nanos,
    /// Decides which LBAs are written, in which order, and with what data
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Directory for the run [default: ./runs/TEST-DRIVE-TIME]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Keep every single I/O, not only every second (about 13 bytes each)
    #[arg(long)]
    pub(crate) every_io: bool,
    /// Agree to lose all data on the drive with this serial (on the path, if it has none)
    #[arg(long, value_name = "SERIAL")]
    pub(crate) destroy_data_on: Option<String>,
    /// Print the run's record as JSON instead of the summary
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
pub(crate) struct CheckOptions {
    /// Check against these figures instead of those that ship (docs/formats.md)
    #[arg(long, value_name = "FILE", requires = "check")]
    pub(crate) figures: Option<PathBuf>,
    /// Print the comparison as JSON instead of a table
    #[arg(long, requires = "check")]
    pub(crate) json: bool,
}

fn test_names() -> clap::builder::PossibleValuesParser {
    let tests = TESTS.iter();
    tests.map(|test| clap::builder::PossibleValue::new(test.name).help(test.question)).into()
}
