//! The simulated SSD: commands in, completions out, on a virtual clock.
//!
//! A write goes through link, firmware and write buffer and is complete; behind the buffer the
//! [`Ftl`] gives it a place and the [`Nand`] keeps the die busy. When the buffer fills faster than
//! NAND empties it, writes wait for it: the write cliff.

#[cfg(test)]
mod check;
mod ftl;
mod nand;
mod superblocks;
mod timeline;
mod write_buffer;

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use writecliff_device::{
    Bytes, Completion, Device, DeviceError, DeviceInfo, DeviceKind, DeviceTime, Io, Operation,
    Purge, PurgeOutcome, Status, Telemetry,
};

use crate::profile::{LBA_SIZE, MAPPING_UNIT, Profile};
use ftl::{Ftl, Lpn};
use nand::Nand;
use timeline::{Bus, Fifo};
use write_buffer::WriteBuffer;

/// A simulated solid-state drive.
#[derive(Debug)]
pub struct Ssd {
    profile: Profile,
    info: DeviceInfo,
    now: DeviceTime,
    firmware: Fifo,
    link: Bus,
    buffer: WriteBuffer,
    ftl: Ftl,
    nand: Nand,
    in_flight: BinaryHeap<Reverse<InFlight>>,
    submitted_count: u64,
    host_written: Bytes,
}

impl Ssd {
    /// The drive of this profile, as it leaves the factory. `address` is how the user named it.
    pub fn new(profile: Profile, address: &str) -> Self {
        Self {
            info: info(&profile, address),
            now: DeviceTime::default(),
            firmware: Fifo::default(),
            link: Bus::default(),
            buffer: WriteBuffer::new((profile.write_buffer.size.0 / MAPPING_UNIT.0) as u32),
            ftl: Ftl::new(&profile),
            nand: Nand::new(&profile),
            in_flight: BinaryHeap::new(),
            submitted_count: 0,
            host_written: Bytes::ZERO,
            profile,
        }
    }

    /// What the drive is built of.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    fn write(&mut self, io: &Io) -> DeviceTime {
        let decoded = self.firmware.serve(self.now, self.profile.firmware.write_time);
        let data = self.profile.link.write_throughput.time_for(io.length);
        let transfer = self.profile.link.command_time + data;
        let arrived = self.link.transfer(self.now, decoded, transfer);
        self.host_written += io.length;

        let mut completed = arrived;
        for (lpn, covered) in pages(io) {
            let mut ready = arrived;
            if covered < MAPPING_UNIT {
                ready = self.read_page(lpn, arrived); // the rest of the page is read and merged
            }
            let admitted = self.buffer.admit(ready);
            self.ftl.write(lpn, admitted, &mut self.nand, &mut self.buffer);
            completed = completed.max(admitted);
        }
        completed
    }

    fn read(&mut self, io: &Io) -> DeviceTime {
        let decoded = self.firmware.serve(self.now, self.profile.firmware.read_time);
        let mut in_ram = decoded;
        for (lpn, _) in pages(io) {
            in_ram = in_ram.max(self.read_page(lpn, decoded));
        }
        let data = self.profile.link.read_throughput.time_for(io.length);
        self.link.transfer(self.now, in_ram, self.profile.link.command_time + data)
    }

    /// Brings one page to RAM; a page without data is answered from the map.
    fn read_page(&mut self, lpn: Lpn, ready: DeviceTime) -> DeviceTime {
        match self.ftl.die_of(lpn) {
            Some(die) => self.nand.read(ready, die, 1),
            None => ready,
        }
    }

    /// Only pages that lie wholly in the range lose their data.
    fn trim(&mut self, io: &Io) -> DeviceTime {
        for (lpn, covered) in pages(io) {
            if covered == MAPPING_UNIT {
                self.ftl.trim(lpn);
            }
        }
        self.control_command()
    }

    fn flush(&mut self) -> DeviceTime {
        let decoded = self.control_command();
        self.ftl.flush(decoded, &mut self.nand, &mut self.buffer);
        self.buffer.drained_at(decoded)
    }

    /// A command without data: firmware and link.
    fn control_command(&mut self) -> DeviceTime {
        let decoded = self.firmware.serve(self.now, self.profile.firmware.write_time);
        self.link.transfer(self.now, decoded, self.profile.link.command_time)
    }
}

