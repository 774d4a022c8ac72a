//! The invariants of a drive's state, checked by walking all of it, and random drives under random
//! loads, with faults, that must keep them and every page.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use writecliff_device::{
    Bytes, Completion, Content, Device, DeviceTime, Io, Nanos, Operation, Purge, Status,
};

use super::Ssd;
use super::ftl::Ftl;
use super::layout::{CellMode, Lpn, Ppa, SuperblockId};
use super::superblocks::State;
use super::translation::Translation;
use crate::profile::{
    Levelling, MappingKind, Pacing, ProgramTime, SlcBuffer, SlcKind, SsdProfile, TrimKind, Victim,
};

impl Ssd {
    fn assert_invariants(&self) {
        if let Translation::Page(ftl) = &self.translation {
            ftl.assert_maps_agree();
            ftl.assert_books_agree();
        }
    }

    /// Whether a page reads as data.
    fn holds(&self, page: u32) -> bool {
        match &self.translation {
            Translation::Page(ftl) => {
                let hidden = self.trims.is_waiting() && self.trims.hides(Lpn(page));
                ftl.l2p[page as usize] != Ppa::UNMAPPED.0 && !hidden
            }
            Translation::Block(map) => map.is_mapped(Lpn(page)),
        }
    }
}

impl Ftl {
    /// Every mapped page's slot leads back to it, lies in a superblock in use, and is no parity.
    fn assert_maps_agree(&self) {
        for (lpn, ppa) in self.l2p.iter().enumerate().map(|(lpn, ppa)| (lpn, Ppa(*ppa))) {
            if !self.layout.is_place(ppa) {
                continue;
            }
            assert_eq!(self.p2l[ppa.0 as usize], lpn as u32, "{ppa:?} does not lead back");
            let id = self.layout.superblock_of(ppa);
            let program = self.layout.program_of(self.layout.slot_of(ppa));
            assert!(program < self.layout.programs_in(self.superblocks.mode(id)), "{ppa:?}");
            assert!(!self.layout.is_parity(program), "{ppa:?} is parity");
            let state = self.superblocks.state(id);
            assert!(matches!(state, State::Open | State::Full | State::Victim), "{id:?} {state:?}");
        }
    }

    /// Valid counts equal a recount; every superblock is what the streams say it is.
    fn assert_books_agree(&self) {
        let blocks = &self.superblocks;
        let mut counts = vec![0; blocks.count() as usize + 1];
        for ppa in self.l2p.iter().map(|ppa| Ppa(*ppa)).filter(|ppa| self.layout.is_place(*ppa)) {
            counts[self.layout.superblock_of(ppa).0 as usize] += 1;
        }
        let mut by_state = [0; 5];
        let mut in_slc = 0;
        for id in (1..=blocks.count()).map(SuperblockId) {
            let state = blocks.state(id);
            assert_eq!(blocks.valid(id), counts[id.0 as usize], "{id:?} {state:?}");
            by_state[state as usize] += 1;
            in_slc += u32::from(blocks.mode(id) == CellMode::Slc);
        }
        let open = [&self.host, &self.copies].iter().filter(|f| f.superblock.is_some()).count();
        assert_eq!(by_state[State::Free as usize], blocks.free_count() as usize);
        assert_eq!(by_state[State::Open as usize], open);
        assert_eq!(by_state[State::Victim as usize], usize::from(self.evacuation.is_some()));
        assert_eq!(by_state[State::Full as usize], blocks.full().count());
        assert_eq!(by_state[State::Retired as usize], blocks.retired() as usize);
        assert_eq!(blocks.in_slc(), in_slc);
    }
}

/// The dice of one seed.
struct Dice(Xoshiro256PlusPlus);

impl Dice {
    fn below(&mut self, end: u32) -> u32 {
        (self.0.next_u64() % u64::from(end)) as u32
    }

    fn between(&mut self, least: u32, most: u32) -> u32 {
        least + self.below(most - least + 1)
    }

    /// True once in `n` throws.
    fn once_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u32) as usize]
    }
}

/// A random drive that passes the profile's own checks: one die to eight, 4 KiB to 32 KiB pages,
/// from no more spare area than it must have to half of it, every mechanism on or off.
fn random_profile(dice: &mut Dice) -> SsdProfile {
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
    if dice.once_in(2) {
        let times = [200, 900, 1500].map(Nanos::from_micros);
        nand.program_time = ProgramTime(times[..dice.between(1, 3) as usize].to_vec());
    }
    let buffered = profile.program_size() * u64::from(dice.between(2, 9));
    profile.write_buffer.size = if dice.once_in(8) { Bytes::ZERO } else { buffered };
    profile.write_buffer.protected = dice.once_in(4);
}

