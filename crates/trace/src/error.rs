//! What can go wrong with a trace: one enum for each thing that is done with it.
//!
//! Every error says what kind it is ([`ErrorKind`]). Texts name files, keys and fields; which of its
//! options sets a field, a face says itself.

use std::io;
use std::path::{Path, PathBuf};

use writecliff_device::{ErrorKind, did_you_mean};
use writecliff_output::OutputError;

use crate::make::PLANS;
use crate::volume::Volume;

/// What a CSV file must begin with.
pub(crate) const CSV_HEADER: &str = "a first line that names issued_ns (or _us, _ms, _s), operation, \
                                     offset (or sector) and length (or size, or sectors)";

/// Why a trace cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Parquet, but not a trace, or a damaged one.
    #[error("{} is no trace of Writecliff: {reason}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A trace of our own, but no file.
    #[error(
        "{} is a pipe or a device, and a trace of Writecliff begins to be read at its end; store it \
         in a file first", path.display()
    )]
    NoFile {
        /// What it is.
        path: PathBuf,
    },
    /// There is nothing in the file.
    #[error("{} is empty{}", path.display(), left_behind(path))]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// No file is there, and no trace that ships has this name.
    #[error(
        "there is no trace '{name}' here, neither one that ships ({}) nor a file{}",
        PLANS.map(|plan| plan.name).join(", "), did_you_mean(name, PLANS.map(|plan| plan.name))
    )]
    Unknown {
        /// The name.
        name: String,
    },
    /// The content does not tell the format.
    #[error("{}: the format is in doubt: {considered}; name the format", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// What was considered.
        considered: String,
    },
    /// A CSV file does not say what its columns are.
    #[error("{}: expected {}, found '{found}'", path.display(), CSV_HEADER)]
    NoColumns {
        /// The file.
        path: PathBuf,
        /// The beginning of its first line.
        found: String,
    },
    /// Too many lines cannot be used.
    #[error(
        "{}: {broken} of {lines} lines are broken and {out_of_reach} out of order beyond repair: \
         more than {percent} %; look whether it is {format} as docs/formats.md has it and in order \
         of time, or allow more of them", path.display()
    )]
    BadLines {
        /// The file.
        path: PathBuf,
        /// Lines that could not be read.
        broken: u64,
        /// Lines that were too far from their place in time.
        out_of_reach: u64,
        /// Lines read by then.
        lines: u64,
        /// How many of a hundred are allowed.
        percent: f64,
        /// The format that it was read as.
        format: &'static str,
    },
    /// Nothing in the trace is called so.
    #[error(
        "{} has no stream '{name}'; among its streams are: {}", path.display(), streams.join(", ")
    )]
    NoSuchStream {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        name: String,
        /// Some that are there.
        streams: Vec<String>,
    },
    /// Several volumes, each with offsets of its own, in one source.
    #[error(
        "{}: its operations are of {} volumes, each with offsets of its own: {}; take one of them \
         as the stream, or make one range of all their offsets",
        path.display(), volumes.len(), listed(volumes)
    )]
    SeveralVolumes {
        /// The file.
        path: PathBuf,
        /// All of them, the largest first.
        volumes: Vec<Volume>,
    },
    /// Several files, and not those of one recording.
    #[error(
        "several inputs make one trace only if they are blktrace's files of one device, one for \
         each processor, in one directory (DEVICE.blktrace.N); convert {} one by one",
        paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    )]
    SeveralInputs {
        /// The files.
        paths: Vec<PathBuf>,
    },
    /// No system lets so long an operation through.
    #[error(
        "operation {index} is {length} bytes long, at byte {offset}: more than any drive takes at \
         once; the trace is damaged, or its format is not the one it was read as"
    )]
    Oversized {
        /// Counted from zero.
        index: u64,
        /// Where it begins.
        offset: u64,
        /// Its length.
        length: u64,
    },
    /// The trace was to be made, and cannot be.
    #[error(transparent)]
    Make(#[from] MakeError),
}

/// Why a trace cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The file cannot be written to.
    #[error("cannot write {}: {source}; free some space or choose another place", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The output cannot be begun or ended; a block device is refused.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// Operations must be given to a writer in order of issue.
    #[error(
        "{}: operation {index}, issued at {} ns, comes after one issued at {} ns; sort it first",
        path.display(), issued_ns, before_ns
    )]
    Unsorted {
        /// The file that was to be written.
        path: PathBuf,
        /// Counted from zero.
        index: u64,
        /// Its issue.
        issued_ns: u64,
        /// The issue of the one before.
        before_ns: u64,
    },
    /// No reader takes so long an operation.
    #[error(
        "operation {index} is {length} bytes long, at byte {offset}: more than any drive takes at \
         once; look where it comes from"
    )]
    Oversized {
        /// Counted from zero.
        index: u64,
        /// Where it begins.
        offset: u64,
        /// Its length.
        length: u64,
    },
}

