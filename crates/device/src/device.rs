//! The one trait of the product, and what a device says of itself.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    Bytes, Completion, DeviceTime, Durability, Encryption, Energy, ErrorKind, Held, Io, Nanos,
    Power, PrepareWatch, Purge, PurgeOutcome, Stamping, Temperature,
};

/// A drive, real or simulated, and the clock it is measured by.
///
/// One thread owns a device. It keeps I/Os in flight with [`submit`](Self::submit), collects them
/// with [`reap`](Self::reap), and never asks any other clock than [`now`](Self::now).
pub trait Device {
    /// Identity, capacity and abilities; fixed for the device's life.
    fn info(&self) -> &DeviceInfo;

    /// The device's clock: virtual for a simulated drive, monotonic for a real one.
    fn now(&self) -> DeviceTime;

    /// Hands the device a batch of I/Os, in order. An implementation may hand the last of them to
    /// the hardware at the start of the next [`reap`](Self::reap); the service time is counted
    /// from that moment.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`] and [`DeviceError::Misaligned`] before anything of the batch is
    /// submitted; otherwise the device cannot go on.
    ///
    /// # Panics
    /// If more than [`DeviceInfo::queue_depth_max`] I/Os would be in flight.
    fn submit(&mut self, batch: &[Io]) -> Result<(), DeviceError>;

    /// Tells which I/Os will be submitted next, so that a device can make itself ready; nothing
    /// follows from it but speed, and an I/O need not have been announced.
    fn announce(&mut self, upcoming: &[Io]) {
        let _ = upcoming;
    }

    /// Waits, or moves virtual time, until at least one I/O completes or `until` passes, and
    /// appends what has completed to `done` in order of completion. With nothing in flight this
    /// is how to idle: it returns when the clock has reached `until`.
    ///
    /// # Errors
    /// Only if the device cannot go on; a failed I/O is a completion with
    /// [`Status::Failed`](crate::Status::Failed).
    fn reap(&mut self, until: DeviceTime, done: &mut Vec<Completion>) -> Result<(), DeviceError>;

    /// Brings the whole drive to its fresh state. Nothing may be in flight. While a real drive is
    /// at it, `watch` is asked several times a second whether to go on, and told the share done.
    ///
    /// # Errors
    /// [`DeviceError::PurgeUnsupported`] if `how` is not in [`DeviceInfo::purges`];
    /// [`DeviceError::PurgeStopped`] if `watch` broke off; [`DeviceError::PurgeFailed`] if the drive
    /// did not do it and can go on all the same; otherwise the device cannot go on.
    ///
    /// # Panics
    /// If it is [encrypted](Self::encrypt) by software: a purge is of the drive itself.
    fn purge(&mut self, how: Purge, watch: PrepareWatch<'_>) -> Result<PurgeOutcome, DeviceError>;

    /// Puts software encryption between the host and the drive, or takes away what is there. Nothing
    /// may be in flight. From the first call on [`Telemetry::processor`] is told.
    ///
    /// # Errors
    /// [`DeviceError::NoEncryption`] if there is none to be had: then there is none, and the drive can
    /// go on; otherwise it cannot.
    fn encrypt(&mut self, with: Option<&Encryption>) -> Result<(), DeviceError> {
        with.map_or(Ok(()), |_| Err(self.info().no_encryption()))
    }

    /// Makes itself ready for a log that is written from its start on; nothing may be in flight. Gives how
    /// many writes are to be kept in flight, which is more than there are committers where these are
    /// threads that take one after the other: none of them sleeps then between two. `None` if there is no
    /// such log here. Asks `watch` now and then where it takes long.
    ///
    /// # Errors
    /// If a file system cannot do it, or `watch` broke it off.
    fn prepare_log(
        &mut self,
        log: LogWrites,
        _watch: PrepareWatch<'_>,
    ) -> Result<Option<usize>, DeviceError> {
        Ok(Some(log.committers))
    }

    /// What the drive says of itself now; every field that it does not know is `None`. Never waits
    /// for the drive: what it has not told yet is not known.
    fn telemetry(&mut self) -> Telemetry;

    /// The same, with all that the drive only tells when it is asked by a command of its own. Waits
    /// for it, a few milliseconds mostly and some seconds at most; nothing may be in flight.
    fn full_telemetry(&mut self) -> Telemetry {
        self.telemetry()
    }

    /// From now on a write with a [pass](Io::stamp) writes stamped blocks, and a read with one looks
    /// at what its blocks hold; `false` if the device keeps nothing that could be looked at. Nobody
    /// may write where such a read is in flight, or read where such a write is.
    fn stamp(&mut self, stamping: Stamping) -> bool {
        let _ = stamping;
        false
    }

    /// Appends what was found by the reads with a pass that were reaped since this was asked last,
    /// and did not fail: block after block, in the order of their completions.
    fn take_held(&mut self, held: &mut Vec<Held>) {
        let _ = held;
    }

    /// The I/Os in flight that were submitted before `before`, oldest first. A simulated drive
    /// answers everything in its own time and need not tell.
    fn in_flight_since(&self, before: DeviceTime) -> Vec<InFlight> {
        let _ = before;
        Vec::new()
    }

    /// Further ways into it, for loads that one thread cannot supply; `None` if there is only this one,
    /// as of a simulated drive.
    fn lanes(&mut self) -> Option<&mut dyn Lanes> {
        None
    }

    /// What the system has not given back yet, and will keep this process from ending until it
    /// does; `None` if there is nothing.
    fn held_by_system(&self) -> Option<String> {
        None
    }
}

/// What a file is before a log is written to it: a file system has more or less to write of it with each
/// commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// Written before: its space and its size stay what they are.
    #[default]
    Overwritten,
    /// Its space is there (`fallocate`), and was never written.
    Preallocated,
    /// Empty: it grows with each write.
    Appended,
}

