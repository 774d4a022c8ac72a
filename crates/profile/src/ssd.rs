//! What a simulated solid-state drive is built of, section by section.

use serde::{Deserialize, Serialize};
use writecliff_device::{
    Bytes, Energy, Mechanism, Nanos, Power, ProfileRecord, Specification, Temperature, Throughput,
};

use crate::{Identity, Link, Origin, ProgramTime, Security};

/// A simulated solid-state drive: every number that its behaviour follows from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SsdProfile {
    /// What the box says.
    pub identity: Identity,
    /// The connection to the host.
    pub link: Link,
    /// The controller's own work between link and NAND.
    pub firmware: Firmware,
    /// The RAM that completes writes before they are in NAND.
    pub write_buffer: WriteBuffer,
    /// The flash: its shape and its speed.
    pub nand: Nand,
    /// Garbage collection: which block, when, and how much at once.
    pub gc: Gc,
    /// How host addresses find their pages.
    #[serde(default)]
    pub mapping: Mapping,
    /// Blocks written with one bit per cell, for speed.
    #[serde(default)]
    pub slc_buffer: SlcBuffer,
    /// Redundancy across dies.
    #[serde(default)]
    pub parity: Parity,
    /// Writing less than the host sends.
    #[serde(default)]
    pub reduction: Reduction,
    /// Encryption of its own, and how it is locked.
    #[serde(default, skip_serializing_if = "Security::is_none")]
    pub security: Security,
    /// What becomes of a TRIM.
    #[serde(default)]
    pub trim: Trim,
    /// Erase cycles: how many there are, how they are spread, what they cost.
    #[serde(default)]
    pub wear: Wear,
    /// Power drawn and the heat that comes of it.
    #[serde(default)]
    pub power: PowerModel,
    /// A cache in the host's RAM, in front of the drive.
    #[serde(default)]
    pub host_cache: HostCache,
    /// What goes wrong, and when.
    #[serde(default)]
    pub faults: Faults,
    /// Where it comes from; no key of a file.
    #[serde(skip)]
    pub origin: Origin,
}

/// The controller's own work between link and NAND. A *time* keeps it busy and bounds a rate; a
/// *latency* passes in a pipeline and keeps nothing busy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Firmware {
    /// How long a read command keeps the processor: one command at a time.
    pub read_time: Nanos,
    /// How long a write, trim or flush command keeps the processor.
    pub write_time: Nanos,
    /// What a read takes besides, before it reaches the NAND.
    #[serde(default)]
    pub read_latency: Nanos,
    /// What a write, trim or flush takes besides, before its data cross the link.
    #[serde(default)]
    pub write_latency: Nanos,
    /// How long a page of the host (a mapping unit) keeps the data path on its way to native
    /// cells: error correction and map, one page at a time. Zero: never the limit.
    #[serde(default)]
    pub page_time: Nanos,
    /// How long a page that is copied, by garbage collection or out of an SLC buffer, keeps the
    /// same data path. The host's programs wait for the copies that they pay for.
    #[serde(default)]
    pub copy_time: Nanos,
    /// Commands are taken in order: a write that waits for room in the write buffer holds up what comes
    /// behind it, reads as well. Otherwise reads overtake it.
    #[serde(default, skip_serializing_if = "is_not")]
    pub in_order: bool,
    /// Data fetched ahead of reads that follow each other; zero for none.
    #[serde(default)]
    pub read_ahead: Bytes,
}

/// The RAM that completes writes before they are in NAND.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteBuffer {
    /// User data that it holds. Zero: there is none, and a write is complete when it is in NAND.
    pub size: Bytes,
    /// Capacitors bring its content to NAND when the power goes.
    #[serde(default)]
    pub protected: bool,
    /// What a flush takes beyond the programs of the data, if there were any to wait for: changes of the map
    /// are made durable, too. Of a protected buffer all that it takes. Zero: not modelled, or free.
    #[serde(default, skip_serializing_if = "is_no_time")]
    pub flush_time: Nanos,
    /// What a program takes that a forced write waits for, or that a flush ends before it is full, where the
    /// drive does that in a faster way: in cells that hold one bit, or in the lower pages alone. Zero: as any other. What
    /// that costs of the drive's room is not modelled.
    #[serde(default, skip_serializing_if = "is_no_time")]
    pub flush_program_time: Nanos,
    /// It holds sectors: a write of part of a mapping unit is complete before the rest of the unit
    /// has been read, which keeps a die busy all the same.
    #[serde(default)]
    pub merges_later: bool,
}

