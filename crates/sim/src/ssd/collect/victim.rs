//! Which superblock is collected next: policies, from the books to a choice.

use crate::profile::{Gc, Victim};
use crate::ssd::array::{State, SuperblockId, Superblocks, noise};

/// The victim that the profile's policy names, out of the full superblocks that `is_candidate`
/// allows; `None` if there is none. `pages` is what a superblock holds, `random` the state of the
/// drive's own dice.
pub(crate) fn choose(
    gc: &Gc,
    blocks: &Superblocks,
    pages: u32,
    random: &mut u64,
    is_candidate: impl Fn(SuperblockId) -> bool,
) -> Option<SuperblockId> {
    let candidates = || blocks.full().filter(|id| is_candidate(*id));
    match gc.victim {
        Victim::Greedy => {
            let emptiest = blocks.emptiest().filter(|id| is_candidate(*id));
            emptiest.or_else(|| candidates().min_by_key(|id| blocks.valid(*id)))
        }
        Victim::Fifo => candidates().min_by_key(|id| blocks.closed(*id)),
        Victim::CostBenefit => candidates().max_by_key(|id| benefit(blocks, *id, pages)),
        Victim::Random => {
            let mut draw = || draw(blocks, random, &is_candidate);
            let drawn = (0..gc.choices).filter_map(|_| draw()).min_by_key(|id| blocks.valid(*id));
            drawn.or_else(|| candidates().next())
        }
    }
}

/// Age × (1 − u) / 2u with u the share of valid pages (Rosenblum and Ousterhout, 1992); age is
/// counted in superblocks filled since. An empty one is best.
fn benefit(blocks: &Superblocks, id: SuperblockId, pages: u32) -> u64 {
    let age = blocks.closed_count() - blocks.closed(id);
    match u64::from(blocks.valid(id)) {
        0 => u64::MAX,
        valid => age * u64::from(pages).saturating_sub(valid) * 1024 / (2 * valid),
    }
}

/// A random full superblock; `None` if a hundred throws hit none.
fn draw(
    blocks: &Superblocks,
    random: &mut u64,
    is_candidate: impl Fn(SuperblockId) -> bool,
) -> Option<SuperblockId> {
    (0..100).find_map(|_| {
        *random = random.wrapping_add(1);
        let id = SuperblockId(1 + (noise(*random) % u64::from(blocks.count())) as u32);
        (blocks.state(id) == State::Full && is_candidate(id)).then_some(id)
    })
}