/// How a log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogWrites {
    /// What a file is before; a drive is as it is.
    pub layout: Layout,
    /// When a write is complete.
    pub durability: Durability,
    /// How many are written at once.
    pub committers: usize,
    /// Whether a file is what it was before each time that its beginning is written: a log that goes round. Not so
    /// what is written in any order.
    pub begins_anew: bool,
}

/// A drive that several threads can keep busy at once.
pub trait Lanes {
    /// Queues that the drive itself has: more threads than that get in each other's way.
    fn hardware_queues(&self) -> usize;

    /// A way into the drive for one more thread: a device that reads, writes and trims the same data by
    /// the same clock, takes so many I/Os at once, and is closed when it is dropped. It can be neither
    /// purged nor encrypted, and neither can the drive while there is one. What its thread computes and
    /// waits for is in the drive's own [`Telemetry::host`] once the lane was asked for its telemetry.
    ///
    /// # Errors
    /// If the system does not have what it takes.
    fn open(&mut self, queue_depth: usize) -> Result<Box<dyn Device + Send>, DeviceError>;
}

/// An I/O that was submitted and has not completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InFlight {
    /// The I/O.
    pub io: Io,
    /// When the device was handed it.
    pub submitted: DeviceTime,
}

/// Whether results come from hardware or from a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceKind {
    /// A model of a drive on a virtual clock.
    Simulated,
    /// A block device of this machine.
    BlockDevice,
    /// A regular file, standing in for a drive.
    File,
    /// A file of this program's own in a directory of a mounted file system, whose type is the first of
    /// [`DeviceInfo::stands_on`].
    Directory,
    /// No drive: everything is done at once, by the real clock.
    Null,
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Simulated => "simulated drive",
            Self::BlockDevice => "block device",
            Self::File => "file",
            Self::Directory => "file in a directory",
            Self::Null => "no drive",
        })
    }
}

