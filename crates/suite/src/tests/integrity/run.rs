//! The method: probes, every block, random operations, and a look at everything; or only a look at
//! what an earlier run has written.

use std::path::Path;

use writecliff_device::{Bytes, DeviceError, DeviceKind, Io, Stamping};

use super::checked::Checked;
use super::earlier::Earlier;
use super::kept::Kept;
use super::ledger::Ledger;
use super::load::{Load, Rounds, Stop, Until};
use super::plan::Plan;
use super::scheme::Scheme;
use crate::method::session::{Extent, RunError, Session};

/// The phase that writes the probes.
pub const PROBES: &str = "probes";
/// The phase that looks at them.
pub const PROBES_READ: &str = "probes-read";
/// The phase that writes every block once.
pub const FILL: &str = "fill";
/// The phase of random operations.
pub const TORTURE: &str = "torture";
/// The phase that looks at every block.
pub const READ_BACK: &str = "read-back";
/// The step that finds out what an earlier run has written.
const RECALL: &str = "recall";

pub(super) fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    let drive = session.drive().clone();
    let scheme = Scheme::new(plan, &drive, drive.trim);
    let (run, block) = (session.stamps_run(), scheme.block);
    session.stamp(Stamping { run, block })?;
    let kept = Kept::new(run, block, scheme.blocks, drive.trim);
    let is_real = drive.kind != DeviceKind::Simulated;
    let directory = is_real.then(|| session.directory().to_owned());
    let mut test = Running {
        checked: Checked::new(&scheme, &drive),
        rounds: Rounds { kept, directory, stop: None },
        queue_depth: plan.queue_depth,
        scheme: &scheme,
        session,
    };

    test.write(PROBES, Until::Round(1), Extent::Bytes(scheme.probed()))?;
    let probes = Box::new(scheme.look_at_probes());
    test.look(PROBES_READ, probes, scheme.probed())?;
    test.checked.judge_capacity(scheme.look_at_probes());
    if test.checked.is_short() {
        return test.finish();
    }
    let all = scheme.block * scheme.blocks;
    test.write(FILL, Until::Round(*scheme.fill_range().end()), Extent::Bytes(all))?;
    test.write(TORTURE, Until::Time(plan.duration), Extent::Time(plan.duration))?;
    test.look(READ_BACK, Box::new(scheme.look_at_all()), all)?;
    test.finish()
}

/// The method on what an earlier run has written: everything is read, nothing is written.
pub(super) fn reopen(path: &Path, session: &mut Session<'_>) -> Result<(), RunError> {
    let Earlier { plan, kept, .. } = Earlier::open(path)?;
    let drive = session.drive().clone();
    let scheme = Scheme::new(&plan, &drive, kept.trims);
    session.stamp(Stamping { run: kept.run(), block: scheme.block })?;
    let mut checked = Checked::new(&scheme, &drive);
    checked.reopened();
    recall(&scheme, &kept, &mut checked.ledger, session)?;
    let rounds = Rounds { kept, directory: None, stop: None };
    let queue_depth = plan.queue_depth;
    let mut test = Running { checked, rounds, queue_depth, scheme: &scheme, session };
    let all = scheme.block * scheme.blocks;
    test.look_at_written(READ_BACK, all)?;
    test.finish()
}

/// Goes through all that an earlier run has done, round by round: of the last one anything may have
/// been done.
fn recall(
    scheme: &Scheme,
    kept: &Kept,
    ledger: &mut Ledger,
    session: &mut Session<'_>,
) -> Result<(), RunError> {
    for round in 1..=kept.flushed {
        session.show(RECALL, f64::from(round) / f64::from(kept.flushed))?;
        scheme.round(round).take(kept.ios_of(round)).for_each(|io| ledger.changed(&io));
        ledger.flushed();
    }
    ledger.doubt(&kept.in_doubt);
    if kept.begun > kept.flushed {
        scheme.round(kept.begun).for_each(|io| ledger.may_have_changed(&io));
    }
    Ok(())
}

/// The test under way.
struct Running<'a, 's> {
    checked: Checked,
    rounds: Rounds,
    queue_depth: usize,
    scheme: &'a Scheme,
    session: &'a mut Session<'s>,
}

impl<'a> Running<'a, '_> {
    fn write(&mut self, phase: &'static str, until: Until, extent: Extent) -> Result<(), RunError> {
        self.checked.begin(phase);
        let rounds = (&mut self.rounds, until);
        let load = Load::rounds(self.scheme, &mut self.checked, rounds, self.queue_depth);
        let ended = self.session.record(phase, load, None, extent);
        self.note(ended)?;
        match self.rounds.stop.take() {
            None => Ok(()),
            Some(Stop::NotKept(error)) => Err(error.into()),
            Some(Stop::NotFlushed(errno)) => Err(RunError::Device(DeviceError::System {
                path: self.session.drive().address.clone().into(),
                doing: "flushing what was written",
                source: std::io::Error::from_raw_os_error(errno),
            })),
        }
    }

    fn look(
        &mut self,
        phase: &'static str,
        ios: Box<dyn Iterator<Item = Io> + Send + 'a>,
        all: Bytes,
    ) -> Result<(), RunError> {
        self.checked.begin(phase);
        let load = Load::looks(self.scheme, &mut self.checked, ios, self.queue_depth);
        let ended = self.session.record(phase, load, None, Extent::Bytes(all));
        self.note(ended)
    }

    /// As `look`, at what something was written to.
    fn look_at_written(&mut self, phase: &'static str, all: Bytes) -> Result<(), RunError> {
        let ledger = &self.checked.ledger;
        let written = self.scheme.look_at_all().filter(|look| ledger.holds_any(look));
        let written: Vec<_> = written.collect();
        self.look(phase, Box::new(written.into_iter()), all)
    }

    /// Keeps what a phase has found, however it ended.
    fn note(&mut self, ended: Result<(), RunError>) -> Result<(), RunError> {
        let kept = self.session.found(self.checked.outcome());
        ended.and(kept)
    }

    fn finish(mut self) -> Result<(), RunError> {
        self.checked.finish();
        self.note(Ok(()))
    }
}
