//! What a trace is to be made of: the statistics that it must have, and the applications.

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use writecliff_device::{Bytes, Content, Nanos, Operation, with_nearest};

use super::shipped::PLANS;
use crate::MakeError;

/// The two kinds of operation, in the order that everything here counts them.
pub(super) const KINDS: [Operation; 2] = [Operation::Read, Operation::Write];

/// The longest name of a plan, in bytes: with `.trace` and more behind it, still a file's.
const NAME_MAX: usize = 200;

/// What a made trace is to be: its statistics, and the scenarios whose mixture has them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The trace's name: part of a file's name.
    #[serde(deserialize_with = "file_name")]
    pub name: String,
    /// Whose statistics these are, and what the trace is not.
    pub about: String,
    /// The drive that the trace needs at least.
    pub device_size: Bytes,
    /// What all offsets and lengths are multiples of.
    pub alignment: Bytes,
    /// First issue to last.
    pub duration: Nanos,
    /// The statistics of the whole.
    pub target: Target,
    /// Parts of the drive, in order from its beginning.
    pub area: Vec<Area>,
    /// The applications.
    pub scenario: Vec<Scenario>,
    /// Which share of the plan's operations is left, if it was scaled down.
    #[serde(skip)]
    pub(super) scale: Option<f64>,
}

/// The statistics of a whole trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Read operations.
    pub reads: u64,
    /// Write operations.
    pub writes: u64,
    /// Bytes that all reads come to.
    pub read_bytes: Bytes,
    /// Bytes that all writes come to.
    pub written_bytes: Bytes,
    /// Share of all operations that [`SequentialDetector`](crate::SequentialDetector) calls
    /// sequential.
    pub sequential_percent: f64,
    /// Mean over all operations of those in flight at issue, itself included.
    pub mean_queue_depth: f64,
    /// Share of all operations that are alone in flight when issued.
    pub at_queue_depth_1_percent: f64,
    /// No operation finds more in flight, itself included.
    pub queue_depth_max: u32,
    /// The sizes of all operations, ascending.
    pub sizes: Vec<SizeShare>,
}

/// One size of operations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizeShare {
    /// The size, exactly.
    pub size: Bytes,
    /// Its share of all operations; sizes without one share the rest as the bytes demand.
    pub percent: Option<f64>,
}

/// A part of the drive: a group of files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Area {
    /// What scenarios call it.
    pub name: String,
    /// How long it is.
    pub size: Bytes,
}

/// One application at work. What the plan's target fixes is met exactly; what is said here of
/// sizes, order and depth are preferences that bend as far as the target needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The stream's name in the trace.
    pub name: String,
    /// Its share of all reads.
    pub reads_percent: f64,
    /// Its share of all writes.
    pub writes_percent: f64,
    /// How much it likes each size of reads, relative to each other; sizes left out it never uses.
    pub read_sizes: BTreeMap<Bytes, f64>,
    /// The same of writes.
    pub write_sizes: BTreeMap<Bytes, f64>,
    /// Which share of its operations continue one before.
    pub sequential: Order,
    /// How many operations it keeps in flight.
    pub queue: Queue,
    /// How much it usually moves in one go, before it turns to something else.
    pub file: Bytes,
    /// The areas that it reads from.
    pub reads_from: Vec<String>,
    /// The areas that it writes to.
    pub writes_to: Vec<String>,
    /// Where its random operations go.
    pub hot: Hot,
    /// What its data are like.
    pub content: ContentClass,
    /// When it runs: from and to, in percent of the trace's duration; scenarios whose times
    /// overlap run at once.
    pub active: Vec<[u32; 2]>,
}

/// How much of what a scenario does is in order.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// Of its operations below 64 KiB.
    pub small_percent: f64,
    /// Of its operations from 64 KiB.
    pub large_percent: f64,
}

/// How a scenario uses the queue.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Queue {
    /// Share of its operations that are alone in flight.
    pub at_1_percent: f64,
    /// Mean depth of the others.
    pub deep: f64,
}

/// The part of an area that most random operations go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hot {
    /// Its share of the space, from the area's beginning.
    pub space_percent: u32,
    /// Its share of the random operations; the others go anywhere.
    pub access_percent: u32,
}