/// How host addresses find their pages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// One entry per unit, or one per block.
    #[serde(default)]
    pub kind: MappingKind,
    /// What an entry of a page map stands for; a write of less reads the rest and merges.
    #[serde(default = "four_kib")]
    pub unit: Bytes,
    /// RAM for the page map; what does not fit is fetched from NAND on demand. `None`: all of it
    /// is in RAM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<Bytes>,
    /// What entries take that are found there: RAM that the host lends is reached over the link.
    #[serde(default, skip_serializing_if = "is_no_time")]
    pub cache_time: Nanos,
    /// Log blocks of a block map, in superblocks.
    #[serde(default)]
    pub log_blocks: u32,
}

/// Which map a drive keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MappingKind {
    /// Every unit may be anywhere.
    #[default]
    Page,
    /// Whole superblocks are mapped; changes go to log blocks and are merged later.
    Block,
}

impl Default for Mapping {
    fn default() -> Self {
        Self {
            kind: MappingKind::Page,
            unit: four_kib(),
            cache: None,
            cache_time: Nanos::ZERO,
            log_blocks: 0,
        }
    }
}

fn is_no_time(time: &Nanos) -> bool {
    *time == Nanos::ZERO
}

fn four_kib() -> Bytes {
    Bytes::from_kib(4)
}

/// The flash: its shape and its speed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nand {
    /// What the NAND is called.
    pub name: String,
    /// Buses to the dies.
    pub channels: u32,
    /// Dies on each channel.
    pub dies_per_channel: u32,
    /// Planes of a die.
    pub planes: u32,
    /// Planes work together; otherwise one after the other.
    #[serde(default = "yes")]
    pub multi_plane: bool,
    /// Each plane reads by itself; otherwise a die reads one program at a time.
    #[serde(default, skip_serializing_if = "is_not")]
    pub independent_reads: bool,
    /// NAND blocks of a plane.
    pub blocks_per_plane: u32,
    /// Blocks of a plane that hold no user data: firmware, map, replacements.
    pub blocks_reserved_per_plane: u32,
    /// Blocks of the whole drive that are bad from the factory, at random places.
    #[serde(default)]
    pub factory_bad_blocks: u32,
    /// Pages of a block.
    pub pages_per_block: u32,
    /// User bytes of a page.
    pub page_size: Bytes,
    /// Array to register.
    pub read_time: Nanos,
    /// Register to array: one time, or those of the lower, (middle and) upper pages in turn.
    pub program_time: ProgramTime,
    /// One block.
    pub erase_time: Nanos,
    /// Rate of one channel.
    pub channel_throughput: Throughput,
    /// A read interrupts a running program or erase and waits only so long. `None`: it waits for
    /// its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend_time: Option<Nanos>,
    /// A program is a row of pulses, and is interrupted between them only: a read waits for the end of the one
    /// that runs, which takes so long. `None`: it waits for `suspend_time` at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_pulse_time: Option<Nanos>,
    /// The same of an erase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erase_pulse_time: Option<Nanos>,
}

fn yes() -> bool {
    true
}

fn is_not(key: &bool) -> bool {
    !key
}

/// Garbage collection: which block, when, and how much at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gc {
    /// Which superblock is collected next.
    #[serde(default)]
    pub victim: Victim,
    /// How many superblocks `victim = "random"` chooses the emptiest of.
    #[serde(default = "one")]
    pub choices: u32,
    /// How many of the superblocks that were filled first `victim = "windowed"` chooses the emptiest of.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub window: u32,
    /// How copying is spread over the host's writes.
    #[serde(default)]
    pub pacing: Pacing,
    /// Low water: collection starts when so few superblocks are free. Proportional and smooth pacing: where
    /// free superblocks settle.
    pub free_low: u32,
    /// High water: collection stops when so many superblocks are free. Proportional and smooth pacing:
    /// collection begins below it.
    pub free_high: u32,
    /// Proportional and smooth pacing: collection begins at so few free superblocks, and goes on up to `free_high`.
    /// `None`: it begins below `free_high`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_start: Option<u32>,
    /// Proportional and smooth pacing: the most pages copied for each page that the host writes, however few
    /// superblocks are free. `None`: no such limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copies_max: Option<u32>,
    /// Proportional and smooth pacing: while a superblock is emptied of which at least so many percent are valid,
    /// a page of the host takes the time of `copies_max` copies, however many are made. `None`: it takes that of
    /// those that are made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub urgent_percent: Option<u32>,
    /// Pages copied in one go: copies that are due wait until they are so many, and then the host's next
    /// program waits for all of them. One, and while writes wait for link or buffer: each is copied as soon
    /// as it is due.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub batch: u32,
    /// Pages (mapping units) copied for each page that the host writes, while collecting; with
    /// proportional pacing it follows from the victim.
    #[serde(default = "one")]
    pub quantum: u32,
    /// Copies read the planes of a program one after the other, those that hold valid pages; otherwise all
    /// planes at once.
    #[serde(default, skip_serializing_if = "is_not")]
    pub reads_by_plane: bool,
    /// Dies that copy at once; zero for all of them.
    #[serde(default)]
    pub copy_dies: u32,
    /// Copies have superblocks of their own, apart from those that the host writes to.
    #[serde(default = "yes")]
    pub separate_copies: bool,
    /// Generations of copies with superblocks of their own: with two, what is copied once is kept apart
    /// from what is copied again.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub generations: u32,
    /// Pages that the host is expected to overwrite soon have superblocks of their own, and so
    /// have copies of them.
    #[serde(default)]
    pub separate_hot: bool,
    /// Collects on its own when nothing was in flight for so long. `None`: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_after: Option<Nanos>,
    /// Free superblocks at which collection in idle time stops.
    #[serde(default)]
    pub idle_free: u32,
}

