//! One load by several threads, recorded as one.
//!
//! Each thread has a [lane](writecliff_device::Lanes) of the device and a part of the supply, and runs
//! the same loop as one alone would. Seconds begin at the same moment in all of them. The thread that
//! began the load waits until all have handed over a second, adds them up exactly (counts, latencies
//! bucket by bucket, every I/O in order of completion), and passes the whole on to be judged and written.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use writecliff_device::{Device, DeviceError, DeviceTime};

use crate::cycle::{Cycle, Times};
use crate::error::RecordError;
use crate::failures::{FAILURES_NAMED, FailedIo};
use crate::finished::{Finished, FinishedSeries};
use crate::io_log::IoMerge;
use crate::recorder::Counter;
use crate::supply::Supply;
use crate::writer::{Seconds, Sink};

/// Runs every part in a thread of its own; ends when all have, for the first reason that one gave.
pub(crate) fn run<S: Supply>(
    device: &mut dyn Device,
    parts: impl Iterator<Item = S>,
    times: Times,
    (counter, sink): (&mut Counter, &mut Sink<'_>),
) -> Result<(), RecordError> {
    let lanes: Vec<_> = parts.map(|part| open(device, part)).collect::<Result<_, _>>()?;
    let times = Times { start: Some(device.now()), ..times };
    let never = AtomicBool::new(false);
    let stopped = sink.stopped().unwrap_or(&never);
    thread::scope(|scope| {
        let (mut arriving, mut running) = (Vec::new(), Vec::new());
        for (lane, part) in lanes {
            let (merger, seconds) = ends(stopped);
            let counter = counter.for_part();
            arriving.push(seconds);
            running.push(scope.spawn(move || run_part(lane, part, times, counter, merger)));
        }
        let merged = merge_all(&mut arriving, device, counter, sink);
        if merged.is_err() {
            stopped.store(true, Ordering::Relaxed);
        }
        let mut ended = Ok(());
        for part in running {
            let (reason, failures) =
                part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            counter.add_failures(failures);
            ended = first_reason(ended, reason);
        }
        first_reason(ended, merged)
    })
}

type Lane = Box<dyn Device + Send>;

/// A lane for this part of the supply.
fn open<S: Supply>(device: &mut dyn Device, part: S) -> Result<(Lane, S), DeviceError> {
    let depth = part.queue_depth().min(device.info().queue_depth_max);
    let lanes = device.lanes().unwrap_or_else(|| unreachable!("a supply was split without lanes"));
    Ok((lanes.open(depth)?, part))
}

/// What a thread does: its part of the load, and what failed in a second that it did not come to the
/// end of.
fn run_part(
    mut lane: Lane,
    part: impl Supply,
    times: Times,
    mut counter: Counter,
    mut merger: ToMerger<'_>,
) -> (Result<(), RecordError>, Vec<FailedIo>) {
    let ended = Cycle::new(&mut *lane, part, times, (&mut counter, &mut merger)).run();
    if ended.is_err() {
        merger.stopped.store(true, Ordering::Relaxed);
    }
    (ended, counter.take_failures())
}

/// That somebody else had to stop is no reason.
fn first_reason(
    first: Result<(), RecordError>,
    second: Result<(), RecordError>,
) -> Result<(), RecordError> {
    match first {
        Ok(()) | Err(RecordError::Interrupted) if second.is_err() => second,
        first => first,
    }
}

/// A thread's end of its two channels: seconds go out, emptied ones come back.
struct ToMerger<'a> {
    seconds: Sender<Finished>,
    emptied: Receiver<Finished>,
    stopped: &'a AtomicBool,
}

/// The other end.
struct Arriving {
    seconds: Receiver<Finished>,
    emptied: Sender<Finished>,
    next: Option<Finished>,
}

fn ends(stopped: &AtomicBool) -> (ToMerger<'_>, Arriving) {
    let ((seconds, arriving), (empty, emptied)) = (channel(), channel());
    let merger = ToMerger { seconds, emptied, stopped };
    (merger, Arriving { seconds: arriving, emptied: empty, next: None })
}

impl Seconds for ToMerger<'_> {
    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    fn take(&mut self, fill: impl FnOnce(&mut Finished)) -> Result<(), RecordError> {
        let mut finished = self.emptied.try_recv().unwrap_or_default();
        fill(&mut finished);
        // Who merges has ended only if nothing more is wanted, and `is_stopped` tells so.
        let _ = self.seconds.send(finished);
        Ok(())
    }
}

impl Drop for ToMerger<'_> {
    /// Nobody waits for the others of a thread that was in error.
    fn drop(&mut self) {
        if thread::panicking() {
            self.stopped.store(true, Ordering::Relaxed);
        }
    }
}

/// Passes second after second on, as long as any part has one.
fn merge_all(
    parts: &mut [Arriving],
    device: &mut dyn Device,
    counter: &mut Counter,
    sink: &mut Sink<'_>,
) -> Result<(), RecordError> {
    let mut log = IoMerge::new(counter.origin, parts.len());
    let mut index = 0;
    while let Some(start) = next_second(parts) {
        let telemetry = counter.tell(device.telemetry());
        let taken = sink.take(|whole| {
            (whole.second, whole.start, whole.end, whole.telemetry) =
                (index, start, start, telemetry);
            for part in parts.iter_mut().filter_map(|part| part.of(start)) {
                whole.add(part);
            }
            if let Some(encoder) = counter.encoder() {
                let ios =
                    parts.iter_mut().map(|part| part.of(start).map_or(&[][..], |of| &of.ios[..]));
                log.merge(ios.collect(), encoder, &mut whole.ios);
            }
        });
        parts.iter_mut().for_each(|part| part.give_back(start));
        taken?;
        index += 1;
    }
    Ok(())
}

/// When the next second begins, once every part that goes on has come to its end.
fn next_second(parts: &mut [Arriving]) -> Option<DeviceTime> {
    for part in parts.iter_mut().filter(|part| part.next.is_none()) {
        part.next = part.seconds.recv().ok();
    }
    parts.iter().filter_map(|part| part.next.as_ref()).map(|next| next.start).min()
}

impl Arriving {
    /// This part of the second that began then, if it has one.
    fn of(&mut self, start: DeviceTime) -> Option<&mut Finished> {
        self.next.as_mut().filter(|next| next.start == start)
    }

    fn give_back(&mut self, start: DeviceTime) {
        if let Some(mut finished) = self.next.take_if(|next| next.start == start) {
            finished.clear();
            // The part may have ended, and want none.
            let _ = self.emptied.send(finished);
        }
    }
}

impl Finished {
    /// Adds a part of the same second, but for its I/Os.
    fn add(&mut self, part: &mut Self) {
        self.end = self.end.max(part.end);
        self.since_origin = part.since_origin;
        self.waiting = self.waiting.with(part.waiting);
        self.failures.append(&mut part.failures);
        self.failures.sort_by_key(|failure| failure.at);
        self.failures.truncate(FAILURES_NAMED);
        for series in &part.series {
            self.series_like(series).add(series);
        }
    }

    /// The series that this is a part of; they are in the order of their numbers.
    fn series_like(&mut self, part: &FinishedSeries) -> &mut FinishedSeries {
        let place = match self.series.binary_search_by_key(&part.number, |series| series.number) {
            Ok(place) => place,
            Err(place) => {
                let mut new = self.spare.pop().unwrap_or_default();
                new.begin(part);
                self.series.insert(place, new);
                place
            }
        };
        &mut self.series[place]
    }
}
