//! The choices of the collector, on books without a drive.

use writecliff_device::{DeviceTime, Nanos};
use writecliff_profile::Wear;

use super::*;

/// Pages of a superblock here.
const PAGES: u32 = 100;

/// Books on twenty superblocks, and what the collector is told besides.
struct Shelf {
    policy: Policy,
    superblocks: Superblocks,
    native_free: u32,
    victim: Option<SuperblockId>,
}

impl Shelf {
    /// Greedy, from 4 free superblocks up to 6; idle time wins space after 1 s and up to 8, and
    /// empties the SLC buffer after 2 s.
    fn new(slc: SlcKind) -> Self {
        let mut profile = crate::load("tiny").unwrap().into_ssd().unwrap();
        (profile.gc.free_low, profile.gc.free_high, profile.gc.idle_free) = (4, 6, 8);
        profile.gc.idle_after = Some(Nanos::from_secs(1));
        profile.slc_buffer.kind = slc;
        profile.slc_buffer.drain_after = Nanos::from_secs(2);
        Self {
            policy: Policy::new(&profile),
            superblocks: Superblocks::new(20, &Wear::default()),
            native_free: 5,
            victim: None,
        }
    }

    /// Fills a superblock in which so many pages are valid still.
    fn full(&mut self, mode: CellMode, valid: u32) -> SuperblockId {
        let id = self.superblocks.open(mode, false);
        self.superblocks.validate(id, valid);
        self.superblocks.close(id, DeviceTime::default());
        id
    }

    fn native(&mut self, valid: u32) -> SuperblockId {
        self.full(CellMode::Native, valid)
    }

    fn slc(&mut self, valid: u32) -> SuperblockId {
        self.full(CellMode::Slc, valid)
    }

    fn take(&mut self, victim: SuperblockId) {
        self.superblocks.take(victim);
        self.victim = Some(victim);
    }

    /// Erases a full superblock with so many valid pages, and fills it again.
    fn erase_and_fill(&mut self, id: SuperblockId, valid: u32) {
        self.superblocks.invalidate(id, valid);
        self.superblocks.take(id);
        self.superblocks.erase(id, false);
        while self.superblocks.open(CellMode::Native, false) != id {}
        self.superblocks.validate(id, valid);
        self.superblocks.close(id, DeviceTime::default());
    }

    fn next(&self, occasion: Occasion) -> Step {
        let view = View {
            policy: &self.policy,
            superblocks: &self.superblocks,
            superblock_pages: PAGES,
            native_free: self.native_free,
            victim: self.victim,
        };
        next(view, occasion, &mut 0)
    }
}

fn idle(millis: u64) -> Occasion {
    Occasion::Idle(Nanos::from_millis(millis))
}

#[test]
fn a_victim_is_copied_until_nothing_valid_is_left_and_then_erased() {
    let mut shelf = Shelf::new(SlcKind::None);
    let [_, emptiest, _] = [70, 30, 50].map(|valid| shelf.native(valid));
    assert_eq!(shelf.next(Occasion::Program), Step::Copy(emptiest));
    shelf.take(emptiest);
    let emptier = shelf.native(10);
    assert_eq!(shelf.next(Occasion::Program), Step::Copy(emptiest), "one at a time");
    shelf.superblocks.invalidate(emptiest, 30);
    assert_eq!(shelf.next(Occasion::Program), Step::Erase(emptiest));
    shelf.superblocks.erase(emptiest, false);
    shelf.victim = None;
    assert_eq!(shelf.next(Occasion::Program), Step::Copy(emptier));
}

#[test]
fn each_occasion_takes_a_victim_while_it_needs_space_and_leaves_none_half_empty() {
    let mut shelf = Shelf::new(SlcKind::None);
    let victim = shelf.native(40);
    for (occasion, enough) in [(Occasion::Program, 6), (Occasion::Shortage, 2), (idle(1000), 8)] {
        shelf.native_free = enough - 1;
        assert_eq!(shelf.next(occasion), Step::Copy(victim), "{occasion:?}");
        shelf.native_free = enough;
        assert_eq!(shelf.next(occasion), Step::Wait, "{occasion:?}");
    }
    assert_eq!(shelf.next(Occasion::LastSlots), Step::Wait);
    shelf.take(victim);
    assert_eq!(shelf.next(Occasion::Program), Step::Copy(victim));
    assert_eq!(shelf.next(Occasion::LastSlots), Step::Copy(victim));
}

#[test]
fn copying_what_wins_no_space_is_left_to_chance() {
    let mut shelf = Shelf::new(SlcKind::None);
    let full = shelf.native(PAGES);
    assert_eq!(shelf.next(Occasion::Shortage), Step::Wait);
    shelf.policy.gc.victim = Victim::Random;
    shelf.native_free = 1;
    assert_eq!(shelf.next(Occasion::Shortage), Step::Copy(full));
    assert_eq!(shelf.next(idle(1000)), Step::Wait, "or idle time would never end");
}