fn one() -> u32 {
    1
}

fn is_one(count: &u32) -> bool {
    *count == 1
}

/// Which superblock is collected next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Victim {
    /// The one with the fewest valid pages.
    #[default]
    Greedy,
    /// The one that was filled first.
    Fifo,
    /// The one with the fewest valid pages of those that were filled first (Hu and others, 2009).
    Windowed,
    /// The one with the fewest valid pages of a few random ones.
    Random,
    /// The one with the greatest age × (1 − u) / 2u, where u is its share of valid pages.
    CostBenefit,
}

/// How copying is spread over the host's writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pacing {
    /// From low water on each write pays for its share, the more the fewer superblocks are free.
    #[default]
    Eager,
    /// Nothing until low water is reached; then `quantum` for every write up to high water.
    Lazy,
    /// From high water on, what the victim under way makes necessary: as many pages for each page
    /// of the host as it wins back one page with, less above low water and more below it.
    Proportional,
    /// The same, with free space counted in pages instead of whole superblocks, and at the mean price of
    /// the last victims: neither the end of a superblock nor one costly victim is felt.
    Smooth,
}

impl Pacing {
    /// Whether copying follows from the victim, and not from a quantum.
    pub fn is_proportional(self) -> bool {
        matches!(self, Self::Proportional | Self::Smooth)
    }
}

/// Blocks written with one bit per cell, for speed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlcBuffer {
    /// Whether there is one.
    pub kind: SlcKind,
    /// User data that it holds: always (fixed), at most (dynamic).
    #[serde(default)]
    pub size: Bytes,
    /// Bits of a cell otherwise: what a byte in the buffer costs elsewhere.
    #[serde(default)]
    pub bits_per_cell: u32,
    /// Array to register in this mode.
    #[serde(default)]
    pub read_time: Nanos,
    /// Register to array in this mode.
    #[serde(default)]
    pub program_time: Nanos,
    /// One block in this mode.
    #[serde(default)]
    pub erase_time: Nanos,
    /// Emptied when nothing was in flight for so long.
    #[serde(default)]
    pub drain_after: Nanos,
    /// Pages moved out of the buffer for each page that the host writes past it: emptied and
    /// filled again under load. Zero: only when idle.
    #[serde(default)]
    pub drain_quantum: u32,
    /// Dies that copy at once out of the buffer; zero for all of them.
    #[serde(default)]
    pub drain_dies: u32,
    /// Dynamic: superblocks are opened in this mode while more than so many are free.
    #[serde(default)]
    pub free_min: u32,
}

/// What kind of SLC buffer there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlcKind {
    /// None.
    #[default]
    None,
    /// Blocks set aside for it; they are no spare area.
    Fixed,
    /// Whatever is free.
    Dynamic,
}

/// Redundancy across dies.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parity {
    /// Programs of data to one program of parity; zero for none.
    pub data: u32,
}

/// Writing less than the host sends.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reduction {
    /// Compresses what can be compressed.
    #[serde(default)]
    pub compression: bool,
    /// Stores repeated pages once.
    #[serde(default)]
    pub deduplication: bool,
    /// Least share, in percent, that is left of any data.
    #[serde(default)]
    pub stored_percent_min: u32,
}

/// What becomes of a TRIM.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trim {
    /// When and whether pages are forgotten.
    pub kind: TrimKind,
    /// Firmware time for each mapping unit of the range.
    #[serde(default)]
    pub unit_time: Nanos,
    /// Deferred: done when nothing was in flight for so long.
    #[serde(default)]
    pub after: Nanos,
    /// Partial: share of the range, in percent, that is really forgotten.
    #[serde(default)]
    pub share_percent: u32,
}

