//! Ladders: loads that are each measured at several levels, on a drive that is prepared once.
//!
//! Reads come before writes, and writes in order before random ones, each in the state of the drive
//! that it needs: so none of them meets what others have left to do.

use writecliff_device::{Bytes, DeviceInfo, Nanos, Operation};
use writecliff_measure::Queue;
use writecliff_workload::RandomUniform;

use crate::method::estimate::{Demands, Estimate};
use crate::method::fill::{FILL_BLOCK, FILL_QUEUE_DEPTH, SETTLE_TIME};
use crate::method::limits::{PlanError, check_block};
use crate::method::loads::Load;
use crate::method::session::{Extent, RunError, Session};

/// The phase that writes every LBA in order, so that reads find data.
const FILL: &str = "fill";
/// The phase that gives the drive time after that.
const SETTLE: &str = "settle";
/// The phase that writes every LBA in order once more, before writes in order are measured.
const FILL_AGAIN: &str = "fill-again";
/// The phase of random writes, before random writes are measured.
const SOAK: &str = "soak";

/// Loads, and the states that the drive is brought into for them.
#[derive(Debug)]
pub(crate) struct Ladder {
    /// The states.
    pub(crate) states: States,
    /// The loads, those of one order and kind in their turn.
    pub(crate) loads: Vec<Load>,
    /// Size of the random writes that come before loads of such.
    pub(crate) soak_block: Bytes,
    /// Whether the drive is to be as used in the end as random writes leave it, though no load writes.
    pub(crate) ends_soaked: bool,
}

impl Ladder {
    /// Measures every load, at all its levels.
    pub(crate) fn climb(
        &self,
        session: &mut Session<'_>,
        mut measure: impl FnMut(&mut Session<'_>, Load) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let mut measure = |session: &mut Session<'_>, random, writes| {
            self.of(random, writes).try_for_each(|load| measure(session, load))
        };
        self.states.full(session)?;
        measure(session, false, false)?;
        measure(session, true, false)?;
        if self.ends_soaked || self.of(false, true).next().is_some() {
            self.states.full_again(session)?;
            measure(session, false, true)?;
        }
        if self.ends_soaked || self.of(true, true).next().is_some() {
            self.states.soaked(self.soak_block, session)?;
            measure(session, true, true)?;
        }
        Ok(())
    }

    fn of(&self, random: bool, writes: bool) -> impl Iterator<Item = Load> + '_ {
        let is_such = move |load: &&Load| load.random == random && load.writes() == writes;
        self.loads.iter().filter(is_such).copied()
    }
}

/// What a drive is brought into before loads are measured: full, and for those that write as used as
/// they leave it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct States {
    /// The part of the drive that is used.
    pub(crate) span: Bytes,
    /// The longest that random writes last before such are measured.
    pub(crate) soak: Nanos,
    /// Decides which LBAs they go to.
    pub(crate) seed: u64,
}

impl States {
    /// What these need, and loads with so many in flight, of which none is longer than `io_size`.
    pub(crate) fn demands(queue_depth: usize, io_size: Bytes) -> Demands {
        Demands { queue_depth: queue_depth.max(FILL_QUEUE_DEPTH), io_size: io_size.max(FILL_BLOCK) }
    }

    pub(crate) fn check(span: Option<Bytes>, drive: &DeviceInfo) -> Result<(), PlanError> {
        check_block(FILL_BLOCK, span, drive)
    }

    fn fill(self, name: &str, session: &mut Session<'_>) -> Result<(), RunError> {
        let span = FILL_BLOCK * (self.span.0 / FILL_BLOCK.0);
        let depth = FILL_QUEUE_DEPTH.min(session.drive().queue_depth_max);
        session.fill(name, span, FILL_BLOCK, depth)
    }

    /// Full and at rest: purged, every LBA written in order, left alone for a minute.
    fn full(self, session: &mut Session<'_>) -> Result<(), RunError> {
        session.purge()?;
        self.fill(FILL, session)?;
        session.idle(SETTLE, SETTLE_TIME.min(self.soak))
    }

    /// Every LBA written in order once more, without a rest: what a fast buffer gave is used up.
    fn full_again(self, session: &mut Session<'_>) -> Result<(), RunError> {
        self.fill(FILL_AGAIN, session)
    }

    /// As much written at random as the drive holds, as far as there is time.
    fn soaked(self, block: Bytes, session: &mut Session<'_>) -> Result<(), RunError> {
        let writes = RandomUniform::new(Operation::Write, self.span, block, self.seed);
        let count = self.span.0 / block.0;
        let depth = FILL_QUEUE_DEPTH.min(session.drive().queue_depth_max);
        let queue = Queue::new(writes.take(count as usize), depth);
        session.record(SOAK, queue, Some(self.soak), Extent::Time(self.soak))
    }

    /// Full and at rest.
    pub(crate) fn estimate_full(self, drive: &DeviceInfo) -> Estimate {
        Estimate::on(drive).fill(self.span).rest(SETTLE_TIME.min(self.soak))
    }
}
