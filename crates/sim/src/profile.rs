//! What a simulated drive is built of, read from TOML and checked.
//!
//! A profile file may inherit from another one and then says only what differs. Unknown keys,
//! missing keys and drives that cannot work are refused with the file and the line to mend.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use toml::de::{DeTable, DeValue};
use writecliff_device::{Bytes, Nanos, Throughput};

/// The mapping unit: the host's 4 KiB page.
pub(crate) const MAPPING_UNIT: Bytes = Bytes::from_kib(4);
/// The unit of addressing of every simulated drive.
pub(crate) const LBA_SIZE: Bytes = Bytes(512);
/// Larger pages than any NAND has.
const PAGE_MAX: Bytes = Bytes::from_mib(1);
/// More RAM than any drive has for user data.
const BUFFER_MAX: Bytes = Bytes::from_gib(16);

/// A simulated drive: every number that its behaviour follows from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// What the box says.
    pub identity: Identity,
    /// The connection to the host.
    pub link: Link,
    /// The processor between link and NAND: one command at a time.
    pub firmware: Firmware,
    /// The RAM that completes writes before they are in NAND.
    pub write_buffer: WriteBuffer,
    /// The flash: its shape and its speed.
    pub nand: Nand,
    /// Garbage collection: when, and how much at once.
    pub gc: Gc,
}

/// What the box says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The maker's name for the drive.
    pub model: String,
    /// Bytes that a host can address.
    pub capacity: Bytes,
    /// 2.5", mSATA, M.2, ...
    pub form_factor: String,
    /// What the profile rests on, and what it does not claim.
    pub note: String,
}

/// The connection to the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// What the interface is called.
    pub interface: String,
    /// Commands that may be outstanding (SATA NCQ: 32).
    pub queue_depth: u32,
    /// Best rate of data to the host.
    pub read_throughput: Throughput,
    /// Best rate of data from the host.
    pub write_throughput: Throughput,
    /// What a command costs on the link besides its data.
    pub command_time: Nanos,
}

/// The processor between link and NAND: one command at a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Firmware {
    /// What a read command costs.
    pub read_time: Nanos,
    /// What a write, trim or flush command costs.
    pub write_time: Nanos,
}

/// The RAM that completes writes before they are in NAND.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteBuffer {
    /// User data that it holds.
    pub size: Bytes,
}

/// The flash: its shape and its speed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nand {
    /// What the NAND is called.
    pub kind: String,
    /// Buses to the dies.
    pub channels: u32,
    /// Dies on each channel.
    pub dies_per_channel: u32,
    /// Planes of a die; programmed, read and erased together.
    pub planes: u32,
    /// NAND blocks of a plane.
    pub blocks_per_plane: u32,
    /// Blocks of a plane that hold no user data: bad from the factory, firmware, parity, or used
    /// in another cell mode.
    pub blocks_reserved_per_plane: u32,
    /// Pages of a block.
    pub pages_per_block: u32,
    /// User bytes of a page.
    pub page_size: Bytes,
    /// Array to register, all planes of a die at once.
    pub read_time: Nanos,
    /// Register to array, mean over a block's pages, all planes of a die at once.
    pub program_time: Nanos,
    /// One block of every plane of a die at once.
    pub erase_time: Nanos,
    /// Rate of one channel.
    pub channel_throughput: Throughput,
}

/// Garbage collection: when, and how much at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gc {
    /// Collection starts when so few superblocks are free.
    pub free_low: u32,
    /// Collection stops when so many superblocks are free.
    pub free_high: u32,
    /// Pages (4 KiB) copied for each page that the host writes, while collecting with `free_low`
    /// or more superblocks free. Below that it grows with the square of `free_low` / free.
    pub quantum: u32,
}

impl Gc {
    /// The pacing policy: pages to copy for each page of the host with `free` superblocks free.
    ///
    /// A quantum above what the steady state needs makes the drive alternate between full speed
    /// and collection; one below it lets free superblocks settle where copying just keeps up.
    pub(crate) fn copies_per_write(&self, free: u32) -> u64 {
        let (quantum, low) = (u64::from(self.quantum), u64::from(self.free_low));
        let free = u64::from(free.max(1)).min(low);
        quantum * low * low / (free * free)
    }
}