/// When and whether trimmed pages are forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrimKind {
    /// When the command is complete.
    #[default]
    Immediate,
    /// In idle time, or when they are written again.
    Deferred,
    /// Some at once, the others never.
    Partial,
    /// Never: the drive takes the command and does nothing.
    Ignored,
    /// The drive has no such command: one fails.
    Unsupported,
}

/// Erase cycles: how many there are, how they are spread, what they cost.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wear {
    /// Which free superblock is written next, and whether cold data is moved.
    #[serde(default)]
    pub levelling: Levelling,
    /// Static: cold data is moved when the least worn superblock is more cycles than this behind the mean.
    #[serde(default)]
    pub static_gap: u32,
    /// Static: at most one of so many erases is of such a superblock. `None`: one of two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub static_every: Option<u32>,
    /// Static: what is moved for wear has superblocks of its own, apart from all other copies.
    #[serde(default, skip_serializing_if = "is_not")]
    pub static_apart: bool,
    /// Rated erases of a block; zero for no limit.
    #[serde(default)]
    pub endurance: u32,
    /// How far superblocks' own limits lie around that, in percent.
    #[serde(default)]
    pub spread_percent: u32,
    /// Superblocks in reserve that replace the first ones to wear out.
    #[serde(default)]
    pub replacements: u32,
    /// Reads are repeated so often, on average, when the rated erases are used up.
    #[serde(default)]
    pub retries_worn: u32,
    /// Reads are repeated so often, on average, when data is `retry_age` old.
    #[serde(default)]
    pub retries_aged: u32,
    /// See `retries_aged`; the number grows in proportion to the age.
    #[serde(default)]
    pub retry_age: Nanos,
}

/// How erases are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Levelling {
    /// The superblock freed last is written next.
    None,
    /// The least worn free superblock is written next.
    #[default]
    Dynamic,
    /// The same, and superblocks that fall behind are collected so that they wear too.
    Static,
}

/// Power drawn and the heat that comes of it. All zero: not modelled.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerModel {
    /// Drawn always: controller and RAM with nothing to do and the link awake.
    pub idle: Power,
    /// More than that while commands are in flight or the drive works for itself.
    #[serde(default)]
    pub active: Power,
    /// One page read from the array.
    #[serde(default)]
    pub read: Energy,
    /// One page programmed.
    #[serde(default)]
    pub program: Energy,
    /// One page programmed in SLC mode.
    #[serde(default)]
    pub slc_program: Energy,
    /// One block erased.
    #[serde(default)]
    pub erase: Energy,
    /// 4 KiB over the link.
    #[serde(default)]
    pub transfer: Energy,
    /// Temperature around the drive; zero for no model of heat.
    #[serde(default)]
    pub ambient: Temperature,
    /// Degrees above that for each watt, when settled.
    #[serde(default)]
    pub rise_per_watt: Temperature,
    /// Time in which 63 % of a change has happened.
    #[serde(default)]
    pub time_constant: Nanos,
    /// The drive slows down from here on, and is itself again one degree below; zero for never.
    #[serde(default)]
    pub throttle_at: Temperature,
    /// Best rate of data, either way, while it is too warm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_throughput: Option<Throughput>,
}

/// A cache in the host's RAM, in front of the drive.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostCache {
    /// RAM that it takes; zero for none.
    pub size: Bytes,
    /// Data that may wait in it to be written.
    #[serde(default)]
    pub dirty: Bytes,
    /// What an I/O of one page that it answers takes.
    #[serde(default)]
    pub time: Nanos,
}

/// What goes wrong, and when.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Faults {
    /// Moments, on the drive's clock, at which the power goes and comes back.
    #[serde(default)]
    pub power_cuts: Vec<Nanos>,
    /// What the drive takes to come back, before it has looked at its superblocks.
    #[serde(default)]
    pub recovery_time: Nanos,
    /// The die that stops working.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_die: Option<u32>,
    /// When it does.
    #[serde(default)]
    pub lost_die_at: Nanos,
    /// What the drive really has, if it claims more: behind that its places begin again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub real_capacity: Option<Bytes>,
}

impl SsdProfile {
    /// What a run keeps of it; [`recorded`](crate::recorded) is the way back.
    pub fn record(&self) -> ProfileRecord {
        self.origin.record(self)
    }

    /// Dies of the whole drive.
    pub fn dies(&self) -> u32 {
        self.nand.channels * self.nand.dies_per_channel
    }

