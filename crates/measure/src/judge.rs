//! Whether too much of a load failed for it to go on, or for its figures to mean anything.

use std::sync::Arc;

use writecliff_device::Nanos;

use crate::error::RecordError;
use crate::failures::{FAILURES_NAMED, FailedIo, is_failing, is_failing_already};
use crate::finished::Finished;

/// Fewer failed I/Os in a second without a good one may be a stall with a bad sector in it.
const FAILURES_MIN: u64 = 10;

/// After so many seconds in which every I/O failed a drive is left alone. In one alone it may be what was in flight as
/// a drive lost its power, or was reset, and nothing more came until it was back.
const SECONDS_MAX: u32 = 2;

/// Sees every second of a load, whole, as it ends.
#[derive(Debug, Default)]
pub(crate) struct Judge {
    /// Failed I/Os are what the load is for.
    pub(crate) looks_for_failures: bool,
    /// Those of the load under way, by their numbers.
    series: Vec<Judged>,
    /// Since an I/O worked.
    all_failed: AllFailed,
    /// The first of the run.
    failures: Vec<FailedIo>,
}

/// Seconds in which every I/O failed.
#[derive(Debug, Default)]
struct AllFailed {
    seconds: u32,
    /// The first of them.
    from: u32,
    failed: u64,
}

/// One series, in the seconds that have ended.
#[derive(Debug)]
struct Judged {
    name: Arc<str>,
    worked: u64,
    failed: u64,
}

impl Judge {
    /// A load with these series begins.
    pub(crate) fn begin(&mut self, names: &[Arc<str>]) {
        let judged = |name: &Arc<str>| Judged { name: Arc::clone(name), worked: 0, failed: 0 };
        self.series = names.iter().map(judged).collect();
        self.all_failed = AllFailed::default();
    }

    /// The run's first failed I/Os.
    pub(crate) fn failures(&self) -> &[FailedIo] {
        &self.failures
    }

    /// Keeps these in detail, if they are among the first.
    pub(crate) fn name(&mut self, failures: impl IntoIterator<Item = FailedIo>) {
        let room = FAILURES_NAMED.saturating_sub(self.failures.len());
        self.failures.extend(failures.into_iter().take(room));
    }

    /// Takes note of a second, and says whether too much failed to go on: every I/O of [some](SECONDS_MAX) that are
    /// whole, or a noticeable share of a series up to its end. What is late may come back still: that is judged when
    /// its time is up for good.
    pub(crate) fn verdict(&mut self, finished: &mut Finished) -> Result<(), RecordError> {
        self.name(finished.failures.drain(..));
        for ended in &finished.series {
            let judged = &mut self.series[ended.number];
            judged.worked += ended.counts.worked();
            judged.failed += ended.counts.failed;
        }
        if finished.waiting.late > 0 {
            return Ok(());
        }
        // The next second tells more than the share.
        let is_first = self.all_failed.count(finished)?;
        match self.looks_for_failures || is_first {
            true => Ok(()),
            false => self.share_failed(is_failing_already),
        }
    }

    /// Whether too much failed, now that the load is over.
    pub(crate) fn last_verdict(&self) -> Result<(), RecordError> {
        match self.looks_for_failures {
            true => Ok(()),
            false => self.share_failed(is_failing),
        }
    }

    fn share_failed(&self, is_failing: impl Fn(u64, u64) -> bool) -> Result<(), RecordError> {
        match self.series.iter().find(|series| is_failing(series.failed, series.worked)) {
            Some(series) => Err(self.failing(series)),
            None => Ok(()),
        }
    }

    fn failing(&self, series: &Judged) -> RecordError {
        let Judged { name, worked, failed } = series;
        let first = self.failures.iter().find(|failure| failure.series == **name).cloned();
        let (series, first) = (name.as_ref().to_owned(), first.map(Box::new));
        RecordError::IosFailed { series, failed: *failed, all: failed + worked, first }
    }
}

impl AllFailed {
    /// Takes note of a second, and says whether it is one of these: if every I/O of it failed, and it is a whole one.
    fn count(&mut self, finished: &Finished) -> Result<bool, RecordError> {
        let is_whole = finished.end - finished.start == Nanos::from_secs(1);
        let counts = || finished.series.iter().map(|series| &series.counts);
        let failed = counts().map(|counts| counts.failed).sum();
        let errno = counts().find_map(|counts| counts.last_errno);
        let worked: u64 = counts().map(|counts| counts.worked()).sum();
        if worked > 0 {
            *self = Self::default();
        }
        let (true, 0, FAILURES_MIN.., Some(errno)) = (is_whole, worked, failed, errno) else {
            return Ok(false);
        };
        let from = if self.seconds == 0 { finished.second } else { self.from };
        *self = Self { seconds: self.seconds + 1, from, failed: self.failed + failed };
        match *self {
            Self { seconds: SECONDS_MAX.., from, failed } => {
                Err(RecordError::EveryIoFailed { from, failed, errno })
            }
            _ => Ok(true),
        }
    }
}
