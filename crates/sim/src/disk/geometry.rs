//! Where the sectors are, and when they pass the heads.

use writecliff_device::{DeviceTime, Io, Nanos};
use writecliff_profile::{DiskProfile, LBA_SIZE};

/// A sector of 512 bytes, as the host counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Lba(pub(super) u64);

/// The sectors from `start` up to, not including, `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Extent {
    pub(super) start: Lba,
    pub(super) end: Lba,
}

impl Extent {
    /// The sectors that an I/O is about.
    pub(super) fn of(io: &Io) -> Self {
        let end = io.offset + io.length;
        Self { start: Lba(io.offset.0 / LBA_SIZE.0), end: Lba(end.0 / LBA_SIZE.0) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.start >= self.end
    }

    pub(super) fn contains(&self, other: &Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.start < other.end && other.start < self.end
    }
}

/// The platters.
///
/// Tracks are skewed so that heads which follow them from the first sector to the last never lose
/// a turn. So the time of that one long pass up to a sector, taken modulo a turn, is also the
/// sector's angle: one function tells both.
#[derive(Debug, Clone)]
pub(super) struct Geometry {
    revolution: u64,
    track_pass: u64,
    zones: Vec<Zone>,
    end: Lba,
}

#[derive(Debug, Clone)]
struct Zone {
    first: Lba,
    first_track: u32,
    /// When the long pass comes to the first sector.
    pass: u64,
    sectors_per_track: u64,
}

impl Geometry {
    pub(super) fn new(profile: &DiskProfile) -> Self {
        let revolution = profile.mechanics.revolution().0;
        let track_pass = revolution + profile.mechanics.track_switch.0;
        let mut zones = Vec::new();
        let (mut first, mut first_track, mut pass) = (0, 0, 0);
        for (tracks, sectors) in profile.zones.zones() {
            let sectors_per_track = u64::from(sectors);
            zones.push(Zone { first: Lba(first), first_track, pass, sectors_per_track });
            first += u64::from(tracks) * sectors_per_track;
            first_track += tracks;
            pass += u64::from(tracks) * track_pass;
        }
        let end = Lba(profile.identity.capacity.0 / LBA_SIZE.0);
        Self { revolution, track_pass, zones, end }
    }

    /// The end of the last sector.
    pub(super) fn end(&self) -> Lba {
        self.end
    }

    /// The track of a sector, counted from the outside; for the end of the disk the last one.
    pub(super) fn track_of(&self, lba: Lba) -> u32 {
        let lba = lba.min(Lba(self.end.0 - 1));
        let zone = self.zone_of(lba);
        zone.first_track + ((lba.0 - zone.first.0) / zone.sectors_per_track) as u32
    }

    /// When, from `ready` on, a sector begins to pass the heads, these being on its track.
    pub(super) fn next_pass(&self, ready: DeviceTime, lba: Lba) -> DeviceTime {
        let (angle, at) = (self.pass(lba) % self.revolution, ready.0 % self.revolution);
        ready + Nanos((angle + self.revolution - at) % self.revolution)
    }

    /// From the start of an extent's first sector to the end of its last.
    pub(super) fn time_over(&self, extent: &Extent) -> Nanos {
        Nanos(self.pass_end(extent.end) - self.pass(extent.start))
    }

    /// How far heads come that begin with sector `from` and follow the tracks for `elapsed`: all
    /// sectors before the result have passed wholly.
    pub(super) fn reached(&self, from: Lba, elapsed: Nanos) -> Lba {
        let pass = self.pass(from).saturating_add(elapsed.0);
        let index = self.zones.partition_point(|zone| zone.pass <= pass) - 1;
        let zone = &self.zones[index];
        let (track, within) =
            ((pass - zone.pass) / self.track_pass, (pass - zone.pass) % self.track_pass);
        let per_track = zone.sectors_per_track;
        // The most sectors whose end, rounded down as `pass` does it, is not after `within`.
        let sector = (((within + 1) * per_track - 1) / self.revolution).min(per_track);
        Lba(zone.first.0 + track * per_track + sector).max(from).min(self.end)
    }

    /// When the long pass comes to the start of a sector.
    fn pass(&self, lba: Lba) -> u64 {
        let (track, sector, zone) = self.place_of(lba);
        zone.pass + track * self.track_pass + sector * self.revolution / zone.sectors_per_track
    }

    /// When the long pass leaves the last sector before `end`.
    fn pass_end(&self, end: Lba) -> u64 {
        let (track, sector, zone) = self.place_of(Lba(end.0 - 1));
        let passed = (sector + 1) * self.revolution / zone.sectors_per_track;
        zone.pass + track * self.track_pass + passed
    }

    /// Track in its zone, sector on its track, and the zone.
    fn place_of(&self, lba: Lba) -> (u64, u64, &Zone) {
        let zone = self.zone_of(lba);
        let within = lba.0 - zone.first.0;
        (within / zone.sectors_per_track, within % zone.sectors_per_track, zone)
    }

    fn zone_of(&self, lba: Lba) -> &Zone {
        &self.zones[self.zones.partition_point(|zone| zone.first <= lba) - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::tests::small;

    fn extent(start: u64, end: u64) -> Extent {
        Extent { start: Lba(start), end: Lba(end) }
    }

    #[test]
    fn a_track_passes_in_one_turn_and_the_next_one_after_the_switch() {
        let profile = small();
        let geometry = Geometry::new(&profile);
        let turn = profile.mechanics.revolution();
        let sectors = u64::from(profile.zones.outer_sectors);
        assert_eq!(geometry.time_over(&extent(0, sectors)), turn);
        let both = turn + profile.mechanics.track_switch + turn;
        assert_eq!(geometry.time_over(&extent(0, 2 * sectors)), both);
        assert_eq!(geometry.track_of(Lba(sectors - 1)), 0);
        assert_eq!(geometry.track_of(Lba(sectors)), 1);
        assert_eq!(geometry.track_of(geometry.end()), geometry.track_of(Lba(geometry.end().0 - 1)));
    }

    #[test]
    fn heads_that_follow_the_tracks_never_wait_for_the_next_sector() {
        let profile = small();
        let geometry = Geometry::new(&profile);
        let mut begins = geometry.next_pass(DeviceTime(12_345), Lba(0));
        for start in (0..geometry.end().0 - 100).step_by(100) {
            let ends = begins + geometry.time_over(&extent(start, start + 100));
            begins = geometry.next_pass(ends, Lba(start + 100));
            let wait = begins - ends;
            let switches = wait == profile.mechanics.track_switch;
            assert!(switches || wait == Nanos::ZERO, "{wait} at sector {}", start + 100);
        }
    }

    #[test]
    fn what_has_passed_is_the_inverse_of_the_time_over_it() {
        let geometry = Geometry::new(&small());
        for from in [0, 1, 777, 5000] {
            for length in 1..3000 {
                let time = geometry.time_over(&extent(from, from + length));
                let before = Nanos(time.0 - 1);
                assert_eq!(geometry.reached(Lba(from), time), Lba(from + length));
                assert_eq!(geometry.reached(Lba(from), before), Lba(from + length - 1));
            }
        }
        assert_eq!(geometry.reached(Lba(7), Nanos::from_secs(1 << 20)), geometry.end());
    }
}
