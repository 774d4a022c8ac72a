//! What can be recorded: a load, several at once, a trace, a device that is left alone.

use std::ops::ControlFlow;

use writecliff_device::{Completion, Device, DeviceError, Io, Nanos, Operation, Status};

use crate::cycle::Cycle;
use crate::failures::{FAILED_ONE_IN, FailedIo, UnansweredIo, Waiting};
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
    /// The device failed a noticeable share of a phase's I/Os.
    #[error(
        "the device failed {failed} of {all} I/Os of {phase}{}; from 1 in {FAILED_ONE_IN} on a \
         run's figures are not the drive's: check its cabling and health, `failed_ios` in run.json \
         names the first",
        first.as_ref().map_or_else(String::new, |first| format!(", the first a {first}"))
    )]
    IosFailed {
        /// The series.
        phase: String,
        /// I/Os that failed in it.
        failed: u64,
        /// All that ended in it.
        all: u64,
        /// The first of them, if it was among the run's first failures.
        first: Option<Box<FailedIo>>,
    },
    /// The device did not answer.
    #[error(
        "the device has not answered: {io}; --io-timeout is half of that. What was recorded until \
         then is kept; check its cabling and health, or give it a longer --io-timeout"
    )]
    Unanswered {
        /// What it did not answer longest.
        io: UnansweredIo,
    },
    /// What was recorded could not be put on disk as fast as time passed.
    #[error(
        "the last {seconds} s of samples could not be put on disk: where the run is kept takes \
         nothing, or the terminal does not. The load was ended; what is on disk is kept: give \
         --out another disk"
    )]
    DiskTooSlow {
        /// Seconds that were not written.
        seconds: usize,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// What sees every sample as it is put on disk, and what has been in flight for long, and may break
/// off. On a real device another thread than the measuring one calls it.
pub type Watch<'a> = &'a mut (dyn FnMut(&Sample, Waiting) -> ControlFlow<()> + Send);

/// Runs `load` on `device`, a sample a second into `recorder`, until its duration or its I/Os end.
/// I/Os in flight when the duration ends are waited for but not counted, unless a real device
/// leaves them waiting for a whole second: then the phase goes on until they are back. `watch` sees
/// every sample and may break off.
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
    supply: impl Supply,
    duration: Option<Nanos>,
    recorder: &mut Recorder,
    watch: Watch<'_>,
) -> Result<(), RecordError> {
    let info = device.info().clone();
    recorder.during(&info, watch, |counter, sink, io_timeout| {
        Cycle::new(device, supply, duration, (counter, sink), io_timeout).run()
    })
}

pub(crate) fn failed(completion: &Completion) -> Option<i32> {
    match completion.status {
        Status::Done => None,
        Status::Failed(errno) => Some(errno),
    }
}