fn policies(profile: &mut SsdProfile, dice: &mut Dice) {
    let dies = profile.dies();
    let gc = &mut profile.gc;
    gc.victim = dice.one_of(&[Victim::Greedy, Victim::Fifo, Victim::Random, Victim::CostBenefit]);
    gc.choices = if gc.victim == Victim::Random { dice.between(1, 10) } else { 1 };
    gc.pacing = dice.one_of(&[Pacing::Eager, Pacing::Lazy]);
    gc.free_low = dice.between(2, 5);
    gc.free_high = gc.free_low + dice.below(4);
    gc.quantum = if dice.once_in(3) { dice.between(1, 4000) } else { dice.between(1, 20) };
    gc.copy_dies = dice.below(dies + 1);
    gc.host_interval = Nanos::from_micros(u64::from(dice.one_of(&[0u32, 0, 300])));
    gc.separate_copies = !dice.once_in(3);
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

/// What a page must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holding {
    Data,
    Nothing,
    /// Both are right: it was not flushed, or the drive does not promise it.
    Either,
}

use Holding::{Data, Either, Nothing};

/// What every page must hold now, and what it must hold at least after a power cut.
struct Oracle {
    pages: BTreeMap<u32, (Holding, Holding)>,
    unit: u64,
    /// Acknowledged writes survive a power cut.
    is_durable: bool,
    trims_surely: bool,
}

impl Oracle {
    fn new(profile: &SsdProfile) -> Self {
        let in_ram = profile.write_buffer.size.0 > 0 && profile.mapping.kind == MappingKind::Page;
        Self {
            pages: BTreeMap::new(),
            unit: profile.mapping.unit.0,
            is_durable: profile.write_buffer.protected || !in_ram,
            trims_surely: profile.trim.kind == TrimKind::Immediate,
        }
    }

    /// `was_cut`: the power went while it was in flight with others.
    fn completed(&mut self, completion: &Completion, was_cut: bool) {
        let io = completion.io;
        let (start, end) = (io.offset.0, io.offset.0 + io.length.0);
        let touched = (start / self.unit) as u32..end.div_ceil(self.unit) as u32;
        let whole = start.div_ceil(self.unit) as u32..(end / self.unit) as u32;
        let failed = completion.status != Status::Done;
        match io.operation {
            Operation::Write if failed || (was_cut && !self.is_durable) => {
                touched.for_each(|page| self.unsettle(page));
            }
            Operation::Write => touched.for_each(|page| self.hold(page)),
            Operation::Trim => whole.for_each(|page| self.forget(page, failed || was_cut)),
            Operation::Flush if !failed && !was_cut => {
                self.pages.values_mut().for_each(|(now, kept)| *kept = *now);
            }
            Operation::Flush | Operation::Read => {}
        }
    }

    fn hold(&mut self, page: u32) {
        let (now, kept) = self.pages.entry(page).or_insert((Nothing, Nothing));
        *now = Data;
        if self.is_durable {
            *kept = Data;
        }
    }

    /// A write that failed: the page holds what it held, or the new data.
    fn unsettle(&mut self, page: u32) {
        let (now, kept) = self.pages.entry(page).or_insert((Nothing, Nothing));
        if *now != Data {
            *now = Either;
        }
        if *kept != Data {
            *kept = Either;
        }
    }

    fn forget(&mut self, page: u32, failed: bool) {
        if let Some((now, kept)) = self.pages.get_mut(&page) {
            *now = if self.trims_surely && !failed { Nothing } else { Either };
            if *kept == Data {
                *kept = Either;
            }
        }
    }

    /// The power was cut: what was not flushed may be gone.
    fn cut(&mut self) {
        for (now, kept) in self.pages.values_mut() {
            *now = if now == kept { *now } else { Either };
            *kept = *now;
        }
        if !self.trims_surely {
            self.pages
                .values_mut()
                .filter(|(now, _)| *now == Nothing)
                .for_each(|p| *p = (Either, Either));
        }
    }

    /// A die is lost and nothing makes up for it.
    fn lose(&mut self) {
        self.pages.values_mut().for_each(|page| *page = (Either, Either));
    }

    fn check(&self, ssd: &Ssd) {
        let pages = (ssd.info().capacity.0 / self.unit) as u32;
        for page in 0..pages {
            let expected = self.pages.get(&page).map_or(Nothing, |(now, _)| *now);
            match expected {
                Data => assert!(ssd.holds(page), "page {page} is lost"),
                Nothing => assert!(!ssd.holds(page), "page {page} came from nowhere"),
                Either => {}
            }
        }
    }
}

