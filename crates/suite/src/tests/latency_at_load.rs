//! Latency at load: what will users wait?
//!
//! An open loop: I/Os are due as users come, who know nothing of the drive, at shares of the rate that
//! the drive has with a full queue. Response times count from when an I/O is due.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, Nanos};
use writecliff_measure::{Recording, Stream, Streams, Totals};
use writecliff_workload::Pace;

use crate::method::estimate::{Demands, Estimate};
use crate::method::ladder::{Ladder, States};
use crate::method::limits::{
    PlanError, check_block, check_duration, check_list, check_percents, listed, used,
};
use crate::method::loads::Load;
use crate::method::overrides::{Choice, Overrides};
use crate::method::quick::{QUICK_MEASUREMENT, QUICK_TORTURE, few, quick_span};
use crate::method::seed::seed_of;
use crate::method::session::{Extent, RunError, Session};
use crate::method::test::{InReviews, Known, Test};
use crate::record::figure::{Figure, Good};
use crate::record::rate::{Rate, percentile};
use crate::record::unit::Unit;
use crate::record::warning::{MethodWarning, Warning};

pub use writecliff_workload::Gaps;

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// Rates of arrival, in percent of the saturation.
    pub percents: Vec<u32>,
    /// How the times between arrivals fall, a course through all rates for each.
    pub gaps: Vec<Gaps>,
    /// Shares of reads, in percent, each a load of its own; the most reads first.
    pub read_percents: Vec<u8>,
    /// Size of an I/O.
    pub block: Bytes,
    /// I/Os in flight at most, in the full queue that shows the saturation and in the open loop, as
    /// far as the drive takes them at once; what is due then waits.
    pub queue_depth: usize,
    /// Length of a measurement.
    pub measurement: Nanos,
    /// The longest that random writes last before loads that write are measured.
    pub soak: Nanos,
    /// The part of the drive, from its start, that is used; `None` for all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Bytes>,
    /// Decides which LBAs are read and written, and when.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            percents: vec![5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 100],
            gaps: vec![Gaps::Poisson, Gaps::Steady],
            read_percents: vec![100],
            block: Bytes::from_kib(4),
            queue_depth: 256,
            measurement: Nanos::from_secs(30),
            soak: Nanos::from_secs(1800),
            span: None,
            seed: 1,
        }
    }
}

impl Plan {
    fn used(&self, drive: &DeviceInfo) -> Bytes {
        used(self.span, drive.capacity, self.block)
    }

    fn states(&self, drive: &DeviceInfo) -> States {
        States { span: self.used(drive), soak: self.soak, seed: self.seed }
    }

    /// The most reads first.
    fn loads(&self) -> Vec<Load> {
        Load::of_shares(true, self.block, &self.read_percents)
    }

    fn ladder(&self, drive: &DeviceInfo) -> Ladder {
        Ladder {
            states: self.states(drive),
            loads: self.loads(),
            soak_block: self.block,
            ends_soaked: false,
        }
    }
}

impl Test for Plan {
    type Outcome = Outcome;

    const NAME: &'static str = "latency-at-load";
    const QUESTION: &'static str = "what will users wait?";
    const REVIEWS: InReviews = InReviews::OnRequest;
    const CHOICES: &'static [Choice] = &[Choice::Duration];
    /// 2: each measurement goes to places of its own.
    const METHOD_VERSION: u32 = 2;
    const NOT_ALWAYS: &'static [&'static str] = &[" knee"];

    fn with(self, overrides: &Overrides) -> Result<Self, PlanError> {
        Ok(Self { measurement: overrides.duration.unwrap_or(self.measurement), ..self })
    }

    fn quick(self) -> Self {
        Self {
            percents: few(self.percents, &[10, 50, 80, 95]),
            measurement: QUICK_MEASUREMENT.min(self.measurement),
            soak: QUICK_TORTURE.min(self.soak),
            span: quick_span(self.span),
            ..self
        }
    }

    fn demands(&self) -> Demands {
        States::demands(self.queue_depth, self.block)
    }

    fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        let courses = (self.gaps.len() * self.percents.len()) as u64;
        let each = self.measurement * (1 + courses);
        let measured = |estimate: Estimate, load: &Load| match load.writes() {
            true => estimate.random(each),
            false => estimate.rest(each),
        };
        let loads = self.loads();
        let full = self.states(drive).estimate_full(drive);
        let soaks = loads.iter().any(Load::writes);
        let ready = if soaks { full.random(self.soak) } else { full };
        loads.iter().fold(ready, measured)
    }

    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        check_list("percents", &self.percents)?;
        check_list("gaps", &self.gaps)?;
        check_list("read_percents", &self.read_percents)?;
        let refuse = |option, got, reason: String| Err(PlanError { option, got, reason });
        if !self.percents.iter().all(|percent| (1..=PERCENT_MAX).contains(percent)) {
            let reason = format!("1 to {PERCENT_MAX} percent of the saturation are");
            return refuse("percents", listed(&self.percents), reason);
        }
        check_percents("read_percents", &self.read_percents)?;
        if !(1..=QUEUE_DEPTH_MAX).contains(&self.queue_depth) {
            let reason = format!("1 to {QUEUE_DEPTH_MAX} are");
            return refuse("queue_depth", self.queue_depth.to_string(), reason);
        }
        check_duration("measurement", self.measurement)?;
        check_duration("soak", self.soak)?;
        check_block(self.block, self.span, drive)?;
        States::check(self.span, drive)
    }

    fn keeps_time(&self) -> bool {
        true
    }

    /// What the steps are shares of is; what comes at a rate is done at it, or falls behind.
    fn is_one_rate(&self, series: &str, _: u32) -> bool {
        self.loads().into_iter().any(|load| series == saturation_phase(load))
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        let ladder = self.ladder(session.drive());
        ladder.climb(session, |session, load| measure(self, session, load))
    }

    fn conclude(&self, recording: &Recording, _: &Known<'_>) -> (Option<Outcome>, Vec<Warning>) {
        conclude(self, recording)
    }

    fn figures(outcome: &Outcome) -> Vec<Figure> {
        outcome.loads.iter().flat_map(LoadFigures::figures).collect()
    }
}

