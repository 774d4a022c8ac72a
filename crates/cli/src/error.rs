//! Everything that ends the program early, and the exit code it ends with.

use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};

use writecliff::{ErrorKind, Review};
use writecliff_bench::{BenchError, ExportError, ImportError, ServerError};
use writecliff_export::ControlError;
use writecliff_fleet::FleetError;
use writecliff_output::OutputError;
use writecliff_suite::check::{FiguresError, RATING_TOLERANCE};
use writecliff_suite::{AddMeterError, PlanError};
use writecliff_sweep::SweepError;
use writecliff_trace::{ConvertError, MakeError, ReadError, RecordError, WriteError};

use crate::keys;

/// What shells say of a program that Ctrl-C ended.
pub(crate) const INTERRUPTED: u8 = 130;

/// Why a command did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error("{}", keys::of_error(.0))]
    Library(#[from] writecliff::Error),
    #[error(transparent)]
    Bench(#[from] BenchError),
    #[error(transparent)]
    Import(#[from] ImportError),
    #[error(transparent)]
    Export(#[from] ExportError),
    #[error("{}{}", .0, keys::for_serving(.0))]
    Serve(#[from] ServerError),
    #[error("{}{}", .0, keys::for_exporting(.0))]
    ExportDrive(#[from] writecliff_export::ExportError),
    #[error(transparent)]
    Control(#[from] ControlError),
    #[error("nothing was removed: what was imported is deleted only after yes, or with --yes")]
    NotAgreed,
    #[error("{place}: {}", keys::of_plan_file(error))]
    InPlan { place: String, error: PlanError },
    #[error(
        "{option} says how a test is run, and a run that is there is only read; name a drive, or leave it out"
    )]
    OfNoRun { option: &'static str },
    #[error(
        "interrupted; `writecliff {command} --resume {}` goes on with it and keeps what is finished",
        path.display()
    )]
    ToBeResumed { command: &'static str, path: PathBuf },
    #[error(transparent)]
    Sweep(#[from] SweepError),
    #[error("all {failed} points failed; {table} has the error of each")]
    AllFailed { failed: usize, table: String },
    #[error(transparent)]
    Fleet(#[from] FleetError),
    #[error("cannot ask for consent on this terminal: {source}; use --destroy-data-on")]
    Prompt { source: std::io::Error },
    #[error(transparent)]
    Figures(#[from] FiguresError),
    #[error("cannot read {}: {source}; name a file like drives/published/figures.csv", path.display())]
    FiguresUnreadable { path: PathBuf, source: std::io::Error },
    #[error("cannot draw {}: {source}; name a directory that can be written", path.display())]
    Drawing { path: PathBuf, source: std::io::Error },
    #[error(
        "no PNG can be written: this machine has no fonts; install some (Debian: apt install \
         fonts-dejavu-core), or leave out --png"
    )]
    NoFonts,
    #[error("cannot make a PNG of {}: {why}; please report this", path.display())]
    Paint { path: PathBuf, why: String },
    #[error("nothing is published about {drive} in {figures}; 'writecliff drives' has all names")]
    NoFigures { drive: String, figures: String },
    #[error("ratings missed by more than a factor of {RATING_TOLERANCE}: {count}; see the table")]
    RatingMissed { count: usize },
    #[error("{}{}", .0, keys::for_meters(.0))]
    AddMeter(#[from] AddMeterError),
    #[error("cannot read {}: {source}; name the file that the meter wrote", path.display())]
    LogUnreadable { path: PathBuf, source: std::io::Error },
    #[error("cannot write to standard output: {source}; the run itself is kept")]
    Output { source: std::io::Error },
    #[error("cannot catch Ctrl-C: {0}; nothing was started")]
    Signals(#[from] ctrlc::Error),
    #[error(
        "{}\nWhat is finished is kept{}; `writecliff review --resume {}` goes on with the rest",
        keys::of_error(source),
        if *is_shown { ", and its page is written" } else { "" },
        path.display()
    )]
    ReviewBroken { source: Box<writecliff::Error>, path: PathBuf, is_shown: bool },
    #[error("the gate is closed: {failed} of {all} checks failed; they are listed above")]
    GateClosed { failed: usize, all: usize },
    #[error("the gate cannot be decided: {0}")]
    GateUndecided(Box<CliError>),
    #[error("cannot make the JUnit report: {source}; please report this")]
    Junit { source: quick_junit::SerializeError },
    #[error("cannot write the manual into {}: {source}; name a directory", path.display())]
    Manual { path: PathBuf, source: std::io::Error },
    #[error("{} would be read, and nothing says what to write; name an output, too", path.display())]
    NoOutput { path: PathBuf },
    #[error(transparent)]
    Destination(#[from] OutputError),
    #[error("{}{}", .0, keys::for_reading(.0))]
    ReadTrace(#[from] ReadError),
    #[error(transparent)]
    WriteTrace(#[from] WriteError),
    #[error("{}{}", .0, keys::for_converting(.0))]
    Convert(#[from] ConvertError),
    #[error(transparent)]
    Make(#[from] MakeError),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(
        "the name of {} does not tell a format; say --to trace, iolog or csv, or let it end so",
        path.display()
    )]
    OutputFormat { path: PathBuf },
    #[error("{} is there already; --force replaces it, or name another file", path.display())]
    OutputExists { path: PathBuf },
    #[error("interrupted; no trace was written")]
    NothingWritten,
    #[error("interrupted; what was recorded is kept, and shown above where it makes a figure")]
    Interrupted,
    #[error("{lost}")]
    LostData { lost: String },
    #[error(
        "{name} is no drive of this system's, whose I/O its kernel could see; `writecliff run \
         --every-io` keeps every I/O of a test on it"
    )]
    RecordSimulated { name: String },
    #[error("{} is there already, and nothing was changed; give --out a new file", path.display())]
    TraceExists { path: PathBuf },
    #[error(
        "{} cannot be written: there is no directory {}; make it, or give --out another place",
        path.display(), directory.display()
    )]
    NoDirectory { path: PathBuf, directory: PathBuf },
    #[error(
        "{} would be written to {}, and its writing recorded with the rest; nothing was recorded: \
         give --out a file on another disk, or in memory (/dev/shm)", path.display(), device.display()
    )]
    TraceOnDevice { path: PathBuf, device: PathBuf },
    #[error(
        "nobody can tell which disk {} would be on (its filesystem: {filesystem}), and its writing \
         must not be recorded with the rest; nothing was recorded: give --out a file on a disk that \
         is mounted here, or in memory (/dev/shm)", path.display()
    )]
    TraceAnywhere { path: PathBuf, filesystem: String },
    #[error("the recording ended early: {source}\nWhat was recorded before is in {}", path.display())]
    RecordingCutOff { source: RecordError, path: PathBuf },
    #[error("cannot run {command}: {source}; nothing was recorded")]
    CommandNotRun { command: String, source: std::io::Error },
    #[error("cannot wait for the command: {source}; the trace is whole")]
    CommandLost { source: std::io::Error },
    #[error("{command} failed ({status}); what it did is in {}", path.display())]
    CommandFailed { command: String, status: ExitStatus, path: PathBuf },
}

