//! One test for every mechanism of the simulated SSD: what it does, with an answer computed here
//! from the profile's numbers, and that the drive without it does not do it.
//!
//! All drives are variants of `tiny`: 2 channels × 2 dies, 8 KiB pages of two mapping units, 256
//! superblocks of 1 MiB of which 224 MiB are exported.
mod block_map;
mod collection;
mod docs;
mod faults;
mod golden;
mod host;
mod mapping;
mod modern;
mod nand;
mod parity;
mod power;
mod reduction;
mod security;
mod slc;
mod stamps;
mod trim;
mod wear;

use std::ops::ControlFlow;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use writecliff_device::{
    Bytes, Completion, Device, DeviceTime, Energy, Io, Nanos, Power, Purge, Status, Telemetry,
};
use writecliff_sim::{Ssd, SsdProfile, load};

/// The mapping unit of all drives that do not say otherwise.
const PAGE: Bytes = Bytes::from_kib(4);
const MIB: u64 = 1 << 20;
const PAGES_PER_MIB: u64 = MIB / PAGE.0;

/// The drive that all others here are variants of.
fn tiny() -> SsdProfile {
    load("tiny").unwrap().into_ssd().unwrap()
}

/// A drive of one die with 8 KiB pages, exporting `mib`: every program waits for the one before.
fn one_die(mib: u64) -> SsdProfile {
    let mut profile = tiny();
    (profile.nand.channels, profile.nand.dies_per_channel) = (1, 1);
    profile.identity.capacity = Bytes::from_mib(mib);
    profile
}

/// The same drive without a write buffer: a write is complete when it is in NAND.
fn write_through(mut profile: SsdProfile) -> SsdProfile {
    profile.write_buffer.size = Bytes::ZERO;
    profile
}

/// A drive and the way in which these tests use it. Positions and lengths are in pages.
struct Drive {
    ssd: Ssd,
    profile: SsdProfile,
}

impl Drive {
    fn new(profile: SsdProfile) -> Self {
        Self { ssd: Ssd::new(profile.clone(), "sim:mechanism"), profile }
    }

    /// All I/Os at once; returns their completions in order of completion.
    fn together(&mut self, ios: &[Io]) -> Vec<Completion> {
        self.ssd.submit(ios).unwrap();
        let mut done = Vec::new();
        while done.len() < ios.len() {
            self.ssd.reap(DeviceTime::MAX, &mut done).unwrap();
        }
        done
    }

    fn perform(&mut self, io: Io) -> Completion {
        self.together(&[io])[0]
    }

    /// One I/O that works; returns its service time.
    fn time(&mut self, io: Io) -> Nanos {
        let completion = self.perform(io);
        assert_eq!(completion.status, Status::Done, "{io:?}");
        completion.service_time()
    }

    fn write(&mut self, page: u64) -> Nanos {
        self.time(write(page, 1))
    }

    fn read(&mut self, page: u64) -> Nanos {
        self.time(read(page, 1))
    }

    fn flush(&mut self) -> Nanos {
        self.time(Io::flush())
    }

    /// Writes the pages in order, 128 KiB at a time.
    fn fill(&mut self, pages: std::ops::Range<u64>) {
        for first in pages.clone().step_by(32) {
            self.time(write(first, 32.min(pages.end - first)));
        }
    }

    /// Overwrites `count` pages, each chosen by `next`.
    fn overwrite(&mut self, count: u64, mut next: impl FnMut() -> u64) {
        for _ in 0..count {
            self.write(next());
        }
    }

    /// Nothing happens for so long.
    fn idle(&mut self, span: Nanos) {
        self.idle_until(self.ssd.now() + span);
    }

    fn idle_until(&mut self, moment: DeviceTime) {
        let mut done = Vec::new();
        self.ssd.reap(moment, &mut done).unwrap();
        assert!(done.is_empty() && self.ssd.now() == moment);
    }

    fn purge(&mut self) -> Nanos {
        let start = self.ssd.now();
        self.ssd.purge(Purge::SecureErase, &mut |_| ControlFlow::Continue(())).unwrap();
        self.ssd.now() - start
    }