impl Profile {
    /// Dies of the whole drive.
    pub fn dies(&self) -> u32 {
        self.nand.channels * self.nand.dies_per_channel
    }

    /// All NAND, reserved blocks included.
    pub fn raw_capacity(&self) -> Bytes {
        self.superblock_size() * u64::from(self.nand.blocks_per_plane)
    }

    /// NAND that holds host data: raw less reserved.
    pub fn usable_capacity(&self) -> Bytes {
        self.superblock_size() * u64::from(self.superblocks())
    }

    /// Share of the usable NAND that is not exported: the spare factor of the theory.
    pub fn spare_factor(&self) -> f64 {
        1.0 - self.identity.capacity.0 as f64 / self.usable_capacity().0 as f64
    }

    /// Bytes of one superblock: a block of every plane of every die.
    pub fn superblock_size(&self) -> Bytes {
        self.program_size() * u64::from(self.dies()) * u64::from(self.nand.pages_per_block)
    }

    /// Bytes that one die programs at once: a page of every plane.
    pub fn program_size(&self) -> Bytes {
        self.nand.page_size * u64::from(self.nand.planes)
    }

    /// Superblocks that hold host data.
    pub(crate) fn superblocks(&self) -> u32 {
        self.nand.blocks_per_plane.saturating_sub(self.nand.blocks_reserved_per_plane)
    }

    /// The first reason why such a drive could not work: the keys that it could be mended at, and
    /// what is wrong.
    fn impossibility(&self) -> Option<(Vec<&'static str>, String)> {
        let one = |(key, reason)| (vec![key], reason);
        self.impossible_keys().map(one).or_else(|| self.impossible_space())
    }

    fn impossible_keys(&self) -> Option<(&'static str, String)> {
        self.impossible_shape().or_else(|| self.impossible_speed())
    }

    fn impossible_shape(&self) -> Option<(&'static str, String)> {
        let nand = &self.nand;
        let counts = [
            ("link.queue_depth", self.link.queue_depth, 65_536),
            ("nand.channels", nand.channels, 1024),
            ("nand.dies_per_channel", nand.dies_per_channel, 1024),
            ("nand.planes", nand.planes, 64),
            ("nand.blocks_per_plane", nand.blocks_per_plane, 1 << 20),
            ("nand.pages_per_block", nand.pages_per_block, 1 << 16),
        ];
        for (key, value, most) in counts {
            if value == 0 || value > most {
                return Some((key, format!("{value} is not between 1 and {most}")));
            }
        }
        if !nand.page_size.is_multiple_of(MAPPING_UNIT)
            || !(MAPPING_UNIT..=PAGE_MAX).contains(&nand.page_size)
        {
            let (got, most) = (nand.page_size.exact(), PAGE_MAX.exact());
            let reason = format!("{got} is not a multiple of the mapping unit, 4KiB, up to {most}");
            return Some(("nand.page_size", reason));
        }
        let capacity = self.identity.capacity;
        if capacity.0 == 0 || !capacity.is_multiple_of(MAPPING_UNIT) {
            let reason = format!("{} is not a whole number of 4 KiB pages", capacity.exact());
            return Some(("identity.capacity", reason));
        }
        None
    }

    fn impossible_speed(&self) -> Option<(&'static str, String)> {
        let rates = [
            ("link.read_throughput", self.link.read_throughput),
            ("link.write_throughput", self.link.write_throughput),
            ("nand.channel_throughput", self.nand.channel_throughput),
        ];
        for (key, rate) in rates {
            if rate.0 < 1000 {
                return Some((key, format!("{} B/s is slower than any link", rate.0)));
            }
        }
        let times = [
            ("link.command_time", self.link.command_time),
            ("firmware.read_time", self.firmware.read_time),
            ("firmware.write_time", self.firmware.write_time),
            ("nand.read_time", self.nand.read_time),
            ("nand.program_time", self.nand.program_time),
            ("nand.erase_time", self.nand.erase_time),
        ];
        for (key, time) in times {
            if time > Nanos::from_secs(10) {
                return Some((key, format!("{} is longer than 10 s", time.exact())));
            }
        }
        None
    }