/// Far past saturation there is nothing to learn.
const PERCENT_MAX: u32 = 200;
const QUEUE_DEPTH_MAX: usize = 4096;

/// What the times between arrivals are called.
pub fn gaps_name(gaps: Gaps) -> &'static str {
    match gaps {
        Gaps::Poisson => "poisson",
        Gaps::Steady => "steady",
    }
}

/// The phase of a load with a full queue.
pub fn saturation_phase(load: Load) -> String {
    format!("{}-saturation", load.name())
}

/// The phase of a load at a rate of arrival.
fn phase(load: Load, gaps: Gaps, percent: u32) -> String {
    format!("{}-{}-{percent}%", load.name(), gaps_name(gaps))
}

/// The saturation, and every course up to it.
fn measure(plan: &Plan, session: &mut Session<'_>, load: Load) -> Result<(), RunError> {
    let (span, lba_size) = (plan.used(session.drive()), session.drive().lba_size);
    let depth = plan.queue_depth.min(session.drive().queue_depth_max);
    let extent = Extent::Time(plan.measurement);
    let full = |name: &str| load.stream(span, lba_size, depth, seed_of(plan.seed, name));
    let (name, duration) = (saturation_phase(load), Some(plan.measurement));
    let mut saturation = None;
    session.phase(&name, |session| {
        saturation = session.series(&name, Streams::new([full(&name)]), duration, extent)?;
        Ok(())
    })?;
    let Some(saturation) = saturation else { return Ok(()) };
    for gaps in &plan.gaps {
        for percent in &plan.percents {
            let iops = arrivals(saturation.iops, *percent);
            let (name, pace) = (phase(load, *gaps, *percent), Pace::Arrivals { iops, gaps: *gaps });
            let users = Stream { pace, duration, ..full(&name) };
            session.record(&name, Streams::new([users]), None, extent)?;
        }
    }
    Ok(())
}

/// Arrivals a second.
fn arrivals(saturation: f64, percent: u32) -> u64 {
    ((saturation * f64::from(percent) / 100.0).round() as u64).max(1)
}

/// How response times grow with the load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The most reads first.
    pub loads: Vec<LoadFigures>,
}

/// One load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadFigures {
    /// Which.
    pub load: Load,
    /// What the drive does with a full queue, in IOPS.
    pub saturation_iops: f64,
    /// In the order of the plan.
    pub courses: Vec<Course>,
}

/// From few arrivals to many.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Course {
    /// How the times between arrivals fall.
    pub gaps: Gaps,
    /// In the order of the plan.
    pub steps: Vec<Step>,
    /// Where more load costs more than it brings; `None` where that was not seen up to the most load that was tried,
    /// or the course is out of order, or the drive slowed down.
    pub knee: Option<Knee>,
    /// Whether the drive slowed down to protect itself from heat, with a full queue or in one of the steps: which
    /// of them keep up is the time's, and not the load's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub slowed_down: bool,
}