/// Identity, capacity and abilities of a device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// Where it is: `sim:NAME`, or the resolved path.
    pub address: String,
    /// Real or simulated.
    pub kind: DeviceKind,
    /// The maker's model name; the address where there is none.
    pub model: String,
    /// Serial number, if the device has one.
    pub serial: Option<String>,
    /// The name that it has whatever path leads to it (EUI-64, NGUID, page 83h, a mapping's UUID), if
    /// it tells.
    #[serde(default)]
    pub world_wide_name: Option<String>,
    /// The drives, or the file, below a partition, volume, array or loop device.
    #[serde(default)]
    pub stands_on: Vec<String>,
    /// Firmware revision, if the device tells.
    pub firmware: Option<String>,
    /// Bytes that a host can address.
    pub capacity: Bytes,
    /// The unit of addressing: offsets and lengths are multiples of it.
    pub lba_size: Bytes,
    /// The unit that the device prefers, at least `lba_size`.
    pub physical_block_size: Bytes,
    /// The longest I/O that [`Device::submit`] takes.
    pub io_size_max: Bytes,
    /// The most I/Os that may be in flight.
    pub queue_depth_max: usize,
    /// Whether the system calls it a spinning disk; loop devices say so too.
    pub rotational: bool,
    /// Whether trim does something.
    pub trim: bool,
    /// The ways of purging it, best first.
    pub purges: Vec<Purge>,
    /// The kernel's I/O scheduler, on a real block device.
    pub scheduler: Option<String>,
    /// How the kernel takes the write cache of a real block device, or of the one below a directory: `write
    /// back` is flushed for whoever asks, `write through` never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<String>,
    /// The link to the host as it came up, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// From here on the drive protects itself by slowing down, if that is known.
    #[serde(default)]
    pub temperature_limit: Option<Temperature>,
    /// What it is built of and what it costs, as far as that is known.
    #[serde(default)]
    pub specification: Specification,
    /// What a simulated drive does not do that real ones do: a test that is about it has no figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_modelled: Vec<Mechanism>,
    /// What it was built of, if it is simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileRecord>,
}

impl DeviceInfo {
    /// A device of which no more is known: it is called by its address, has sectors of 512 bytes, takes 32 I/Os
    /// at once of up to 32 MiB, and nothing that not every device has.
    pub fn of(address: impl Into<String>, kind: DeviceKind, capacity: Bytes) -> Self {
        let address = address.into();
        Self {
            model: address.clone(),
            address,
            kind,
            serial: None,
            world_wide_name: None,
            stands_on: Vec::new(),
            firmware: None,
            capacity,
            lba_size: Bytes(512),
            physical_block_size: Bytes(512),
            io_size_max: Bytes::from_mib(32),
            queue_depth_max: 32,
            rotational: false,
            trim: false,
            purges: Vec::new(),
            scheduler: None,
            write_cache: None,
            link: None,
            temperature_limit: None,
            specification: Specification::default(),
            not_modelled: Vec::new(),
            profile: None,
        }
    }

    /// Why a device that is no drive of its own cannot be encrypted.
    pub fn no_encryption(&self) -> DeviceError {
        let why = match self.kind {
            DeviceKind::File => {
                "it is a file, and dm-crypt maps block devices (a loop device is one)"
            }
            DeviceKind::Directory => "it is a file in a directory",
            DeviceKind::Null => "it is no drive",
            DeviceKind::Simulated | DeviceKind::BlockDevice => "nothing here can do that",
        };
        DeviceError::NoEncryption { address: self.address.clone(), why: why.to_owned() }
    }

    /// How a mount that sends no flushes says so there.
    pub const WITHOUT_BARRIERS: &str = "without barriers";

    /// How a file says so in [`DeviceInfo::stands_on`]; its path follows.
    pub const FILE_BELOW: &str = "the file ";

    /// Whether a file is what keeps the data: it is one itself, or stands on one.
    pub fn is_on_a_file(&self) -> bool {
        let is_file = |below: &String| below.starts_with(Self::FILE_BELOW);
        self.kind == DeviceKind::File || self.stands_on.iter().any(is_file)
    }
}

/// Something that drives do and that a model of one may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Mechanism {
    /// States of less power, which take time to wake from.
    Sleep,
    /// Becoming warm.
    Heat,
    /// Memory for only a part of the map.
    MapMemory,
    /// What it draws.
    Power,
    /// Garbage collection, which no hard disk does.
    Collection,
    /// Time that a TRIM takes beyond that of a command.
    TrimTime,
    /// What a flush takes beyond the programs of the data.
    FlushTime,
}

impl fmt::Display for Mechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sleep => "sleep to wake up from",
            Self::Heat => "heat",
            Self::MapMemory => "map that is larger than its memory",
            Self::Power => "power draw",
            Self::Collection => "garbage collection",
            Self::TrimTime => "time that a TRIM takes",
            Self::FlushTime => "time that a flush takes for the map",
        })
    }
}