    /// What must hold between several keys, so that every page finds a place.
    fn impossible_space(&self) -> Option<(Vec<&'static str>, String)> {
        const SHAPE: [&str; 6] = [
            "nand.blocks_per_plane",
            "nand.pages_per_block",
            "nand.page_size",
            "nand.planes",
            "nand.dies_per_channel",
            "nand.channels",
        ];
        let superblock = self.superblock_size();
        let raw = u128::from(superblock.0) * u128::from(self.nand.blocks_per_plane);
        if raw / u128::from(MAPPING_UNIT.0) > u128::from(u32::MAX) - 1 {
            let reason = "the NAND has more than 2^32 pages of 4 KiB (16 TiB)".to_owned();
            return Some((SHAPE.to_vec(), reason));
        }
        // One superblock open for the host, one for copies, and one free to copy into.
        let capacity = self.identity.capacity;
        let least = u128::from(capacity.0) + u128::from(superblock.0) * 3;
        if u128::from(self.usable_capacity().0) < least {
            let reason = format!(
                "{} of NAND less the reserved blocks leave {} for {} of user data; garbage \
                 collection needs 3 superblocks of {} more than that",
                self.raw_capacity(),
                self.usable_capacity(),
                capacity,
                superblock.exact(),
            );
            let mut keys = vec!["identity.capacity", "nand.blocks_reserved_per_plane"];
            keys.extend(SHAPE);
            return Some((keys, reason));
        }
        self.impossible_policy().map(|(key, reason)| (vec![key], reason))
    }

    /// What garbage collection and write buffer need of the space that there is.
    fn impossible_policy(&self) -> Option<(&'static str, String)> {
        let (superblock, capacity) = (self.superblock_size(), self.identity.capacity);
        let spare_superblocks = (self.usable_capacity().0 - capacity.0) / superblock.0;
        let (low, high) = (self.gc.free_low, self.gc.free_high);
        if low < 2 || u64::from(low) >= spare_superblocks {
            let reason =
                format!("{low} free superblocks is not between 2 and {}", spare_superblocks - 1);
            return Some(("gc.free_low", reason));
        }
        if high < low || u64::from(high) >= spare_superblocks {
            let most = spare_superblocks - 1;
            let reason = format!("{high} free superblocks is not between free_low and {most}");
            return Some(("gc.free_high", reason));
        }
        if self.gc.quantum == 0 || self.gc.quantum > 1 << 20 {
            let reason = format!("{} pages is not between 1 and 2^20", self.gc.quantum);
            return Some(("gc.quantum", reason));
        }
        let (size, program) = (self.write_buffer.size, self.program_size());
        if size < program * 2 || size > BUFFER_MAX {
            let reason = format!(
                "{} is not between two NAND programs ({}) and {}",
                size.exact(),
                (program * 2).exact(),
                BUFFER_MAX.exact()
            );
            return Some(("write_buffer.size", reason));
        }
        None
    }
}

/// A profile file's values, each key with the place that it was read from.
#[derive(Debug)]
pub(crate) struct ProfileFile {
    file: String,
    pub(crate) inherits: Option<String>,
    values: toml::Table,
    places: BTreeMap<String, Place>,
}

#[derive(Debug, Clone)]
struct Place {
    file: String,
    line: usize,
}