/// One rate of arrival. Response times are in nanoseconds, percentiles at most 0.8 % too high, and none
/// of fewer I/Os than make one (`record/rate.rs`).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Arrivals in percent of the saturation.
    pub percent: u32,
    /// Arrivals a second that were asked for.
    pub asked_iops: u64,
    /// What was done.
    pub rate: Rate,
    /// Median.
    pub p50_ns: u64,
    /// 99 %.
    pub p99_ns: Option<u64>,
    /// 99.9 %.
    pub p999_ns: Option<u64>,
    /// 99.99 %.
    pub p9999_ns: Option<u64>,
    /// 99.999 %.
    pub p99999_ns: Option<u64>,
    /// Whether the drive did not keep up: response times grew until the arrivals ended.
    pub fell_behind: bool,
}

/// The load at which throughput over mean response time, Kleinrock's *power*, is highest.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Knee {
    /// In percent of the saturation.
    pub percent: f64,
    /// The same in IOPS.
    pub iops: f64,
    /// Mean response time there, in nanoseconds.
    pub mean_ns: u64,
}

impl LoadFigures {
    fn figures(&self) -> Vec<Figure> {
        let name = self.load.name().replace('-', " ");
        let saturation = Figure::iops(format!("{name} saturation"), self.saturation_iops);
        let courses = self.courses.iter().flat_map(|course| course.figures(&name));
        [saturation].into_iter().chain(courses).map(|figure| figure.of(self.load.name())).collect()
    }
}

/// Near saturation a little more load makes response times much longer: no gate looks at them there.
const JUDGED_UP_TO: u32 = 80;

impl Course {
    fn figures(&self, load: &str) -> Vec<Figure> {
        let arrivals = gaps_name(self.gaps);
        let knee = self.knee.map(|knee| {
            let name = format!("{load} knee, {arrivals}");
            let share = Figure::new(&name, knee.percent, Unit::Percent, Good::AtLeast);
            [Figure::iops(format!("{name}, IOPS"), knee.iops), share].map(Figure::unjudged)
        });
        let of_step = |step: &Step| {
            let at = format!("{load} at {} %, {arrivals}", step.percent);
            let late = |what, nanos| Figure::percentile(format!("{at}, {what}"), nanos);
            let p99 = late("p99", step.p99_ns);
            let p99 = if step.percent > JUDGED_UP_TO { p99.map(Figure::unjudged) } else { p99 };
            let mean = late("mean", Some(step.rate.mean_ns)).map(Figure::unjudged);
            let tail = late("p99.99", step.p9999_ns).map(Figure::unjudged);
            [p99, mean, tail]
        };
        let of_steps = self.steps.iter().flat_map(of_step).flatten();
        knee.into_iter().flatten().chain(of_steps).collect()
    }
}

fn conclude(plan: &Plan, recording: &Recording) -> (Option<Outcome>, Vec<Warning>) {
    let (mut loads, mut warnings) = (Vec::new(), Vec::new());
    for load in plan.loads() {
        let saturation = Rate::of(&Totals::of(recording.series(&saturation_phase(load))));
        let Some(Rate { iops, .. }) = saturation else {
            warnings.push(Warning::Method(MethodWarning::Ended {
                phase: saturation_phase(load),
                lasted: None,
            }));
            break;
        };
        let course = |gaps: &Gaps| course_of(plan, load, *gaps, iops, recording);
        let courses: Vec<Course> = plan.gaps.iter().map(course).collect();
        for course in &courses {
            warnings.extend(doubts(plan, load, course));
        }
        loads.push(LoadFigures { load, saturation_iops: iops, courses });
    }
    ((!loads.is_empty()).then_some(Outcome { loads }), warnings)
}

fn course_of(
    plan: &Plan,
    load: Load,
    gaps: Gaps,
    saturation: f64,
    recording: &Recording,
) -> Course {
    let step = |percent: &u32| {
        let asked_iops = arrivals(saturation, *percent);
        step_of(plan, &phase(load, gaps, *percent), *percent, asked_iops, recording)
    };
    let steps: Vec<Step> = plan.percents.iter().map_while(step).collect();
    let powers = steps.iter().filter(|step| !step.fell_behind && step.rate.mean_ns > 0);
    let mut powers: Vec<(f64, f64)> =
        powers.map(|step| (step.asked_iops as f64, power(step))).collect();
    powers.sort_by(|one, other| one.0.total_cmp(&other.0));
    let of_steps = steps.iter().map(|step| phase(load, gaps, step.percent));
    let slowed_down = of_steps
        .chain([saturation_phase(load)])
        .any(|name| recording.series(&name).any(|sample| sample.throttled_ns.unwrap_or(0) > 0));
    let is_in_order = outlier(&steps).is_none() && !slowed_down;
    // What is highest at the end of the curve may be higher beyond it.
    let has_more = |iops: f64| steps.iter().any(|step| step.asked_iops as f64 > iops);
    let is_knee = |(iops, _): &(f64, f64)| is_in_order && has_more(*iops);
    let knee = highest(&powers).filter(is_knee).map(|(iops, power)| Knee {
        percent: iops / saturation * 100.0,
        iops,
        mean_ns: (iops / power) as u64,
    });
    Course { gaps, steps, knee, slowed_down }
}

