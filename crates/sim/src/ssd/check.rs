//! The invariants of a drive's state, checked by walking all of it, and random drives under random
//! loads that must keep them.

use std::collections::BTreeSet;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use writecliff_device::{Bytes, Completion, Device, DeviceTime, Io, Nanos, Operation, Purge};

use super::Ssd;
use super::ftl::{Ppa, UNMAPPED};
use super::superblocks::{State, SuperblockId};
use crate::profile::{MAPPING_UNIT, Profile};

impl Ssd {
    fn assert_invariants(&self) {
        self.assert_maps_agree();
        self.assert_books_agree();
    }

    /// Logical to physical is one to one, and back.
    fn assert_maps_agree(&self) {
        let ftl = &self.ftl;
        for (lpn, ppa) in ftl.l2p.iter().enumerate().filter(|(_, ppa)| **ppa != UNMAPPED) {
            assert_eq!(ftl.p2l[*ppa as usize], lpn as u32, "slot {ppa} does not lead back");
        }
        let mapped = ftl.l2p.iter().filter(|ppa| **ppa != UNMAPPED).count();
        let valid = ftl.p2l.iter().filter(|lpn| **lpn != UNMAPPED).count();
        assert_eq!(mapped, valid, "a slot claims a page that is elsewhere");
    }

    /// Valid counts equal a recount, every superblock is in exactly the list of its state.
    fn assert_books_agree(&self) {
        let (ftl, blocks) = (&self.ftl, &self.ftl.superblocks);
        let mut counts = vec![0; blocks.count() as usize];
        for (ppa, _) in ftl.p2l.iter().enumerate().filter(|(_, lpn)| **lpn != UNMAPPED) {
            counts[ftl.layout.superblock_of(Ppa(ppa as u32)).0 as usize] += 1;
        }
        let mut by_state = [0; 4];
        for (id, count) in counts.into_iter().enumerate() {
            let id = SuperblockId(id as u32);
            assert_eq!(blocks.valid(id), count, "{id:?} {:?}", blocks.state(id));
            by_state[blocks.state(id) as usize] += 1;
            if blocks.state(id) == State::Free {
                assert_eq!(count, 0, "{id:?} is free and holds data");
            }
        }
        let open = [&ftl.host, &ftl.copies].iter().filter(|f| f.superblock.is_some()).count();
        let victims = usize::from(ftl.evacuation.is_some());
        let listed: Vec<_> = blocks.listed().collect();
        let expected = [blocks.free_count() as usize, open, listed.len(), victims];
        assert_eq!(by_state, expected, "free, open, full, victim");
        for (list, id) in listed {
            assert_eq!((blocks.state(id), blocks.valid(id)), (State::Full, list));
        }
    }

    fn mapped_pages(&self) -> BTreeSet<u32> {
        let mapped = self.ftl.l2p.iter().enumerate().filter(|(_, ppa)| **ppa != UNMAPPED);
        mapped.map(|(lpn, _)| lpn as u32).collect()
    }
}

fn below(random: &mut Xoshiro256PlusPlus, end: u32) -> u32 {
    (random.next_u64() % u64::from(end)) as u32
}

/// A random drive that passes the profile's own checks: from one die to eight, from 4 KiB pages to
/// 32 KiB, from no more spare area than it must have to half of it.
fn random_profile(random: &mut Xoshiro256PlusPlus) -> Profile {
    let mut profile = crate::load("tiny").expect("tiny ships");
    let nand = &mut profile.nand;
    nand.channels = 1 + below(random, 4);
    nand.dies_per_channel = 1 + below(random, 2);
    nand.planes = 1 + below(random, 2);
    nand.page_size = MAPPING_UNIT * (1 << below(random, 4));
    nand.pages_per_block = 1 + below(random, 24);
    nand.blocks_per_plane = 10 + below(random, 60);
    let superblock = profile.superblock_size();
    let spare = 3 + below(random, profile.nand.blocks_per_plane / 2);
    let kept = u64::from(profile.nand.blocks_per_plane - spare);
    profile.identity.capacity = superblock * kept;
    profile.gc.free_low = 2;
    profile.gc.free_high = 2;
    if spare > 4 {
        profile.gc.free_low += below(random, spare - 3);
        profile.gc.free_high = profile.gc.free_low + below(random, spare - profile.gc.free_low);
    }
    profile.gc.quantum = 1 + below(random, 20);
    profile.write_buffer.size = profile.program_size() * u64::from(2 + below(random, 8));
    profile
}

/// One load on one drive; the oracle is the set of pages that must hold data.
fn run(seed: u64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut ssd = Ssd::new(random_profile(&mut random), "sim:random");
    let pages = (ssd.info().capacity.0 / MAPPING_UNIT.0) as u32;
    let span = 1 + below(&mut random, pages);
    let mut holding = BTreeSet::new();
    for round in 0..3 * pages {
        let io = random_io(&mut random, span, round < span);
        expect(&mut holding, &io);
        ssd.submit(&[io]).expect("in range");
        drain(&mut ssd);
        if round % (pages / 2 + 1) == 0 {
            ssd.assert_invariants();
        }
    }
    ssd.assert_invariants();
    assert_eq!(ssd.mapped_pages(), holding, "a page was lost or came from nowhere");
    ssd.purge(Purge::SecureErase).expect("listed");
    ssd.assert_invariants();
    assert_eq!(ssd.mapped_pages(), BTreeSet::new());
}

fn random_io(random: &mut Xoshiro256PlusPlus, span: u32, filling: bool) -> Io {
    let start = below(random, span);
    let length = 1 + below(random, (span - start).min(9));
    let offset = MAPPING_UNIT * u64::from(start);
    let whole = MAPPING_UNIT * u64::from(length);
    match below(random, 20) {
        0 if !filling => Io::trim(offset, whole),
        1 => Io::flush(),
        2 => Io::read(offset, whole),
        3 => Io::write(offset + Bytes(512), Bytes(1024)),
        4 if !filling => Io::trim(offset + Bytes(512), whole - Bytes(512)),
        _ => Io::write(offset, whole),
    }
}

fn expect(holding: &mut BTreeSet<u32>, io: &Io) {
    let (start, end) = (io.offset.0, io.offset.0 + io.length.0);
    let unit = MAPPING_UNIT.0;
    match io.operation {
        Operation::Write => holding.extend((start / unit) as u32..end.div_ceil(unit) as u32),
        Operation::Trim => {
            let trimmed = start.div_ceil(unit) as u32..(end / unit) as u32;
            holding.retain(|page| !trimmed.contains(page));
        }
        Operation::Read | Operation::Flush => {}
    }
}

fn drain(ssd: &mut Ssd) -> Vec<Completion> {
    let mut done = Vec::new();
    let until = ssd.now() + Nanos::from_secs(3600);
    ssd.reap(until, &mut done).expect("reap");
    assert!(!done.is_empty(), "nothing completed within an hour");
    assert!(ssd.now() < DeviceTime::MAX);
    done
}

#[test]
fn random_drives_under_random_loads_keep_every_page() {
    for seed in 0..60 {
        let outcome = std::panic::catch_unwind(|| run(seed));
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
    run(seed.unwrap_or(60));
}
