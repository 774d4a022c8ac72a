//! `writecliff trace record`: what is asked of a block device, into a trace.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use rustix::fs::{major, minor};
use writecliff_device::{Bytes, Nanos, printable};
use writecliff_output::check_file;
use writecliff_trace::{
    Counts, Preparation, ReadError, RecordError, Recorded, Recorder, Tally, Target,
};
use writecliff_uring::{BlockDevice, OpenError, Reach};

use super::watched::Watched;
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::output::{ProgressLine, print, say};
use writecliff::DriveName;

#[derive(Debug, Args)]
pub(crate) struct RecordArguments {
    /// The block device to record: a disk, or a partition of one
    device: DriveName,
    /// The trace to write, on another disk [default: ./DEVICE-TIME.trace]
    #[arg(long, value_name = "FILE.trace")]
    out: Option<PathBuf>,
    /// How long to record, like 30s or 2h [default: until Ctrl-C, or until COMMAND ends]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = duration)]
    duration: Option<Nanos>,
    /// Memory of the kernel for each processor's events; give more if events are lost
    #[arg(long, value_name = "BYTES", default_value = "8MiB", value_parser = buffer)]
    buffer: Bytes,
    /// Record while this command runs
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Records until the time is over, the command ends, or Ctrl-C is pressed, whichever comes first.
pub(crate) fn record(arguments: &RecordArguments) -> Result<(), CliError> {
    let (device, out) = (device(&arguments.device)?, out(arguments));
    check_out(&device, &out)?;
    let interrupt = Interrupt::catch()?;
    let target = target(&device)?;
    let mut recorder = Recorder::begin(target, arguments.buffer, &out)?;
    let began = Instant::now();
    tell(recorder.preparation());
    let mut command = Watched::start(&arguments.command)?;
    watch(&mut recorder, arguments.duration, &mut command, &interrupt);
    if interrupt.is_raised() {
        command.interrupt();
    }
    let recorded = recorder.finish()?;
    print(&summary(&recorded, began.elapsed(), &device, &out))?;
    let ended = command.wait()?;
    if let Some(source) = recorded.cut_off {
        return Err(CliError::RecordingCutOff { source, path: out });
    }
    match ended.filter(|status| !status.success()) {
        Some(status) if !interrupt.is_raised() => {
            let command = arguments.command[0].to_string_lossy().into_owned();
            Err(CliError::CommandFailed { command, status, path: out })
        }
        _ => Ok(()),
    }
}

fn device(name: &DriveName) -> Result<BlockDevice, CliError> {
    match name {
        DriveName::Simulated(_)
        | DriveName::Array(_)
        | DriveName::Recorded { .. }
        | DriveName::Directory(_)
        | DriveName::Null => Err(CliError::RecordSimulated { name: name.to_string() }),
        DriveName::Real(path) => Ok(BlockDevice::at(path).map_err(writecliff::Error::from)?),
    }
}

/// `sda-20261121-142301.trace`.
fn out(arguments: &RecordArguments) -> PathBuf {
    arguments.out.clone().unwrap_or_else(|| {
        let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S");
        PathBuf::from(format!("{}-{now}.trace", arguments.device.slug()))
    })
}

/// Writing the trace must not be in it, and what is there stays.
fn check_out(device: &BlockDevice, out: &Path) -> Result<(), CliError> {
    check_file(out)?;
    if out.symlink_metadata().is_ok() {
        return Err(CliError::TraceExists { path: out.to_owned() });
    }
    let directory = match out.parent() {
        Some(above) if above != Path::new("") => above,
        _ => Path::new("."),
    };
    let path = || out.to_owned();
    if !directory.is_dir() {
        return Err(CliError::NoDirectory { path: path(), directory: directory.to_owned() });
    }
    match device.reached_from(directory).map_err(not_permitted)? {
        Reach::Apart => Ok(()),
        Reach::Reaches => {
            Err(CliError::TraceOnDevice { path: path(), device: device.identity.path.clone() })
        }
        Reach::Unknown(filesystem) => Err(CliError::TraceAnywhere { path: path(), filesystem }),
    }
}

/// What only root may look at is only the first thing that another user would lack.
fn not_permitted(error: OpenError) -> CliError {
    match error {
        OpenError::System { path, source, .. } if source.kind() == ErrorKind::PermissionDenied => {
            RecordError::NotPermitted { path, source }.into()
        }
        error => writecliff::Error::from(error).into(),
    }
}

fn target(device: &BlockDevice) -> Result<Target, CliError> {
    let identity = &device.identity;
    let node = identity.path.metadata();
    let node = node.map_err(|source| ReadError::Read { path: identity.path.clone(), source })?;
    let names = [&identity.model, &identity.serial];
    let names: Vec<&str> = names.into_iter().flatten().map(String::as_str).collect();
    let path = identity.path.display();
    let name = match names.is_empty() {
        true => path.to_string(),
        false => format!("{path} ({})", names.join(", ")),
    };
    Ok(Target {
        name: printable(&name),
        number: (major(node.rdev()), minor(node.rdev())),
        numbers: device.numbers.clone(),
        sectors: device.starts_at.map(|start| {
            let first = start.0 / 512;
            first..first + identity.capacity.0 / 512
        }),
        size: identity.capacity,
        has_requests: device.has_requests,
    })
}

fn tell(preparation: &Preparation) {
    if let Some(path) = &preparation.mounted {
        say(&format!("mounted tracefs on {}; it stays mounted", path.display()));
    }
    for name in &preparation.removed {
        say(&format!("removed {name}, which a recording that was killed had left in the kernel"));
    }
}

fn watch(
    recorder: &mut Recorder,
    duration: Option<Nanos>,
    command: &mut Watched,
    interrupt: &Interrupt,
) {
    let began = Instant::now();
    let line = ProgressLine::every_second();
    let mut shown = (Duration::ZERO, 0);
    while recorder.advance().is_continue() && !interrupt.is_raised() && command.goes_on() {
        let passed = began.elapsed();
        if duration.is_some_and(|duration| passed >= Duration::from_nanos(duration.0)) {
            break;
        }
        line.show(|| progress(passed, recorder, &mut shown));
    }
}

/// What has been recorded so far, and how fast since what was `shown` last.
fn progress(passed: Duration, recorder: &Recorder, shown: &mut (Duration, u64)) -> String {
    // Counts that cannot be read now are shown the next time; the recorder itself tells why.
    let Ok(counts) = recorder.counts() else {
        return format!("{} s", passed.as_secs());
    };
    let ios = counts.issued.ios();
    let iops = (ios - shown.1) as f64 / (passed - shown.0).as_secs_f64();
    *shown = (passed, ios);
    line(passed, &counts, iops)
}

/// `12 s: 3400 reads, 120 writes, 14.4 MB, 290 IOPS, queue depth 4, 0 lost`.
fn line(passed: Duration, counts: &Counts, iops: f64) -> String {
    let issued = &counts.issued;
    let depth =
        counts.queue_depth.map_or_else(|| "not known".to_owned(), |depth| depth.to_string());
    format!(
        "{} s: {} reads, {} writes, {}, {iops:.0} IOPS, queue depth {depth}, {} lost",
        passed.as_secs(),
        issued.reads,
        issued.writes,
        issued.read_bytes + issued.written_bytes,
        counts.lost
    )
}

fn summary(recorded: &Recorded, lasted: Duration, device: &BlockDevice, out: &Path) -> String {
    let Recorded { summary, lost, .. } = recorded;
    let device = device.identity.path.display();
    let lasted = Nanos(u64::try_from(lasted.as_nanos()).unwrap_or(u64::MAX));
    let mut text = match summary.ios() {
        0 => format!(
            "{device}: nothing was asked of it in the {lasted} recorded; {lost} events lost\n"
        ),
        _ => format!(
            "{device}: {} reads ({}), {} writes ({}), {} trims, {} flushes; {lost} events lost\n\
             Recorded for {lasted}; the operations span {}\n",
            summary.reads,
            summary.read_bytes,
            summary.writes,
            summary.written_bytes,
            summary.trims,
            summary.flushes,
            summary.duration(),
        ),
    };
    text += &remarks(recorded);
    text + &format!("Trace: {}\n", out.display())
}

/// What there is to know beside the numbers; nothing of what did not happen.
fn remarks(recorded: &Recorded) -> String {
    let Tally { without_issue, without_completion, failed, others, .. } = recorded.tally;
    let remarks = [
        (
            recorded.lost,
            "events lost: as many operations may be missing or without completion; \
             give more --buffer",
        ),
        (
            without_issue,
            "completions passed over: issued before the recording, or while events were lost",
        ),
        (
            without_completion,
            "operations without completion: in flight at the end, while events were lost, or of a \
             driver that does not tell them",
        ),
        (failed, "operations failed: without completion"),
        (others, "commands passed over: neither read, write, trim nor flush"),
    ];
    let happened = remarks.iter().filter(|(count, _)| *count > 0);
    happened.map(|(count, remark)| format!("  {count} {remark}\n")).collect()
}

fn duration(text: &str) -> Result<Nanos, String> {
    let duration: Nanos = text.parse().map_err(|error| format!("{error}"))?;
    if duration.0 > 0 { Ok(duration) } else { Err("expected more than nothing".to_owned()) }
}

fn buffer(text: &str) -> Result<Bytes, String> {
    let bytes: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    let (least, most) = (Bytes::from_kib(64), Bytes::from_gib(4));
    match (least..=most).contains(&bytes) {
        true => Ok(bytes),
        false => Err("expected 64KiB to 4GiB".to_owned()),
    }
}
