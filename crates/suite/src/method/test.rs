//! What every test is: one trait, with defaults for what most tests have in common.

use serde::de::DeserializeOwned;
use writecliff_device::{Bytes, DeviceInfo, Mechanism};
use writecliff_measure::Recording;
use writecliff_trace::ReadError;

use crate::method::estimate::{Demands, Estimate};
use crate::method::fast_part::FastPart;
use crate::method::limits::PlanError;
use crate::method::overrides::{Choice, Overrides};
use crate::method::session::{RunError, Session};
use crate::record::figure::Figure;
use crate::record::imported::ImportedFrom;
use crate::record::judged::Judged;
use crate::record::phase::Phase;
use crate::record::trace_facts::TraceFacts;
use crate::record::warning::Warning;

/// Which reviews have a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InReviews {
    /// All that are not asked for other ones.
    ByDefault,
    /// Those that are asked for it, or for all tests.
    OnRequest,
    /// Those that are asked for it by its name: what it does is the user's own.
    ByName,
}

/// What a run's record knows beside its recording.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known<'a> {
    /// The drive, as it was when the run began.
    pub(crate) drive: &'a DeviceInfo,
    /// What the traces were then; there may be others in their places by now.
    pub(crate) traces: &'a [TraceFacts],
}

/// What a file in a directory holds that is no test's own choice.
pub(crate) const FILE_SIZE: Bytes = Bytes::from_mib(64);

/// A test, by its plan: all that the rest of the crate, and the list of tests, know of it. The
/// method itself and what comes of it are `run` and `conclude`; everything else is asked before or
/// after.
pub(crate) trait Test: Default + Clone + PartialEq + DeserializeOwned {
    /// What a run of it comes to.
    type Outcome;

    /// What it is called on the command line and in files.
    const NAME: &'static str;
    /// What it answers.
    const QUESTION: &'static str;
    /// Which reviews have it.
    const REVIEWS: InReviews = InReviews::ByDefault;
    /// What a user may change in its plan, beside the seed.
    const CHOICES: &'static [Choice] = &[];
    /// Raised when equal plans give figures that are not to be held against those of before.
    const METHOD_VERSION: u32 = 1;
    /// What a model of a drive must do for its figures to mean anything.
    const NEEDS: &'static [Mechanism] = &[];
    /// Parts of the names of figures that only some runs have: of what not every drive has or does.
    const NOT_ALWAYS: &'static [&'static str] = &[];

    /// Checks the plan against the drive, before anything is done to it.
    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError>;

    /// The plan with what the user changed, which is among its [`CHOICES`](Self::CHOICES).
    fn with(self, _: &Overrides) -> Result<Self, PlanError> {
        Ok(self)
    }

    /// How large a file in a directory is, where the test is run in one.
    fn file_size(&self) -> Bytes {
        FILE_SIZE
    }

    /// The plan cut down to minutes: shorter, and on a small part of the drive.
    fn quick(self) -> Self;

    /// The plan as a review runs it, in which a small drive is no reason to refuse.
    fn fitted(self, _: &DeviceInfo) -> Self {
        self
    }

    /// The plan with what it leaves to the kind of drive decided.
    fn on(self, _: &DeviceInfo) -> Self {
        self
    }

    /// The most I/Os in flight and the longest of them.
    fn demands(&self) -> Demands;

    /// How long it will take and how much it will write, roughly.
    fn estimate(&self, drive: &DeviceInfo) -> Estimate;

    /// Whether it destroys what is on the drive; a test that does not opens it only to read.
    fn writes(&self) -> bool {
        true
    }

    /// Whether the drive is purged for it.
    fn purges(&self) -> bool {
        true
    }

    /// Whether `other` asks the same of a drive. Where a file lies is no part of that.
    fn asks_as(&self, other: &Self) -> bool {
        self.as_asked() == other.as_asked()
    }

    /// The plan without what no drive notices: where a file lies, what a person calls it.
    fn as_asked(&self) -> Self {
        self.clone()
    }

    /// Whether its I/Os have due times. Waiting for one keeps the processor busy, which says
    /// nothing of whether the machine was too slow.
    fn keeps_time(&self) -> bool {
        false
    }

    /// Whether the drive is to become warm: that it did is no doubt then.
    fn warms(&self) -> bool {
        false
    }

    /// The spare area, in percent, at which a series of this name was recorded, if the test does the same
    /// at several: doubts about it are told with it.
    fn spare_of(&self, series: &str) -> Option<f64> {
        let _ = series;
        None
    }

    /// Whether this second of a series of this name belongs to what is to be one rate: that it changes on the
    /// way is doubted.
    fn is_one_rate(&self, series: &str, second: u32) -> bool {
        let _ = (series, second);
        false
    }

    /// How much of a drive of this capacity it writes at a time, if that may be less than a fast
    /// buffer which it does not find then.
    fn written_at_a_time(&self, capacity: Bytes) -> Option<Bytes> {
        let _ = capacity;
        None
    }

    /// The method.
    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError>;

    /// What is known of the traces that it does, as they are now. The record keeps it.
    fn traces(&self) -> Result<Vec<TraceFacts>, ReadError> {
        Ok(Vec::new())
    }

    /// What comes of a recording, complete or not, and what is to be doubted of it.
    fn conclude(
        &self,
        recording: &Recording,
        known: &Known<'_>,
    ) -> (Option<Self::Outcome>, Vec<Warning>);

    /// The same of a test that keeps in its outcome, while it runs, what no recording holds.
    fn conclude_from(
        &self,
        recording: &Recording,
        known: &Known<'_>,
        found: Option<&Self::Outcome>,
    ) -> (Option<Self::Outcome>, Vec<Warning>) {
        let _ = found;
        self.conclude(recording, known)
    }

    /// The outcome with what was counted around the phases, for a test that asks for more than
    /// the seconds tell.
    fn with_phases(&self, outcome: Self::Outcome, _: &[Phase]) -> Self::Outcome {
        outcome
    }

    /// The outcome's figures, the most telling first.
    fn figures(outcome: &Self::Outcome) -> Vec<Figure>;

    /// The names of all figures that a run of this plan can have; `None` if one has to be seen for that.
    fn figure_names(&self) -> Option<Vec<String>> {
        None
    }

    /// What the plan itself asks of the drive, and whether it was so.
    fn targets(_: &Self::Outcome) -> Vec<Judged> {
        Vec::new()
    }

    /// What two runs of equal plans were done with all the same, by name, if that was not one thing
    /// for both: then they cannot be compared.
    fn other_input(_: &Self::Outcome, _: &Self::Outcome) -> Option<String> {
        None
    }

    /// Which program measured it, if it was another one.
    fn imported_from(_: &Self::Outcome) -> Option<&ImportedFrom> {
        None
    }

    /// The fast buffer, if the test found one.
    fn fast_part(_: &Self::Outcome) -> Option<FastPart> {
        None
    }
}
