//! Traces that were never recorded, made to have the statistics of some that were never published.
//!
//! A [`Plan`] says which statistics, and which applications are at work; a [`Maker`] is the trace,
//! operation by operation, at constant memory. What it holds true: the plan's counts exactly, its
//! sizes, bytes, order and depths as docs/methodology/traces.md says; the same seed, the same trace. What
//! it leaves out: everything else that made the original what it was.
//!
//! ```text
//! Maker::new            what everybody does in all (mixture, raking, quotas), who runs when (schedule)
//!  └ next               one operation
//!     ├ begin_burst     who leads it, how deep it goes (depths), how long before it starts (pace)
//!     ├ choose_actor    the leader, or somebody who runs beside it
//!     ├ Actor::next     kind, size and order, without replacement
//!     └ place           on from the cursor, or at a place that no run ended at (places)
//! ```

mod actor;
mod apportion;
mod comparison;
mod depths;
mod mixture;
mod pace;
mod places;
mod plan;
mod possible;
mod quotas;
mod raking;
mod random;
mod schedule;
mod shipped;

pub use comparison::{Comparison, Figure};
pub use plan::{Area, ContentClass, Hot, Order, Plan, Queue, Scenario, SizeShare, Target};
pub use shipped::{PLANS, ShippedPlan};

use std::collections::VecDeque;

use writecliff_device::{Bytes, Operation};

use crate::{Header, MakeError, SequentialDetector, Summary, TraceIo};
use actor::{Actor, Wish};
use depths::{Burst, Depths};
use pace::Pace;
use plan::KINDS;
use quotas::Quota;
use random::Random;
use schedule::Section;

/// A made trace: gives its operations in order of issue.
#[derive(Debug, Clone)]
pub struct Maker {
    header: Header,
    summary: Summary,
    device_size: u64,
    alignment: u64,
    random: Random,
    actors: Vec<Actor>,
    /// What is left to do; the first is under way.
    sections: VecDeque<Section>,
    left: u64,
    burst: Burst,
    depths: Depths,
    pace: Pace,
    detector: SequentialDetector,
    /// Operations that should have been sequential so far and could not be.
    sequential_owed: u64,
}

impl Maker {
    /// The trace of a plan that a seed decides.
    ///
    /// # Errors
    /// [`MakeError::Impossible`] if no trace can have these statistics.
    pub fn new(plan: &Plan, seed: u64) -> Result<Self, MakeError> {
        let impossible = |reason| MakeError::Impossible { plan: plan.name.clone(), reason };
        possible::check(plan).map_err(impossible)?;
        let quotas = quotas::quotas(plan).map_err(impossible)?;
        let of = |scenario| quotas.iter().filter(move |quota| quota.scenario == scenario).copied();
        let each = plan.scenario.iter().enumerate();
        let actors =
            each.map(|(index, scenario)| Actor::new(plan, scenario, of(index).collect())).collect();
        let ios: Vec<u64> = (0..plan.scenario.len())
            .map(|scenario| of(scenario).map(|quota| quota.count).sum())
            .collect();
        Ok(Self {
            header: header(plan, seed),
            summary: summary(plan, &quotas),
            device_size: plan.device_size.0,
            alignment: plan.alignment.0,
            random: Random::seeded(seed),
            actors,
            sections: schedule::sections(plan, &ios).into(),
            left: ios.iter().sum(),
            burst: Burst::default(),
            depths: Depths::new(plan, &ios).map_err(impossible)?,
            pace: Pace::new(plan),
            detector: SequentialDetector::new(),
            sequential_owed: 0,
        })
    }

    /// What the trace is; complete from the beginning.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// What the whole trace will amount to. Counts, bytes and the longest operation are exact;
    /// the end, the last issue and the greatest depth are what the plan sets: the trace's own are
    /// hardly different, and alignment may turn out coarser.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// The next burst of the section under way, or of the one after it.
    fn begin_burst(&mut self) -> Option<()> {
        while self.sections.front()?.ios_left() == 0 {
            self.sections.pop_front();
        }
        let section = self.sections.front()?;
        let leader = self.random.pick(section.left.iter().copied())?;
        self.burst = self.depths.begin(leader, self.left, &mut self.random);
        self.pace.think(section, self.burst.left, &mut self.random);
        Some(())
    }

