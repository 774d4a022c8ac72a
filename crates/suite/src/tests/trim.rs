//! TRIM: does performance come back after TRIM?
//!
//! Sequential write speed on the clean drive; full and tortured with random writes (dirty); after
//! TRIM of every LBA; after one sequential pass instead of TRIM; after idle time instead of either.
//! A pass over all LBAs also gives the picture of speed over LBA that HD Tach made.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, Mechanism, Nanos, Operation};
use writecliff_measure::{Queue, Recording, Sample, Totals};
use writecliff_workload::{RandomUniform, Sequential};

use crate::method::change::changed;
use crate::method::estimate::{Demands, Estimate, lacks};
use crate::method::fast_part::FastPart;
use crate::method::limits::{PlanError, check_block, check_depths, check_duration, used};
use crate::method::overrides::{Choice, Overrides};
use crate::method::quick::{QUICK_MEASUREMENT, QUICK_TORTURE, quick_span};
use crate::method::session::{Extent, RunError, Session};
use crate::method::test::{Known, Test};
use crate::record::figure::{Figure, FigureOf, figures_of, millis, names_of};
use crate::record::rate::Rate;
use crate::record::unit::Unit;
use crate::record::warning::{MethodWarning, Warning};

/// The pass over all LBAs of the purged drive.
pub const CLEAN: &str = "clean";
/// The random writes.
pub const TORTURE: &str = "torture";
/// Sequential writes right after them.
pub const DIRTY: &str = "dirty";
/// TRIM of every LBA.
pub const TRIM: &str = "trim";
/// The pass over all LBAs after that.
pub const AFTER_TRIM: &str = "after-trim";
/// Random writes to make the drive dirty again.
pub const TORTURE_AGAIN: &str = "torture-again";
/// The pass over all LBAs of the dirty drive.
pub const DIRTY_PASS: &str = "dirty-pass";
/// Sequential writes after that pass.
const AFTER_PASS: &str = "after-pass";
/// Random writes to make the drive dirty for the last time.
pub const TORTURE_LAST: &str = "torture-last";
/// Time for the drive's own garbage collection.
pub const IDLE: &str = "idle";
/// Sequential writes after that time.
pub const AFTER_IDLE: &str = "after-idle";

/// What to do. The defaults are the published method: 60 minutes of torture, figures over 60 s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// Length of the torture.
    pub torture: Nanos,
    /// Length of the later ones, which begin on a drive that was tortured before.
    pub torture_again: Nanos,
    /// Size of a random write.
    pub block: Bytes,
    /// Random writes in flight.
    pub queue_depth: usize,
    /// Length of a sequential measurement.
    pub measurement: Nanos,
    /// Size of a sequential write.
    pub sequential_block: Bytes,
    /// Sequential writes in flight.
    pub sequential_queue_depth: usize,
    /// Time that the drive is left alone.
    pub idle: Nanos,
    /// The part of the drive, from its start, that is used; `None` for all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Bytes>,
    /// Decides which LBAs are written, in which order, and with what data.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            torture: Nanos::from_secs(60 * 60),
            torture_again: Nanos::from_secs(20 * 60),
            block: Bytes::from_kib(4),
            queue_depth: 32,
            measurement: Nanos::from_secs(60),
            sequential_block: Bytes::from_kib(128),
            sequential_queue_depth: 1,
            idle: Nanos::from_secs(30 * 60),
            span: None,
            seed: 1,
        }
    }
}

impl Plan {
    fn used(&self, drive: &DeviceInfo) -> Bytes {
        used(self.span, drive.capacity, self.block)
    }
}

impl Test for Plan {
    type Outcome = Outcome;

    const NAME: &'static str = "trim";
    const QUESTION: &'static str = "does performance come back after TRIM?";
    const CHOICES: &'static [Choice] = &[Choice::Duration];

    fn with(self, overrides: &Overrides) -> Result<Self, PlanError> {
        let torture = overrides.duration.unwrap_or(self.torture);
        let torture_again = self.torture_again.min(torture);
        Ok(Self { torture, torture_again, ..self })
    }

