//! The loop that everything is measured by: supply I/Os, collect them, cut time into seconds.

use std::ops::ControlFlow;

use writecliff_device::{
    Completion, Device, DeviceError, DeviceTime, Io, Nanos, Operation, Status,
};

use crate::recorder::Recorder;
use crate::replay::{Replay, ReplayIo, ReplaySupply};
use crate::run_directory::RunDirectoryError;
use crate::sample::Sample;
use crate::supply::{Idle, Queue, Stream, Streams, Supply};

/// A closed-loop load: `queue_depth` I/Os in flight, always.
#[derive(Debug)]
pub struct Load<I> {
    /// What to do, in order.
    pub ios: I,
    /// I/Os kept in flight.
    pub queue_depth: usize,
    /// When to stop; `None` to go on until `ios` ends.
    pub duration: Option<Nanos>,
}

/// Fewer failed I/Os in a second without a good one may be a stall with a bad sector in it.
const FAILURES_MIN: u64 = 10;

/// Why recording stopped before its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The device cannot go on.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A sample could not be put on disk.
    #[error(transparent)]
    RunDirectory(#[from] RunDirectoryError),
    /// For a whole second the device failed every I/O.
    #[error(
        "the device failed all {failed} I/Os of second {second} (system error {errno}: {}); \
         check its cabling and health, nothing more was sent to it",
        std::io::Error::from_raw_os_error(*errno)
    )]
    EveryIoFailed {
        /// Seconds since the phase began.
        second: u32,
        /// I/Os that failed in it.
        failed: u64,
        /// The system's error number of the last one.
        errno: i32,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// What sees every sample as it is put on disk and may break off.
pub type Watch<'a> = &'a mut dyn FnMut(&Sample) -> ControlFlow<()>;

/// Runs `load` on `device`, a sample a second into `recorder`, until its duration or its I/Os end.
/// I/Os in flight when the duration ends are waited for but not counted. `watch` sees every sample
/// and may break off.
///
/// # Errors
/// [`RecordError`]; what was recorded up to then is on disk.
pub fn record<I: Iterator<Item = Io>>(
    device: &mut dyn Device,
    load: Load<I>,
    recorder: &mut Recorder,
    watch: Watch<'_>,
) -> Result<(), RecordError> {
    let queue = Queue::new(load.ios, load.queue_depth);
    record_supply(device, queue, load.duration, recorder, watch)
}

/// Runs several loads at once, each recorded as a series of its own: the recorder must have a
/// phase for each. Ends when `duration` does, or when every stream has ended; a stream's own end
/// lets what it has in flight complete and count.
///
/// # Errors
/// As [`record`].
pub fn record_streams(
    device: &mut dyn Device,
    streams: Vec<Stream<'_>>,
    duration: Option<Nanos>,
    recorder: &mut Recorder,
    watch: Watch<'_>,
) -> Result<(), RecordError> {
    let streams = Streams::new(streams, device.now());
    record_supply(device, streams, duration, recorder, watch)
}

/// As [`record_streams`], but the operations of each stream are series of their own: the recorder
/// must have a phase for each of `operations`, stream after stream. What a stream does beside its
/// operations goes into the series of its first.
///
/// # Errors
/// As [`record`].
pub fn record_operations(
    device: &mut dyn Device,
    streams: Vec<Stream<'_>>,
    operations: &[Vec<Operation>],
    duration: Option<Nanos>,
    recorder: &mut Recorder,
    watch: Watch<'_>,
) -> Result<(), RecordError> {
    let streams = Streams::by_operation(streams, operations, device.now());
    record_supply(device, streams, duration, recorder, watch)
}

/// Does a trace again, recorded in the series of [`Replay::series`], for which the recorder must
/// have phases. Ends when its I/Os do.
///
/// # Errors
/// As [`record`].
pub fn record_replay<I: Iterator<Item = ReplayIo>>(
    device: &mut dyn Device,
    replay: Replay<I>,
    recorder: &mut Recorder,
    watch: Watch<'_>,
) -> Result<(), RecordError> {
    let supply = ReplaySupply::new(replay, device);
    record_supply(device, supply, None, recorder, watch)
}

/// Records a device that is left alone.
///
/// # Errors
/// As [`record`].
pub fn record_idle(
    device: &mut dyn Device,
    duration: Nanos,
    recorder: &mut Recorder,
    watch: Watch<'_>,
) -> Result<(), RecordError> {
    record_supply(device, Idle, Some(duration), recorder, watch)
}

fn record_supply(
    device: &mut dyn Device,
    mut supply: impl Supply,
    duration: Option<Nanos>,
    recorder: &mut Recorder,
    watch: Watch<'_>,
) -> Result<(), RecordError> {
    let start = device.now();
    let end = duration.map_or(DeviceTime::MAX, |duration| start + duration);
    let mut second = Second { index: 0, start, end: end.min(start + Nanos::from_secs(1)) };
    let mut done = Vec::with_capacity(64);

    while let Some(next) = supply.fill(device)? {
        done.clear();
        device.reap(second.end.min(next), &mut done)?;
        for completion in &done {
            while completion.completed >= second.end && second.end < end {
                second = close(second, end, device, recorder, &mut supply, watch)?;
            }
            if completion.completed < end {
                supply.observe(completion, recorder);
            }
            supply.completed(completion);
        }
        while device.now() >= second.end && second.end < end {
            second = close(second, end, device, recorder, &mut supply, watch)?;
        }
        if device.now() >= end {
            break;
        }
    }
    // What completed in the very moment that a second began has that moment for a sample.
    let at_least = second.start + Nanos(u64::from(recorder.is_open()));
    let stopped = device.now().min(end).max(at_least);
    if stopped > second.start {
        close(Second { end: stopped, ..second }, end, device, recorder, &mut supply, watch)?;
    }
    Ok(drain(device, supply.in_flight())?)
}

/// The sample being filled.
#[derive(Debug, Clone, Copy)]
struct Second {
    index: u32,
    start: DeviceTime,
    end: DeviceTime,
}

/// Puts one second on disk, shows it, and begins the next.
fn close(
    second: Second,
    end: DeviceTime,
    device: &mut dyn Device,
    recorder: &mut Recorder,
    supply: &mut impl Supply,
    watch: Watch<'_>,
) -> Result<Second, RecordError> {
    let telemetry = device.telemetry();
    let errno = recorder.last_errno();
    supply.end_second(second.end, recorder);
    recorder.end_series(|label| supply.is_over(label));
    let samples = recorder.end_second(second.index, second.start, second.end, telemetry)?;
    let is_whole = second.end - second.start == Nanos::from_secs(1);
    let ios: u64 = samples.iter().map(Sample::ios).sum();
    let failed = samples.iter().map(|sample| sample.failed).sum();
    if let (true, 0, FAILURES_MIN.., Some(errno)) = (is_whole, ios, failed, errno) {
        return Err(RecordError::EveryIoFailed { second: second.index, failed, errno });
    }
    for sample in samples {
        if watch(sample).is_break() {
            return Err(RecordError::Interrupted);
        }
    }
    let (index, start) = (second.index + 1, second.end);
    Ok(Second { index, start, end: end.min(start + Nanos::from_secs(1)) })
}

/// Waits for what is still in flight; its completions belong to no second.
pub(crate) fn drain(device: &mut dyn Device, mut in_flight: usize) -> Result<(), DeviceError> {
    let mut done = Vec::new();
    while in_flight > 0 {
        let until = device.now() + Nanos::from_secs(1);
        device.reap(until, &mut done)?;
        in_flight -= done.len();
        done.clear();
    }
    Ok(())
}

pub(crate) fn failed(completion: &Completion) -> Option<i32> {
    match completion.status {
        Status::Done => None,
        Status::Failed(errno) => Some(errno),
    }
}
