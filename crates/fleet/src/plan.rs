//! What the user writes: drives, how data are kept on them, and what is asked of them.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use writecliff::sim::{Profile, changed};
use writecliff::suite::thousands;
use writecliff::{Error, profile};
use writecliff_device::{Bytes, Nanos, with_nearest};
use writecliff_sweep::Amount;
use writecliff_workload::{Distribution, Gaps};

use crate::error::FleetError;

/// A fleet and its service.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fleet {
    /// What it is called on the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Placement groups: each has `data + parity` drives to itself.
    pub groups: u32,
    /// Fragments that hold the data.
    #[serde(default = "one")]
    pub data: u32,
    /// Further fragments: with one of data copies, otherwise an erasure code's.
    #[serde(default)]
    pub parity: u32,
    /// After so long without enough answers, a read asks as many further drives as answers are missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hedge: Option<Nanos>,
    /// How long the service goes on before anything is counted.
    #[serde(default)]
    pub warm_up: Nanos,
    /// How long it is counted.
    pub duration: Nanos,
    /// Requests that take longer are late: they are counted, and the drives that they waited for.
    #[serde(default = "ten_milliseconds")]
    pub limit: Nanos,
    /// Decides everything that is random.
    #[serde(default = "first")]
    pub seed: u64,
    /// The kinds of drives; they take turns by their shares.
    pub drives: Vec<Kind>,
    /// What is asked of the whole fleet.
    pub load: Load,
    /// What is compared: each is the fleet above with keys of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<Change>,
}

/// A variant as the user writes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// What it is called; no two are called the same.
    pub name: String,
    /// Keys of the fleet with other values; keys of a table are changed one by one.
    #[serde(flatten)]
    pub keys: Map<String, Value>,
}

/// Drives that are alike but for their seeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kind {
    /// A simulated drive: `sim:NAME`, `sim:PATH.toml`, with `@1/128` behind it a scale model.
    pub drive: String,
    /// Keys of its profile that are changed, by `section.key`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub profile: Map<String, Value>,
    /// Its part of the drives, in proportion to the others' shares.
    #[serde(default = "one")]
    pub share: u32,
    /// How much of it holds data, in percent; the rest is untouched and serves as spare area.
    #[serde(default = "hundred")]
    pub full_percent: Spread,
    /// How often its data were overwritten at random before the service begins.
    #[serde(default = "never")]
    pub overwrites: Spread,
}

/// A number that all drives of a kind have, or `[low, high]`: each has its own between them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number, or [low, high]")]
pub enum Spread {
    /// The same for all.
    Same(f64),
    /// Evenly spread from the first to the second.
    Between(f64, f64),
}

/// What is asked of the fleet: an open loop, whose requests come whatever the drives do. Either a rate
/// of random requests or a trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Requests a second, of the whole fleet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<u64>,
    /// How the times between them fall.
    #[serde(default = "poisson")]
    pub gaps: Gaps,
    /// The share of reads.
    #[serde(default = "seventy")]
    pub read_percent: u8,
    /// Bytes of a request; each drive that has a fragment gets its part.
    #[serde(default = "four_kib")]
    pub block: Bytes,
    /// Where requests fall in a group.
    #[serde(default = "uniform")]
    pub distribution: Distribution,
    /// A trace in the own format or of those that ship, which every volume does again, each from a
    /// moment of its own, and from the beginning when it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// How many times as fast as it was recorded.
    #[serde(default = "as_recorded")]
    pub speed: f64,
    /// Volumes that make the load, all alike; a group holds those that a hash puts there, so that
    /// some have more to do than others. Without it every group has an equal part of the requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volumes: Option<u32>,
}

fn one() -> u32 {
    1
}

fn first() -> u64 {
    1
}

fn hundred() -> Spread {
    Spread::Same(100.0)
}

fn never() -> Spread {
    Spread::Same(0.0)
}

fn seventy() -> u8 {
    70
}

fn as_recorded() -> f64 {
    1.0
}

