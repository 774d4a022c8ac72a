//! Integrity: does the drive return what was written, and has it what it claims?
//!
//! Blocks that say what they are, over the whole drive: sparse probes first, which a drive that
//! claims more than it has does not pass; then every block once, then random writes, trims and flushes
//! with looks at random blocks between them, and at last a look at everything. A later run looks at
//! the blocks of an earlier one again, after the drive was unplugged or its machine restarted.

mod checked;
mod earlier;
mod kept;
mod ledger;
mod load;
mod outcome;
mod plan;
mod run;
mod scheme;

use std::path::PathBuf;

use writecliff_device::{DeviceInfo, DeviceKind};
use writecliff_measure::Recording;

use crate::method::estimate::{Demands, Estimate};
use crate::method::limits::{PlanError, check_block, check_depths, check_duration};
use crate::method::overrides::{Choice, Overrides};
use crate::method::quick::{QUICK_TORTURE, quick_span};
use crate::method::session::{RunError, Session};
use crate::method::test::{InReviews, Known, Test};
use crate::record::figure::{Figure, figures_of, names_of};
use crate::record::warning::{MethodWarning, Warning};

pub use ledger::Kind;
pub use outcome::{BadBlock, BadSlice, FIGURES, Outcome, SLICES};
pub use plan::Plan;
pub use run::{FILL, PROBES, PROBES_READ, READ_BACK, TORTURE};

use earlier::Earlier;
use plan::block_of;
use scheme::LONG;

impl Test for Plan {
    type Outcome = Outcome;

    const NAME: &'static str = "integrity";
    const QUESTION: &'static str = "does it return what was written, and has it what it claims?";
    const REVIEWS: InReviews = InReviews::OnRequest;
    const CHOICES: &'static [Choice] = &[Choice::Duration, Choice::Reopen];

    fn with(self, overrides: &Overrides) -> Result<Self, PlanError> {
        if let Some(path) = &overrides.reopen {
            let Earlier { plan, .. } = Earlier::open(path)?;
            let reopen = Some(path.canonicalize().unwrap_or_else(|_| path.clone()));
            return Ok(Self { reopen, ..plan });
        }
        Ok(Self { duration: overrides.duration.unwrap_or(self.duration), ..self })
    }

    fn quick(self) -> Self {
        let duration = QUICK_TORTURE.min(self.duration);
        Self { duration, span: quick_span(self.span), ..self }
    }

    fn demands(&self) -> Demands {
        Demands { queue_depth: self.queue_depth, io_size: LONG }
    }

    fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        let all = self.used(drive);
        let nothing = Estimate { memory: self.memory(drive), ..Estimate::on(drive) };
        match self.reopen {
            Some(_) => nothing.read(all),
            None => nothing.fill(all).random(self.duration).read(all),
        }
    }

    fn writes(&self) -> bool {
        self.reopen.is_none()
    }

    fn purges(&self) -> bool {
        false
    }

    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        if drive.kind == DeviceKind::Null {
            return Err(keeps_nothing(drive));
        }
        if let Some(path) = &self.reopen {
            Earlier::open(path)?.check(drive)?;
        }
        check_duration("duration", self.duration)?;
        check_block(block_of(drive), self.span, drive)?;
        if self.probes == 0 || self.read_percent > 99 {
            let (option, got) = match self.probes {
                0 => ("probes", "0".to_owned()),
                _ => ("read_percent", self.read_percent.to_string()),
            };
            let reason = "there is at least one probe, and at most 99 % are looks".to_owned();
            return Err(PlanError { option, got, reason });
        }
        if drive.io_size_max < block_of(drive) {
            let reason = format!("the drive takes {} at once", drive.io_size_max.exact());
            return Err(PlanError { option: "a block of", got: block_of(drive).exact(), reason });
        }
        self.check_memory(drive)?;
        check_depths([self.queue_depth], drive)
    }

    /// Where the earlier run lies is nothing that a drive notices.
    fn as_asked(&self) -> Self {
        Self { reopen: self.reopen.as_ref().map(|_| PathBuf::new()), ..self.clone() }
    }

    /// None of its figures is a speed, so none is too low on a machine that is busy.
    fn keeps_time(&self) -> bool {
        true
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        match &self.reopen {
            Some(path) => run::reopen(path, session),
            None => run::run(self, session),
        }
    }

    /// No recording holds what the blocks held.
    fn conclude(&self, _: &Recording, _: &Known<'_>) -> (Option<Outcome>, Vec<Warning>) {
        (None, Vec::new())
    }

    fn conclude_from(
        &self,
        _: &Recording,
        _: &Known<'_>,
        found: Option<&Outcome>,
    ) -> (Option<Outcome>, Vec<Warning>) {
        let is_finished = found.is_some_and(|outcome| outcome.finished);
        let phase = "every block had been read back".to_owned();
        let ended =
            (!is_finished).then_some(Warning::Method(MethodWarning::Ended { phase, lasted: None }));
        let doubts = found.into_iter().flat_map(Outcome::doubts).map(Warning::Data);
        (found.cloned(), doubts.chain(ended).collect())
    }

    fn figures(outcome: &Outcome) -> Vec<Figure> {
        figures_of(FIGURES, outcome)
    }

    fn figure_names(&self) -> Option<Vec<String>> {
        Some(names_of(FIGURES))
    }
}

fn keeps_nothing(drive: &DeviceInfo) -> PlanError {
    let (option, got) = ("a look at the data of", drive.address.clone());
    PlanError { option, got, reason: "it keeps none that could be compared".to_owned() }
}
