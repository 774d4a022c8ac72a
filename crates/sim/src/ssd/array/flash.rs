//! The flash array as time: which die and channel an operation keeps busy, and until when.

use std::ops::Range;

use writecliff_device::{DeviceTime, Nanos};
use writecliff_profile::SsdProfile;

use super::{Bus, CellMode, Die, PlaneReads, Suspension};

/// Dies behind channels. A die does one operation at a time, on all its planes together.
#[derive(Debug, Clone)]
pub(crate) struct FlashArray {
    /// The drive's time: transfers are booked from here on, whenever their data will be ready.
    now: DeviceTime,
    dies: Vec<Die>,
    /// Of each die, where planes read by themselves; otherwise empty.
    planes: Vec<PlaneReads>,
    /// Mapping units of one page.
    units_per_plane: u32,
    channels: Vec<Bus>,
    /// Which of them each die is behind: neighbours are on different ones.
    channel_of: Vec<u32>,
    native: Times,
    slc: Times,
    /// A program that the host waits for, where that is faster than others.
    awaited: Option<Nanos>,
    suspension: Suspension,
    /// One mapping unit over a channel.
    unit_transfer: Nanos,
    /// A whole program's data over a channel.
    program_transfer: Nanos,
    counts: Counts,
}

/// How long the operations of one cell mode take.
#[derive(Debug, Clone)]
struct Times {
    read: Nanos,
    /// Of a cell's pages in turn.
    program: Vec<Nanos>,
    erase: Nanos,
}

/// Operations since the drive was made; programs and erases are those of whole dies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) reads: u64,
    pub(crate) programs: u64,
    pub(crate) slc_programs: u64,
    pub(crate) erases: u64,
}

impl FlashArray {
    pub(crate) fn new(profile: &SsdProfile) -> Self {
        let (nand, slc) = (&profile.nand, &profile.slc_buffer);
        // Planes that cannot work together work one after the other.
        let turns = if nand.multi_plane { 1 } else { u64::from(nand.planes) };
        let program = nand.program_time.0.iter().map(|time| *time * turns).collect();
        let read_apart = if nand.independent_reads { profile.dies() as usize } else { 0 };
        Self {
            now: DeviceTime::default(),
            dies: vec![Die::default(); profile.dies() as usize],
            planes: vec![PlaneReads::new(nand.planes); read_apart],
            units_per_plane: (nand.page_size.0 / profile.mapping.unit.0).max(1) as u32,
            channels: vec![Bus::default(); nand.channels as usize],
            channel_of: (0..profile.dies()).map(|die| die % nand.channels).collect(),
            native: Times { read: nand.read_time, program, erase: nand.erase_time * turns },
            slc: Times {
                read: slc.read_time,
                program: vec![slc.program_time * turns],
                erase: slc.erase_time * turns,
            },
            awaited: match profile.write_buffer.flush_program_time {
                Nanos::ZERO => None,
                time => Some(time * turns),
            },
            suspension: Suspension {
                wait: nand.suspend_time.unwrap_or(Nanos(u64::MAX)),
                program_pulse: nand.program_pulse_time,
                erase_pulse: nand.erase_pulse_time,
            },
            unit_transfer: nand.channel_throughput.time_for(profile.mapping.unit),
            program_transfer: nand.channel_throughput.time_for(profile.program_size()),
            counts: Counts::default(),
        }
    }

    /// Mapping units of a plane's page.
    pub(crate) fn units_per_plane(&self) -> u32 {
        self.units_per_plane
    }

    /// Moves the time on.
    pub(crate) fn advance(&mut self, now: DeviceTime) {
        self.now = now;
    }

    pub(crate) fn now(&self) -> DeviceTime {
        self.now
    }

    /// Reads these mapping units of one program from `die`, sensing `senses` times; returns when
    /// they are in RAM. Where planes read by themselves, only those that hold the units do.
    pub(crate) fn read_units(
        &mut self,
        ready: DeviceTime,
        die: u32,
        mode: CellMode,
        units: Range<u32>,
        senses: u32,
    ) -> DeviceTime {
        let count = units.end - units.start;
        let Some(planes) = self.planes.get_mut(die as usize) else {
            return self.read(ready, die, mode, count, senses);
        };
        let of = self.units_per_plane;
        let touched = units.start / of..units.end.div_ceil(of);
        self.counts.reads += u64::from((touched.end - touched.start) * senses);
        let times = if mode == CellMode::Slc { &self.slc } else { &self.native };
        let work = times.read * u64::from(senses);
        let sensed =
            planes.read(&mut self.dies[die as usize], touched, ready, work, self.suspension);
        self.bring_to_ram(die, sensed, count)
    }