fn four_kib() -> Bytes {
    Bytes::from_kib(4)
}

fn ten_milliseconds() -> Nanos {
    Nanos::from_millis(10)
}

fn poisson() -> Gaps {
    Gaps::Poisson
}

fn uniform() -> Distribution {
    Distribution::Uniform
}

/// More fragments than any code has.
pub(crate) const WIDTH_MAX: u32 = 64;
/// More drives than anybody simulates.
pub(crate) const DRIVES_MAX: u64 = 1_000_000;
/// A longer service is a mistake in the plan, whose minutes alone would fill the memory.
pub(crate) const SERVICE_MAX: Nanos = Nanos::from_secs(366 * 86_400);
/// More requests than anybody waits for: at a million a second, four months.
pub(crate) const REQUESTS_MAX: f64 = 1e13;
/// More volumes than anybody has.
const VOLUMES_MAX: u32 = 1_000_000;
/// A drive needs room for so many requests.
const ROOM: u64 = 16;
/// Nobody ages a drive by more.
const OVERWRITES_MAX: f64 = 100.0;

impl Fleet {
    /// Reads a plan's file.
    ///
    /// # Errors
    /// [`FleetError::Unreadable`]; [`FleetError::Invalid`] with the line.
    pub fn read(path: &Path) -> Result<Self, FleetError> {
        let unreadable = |source| FleetError::Unreadable { path: path.to_owned(), source };
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        toml::from_str(&text).map_err(|error: toml::de::Error| {
            let at = error.span().map_or(0, |span| span.start).min(text.len());
            let line = text[..at].matches('\n').count() + 1;
            FleetError::Invalid {
                path: path.to_owned(),
                line,
                message: with_nearest(error.message()),
            }
        })
    }

    /// Drives of a group.
    pub fn width(&self) -> usize {
        self.data.saturating_add(self.parity) as usize
    }

    /// All drives.
    pub fn drive_count(&self) -> u64 {
        u64::from(self.groups) * self.width() as u64
    }

    /// What its service and the past of its drives come to, roughly; of traces only the past.
    pub(crate) fn amount(&self) -> Amount {
        let drives = self.drive_count();
        let shares: u64 = self.drives.iter().map(|kind| u64::from(kind.share)).sum();
        let of_kind = |kind: &Kind| {
            let data = kind.profile().map_or(0, |p| data_of(&p, kind.full_percent.at(0.5)).0);
            let past = data as f64 * (1.0 + kind.overwrites.at(0.5));
            past * f64::from(kind.share) / shares.max(1) as f64
        };
        let past = self.drives.iter().map(of_kind).sum::<f64>() * drives as f64;
        let seconds = (self.warm_up + self.duration).as_secs_f64();
        let Load { iops, read_percent, block, .. } = &self.load;
        let writes = 1.0 - f64::from(*read_percent) / 100.0;
        let copies = self.width() as f64 / f64::from(self.data.max(1));
        let asked = iops.unwrap_or(0) as f64 * seconds * writes * block.0 as f64 * copies;
        Amount { drives, seconds: seconds * drives as f64, written_bytes: past + asked }
    }

    /// The kind that the drive of this number is of: kinds take turns by their shares.
    pub(crate) fn kind(&self, drive: u64) -> usize {
        let all: u64 = self.drives.iter().map(|kind| u64::from(kind.share)).sum();
        let mut place = drive % all.max(1);
        for (index, kind) in self.drives.iter().enumerate() {
            match place.checked_sub(u64::from(kind.share)) {
                Some(rest) => place = rest,
                None => return index,
            }
        }
        0
    }
}

impl Kind {
    /// What the drive is built of.
    ///
    /// # Errors
    /// [`Error::Profile`] if there is no such drive.
    pub(crate) fn profile(&self) -> Result<Profile, Error> {
        let name = self.drive.strip_prefix("sim:").unwrap_or(&self.drive);
        Ok(changed(&profile(name)?, &self.profile)?)
    }