    /// Whose the burst's next operation is; `None` if the burst must end here.
    fn choose_actor(&mut self) -> Option<usize> {
        let section = self.sections.front_mut()?;
        let leader = self.burst.leader;
        let has_guests = self.burst.peak > 1;
        let is_leader_s = section.left[leader] > 0 && !(has_guests && self.random.chance(1, 4));
        let actor = match (is_leader_s, has_guests) {
            (true, _) => leader,
            (false, true) => self.random.pick(section.left.iter().copied())?,
            (false, false) => return None,
        };
        section.left[actor] -= 1;
        Some(actor)
    }

    /// Where a wish is carried out: on from the actor's last place, if it is to be sequential and
    /// the run is still remembered, else where no remembered run ended.
    fn place(&mut self, actor: usize, wish: &Wish) -> Bytes {
        let operation = KINDS[wish.kind];
        let cursor = self.actors[actor].cursors[wish.kind].filter(|&cursor| {
            cursor + wish.length.0 <= self.device_size
                && self.detector.continues(operation, Bytes(cursor))
        });
        // What could not be sequential is made up for by what need not be.
        let offset = match cursor {
            Some(cursor) if wish.is_sequential || self.sequential_owed > 0 => {
                self.sequential_owed -= u64::from(!wish.is_sequential);
                cursor
            }
            _ => {
                self.sequential_owed += u64::from(wish.is_sequential);
                self.jump(actor, wish, operation)
            }
        };
        self.actors[actor].cursors[wish.kind] = Some(offset + wish.length.0);
        Bytes(offset)
    }

    fn jump(&mut self, actor: usize, wish: &Wish, operation: Operation) -> u64 {
        let length = wish.length.0 / self.alignment;
        let places = &self.actors[actor].places[wish.kind];
        let stretch = places.choose(length, wish.has_favourites, &mut self.random);
        let mut at = self.random.below(stretch.length);
        // There are more places than runs that are remembered.
        loop {
            let offset = (stretch.begin + at) * self.alignment;
            if !self.detector.continues(operation, Bytes(offset)) {
                return offset;
            }
            at = (at + 1) % stretch.length;
        }
    }
}

impl Iterator for Maker {
    type Item = TraceIo;

    fn next(&mut self) -> Option<TraceIo> {
        let actor = loop {
            match if self.burst.left > 0 { self.choose_actor() } else { None } {
                Some(actor) => break actor,
                None => self.begin_burst()?,
            }
        };
        let depth = self.depths.next(&mut self.burst, actor, &mut self.random);
        let wish = self.actors[actor].next(&mut self.random)?;
        let offset = self.place(actor, &wish);
        let operation = KINDS[wish.kind];
        let issued = self.pace.issue(depth, wish.length);
        let mut io = TraceIo::new(issued, operation, offset, wish.length);
        io.queue_depth = Some(depth);
        io.content = (operation == Operation::Write).then_some(self.actors[actor].content);
        io.stream = actor as u16;
        self.detector.is_sequential(&io);
        self.left -= 1;
        Some(io)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.left).ok();
        (left.unwrap_or(usize::MAX), left)
    }
}

/// Says plainly that nobody recorded this.
fn header(plan: &Plan, seed: u64) -> Header {
    let scale = plan.scale.map_or(String::new(), |share| format!(", {} % of it", share * 100.0));
    Header {
        source: format!("plan {}{scale}, seed {seed}: {}", plan.name, plan.about),
        recorded_by: format!("writecliff trace make {}", env!("CARGO_PKG_VERSION")),
        synthetic: true,
        clock: Some("none; the times are made up".to_owned()),
        device_size: Some(plan.device_size),
        streams: plan.scenario.iter().map(|scenario| scenario.name.clone()).collect(),
        ..Header::default()
    }
}

fn summary(plan: &Plan, quotas: &[Quota]) -> Summary {
    let bytes = |kind| {
        let of_kind = quotas.iter().filter(move |quota| quota.kind == kind);
        Bytes(of_kind.map(|quota| quota.size.0 * quota.count).sum())
    };
    Summary {
        reads: plan.target.reads,
        writes: plan.target.writes,
        read_bytes: bytes(0),
        written_bytes: bytes(1),
        last_issued: plan.duration,
        end: Bytes(plan.area.iter().map(|area| area.size.0).sum()),
        length_max: quotas.iter().map(|quota| quota.size).max().unwrap_or_default(),
        alignment: plan.alignment,
        queue_depth_max: Some(plan.target.queue_depth_max),
        has_completions: false,
        has_queue_depths: true,
        ..Summary::default()
    }
}
