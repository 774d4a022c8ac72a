//! Everything that ends the program early, and the exit code it ends with.

use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus};

use writecliff_device::ErrorKind;
use writecliff_measure::RunDirectoryError;
use writecliff_output::OutputError;
use writecliff_report::ReportError;
use writecliff_sim::ProfileError;
use writecliff_suite::check::{CheckError, FiguresError, TOLERANCE_PERCENT};
use writecliff_suite::gate::GateError;
use writecliff_suite::{AddMeterError, ReviewError, RunError};
use writecliff_trace::{PLANS, TraceError};
use writecliff_uring::OpenError;
use writecliff_workload::fio::FioError;

use crate::keys;

/// Why a command did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error(transparent)]
    Profile(#[from] ProfileError),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("{}", keys::of_run(.0))]
    Run(#[from] RunError),
    #[error(transparent)]
    RunDirectory(#[from] RunDirectoryError),
    #[error("{}", keys::of_review(.0))]
    Review(#[from] ReviewError),
    #[error("cannot read the plan {}: {source}", path.display())]
    PlanUnreadable { path: PathBuf, source: std::io::Error },
    #[error(
        "{}:{line}: {message}, in '{found}'; run.json of any run of {test} shows all keys of its \
         plan", path.display()
    )]
    PlanInvalid { path: PathBuf, line: usize, found: String, test: String, message: String },
    #[error(transparent)]
    JobFile(#[from] FioError),
    #[error(
        "interrupted; `writecliff review --resume {}` goes on with it and keeps what is finished",
        path.display()
    )]
    ReviewInterrupted { path: PathBuf },
    #[error(transparent)]
    Report(#[from] ReportError),
    #[error("there is no device or file '{name}' here; for the simulated drive say sim:{name}")]
    MeantSimulated { name: String },
    #[error("cannot ask for consent on this terminal: {source}; use --destroy-data-on")]
    Prompt { source: std::io::Error },
    #[error(transparent)]
    Figures(#[from] FiguresError),
    #[error("cannot read {}: {source}; name a file like drives/published/figures.csv", path.display())]
    FiguresUnreadable { path: PathBuf, source: std::io::Error },
    #[error("nothing is published about {drive} in {figures}; 'writecliff drives' has all names")]
    NoFigures { drive: String, figures: String },
    #[error(transparent)]
    Check(#[from] CheckError),
    #[error(
        "specification figures missed by more than {TOLERANCE_PERCENT} %: {count}; see the table"
    )]
    SpecificationMissed { count: usize },
    #[error(transparent)]
    AddMeter(#[from] AddMeterError),
    #[error("cannot read {}: {source}; name the file that the meter wrote", path.display())]
    LogUnreadable { path: PathBuf, source: std::io::Error },
    #[error("cannot write to standard output: {source}; the run itself is kept")]
    Output { source: std::io::Error },
    #[error("cannot catch Ctrl-C: {0}; nothing was started")]
    Signals(#[from] ctrlc::Error),
    #[error(
        "{source}\nWhat is finished is kept; `writecliff review --resume {}` goes on with the rest",
        path.display()
    )]
    ReviewBroken { source: Box<CliError>, path: PathBuf },
    #[error("{}", keys::of_gate(.0))]
    Gate(#[from] GateError),
    #[error("the gate is closed: {failed} of {all} checks failed; they are listed above")]
    GateClosed { failed: usize, all: usize },
    #[error("the gate cannot be decided: {0}")]
    GateUndecided(Box<CliError>),
    #[error("cannot make the JUnit report: {source}; please report this")]
    Junit { source: quick_junit::SerializeError },
    #[error(transparent)]
    Destination(#[from] OutputError),
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error(
        "the name of {} does not tell a format; say --to trace, iolog or csv, or let it end so",
        path.display()
    )]
    OutputFormat { path: PathBuf },
    #[error("{} is there already; --force replaces it, or name another file", path.display())]
    OutputExists { path: PathBuf },
    #[error("interrupted; no trace was written")]
    NothingWritten,
    #[error("interrupted; what was recorded is kept and shown above")]
    Interrupted,
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
    RecordingCutOff { source: TraceError, path: PathBuf },
    #[error("cannot run {command}: {source}; nothing was recorded")]
    CommandNotRun { command: String, source: std::io::Error },
    #[error("cannot wait for the command: {source}; the trace is whole")]
    CommandLost { source: std::io::Error },
    #[error("{command} failed ({status}); what it did is in {}", path.display())]
    CommandFailed { command: String, status: ExitStatus, path: PathBuf },
    #[error(
        "no plan is called '{name}'; there are {}, or name a file like PLAN.toml",
        PLANS.map(|plan| plan.name).join(", ")
    )]
    UnknownPlan { name: String },
    #[error(
        "{} is a pipe or a device, and a trace is read twice to describe it; store it in a file \
         first: `writecliff trace convert` takes it as it is", path.display()
    )]
    ReadTwice { path: PathBuf },
}

