//! Which superblock is emptied next: policies, from the books to a choice.

use writecliff_device::split_mix;
use writecliff_profile::Victim;

use super::View;
use crate::ssd::array::{State, SuperblockId, Superblocks};

/// The superblock that has fallen behind in wear, or the victim that the profile's policy names
/// out of those whose collection wins space; `None` if there is none. `dice` is the state of the
/// drive's own dice.
pub(super) fn choose(view: &View<'_>, asks_for_gain: bool, dice: &mut u64) -> Option<SuperblockId> {
    let wins = |id| view.superblocks.valid(id) < view.superblock_pages || !asks_for_gain;
    left_behind(view).or_else(|| by_policy(view, dice, |id| wins(id) && !view.is_set_aside(id)))
}

/// Static levelling: the least worn superblock, if that has fallen behind and it is its turn.
fn left_behind(view: &View<'_>) -> Option<SuperblockId> {
    let (blocks, levelling) = (view.superblocks, view.policy.static_levelling?);
    if view.native_free < 2 || !blocks.erases().is_multiple_of(levelling.every) {
        return None;
    }
    let behind = blocks.full().filter(|id| view.policy.is_behind(blocks, *id));
    behind.min_by_key(|id| blocks.erases_of(*id))
}

fn by_policy(
    view: &View<'_>,
    dice: &mut u64,
    is_candidate: impl Fn(SuperblockId) -> bool,
) -> Option<SuperblockId> {
    let (gc, blocks, pages) = (&view.policy.gc, view.superblocks, view.superblock_pages);
    let candidates = || blocks.full().filter(|id| is_candidate(*id));
    match gc.victim {
        Victim::Greedy => {
            let emptiest = blocks.emptiest().filter(|id| is_candidate(*id));
            emptiest.or_else(|| candidates().min_by_key(|id| blocks.valid(*id)))
        }
        Victim::Fifo => candidates().min_by_key(|id| blocks.closed(*id)),
        Victim::Windowed => {
            let mut oldest: Vec<SuperblockId> = candidates().collect();
            if let Some(behind) = oldest.len().checked_sub(gc.window as usize).filter(|n| *n > 0) {
                let last = oldest.len() - behind - 1;
                oldest.select_nth_unstable_by_key(last, |id| blocks.closed(*id));
                oldest.truncate(last + 1);
            }
            oldest.into_iter().min_by_key(|id| (blocks.valid(*id), blocks.closed(*id)))
        }
        Victim::CostBenefit => candidates().max_by_key(|id| benefit(blocks, *id, pages)),
        Victim::Random => {
            let mut draw = || draw(blocks, dice, &is_candidate);
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
    dice: &mut u64,
    is_candidate: impl Fn(SuperblockId) -> bool,
) -> Option<SuperblockId> {
    (0..100).find_map(|_| {
        *dice = dice.wrapping_add(1);
        let id = SuperblockId(1 + (split_mix(*dice) % u64::from(blocks.count())) as u32);
        (blocks.state(id) == State::Full && is_candidate(id)).then_some(id)
    })
}
