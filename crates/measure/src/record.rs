//! The loop that everything is measured by: keep the queue full, collect, cut time into seconds.

use std::ops::ControlFlow;

use writecliff_device::{Completion, Device, DeviceError, DeviceTime, Io, Nanos, Status};

use crate::recorder::Recorder;
use crate::run_directory::RunDirectoryError;
use crate::sample::Sample;

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
    watch: &mut dyn FnMut(&Sample) -> ControlFlow<()>,
) -> Result<(), RecordError> {
    let start = device.now();
    let end = load.duration.map_or(DeviceTime::MAX, |duration| start + duration);
    let mut second = Second { index: 0, start, end: end.min(start + Nanos::from_secs(1)) };
    let mut queue = Queue::new(load.ios, load.queue_depth);
    let mut done = Vec::with_capacity(load.queue_depth);

    loop {
        queue.fill(device)?;
        if queue.in_flight == 0 {
            break;
        }
        done.clear();
        device.reap(second.end, &mut done)?;
        queue.in_flight -= done.len();
        for completion in &done {
            while completion.completed >= second.end && second.end < end {
                second = close(second, end, device, recorder, watch)?;
            }
            if completion.completed < end {
                recorder.observe(completion);
            }
        }
        while device.now() >= second.end && second.end < end {
            second = close(second, end, device, recorder, watch)?;
        }
        if device.now() >= end {
            break;
        }
    }
    let stopped = device.now().min(end);
    if stopped > second.start {
        close(Second { end: stopped, ..second }, end, device, recorder, watch)?;
    }
    Ok(drain(device, queue.in_flight)?)
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
    watch: &mut dyn FnMut(&Sample) -> ControlFlow<()>,
) -> Result<Second, RecordError> {
    let telemetry = device.telemetry();
    let errno = recorder.last_errno();
    let sample = recorder.end_second(second.index, second.start, second.end, telemetry)?;
    let is_whole = sample.span_ns == 1_000_000_000;
    if let (true, 0, FAILURES_MIN.., Some(errno)) = (is_whole, sample.ios(), sample.failed, errno) {
        let failed = sample.failed;
        return Err(RecordError::EveryIoFailed { second: second.index, failed, errno });
    }
    if watch(sample).is_break() {
        return Err(RecordError::Interrupted);
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

/// I/Os drawn ahead of those in flight, for the device to make itself ready.
const LOOK_AHEAD: usize = 64;

/// The I/Os to come and how many are on their way.
pub(crate) struct Queue<I> {
    ios: I,
    depth: usize,
    pub(crate) in_flight: usize,
    /// Drawn and announced; those before `next` were submitted.
    upcoming: Vec<Io>,
    next: usize,
}

impl<I: Iterator<Item = Io>> Queue<I> {
    pub(crate) fn new(ios: I, depth: usize) -> Self {
        Self { ios, depth, in_flight: 0, upcoming: Vec::with_capacity(LOOK_AHEAD), next: 0 }
    }

    pub(crate) fn fill(&mut self, device: &mut dyn Device) -> Result<(), DeviceError> {
        while self.in_flight < self.depth {
            if self.next == self.upcoming.len() {
                self.draw(device);
            }
            let ahead = &self.upcoming[self.next..];
            let batch = &ahead[..ahead.len().min(self.depth - self.in_flight)];
            if batch.is_empty() {
                break;
            }
            device.submit(batch)?;
            self.in_flight += batch.len();
            self.next += batch.len();
        }
        Ok(())
    }

    fn draw(&mut self, device: &mut dyn Device) {
        self.upcoming.clear();
        self.upcoming.extend(self.ios.by_ref().take(LOOK_AHEAD));
        self.next = 0;
        device.announce(&self.upcoming);
    }
}

pub(crate) fn failed(completion: &Completion) -> Option<i32> {
    match completion.status {
        Status::Done => None,
        Status::Failed(errno) => Some(errno),
    }
}