/// The arrivals of a measurement may take so much longer than it to be done, as a share of it.
const BEHIND: f64 = 0.02;

fn step_of(
    plan: &Plan,
    phase: &str,
    percent: u32,
    asked_iops: u64,
    recording: &Recording,
) -> Option<Step> {
    let totals = Totals::of(recording.series(phase));
    let rate = Rate::of(&totals).filter(|_| totals.ios > 0)?;
    let latencies = recording.latencies(phase, 0..u32::MAX);
    let percentile = |percent| percentile(&latencies, totals.longest, percent);
    Some(Step {
        percent,
        asked_iops,
        rate,
        p50_ns: latencies.percentile(50.0).min(totals.longest).0,
        p99_ns: percentile(99.0),
        p999_ns: percentile(99.9),
        p9999_ns: percentile(99.99),
        p99999_ns: percentile(99.999),
        fell_behind: totals.span.0 as f64 > plan.measurement.0 as f64 * (1.0 + BEHIND),
    })
}

/// More load shortens no response time by more than this factor but by chance.
const SHORTER: f64 = 1.5;

/// A step, and one of more load whose mean response time is far shorter; of several such pairs that which
/// differs most. A drive has no knee then: something else than the load made its I/Os wait.
pub(crate) fn outlier(steps: &[Step]) -> Option<(&Step, &Step)> {
    let mut by_load: Vec<&Step> = steps.iter().filter(|step| step.rate.mean_ns > 0).collect();
    by_load.sort_by_key(|step| step.asked_iops);
    let pairs = by_load
        .iter()
        .enumerate()
        .flat_map(|(at, less)| by_load[at + 1..].iter().map(move |more| (*less, *more)));
    let shorter =
        |(less, more): &(&Step, &Step)| less.rate.mean_ns as f64 / more.rate.mean_ns as f64;
    let most = pairs.max_by(|one, other| shorter(one).total_cmp(&shorter(other)))?;
    (shorter(&most) > SHORTER).then_some(most)
}

/// Throughput over response time (L. Kleinrock, "Power and deterministic rules of thumb for
/// probabilistic problems in computer communications", ICC 1979).
fn power(step: &Step) -> f64 {
    step.asked_iops as f64 / step.rate.mean_ns as f64
}

/// How much higher than its highest point a curve may be between points, as a share of it.
const BETWEEN: f64 = 0.02;

/// Where points of growing load are highest in power, and how high: the vertex of the parabola through the
/// highest and its neighbours, or the point itself where it is the first or the last, or where the curve falls
/// so steeply beside it that it is no parabola: it would rise far above the points, or to a response time that
/// is not between those of the two beside it.
fn highest(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let at = (0..points.len()).max_by(|a, b| points[*a].1.total_cmp(&points[*b].1))?;
    let Some(&[(left, left_y), (middle, middle_y), (right, right_y)]) =
        at.checked_sub(1).and_then(|before| points.get(before..at + 2))
    else {
        return Some(points[at]);
    };
    // Newton's divided differences.
    let first = (middle_y - left_y) / (middle - left);
    let second = ((right_y - middle_y) / (right - middle) - first) / (right - left);
    let vertex = f64::midpoint(left, middle) - first / (2.0 * second);
    let top = left_y + (vertex - left) * (first + second * (vertex - middle));
    let (before, behind) = if vertex <= middle {
        (left / left_y, middle / middle_y)
    } else {
        (middle / middle_y, right / right_y)
    };
    let is_between = (before..=behind).contains(&(vertex / top));
    let is_there = second < 0.0 && top <= middle_y * (1.0 + BETWEEN) && is_between;
    Some(if is_there { (vertex, top) } else { (middle, middle_y) })
}