/// The link between a drive and its host.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// What was agreed on, in Gb/s; of PCIe in GT/s of a lane.
    pub now_gbps: Option<f64>,
    /// The fastest that the drive can.
    pub best_gbps: f64,
    /// Lanes in use, of PCIe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lanes_now: Option<u8>,
    /// Lanes that the drive has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lanes_best: Option<u8>,
}

impl Link {
    /// Whether it came up slower or narrower than the drive can.
    pub fn is_reduced(&self) -> bool {
        self.now_gbps.is_some_and(|now| now < self.best_gbps)
            || self.lanes_now.zip(self.lanes_best).is_some_and(|(now, best)| now < best)
    }
}

/// `3 Gb/s of 6`, `8 GT/s x 2 of 16 x 4`; only the first half where that is all.
impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = if self.lanes_best.is_some() { "GT/s" } else { "Gb/s" };
        let lanes = |lanes: Option<u8>| lanes.map_or_else(String::new, |n| format!(" x {n}"));
        let Some(now) = self.now_gbps else {
            return write!(f, "{} {unit} at best{}", self.best_gbps, lanes(self.lanes_best));
        };
        write!(f, "{now} {unit}{}", lanes(self.lanes_now))?;
        match self.is_reduced() {
            true => write!(f, " of {}{}", self.best_gbps, lanes(self.lanes_best)),
            false => Ok(()),
        }
    }
}

/// What a simulated drive was built of: all that is needed to build it again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileRecord {
    /// The drive of the catalogue that it is, or that it was made from; `None` if it was described
    /// from scratch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catalogue: Option<String>,
    /// The keys of the profile in which it differs from that, with their values.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub changes: Map<String, Value>,
    /// SHA-256 of `values` as JSON without spaces, keys in alphabetical order; without `security`, if
    /// that has no `page_time`: results do not follow from what a drive says of its secrecy.
    pub sha256: String,
    /// Every key of the profile with its value, section by section.
    pub values: Map<String, Value>,
}

/// What a data sheet or a price list says of a drive; `None` for all that nobody told.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Specification {
    /// 2.5", mSATA, M.2, ...
    pub form_factor: Option<String>,
    /// When it was first sold.
    pub released: Option<String>,
    /// The controller chip.
    pub controller: Option<String>,
    /// RAM on the board.
    pub dram: Option<Bytes>,
    /// The NAND: maker, process, cell type.
    pub nand: Option<String>,
    /// Packages × dies, as a review lists them.
    pub nand_configuration: Option<String>,
    /// All NAND on the board.
    pub nand_capacity: Option<Bytes>,
    /// Host writes that the maker promises.
    pub rated_writes: Option<Bytes>,
    /// What it encrypts by itself, and how it is locked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_encryption: Option<String>,
    /// A price in US dollars.
    pub price_usd: Option<f64>,
    /// When and where the price was asked.
    pub price_of: Option<String>,
}

impl Specification {
    /// The spare area that a drive of this capacity has from the factory: the NAND on the board
    /// beyond the capacity, as a share of the capacity. `None` if its NAND is not known, or if it has
    /// less, as a drive that compresses may.
    pub fn spare_area(&self, capacity: Bytes) -> Option<f64> {
        let spare = self.nand_capacity?.0 as f64 / capacity.0 as f64 - 1.0;
        (spare >= 0.0).then_some(spare)
    }
}

