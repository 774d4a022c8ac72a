//! The flash array as time: which die and channel an operation keeps busy, and until when.

use writecliff_device::{Bytes, DeviceTime, Nanos};

use super::timeline::{Bus, Die};
use crate::profile::{MAPPING_UNIT, Profile};

/// Dies behind channels. A die does one operation at a time, on all its planes together.
#[derive(Debug)]
pub(super) struct Nand {
    /// The drive's time: transfers are booked from here on, whenever their data will be ready.
    now: DeviceTime,
    dies: Vec<Die>,
    channels: Vec<Bus>,
    times: Times,
    counts: Counts,
}

#[derive(Debug, Clone, Copy)]
struct Times {
    read: Nanos,
    program: Nanos,
    erase: Nanos,
    /// One mapping unit over a channel.
    unit_transfer: Nanos,
    /// A whole program's data over a channel.
    program_transfer: Nanos,
}

/// Operations since the drive was made.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) programs: u64,
}

impl Nand {
    pub(super) fn new(profile: &Profile) -> Self {
        let nand = &profile.nand;
        let transfer = |amount: Bytes| nand.channel_throughput.time_for(amount);
        Self {
            now: DeviceTime::default(),
            dies: vec![Die::default(); profile.dies() as usize],
            channels: vec![Bus::default(); nand.channels as usize],
            times: Times {
                read: nand.read_time,
                program: nand.program_time,
                erase: nand.erase_time,
                unit_transfer: transfer(MAPPING_UNIT),
                program_transfer: transfer(profile.program_size()),
            },
            counts: Counts::default(),
        }
    }

    /// Moves the time on.
    pub(super) fn advance(&mut self, now: DeviceTime) {
        self.now = now;
    }

    /// Reads `units` mapping units of one program from `die`; returns when they are in RAM.
    pub(super) fn read(&mut self, ready: DeviceTime, die: u32, units: u32) -> DeviceTime {
        let times = self.times;
        let sensed = self.dies[die as usize].read(ready, times.read, times.program);
        let transfer = times.unit_transfer * u64::from(units);
        let now = self.now;
        self.channel_of(die).transfer(now, sensed, transfer)
    }

    /// Programs one page of every plane of `die`; returns when it is done. The data cross the
    /// channel while the die still works on what came before.
    pub(super) fn program(&mut self, ready: DeviceTime, die: u32) -> DeviceTime {
        self.counts.programs += 1;
        let (now, transfer) = (self.now, self.times.program_transfer);
        let loaded = self.channel_of(die).transfer(now, ready, transfer);
        self.dies[die as usize].serve(loaded, self.times.program)
    }

    /// Erases one block of every plane of every die; returns when the last die is done.
    pub(super) fn erase_superblock(&mut self, ready: DeviceTime) -> DeviceTime {
        let erase = self.times.erase;
        let ends = self.dies.iter_mut().map(|die| die.serve(ready, erase));
        ends.max().unwrap_or(ready)
    }

    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    /// Dies are numbered channel by channel first, so that neighbours sit on different channels.
    fn channel_of(&mut self, die: u32) -> &mut Bus {
        let channel = die as usize % self.channels.len();
        &mut self.channels[channel]
    }
}