/// Why a trace is not converted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// The source cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The output cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The output would take the place of what is read.
    #[error("{} is read itself and was not changed; name another output", path.display())]
    OutputIsInput {
        /// The file.
        path: PathBuf,
    },
    /// There is nothing to convert.
    #[error("{} holds no operations; look whether it is the right file", path.display())]
    NoOperations {
        /// The file.
        path: PathBuf,
    },
}

/// Why no trace can be made of a plan.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MakeError {
    /// Nothing is called so.
    #[error(
        "no plan is called '{name}'{}; there are {}, or name a file like PLAN.toml",
        did_you_mean(name, PLANS.map(|plan| plan.name)), PLANS.map(|plan| plan.name).join(", ")
    )]
    Unknown {
        /// The name.
        name: String,
    },
    /// The plan's file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// It is not TOML, or has an unknown or missing key.
    #[error("{file}:{line}: {message}")]
    Syntax {
        /// The file.
        file: String,
        /// The line in it.
        line: usize,
        /// What was found and what was expected.
        message: String,
    },
    /// It contradicts itself.
    #[error("the plan {plan} cannot be carried out: {reason}")]
    Impossible {
        /// The plan's name.
        plan: String,
        /// What contradicts what.
        reason: String,
    },
}

/// Why nothing is recorded, or no more.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The trace cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Recording needs rights that this process lacks.
    #[error("recording was not permitted ({}: {source}); run as root", path.display())]
    NotPermitted {
        /// What was refused.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The kernel was built without tracing.
    #[error(
        "this kernel has no tracefs, so nothing can be recorded here; record elsewhere with perf \
         or blktrace, and convert that"
    )]
    NoTracefs,
    /// The kernel was built without the block layer's tracepoints, or describes them otherwise.
    #[error(
        "this kernel has no {name} as known here; use a kernel with CONFIG_BLK_DEV_IO_TRACE, or \
         record with perf or blktrace and convert that"
    )]
    NoTracepoint {
        /// Which one.
        name: &'static str,
    },
    /// The kernel's tracing does not do as asked.
    #[error("cannot record: {}: {source}; see `dmesg` for what the kernel says", path.display())]
    Tracefs {
        /// The file of tracefs.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// What is recorded is not there any more.
    #[error(
        "{name} has gone: it was unplugged, detached or changed for another; see `dmesg`, and record \
         again when it is back"
    )]
    DriveGone {
        /// What it was called.
        name: String,
    },
    /// A page of the kernel's buffer is not as the kernel describes it.
    #[error(
        "the trace buffer of processor {processor} holds what this version does not understand; \
         record with perf or blktrace instead, and convert that"
    )]
    Page {
        /// Counted as the pipes are.
        processor: usize,
    },
}

impl ReadError {
    /// What it asks of whoever made the call.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Read { source, .. } => ErrorKind::of_path(source),
            Self::Make(error) => error.kind(),
            Self::Empty { .. }
            | Self::NoFile { .. }
            | Self::Unknown { .. }
            | Self::UnknownFormat { .. }
            | Self::NoColumns { .. }
            | Self::NoSuchStream { .. }
            | Self::SeveralVolumes { .. }
            | Self::SeveralInputs { .. } => ErrorKind::Usage,
            Self::Format { .. } | Self::BadLines { .. } | Self::Oversized { .. } => {
                ErrorKind::Failed
            }
        }
    }
}

impl WriteError {
    /// What it asks of whoever made the call.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Output(error) => error.kind(),
            Self::Write { .. } | Self::Unsorted { .. } | Self::Oversized { .. } => {
                ErrorKind::Failed
            }
        }
    }
}

impl ConvertError {
    /// What it asks of whoever made the call.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Read(error) => error.kind(),
            Self::Write(error) => error.kind(),
            Self::OutputIsInput { .. } => ErrorKind::Usage,
            Self::NoOperations { .. } => ErrorKind::Failed,
        }
    }
}

impl MakeError {
    /// What it asks of whoever made the call.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Read { source, .. } => ErrorKind::of_path(source),
            Self::Unknown { .. } | Self::Syntax { .. } | Self::Impossible { .. } => {
                ErrorKind::Usage
            }
        }
    }
}

impl RecordError {
    /// What it asks of whoever made the call.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Write(error) => error.kind(),
            Self::NotPermitted { .. }
            | Self::NoTracefs
            | Self::NoTracepoint { .. }
            | Self::Tracefs { .. }
            | Self::DriveGone { .. }
            | Self::Page { .. } => ErrorKind::Failed,
        }
    }
}

/// Why an output that is not whole can be there.
fn left_behind(path: &Path) -> &'static str {
    match path.extension().is_some_and(|extension| extension == "partial") {
        true => ": it is what a command left that was killed before its end",
        false => "; look whether it is the right file",
    }
}

/// How many volumes are named.
const VOLUMES_NAMED: usize = 20;

/// `8,0 (4711 operations), 8,16 (3 operations)`.
fn listed(volumes: &[Volume]) -> String {
    let named: Vec<String> = volumes.iter().take(VOLUMES_NAMED).map(Volume::to_string).collect();
    match volumes.len().saturating_sub(VOLUMES_NAMED) {
        0 => named.join(", "),
        others => format!("{}, and {others} more", named.join(", ")),
    }
}