/// What a drive says of itself. Counters count from the device's first power-on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Telemetry {
    /// Bytes that hosts have written.
    pub host_written: Option<Bytes>,
    /// Bytes programmed into NAND, the host's and the drive's own.
    pub nand_written: Option<Bytes>,
    /// Blocks erased and ready to be written, in the unit that the drive allocates.
    pub free_blocks: Option<u64>,
    /// Erase operations, in the same unit.
    pub erases: Option<u64>,
    /// Energy that it has drawn.
    pub energy: Option<Energy>,
    /// How warm it is.
    pub temperature: Option<Temperature>,
    /// Time that it has kept commands waiting because it was too warm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled: Option<Nanos>,
    /// Share of its rated erases that is used up, in thousandths; above 1000 it is worn out.
    pub wear_permille: Option<u64>,
    /// Blocks taken out of use because they wore out, in the unit of `free_blocks`.
    pub retired_blocks: Option<u64>,
    /// Logical pages whose acknowledged data it has lost, in a power cut or with a die.
    pub lost_pages: Option<u64>,
    /// Dies of a simulated drive that have stopped working, if any have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_dies: Option<u64>,
    /// How far an array of simulated drives is with a member that is being rebuilt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuild: Option<Rebuilding>,
    /// What the system counts, if the device is a real one.
    #[serde(default)]
    pub host: Option<HostCounters>,
    /// Processor time of the host, where [encryption](Device::encrypt) is looked at: of a real one on
    /// everything, since the kernel encrypts in threads of its own; of a model on encryption.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor: Option<Nanos>,
    /// What a real drive counts, where it was asked by a command of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnCounters>,
}

/// A member of an array that gets back, beside the load, what it should have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rebuilding {
    /// The member, counted from 0.
    pub member: u32,
    /// Bytes of it that are there again.
    pub done: Bytes,
    /// Bytes that are to be.
    pub of: Bytes,
    /// How long it has taken so far, or took, if all are there.
    pub time: Nanos,
}

impl Rebuilding {
    /// Whether it is all there again.
    pub fn is_complete(&self) -> bool {
        self.done == self.of
    }
}

/// What a real drive counts of itself, beside what it wrote. A count that it does not keep is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct OwnCounters {
    /// The coarsest unit of [`Telemetry::host_written`] and [`Telemetry::nand_written`]: a difference
    /// of few units is no measurement.
    pub written_unit: Bytes,
    /// Spare blocks left, in per cent.
    pub spare_percent: Option<u8>,
    /// Data that it could not give back.
    pub media_errors: Option<u64>,
    /// How often its power went without a word.
    pub unsafe_shutdowns: Option<u64>,
    /// Minutes in which it was warmer than its limits, and slowed down.
    pub throttled_minutes: Option<u64>,
}

/// What the system that a real device hangs on counts. Only differences mean anything: the
/// counters begin whenever the system, the thread or the device's number did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCounters {
    /// Bytes that anybody has read from the whole disk; `None` for a file, and where the system
    /// does not count.
    pub read: Option<Bytes>,
    /// Bytes that anybody has written to the whole disk; `None` as for `read`.
    pub written: Option<Bytes>,
    /// Processor time of the threads that measure, without what they spent asking for completions that
    /// had not come.
    pub cpu: Nanos,
    /// Time that the machine has slept since it was booted.
    pub suspended: Nanos,
    /// Time that the measuring thread was kept from running while I/Os were in flight: stopped,
    /// starved of the processor, or in a virtual machine that stood still.
    #[serde(default)]
    pub held_up: Nanos,
}

impl HostCounters {
    /// Bytes that anybody has read and written since `earlier`; `None` if the system does not
    /// count them.
    pub fn transferred_since(&self, earlier: &Self) -> Option<Bytes> {
        let read = self.read?.0.checked_sub(earlier.read?.0)?;
        let written = self.written?.0.checked_sub(earlier.written?.0)?;
        Some(Bytes(read + written))
    }
}

impl Telemetry {
    /// Write amplification since `earlier`: NAND writes per host write; `None` if the drive does
    /// not count them or nothing was written.
    pub fn write_amplification_since(&self, earlier: &Self) -> Option<f64> {
        let host = self.host_written?.0.checked_sub(earlier.host_written?.0)?;
        let nand = self.nand_written_since(earlier)?;
        (host > 0).then(|| nand.0 as f64 / host as f64)
    }

    /// As [`write_amplification_since`](Self::write_amplification_since); `None` too where a real drive
    /// counts in units so coarse that the figure would be wrong by more than 2 %.
    pub fn measured_write_amplification_since(&self, earlier: &Self) -> Option<f64> {
        const UNITS_MIN: u64 = 100;
        let unit = self.own.map_or(0, |own| own.written_unit.0);
        let host = self.host_written?.0.checked_sub(earlier.host_written?.0)?;
        (host >= UNITS_MIN * unit).then(|| self.write_amplification_since(earlier)).flatten()
    }