/// One drive, one load.
struct Run {
    ssd: Ssd,
    oracle: Oracle,
    dice: Dice,
    /// The I/Os go to the first pages up to here.
    span: u32,
    cuts_left: usize,
    die_is_lost: bool,
}

impl Run {
    fn new(seed: u64) -> Self {
        let mut dice = Dice(Xoshiro256PlusPlus::seed_from_u64(seed));
        let profile = random_profile(&mut dice);
        let pages = (profile.identity.capacity.0 / profile.mapping.unit.0) as u32;
        let span = if dice.once_in(3) { pages } else { dice.between(1, pages) };
        Self {
            oracle: Oracle::new(&profile),
            cuts_left: profile.faults.power_cuts.len(),
            ssd: Ssd::new(profile, "sim:random"),
            die_is_lost: false,
            span,
            dice,
        }
    }

    fn go(&mut self) {
        let rounds = (3 * self.span).clamp(200, 4000);
        let fills = !self.dice.once_in(4);
        for round in 0..rounds {
            let filling = fills && round < self.span / 4;
            let count = self.dice.between(1, 8);
            let mut batch: Vec<Io> = Vec::new();
            for io in (0..count).map(|_| self.io(filling, round)).collect::<Vec<_>>() {
                // No I/O twice: the completions of a batch are told apart by what was asked.
                if !batch.contains(&io) {
                    batch.push(io);
                }
            }
            self.submit(&batch);
            if self.dice.once_in(20) {
                self.submit(&[Io::flush()]);
            }
            if self.dice.once_in(30) {
                self.idle();
            }
            if round % (rounds / 4 + 1) == 0 {
                self.check();
            }
        }
        self.check();
        if self.dice.once_in(3) {
            let everything = Io::trim(Bytes::ZERO, self.ssd.info().capacity);
            self.submit(&[everything]);
            self.check();
        }
        self.ssd.purge(Purge::SecureErase, &mut |_| ControlFlow::Continue(())).expect("listed");
        self.oracle.pages.clear();
        self.check();
    }

    fn io(&mut self, filling: bool, round: u32) -> Io {
        let unit = Bytes(self.oracle.unit);
        if filling {
            let start = unit * u64::from(round * 4 % self.span);
            let left = unit.0 * u64::from(self.span) - start.0;
            return Io::write(start, Bytes((unit.0 * 4).min(left)));
        }
        let start = self.dice.below(self.span);
        let length = self.dice.between(1, (self.span - start).min(9));
        let (offset, whole) = (unit * u64::from(start), unit * u64::from(length));
        let content = Content {
            compressible_percent: self.dice.below(101) as u8,
            duplicate_percent: self.dice.below(101) as u8,
        };
        match self.dice.below(20) {
            0 => Io::trim(offset, whole),
            1 => Io::trim(offset + Bytes(512), whole - Bytes(512)),
            2..=4 => Io::read(offset, whole),
            5 => Io::write(offset + Bytes(512), Bytes(1024)),
            _ => Io::write(offset, whole).with_content(content),
        }
    }

    fn submit(&mut self, batch: &[Io]) {
        let cuts_left = self.cuts_left;
        self.ssd.submit(batch).expect("in range");
        let mut done = Vec::new();
        for _ in 0..10_000 {
            if done.len() == batch.len() {
                break;
            }
            let before = done.len();
            let until = self.ssd.now() + Nanos::from_secs(3600);
            self.ssd.reap(until, &mut done).expect("reap");
            assert!(done.len() > before, "nothing completed within an hour");
            self.notice_faults();
        }
        assert_eq!(done.len(), batch.len(), "an I/O never completed");
        // Completions of one batch may come in any order, its effects are in the order given.
        let order = |completion: &Completion| batch.iter().position(|io| *io == completion.io);
        done.sort_by_key(order);
        let failed_reads =
            |c: &&Completion| c.io.operation == Operation::Read && c.status != Status::Done;
        if !self.die_is_lost && self.ssd.profile.faults.power_cuts.is_empty() {
            assert_eq!(done.iter().find(failed_reads), None);
        }
        let was_cut = self.cuts_left < cuts_left;
        let can_wear_out = self.ssd.profile.wear.endurance > 0;
        if !was_cut && !self.die_is_lost && !can_wear_out {
            let failed = |c: &&Completion| c.status != Status::Done;
            assert_eq!(done.iter().find(failed), None, "nothing was wrong");
        }
        done.iter().for_each(|completion| self.oracle.completed(completion, was_cut));
    }

    fn idle(&mut self) {
        let until = self.ssd.now() + Nanos::from_millis(u64::from(self.dice.between(1, 500)));
        let mut done = Vec::new();
        self.ssd.reap(until, &mut done).expect("reap");
        assert!(done.is_empty() && self.ssd.now() == until);
        self.notice_faults();
    }

