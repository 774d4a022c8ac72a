//! Writes until a drive is steady: SNIA's rule over rounds that are measured in drive writes. What a
//! drive has become steady to is decided by what was written to it, not by how long that took: 2000 s
//! are a sixth of a drive write on a slow drive of 250 GB, and nine of a fast one of 960 GB.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use writecliff_device::{Bytes, Nanos};
use writecliff_measure::{Queue, Recorded, Recording, Sample, Source, Until};

use crate::method::session::{Extent, RunError, Session};
use crate::method::window::{WINDOW, Window};
use crate::record::rate::iops_of;
use crate::record::warning::{MethodWarning, Warning};

/// No drive is called steady before it was written so many times over.
pub(crate) const DRIVE_WRITES_MIN: f64 = 1.0;
/// However unsteady it is, the writes end after so many drive writes.
pub const DRIVE_WRITES_MAX: f64 = 5.0;
/// And however slow, after so long.
pub const TIME_MAX: Nanos = Nanos::from_secs(48 * 3600);
/// A round is at least such a share of a drive write...
const ROUND: f64 = 0.1;
/// ... and five rounds are at least such a share of the least time: 600 s of the documents' 2000 s.
const WINDOW_SHARE: f64 = 0.3;

/// What five rounds come to, and where they begin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LastRounds {
    /// The first second of them.
    pub(crate) from: usize,
    pub(crate) window: Window,
}

/// Random writes that become steady.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settling {
    /// Size of a write.
    pub(crate) block: Bytes,
    /// They go on for so long at least.
    pub(crate) least: Nanos,
    /// What is written to: once all of it is a drive write.
    pub(crate) used: Bytes,
}

/// What a round is, in writes and in seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rounds {
    /// Writes that come to all that is in use.
    drive_write: f64,
    /// Seconds that a round lasts at least.
    seconds: usize,
}

impl Rounds {
    pub(crate) fn of(writes: Settling) -> Self {
        let drive_write = (writes.used.0 as f64 / writes.block.0 as f64).max(1.0);
        let window = writes.least.as_secs_f64() * WINDOW_SHARE;
        Self { drive_write, seconds: ((window / WINDOW as f64) as usize).max(1) }
    }

    /// What a round is.
    pub(crate) fn in_words(&self) -> String {
        format!("a tenth of a drive write, or {} s if that is more", self.seconds)
    }

    /// How often the drive was written in these seconds.
    pub(crate) fn drive_writes(&self, iops: &[f64]) -> f64 {
        // Of nothing, a sum is less than zero by its sign.
        (0.0 + iops.iter().sum::<f64>()) / self.drive_write
    }

    /// The rounds, from the one that ends with the last of these seconds back to the first that is
    /// whole: where each begins, and its IOPS.
    pub(crate) fn backwards(&self, iops: &[f64]) -> impl Iterator<Item = (usize, f64)> {
        let mut end = iops.len();
        std::iter::from_fn(move || {
            let (mut from, mut writes) = (end, 0.0);
            while writes < self.drive_write * ROUND || end - from < self.seconds {
                from = from.checked_sub(1)?;
                writes += iops[from];
            }
            let figure = writes / (end - from) as f64;
            end = from;
            Some((from, figure))
        })
    }

    /// The last five rounds, which end with the last of these seconds; `None` if there are not so many.
    pub(crate) fn last(&self, iops: &[f64]) -> Option<LastRounds> {
        let mut figures = [0.0; WINDOW];
        let mut rounds = self.backwards(iops);
        let mut from = 0;
        for figure in figures.iter_mut().rev() {
            (from, *figure) = rounds.next()?;
        }
        Some(LastRounds { from, window: Window::of(&figures, 1) })
    }

    /// Whether enough was written, and the last five rounds are steady.
    fn are_steady(&self, iops: &[f64]) -> bool {
        let is_steady = |rounds: LastRounds| rounds.window.is_steady();
        self.drive_writes(iops) >= DRIVE_WRITES_MIN && self.last(iops).is_some_and(is_steady)
    }
}

impl Settling {
    /// Records writes from an endless `source` as the phase `name`, so many in flight, until they are
    /// steady, or [`DRIVE_WRITES_MAX`] or [`TIME_MAX`] is over.
    pub(crate) fn record(
        self,
        session: &mut Session<'_>,
        name: &str,
        source: impl Source,
        queue_depth: usize,
    ) -> Result<(), RunError> {
        self.record_beside(session, name, &[name], |is_over| {
            Queue::new(Until::new(source, is_over), queue_depth)
        })
    }

