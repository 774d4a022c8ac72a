//! The figures themselves. Keys that end in `_ns`, `_bytes` or `_percent` are in that unit; what is
//! not known is `None`.

use serde::Serialize;

use super::classes::Class;
use super::over_time::{OffsetMap, Window};
use super::service::ServiceTime;
use crate::Header;

/// A trace with its name and where it comes from: what `trace info --json` prints of each.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Description {
    /// What the trace is called: its file.
    pub name: String,
    /// Where it comes from.
    pub header: Header,
    /// What it is like.
    pub info: Info,
}

/// What a trace is like.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Info {
    /// From the first issue to the last thing known.
    pub duration_ns: u64,
    /// Reads and writes together.
    pub transfers: Transfers,
    /// Reads.
    pub reads: Transfers,
    /// Writes.
    pub writes: Transfers,
    /// Trims.
    pub trims: u64,
    /// Bytes trimmed.
    pub trimmed_bytes: u64,
    /// Flushes.
    pub flushes: u64,
    /// Operations issued before the one before them; zero in a trace of the own format.
    pub out_of_order: u64,
    /// Queue depths at issue, recorded or computed; `None` where no operation's is known.
    pub queue_depths: Option<QueueDepths>,
    /// When the drive had something to do; `None` where no completion is known.
    pub busy: Option<Busy>,
    /// How long reads and writes took; `None` where no completion is known.
    pub service_times: Option<ServiceTimes>,
    /// Written bytes in 4 KiB blocks that an earlier write of the trace had touched; `None` if the
    /// footprint is not known.
    pub rewritten: Option<Share>,
    /// What the written data are like; `None` where that is not known of any write.
    pub content: Option<WrittenContent>,
    /// Spans between the issues of each two operations that follow each other, of all kinds; in
    /// nanoseconds.
    pub inter_arrival_ns: Vec<Class>,
    /// The ten streams that moved most bytes, those first.
    pub largest_streams: Vec<StreamShare>,
    /// Streams that have any operation.
    pub streams: u64,
    /// Nanoseconds of a window.
    pub window_ns: u64,
    /// The trace over time.
    pub windows: Vec<Window>,
    /// Where reads began, over time.
    pub read_offsets: OffsetMap,
    /// Where writes began, over time.
    pub write_offsets: OffsetMap,
}

/// Reads, writes, or both.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Transfers {
    /// How many.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes of each on average; `None` where there is none.
    pub mean_bytes: Option<f64>,
    /// Those that begin exactly where one of the last 32 runs of their kind ended, as
    /// [`SequentialDetector`](super::SequentialDetector) has it.
    pub sequential: Share,
    /// How many have exactly these sizes.
    pub sizes: Sizes,
    /// How many have which size, in bytes, by power of two.
    pub size_classes: Vec<Class>,
    /// Bytes of all 4 KiB blocks that they touched, each counted once; `None` if the trace touched
    /// places too far apart to note them all in 1 GiB of memory.
    pub footprint_bytes: Option<u64>,
}

/// A part of a whole.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Share {
    /// The part.
    pub count: u64,
    /// In percent of the whole; zero of nothing.
    pub percent: f64,
}

/// How many reads and writes have the sizes that the documents list.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Sizes {
    /// Exactly 4096 bytes.
    #[serde(rename = "4KB")]
    pub kb4: Share,
    /// Exactly 16 KiB.
    #[serde(rename = "16KB")]
    pub kb16: Share,
    /// Exactly 32 KiB.
    #[serde(rename = "32KB")]
    pub kb32: Share,
    /// Exactly 64 KiB.
    #[serde(rename = "64KB")]
    pub kb64: Share,
    /// Exactly 128 KiB.
    #[serde(rename = "128KB")]
    pub kb128: Share,
    /// Any other size.
    pub rest: Share,
}

/// Operations in flight at the issue of each read and write, itself included.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueueDepths {
    /// Reads and writes whose queue depth is known.
    pub known: u64,
    /// Those among them that the trace does not tell and that were computed from completions.
    pub computed: u64,
    /// The mean of those known.
    pub mean: f64,
    /// Those that found the drive idle.
    pub at_one: Share,
    /// The highest.
    pub max: u32,
    /// How many were issued at which depth, by power of two.
    pub classes: Vec<Class>,
}

/// Time in which at least one operation was in flight: the union of all spans from issue to
/// completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Busy {
    /// Operations of all kinds whose completion is known; the others count as taking no time.
    pub known: u64,
    /// Of any kind, trims and flushes as well.
    pub all_ns: u64,
    /// Of reads.
    pub reads_ns: u64,
    /// Of writes.
    pub writes_ns: u64,
}

/// Service times of reads and writes whose completion is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ServiceTimes {
    /// Of both.
    pub transfers: Option<ServiceTime>,
    /// Of reads.
    pub reads: Option<ServiceTime>,
    /// Of writes.
    pub writes: Option<ServiceTime>,
}

/// What written data are like: means over the bytes of which it is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WrittenContent {
    /// Written bytes of which it is known.
    pub known_bytes: u64,
    /// What a compressor can remove.
    pub compressible_percent: f64,
    /// What repeats an earlier block.
    pub duplicate_percent: f64,
}

/// A stream's part in the trace.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StreamShare {
    /// Its index into [`Header::streams`].
    pub stream: u16,
    /// Its operations, of all kinds.
    pub operations: Share,
    /// Bytes that it read and wrote.
    pub bytes: Share,
}

impl Info {
    /// Operations of all kinds.
    pub fn operations(&self) -> u64 {
        self.transfers.count + self.trims + self.flushes
    }
}

impl Share {
    pub(super) fn of(count: u64, whole: u64) -> Self {
        let percent = if whole == 0 { 0.0 } else { count as f64 * 100.0 / whole as f64 };
        Self { count, percent }
    }
}
