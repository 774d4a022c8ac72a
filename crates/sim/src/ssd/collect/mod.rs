//! Garbage collection, as far as it is choice: which superblock is emptied next, when, and how
//! fast. A choice is made from the books and the profile alone, so that it is tested without a
//! drive; the map then does what was chosen (`map/copying.rs`).

mod pace;
#[cfg(test)]
mod tests;
mod victim;

use writecliff_device::Nanos;
use writecliff_profile::{Gc, Levelling, SlcBuffer, SlcKind, SsdProfile, Victim, Wear};

use super::array::{CellMode, SuperblockId, Superblocks};

pub(crate) use pace::{CopyWindow, Cost, Free, ONE, Pacer, is_short_of_space};

/// Free superblocks at which the host may open one: one is left for copies.
pub(crate) const FREE_TO_OPEN: u32 = 2;

/// What the profile says of collection.
#[derive(Debug, Clone)]
pub(crate) struct Policy {
    pub(crate) gc: Gc,
    pub(crate) slc: SlcBuffer,
    static_levelling: Option<StaticLevelling>,
}

/// When data that rest are moved, so that what they lie in wears as well.
#[derive(Debug, Clone, Copy)]
struct StaticLevelling {
    /// So many erases behind the mean are not too many.
    gap: u32,
    /// At most one of so many erases is of what is too far behind.
    every: u64,
    is_apart: bool,
}

impl Policy {
    pub(crate) fn new(profile: &SsdProfile) -> Self {
        Self {
            gc: profile.gc.clone(),
            slc: profile.slc_buffer.clone(),
            static_levelling: StaticLevelling::new(&profile.wear),
        }
    }

    /// Whether a superblock has fallen so far behind in wear that what it holds is moved.
    pub(crate) fn is_behind(&self, blocks: &Superblocks, id: SuperblockId) -> bool {
        let behind = |of: StaticLevelling| blocks.erases_of(id) + of.gap < blocks.mean_erases();
        blocks.mode(id) == CellMode::Native && self.static_levelling.is_some_and(behind)
    }

    /// Whether what is moved for that goes apart from all other copies.
    pub(crate) fn moves_apart(&self) -> bool {
        self.static_levelling.is_some_and(|levelling| levelling.is_apart)
    }
}

impl StaticLevelling {
    fn new(wear: &Wear) -> Option<Self> {
        let Wear { static_gap: gap, static_every, static_apart: is_apart, .. } = *wear;
        let every = static_every.unwrap_or(2).into();
        (wear.levelling == Levelling::Static).then_some(Self { gap, every, is_apart })
    }
}

/// What a choice is made from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) superblocks: &'a Superblocks,
    /// Pages that a native superblock holds.
    pub(crate) superblock_pages: u32,
    /// Free superblocks that are not set aside for the SLC buffer.
    pub(crate) native_free: u32,
    /// The superblock that is being emptied.
    pub(crate) victim: Option<SuperblockId>,
}

/// Why the collector is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occasion {
    /// A program of the host pays for copies, since space is short.
    Program,
    /// A program of the host goes past an SLC buffer that is emptied under load.
    PastBuffer,
    /// The host is about to open a superblock, which may come from the SLC buffer.
    Opening,
    /// The host needs a native superblock and too few are free.
    Shortage,
    /// The host is about to take the last slots of a frontier that it shares with copies.
    LastSlots,
    /// Nothing has been in flight for so long.
    Idle(Nanos),
}

/// What is to be done next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing.
    Wait,
    /// Copy what the next program of this superblock holds, to win its space.
    Copy(SuperblockId),
    /// The same, to empty the SLC buffer.
    Drain(SuperblockId),
    /// Erase this superblock, in which nothing is valid.
    Erase(SuperblockId),
    /// Leave this superblock as it is: emptying it wins no native one while one is needed.
    GiveUp(SuperblockId),
}

