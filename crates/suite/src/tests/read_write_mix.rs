//! Read-write mix: what do writes cost readers?
//!
//! Random and sequential I/O of which 100 to 0 % read, with reads and writes judged apart; and reads
//! one at a time beside writes at the rates at which drives are worn: so many drive writes a day.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, DeviceKind, Nanos, Operation, Throughput};
use writecliff_measure::{Recording, Stream, Streams, Totals};
use writecliff_workload::Pace;

use crate::method::change::by_chance;
use crate::method::estimate::{Demands, Estimate, scale};
use crate::method::ladder::{Ladder, States};
use crate::method::limits::{
    PlanError, check_block, check_depths, check_duration, check_list, check_percents, listed, used,
};
use crate::method::loads::{Load, few_ios, series};
use crate::method::overrides::{Choice, Overrides};
use crate::method::quick::{QUICK_MEASUREMENT, QUICK_TORTURE, few, quick_span};
use crate::method::seed::seed_of;
use crate::method::session::{Extent, RunError, Session};
use crate::method::test::{InReviews, Known, Test};
use crate::record::figure::Figure;
use crate::record::phase::BESIDE;
pub use crate::record::phase::beside_phase;
use crate::record::rate::{LatencyFigures, Rate};
use crate::record::warning::{MethodWarning, Warning};

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// Shares of reads, in percent; the most reads first.
    pub read_percents: Vec<u8>,
    /// Size of a random I/O.
    pub random_block: Bytes,
    /// Size of a sequential I/O.
    pub sequential_block: Bytes,
    /// I/Os in flight.
    pub queue_depth: usize,
    /// Length of the measurement of a share.
    pub measurement: Nanos,
    /// Drive writes a day, beside which random reads are measured.
    pub drive_writes_per_day: Vec<f64>,
    /// How long the drive rests before that, so that the first reads are alone.
    pub rest: Nanos,
    /// Length of the measurement beside such writes.
    pub beside: Nanos,
    /// The longest that random writes last before such are measured.
    pub soak: Nanos,
    /// The part of the drive, from its start, that is used; `None` for all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Bytes>,
    /// Decides which LBAs are read and written.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            read_percents: (0..=10).rev().map(|tenth| tenth * 10).collect(),
            random_block: Bytes::from_kib(4),
            sequential_block: Bytes::from_kib(128),
            queue_depth: 32,
            measurement: Nanos::from_secs(20),
            drive_writes_per_day: vec![0.0, 0.3, 1.0, 3.0, 10.0],
            rest: Nanos::from_secs(60),
            beside: Nanos::from_secs(60),
            soak: Nanos::from_secs(1800),
            span: None,
            seed: 1,
        }
    }
}

impl Plan {
    fn used(&self, drive: &DeviceInfo) -> Bytes {
        used(self.span, drive.capacity, self.random_block.max(self.sequential_block))
    }

    fn states(&self, drive: &DeviceInfo) -> States {
        States { span: self.used(drive), soak: self.soak, seed: self.seed }
    }

    /// The loads in one order, the most reads first.
    fn loads(&self, random: bool) -> Vec<Load> {
        let block = if random { self.random_block } else { self.sequential_block };
        Load::of_shares(random, block, &self.read_percents)
    }

    fn ladder(&self, drive: &DeviceInfo) -> Ladder {
        Ladder {
            states: self.states(drive),
            loads: [self.loads(false), self.loads(true)].concat(),
            soak_block: self.random_block,
            ends_soaked: true,
        }
    }

    /// Random reads or writes alone.
    fn only(&self, read_percent: u8) -> Load {
        Load { random: true, read_percent, block: self.random_block }
    }
}

impl Test for Plan {
    type Outcome = Outcome;