    /// The same, where the writes are the first of several series of a supply, which ends when it is told
    /// that it is over.
    pub(crate) fn record_beside<R: Recorded>(
        self,
        session: &mut Session<'_>,
        name: &str,
        series: &[&str],
        supply: impl FnOnce(Arc<AtomicBool>) -> R,
    ) -> Result<(), RunError> {
        let is_over = Arc::new(AtomicBool::new(false));
        let supply = supply(is_over.clone());
        let mut underway = Underway::of(self);
        let most = Bytes((self.used.0 as f64 * DRIVE_WRITES_MAX) as u64);
        let extent = Extent::AtLeast(self.least, most);
        session.record_seen(name, series, supply, extent, &mut |second| {
            if second.series == series[0] && underway.add(second) {
                is_over.store(true, Ordering::Relaxed);
            }
        })
    }

    /// That the writes of the phase `name` never became steady, if they did not and there were any.
    pub(crate) fn never_steady(self, name: &str, recording: &Recording) -> Option<Warning> {
        let iops = iops_of(recording.series(name));
        if iops.is_empty() {
            return None;
        }
        let rounds = Rounds::of(self);
        let drive_writes = iops.iter().sum::<f64>() / rounds.drive_write;
        let went_on = Nanos::from_secs(iops.len() as u64) >= TIME_MAX;
        if went_on && drive_writes < DRIVE_WRITES_MIN {
            let doubt = MethodWarning::TooFewWrites { drive_writes, went_on };
            return Some(Warning::Method(doubt));
        }
        let is_steady = rounds.last(&iops).is_some_and(|last| last.window.is_steady());
        let rounds = rounds.backwards(&iops).count() as u32;
        let doubt = MethodWarning::NeverSteady { part: name.to_owned(), rounds };
        (!is_steady).then_some(Warning::Method(doubt))
    }
}

/// Writes under way, which end when they are steady.
#[derive(Debug)]
struct Underway {
    rounds: Rounds,
    least: Nanos,
    iops: Vec<f64>,
    /// Writes in all of these seconds.
    writes: f64,
    /// It is looked at once a round: drive writes of the next look.
    next_look: f64,
}

impl Underway {
    fn of(writes: Settling) -> Self {
        let rounds = Rounds::of(writes);
        let (iops, next_look) = (Vec::new(), DRIVE_WRITES_MIN);
        Self { rounds, least: writes.least, iops, writes: 0.0, next_look }
    }

    /// Takes a second; whether it is the last that is needed.
    fn add(&mut self, sample: &Sample) -> bool {
        if sample.is_whole() {
            self.iops.push(sample.iops().get());
            self.writes += sample.iops().get();
        }
        let lasted = Nanos::from_secs(self.iops.len() as u64);
        let written = self.writes / self.rounds.drive_write;
        if lasted >= TIME_MAX.max(self.least) {
            return true;
        }
        if lasted < self.least || written < self.next_look {
            return false;
        }
        self.next_look = written + ROUND;
        written >= DRIVE_WRITES_MAX || self.rounds.are_steady(&self.iops)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A drive of 1,000 blocks.
    fn lasting(seconds: u64) -> Settling {
        let block = Bytes::from_kib(4);
        Settling { block, least: Nanos::from_secs(seconds), used: Bytes(1000 * block.0) }
    }

    /// Rounds of at least 2 s.
    fn rounds() -> Rounds {
        Rounds::of(lasting(34))
    }

    #[test]
    fn rounds_are_tenths_of_a_drive_write_counted_backwards() {
        let iops = [vec![1000.0; 3], vec![20.0; 27]].concat();
        let last = rounds().last(&iops).unwrap();
        assert_eq!((last.from, last.window.average, last.window.range), (5, 20.0, 0.0));
        assert_eq!(rounds().last(&iops[..12]), None);
    }

    #[test]
    fn of_a_fast_drive_a_round_is_its_share_of_the_documents_window() {
        let last = rounds().last(&[5000.0; 40]).unwrap();
        assert_eq!((last.from, rounds().drive_writes(&[5000.0; 40])), (30, 200.0));
    }

    #[test]
    fn nothing_is_steady_before_a_drive_write_or_while_it_falls() {
        assert!(!rounds().are_steady(&[20.0; 49]));
        assert!(rounds().are_steady(&[20.0; 50]));
        let falling: Vec<f64> = (0..80).map(|second| 100.0 - f64::from(second)).collect();
        assert!(!rounds().are_steady(&falling));
    }

    #[test]
    fn what_never_settles_ends_after_five_drive_writes() {
        let mut settling = Underway::of(lasting(10));
        // Each other tenth of a drive write takes five times as long.
        let second = |number: u64| Sample {
            writes: if number.is_multiple_of(6) { 100 } else { 20 },
            span_ns: 1_000_000_000,
            ..Sample::default()
        };
        let ended = (0..).find(|number| settling.add(&second(*number)));
        let written: u64 = (0..=ended.unwrap()).map(|number| second(number).writes).sum();
        assert!((5000..5200).contains(&written), "{written}");
    }
}
