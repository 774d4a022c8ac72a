//! A small disk for the unit tests.

use writecliff_device::{Bytes, Nanos, Throughput};

use crate::profile::{Identity, Link};
use crate::profile_disk::{DiskCache, DiskProfile, DiskQueue, Mechanics, QueueOrdering, Zones};

/// A disk of no maker with 16 MB in four zones.
pub(super) fn small() -> DiskProfile {
    DiskProfile {
        identity: Identity {
            model: "Small".to_owned(),
            capacity: Bytes(32_000 * 512),
            form_factor: "none".to_owned(),
            note: "No real disk.".to_owned(),
        },
        link: Link {
            interface: "none".to_owned(),
            queue_depth: 32,
            read_throughput: Throughput(300_000_000),
            write_throughput: Throughput(300_000_000),
            command_time: Nanos::from_micros(100),
        },
        mechanics: Mechanics {
            rpm: 7200,
            track_to_track: Nanos::from_micros(900),
            average_seek: Nanos::from_micros(8900),
            full_stroke: Nanos::from_millis(21),
            write_settle: Nanos::from_micros(500),
            track_switch: Nanos::from_micros(700),
        },
        zones: Zones { count: 4, tracks: 401, outer_sectors: 101, inner_sectors: 61 },
        cache: DiskCache {
            size: Bytes::from_mib(1),
            write_back: true,
            write_segments: 16,
            read_ahead: Bytes::from_kib(256),
        },
        queue: DiskQueue { ordering: QueueOrdering::ShortestAccessTime, destage_window: 8 },
    }
}
