//! Puts finished seconds on disk and shows them, so that whoever counts need not wait for either.
//!
//! Held true: what was shown is on disk; seconds are written in their order; what is handed over
//! and not yet written is bounded. A device whose clock is virtual waits for the disk: nothing is
//! lost by that, and the same run ends with the same bytes. On a real one the writer is a thread of
//! its own, and a disk that takes nothing for a minute ends the run instead of pausing the load.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use crate::error::{RecordError, Watch};
use crate::failures::Waiting;
use crate::finished::Finished;
use crate::judge::Judge;
use crate::run_directory::RunDirectory;
use crate::sample::Sample;

/// So many seconds of a real drive may wait for the disk...
const SECONDS_WAITING_MAX: usize = 60;
/// ... and so many bytes of them: a few seconds of every I/O on the fastest drives.
const BYTES_WAITING_MAX: usize = 512 << 20;

/// Writes and shows.
pub(crate) struct Writer<'a> {
    directory: &'a mut RunDirectory,
    watch: Watch<'a>,
    samples: Vec<Sample>,
}

/// Where finished seconds go.
pub(crate) trait Seconds {
    /// Whether nothing more is wanted: the watcher broke off, or the disk failed.
    fn is_stopped(&self) -> bool;

    /// Takes the second that `fill` puts into the value given to it.
    ///
    /// # Errors
    /// If the load is not to go on.
    fn take(&mut self, fill: impl FnOnce(&mut Finished)) -> Result<(), RecordError>;
}

/// Where whole seconds go: past the judge to the disk.
pub(crate) struct Sink<'a> {
    judge: &'a mut Judge,
    to: To<'a>,
}

enum To<'a> {
    /// At once.
    Disk { writer: Writer<'a>, finished: Box<Finished> },
    /// By the thread that writes.
    Thread(ToThread<'a>),
}

/// The measuring end of the two channels: full seconds go out, emptied ones come back.
pub(crate) struct ToThread<'a> {
    full: Sender<Finished>,
    emptied: Receiver<Finished>,
    stopped: &'a AtomicBool,
    pool: Vec<Finished>,
    waiting: usize,
    waiting_bytes: usize,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(directory: &'a mut RunDirectory, watch: Watch<'a>) -> Self {
        Self { directory, watch, samples: Vec::new() }
    }

    /// Puts a second on disk, shows it, and empties it.
    fn put(&mut self, finished: &mut Finished) -> Result<(), RecordError> {
        self.write(finished)?;
        self.show(finished.waiting)
    }

    fn write(&mut self, finished: &mut Finished) -> Result<(), RecordError> {
        self.samples.clear();
        for index in 0..finished.series.len() {
            let sample = finished.sample(&finished.series[index]);
            // All of the second's I/Os are in one piece, in front of its first sample.
            let ios = if index == 0 { &finished.ios[..] } else { &[] };
            self.directory.append(&sample, &finished.series[index].latencies, ios)?;
            self.samples.push(sample);
        }
        finished.clear();
        Ok(())
    }

    fn show(&mut self, waiting: Waiting) -> Result<(), RecordError> {
        for sample in &self.samples {
            if (self.watch)(sample, waiting).is_break() {
                return Err(RecordError::Interrupted);
            }
        }
        Ok(())
    }

    /// Writes what comes until there is no more. After the watcher broke off, what was counted
    /// meanwhile is still written, and shown to nobody.
    fn run(
        mut self,
        full: &Receiver<Finished>,
        emptied: &Sender<Finished>,
        stopped: &AtomicBool,
    ) -> Result<(), RecordError> {
        let mut shown = Ok(());
        for mut finished in full {
            let waiting = finished.waiting;
            let ended = self.write(&mut finished);
            if ended.is_ok() && shown.is_ok() {
                shown = self.show(waiting);
            }
            if ended.is_err() || shown.is_err() {
                stopped.store(true, Ordering::Relaxed);
            }
            ended?;
            // Whoever counts may have ended meanwhile and want none back.
            let _ = emptied.send(finished);
        }
        shown
    }
}

/// Runs `load` with a thread beside it that writes and shows what it hands over; ends when all of
/// that is written.
pub(crate) fn beside(
    writer: Writer<'_>,
    judge: &mut Judge,
    load: impl FnOnce(&mut Sink<'_>) -> Result<(), RecordError>,
) -> Result<(), RecordError> {
    let stopped = AtomicBool::new(false);
    let (full, to_write) = channel();
    let (empty, emptied) = channel();
    thread::scope(|scope| {
        let writing = scope.spawn(|| {
            // Taken along, so that the channel is closed when the thread ends.
            let to_write: Receiver<Finished> = to_write;
            writer.run(&to_write, &empty, &stopped)
        });
        let (pool, waiting, waiting_bytes) = (Vec::new(), 0, 0);
        let to_thread = ToThread { full, emptied, stopped: &stopped, pool, waiting, waiting_bytes };
        let mut sink = Sink { judge, to: To::Thread(to_thread) };
        let ended = load(&mut sink);
        // Closes the channel: the writer ends when it has written what is left in it.
        drop(sink);
        let written = writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // The writer's reason comes first: all that the load saw of it is that it was to stop.
        written.and(ended)
    })
}

impl<'a> Sink<'a> {
    pub(crate) fn disk(writer: Writer<'a>, judge: &'a mut Judge) -> Self {
        Self { judge, to: To::Disk { writer, finished: Box::default() } }
    }

    /// What is raised when nothing more is wanted, if another thread writes.
    pub(crate) fn stopped(&self) -> Option<&'a AtomicBool> {
        match &self.to {
            To::Disk { .. } => None,
            To::Thread(thread) => Some(thread.stopped),
        }
    }
}

impl Seconds for Sink<'_> {
    fn is_stopped(&self) -> bool {
        self.stopped().is_some_and(|stopped| stopped.load(Ordering::Relaxed))
    }

    fn take(&mut self, fill: impl FnOnce(&mut Finished)) -> Result<(), RecordError> {
        let Self { judge, to } = self;
        let mut verdict = Ok(());
        let fill = |finished: &mut Finished| {
            fill(finished);
            verdict = judge.verdict(finished);
        };
        match to {
            To::Disk { writer, finished } => {
                fill(finished);
                writer.put(finished)?;
            }
            To::Thread(thread) => thread.send(fill)?,
        }
        verdict
    }
}

impl ToThread<'_> {
    fn send(&mut self, fill: impl FnOnce(&mut Finished)) -> Result<(), RecordError> {
        while let Ok(emptied) = self.emptied.try_recv() {
            self.waiting -= 1;
            self.waiting_bytes -= emptied.size();
            self.pool.push(emptied);
        }
        if self.waiting >= SECONDS_WAITING_MAX || self.waiting_bytes > BYTES_WAITING_MAX {
            return Err(RecordError::DiskTooSlow { seconds: self.waiting });
        }
        let mut finished = self.pool.pop().unwrap_or_default();
        fill(&mut finished);
        self.waiting += 1;
        self.waiting_bytes += finished.size();
        // A writer that has ended has said why, and `is_stopped` tells so.
        let _ = self.full.send(finished);
        Ok(())
    }
}
