//! The arm: how long a seek takes, and when an access would begin and end.

use writecliff_device::{DeviceTime, Nanos};
use writecliff_profile::{DiskProfile, Mechanics};

use super::geometry::{Extent, Geometry, Lba};

/// Seek time over distance: with the square root up to a third of all tracks, where the arm
/// accelerates half the way, and in a straight line beyond, where it has its full speed.
#[derive(Debug, Clone)]
struct SeekCurve {
    shortest: u64,
    /// The square of what the square root adds per track.
    square_per_track: u64,
    third_tracks: u64,
    third: u64,
    beyond: u64,
    beyond_tracks: u64,
}

impl SeekCurve {
    fn new(mechanics: &Mechanics, tracks: u32) -> Self {
        let third = mechanics.third_stroke().expect("the profile was checked").0;
        let (shortest, third_tracks) = (mechanics.track_to_track.0, u64::from(tracks) / 3);
        Self {
            shortest,
            square_per_track: (third - shortest).pow(2) / third_tracks,
            third_tracks,
            third,
            beyond: mechanics.full_stroke.0 - third,
            beyond_tracks: u64::from(tracks) - third_tracks,
        }
    }

    fn time(&self, tracks: u32) -> Nanos {
        let tracks = u64::from(tracks);
        Nanos(if tracks == 0 {
            0
        } else if tracks <= self.third_tracks {
            self.shortest + (self.square_per_track * tracks).isqrt()
        } else {
            self.third + self.beyond * (tracks - self.third_tracks) / self.beyond_tracks
        })
    }
}

/// When the first sector of an access begins to pass the heads and when the last one has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Access {
    pub(super) begins: DeviceTime,
    pub(super) ends: DeviceTime,
}

/// The arm, the platters below it, and where it is.
#[derive(Debug, Clone)]
pub(super) struct Arm {
    pub(super) geometry: Geometry,
    seek: SeekCurve,
    write_settle: Nanos,
    /// The sector that heads which stay on their way come to next.
    at: Lba,
}

impl Arm {
    pub(super) fn new(profile: &DiskProfile) -> Self {
        Self {
            geometry: Geometry::new(profile),
            seek: SeekCurve::new(&profile.mechanics, profile.zones.tracks),
            write_settle: profile.mechanics.write_settle,
            at: Lba(0),
        }
    }

    /// The read that would begin at `now`.
    pub(super) fn read(&self, now: DeviceTime, extent: &Extent) -> Access {
        self.access(now + self.seek.time(self.distance_to(extent.start)), extent)
    }

    /// The write that would begin at `now`.
    pub(super) fn write(&self, now: DeviceTime, extent: &Extent) -> Access {
        let tracks = self.distance_to(extent.start);
        let settle = if tracks == 0 { Nanos::ZERO } else { self.write_settle };
        self.access(now + self.seek.time(tracks) + settle, extent)
    }

    /// Leaves the heads at a sector.
    pub(super) fn stay_at(&mut self, lba: Lba) {
        self.at = lba;
    }

    fn access(&self, positioned: DeviceTime, extent: &Extent) -> Access {
        let begins = self.geometry.next_pass(positioned, extent.start);
        Access { begins, ends: begins + self.geometry.time_over(extent) }
    }

    fn distance_to(&self, lba: Lba) -> u32 {
        self.geometry.track_of(lba).abs_diff(self.geometry.track_of(self.at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::tests::small;

    #[test]
    fn a_seek_grows_with_the_distance_and_meets_its_three_figures() {
        let mechanics = small().mechanics;
        let tracks = 3000;
        let seek = SeekCurve::new(&mechanics, tracks);
        assert_eq!(seek.time(0), Nanos::ZERO);
        assert!((1..tracks).all(|d| seek.time(d) <= seek.time(d + 1)));
        assert!(seek.time(1) >= mechanics.track_to_track);
        assert_eq!(seek.time(tracks), mechanics.full_stroke);
        // The mean over all pairs of two different tracks.
        let weighted = (1..tracks).map(|d| seek.time(d).0 * u64::from(tracks - d)).sum::<u64>();
        let mean = weighted / (1..tracks).map(|d| u64::from(tracks - d)).sum::<u64>();
        let error = mean as f64 / mechanics.average_seek.0 as f64 - 1.0;
        assert!(error.abs() < 0.002, "{mean} ns is not the average seek: {error:+.4}");
    }
}
