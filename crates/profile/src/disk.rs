//! What a simulated magnetic disk is built of.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, Nanos, ProfileRecord};

use crate::{Identity, LBA_SIZE, Link, Origin};

/// More RAM than any disk has.
const CACHE_MAX: Bytes = Bytes::from_gib(16);
/// The smallest write that a cache segment must be able to hold.
const SEGMENT_MIN: Bytes = Bytes::from_kib(4);

/// A simulated magnetic disk: every number that its behaviour follows from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskProfile {
    /// What the box says.
    pub identity: Identity,
    /// The connection to the host. `command_time` holds all that a command costs besides its
    /// data, the disk's controller included.
    pub link: Link,
    /// Spindle and arm.
    pub mechanics: Mechanics,
    /// How the sectors lie on the platters.
    pub zones: Zones,
    /// The RAM between link and platters.
    pub cache: DiskCache,
    /// What the arm does next.
    pub queue: DiskQueue,
    /// Where it comes from; no key of a file.
    #[serde(skip)]
    pub origin: Origin,
}

/// Spindle and arm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mechanics {
    /// Revolutions per minute.
    pub rpm: u32,
    /// What every seek costs at least: that to a neighbouring track.
    pub track_to_track: Nanos,
    /// Mean of the seeks between all pairs of tracks, as makers rate it for reads.
    pub average_seek: Nanos,
    /// From the first track to the last.
    pub full_stroke: Nanos,
    /// What a write waits for after a seek, and a read does not: rated write less read seek.
    pub write_settle: Nanos,
    /// From the last sector of a track to the first of the next when both are wanted: the skew
    /// between neighbouring tracks. A switch of heads is as good as a step of the arm here.
    pub track_switch: Nanos,
}

/// How the sectors lie on the platters: zones of equally many tracks, fewer sectors further in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zones {
    /// Number of zones; the sectors per track fall evenly from the first to the last.
    pub count: u32,
    /// Tracks of all surfaces together, taken as one line from the first LBA to the last.
    pub tracks: u32,
    /// Sectors of 512 bytes on a track of the outermost zone.
    pub outer_sectors: u32,
    /// Sectors of 512 bytes on a track of the innermost zone.
    pub inner_sectors: u32,
}

/// The RAM between link and platters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskCache {
    /// All of it.
    pub size: Bytes,
    /// Whether a write is complete once it is in RAM.
    pub write_back: bool,
    /// Separate ranges of written data that it holds, each up to an equal share of `size`.
    pub write_segments: u32,
    /// How far the heads follow a track beyond what a read asked for; zero is off.
    pub read_ahead: Bytes,
}

/// What the arm does next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskQueue {
    /// Which of the waiting commands and ranges of written data.
    pub ordering: QueueOrdering,
    /// Of the ranges of written data only so many, the oldest, are compared.
    pub destage_window: u32,
}

/// Which access the arm makes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueOrdering {
    /// The oldest.
    Fifo,
    /// The one whose first sector the heads can reach soonest, seek and rotation together.
    ShortestAccessTime,
}

impl Zones {
    /// Tracks and sectors per track of every zone, outermost first.
    pub fn zones(&self) -> impl Iterator<Item = (u32, u32)> {
        let (count, tracks) = (u64::from(self.count), u64::from(self.tracks));
        let fall = u64::from(self.outer_sectors - self.inner_sectors);
        (0..count).map(move |zone| {
            let tracks = (zone + 1) * tracks / count - zone * tracks / count;
            let fewer = fall * zone / (count - 1).max(1);
            (tracks as u32, self.outer_sectors - fewer as u32)
        })
    }

    /// All that fits on the platters.
    pub fn raw_capacity(&self) -> Bytes {
        let sectors = |(tracks, sectors)| u64::from(tracks) * u64::from(sectors);
        LBA_SIZE * self.zones().map(sectors).sum()
    }
}

impl Mechanics {
    /// The time of one turn.
    pub fn revolution(&self) -> Nanos {
        Nanos(Nanos::from_secs(60).0 / u64::from(self.rpm))
    }

    /// The time of a seek over a third of all tracks, where the square root ends and the straight
    /// line begins. It follows from the mean over all pairs of tracks: with the distance `x` as a
    /// share of all tracks, which has the density `2(1 - x)`, that mean is
    /// `(27 track_to_track + 88 third_stroke + 20 full_stroke) / 135`.
    ///
    /// `None` if no such time exists.
    pub fn third_stroke(&self) -> Option<Nanos> {
        let fixed = self.track_to_track * 27 + self.full_stroke * 20;
        (self.average_seek * 135).0.checked_sub(fixed.0).map(|rest| Nanos(rest / 88))
    }
}

