//! A drive out of dice.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use writecliff_device::{Bytes, Nanos};
use writecliff_profile::{
    Levelling, MappingKind, Pacing, ProgramTime, SlcBuffer, SlcKind, SsdProfile, TrimKind, Victim,
};

/// The dice of one seed.
pub(super) struct Dice(pub(super) Xoshiro256PlusPlus);

impl Dice {
    pub(super) fn below(&mut self, end: u32) -> u32 {
        (self.0.next_u64() % u64::from(end)) as u32
    }

    pub(super) fn between(&mut self, least: u32, most: u32) -> u32 {
        least + self.below(most - least + 1)
    }

    /// True once in `n` throws.
    pub(super) fn once_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    pub(super) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u32) as usize]
    }
}

/// A random drive that passes the profile's own checks: one die to eight, 4 KiB to 32 KiB pages,
/// from no more spare area than it must have to half of it, every mechanism on or off.
pub(super) fn random_profile(dice: &mut Dice) -> SsdProfile {
    loop {
        let profile = any_profile(dice);
        if profile.impossibility().is_none() {
            return profile;
        }
    }
}

fn any_profile(dice: &mut Dice) -> SsdProfile {
    let mut profile = crate::load("tiny").unwrap().into_ssd().unwrap();
    shape(&mut profile, dice);
    policies(&mut profile, dice);
    mechanisms(&mut profile, dice);
    faults(&mut profile, dice);
    let kept = u64::from(profile.nand.blocks_per_plane);
    let spare = if dice.once_in(3) { 4 } else { 4 + u64::from(dice.below(kept as u32 / 2)) };
    let pages = profile.superblock_data() * kept.saturating_sub(spare);
    let taken = profile.superblock_data() * u64::from(profile.slc_superblocks());
    profile.identity.capacity = Bytes(pages.0.saturating_sub(taken.0));
    profile
}

fn shape(profile: &mut SsdProfile, dice: &mut Dice) {
    let nand = &mut profile.nand;
    nand.channels = dice.between(1, 4);
    nand.dies_per_channel = dice.between(1, 2);
    nand.planes = dice.between(1, 3);
    nand.multi_plane = dice.once_in(2);
    let unit = Bytes::from_kib(4) * (1 << dice.below(3));
    profile.mapping.unit = if dice.once_in(4) { unit } else { Bytes::from_kib(4) };
    nand.page_size = profile.mapping.unit * u64::from(dice.one_of(&[1u32, 2, 3, 4, 8]));
    nand.pages_per_block = dice.between(3, 24);
    nand.blocks_per_plane = dice.between(12, 60);
    nand.factory_bad_blocks = dice.below(4);
    nand.suspend_time = dice.once_in(2).then(|| Nanos::from_micros(20));
    nand.program_pulse_time = dice.once_in(2).then(|| Nanos::from_micros(200));
    nand.erase_pulse_time = dice.once_in(2).then(|| Nanos::from_micros(500));
    if dice.once_in(2) {
        let times = [200, 900, 1500].map(Nanos::from_micros);
        nand.program_time = ProgramTime(times[..dice.between(1, 3) as usize].to_vec());
    }
    let buffered = profile.program_size() * u64::from(dice.between(2, 9));
    profile.write_buffer.size = if dice.once_in(8) { Bytes::ZERO } else { buffered };
    profile.write_buffer.protected = dice.once_in(4);
    profile.write_buffer.merges_later = dice.once_in(2);
    let firmware = &mut profile.firmware;
    firmware.page_time = Nanos::from_micros(u64::from(dice.one_of(&[0u32, 0, 5])));
    firmware.copy_time = Nanos::from_micros(u64::from(dice.one_of(&[0u32, 0, 30])));
    firmware.write_latency = Nanos::from_micros(u64::from(dice.one_of(&[0u32, 20])));
    firmware.read_ahead = Bytes::from_kib(u64::from(dice.one_of(&[0u32, 0, 64])));
}