    /// The drive that a scale model stands for; any other is its own.
    ///
    /// # Errors
    /// [`Error::Profile`] if there is no such drive.
    pub(crate) fn whole(&self) -> Result<Profile, Error> {
        let whole = self.drive.rsplit_once("@1/").map_or(&*self.drive, |(whole, _)| whole);
        Kind { drive: whole.to_owned(), ..self.clone() }.profile()
    }

    pub(crate) fn check(&self, block: Bytes) -> Result<(), FleetError> {
        if !self.drive.starts_with("sim:") {
            let reason = format!("'{}' is no simulated drive; say sim:NAME", self.drive);
            return Err(impossible("drives.drive", reason));
        }
        self.full_percent.check("drives.full_percent", 1.0, 100.0)?;
        self.overwrites.check("drives.overwrites", 0.0, OVERWRITES_MAX)?;
        let span = data_of(&self.profile()?, self.full_percent.at(0.0));
        if span.0 < block.0.saturating_mul(ROOM) {
            let reason = format!("the {span} of {} hold fewer than {ROOM} requests", self.drive);
            return Err(impossible("drives.full_percent", reason));
        }
        Ok(())
    }
}

/// The part of a drive that holds data, in whole pieces of a fill.
pub(crate) fn data_of(profile: &Profile, full_percent: f64) -> Bytes {
    let used = profile.identity().capacity.0 as f64 * full_percent / 100.0;
    Bytes(used as u64 / FILL_BLOCK.0 * FILL_BLOCK.0)
}

/// Writes of a fill.
pub(crate) const FILL_BLOCK: Bytes = Bytes::from_kib(128);

impl Spread {
    /// The value at this part of the way, from 0 to 1.
    pub(crate) fn at(self, part: f64) -> f64 {
        match self {
            Self::Same(value) => value,
            Self::Between(low, high) => low + (high - low) * part,
        }
    }

    fn check(self, key: &str, from: f64, to: f64) -> Result<(), FleetError> {
        let [low, high] = [0.0, 1.0].map(|part| self.at(part));
        if from <= low && low <= high && high <= to {
            return Ok(());
        }
        let reason = format!("{low} to {high} is no part of {from} to {to}");
        Err(impossible(key, reason))
    }
}

impl Load {
    pub(crate) fn check(&self, data: u32) -> Result<(), FleetError> {
        match (self.iops, &self.trace) {
            (Some(0), _) => return Err(impossible("load.iops", "it is zero".to_owned())),
            (Some(_), Some(_)) | (None, None) => {
                let reason = "a load has either iops or a trace";
                return Err(impossible("load", reason.to_owned()));
            }
            (None, Some(_)) if data > 1 => {
                let reason = "an erasure code writes whole stripes, which a trace's requests are not; \
                              with data = 1 they are kept as copies";
                return Err(impossible("data", reason.to_owned()));
            }
            _ => {}
        }
        if self.read_percent > 100 {
            let reason = format!("{} % are more than all", self.read_percent);
            return Err(impossible("load.read_percent", reason));
        }
        let (block, data) = (self.block.0, u64::from(data));
        if block == 0 || block % data > 0 || !(block / data).is_multiple_of(four_kib().0) {
            let reason = format!(
                "{} B are no multiple of 4 KiB on each of the {data} drives that hold a request's data",
                thousands(block as f64)
            );
            return Err(impossible("load.block", reason));
        }
        if !(self.speed > 0.0 && self.speed.is_finite()) {
            return Err(impossible("load.speed", format!("{} is no speed", self.speed)));
        }
        if self.volumes.is_some_and(|volumes| volumes == 0 || volumes > VOLUMES_MAX) {
            let reason = format!("there is at least one, and at most {VOLUMES_MAX}");
            return Err(impossible("load.volumes", reason));
        }
        Ok(())
    }
}

pub(crate) fn impossible(key: &str, reason: String) -> FleetError {
    FleetError::Impossible { key: key.to_owned(), reason }
}