    /// Bytes programmed into NAND since `earlier`; `None` if the drive does not count them.
    pub fn nand_written_since(&self, earlier: &Self) -> Option<Bytes> {
        self.nand_written?.0.checked_sub(earlier.nand_written?.0).map(Bytes)
    }

    /// Processor time of the host since `earlier`; `None` where nobody asked for it.
    pub fn processor_since(&self, earlier: &Self) -> Option<Nanos> {
        self.processor?.0.checked_sub(earlier.processor?.0).map(Nanos)
    }

    /// Time that it kept commands waiting since `earlier` because it was too warm; `None` if it does not
    /// tell.
    pub fn throttled_since(&self, earlier: &Self) -> Option<Nanos> {
        self.throttled?.0.checked_sub(earlier.throttled?.0).map(Nanos)
    }

    /// Mean power drawn in the `span` since `earlier`; `None` if the drive does not tell.
    pub fn power_since(&self, earlier: &Self, span: Nanos) -> Option<Power> {
        let energy = self.energy?.0.checked_sub(earlier.energy?.0)?;
        Some(Energy(energy).mean_over(span))
    }
}

/// Why a device cannot do what was asked, or cannot go on at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// An I/O reaches past the end of the device.
    #[error(
        "{:?} of {} at offset {} reaches past the device's end at {}; keep to its capacity",
        io.operation, io.length.exact(), io.offset.0, capacity.0
    )]
    OutOfRange {
        /// The I/O.
        io: Io,
        /// Where the device ends.
        capacity: Bytes,
    },
    /// An I/O that is empty, too long, or not a multiple of the LBA size.
    #[error(
        "{:?} of {} at offset {} does not fit the device: use multiples of {} up to {}",
        io.operation, io.length.exact(), io.offset.0, lba_size.exact(), io_size_max.exact()
    )]
    Misaligned {
        /// The I/O.
        io: Io,
        /// The unit of addressing.
        lba_size: Bytes,
        /// The longest I/O.
        io_size_max: Bytes,
    },
    /// The device has no such purge.
    #[error("{address} has no purge called {how}; it has {}", Purge::names(supported))]
    PurgeUnsupported {
        /// The device.
        address: String,
        /// What was asked.
        how: Purge,
        /// What it can do.
        supported: Vec<Purge>,
    },
    /// Somebody else uses the device.
    #[error(
        "{} is in use: {by}{}", path.display(),
        if *wrote { "; nothing more was written" } else { "; nothing was written" }
    )]
    InUse {
        /// The device.
        path: PathBuf,
        /// By whom.
        by: String,
        /// Whether anything had been written to it before that was found.
        wrote: bool,
    },
    /// The caller broke the purge off.
    #[error(
        "the purge of {address} was broken off; {}",
        match goes_on {
            false => "part of it may hold data still".to_owned(),
            true => format!(
                "the drive goes on with it by itself: `writecliff drives {address}` tells how far it \
                 is, `writecliff purge {address}` waits for it"
            ),
        }
    )]
    PurgeStopped {
        /// The device.
        address: String,
        /// Whether it is under way in the drive all the same.
        goes_on: bool,
    },
    /// The drive did not do the purge, but is there and can go on.
    #[error(
        "{address} failed its purge ({how}){}: {source}",
        offset.map_or_else(String::new, |offset| format!(" at offset {}", offset.0))
    )]
    PurgeFailed {
        /// The device.
        address: String,
        /// What was asked.
        how: Purge,
        /// The first byte of what failed; what is before it was purged. `None` if it is all or
        /// nothing.
        offset: Option<Bytes>,
        /// The system's error.
        source: std::io::Error,
    },
    /// The device cannot be encrypted by software here.
    #[error("{address} cannot be encrypted by software here: {why}")]
    NoEncryption {
        /// The device.
        address: String,
        /// What is missing.
        why: String,
    },
    /// The drive is at its purge and does not get on with it.
    #[error(
        "{address} has stood at {percent} % of its purge for {since}; it goes on by itself, if at all: \
         `writecliff drives {address}` tells how far it is, `writecliff purge {address}` waits again"
    )]
    PurgeStalled {
        /// The device.
        address: String,
        /// How far it is.
        percent: u32,
        /// How long it has been that far.
        since: Nanos,
    },
    /// A password that a purge needed could not be taken away.
    #[error(
        "{address} keeps the password 'writecliff' that was set for its secure erase ({source}); \
         switch its power off and on, then `writecliff purge {address}` takes it away"
    )]
    PasswordLeft {
        /// The device.
        address: String,
        /// What the drive said.
        source: std::io::Error,
    },
    /// The drive no longer answers to the system.
    #[error(
        "{address} is gone: {evidence}. It was unplugged, lost its power, or was dropped by its \
         driver (the kernel's log says which); what was recorded until then, if anything, is kept"
    )]
    Gone {
        /// The device.
        address: String,
        /// What shows it.
        evidence: String,
    },
    /// It has another size than when it was opened.
    #[error(
        "{address} was resized: it has {} now, and had {}. Figures of two sizes are of no drive: begin \
         anew; what was recorded until then, if anything, is kept", now.told_from(*was), was.told_from(*now)
    )]
    Resized {
        /// The device.
        address: String,
        /// Its size when it was opened.
        was: Bytes,
        /// Its size now.
        now: Bytes,
    },
    /// Somebody has switched it to read-only.
    #[error(
        "{address} was switched to read-only while it was used (`blockdev --setro`, a switch on the \
         card, or the drive itself at its end); what was recorded until then, if anything, is kept"
    )]
    WriteProtected {
        /// The device.
        address: String,
    },
    /// What it takes its space from is full.
    #[error(
        "{address} takes no more data: {} ({source}); what was recorded until then, if anything, is kept",
        match kind {
            DeviceKind::File => "the file system that it is on is full; make room there, or use a \
                                 smaller file",
            _ => "what it takes its space from (a pool, a file system) is full; make room there",
        }
    )]
    NoSpace {
        /// The device.
        address: String,
        /// A file, or a volume.
        kind: DeviceKind,
        /// The system's error: no space, or a quota used up.
        source: std::io::Error,
    },
    /// The operating system refused or failed a step that the device cannot go on without.
    #[error(
        "{}: {doing} failed: {source}; {}", path.display(),
        crate::error_advice(source.raw_os_error().unwrap_or(0))
    )]
    System {
        /// The device.
        path: PathBuf,
        /// The step.
        doing: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
}