    fn notice_faults(&mut self) {
        let left =
            self.ssd.faults.iter().filter(|(_, fault)| matches!(fault, super::Fault::PowerCut));
        let left = left.count();
        if left < self.cuts_left {
            self.oracle.cut();
            self.cuts_left = left;
        }
        let lost = self.ssd.profile.faults.lost_die.is_some()
            && !self.ssd.faults.iter().any(|(_, fault)| matches!(fault, super::Fault::LostDie(_)));
        if lost && !self.die_is_lost {
            self.die_is_lost = true;
            self.oracle.lose();
        }
    }

    fn check(&self) {
        self.ssd.assert_invariants();
        self.oracle.check(&self.ssd);
    }
}

#[test]
fn random_drives_under_random_loads_keep_every_page() {
    let nightly = std::env::var_os("WRITECLIFF_NIGHTLY").is_some();
    for seed in 0..if nightly { 500 } else { 60 } {
        let outcome = std::panic::catch_unwind(|| Run::new(seed).go());
        assert!(
            outcome.is_ok(),
            "replay with: WRITECLIFF_SEED={seed} cargo test -p writecliff-sim one_seed"
        );
    }
}

/// Replays the seed in WRITECLIFF_SEED; without one, one more seed.
#[test]
fn one_seed() {
    let seed = std::env::var("WRITECLIFF_SEED").ok().and_then(|text| text.parse().ok());
    let mut run = Run::new(seed.unwrap_or(1_000_000));
    println!("{:#?}", run.ssd.profile); // seen when it fails
    run.go();
}

/// The same I/Os give the same completions, handed over one by one or in batches.
#[test]
fn batches_change_nothing() {
    for seed in 0..20 {
        let completions = |batch: usize| {
            let mut dice = Dice(Xoshiro256PlusPlus::seed_from_u64(seed));
            let profile = random_profile(&mut dice);
            let pages = u64::from((profile.identity.capacity.0 / profile.mapping.unit.0) as u32);
            let unit = profile.mapping.unit;
            let mut ssd = Ssd::new(profile, "sim:batches");
            let mut all = Vec::new();
            for _ in 0..60 {
                let ios: Vec<Io> =
                    (0..24).map(|_| Io::write(unit * (dice.0.next_u64() % pages), unit)).collect();
                ssd.announce(&ios[..batch.min(ios.len())]);
                ios.chunks(batch).for_each(|chunk| ssd.submit(chunk).expect("in range"));
                let before = all.len();
                while all.len() < before + 24 {
                    ssd.reap(DeviceTime(u64::MAX), &mut all).expect("reap");
                }
            }
            all
        };
        let one_by_one = completions(1);
        assert_eq!(one_by_one, completions(5), "seed {seed}");
        assert_eq!(one_by_one, completions(24), "seed {seed}");
    }
}

/// With the least spare area that a profile may have, every write still finds a place: with copies
/// among the host's pages, and when the power goes again and again.
#[test]
fn the_least_spare_area_is_enough_for_ever() {
    let tight = || {
        let mut profile = crate::load("tiny").unwrap().into_ssd().unwrap();
        profile.identity.capacity = Bytes::from_mib(252);
        (profile.gc.free_low, profile.gc.free_high, profile.gc.quantum) = (2, 2, 2);
        profile
    };
    let mut shared = tight();
    shared.gc.separate_copies = false;
    let mut cut = tight();
    (cut.gc.pacing, cut.gc.quantum) = (Pacing::Lazy, 1);
    cut.faults.power_cuts = (1..400).map(|n| Nanos::from_millis(n * 53)).collect();
    for profile in [shared, cut] {
        let is_cut = !profile.faults.power_cuts.is_empty();
        let mut dice = Dice(Xoshiro256PlusPlus::seed_from_u64(5));
        let pages = (profile.identity.capacity.0 / 4096) as u32;
        let mut ssd = Ssd::new(profile, "sim:tight");
        let mut done = Vec::new();
        for number in 0..4 * pages {
            let page = if number < pages { number } else { dice.below(pages) };
            let io = Io::write(Bytes::from_kib(4) * u64::from(page), Bytes::from_kib(4));
            ssd.submit(&[io]).expect("in range");
            ssd.reap(DeviceTime::MAX, &mut done).expect("reap");
        }
        let failed: Vec<_> = done.iter().filter(|c| c.status != Status::Done).collect();
        assert!(if is_cut { failed.len() <= 400 } else { failed.is_empty() }, "{}", failed.len());
        assert!(failed.iter().all(|c| c.status == Status::Failed(super::MEDIA_ERROR)));
        ssd.assert_invariants();
    }
}