    const NAME: &'static str = "read-write-mix";
    const QUESTION: &'static str = "what do writes cost readers?";
    const REVIEWS: InReviews = InReviews::OnRequest;
    const CHOICES: &'static [Choice] = &[Choice::Duration];
    /// 2: each measurement goes to places of its own. 3: a rest before the reads that are alone.
    /// 4: writes beside reads come at random moments. 5: of scale models as many as of the drive.
    const METHOD_VERSION: u32 = 5;
    const NOT_ALWAYS: &'static [&'static str] = &[" of reads", " of writes"];

    fn with(self, overrides: &Overrides) -> Result<Self, PlanError> {
        let measurement = overrides.duration.unwrap_or(self.measurement);
        let beside = overrides.duration.unwrap_or(self.beside);
        Ok(Self { measurement, beside, ..self })
    }

    fn quick(self) -> Self {
        Self {
            read_percents: few(self.read_percents, &[100, 70, 50, 0]),
            measurement: QUICK_MEASUREMENT.min(self.measurement),
            rest: QUICK_REST.min(self.rest),
            beside: QUICK_MEASUREMENT.min(self.beside),
            soak: QUICK_TORTURE.min(self.soak),
            span: quick_span(self.span),
            ..self
        }
    }

    fn demands(&self) -> Demands {
        // Beside the writes there is a read.
        States::demands(self.queue_depth + 1, self.random_block.max(self.sequential_block))
    }

    fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        let full = self.states(drive).estimate_full(drive);
        let share =
            |load: &Load| Nanos(self.measurement.0 * u64::from(100 - load.read_percent) / 100);
        let mixed = |estimate: Estimate, load: Load| {
            let (writes, all) = (share(&load), self.measurement);
            let reads = estimate.rest(Nanos(all.0 - writes.0));
            if load.random { reads.random(writes) } else { reads.sequential(writes) }
        };
        let loads = self.loads(false).into_iter().chain(self.loads(true));
        let mixes = loads.fold(full.fill(self.used(drive)).random(self.soak), mixed);
        let beside = self.drive_writes_per_day.iter();
        let rest = if self.drive_writes_per_day.is_empty() { Nanos::ZERO } else { self.rest };
        beside.fold(mixes.rest(rest), |estimate, times| {
            let bytes = rate(*times, drive).0 as f64 * self.beside.as_secs_f64();
            let written = estimate.written + Bytes(bytes as u64);
            Estimate { written, ..estimate.rest(self.beside) }
        })
    }

    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        check_list("read_percents", &self.read_percents)?;
        check_percents("read_percents", &self.read_percents)?;
        let rates = &self.drive_writes_per_day;
        if !rates.iter().all(|times| (0.0..=DRIVE_WRITES_MAX).contains(times)) {
            let reason = "0 to 1000 times a day are".to_owned();
            let (option, got) = ("drive_writes_per_day", listed(rates));
            return Err(PlanError { option, got, reason });
        }
        if !rates.is_empty() {
            check_list("drive_writes_per_day", rates)?;
        }
        check_duration("measurement", self.measurement)?;
        check_duration("rest", self.rest)?;
        check_duration("beside", self.beside)?;
        check_duration("soak", self.soak)?;
        check_block(self.random_block, self.span, drive)?;
        check_block(self.sequential_block, self.span, drive)?;
        States::check(self.span, drive)?;
        check_depths([self.queue_depth], drive)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        run(self, session)
    }

    fn is_one_rate(&self, series: &str, _: u32) -> bool {
        let mut loads = [true, false].into_iter().flat_map(|random| self.loads(random));
        series.starts_with(BESIDE) || loads.any(|load| series.starts_with(&load.name()))
    }

    fn conclude(
        &self,
        recording: &Recording,
        known: &Known<'_>,
    ) -> (Option<Outcome>, Vec<Warning>) {
        let (outcome, mut warnings) = conclude(self, recording, known.drive);
        let is_simulated = known.drive.kind == DeviceKind::Simulated;
        let waits = outcome.as_ref().filter(|_| is_simulated).and_then(reads_wait);
        warnings.extend(waits);
        (outcome, warnings)
    }

    fn figures(outcome: &Outcome) -> Vec<Figure> {
        let mixes = outcome.mixes.iter().flat_map(MixFigures::figures);
        mixes.chain(outcome.beside.iter().flat_map(BesideFigures::figures)).collect()
    }
}

/// The phase before the reads beside writes.
const REST: &str = "rest";
/// Of a quick run.
const QUICK_REST: Nanos = Nanos::from_secs(3);

/// No drive is written more often.
const DRIVE_WRITES_MAX: f64 = 1000.0;

/// Writes fell behind if so large a share of them is missing in the end.
const BEHIND: f64 = 0.01;

/// Bytes a second of so many drive writes a day.
fn rate(times: f64, drive: &DeviceInfo) -> Throughput {
    const DAY: f64 = 86_400.0;
    // A scale model does as many I/Os a second as the drive.
    let capacity = drive.capacity.0 as f64 * f64::from(scale(drive).unwrap_or(1));
    Throughput((times * capacity / DAY).round() as u64)
}

fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    let ladder = plan.ladder(session.drive());
    ladder.climb(session, |session, load| mix(plan, session, load))?;
    if !plan.drive_writes_per_day.is_empty() {
        session.idle(REST, plan.rest)?;
    }
    plan.drive_writes_per_day.iter().try_for_each(|times| beside(plan, session, *times))
}