impl Device for Ssd {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> DeviceTime {
        self.now
    }

    fn submit(&mut self, batch: &[Io]) -> Result<(), DeviceError> {
        for io in batch {
            self.info.check(io)?;
        }
        let depth = self.in_flight.len() + batch.len();
        assert!(depth <= self.info.queue_depth_max, "{depth} I/Os exceed the queue");
        self.nand.advance(self.now);
        for io in batch {
            let completed = match io.operation {
                Operation::Write => self.write(io),
                Operation::Read => self.read(io),
                Operation::Trim => self.trim(io),
                Operation::Flush => self.flush(),
            };
            let sequence = self.submitted_count;
            self.submitted_count += 1;
            let submitted = self.now;
            self.in_flight.push(Reverse(InFlight { completed, sequence, submitted, io: *io }));
        }
        Ok(())
    }

    fn reap(&mut self, until: DeviceTime, done: &mut Vec<Completion>) -> Result<(), DeviceError> {
        let next = self.in_flight.peek().map_or(DeviceTime::MAX, |Reverse(io)| io.completed);
        self.now = self.now.max(next.min(until));
        while let Some(Reverse(first)) = self.in_flight.peek() {
            if first.completed > self.now {
                break;
            }
            done.push(first.completion());
            self.in_flight.pop();
        }
        Ok(())
    }

    fn purge(&mut self, how: Purge) -> Result<PurgeOutcome, DeviceError> {
        assert!(self.in_flight.is_empty(), "purged with I/Os in flight");
        if how != Purge::SecureErase {
            return Err(DeviceError::PurgeUnsupported {
                address: self.info.address.clone(),
                how,
                supported: self.info.purges.clone(),
            });
        }
        let used = self.ftl.erase_all();
        self.buffer.clear();
        for _ in 0..used {
            self.now = self.now.max(self.nand.erase_superblock(self.now));
        }
        Ok(PurgeOutcome { how, sampled: 0, still_readable: 0 })
    }

    fn telemetry(&mut self) -> Telemetry {
        Telemetry {
            host_written: Some(self.host_written),
            nand_written: Some(self.profile.program_size() * self.nand.counts().programs),
            free_blocks: Some(u64::from(self.ftl.superblocks.free_count())),
            erases: Some(self.ftl.superblocks.erases()),
        }
    }
}

/// An I/O whose end is already known; ordered by that end, then by submission.
#[derive(Debug)]
struct InFlight {
    completed: DeviceTime,
    sequence: u64,
    submitted: DeviceTime,
    io: Io,
}

impl InFlight {
    fn completion(&self) -> Completion {
        let Self { completed, submitted, io, .. } = *self;
        Completion { io, submitted, completed, status: Status::Done }
    }
}

impl Ord for InFlight {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.completed, self.sequence).cmp(&(other.completed, other.sequence))
    }
}

impl PartialOrd for InFlight {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for InFlight {
    fn eq(&self, other: &Self) -> bool {
        self.sequence == other.sequence
    }
}

impl Eq for InFlight {}

/// The logical pages that an I/O touches, each with how much of it is covered.
fn pages(io: &Io) -> impl Iterator<Item = (Lpn, Bytes)> {
    let (start, end) = (io.offset.0, io.offset.0 + io.length.0);
    let unit = MAPPING_UNIT.0;
    (start / unit..end.div_ceil(unit)).map(move |page| {
        let covered = end.min((page + 1) * unit) - start.max(page * unit);
        (Lpn(page as u32), Bytes(covered))
    })
}

fn info(profile: &Profile, address: &str) -> DeviceInfo {
    DeviceInfo {
        address: address.to_owned(),
        kind: DeviceKind::Simulated,
        model: profile.identity.model.clone(),
        serial: None,
        firmware: None,
        capacity: profile.identity.capacity,
        lba_size: LBA_SIZE,
        physical_block_size: MAPPING_UNIT,
        io_size_max: Bytes::from_mib(32),
        queue_depth_max: profile.link.queue_depth as usize,
        rotational: false,
        trim: true,
        purges: vec![Purge::SecureErase],
        scheduler: None,
    }
}
