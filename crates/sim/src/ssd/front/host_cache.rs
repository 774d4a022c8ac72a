//! A cache in the host's RAM, in front of the drive: writes are complete when they are in it, reads
//! of what is in it never reach the drive.

use writecliff_device::{DeviceTime, Nanos};
use writecliff_profile::SsdProfile;

use super::BufferSlots;
use crate::ssd::array::Lpn;

/// Direct-mapped lines of one page each. What is written goes on to the drive at once; the host
/// waits only while more than the allowed amount is on its way.
#[derive(Debug, Clone)]
pub(crate) struct HostCacheLines {
    /// The page in each line, plus one; zero if none.
    lines: Vec<u32>,
    /// Nothing may be on its way: the host waits for the drive.
    write_through: bool,
    on_the_way: BufferSlots,
    slots: u32,
    time: Nanos,
}

impl HostCacheLines {
    /// `None` if the profile has none.
    pub(crate) fn new(profile: &SsdProfile) -> Option<Self> {
        let (cache, unit) = (&profile.host_cache, profile.mapping.unit.0);
        let slots = (cache.dirty.0 / unit) as u32;
        (cache.size.0 > 0).then(|| Self {
            lines: vec![0; (cache.size.0 / unit) as usize],
            write_through: slots == 0,
            on_the_way: BufferSlots::new(slots),
            slots,
            time: cache.time,
        })
    }

    /// When the host has its data, if all of it is here.
    pub(crate) fn read(&self, lpn: Lpn, count: u32, now: DeviceTime) -> Option<DeviceTime> {
        let is_here = |page: u32| self.lines[self.line(page)] == page + 1;
        let answered = now + self.time * u64::from(count);
        (lpn.0..lpn.0 + count).all(is_here).then_some(answered)
    }

    /// Keeps pages that were read or written.
    pub(crate) fn keep(&mut self, lpn: Lpn, count: u32) {
        for page in lpn.0..lpn.0 + count {
            let line = self.line(page);
            self.lines[line] = page + 1;
        }
    }

    /// When a write of `count` pages that the drive completes at `written` is complete to the host.
    pub(crate) fn write(&mut self, count: u32, now: DeviceTime, written: DeviceTime) -> DeviceTime {
        if self.write_through || count > self.slots {
            return written;
        }
        let accepted = self.on_the_way.admit(now, count) + self.time * u64::from(count);
        self.on_the_way.hold(count, written);
        accepted.min(written)
    }

    /// When everything on its way at `now` has reached the drive.
    pub(crate) fn drained_at(&self, now: DeviceTime) -> DeviceTime {
        self.on_the_way.drained_at(now)
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.lines.fill(0);
        self.on_the_way.clear();
    }

    fn line(&self, page: u32) -> usize {
        page as usize % self.lines.len()
    }
}