    fn quick(self) -> Self {
        Self {
            torture: QUICK_TORTURE.min(self.torture),
            torture_again: QUICK_TORTURE.min(self.torture_again),
            measurement: QUICK_MEASUREMENT.min(self.measurement),
            idle: QUICK_TORTURE.min(self.idle),
            span: quick_span(self.span),
            ..self
        }
    }

    fn demands(&self) -> Demands {
        Demands {
            queue_depth: self.queue_depth.max(self.sequential_queue_depth),
            io_size: self.block.max(self.sequential_block),
        }
    }

    fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        let pass = self.used(drive);
        Estimate::on(drive)
            .fill(pass)
            .random(self.torture)
            .sequential(self.measurement)
            .fill(pass)
            .random(self.torture_again)
            .fill(pass)
            .sequential(self.measurement)
            .random(self.torture_again)
            .rest(self.idle)
            .sequential(self.measurement)
    }

    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        check_duration("torture", self.torture)?;
        check_duration("torture_again", self.torture_again)?;
        check_duration("measurement", self.measurement)?;
        check_duration("idle", self.idle)?;
        check_block(self.block, self.span, drive)?;
        check_block(self.sequential_block, self.span, drive)?;
        check_depths([self.queue_depth, self.sequential_queue_depth], drive)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        run(self, session)
    }

    fn conclude(
        &self,
        recording: &Recording,
        known: &Known<'_>,
    ) -> (Option<Outcome>, Vec<Warning>) {
        conclude(self, recording, known.drive)
    }

    fn figures(outcome: &Outcome) -> Vec<Figure> {
        figures_of(FIGURES, outcome)
    }

    fn figure_names(&self) -> Option<Vec<String>> {
        Some(names_of(FIGURES))
    }

    fn fast_part(outcome: &Outcome) -> Option<FastPart> {
        outcome.fast_part
    }
}

fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    session.purge()?;
    write_all(plan, session, CLEAN)?;
    torture(plan, session, TORTURE, plan.torture, 0)?;
    measure(plan, session, DIRTY)?;
    if session.drive().trim {
        session.trim(TRIM, plan.used(session.drive()))?;
        write_all(plan, session, AFTER_TRIM)?;
        torture(plan, session, TORTURE_AGAIN, plan.torture_again, 1)?;
    }
    write_all(plan, session, DIRTY_PASS)?;
    measure(plan, session, AFTER_PASS)?;
    torture(plan, session, TORTURE_LAST, plan.torture_again, 2)?;
    session.idle(IDLE, plan.idle)?;
    measure(plan, session, AFTER_IDLE)
}

/// One sequential pass over all LBAs.
fn write_all(plan: &Plan, session: &mut Session<'_>, name: &str) -> Result<(), RunError> {
    let span = plan.used(session.drive());
    session.fill(name, span, plan.sequential_block, plan.sequential_queue_depth)
}

/// Sequential writes from the first LBA on.
fn measure(plan: &Plan, session: &mut Session<'_>, name: &str) -> Result<(), RunError> {
    let span = plan.used(session.drive());
    let ios = Sequential::new(Operation::Write, span, plan.sequential_block);
    let writes = Queue::new(ios, plan.sequential_queue_depth);
    session.record(name, writes, Some(plan.measurement), Extent::Time(plan.measurement))
}

fn torture(
    plan: &Plan,
    session: &mut Session<'_>,
    name: &str,
    duration: Nanos,
    turn: u64,
) -> Result<(), RunError> {
    let span = plan.used(session.drive());
    let seed = plan.seed.wrapping_add(turn);
    let ios = RandomUniform::new(Operation::Write, span, plan.block, seed);
    session.record(name, Queue::new(ios, plan.queue_depth), Some(duration), Extent::Time(duration))
}