#[test]
fn idle_time_first_wins_space_and_then_empties_the_buffer_from_its_oldest_superblock_on() {
    let mut shelf = Shelf::new(SlcKind::Fixed);
    let (native, oldest, _) = (shelf.native(40), shelf.slc(90), shelf.slc(5));
    assert_eq!(shelf.next(idle(999)), Step::Wait);
    assert_eq!(shelf.next(idle(1000)), Step::Copy(native));
    shelf.native_free = 8;
    assert_eq!(shelf.next(idle(1999)), Step::Wait);
    assert_eq!(shelf.next(idle(2000)), Step::Drain(oldest));
    // What comes out of the buffer needs room.
    shelf.policy.gc.idle_after = None;
    shelf.native_free = 4;
    assert_eq!(shelf.next(idle(2000)), Step::Copy(native));
    shelf.take(native);
    shelf.native_free = 5;
    assert_eq!(shelf.next(idle(2000)), Step::Drain(native), "the victim there is comes first");
}

#[test]
fn a_write_past_the_buffer_empties_it_while_two_superblocks_are_free() {
    let mut shelf = Shelf::new(SlcKind::Fixed);
    let (oldest, _) = (shelf.slc(90), shelf.slc(5));
    shelf.native_free = 2;
    assert_eq!(shelf.next(Occasion::PastBuffer), Step::Drain(oldest));
    shelf.superblocks.invalidate(oldest, 90);
    assert_eq!(shelf.next(Occasion::PastBuffer), Step::Erase(oldest));
    shelf.native_free = 1;
    assert_eq!(shelf.next(Occasion::PastBuffer), Step::Wait);
}

#[test]
fn a_host_that_needs_a_superblock_has_an_empty_one_of_the_buffer_erased() {
    let mut shelf = Shelf::new(SlcKind::Fixed);
    shelf.slc(5);
    assert_eq!(shelf.next(Occasion::Opening), Step::Wait);
    let empty = shelf.slc(0);
    assert_eq!(shelf.next(Occasion::Opening), Step::Erase(empty));
    let native = shelf.native(10);
    shelf.take(native);
    assert_eq!(shelf.next(Occasion::Opening), Step::Wait, "one at a time");
}

#[test]
fn a_shortage_leaves_a_fixed_buffer_alone_and_takes_a_dynamic_one() {
    let mut shelf = Shelf::new(SlcKind::Fixed);
    shelf.native_free = 1;
    let (native, slc) = (shelf.native(40), shelf.slc(5));
    assert_eq!(shelf.next(Occasion::Shortage), Step::Copy(native));
    shelf.take(slc);
    assert_eq!(shelf.next(Occasion::Shortage), Step::GiveUp(slc));
    shelf.policy.slc.kind = SlcKind::Dynamic;
    assert_eq!(shelf.next(Occasion::Shortage), Step::Copy(slc));
}

#[test]
fn static_levelling_takes_what_has_fallen_behind_the_mean_and_not_each_time() {
    let mut shelf = Shelf::new(SlcKind::None);
    let levelling = StaticLevelling { gap: 2, every: 4, is_apart: false };
    shelf.policy.static_levelling = Some(levelling);
    let (cold, worn) = (shelf.native(PAGES), shelf.native(10));
    while shelf.superblocks.mean_erases() <= levelling.gap {
        assert_eq!(shelf.next(Occasion::Program), Step::Copy(worn));
        shelf.erase_and_fill(worn, 10);
    }
    for _ in 0..8 {
        let is_turn = shelf.superblocks.erases().is_multiple_of(levelling.every);
        let expected = if is_turn { cold } else { worn };
        assert_eq!(shelf.next(Occasion::Program), Step::Copy(expected));
        shelf.erase_and_fill(worn, 10);
    }
    shelf.native_free = 1;
    assert_eq!(shelf.next(Occasion::Shortage), Step::Copy(worn), "it wins no space");
}

#[test]
fn static_levelling_lets_what_has_worn_the_most_rest() {
    let wear = Wear { levelling: Levelling::Static, static_gap: 1, ..Wear::default() };
    let mut superblocks = Superblocks::new(20, &wear);
    let worn = superblocks.open(CellMode::Native, false);
    superblocks.close(worn, DeviceTime::default());
    superblocks.take(worn);
    superblocks.erase(worn, false);
    let least = superblocks.open(CellMode::Native, false);
    assert_eq!((superblocks.erases_of(least), superblocks.erases_of(worn)), (0, 1));
    assert_eq!(superblocks.open(CellMode::Native, true), worn);
}