impl DiskProfile {
    /// What a run keeps of it; [`recorded`](crate::recorded) is the way back.
    pub fn record(&self) -> ProfileRecord {
        self.origin.record(self)
    }

    /// The first reason why such a disk could not work: the keys that it could be mended at, and
    /// what is wrong.
    pub fn impossibility(&self) -> Option<(Vec<&'static str>, String)> {
        let one = |(key, reason)| (vec![key], reason);
        self.impossible_count()
            .or_else(|| self.impossible_speed())
            .map(one)
            .or_else(|| self.impossible_seek())
            .or_else(|| self.impossible_space())
            .or_else(|| self.impossible_cache())
    }

    fn impossible_count(&self) -> Option<(&'static str, String)> {
        let counts = [
            ("link.queue_depth", self.link.queue_depth, 1, 1024),
            ("mechanics.rpm", self.mechanics.rpm, 100, 100_000),
            ("zones.tracks", self.zones.tracks, 3, 1 << 26),
            ("zones.count", self.zones.count, 1, self.zones.tracks.min(1024)),
            ("zones.outer_sectors", self.zones.outer_sectors, 1, 1 << 20),
            ("zones.inner_sectors", self.zones.inner_sectors, 1, self.zones.outer_sectors),
            ("cache.write_segments", self.cache.write_segments, 1, 4096),
            ("queue.destage_window", self.queue.destage_window, 1, 4096),
        ];
        let wrong = counts.iter().find(|(_, value, least, most)| !(least..=most).contains(&value));
        wrong.map(|(key, value, least, most)| {
            (*key, format!("{value} is not between {least} and {most}"))
        })
    }

    fn impossible_speed(&self) -> Option<(&'static str, String)> {
        let rates = [
            ("link.read_throughput", self.link.read_throughput),
            ("link.write_throughput", self.link.write_throughput),
        ];
        for (key, rate) in rates {
            if rate.0 < 1000 {
                return Some((key, format!("{} B/s is slower than any link", rate.0)));
            }
        }
        let times = [
            ("link.command_time", self.link.command_time),
            ("mechanics.track_to_track", self.mechanics.track_to_track),
            ("mechanics.average_seek", self.mechanics.average_seek),
            ("mechanics.full_stroke", self.mechanics.full_stroke),
            ("mechanics.write_settle", self.mechanics.write_settle),
            ("mechanics.track_switch", self.mechanics.track_switch),
        ];
        let wrong = times.iter().find(|(_, time)| *time > Nanos::from_secs(1));
        wrong.map(|(key, time)| (*key, format!("{} is longer than 1 s", time.exact())))
    }

    /// A seek must not become shorter with the distance.
    fn impossible_seek(&self) -> Option<(Vec<&'static str>, String)> {
        let Mechanics { track_to_track, average_seek, full_stroke, .. } = self.mechanics;
        let third = self.mechanics.third_stroke();
        if third.is_some_and(|third| track_to_track <= third && third <= full_stroke) {
            return None;
        }
        let reason = format!(
            "no seek that grows with the distance takes {} from track to track, {} on average \
             and {} from end to end",
            track_to_track.exact(),
            average_seek.exact(),
            full_stroke.exact()
        );
        const KEYS: [&str; 3] =
            ["mechanics.average_seek", "mechanics.track_to_track", "mechanics.full_stroke"];
        Some((KEYS.to_vec(), reason))
    }

    fn impossible_space(&self) -> Option<(Vec<&'static str>, String)> {
        let (capacity, raw) = (self.identity.capacity, self.zones.raw_capacity());
        if capacity.0 == 0 || !capacity.is_multiple_of(LBA_SIZE) {
            let reason = format!("{} is not a whole number of 512-byte sectors", capacity.exact());
            return Some((vec!["identity.capacity"], reason));
        }
        if raw < capacity {
            let reason = format!("the zones hold {raw}, too little for {capacity} of user data");
            const KEYS: [&str; 4] =
                ["identity.capacity", "zones.tracks", "zones.outer_sectors", "zones.inner_sectors"];
            return Some((KEYS.to_vec(), reason));
        }
        None
    }

    fn impossible_cache(&self) -> Option<(Vec<&'static str>, String)> {
        let DiskCache { size, write_segments, read_ahead, .. } = self.cache;
        let least = SEGMENT_MIN * u64::from(write_segments);
        if size < least || size > CACHE_MAX {
            let (got, most) = (size.exact(), CACHE_MAX.exact());
            let reason = format!(
                "{got} is not between 4KiB per write segment ({}) and {most}",
                least.exact()
            );
            return Some((vec!["cache.size", "cache.write_segments"], reason));
        }
        if read_ahead > size {
            let reason =
                format!("{} is more than the cache's {}", read_ahead.exact(), size.exact());
            return Some((vec!["cache.read_ahead", "cache.size"], reason));
        }
        None
    }
}
