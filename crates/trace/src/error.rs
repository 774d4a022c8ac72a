//! What can be wrong with a trace.

use std::io;
use std::path::{Path, PathBuf};

use writecliff_output::OutputError;

use crate::Volume;

/// Why a trace cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
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
    /// The output would take the place of what is read.
    #[error("{} is read itself and was not changed; name another output", path.display())]
    OutputIsInput {
        /// The file.
        path: PathBuf,
    },
    /// Parquet, but not a trace, or a damaged one.
    #[error("{} is no trace of Writecliff: {reason}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
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
    /// A plan of a trace that is not TOML, or has an unknown or missing key.
    #[error("{file}:{line}: {message}")]
    PlanSyntax {
        /// The file.
        file: String,
        /// The line in it.
        line: usize,
        /// What was found and what was expected.
        message: String,
    },
    /// A plan of a trace that cannot be.
    #[error("the plan {plan} cannot be carried out: {reason}")]
    PlanImpossible {
        /// The plan's name.
        plan: String,
        /// What contradicts what.
        reason: String,
    },
    /// There is nothing in the file.
    #[error("{} is empty{}", path.display(), left_behind(path))]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The content does not tell the format.
    #[error("{}: the format is in doubt: {considered}; name it with --from", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// What was considered.
        considered: String,
    },
    /// A CSV file does not say what its columns are.
    #[error("{}: expected {}, found '{found}'", path.display(), crate::source::CSV_HEADER)]
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
         of time, or allow more with --bad-lines", path.display()
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
        "{}: its operations are of {} volumes, each with offsets of its own: {}; take one with \
         --stream NAME, or make one range of all their offsets with --all-volumes",
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
    /// Recording needs rights that this process lacks.
    #[error("recording was not permitted ({}: {source}); run as root", path.display())]
    RecordNotPermitted {
        /// What was refused.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The kernel was built without tracing.
    #[error(
        "this kernel has no tracefs, so nothing can be recorded here; record elsewhere with perf \
         or blktrace, and use `writecliff trace convert`"
    )]
    NoTracefs,
    /// The kernel was built without the block layer's tracepoints, or describes them otherwise.
    #[error(
        "this kernel has no {name} as known here; use a kernel with CONFIG_BLK_DEV_IO_TRACE, or \
         record with perf or blktrace and use `writecliff trace convert`"
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
         record with perf or blktrace instead, and use `writecliff trace convert`"
    )]
    TracePage {
        /// Counted as the pipes are.
        processor: usize,
    },
    /// There is nothing to convert.
    #[error("{} holds no operations; look whether it is the right file", path.display())]
    NoOperations {
        /// The file.
        path: PathBuf,
    },
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