/// A load with so many reads among its I/Os.
fn mix(plan: &Plan, session: &mut Session<'_>, load: Load) -> Result<(), RunError> {
    let (span, lba_size) = (plan.used(session.drive()), session.drive().lba_size);
    let name = load.name();
    let stream = load.stream(span, lba_size, plan.queue_depth, seed_of(plan.seed, &name));
    let supply = Streams::new([Stream { operations: load.operations().collect(), ..stream }]);
    let series: Vec<String> = load.operations().map(|of| series(&name, of)).collect();
    let series: Vec<&str> = series.iter().map(String::as_str).collect();
    let extent = Extent::Time(plan.measurement);
    session.record_as(&name, &series, supply, Some(plan.measurement), extent)
}

/// Random reads, one at a time, beside random writes that come at random moments.
fn beside(plan: &Plan, session: &mut Session<'_>, times: f64) -> Result<(), RunError> {
    let (span, lba_size) = (plan.used(session.drive()), session.drive().lba_size);
    let name = beside_phase(times);
    let seed = seed_of(plan.seed, &name);
    let reads = plan.only(100).stream(span, lba_size, 1, seed);
    let rate = rate(times, session.drive());
    let writes = plan.only(0).stream(span, lba_size, plan.queue_depth, seed ^ 1);
    let writes = (rate.0 > 0).then_some(Stream { pace: Pace::Scatter(rate), ..writes });
    let [read, write] =
        [Operation::Read, Operation::Write].map(|operation| series(&name, operation));
    let series = if writes.is_some() { vec![&*read, &*write] } else { vec![&*read] };
    let supply = Streams::new([reads].into_iter().chain(writes));
    let (time, extent) = (Some(plan.beside), Extent::Time(plan.beside));
    session.phase(&name, |session| {
        let done = session.several(&name, &series, supply, time, extent)?;
        if let [_, writes] = &done[..]
            && let Some(asked) = not_reached(plan, rate, writes)
        {
            let done = writes.iops().get();
            session.warn(MethodWarning::WritesFellBehind {
                drive_writes_per_day: times,
                asked,
                done,
            });
        }
        Ok(())
    })
}

/// The writes a second that were asked for, if the drive did not do as many.
fn not_reached(plan: &Plan, rate: Throughput, writes: &Totals) -> Option<f64> {
    let asked = rate.0 as f64 * writes.span.as_secs_f64();
    // As many may be under way when the time is over.
    let under_way = plan.random_block.0 * plan.queue_depth as u64;
    let missing = asked - (writes.written.0 + under_way) as f64;
    // So many at random moments are a few more or fewer by chance.
    let block = plan.random_block.0 as f64;
    let by_chance = block * by_chance(asked / block);
    (missing > BEHIND * asked + by_chance).then_some(rate.0 as f64 / plan.random_block.0 as f64)
}

/// What reads and writes cost each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Random ones first, of each order the most reads first.
    pub mixes: Vec<MixFigures>,
    /// Reads beside writes, in the order of the plan.
    pub beside: Vec<BesideFigures>,
}

/// Reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// How fast.
    pub rate: Rate,
    /// How late.
    pub latency: LatencyFigures,
}

/// A load with so many reads among its I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MixFigures {
    /// Which.
    pub load: Load,
    /// Its reads.
    pub reads: Option<Side>,
    /// Its writes.
    pub writes: Option<Side>,
}

/// Reads one at a time beside writes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BesideFigures {
    /// Times a day that the writes would write the drive.
    pub drive_writes_per_day: f64,
    /// The reads.
    pub reads: Side,
    /// The writes; `None` if there were none.
    pub writes: Option<Side>,
    /// Whether the drive did fewer of them than were asked for: the reads are beside these.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fell_behind: bool,
}

impl MixFigures {
    /// Reads and writes together, in IOPS.
    pub fn iops(&self) -> f64 {
        self.sides().map(|side| side.rate.iops).sum()
    }

    /// Reads and writes together, in MB/s (10^6).
    pub fn megabytes_per_second(&self) -> f64 {
        self.sides().map(|side| side.rate.megabytes_per_second).sum()
    }

    fn sides(&self) -> impl Iterator<Item = Side> {
        [self.reads, self.writes].into_iter().flatten()
    }

    fn figures(&self) -> Vec<Figure> {
        let name = self.load.name().replace('-', " ");
        let rate = match self.load.random {
            true => Figure::iops(&name, self.iops()),
            false => Figure::rate(&name, self.megabytes_per_second()),
        };
        let late = |side: Option<Side>, of: &str| {
            let side = side?;
            let mean = Figure::latency(format!("{name}, mean of {of}"), side.rate.mean_ns);
            let p99 = Figure::percentile(format!("{name}, p99 of {of}"), side.latency.p99_ns);
            Some([Some(mean), p99])
        };
        let late = [late(self.reads, "reads"), late(self.writes, "writes")];
        let late = late.into_iter().flatten().flatten().flatten().map(Figure::unjudged);
        [rate].into_iter().chain(late).map(|figure| figure.of(self.load.name())).collect()
    }
}

