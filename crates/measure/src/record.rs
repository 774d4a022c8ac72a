//! The one way to record: any supply of I/Os, on any device.

use std::fmt;

use writecliff_device::{Device, Nanos};

use crate::cycle::{Cycle, Times};
use crate::error::{RecordError, Watch};
use crate::lanes;
use crate::recorder::Recorder;
use crate::replay::Replay;
use crate::streams::Streams;
use crate::supply::{Idle, Queue, Supply};
use crate::threads::Threads;

/// Runs `supply` on `device`, a sample a second of each of its series into `recorder`, which must
/// have begun them: until `duration` is over, or until the supply is if that is `None` or later.
/// I/Os in flight when the duration ends are waited for but not counted, unless a real device
/// leaves them waiting for a whole second: then the load goes on until they are back. `watch` sees
/// every sample and may break off.
///
/// # Errors
/// [`RecordError`]; what was recorded up to then is on disk.
pub fn record(
    device: &mut dyn Device,
    supply: impl Recorded,
    duration: Option<Nanos>,
    recorder: &mut Recorder,
    watch: Watch<'_>,
) -> Result<(), RecordError> {
    supply.recorded(RecordingLoop { device, duration, recorder, watch })
}

/// A kind of supply that can be recorded. It says so itself, always by `by.of(self)`, so that the loop
/// of a recording, which is fast because it is made for one kind, is compiled once, where this is said;
/// [`record`] would have it compiled wherever something is recorded.
pub trait Recorded: Supply + Sized {
    /// Is recorded.
    ///
    /// # Errors
    /// As [`record`].
    fn recorded(self, by: RecordingLoop<'_>) -> Result<(), RecordError>;
}

macro_rules! recorded {
    ($($kind:ty)*) => {$(impl Recorded for $kind {
        fn recorded(self, by: RecordingLoop<'_>) -> Result<(), RecordError> {
            by.of(self)
        }
    })*};
}

recorded!(Queue<'_> Idle Streams<'_> Replay<'_>);

/// All that recording takes beside a supply.
pub struct RecordingLoop<'a> {
    device: &'a mut dyn Device,
    duration: Option<Nanos>,
    recorder: &'a mut Recorder,
    watch: Watch<'a>,
}

impl fmt::Debug for RecordingLoop<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordingLoop").field("duration", &self.duration).finish_non_exhaustive()
    }
}

impl RecordingLoop<'_> {
    /// Records this supply. The loop is compiled for the kind of supply wherever this is called: see
    /// [`Recorded`].
    ///
    /// # Errors
    /// As [`record`].
    pub fn of(self, supply: impl Supply) -> Result<(), RecordError> {
        let Self { device, duration, recorder, watch } = self;
        let info = device.info().clone();
        let looks_for_failures = supply.looks_for_failures();
        let times = Times { start: None, duration, io_timeout: recorder.io_timeout() };
        let threads = device.lanes().map_or(Threads::ONE, |_| recorder.threads());
        let mut parts = supply.split(threads);
        recorder.note_threads(parts.len());
        recorder.during(&info, looks_for_failures, watch, |counter, sink| match parts.pop() {
            Some(whole) if parts.is_empty() => {
                Cycle::new(device, whole, times, (counter, sink)).run()
            }
            last => lanes::run(device, parts.into_iter().chain(last), times, (counter, sink)),
        })
    }
}
