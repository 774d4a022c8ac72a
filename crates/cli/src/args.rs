//! What can be typed.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand};
use clap_complete::Shell;
use writecliff::DriveName;

use crate::commands::bench::BenchCommand;
use crate::commands::check::CheckArguments;
use crate::commands::export::ExportArguments;
use crate::commands::fleet::FleetArguments;
use crate::commands::gate::GateArguments;
use crate::commands::import::ImportArguments;
use crate::commands::meter::MeterArguments;
use crate::commands::model::ModelArguments;
use crate::commands::purge::PurgeArguments;
use crate::commands::report::ReportArguments;
use crate::commands::review::ReviewArguments;
use crate::commands::run::RunArguments;
use crate::commands::security::{PsidRevertArguments, SecurityArguments};
use crate::commands::sweep::SweepArguments;
use crate::commands::trace::TraceCommand;
use crate::help;
use crate::options::test_names;

/// Finds a drive's write cliff before its users do.
#[derive(Debug, Parser)]
#[command(name = "writecliff", version, about, max_term_width = 100, after_help = help::ALL)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run every test on a drive and make its report
    #[command(after_help = help::REVIEW)]
    Review {
        /// The drive to review [default: sim:samsung-840-evo-250gb]; with --resume, the drive that it
        /// began with, where that has another name by now
        drive: Option<DriveName>,
        #[command(flatten)]
        options: ReviewArguments,
    },
    /// Run one test on a drive and make its report
    #[command(after_help = help::RUN)]
    Run {
        /// The test
        #[arg(value_parser = test_names(), required_unless_present = "again")]
        test: Option<String>,
        /// The drive to test
        #[arg(required_unless_present_any = ["again", "directory"])]
        drive: Option<DriveName>,
        #[command(flatten)]
        options: RunArguments,
    },
    /// Run one test on many simulated drives: a grid or a sample over any keys, to one table
    #[command(after_help = help::SWEEP)]
    Sweep(SweepArguments),
    /// Run a service over many simulated drives, and tell its tail and the drives that make it
    #[command(after_help = help::FLEET)]
    Fleet(FleetArguments),
    /// Serve simulated drives as network block devices (NBD): with data, in real time, and with a plug to pull
    #[command(after_help = help::EXPORT)]
    Export(ExportArguments),
    /// List simulated drives, and the block devices here with what the safety guard says of each
    #[command(after_help = help::DRIVES)]
    Drives {
        /// Show everything about these: NAME or PATH.toml of a simulated drive, or a device; a part of
        /// names lists the simulated drives that have it
        #[arg(value_name = "NAME")]
        names: Vec<OsString>,
        /// Run simulated drives beside their published figures: all of them, or those named
        #[arg(long, group = "comparison")]
        check: bool,
        /// Fit the keys that a profile's `identity.fitted` names to what was measured, and print them
        #[arg(long, group = "comparison")]
        fit: bool,
        #[command(flatten)]
        options: CheckArguments,
    },
    /// Record, convert, describe, make and replay traces of applications
    #[command(after_help = help::TRACE)]
    Trace {
        #[command(subcommand)]
        command: TraceCommand,
    },
    /// Make runs of what fio printed as JSON, to stand beside ours
    #[command(after_help = help::IMPORT)]
    Import(ImportArguments),
    /// Add a power meter's log to a run on a real drive, and make its report anew
    #[command(after_help = help::METER)]
    Meter(MeterArguments),
    /// Hold a run or review against limits and an earlier one: exit code 1 if it is worse
    #[command(after_help = help::GATE)]
    Gate {
        /// The directory of a run or of a review
        run: PathBuf,
        #[command(flatten)]
        options: GateArguments,
    },
    /// Write what other systems want to know of a drive in steady state: io.cost, Seastar, fio and more
    #[command(after_help = help::MODEL)]
    Model(ModelArguments),
    /// Bring a drive to its fresh state, or out of a purge that was broken off
    #[command(after_help = help::PURGE)]
    Purge(PurgeArguments),
    /// Show the locks that a drive has by itself: ATA security, Opal and its kin, eDrive
    #[command(after_help = help::SECURITY)]
    Security(SecurityArguments),
    /// Bring a self-encrypting drive back whose password is lost, by the PSID on its label: all data go
    #[command(after_help = help::PSID_REVERT)]
    PsidRevert(PsidRevertArguments),
    /// Make one report of any number of runs
    #[command(after_help = help::REPORT)]
    Report(ReportArguments),
    /// Every result in one place: list, show, compare, import
    #[command(after_help = help::BENCH)]
    Bench {
        #[command(subcommand)]
        command: BenchCommand,
    },
    /// Measure how fast a processor of this machine encrypts, for hosts of simulated drives: two lines
    /// of a plan of the test `encryption`
    #[command(after_help = help::CIPHER)]
    Cipher,
    /// Print a shell's completions of these commands
    #[command(after_help = help::COMPLETIONS)]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write the manual's pages, one for each command
    #[command(after_help = help::MANUAL)]
    Manual {
        /// The directory, which must be there
        directory: PathBuf,
    },
}