impl CliError {
    /// 1 failed, 2 wrong usage, 3 refused for safety.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Open(error) if error.is_refusal() => ExitCode::from(3),
            Self::Run(error) if error.kind() == ErrorKind::Refused => ExitCode::from(3),
            Self::Destination(error)
            | Self::Trace(TraceError::Output(error))
            | Self::Report(ReportError::Output(error))
                if error.is_refusal() =>
            {
                ExitCode::from(3)
            }
            Self::TraceOnDevice { .. } | Self::TraceAnywhere { .. } => ExitCode::from(3),
            Self::ReviewBroken { source, .. } => source.exit_code(),
            Self::Gate(GateError::Failed { .. }) => ExitCode::from(1),
            Self::RunDirectory(RunDirectoryError::Read { source, .. })
                if source.kind() == std::io::ErrorKind::NotFound =>
            {
                ExitCode::from(2)
            }
            Self::Trace(TraceError::Read { source, .. })
                if source.kind() == std::io::ErrorKind::NotFound =>
            {
                ExitCode::from(2)
            }
            Self::Profile(_)
            | Self::Trace(
                TraceError::Output(OutputError::Exists { .. } | OutputError::NoFile { .. })
                | TraceError::OutputIsInput { .. }
                | TraceError::UnknownFormat { .. }
                | TraceError::NoColumns { .. }
                | TraceError::Empty { .. }
                | TraceError::NoSuchStream { .. }
                | TraceError::SeveralInputs { .. }
                | TraceError::SeveralVolumes { .. }
                | TraceError::PlanSyntax { .. }
                | TraceError::PlanImpossible { .. },
            )
            | Self::OutputFormat { .. }
            | Self::OutputExists { .. }
            | Self::MeantSimulated { .. }
            | Self::Gate(_)
            | Self::GateUndecided(_)
            | Self::Review(ReviewError::Read { .. } | ReviewError::IsRun { .. })
            | Self::PlanUnreadable { .. }
            | Self::PlanInvalid { .. }
            | Self::JobFile(_)
            | Self::Review(
                ReviewError::UnknownTest { .. }
                | ReviewError::NotAmong { .. }
                | ReviewError::Plan(_)
                | ReviewError::NotEmpty { .. }
                | ReviewError::OtherDrive { .. }
                | ReviewError::OtherPlan { .. }
                | ReviewError::Directory { .. }
                | ReviewError::NotOurs { .. },
            )
            | Self::Figures(_)
            | Self::FiguresUnreadable { .. }
            | Self::LogUnreadable { .. }
            | Self::NoFigures { .. }
            | Self::Report(ReportError::NotEmpty { .. })
            | Self::TraceExists { .. }
            | Self::NoDirectory { .. }
            | Self::CommandNotRun { .. }
            | Self::UnknownPlan { .. }
            | Self::ReadTwice { .. }
            | Self::Run(RunError::Plan(_))
            | Self::RunDirectory(RunDirectoryError::NotEmpty { .. })
            | Self::Run(RunError::RunDirectory(RunDirectoryError::NotEmpty { .. })) => {
                ExitCode::from(2)
            }
            _ => ExitCode::from(1),
        }
    }
}