    /// What a data sheet says of the drive.
    pub fn specification(&self) -> Specification {
        Specification {
            nand: Some(self.nand.name.clone()),
            nand_capacity: Some(self.raw_capacity()),
            own_encryption: self.security.in_words(),
            ..self.identity.specification()
        }
    }

    /// What it has no keys for, or has not set.
    pub fn not_modelled(&self) -> Vec<Mechanism> {
        let mut lacks = Vec::new();
        lacks.extend(self.link.sleep.is_empty().then_some(Mechanism::Sleep));
        lacks.extend((self.power.ambient == Temperature::default()).then_some(Mechanism::Heat));
        lacks.extend(self.mapping.cache.is_none().then_some(Mechanism::MapMemory));
        lacks.extend((self.power == PowerModel::default()).then_some(Mechanism::Power));
        let trims_for_nothing = self.trim.unit_time == Nanos::ZERO;
        lacks.extend(trims_for_nothing.then_some(Mechanism::TrimTime));
        let WriteBuffer { size, protected, flush_time, flush_program_time, .. } =
            &self.write_buffer;
        let is_timed = *flush_time + *flush_program_time > Nanos::ZERO;
        let flushes_data_only = size.0 > 0 && !protected && !is_timed;
        lacks.extend(flushes_data_only.then_some(Mechanism::FlushTime));
        lacks
    }

    /// Where the drive begins to protect itself from heat, if it does.
    pub fn throttle_at(&self) -> Option<Temperature> {
        Some(self.power.throttle_at).filter(|limit| *limit > Temperature::default())
    }

    /// All NAND, reserved blocks included.
    pub fn raw_capacity(&self) -> Bytes {
        self.superblock_size() * u64::from(self.nand.blocks_per_plane)
    }

    /// NAND that holds host data in its native mode: raw less reserved and bad blocks, parity and
    /// a fixed SLC buffer.
    pub fn usable_capacity(&self) -> Bytes {
        let native = self.superblocks().saturating_sub(self.slc_superblocks());
        self.superblock_data() * u64::from(native)
    }

    /// See [`Specification::spare_area`].
    pub fn spare_area(&self) -> f64 {
        self.specification().spare_area(self.identity.capacity).unwrap_or(0.0)
    }

    /// Bytes of one superblock: a block of every plane of every die.
    pub fn superblock_size(&self) -> Bytes {
        self.program_size() * u64::from(self.programs_per_superblock())
    }

    /// Bytes of one superblock that are not parity.
    pub fn superblock_data(&self) -> Bytes {
        let programs = self.programs_per_superblock();
        let parity = match self.parity.data {
            0 => 0,
            data => programs / (data + 1),
        };
        self.program_size() * u64::from(programs - parity)
    }

    /// Bytes that one die programs at once: a page of every plane.
    pub fn program_size(&self) -> Bytes {
        self.nand.page_size * u64::from(self.nand.planes)
    }

    /// Superblocks that must be spare: one open for the host, one for copies, as many again for hot
    /// pages that are kept apart, one for a second generation of copies or for what is moved for wear, and one free
    /// to copy into.
    pub fn superblocks_spare_min(&self) -> u32 {
        match (self.gc.separate_hot, self.gc.generations > 1 || self.wear.static_apart) {
            (true, _) => 5,
            (false, true) => 4,
            (false, false) => 3,
        }
    }

    /// Programs that fill a superblock: one a page of every die, all planes at once.
    pub fn programs_per_superblock(&self) -> u32 {
        self.dies() * self.nand.pages_per_block
    }

    /// Superblocks that hold host data, in any mode: as many as the plane with the most bad blocks
    /// can complete. The bad ones lie evenly enough that one plane has twice its share.
    pub fn superblocks(&self) -> u32 {
        let planes = (self.dies() * self.nand.planes).max(1);
        let bad = (self.nand.factory_bad_blocks * 2).div_ceil(planes);
        self.nand.blocks_per_plane.saturating_sub(self.nand.blocks_reserved_per_plane + bad)
    }

    /// Superblocks set aside for a fixed SLC buffer.
    pub fn slc_superblocks(&self) -> u32 {
        match self.slc_buffer.kind {
            SlcKind::Fixed => self.slc_superblocks_max(),
            SlcKind::None | SlcKind::Dynamic => 0,
        }
    }

    /// Superblocks that may be in SLC mode at once.
    pub fn slc_superblocks_max(&self) -> u32 {
        if self.slc_buffer.kind == SlcKind::None {
            return 0;
        }
        let one = self.superblock_data().0 / u64::from(self.slc_buffer.bits_per_cell.max(1));
        self.slc_buffer.size.0.div_ceil(one.max(1)) as u32
    }
}