/// Sequential write rates in MB/s (10^6), each over the first seconds of its phase; `None` for
/// what the run did not come to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The purged drive.
    pub clean: f64,
    /// After torture.
    pub dirty: Option<f64>,
    /// After torture and TRIM of every LBA.
    pub after_trim: Option<f64>,
    /// After the later torture, which precedes the pass and the idle time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty_again: Option<f64>,
    /// After torture and one sequential pass over all LBAs.
    pub after_pass: Option<f64>,
    /// After torture and idle time.
    pub after_idle: Option<f64>,
    /// The whole pass over the purged drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_clean: Option<f64>,
    /// The whole pass over the dirty drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_dirty: Option<f64>,
    /// The whole pass after TRIM of every LBA.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_after_trim: Option<f64>,
    /// How long the TRIM of every LBA took.
    pub trim_took: Option<Nanos>,
    /// What the clean drive took before its rate fell: an SLC buffer, if it has one.
    pub fast_part: Option<FastPart>,
    /// Of the rates of first seconds those that were two.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<ChangedRate>,
}

/// A rate that changed while it was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChangedRate {
    /// The name of its figure.
    pub figure: String,
    /// The mean of its first third, in MB/s (10^6).
    pub first: f64,
    /// The mean of its last third.
    pub last: f64,
}

/// The name of the figure that is the drive's fast buffer; not there if it showed none.
pub const FAST_PART: &str = "fast part";

type Row = FigureOf<Outcome>;

/// All figures of an outcome: the states in which the sequential rate is measured, and what else
/// came of it.
pub const FIGURES: &[Row] = &[
    Row::more("clean", "Clean", Unit::MegabytesPerSecond, |o| Some(o.clean))
        .means("before any random write"),
    Row::more("dirty", "After torture", Unit::MegabytesPerSecond, |o| o.dirty)
        .means("right after the first random writes"),
    Row::more("after TRIM", "After TRIM", Unit::MegabytesPerSecond, |o| o.after_trim)
        .means("after random writes and TRIM of all that was written"),
    Row::more(DIRTY_AGAIN, "After the later torture", Unit::MegabytesPerSecond, |o| {
        o.dirty_again
    })
    .means("right after the later random writes, before a pass and idle time"),
    Row::more(
        "after a sequential pass",
        "After a sequential pass",
        Unit::MegabytesPerSecond,
        |o| o.after_pass,
    )
    .means("after random writes and one pass over the same LBAs"),
    Row::more("after idle time", "After idle time", Unit::MegabytesPerSecond, |o| o.after_idle)
        .means("after random writes and time in which the drive is left alone"),
    Row::more("whole pass, clean", "Whole pass, clean", Unit::MegabytesPerSecond, |o| {
        o.whole_clean
    })
    .means(
        "one pass over what is tested before any random write, from its first second to its last",
    ),
    Row::more("whole pass, dirty", "Whole pass, dirty", Unit::MegabytesPerSecond, |o| {
        o.whole_dirty
    })
    .means("one pass over what is tested, after random writes; without TRIM also after first seconds in order"),
    Row::more("whole pass after TRIM", "Whole pass after TRIM", Unit::MegabytesPerSecond, |o| {
        o.whole_after_trim
    })
    .means("one pass over what is tested, after random writes and TRIM of all that was written"),
    Row::less("TRIM took", "TRIM took", Unit::Milliseconds, |o| Some(millis(o.trim_took?.0)))
        .means("for all that was written, from the first command to the last")
        .unjudged(),
    Row::more(FAST_PART, "Fast part", Unit::Bytes, |o| Some(o.fast_part?.bytes.0 as f64))
        .means("what the clean drive took before its rate fell by a quarter or more, for good")
        .unjudged(),
];

impl Outcome {
    /// The share of the clean drive's rate that TRIM brought back, over a whole pass: the first seconds of a
    /// drive with a fast buffer are the buffer's.
    pub fn restored(&self) -> Option<f64> {
        Some(self.whole_after_trim? / self.whole_clean?).filter(|share| share.is_finite())
    }

    /// The rate after idle time, where that is well below what any torture left.
    pub fn slower_after_idle(&self) -> Option<f64> {
        let dirtiest = self.dirty.into_iter().chain(self.dirty_again).reduce(f64::min)?;
        self.after_idle.filter(|idle| *idle < SLOWER * dirtiest)
    }

    /// How a rate of first seconds changed, if it did.
    pub fn changed(&self, figure: &str) -> Option<&ChangedRate> {
        self.changed.iter().find(|rate| rate.figure == figure)
    }