impl BesideFigures {
    fn figures(&self) -> impl Iterator<Item = Figure> {
        let of = format!("{} drive writes a day", self.drive_writes_per_day);
        let LatencyFigures { p50_ns, p99_ns, p999_ns, p9999_ns, .. } = self.reads.latency;
        let figure = |what, nanos| Figure::percentile(format!("reads beside {of}, {what}"), nanos);
        let figures = [
            figure("p99", p99_ns),
            figure("p50", Some(p50_ns)),
            figure("p99.9", p999_ns).map(Figure::unjudged),
            figure("p99.99", p9999_ns).map(Figure::unjudged),
        ];
        figures.into_iter().flatten().map(move |figure| figure.of(&of))
    }
}

fn conclude(
    plan: &Plan,
    recording: &Recording,
    drive: &DeviceInfo,
) -> (Option<Outcome>, Vec<Warning>) {
    let mut warnings = Vec::new();
    let mut ended = |phase: String| {
        if warnings.is_empty() {
            warnings.push(Warning::Method(MethodWarning::Ended { phase, lasted: None }));
        }
    };
    let (mut mixes, mut beside) = (Vec::new(), Vec::new());
    for load in [true, false].into_iter().flat_map(|random| plan.loads(random)) {
        let side = |operation| {
            let occurs = load.operations().any(|one| one == operation);
            occurs.then(|| side_of(recording, &load.name(), operation)).flatten()
        };
        let (reads, writes) = (side(Operation::Read), side(Operation::Write));
        match reads.or(writes) {
            Some(_) => mixes.push(MixFigures { load, reads, writes }),
            None => ended(load.name()),
        }
    }
    for times in &plan.drive_writes_per_day {
        let name = beside_phase(*times);
        let writes = side_of(recording, &name, Operation::Write);
        match side_of(recording, &name, Operation::Read) {
            Some(reads) => {
                let (drive_writes_per_day, rate) = (*times, rate(*times, drive));
                let done = Totals::of(recording.series(&series(&name, Operation::Write)));
                let fell_behind = writes.is_some() && not_reached(plan, rate, &done).is_some();
                beside.push(BesideFigures { drive_writes_per_day, reads, writes, fell_behind });
            }
            None => ended(name),
        }
    }
    warnings.extend(few_ios(mixes.iter().map(|mix| {
        let of = |operation| Totals::of(recording.series(&series(&mix.load.name(), operation))).ios;
        (mix.load.name(), mix.load.operations().map(of).sum(), plan.queue_depth)
    })));
    ((!mixes.is_empty()).then_some(Outcome { mixes, beside }), warnings)
}

/// Reads that take so many times as long as the writes beside them wait behind these ...
const WAIT: f64 = 10.0;

/// ... and so many times as long as alone, since a read of NAND always takes longer than a write into a buffer, ...
const WAIT_OF_ALONE: f64 = 3.0;

/// ... where the writes alone take as long: the mix in which it is most.
fn reads_wait(outcome: &Outcome) -> Option<Warning> {
    let reads_alone = outcome.mixes.iter().find(|mix| mix.load.random && mix.writes.is_none());
    let reads_alone = reads_alone.and_then(|mix| Some(mix.reads?.rate.mean_ns as f64));
    let alone = outcome.mixes.iter().find(|mix| mix.load.random && mix.reads.is_none());
    let alone = alone?.writes?.rate.mean_ns as f64;
    let means = |mix: &MixFigures| {
        let (reads, writes) = (mix.reads?.rate.mean_ns as f64, mix.writes?.rate.mean_ns as f64);
        let waits = mix.load.random
            && reads > WAIT * writes
            && reads > WAIT_OF_ALONE * reads_alone.unwrap_or_default()
            && alone > WAIT * writes;
        waits.then_some((mix.load.read_percent, reads, writes))
    };
    let most = outcome.mixes.iter().filter_map(means);
    let (read_percent, reads, writes) = most.max_by(|a, b| (a.1 / a.2).total_cmp(&(b.1 / b.2)))?;
    let told = |nanos: f64| Nanos(nanos as u64).to_string();
    Some(Warning::Method(MethodWarning::ReadsWaitInModel {
        write_percent: 100 - read_percent,
        reads: told(reads),
        writes: told(writes),
    }))
}

fn side_of(recording: &Recording, phase: &str, operation: Operation) -> Option<Side> {
    let series = series(phase, operation);
    let totals = Totals::of(recording.series(&series));
    let rate = Rate::of(&totals).filter(|_| totals.ios > 0)?;
    Some(Side { rate, latency: LatencyFigures::of(recording, &series, 0..u32::MAX) })
}
