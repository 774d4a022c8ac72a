//! What becomes of a TRIM: done at once, later, in part, or not at all.

use std::collections::VecDeque;

use writecliff_device::{DeviceTime, Nanos, split_mix};
use writecliff_profile::{Trim, TrimKind};

use crate::ssd::array::Lpn;

/// A deferring drive keeps so many ranges; then it does the oldest.
const RANGES_MAX: usize = 1024;

/// What makes the map forget a number of pages from one on.
type Forget<'a> = &'a mut dyn FnMut(Lpn, u32);

/// Ranges that were trimmed and not forgotten yet.
#[derive(Debug, Clone)]
pub(crate) struct Trims {
    options: Trim,
    deferred: VecDeque<(Lpn, u32)>,
}

impl Trims {
    pub(crate) fn new(options: &Trim) -> Self {
        Self { options: options.clone(), deferred: VecDeque::new() }
    }

    /// The host trims `count` pages; returns the firmware's time for it.
    pub(crate) fn take(&mut self, lpn: Lpn, count: u32, forget: Forget<'_>) -> Nanos {
        match self.options.kind {
            TrimKind::Immediate => return self.forget(lpn, count, forget),
            TrimKind::Partial => return self.forget_share(lpn, count, forget),
            TrimKind::Deferred => self.deferred.push_back((lpn, count)),
            TrimKind::Ignored | TrimKind::Unsupported => {}
        }
        if self.deferred.len() > RANGES_MAX { self.forget_oldest(forget) } else { Nanos::ZERO }
    }

    /// Before pages are written: what was trimmed among them must not be forgotten afterwards.
    pub(crate) fn before_write(&mut self, lpn: Lpn, count: u32, forget: Forget<'_>) {
        let overlaps =
            |(start, length): &(Lpn, u32)| start.0 < lpn.0 + count && lpn.0 < start.0 + length;
        while let Some(place) = self.deferred.iter().position(overlaps) {
            if let Some((start, length)) = self.deferred.remove(place) {
                self.forget(start, length, forget);
            }
        }
    }

    /// Whether a page was trimmed and reads as empty, though its data is still there.
    pub(crate) fn hides(&self, lpn: Lpn) -> bool {
        self.deferred.iter().any(|(start, length)| (start.0..start.0 + length).contains(&lpn.0))
    }

    pub(crate) fn is_waiting(&self) -> bool {
        !self.deferred.is_empty()
    }

    /// One range in idle time, at `now`; returns when it is done.
    pub(crate) fn work_when_idle(
        &mut self,
        now: DeviceTime,
        idle: Nanos,
        forget: Forget<'_>,
    ) -> Option<DeviceTime> {
        if self.deferred.is_empty() || idle < self.options.after {
            return None;
        }
        Some(now + self.forget_oldest(forget))
    }

    /// When idle work on deferred ranges begins.
    pub(crate) fn after(&self) -> Nanos {
        self.options.after
    }

    pub(crate) fn clear(&mut self) {
        self.deferred.clear();
    }

    fn forget_oldest(&mut self, forget: Forget<'_>) -> Nanos {
        match self.deferred.pop_front() {
            Some((lpn, count)) => self.forget(lpn, count, forget),
            None => Nanos::ZERO,
        }
    }

    fn forget(&self, lpn: Lpn, count: u32, forget: Forget<'_>) -> Nanos {
        forget(lpn, count);
        self.options.unit_time * u64::from(count)
    }

    /// Which pages a partial TRIM forgets is a matter of chance, the same every time.
    fn forget_share(&self, lpn: Lpn, count: u32, forget: Forget<'_>) -> Nanos {
        let share = u64::from(self.options.share_percent);
        for page in lpn.0..lpn.0 + count {
            if split_mix(u64::from(page)) % 100 < share {
                forget(Lpn(page), 1);
            }
        }
        self.options.unit_time * u64::from(count)
    }
}