    /// Whether the tortures left the drive alike, as far as its rate tells: what comes after one of them
    /// can be compared with what comes after another then.
    pub fn is_dirty_alike(&self) -> bool {
        match (self.dirty, self.dirty_again) {
            (Some(first), Some(again)) => first.min(again) >= first.max(again) * ALIKE,
            _ => false,
        }
    }

    /// How many times the rate of the dirty drive TRIM gave: one, if the rate after it is no more than
    /// what the dirty drive has after one torture or another.
    pub fn gain(&self) -> Option<f64> {
        let (first, after) = (self.dirty?, self.after_trim?);
        let again = self.dirty_again.unwrap_or(first);
        let is_as_dirty = (first.min(again)..=first.max(again)).contains(&after);
        let times = after / first.max(f64::MIN_POSITIVE);
        Some(if is_as_dirty { 1.0 } else { times })
    }
}

/// The figure of the second torture, of a drive with TRIM.
const DIRTY_AGAIN: &str = "dirty again";

/// The figures of first seconds, and the phases that begin with these.
const FIRST_SECONDS: [(&str, &str); 6] = [
    ("clean", CLEAN),
    ("dirty", DIRTY),
    ("after TRIM", AFTER_TRIM),
    (DIRTY_AGAIN, DIRTY_PASS),
    ("after a sequential pass", AFTER_PASS),
    ("after idle time", AFTER_IDLE),
];

/// The phase that a figure is of.
pub fn phase_of(figure: &str) -> Option<&'static str> {
    const OTHERS: [(&str, &str); 5] = [
        ("whole pass, clean", CLEAN),
        ("whole pass, dirty", DIRTY_PASS),
        ("whole pass after TRIM", AFTER_TRIM),
        ("TRIM took", TRIM),
        (FAST_PART, CLEAN),
    ];
    let mut all = FIRST_SECONDS.iter().chain(&OTHERS);
    all.find(|(name, _)| *name == figure).map(|(_, phase)| *phase)
}

/// Passes that are shorter than this tell no rate.
const BRIEF: Nanos = Nanos::from_secs(2);
/// A rate that is lower than another by this is well below it.
const SLOWER: f64 = 0.75;
/// Rates of one state differ by less.
const ALIKE: f64 = 0.85;