    /// Pages that the host can address.
    fn pages(&self) -> u64 {
        self.profile.identity.capacity.0 / self.profile.mapping.unit.0
    }

    /// Programs of whole dies so far.
    fn programs(&mut self) -> u64 {
        self.ssd.telemetry().nand_written.unwrap().0 / self.profile.program_size().0
    }

    fn erases(&mut self) -> u64 {
        self.ssd.telemetry().erases.unwrap()
    }

    fn free(&mut self) -> u64 {
        self.ssd.telemetry().free_blocks.unwrap()
    }

    /// Write amplification of what `work` does.
    fn amplification(&mut self, work: impl FnOnce(&mut Self)) -> f64 {
        let before = self.ssd.telemetry();
        work(self);
        self.ssd.telemetry().write_amplification_since(&before).unwrap()
    }

    /// How often the operation was done that the profile was told to count with [`COUNT`].
    fn counted(&mut self) -> u64 {
        let Telemetry { energy, .. } = self.ssd.telemetry();
        energy.unwrap().0 / COUNT.0
    }
}

/// An energy so great that the drive's meter counts whatever is given it: one joule. Next to it
/// the idle power of [`counting`] is lost.
const COUNT: Energy = Energy(1_000_000_000);

/// The profile with a meter that is on and counts nothing yet.
fn counting(mut profile: SsdProfile) -> SsdProfile {
    profile.power.idle = Power(1);
    profile
}

fn write(page: u64, count: u64) -> Io {
    Io::write(PAGE * page, PAGE * count)
}

fn read(page: u64, count: u64) -> Io {
    Io::read(PAGE * page, PAGE * count)
}

/// Dice for loads, the same at every run.
fn dice(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    move |end| random.next_u64() % end
}

/// `count` I/Os, always `depth` of them in flight; returns how long they took.
fn kept_deep(drive: &mut Drive, depth: usize, count: usize, next: impl FnMut() -> Io) -> Nanos {
    let mut ios = std::iter::repeat_with(next).take(count);
    let start = drive.ssd.now();
    let first: Vec<Io> = ios.by_ref().take(depth).collect();
    drive.ssd.submit(&first).unwrap();
    let (mut done, mut completed) = (Vec::new(), 0);
    while completed < count {
        drive.ssd.reap(DeviceTime::MAX, &mut done).unwrap();
        completed += done.len();
        let more: Vec<Io> = ios.by_ref().take(done.len()).collect();
        drive.ssd.submit(&more).unwrap();
        done.clear();
    }
    drive.ssd.now() - start
}

/// Bytes per second.
fn rate(amount: Bytes, span: Nanos) -> f64 {
    amount.0 as f64 / span.as_secs_f64()
}

fn assert_close(measured: f64, expected: f64, tolerance: f64) {
    let error = measured / expected - 1.0;
    assert!(error.abs() <= tolerance, "{measured} instead of {expected}");
}

/// What a write of `length` takes before the drive's RAM has it, when nothing else is to do.
fn arrival(profile: &SsdProfile, length: Bytes) -> Nanos {
    let link = &profile.link;
    profile.firmware.write_time + link.command_time + link.write_throughput.time_for(length)
}

/// What a read of `length` takes that needs no NAND.
fn unmapped_read(profile: &SsdProfile, length: Bytes) -> Nanos {
    let link = &profile.link;
    profile.firmware.read_time + link.command_time + link.read_throughput.time_for(length)
}

/// Over a channel.
fn channel(profile: &SsdProfile, length: Bytes) -> Nanos {
    profile.nand.channel_throughput.time_for(length)
}

/// What a read of one page takes when nothing else is to do.
fn mapped_read(profile: &SsdProfile) -> Nanos {
    unmapped_read(profile, PAGE) + profile.nand.read_time + channel(profile, PAGE)
}

/// Data loaded and programmed by a die that has nothing else to do, with the first program time.
fn program(profile: &SsdProfile) -> Nanos {
    channel(profile, profile.program_size()) + profile.nand.program_time.0[0]
}
