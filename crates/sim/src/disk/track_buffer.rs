//! The RAM that reads are answered from: what the heads have passed since the last miss.

use writecliff_device::DeviceTime;

use super::arm::Access;
use super::geometry::{Extent, Geometry, Lba};

/// One stretch of sectors in RAM, which grows while the heads stay on it.
///
/// How far it has grown is computed when somebody asks: nothing happens in between.
#[derive(Debug, Clone)]
pub(super) struct TrackBuffer {
    first: Lba,
    /// A sector that was, or will be, under the heads at `anchored`.
    anchor: Lba,
    anchored: DeviceTime,
    /// The heads stop here until the host has read on.
    limit: Lba,
    is_followed: bool,
    read_ahead: u64,
    sectors_max: u64,
}

impl TrackBuffer {
    /// An empty buffer that reads `read_ahead` sectors ahead and holds `sectors_max`.
    pub(super) fn new(read_ahead: u64, sectors_max: u64) -> Self {
        Self {
            first: Lba(0),
            anchor: Lba(0),
            anchored: DeviceTime(0),
            limit: Lba(0),
            is_followed: false,
            read_ahead,
            sectors_max,
        }
    }

    /// Whether all of it is in RAM.
    pub(super) fn holds(&self, extent: &Extent, now: DeviceTime, geometry: &Geometry) -> bool {
        self.first <= extent.start && extent.end <= self.reached(now, geometry)
    }

    /// Whether the heads are on their way to it, or have already passed a part of it.
    pub(super) fn leads_to(&self, extent: &Extent) -> bool {
        self.is_followed && self.first <= extent.start && extent.start <= self.limit
    }

    /// When a read that the heads are on their way to would begin and end.
    pub(super) fn access(&self, extent: &Extent, now: DeviceTime, geometry: &Geometry) -> Access {
        let (anchor, anchored) = self.anchor_at(now, geometry);
        let passed = |end: Lba| match end > anchor {
            true => anchored + geometry.time_over(&Extent { start: anchor, end }),
            false => now,
        };
        Access { begins: passed(extent.start).max(now), ends: passed(extent.end).max(now) }
    }

    /// The host has read on: the heads, if they are still there, may go further ahead of it.
    pub(super) fn read_on(&mut self, extent: &Extent, now: DeviceTime, geometry: &Geometry) {
        if !self.is_followed {
            return;
        }
        (self.anchor, self.anchored) = self.anchor_at(now, geometry);
        self.go_ahead_of(extent, geometry);
    }

    /// A read that was not in RAM: what was there gives way.
    pub(super) fn restart(&mut self, extent: &Extent, begins: DeviceTime, geometry: &Geometry) {
        (self.first, self.anchor, self.anchored) = (extent.start, extent.start, begins);
        (self.limit, self.is_followed) = (extent.end, true);
        self.go_ahead_of(extent, geometry);
    }

    /// The heads leave: what they have passed stays.
    pub(super) fn leave(&mut self, now: DeviceTime, geometry: &Geometry) {
        let reached = self.reached(now, geometry);
        (self.anchor, self.anchored, self.limit) = (reached, now, reached);
        self.is_followed = false;
    }

    /// Where the heads are, if they are here.
    pub(super) fn heads_at(&self, now: DeviceTime, geometry: &Geometry) -> Option<Lba> {
        self.is_followed.then(|| self.reached(now, geometry))
    }

    /// Sets the limit; what is too far behind it gives way.
    fn go_ahead_of(&mut self, extent: &Extent, geometry: &Geometry) {
        let ahead = Lba(extent.end.0 + self.read_ahead).min(geometry.end());
        self.limit = self.limit.max(ahead);
        self.first = self.first.max(Lba(self.limit.0.saturating_sub(self.sectors_max)));
    }

    /// The end of what is in RAM.
    fn reached(&self, now: DeviceTime, geometry: &Geometry) -> Lba {
        if now <= self.anchored {
            return self.anchor;
        }
        geometry.reached(self.anchor, now.since(self.anchored)).min(self.limit)
    }

    /// A sector and the time it is under the heads, from which on they go ahead: heads that stopped
    /// at the limit have to wait until the disk has turned to it.
    fn anchor_at(&self, now: DeviceTime, geometry: &Geometry) -> (Lba, DeviceTime) {
        let stopped = self.limit < geometry.end() && self.reached(now, geometry) == self.limit;
        match stopped {
            true => (self.limit, geometry.next_pass(now, self.limit)),
            false => (self.anchor, self.anchored),
        }
    }
}

#[cfg(test)]
mod tests {
    use writecliff_device::Nanos;

    use super::*;
    use crate::disk::tests::small;

    #[test]
    fn it_grows_with_the_time_up_to_its_limit_and_keeps_what_was_read() {
        let geometry = Geometry::new(&small());
        let mut buffer = TrackBuffer::new(64, 1000);
        let (asked, ahead) =
            (Extent { start: Lba(100), end: Lba(108) }, Extent { start: Lba(108), end: Lba(116) });
        let begins = geometry.next_pass(DeviceTime(0), asked.start);
        buffer.restart(&asked, begins, &geometry);
        let after = |end| begins + geometry.time_over(&Extent { start: Lba(100), end: Lba(end) });
        assert!(!buffer.holds(&asked, begins, &geometry));
        assert!(buffer.holds(&asked, after(108), &geometry));
        assert!(buffer.leads_to(&ahead) && !buffer.holds(&ahead, after(115), &geometry));
        assert_eq!(buffer.access(&ahead, after(108), &geometry).ends, after(116));
        let late = after(108) + Nanos::from_secs(1);
        assert_eq!(buffer.heads_at(late, &geometry), Some(Lba(172)), "64 sectors ahead, no more");
        buffer.leave(late, &geometry);
        assert!(buffer.holds(&ahead, late, &geometry) && !buffer.leads_to(&ahead));
    }

    #[test]
    fn heads_that_stopped_come_back_to_the_sector_with_the_turn() {
        let profile = small();
        let geometry = Geometry::new(&profile);
        let mut buffer = TrackBuffer::new(0, 1000);
        let asked = Extent { start: Lba(0), end: Lba(8) };
        buffer.restart(&asked, DeviceTime(0), &geometry);
        let next = Extent { start: Lba(8), end: Lba(16) };
        let access = buffer.access(&next, DeviceTime(1_000_000), &geometry);
        let pass = DeviceTime(0) + geometry.time_over(&asked);
        assert_eq!(access.ends - pass, profile.mechanics.revolution() + geometry.time_over(&next));
    }
}