fn conclude(
    plan: &Plan,
    recording: &Recording,
    drive: &DeviceInfo,
) -> (Option<Outcome>, Vec<Warning>) {
    let measured = |phase| -> Vec<&Sample> {
        let end = plan.measurement;
        recording
            .series(phase)
            .filter(|sample| Nanos::from_secs(sample.second.into()) < end)
            .collect()
    };
    let rate = |phase| Rate::of(&Totals::of(measured(phase))).map(|rate| rate.megabytes_per_second);
    let changed = |(figure, phase): (&str, &'static str)| {
        let measured = measured(phase);
        let seconds = measured.iter().filter(|sample| sample.is_whole());
        let rates: Vec<f64> = seconds.map(|sample| sample.megabytes_per_second()).collect();
        let (first, last) = changed(&rates)?;
        Some(ChangedRate { figure: figure.to_owned(), first, last })
    };
    let Some(clean) = rate(CLEAN) else {
        return (
            None,
            vec![Warning::Method(MethodWarning::Ended {
                phase: "the clean pass".to_owned(),
                lasted: None,
            })],
        );
    };
    // One that was broken off is no pass; one of which the drive failed a few is.
    let used = plan.used(drive);
    let whole = |phase| {
        let totals = Totals::of(recording.series(phase));
        let is_whole = totals.written + plan.sequential_block * totals.failed >= used;
        Rate::of_series(recording, phase).filter(|_| is_whole)
    };
    let clean_pass: Vec<_> = recording.series(CLEAN).collect();
    let outcome = Outcome {
        clean,
        dirty: rate(DIRTY),
        after_trim: rate(AFTER_TRIM),
        // Without TRIM that pass follows the first sequential writes, not random ones.
        dirty_again: rate(AFTER_TRIM).and_then(|_| rate(DIRTY_PASS)),
        after_pass: rate(AFTER_PASS),
        after_idle: rate(AFTER_IDLE),
        whole_clean: whole(CLEAN),
        whole_dirty: whole(DIRTY_PASS),
        whole_after_trim: whole(AFTER_TRIM),
        trim_took: Some(Totals::of(recording.series(TRIM)).span)
            .filter(|took| *took > Nanos::ZERO && !lacks(drive, Mechanism::TrimTime)),
        fast_part: FastPart::of(&clean_pass, drive.temperature_limit),
        changed: FIRST_SECONDS
            .into_iter()
            .filter(|(figure, _)| *figure != DIRTY_AGAIN || rate(AFTER_TRIM).is_some())
            .filter_map(changed)
            .collect(),
    };
    let mut warnings = Vec::new();
    // What writes all in less than that has no first seconds that are longer.
    let passes = FIRST_SECONDS.map(|(_, phase)| Totals::of(recording.series(phase)));
    let passes = passes.into_iter().filter(|pass| pass.written >= used);
    if let Some(lasted) = passes.map(|pass| pass.span).min().filter(|lasted| *lasted < BRIEF) {
        let part = "The shortest write of all that is tested".to_owned();
        warnings.push(Warning::Method(MethodWarning::Brief { part, lasted }));
    }
    let parts = [
        ("the writes to the dirty drive", outcome.dirty),
        ("the pass after TRIM", outcome.after_trim.filter(|_| drive.trim).or(outcome.dirty)),
        ("the pass over the dirty drive", outcome.whole_dirty),
        ("the writes after it", outcome.after_pass),
        ("the writes after idle time", outcome.after_idle),
    ];
    if let Some((missing, _)) = parts.iter().find(|(_, rate)| rate.is_none()) {
        let phase = (*missing).to_owned();
        warnings.push(Warning::Method(MethodWarning::Ended { phase, lasted: None }));
    } else if outcome.after_trim.is_none() {
        warnings.push(Warning::Method(MethodWarning::NoTrim));
    }
    (Some(outcome), warnings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(dirty: f64, dirty_again: f64, after_trim: f64) -> Outcome {
        Outcome {
            clean: 400.0,
            dirty: Some(dirty),
            after_trim: Some(after_trim),
            dirty_again: Some(dirty_again),
            after_pass: Some(380.0),
            after_idle: Some(200.0),
            whole_clean: Some(400.0),
            whole_dirty: Some(150.0),
            whole_after_trim: Some(390.0),
            trim_took: None,
            fast_part: None,
            changed: Vec::new(),
        }
    }

    #[test]
    fn idle_time_leaves_a_drive_slower_that_is_slower_than_any_torture_left_it() {
        let after = |idle| Outcome { after_idle: Some(idle), ..outcome(20.0, 10.0, 390.0) };
        assert_eq!(
            [7.0, 8.0, 15.0].map(|idle| after(idle).slower_after_idle()),
            [Some(7.0), None, None]
        );
    }

    #[test]
    fn rates_that_change_are_of_figures_that_there_are() {
        for (figure, phase) in FIRST_SECONDS {
            assert!(FIGURES.iter().any(|one| one.name == figure), "{figure} {phase}");
        }
        assert!(FIGURES.iter().all(|figure| phase_of(figure.name).is_some()));
    }

    #[test]
    fn what_comes_after_another_torture_is_compared_only_where_that_made_no_difference() {
        assert!(outcome(100.0, 110.0, 390.0).is_dirty_alike());
        assert!(!outcome(50.0, 110.0, 390.0).is_dirty_alike());
        assert!(!Outcome { dirty_again: None, ..outcome(50.0, 50.0, 390.0) }.is_dirty_alike());
    }

    /// A drive that ignores TRIM is as dirty after it as after any torture.
    #[test]
    fn trim_gives_what_no_torture_leaves() {
        assert_eq!(outcome(13.8, 18.4, 16.8).gain(), Some(1.0));
        assert_eq!(outcome(13.8, 18.4, 27.6).gain(), Some(2.0));
        assert_eq!(outcome(20.0, 15.0, 10.0).gain(), Some(0.5));
        assert_eq!(Outcome { after_trim: None, ..outcome(1.0, 1.0, 1.0) }.gain(), None);
    }
}
