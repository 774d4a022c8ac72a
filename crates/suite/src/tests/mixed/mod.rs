//! Mixed: how fast and how late is the drive under a load of one's own?
//!
//! Jobs, as a plan of ours or a fio job file describes them: reads, writes and trims in any
//! mixture, of any sizes, with think time or at a rate, several at once and one after the other.
//! Every operation of every job is a series of its own, so that reads are judged beside writes.

mod behind;
mod check;
mod conclude;
mod estimate;
mod outcome;
mod plan;
mod run;
mod series;
mod served;

use writecliff_device::{Bytes, DeviceInfo};
use writecliff_measure::Recording;
use writecliff_workload::Job;

use crate::method::estimate::{Demands, Estimate};
use crate::method::limits::PlanError;
use crate::method::overrides::{Choice, Overrides};
use crate::method::quick::{QUICK_MEASUREMENT, quick_span};
use crate::method::session::{RunError, Session};
use crate::method::test::{InReviews, Known, Test};
use crate::record::figure::Figure;
use crate::record::imported::ImportedFrom;
use crate::record::warning::{JobWarning, Warning};

pub(crate) use behind::{Done, IOPS, are_at_once, asked_of, behind};
pub(crate) use conclude::{Uneven, uneven, was_steady};
pub use outcome::{JobFigures, KnownLatencies, OperationFigures, Outcome};
pub use plan::{FILL, Plan, Prepare};
pub(crate) use run::{Written, reads_unwritten};
pub use series::{phase, series};
pub use served::{CLIENTS, LATENESS, SERVED};

impl Test for Plan {
    type Outcome = Outcome;

    const NAME: &'static str = "mixed";
    const QUESTION: &'static str = "how fast and how late is the drive under a load of one's own?";
    const REVIEWS: InReviews = InReviews::ByName;
    const CHOICES: &'static [Choice] = &[Choice::Duration];
    /// 2: a job with a rate or rests has its rate over its time, not up to its last I/O.
    const METHOD_VERSION: u32 = 2;

    /// Whether the drive's contents are changed.
    fn writes(&self) -> bool {
        self.prepare != Prepare::Nothing || self.jobs.iter().any(Job::writes)
    }

    fn purges(&self) -> bool {
        self.prepare != Prepare::Nothing
    }

    fn with(self, overrides: &Overrides) -> Result<Self, PlanError> {
        Ok(Self { duration: overrides.duration.or(self.duration), ..self })
    }

    fn quick(self) -> Self {
        let duration = self.duration.map_or(QUICK_MEASUREMENT, |own| own.min(QUICK_MEASUREMENT));
        Self { duration: Some(duration), span: quick_span(self.span), ..self }
    }

    fn as_asked(&self) -> Self {
        // Without jobs it is all that says what was done.
        let title = self.title.clone().filter(|_| self.jobs.is_empty());
        Self { title, read_as: Vec::new(), ..self.clone() }
    }

    fn demands(&self) -> Demands {
        estimate::demands(self)
    }

    fn file_size(&self) -> Bytes {
        estimate::file_size(self)
    }

    fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        estimate::estimate(self, drive)
    }

    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        check::check(self, drive)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        run::run(self, session)
    }

    fn conclude(&self, recording: &Recording, _: &Known<'_>) -> (Option<Outcome>, Vec<Warning>) {
        conclude::conclude(self, recording)
    }

    /// What another program measured is in no recording; how a drive was served to others is in no plan.
    fn conclude_from(
        &self,
        recording: &Recording,
        known: &Known<'_>,
        found: Option<&Outcome>,
    ) -> (Option<Outcome>, Vec<Warning>) {
        match found {
            Some(Outcome { imported_from: Some(program), .. }) => {
                (found.cloned(), vec![Warning::Job(JobWarning::Imported { from: program.clone() })])
            }
            Some(Outcome { served: Some(served), .. }) => served::conclude(served, recording),
            _ => self.conclude(recording, known),
        }
    }

    fn imported_from(outcome: &Outcome) -> Option<&ImportedFrom> {
        outcome.imported_from.as_ref()
    }

    fn figures(outcome: &Outcome) -> Vec<Figure> {
        outcome.jobs.iter().flat_map(JobFigures::figures).collect()
    }
}