/// The next step. `dice` is the state of the drive's own dice, which only
/// [`Victim::Random`] throws.
#[inline]
pub(crate) fn next(view: View<'_>, occasion: Occasion, dice: &mut u64) -> Step {
    let gc = &view.policy.gc;
    // Chance asks for no gain, which is its price.
    let asks_for_gain = gc.victim != Victim::Random;
    match (occasion, view.victim) {
        (Occasion::Shortage, Some(victim)) if view.is_set_aside(victim) => Step::GiveUp(victim),
        (Occasion::Program | Occasion::Shortage | Occasion::LastSlots, Some(victim)) => {
            view.empty(victim, Step::Copy)
        }
        (Occasion::Program, None) if view.native_free < gc.free_high => {
            view.begin(asks_for_gain, dice)
        }
        (Occasion::Shortage, None) if view.native_free < FREE_TO_OPEN => {
            view.begin(asks_for_gain, dice)
        }
        (Occasion::PastBuffer, _) => view.drain(),
        (Occasion::Opening, None) => view.empty_slc_superblock().map_or(Step::Wait, Step::Erase),
        (Occasion::Idle(idle), _) => view.when_idle(idle, dice),
        (Occasion::Program | Occasion::Shortage | Occasion::LastSlots, None)
        | (Occasion::Opening, Some(_)) => Step::Wait,
    }
}

impl View<'_> {
    /// Takes the victim of the policy, if it has one.
    #[inline(never)]
    fn begin(&self, asks_for_gain: bool, dice: &mut u64) -> Step {
        let chosen = victim::choose(self, asks_for_gain, dice);
        chosen.map_or(Step::Wait, |victim| self.empty(victim, Step::Copy))
    }

    /// A victim in which nothing is valid any more is erased.
    fn empty(&self, victim: SuperblockId, copy: fn(SuperblockId) -> Step) -> Step {
        if self.superblocks.valid(victim) == 0 { Step::Erase(victim) } else { copy(victim) }
    }

    /// What comes out of the SLC buffer takes native superblocks and wins none, so two must be
    /// left. A victim under way is emptied first, then the SLC superblock that was filled first.
    #[inline(never)]
    fn drain(&self) -> Step {
        if self.native_free < FREE_TO_OPEN {
            return Step::Wait;
        }
        let age = |id: &SuperblockId| self.superblocks.closed(*id);
        let victim = self.victim.or_else(|| self.full_in_slc().min_by_key(age));
        victim.map_or(Step::Wait, |victim| self.empty(victim, Step::Drain))
    }

    /// Idle time asks for a gain whatever the policy, or its work would never be done.
    #[inline(never)]
    fn when_idle(&self, idle: Nanos, dice: &mut u64) -> Step {
        let Policy { gc, slc, .. } = self.policy;
        let drains = slc.kind != SlcKind::None && idle >= slc.drain_after;
        // What comes out of the buffer needs room, and the host's next writes do, too.
        let is_short =
            drains && self.native_free <= gc.free_low && self.full_in_slc().next().is_some();
        let collects = gc.idle_after.is_some_and(|after| idle >= after);
        if is_short || (collects && self.native_free < gc.idle_free) {
            let step = match self.victim {
                Some(victim) => self.empty(victim, Step::Copy),
                None => self.begin(true, dice),
            };
            if step != Step::Wait {
                return step;
            }
        }
        if drains && !is_short { self.drain() } else { Step::Wait }
    }

    /// An SLC superblock whose pages were all overwritten or trimmed: it costs no copying.
    fn empty_slc_superblock(&self) -> Option<SuperblockId> {
        if self.superblocks.in_slc() == 0 {
            return None;
        }
        self.full_in_slc().find(|id| self.superblocks.valid(*id) == 0)
    }

    fn full_in_slc(&self) -> impl Iterator<Item = SuperblockId> {
        self.superblocks.full().filter(|id| self.superblocks.mode(*id) == CellMode::Slc)
    }

    /// Whether a superblock belongs to a buffer that keeps its superblocks for itself.
    fn is_set_aside(&self, id: SuperblockId) -> bool {
        self.policy.slc.kind == SlcKind::Fixed && self.superblocks.mode(id) == CellMode::Slc
    }
}