impl ProfileFile {
    /// Reads one file's text; keys are not judged yet.
    pub(crate) fn parse(file: &str, text: &str) -> Result<Self, ProfileError> {
        let syntax = |line, message: &str| ProfileError::Syntax {
            file: file.to_owned(),
            line,
            message: message.to_owned(),
        };
        let at = |error: toml::de::Error| {
            let start = error.span().map_or(0, |span| span.start);
            syntax(line_of(text, start), error.message())
        };
        let mut values: toml::Table = toml::from_str(text).map_err(at)?;
        let mut places = BTreeMap::new();
        let tables = DeTable::parse(text).map_err(at)?;
        for (key, value) in tables.get_ref() {
            let line = line_of(text, key.span().start);
            places.insert(key.get_ref().to_string(), Place { file: file.to_owned(), line });
            let DeValue::Table(section) = value.get_ref() else {
                continue;
            };
            for inner in section.keys() {
                let path = format!("{}.{}", key.get_ref(), inner.get_ref());
                let line = line_of(text, inner.span().start);
                places.insert(path, Place { file: file.to_owned(), line });
            }
        }
        let inherits = match values.remove("inherits") {
            None => None,
            Some(toml::Value::String(name)) => Some(name),
            Some(other) => {
                let line = places["inherits"].line;
                let message = format!("'inherits' takes a profile's name, not {other}");
                return Err(syntax(line, &message));
            }
        };
        Ok(Self { file: file.to_owned(), inherits, values, places })
    }

    /// The file, for messages.
    pub(crate) fn name(&self) -> &str {
        &self.file
    }

    /// This file's values, and the base's where this file is silent.
    pub(crate) fn over(self, mut base: Self) -> Self {
        for (section, value) in self.values {
            match (base.values.get_mut(&section), value) {
                (Some(toml::Value::Table(below)), toml::Value::Table(above)) => below.extend(above),
                (_, value) => drop(base.values.insert(section, value)),
            }
        }
        base.places.extend(self.places);
        Self { file: self.file, inherits: base.inherits, ..base }
    }

    /// The profile, every key known and present, and the drive able to work.
    pub(crate) fn check(self) -> Result<Profile, ProfileError> {
        let Self { file, values, places, .. } = self;
        let place_of = |path: &str| {
            places.get(path).cloned().unwrap_or_else(|| Place { file: file.clone(), line: 1 })
        };
        let profile: Profile = serde_path_to_error::deserialize(values).map_err(|error| {
            let path = error.path().to_string();
            let Place { file, line } = place_of(&path);
            ProfileError::Syntax {
                file,
                line,
                message: format!("{}: {}", path.trim_start_matches('.'), error.inner().message()),
            }
        })?;
        if let Some((keys, reason)) = profile.impossibility() {
            // The user's own file is to blame rather than the one that it inherits from.
            let is_own = |key: &&&str| place_of(key).file == file;
            let key = keys.iter().find(is_own).copied().unwrap_or(keys[0]);
            let Place { file, line } = place_of(key);
            return Err(ProfileError::Impossible { file, line, key, reason });
        }
        Ok(profile)
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

/// Why a profile cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// No catalogue entry has this name.
    #[error(
        "no simulated drive is called '{name}'; {}`writecliff drives` lists them all, and \
         sim:PATH.toml loads your own",
        if nearest.is_empty() { String::new() } else { format!("did you mean {}? ", nearest.join(" or ")) }
    )]
    Unknown {
        /// The name asked for.
        name: String,
        /// Catalogue names that are spelled alike, nearest first.
        nearest: Vec<String>,
    },
    /// The file cannot be read.
    #[error("cannot read the drive profile {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// Not TOML, an unknown or missing key, or a value of the wrong kind.
    #[error("{file}:{line}: {message}")]
    Syntax {
        /// The file.
        file: String,
        /// The line in it.
        line: usize,
        /// What the parser found and what it expected.
        message: String,
    },
    /// A drive that could not work.
    #[error("{file}:{line}: '{key}' makes a drive that cannot work: {reason}")]
    Impossible {
        /// The file that says it.
        file: String,
        /// The line in it.
        line: usize,
        /// The key.
        key: &'static str,
        /// What cannot work and what would.
        reason: String,
    },
    /// Profiles that inherit from each other.
    #[error("{file}: inherits from itself by way of '{parent}'; break the circle")]
    InheritsItself {
        /// The file that was loaded.
        file: String,
        /// The parent that closes the circle.
        parent: String,
    },
}