    /// Reads `units` mapping units of one program from `die`, all planes together, sensing it
    /// `senses` times; returns when they are in RAM.
    pub(crate) fn read(
        &mut self,
        ready: DeviceTime,
        die: u32,
        mode: CellMode,
        units: u32,
        senses: u32,
    ) -> DeviceTime {
        self.counts.reads += u64::from(senses);
        let work = self.times(mode).read * u64::from(senses);
        let suspension = self.suspension;
        let sensed = self.dies[die as usize].read(ready, work, suspension);
        if let Some(planes) = self.planes.get_mut(die as usize) {
            planes.read_together(sensed);
        }
        self.bring_to_ram(die, sensed, units)
    }

    /// The same for a copy, which is booked ahead of its time: reads of the host that come until then go first.
    pub(crate) fn read_ahead_of_time(
        &mut self,
        ready: DeviceTime,
        die: u32,
        mode: CellMode,
        units: u32,
        senses: u32,
    ) -> DeviceTime {
        if ready <= self.now {
            return self.read(ready, die, mode, units, senses);
        }
        self.counts.reads += u64::from(senses);
        let (now, work) = (self.now, self.times(mode).read * u64::from(senses));
        let sensed = self.dies[die as usize].book(now, ready, work);
        self.bring_to_ram(die, sensed, units)
    }

    /// Takes `units` mapping units that were `sensed` by then over the channel; returns when they are in RAM.
    fn bring_to_ram(&mut self, die: u32, sensed: DeviceTime, units: u32) -> DeviceTime {
        let (now, transfer) = (self.now, self.unit_transfer * u64::from(units));
        self.channel_of(die).transfer(now, sensed, transfer)
    }

    /// Programs page number `page` of a block of every plane of `die`; returns when it is done.
    /// The data cross the channel while the die still works on what came before.
    pub(crate) fn program(
        &mut self,
        ready: DeviceTime,
        die: u32,
        mode: CellMode,
        page: u32,
    ) -> DeviceTime {
        self.count_program(mode);
        let times = &self.times(mode).program;
        let work = match times.as_slice() {
            [one] => *one,
            several => several[page as usize % several.len()],
        };
        self.load_and_program(ready, die, work)
    }

    /// The same of a program that the host waits for: the drive may have a faster way.
    pub(crate) fn program_awaited(
        &mut self,
        ready: DeviceTime,
        die: u32,
        mode: CellMode,
        page: u32,
    ) -> DeviceTime {
        let Some(work) = self.awaited else { return self.program(ready, die, mode, page) };
        self.count_program(mode);
        self.load_and_program(ready, die, work)
    }

    fn load_and_program(&mut self, ready: DeviceTime, die: u32, work: Nanos) -> DeviceTime {
        let (now, transfer) = (self.now, self.program_transfer);
        let loaded = self.channel_of(die).transfer(now, ready, transfer);
        self.dies[die as usize].serve(now, loaded, work)
    }

    fn count_program(&mut self, mode: CellMode) {
        match mode {
            CellMode::Native => self.counts.programs += 1,
            CellMode::Slc => self.counts.slc_programs += 1,
        }
    }

    /// Erases one block of every plane of every die; returns when the last die is done.
    pub(crate) fn erase_superblock(&mut self, ready: DeviceTime, mode: CellMode) -> DeviceTime {
        self.counts.erases += self.dies.len() as u64;
        let (now, erase) = (self.now, self.times(mode).erase);
        let ends = self.dies.iter_mut().map(|die| die.erase(now, ready, erase));
        ends.max().unwrap_or(ready)
    }

    /// The power went: nothing is under way any more.
    pub(crate) fn stop(&mut self) {
        self.dies.iter_mut().for_each(Die::stop);
        self.planes.iter_mut().for_each(|planes| planes.read_together(DeviceTime::default()));
        self.channels.fill(Bus::default());
    }

    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    fn times(&self, mode: CellMode) -> &Times {
        match mode {
            CellMode::Native => &self.native,
            CellMode::Slc => &self.slc,
        }
    }

    /// Dies are numbered channel by channel first, so that neighbours sit on different channels.
    fn channel_of(&mut self, die: u32) -> &mut Bus {
        &mut self.channels[self.channel_of[die as usize] as usize]
    }
}