impl CliError {
    /// What ended the review in this directory; if it had begun, the rest waits there.
    pub(crate) fn review_broken(source: writecliff::Error, path: &Path, is_shown: bool) -> Self {
        match Review::is_at(path) && source.kind() != ErrorKind::Usage {
            true => {
                let (source, path) = (Box::new(source), path.to_owned());
                Self::ReviewBroken { source, path, is_shown }
            }
            false => Self::Library(source),
        }
    }

    /// What kind of no it is.
    pub(crate) fn kind(&self) -> ErrorKind {
        match self {
            Self::Library(error) => error.kind(),
            Self::Bench(error) => error.kind(),
            Self::Import(error) => error.kind(),
            Self::Export(error) => error.kind(),
            Self::Serve(error) => error.kind(),
            Self::ExportDrive(error) => error.kind(),
            Self::Control(error) => error.kind(),
            Self::Sweep(error) => error.kind(),
            Self::Fleet(error) => error.kind(),
            Self::ReviewBroken { source, .. } => source.kind(),
            Self::ReadTrace(error) => error.kind(),
            Self::WriteTrace(error) => error.kind(),
            Self::Convert(error) => error.kind(),
            Self::Make(error) => error.kind(),
            Self::Record(error) => error.kind(),
            Self::Destination(error) => error.kind(),
            Self::AddMeter(error) => error.kind(),
            Self::NotAgreed | Self::TraceOnDevice { .. } | Self::TraceAnywhere { .. } => {
                ErrorKind::Refused
            }
            Self::Interrupted | Self::ToBeResumed { .. } | Self::NothingWritten => {
                ErrorKind::Interrupted
            }
            Self::Manual { source, .. } => ErrorKind::of_path(source),
            Self::InPlan { .. }
            | Self::OfNoRun { .. }
            | Self::NoOutput { .. }
            | Self::Figures(_)
            | Self::FiguresUnreadable { .. }
            | Self::NoFigures { .. }
            | Self::LogUnreadable { .. }
            | Self::GateUndecided(_)
            | Self::OutputFormat { .. }
            | Self::OutputExists { .. }
            | Self::TraceExists { .. }
            | Self::NoDirectory { .. }
            | Self::RecordSimulated { .. }
            | Self::CommandNotRun { .. } => ErrorKind::Usage,
            Self::Prompt { .. }
            | Self::AllFailed { .. }
            | Self::RatingMissed { .. }
            | Self::Drawing { .. }
            | Self::NoFonts
            | Self::Paint { .. }
            | Self::Output { .. }
            | Self::Signals(_)
            | Self::GateClosed { .. }
            | Self::LostData { .. }
            | Self::Junit { .. }
            | Self::RecordingCutOff { .. }
            | Self::CommandLost { .. }
            | Self::CommandFailed { .. } => ErrorKind::Failed,
        }
    }

    /// What `--help` says: 1 failed, 2 wrong usage, 3 refused for safety, 130 broken off.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self.kind() {
            ErrorKind::Failed => 1,
            ErrorKind::Usage => 2,
            ErrorKind::Refused => 3,
            ErrorKind::Interrupted => INTERRUPTED,
        })
    }
}