/// What is missing of a course, and from where on the drive did not keep up.
fn doubts(plan: &Plan, load: Load, course: &Course) -> Vec<Warning> {
    let missing = plan.percents.get(course.steps.len());
    let ended = missing.map(|percent| {
        Warning::Method(MethodWarning::Ended {
            phase: phase(load, course.gaps, *percent),
            lasted: None,
        })
    });
    let behind = course.steps.iter().filter(|step| step.fell_behind);
    let behind = behind.min_by_key(|step| step.percent).map(|step| {
        Warning::Method(MethodWarning::FellBehind {
            phase: phase(load, course.gaps, step.percent),
            asked: step.asked_iops as f64,
            done: step.rate.iops,
        })
    });
    ended.into_iter().chain(behind).collect()
}

#[cfg(test)]
mod tests {
    use writecliff_measure::Sample;

    use super::*;

    /// The load, as a share, at which the power of a queue with this mean response time is highest.
    fn knee(response: impl Fn(f64) -> f64) -> f64 {
        let loads = [5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95].map(|load| f64::from(load) / 100.0);
        highest(&loads.map(|load| (load, load / response(load)))).unwrap().0
    }

    #[test]
    fn the_knee_is_where_theory_has_it() {
        assert!((knee(|load| 1.0 / (1.0 - load)) - 0.5).abs() < 1e-9, "M/M/1");
        let deterministic = knee(|load| 1.0 + load / (2.0 * (1.0 - load)));
        assert!((deterministic - (2.0 - 2f64.sqrt())).abs() < 0.005, "M/D/1: {deterministic}");
        // Without queueing it is the end, or the last step before a cliff.
        assert_eq!(knee(|_| 1.0), 0.95);
        assert_eq!(knee(|load| if load > 0.85 { 20.0 } else { 1.0 }), 0.8);
        assert_eq!(knee(|load| if load > 0.25 { 82.0 } else { 6.96 }), 0.2, "no time is below all");
        assert_eq!(highest(&[]), None);
    }

    #[test]
    fn a_course_that_falls_back_has_an_outlier() {
        let step = |(percent, mean_us): (u32, u64)| {
            let asked_iops = u64::from(percent) * 1000;
            let iops = asked_iops as f64;
            let rate = Rate {
                iops,
                megabytes_per_second: iops * 0.004,
                mean_ns: mean_us * 1000,
                max_ns: 0,
            };
            let (p50_ns, p99_ns, p999_ns, p9999_ns, p99999_ns) = (1, None, None, None, None);
            let fell_behind = false;
            Step {
                percent,
                asked_iops,
                rate,
                p50_ns,
                p99_ns,
                p999_ns,
                p9999_ns,
                p99999_ns,
                fell_behind,
            }
        };
        let steps = |all: &[(u32, u64)]| all.iter().copied().map(step).collect::<Vec<Step>>();
        assert!(outlier(&steps(&[(10, 80), (50, 75), (95, 152)])).is_none());
        let disturbed = steps(&[(50, 152), (80, 3100), (95, 206)]);
        let (less, more) = outlier(&disturbed).unwrap();
        assert_eq!((less.percent, more.percent), (80, 95));
    }

    /// A queue's response times, and one second in which the drive was too warm.
    #[test]
    fn a_drive_that_slowed_down_has_no_knee() {
        let plan = Plan::default();
        let load = plan.loads()[0];
        let knee = |warm: Option<&str>| {
            let second = |series: String, iops: u64, mean_us: u64| Sample {
                throttled_ns: Some(u64::from(warm == Some(series.as_str()))),
                series,
                span_ns: 1_000_000_000,
                reads: iops,
                read_bytes: iops * 4096,
                latency_mean_ns: mean_us * 1000,
                ..Sample::default()
            };
            let mut recording = Recording::default();
            recording.samples = vec![second(saturation_phase(load), 100_000, 500)];
            recording.samples.extend(plan.percents.iter().map(|percent| {
                let response = 10_000 / u64::from(100 - (*percent).min(99));
                let name = phase(load, Gaps::Poisson, *percent);
                second(name, u64::from(*percent) * 1000, response)
            }));
            let course = course_of(&plan, load, Gaps::Poisson, 100_000.0, &recording);
            (course.knee.is_some(), course.slowed_down)
        };
        assert_eq!(knee(None), (true, false));
        assert_eq!(knee(Some(&phase(load, Gaps::Steady, 50))), (true, false), "another course");
        for warm in [saturation_phase(load), phase(load, Gaps::Poisson, 50)] {
            assert_eq!(knee(Some(&warm)), (false, true), "{warm}");
        }
    }

    #[test]
    fn a_parabola_is_found_exactly() {
        let points = [1.0, 2.0, 5.0].map(|x: f64| (x, 17.0 - (x - 2.5).powi(2)));
        let (x, y) = highest(&points).unwrap();
        assert!((x - 2.5).abs() < 1e-9 && (y - 17.0).abs() < 1e-9, "{x} {y}");
    }
}