fn policies(profile: &mut SsdProfile, dice: &mut Dice) {
    let dies = profile.dies();
    let gc = &mut profile.gc;
    gc.victim = dice.one_of(&[
        Victim::Greedy,
        Victim::Fifo,
        Victim::Windowed,
        Victim::Random,
        Victim::CostBenefit,
    ]);
    gc.window = if gc.victim == Victim::Windowed { dice.between(1, 10) } else { 1 };
    gc.choices = if gc.victim == Victim::Random { dice.between(1, 10) } else { 1 };
    gc.pacing = dice.one_of(&[Pacing::Eager, Pacing::Lazy, Pacing::Proportional, Pacing::Smooth]);
    gc.free_low = dice.between(2, 5);
    let apart = u32::from(gc.pacing.is_proportional());
    gc.free_high = gc.free_low + dice.between(apart, 3);
    let copies = dice.between(1, 40);
    gc.copies_max = (gc.pacing.is_proportional() && dice.once_in(3)).then_some(copies);
    gc.quantum = if dice.once_in(3) { dice.between(1, 4000) } else { dice.between(1, 20) };
    if dice.once_in(4) {
        gc.batch = dice.between(2, 600);
        profile.firmware.copy_time = Nanos::from_micros(u64::from(dice.between(1, 40)));
    }
    let may_hold = profile.firmware.copy_time > Nanos::ZERO && gc.batch == 1;
    let percent = dice.between(1, 100);
    gc.urgent_percent = (may_hold && gc.copies_max.is_some() && dice.once_in(2)).then_some(percent);
    gc.copy_dies = dice.below(dies + 1);
    gc.separate_copies = !dice.once_in(3);
    gc.separate_hot = gc.separate_copies && dice.once_in(2);
    gc.generations = if gc.separate_copies { dice.between(1, 2) } else { 1 };
    gc.idle_after = dice.once_in(2).then(|| Nanos::from_millis(u64::from(dice.below(50))));
    gc.idle_free = dice.below(8);
}

fn mechanisms(profile: &mut SsdProfile, dice: &mut Dice) {
    if dice.once_in(8) {
        profile.mapping.kind = MappingKind::Block;
        profile.mapping.log_blocks = dice.between(1, 3);
    } else if dice.once_in(4) {
        profile.mapping.cache = Some(Bytes::from_kib(16) * u64::from(dice.between(1, 4)));
    }
    if dice.once_in(3) {
        profile.slc_buffer = SlcBuffer {
            kind: dice.one_of(&[SlcKind::Fixed, SlcKind::Dynamic]),
            size: profile.superblock_size() * u64::from(dice.between(1, 3)),
            bits_per_cell: dice.between(2, 3),
            read_time: Nanos::from_micros(25),
            program_time: Nanos::from_micros(200),
            erase_time: Nanos::from_millis(2),
            drain_after: Nanos::from_millis(u64::from(dice.below(30))),
            drain_quantum: dice.below(3),
            drain_dies: 0,
            free_min: dice.between(2, 8),
        };
    }
    profile.parity.data = dice.one_of(&[0, 0, 0, 1, 3, 7, 15]);
    profile.reduction.compression = dice.once_in(4);
    profile.reduction.deduplication = dice.once_in(4);
    profile.reduction.stored_percent_min = dice.below(60);
    let kinds = [TrimKind::Immediate, TrimKind::Deferred, TrimKind::Partial, TrimKind::Ignored];
    profile.trim.kind = if dice.once_in(2) { TrimKind::Immediate } else { dice.one_of(&kinds) };
    profile.trim.share_percent = dice.below(100);
    profile.trim.after = Nanos::from_millis(u64::from(dice.below(40)));
    let wear = &mut profile.wear;
    wear.levelling = dice.one_of(&[Levelling::None, Levelling::Dynamic, Levelling::Static]);
    wear.static_gap = dice.between(1, 8);
    if wear.levelling == Levelling::Static {
        let has_one_stream = profile.gc.generations == 1 && !profile.gc.separate_hot;
        wear.static_every = dice.once_in(2).then(|| dice.between(2, 9));
        wear.static_apart = profile.gc.separate_copies && has_one_stream && dice.once_in(2);
    }
    wear.endurance = if dice.once_in(6) { dice.between(3, 30) } else { 0 };
    wear.spread_percent = dice.below(50);
    wear.replacements = dice.below(3);
    wear.retries_worn = dice.below(4);
    wear.retries_aged = dice.below(4);
    wear.retry_age = Nanos::from_secs(1);
}

fn faults(profile: &mut SsdProfile, dice: &mut Dice) {
    if dice.once_in(2) {
        let mut at = 0;
        for _ in 0..dice.between(1, 6) {
            at += u64::from(dice.between(1, 3000));
            profile.faults.power_cuts.push(Nanos::from_millis(at));
        }
    }
    if dice.once_in(6) {
        profile.faults.lost_die = Some(dice.below(profile.dies()));
        profile.faults.lost_die_at = Nanos::from_millis(u64::from(dice.below(2000)));
    }
}