impl DeviceError {
    /// What it asks of whoever used the device. Only what was found before anything was written is
    /// a refusal.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::InUse { wrote: false, .. } => ErrorKind::Refused,
            Self::PurgeUnsupported { .. } => ErrorKind::Usage,
            Self::PurgeStopped { .. } => ErrorKind::Interrupted,
            Self::InUse { .. }
            | Self::OutOfRange { .. }
            | Self::Misaligned { .. }
            | Self::PurgeFailed { .. }
            | Self::NoEncryption { .. }
            | Self::PurgeStalled { .. }
            | Self::PasswordLeft { .. }
            | Self::Gone { .. }
            | Self::Resized { .. }
            | Self::WriteProtected { .. }
            | Self::NoSpace { .. }
            | Self::System { .. } => ErrorKind::Failed,
        }
    }
}

impl DeviceInfo {
    /// Checks one I/O against the device's range and alignment.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`] or [`DeviceError::Misaligned`].
    pub fn check(&self, io: &Io) -> Result<(), DeviceError> {
        if io.operation == crate::Operation::Flush {
            return Ok(());
        }
        let too_long = io.operation != crate::Operation::Trim && io.length.0 > self.io_size_max.0;
        // The LBA size is a power of two: one look at both, and no division.
        let is_misaligned = (io.offset.0 | io.length.0) & self.lba_size.0.wrapping_sub(1) != 0;
        if io.length.0 == 0 || too_long || is_misaligned {
            return Err(DeviceError::Misaligned {
                io: *io,
                lba_size: self.lba_size,
                io_size_max: self.io_size_max,
            });
        }
        match io.offset.0.checked_add(io.length.0) {
            Some(end) if end <= self.capacity.0 => Ok(()),
            _ => Err(DeviceError::OutOfRange { io: *io, capacity: self.capacity }),
        }
    }
}