/// What written data are like; see [`Content`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContentClass {
    /// The share of every 4 KiB block that a compressor can remove.
    pub compressible_percent: u8,
    /// The share of 4 KiB blocks that repeat an earlier one.
    pub duplicate_percent: u8,
}

impl Plan {
    /// A plan that comes with the program, by its name in [`PLANS`].
    pub fn shipped(name: &str) -> Option<Self> {
        let shipped = PLANS.iter().find(|plan| plan.name == name)?;
        Some(Self::parse(name, shipped.text).expect("tests read all shipped plans"))
    }

    /// The plan that comes with the program under this name, or is in this file.
    ///
    /// # Errors
    /// [`MakeError::Unknown`], and those of [`load`](Self::load).
    pub fn named(name: &str) -> Result<Self, MakeError> {
        let path = Path::new(name);
        match Self::shipped(name) {
            Some(plan) => Ok(plan),
            None if path.extension().is_none() && !path.exists() => {
                Err(MakeError::Unknown { name: name.to_owned() })
            }
            None => Self::load(path),
        }
    }

    /// The plan in a file.
    ///
    /// # Errors
    /// [`MakeError::Read`], [`MakeError::Syntax`].
    pub fn load(path: &Path) -> Result<Self, MakeError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| MakeError::Read { path: path.to_owned(), source })?;
        Self::parse(&path.display().to_string(), &text)
    }

    /// The plan that is written as TOML; `file` is for messages.
    ///
    /// # Errors
    /// [`MakeError::Syntax`]. Whether it can be carried out, [`Maker`](crate::Maker) tells.
    pub fn parse(file: &str, text: &str) -> Result<Self, MakeError> {
        toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let line = 1 + text.bytes().take(start).filter(|byte| *byte == b'\n').count();
            let message = with_nearest(error.message());
            MakeError::Syntax { file: file.to_owned(), line, message }
        })
    }

    /// The same with a `share` of its operations, bytes and duration, from 0 to 1; sizes, places
    /// and everything that is given in percent stay. For tests, and for a first look.
    #[must_use]
    pub fn scaled(&self, share: f64) -> Self {
        let part = |whole: u64| (whole as f64 * share).round() as u64;
        let mut scaled = self.clone();
        scaled.scale = Some(self.scale.unwrap_or(1.0) * share);
        scaled.duration = Nanos(part(self.duration.0));
        let target = &mut scaled.target;
        (target.reads, target.writes) = (part(target.reads), part(target.writes));
        target.read_bytes = Bytes(part(target.read_bytes.0));
        target.written_bytes = Bytes(part(target.written_bytes.0));
        scaled
    }
}

/// A name that stays in the directory it is used in, and leaves a terminal as it is.
fn file_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let name = String::deserialize(deserializer)?;
    let is_possible = (1..=NAME_MAX).contains(&name.len())
        && !name.contains(|character: char| character == '/' || character.is_control());
    if is_possible {
        return Ok(name);
    }
    Err(Error::custom(format_args!(
        "the name {name:?} cannot be a file's; it takes 1 to {NAME_MAX} bytes without '/' and \
         control characters"
    )))
}

impl Target {
    /// All operations.
    pub fn ios(&self) -> u64 {
        self.reads.saturating_add(self.writes)
    }
}

impl Scenario {
    /// Its share of all operations of a kind, in percent: 0 reads, 1 writes.
    pub(super) fn percent(&self, kind: usize) -> f64 {
        [self.reads_percent, self.writes_percent][kind]
    }

    /// How much it likes which size of a kind.
    pub(super) fn sizes(&self, kind: usize) -> &BTreeMap<Bytes, f64> {
        [&self.read_sizes, &self.write_sizes][kind]
    }

    /// The areas of a kind.
    pub(super) fn areas(&self, kind: usize) -> &[String] {
        [&self.reads_from, &self.writes_to][kind]
    }
}

impl From<ContentClass> for Content {
    fn from(class: ContentClass) -> Self {
        let ContentClass { compressible_percent, duplicate_percent } = class;
        Self { compressible_percent, duplicate_percent }
    }
}
