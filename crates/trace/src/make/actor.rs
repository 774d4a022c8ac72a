//! A scenario at work: what it does next, drawn without replacement from all that it has to do.

use writecliff_device::{Bytes, Content};

use super::places::Places;
use super::plan::{KINDS, Plan, Scenario};
use super::quotas::Quota;
use super::random::Random;

/// A sequence of operations that follow each other is at least so long...
const IN_ORDER_MIN: u64 = 8;
/// ... and usually at most so long, as is one of random operations of the same size.
const RUN_MAX: u64 = 64;

/// What a scenario wants to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wish {
    /// An index into [`KINDS`].
    pub(super) kind: usize,
    pub(super) length: Bytes,
    /// Where the operation of its kind before ended, rather than somewhere else.
    pub(super) is_sequential: bool,
    /// If somewhere else: whether the scenario has favourite places for it.
    pub(super) has_favourites: bool,
}

/// A scenario with what is left for it to do.
#[derive(Debug, Clone)]
pub(super) struct Actor {
    quotas: Vec<Quota>,
    run: Run,
    file: Bytes,
    /// For each kind, where to.
    pub(super) places: [Places; KINDS.len()],
    /// For each kind, where the last one ended.
    pub(super) cursors: [Option<u64>; KINDS.len()],
    pub(super) content: Content,
}

/// Operations of one kind and size that come one after the other.
#[derive(Debug, Clone, Copy, Default)]
struct Run {
    quota: usize,
    left: u64,
    is_in_order: bool,
    is_begun: bool,
}

impl Actor {
    pub(super) fn new(plan: &Plan, scenario: &Scenario, quotas: Vec<Quota>) -> Self {
        let places = |kind| Places::new(plan, scenario.areas(kind), scenario.hot);
        Self {
            quotas,
            run: Run::default(),
            file: scenario.file,
            places: [places(0), places(1)],
            cursors: [None; KINDS.len()],
            content: scenario.content.into(),
        }
    }

    /// Takes one operation of what is left; `None` if nothing is.
    pub(super) fn next(&mut self, random: &mut Random) -> Option<Wish> {
        if self.run.left == 0 || self.quotas[self.run.quota].count == 0 {
            self.run = self.begin_run(random)?;
        }
        let quota = &mut self.quotas[self.run.quota];
        let run = &mut self.run;
        let wants_to = run.is_in_order && run.is_begun;
        let may = quota.sequential > 0;
        let must = quota.sequential == quota.count;
        let is_sequential = may && (wants_to || must);
        quota.count -= 1;
        quota.sequential -= u64::from(is_sequential);
        (run.left, run.is_begun) = (run.left - 1, true);
        let has_favourites = !run.is_in_order;
        Some(Wish { kind: quota.kind, length: quota.size, is_sequential, has_favourites })
    }

    /// Turns to another size, kind and place: a file in order, or random operations.
    fn begin_run(&self, random: &mut Random) -> Option<Run> {
        let index = random.pick(self.quotas.iter().map(|quota| quota.count))?;
        let Quota { size, count, sequential, .. } = self.quotas[index];
        let usual = (self.file.0 / size.0).clamp(IN_ORDER_MIN, RUN_MAX);
        let length = usual / 2 + 1 + random.below(usual);
        // If hardly any may jump, those in order must go on for longer.
        let in_order = length.max(count / (count - sequential).max(1));
        // The first of a file jumps, so there must be more files.
        let share = sequential.saturating_mul(in_order);
        let is_in_order = random.chance(share, count.saturating_mul(in_order - 1));
        let left = if is_in_order { in_order } else { length };
        Some(Run { quota: index, left, is_in_order, is_begun: false })
    }
}
