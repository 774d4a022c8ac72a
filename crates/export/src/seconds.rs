//! What a drive was asked, second by second, as a run like any other.
//!
//! It is counted where the model's time goes on, so that a second is one of the drive's own clock, and
//! written by a thread of its own. That thread may be so many seconds behind; then the drive waits for it:
//! no second is ever missing, and an answer that is late for that is counted as late. What is kept in
//! memory does not grow with time.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use writecliff_device::{Bytes, Completion, DeviceInfo, DeviceTime, Io, Status, Telemetry};
use writecliff_measure::{FailedIo, LatencyHistogram, Monitor, RunDirectoryError, Sample};
use writecliff_suite::mixed::{CLIENTS, LATENESS, SERVED, series};
use writecliff_suite::{RunRecord, Served, ServedEnd, ServedRun};

use crate::drive::Done;

/// So many seconds may wait for the disk.
const SECONDS_WAITING_MAX: usize = 64;
/// A drive's error that is told no further than that it is one.
const MEDIA_ERROR: i32 = 5;

type Second = Vec<(Sample, LatencyHistogram)>;

/// The open second of a drive that is recorded.
pub(crate) struct Seconds {
    monitor: Monitor,
    begun: DeviceTime,
    /// Which series there has been anything in: these go on.
    seen: [bool; SERVED.len()],
    to: SyncSender<Second>,
    is_cut_off: bool,
}

/// The thread that writes them.
pub(crate) struct Keeper {
    path: PathBuf,
    thread: JoinHandle<Result<ServedRun, RunDirectoryError>>,
}

impl Seconds {
    /// Begins a run in the new directory `path`, of a drive that tells this of itself now.
    pub(crate) fn begin(
        path: &Path,
        drive: &DeviceInfo,
        (now, telemetry): (DeviceTime, Telemetry),
        served: Served,
        seed: u64,
    ) -> Result<(Self, Keeper), RunDirectoryError> {
        let run = ServedRun::begin(path, drive, served, seed, telemetry)?;
        let names = SERVED.map(|operation| series(CLIENTS, operation));
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let monitor = Monitor::begin(&names, drive.lba_size, now, telemetry);
        let (to, from) = sync_channel(SECONDS_WAITING_MAX);
        let thread = thread::Builder::new().name("record".to_owned());
        let thread = thread
            .spawn(move || keep(run, &from))
            .map_err(|source| RunDirectoryError::Create { path: path.to_owned(), source })?;
        let seen = [false; SERVED.len()];
        let seconds = Self { monitor, begun: now, seen, to, is_cut_off: false };
        Ok((seconds, Keeper { path: path.to_owned(), thread }))
    }

    /// When the open second ends.
    pub(crate) fn ends(&self) -> DeviceTime {
        self.monitor.second_ends()
    }

    /// Whether it cannot be written any more.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.is_cut_off
    }

    /// Counts a request that was done.
    pub(crate) fn count<T>(&mut self, done: &Done<T>) {
        let Some((operation, offset, length)) = done.asked else { return };
        let number = SERVED.iter().position(|one| *one == operation).unwrap_or(0);
        self.seen[number] = true;
        let io = Io::new(operation, Bytes(offset), Bytes(length));
        let status = match done.answer {
            Ok(_) => Status::Done,
            Err(_) => Status::Failed(MEDIA_ERROR),
        };
        self.monitor.observe(&Completion {
            io: Io { series: number as u8, ..io },
            submitted: done.submitted,
            completed: done.due,
            status,
        });
    }

    /// Ends the second at this moment, at which so many requests are under way. Of a second in which nothing
    /// was done or waited for only what the drive did by itself is kept, with the first series.
    pub(crate) fn end(
        &mut self,
        now: DeviceTime,
        telemetry: Telemetry,
        under_way: usize,
        late: &LatencyHistogram,
    ) {
        let mut second = self.monitor.end_second(now, telemetry);
        let done = |sample: &Sample| sample.ios() + sample.failed;
        let is_idle = under_way == 0 && second.iter().all(|(sample, _)| done(sample) == 0);
        let late = (late.count() > 0).then(|| lateness(&second[0].0, late));
        let mut number = 0..SERVED.len();
        second.retain(|_| number.next().is_some_and(|it| it == 0 || self.seen[it] && !is_idle));
        second.extend(late);
        self.is_cut_off |= self.to.send(second).is_err();
    }

    /// When the drive was first served, and what went wrong first.
    pub(crate) fn told(&self) -> (DeviceTime, Vec<FailedIo>) {
        (self.begun, self.monitor.failures().to_vec())
    }
}

/// How late answers went out, in the second of `beside`.
fn lateness(beside: &Sample, late: &LatencyHistogram) -> (Sample, LatencyHistogram) {
    let at = |percent| late.percentile(percent).0;
    let sample = Sample {
        series: LATENESS.to_owned(),
        second: beside.second,
        start_ns: beside.start_ns,
        span_ns: beside.span_ns,
        latency_p50_ns: at(50.0),
        latency_p99_ns: at(99.0),
        latency_p999_ns: at(99.9),
        latency_p9999_ns: at(99.99),
        latency_max_ns: at(100.0),
        ..Sample::default()
    };
    (sample, late.clone())
}

impl Keeper {
    /// Waits for what is to be written yet, and ends the run.
    pub(crate) fn finish(self, end: ServedEnd) -> Result<(PathBuf, RunRecord), RunDirectoryError> {
        let ended = self.thread.join();
        let run = ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok((self.path, run.end(end)?))
    }
}

fn keep(mut run: ServedRun, from: &Receiver<Second>) -> Result<ServedRun, RunDirectoryError> {
    for (sample, latencies) in from.iter().flatten() {
        run.put(&sample, &latencies)?;
    }
    Ok(run)
}
