//! Corners: the four corners of a drive's speed.
//!
//! 4KB random writes in a span of 8 GB, 3 and 32 in flight, 3 minutes each; 128 KiB sequential
//! writes and reads, one in flight, 1 minute; 4KB random reads over all LBAs, 3 in flight. Writes
//! begin on a purged drive, each; with fully random and with repeating data. Reads are of a drive
//! filled in order, a minute after.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, Content, DeviceInfo, Nanos, Operation};
use writecliff_measure::{Queue, Recording, Totals};
use writecliff_workload::{RandomUniform, Sequential};

use crate::method::change::changed;
use crate::method::estimate::{Demands, Estimate};
use crate::method::fast_part::FastPart;
use crate::method::fill::{FILL_QUEUE_DEPTH, SETTLE_TIME};
use crate::method::limits::{
    PlanError, check_block, check_depths, check_duration, check_list, used,
};
use crate::method::overrides::{Choice, Overrides};
use crate::method::quick::{QUICK_MEASUREMENT, quick_span};
use crate::method::session::{Extent, RunError, Session};
use crate::method::test::{Known, Test};
use crate::record::figure::Figure;
use crate::record::rate::{LatencyFigures, Rate, iops_of};
use crate::record::warning::{MethodWarning, Warning};

/// The phase that fills the drive for the reads.
pub const FILL: &str = "fill";
/// The phase that gives the drive time after that.
pub const SETTLE: &str = "settle";

/// What to do. The defaults are the published method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// Size of a random read or write.
    pub random_block: Bytes,
    /// Random writes in flight: one measurement each.
    pub random_write_queue_depths: Vec<usize>,
    /// The part of the drive, from its start, that random writes go to.
    pub random_write_span: Bytes,
    /// Random reads in flight.
    pub random_read_queue_depth: usize,
    /// Length of each random measurement.
    pub random_duration: Nanos,
    /// Size of a sequential read or write.
    pub sequential_block: Bytes,
    /// Sequential reads or writes in flight.
    pub sequential_queue_depth: usize,
    /// Length of each sequential measurement.
    pub sequential_duration: Nanos,
    /// The part of the drive, from its start, that is used; `None` for all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Bytes>,
    /// Decides which LBAs are read and written, in which order, and with what data.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            random_block: Bytes::from_kib(4),
            random_write_queue_depths: vec![3, 32],
            random_write_span: Bytes(8_000_000_000),
            random_read_queue_depth: 3,
            random_duration: Nanos::from_secs(180),
            sequential_block: Bytes::from_kib(128),
            sequential_queue_depth: 1,
            sequential_duration: Nanos::from_secs(60),
            span: None,
            seed: 1,
        }
    }
}

/// What the writes hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Data {
    /// Nothing to compress, nothing twice.
    Random,
    /// As compressible as data can be.
    Repeating,
}

impl Data {
    pub(crate) fn content(self) -> Content {
        let compressible_percent = if self == Self::Random { 0 } else { 100 };
        Content { compressible_percent, duplicate_percent: 0 }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Random => "random-data",
            Self::Repeating => "repeating-data",
        }
    }
}

/// One measurement of the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Corner {
    /// Reads or writes.
    pub operation: Operation,
    /// Anywhere in the span, or in order.
    pub random: bool,
    /// Size of an I/O.
    pub block: Bytes,
    /// I/Os in flight.
    pub queue_depth: usize,
    /// What writes hold; of reads, what was written before.
    pub data: Data,
}

impl Corner {
    /// The phase that it is recorded as: `random-write-4KiB-qd32-random-data`.
    pub fn phase(&self) -> String {
        let order = if self.random { "random" } else { "sequential" };
        let operation = if self.operation == Operation::Read { "read" } else { "write" };
        let (block, depth, data) = (self.block.exact(), self.queue_depth, self.data.name());
        match self.operation {
            Operation::Read => format!("{order}-{operation}-{block}-qd{depth}"),
            _ => format!("{order}-{operation}-{block}-qd{depth}-{data}"),
        }
    }
}

impl Plan {
    fn used(&self, drive: &DeviceInfo) -> Bytes {
        used(self.span, drive.capacity, self.random_block)
    }

    /// Where a corner's I/Os go.
    fn span_of(&self, corner: &Corner, drive: &DeviceInfo) -> Bytes {
        match (corner.operation, corner.random) {
            (Operation::Write, true) => self.used(drive).min(self.random_write_span),
            _ => self.used(drive),
        }
    }

    fn duration_of(&self, corner: &Corner) -> Nanos {
        if corner.random { self.random_duration } else { self.sequential_duration }
    }

    /// The writes, each of which wants a purged drive.
    pub fn write_corners(&self) -> Vec<Corner> {
        let mut corners = Vec::new();
        for data in [Data::Random, Data::Repeating] {
            corners.extend(self.random_write_queue_depths.iter().map(|depth| Corner {
                operation: Operation::Write,
                random: true,
                block: self.random_block,
                queue_depth: *depth,
                data,
            }));
            corners.push(Corner {
                operation: Operation::Write,
                random: false,
                block: self.sequential_block,
                queue_depth: self.sequential_queue_depth,
                data,
            });
        }
        corners
    }

    /// The reads, which want a full drive.
    pub fn read_corners(&self) -> [Corner; 2] {
        let (operation, data) = (Operation::Read, Data::Random);
        let random = Corner {
            operation,
            random: true,
            block: self.random_block,
            queue_depth: self.random_read_queue_depth,
            data,
        };
        let sequential = Corner {
            operation,
            random: false,
            block: self.sequential_block,
            queue_depth: self.sequential_queue_depth,
            data,
        };
        [random, sequential]
    }
}

impl Test for Plan {
    type Outcome = Outcome;

    const NAME: &'static str = "corners";
    const QUESTION: &'static str =
        "how fast are the four corners: random and sequential, read and write?";
    const CHOICES: &'static [Choice] = &[Choice::Duration];

    fn with(self, overrides: &Overrides) -> Result<Self, PlanError> {
        let random_duration = overrides.duration.unwrap_or(self.random_duration);
        let sequential_duration = self.sequential_duration.min(random_duration);
        Ok(Self { random_duration, sequential_duration, ..self })
    }

    fn quick(self) -> Self {
        Self {
            random_duration: QUICK_MEASUREMENT.min(self.random_duration),
            sequential_duration: QUICK_MEASUREMENT.min(self.sequential_duration),
            span: quick_span(self.span),
            ..self
        }
    }

    fn demands(&self) -> Demands {
        let deepest = self.random_write_queue_depths.iter().copied().max().unwrap_or(1);
        Demands {
            queue_depth: deepest
                .max(self.random_read_queue_depth)
                .max(self.sequential_queue_depth)
                .max(FILL_QUEUE_DEPTH),
            io_size: self.random_block.max(self.sequential_block),
        }
    }

    fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        let writes = self.write_corners().iter().fold(Estimate::on(drive), |estimate, corner| {
            let duration = self.duration_of(corner);
            if corner.random { estimate.random(duration) } else { estimate.sequential(duration) }
        });
        let reads = self.random_duration + self.sequential_duration;
        writes.fill(self.used(drive)).rest(SETTLE_TIME + reads)
    }

    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        check_duration("random_duration", self.random_duration)?;
        check_duration("sequential_duration", self.sequential_duration)?;
        check_block(self.random_block, self.span, drive)?;
        check_block(self.random_block, Some(self.random_write_span), drive)?;
        check_block(self.sequential_block, self.span, drive)?;
        let writes = &self.random_write_queue_depths;
        check_list("random_write_queue_depths", writes)?;
        let others = [self.random_read_queue_depth, self.sequential_queue_depth, FILL_QUEUE_DEPTH];
        check_depths(writes.iter().copied().chain(others), drive)
    }

    fn is_one_rate(&self, series: &str, _: u32) -> bool {
        let mut corners = self.write_corners().into_iter().chain(self.read_corners());
        corners.any(|corner| series == corner.phase())
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
        outcome.corners.iter().flat_map(CornerFigures::figures).collect()
    }

    fn fast_part(outcome: &Outcome) -> Option<FastPart> {
        outcome.fast_part
    }
}

fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    for corner in plan.write_corners() {
        session.purge()?;
        measure(plan, session, &corner)?;
    }
    session.purge()?;
    let used = plan.used(session.drive());
    session.fill(FILL, used, plan.sequential_block, FILL_QUEUE_DEPTH)?;
    session.idle(SETTLE, SETTLE_TIME.min(plan.random_duration))?;
    plan.read_corners().iter().try_for_each(|corner| measure(plan, session, corner))
}

fn measure(plan: &Plan, session: &mut Session<'_>, corner: &Corner) -> Result<(), RunError> {
    measure_as(plan, session, corner, &corner.phase(), corner.data.content())
}

/// A corner as the phase `name`, with data of this class.
pub(crate) fn measure_as(
    plan: &Plan,
    session: &mut Session<'_>,
    corner: &Corner,
    name: &str,
    content: Content,
) -> Result<(), RunError> {
    let span = plan.span_of(corner, session.drive());
    let Corner { operation, block, queue_depth, .. } = *corner;
    let duration = plan.duration_of(corner);
    let (extent, duration) = (Extent::Time(duration), Some(duration));
    if corner.random {
        let ios = RandomUniform::new(operation, span, block, plan.seed).with_content(content);
        session.record(name, Queue::new(ios, queue_depth), duration, extent)
    } else {
        // A drive that comes to its end within the time begins anew.
        let pass = Sequential::new(operation, span, block).with_content(content);
        let ios = std::iter::repeat(pass).flatten();
        session.record(name, Queue::new(ios, queue_depth), duration, extent)
    }
}

/// The corners that were measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// In the order of the run.
    pub corners: Vec<CornerFigures>,
    /// What the fill wrote before its rate fell: an SLC buffer, if the drive has one.
    pub fast_part: Option<FastPart>,
}

/// One corner's figures, over all of its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CornerFigures {
    /// Which it is.
    pub corner: Corner,
    /// How fast.
    pub rate: Rate,
    /// How late.
    pub latency: LatencyFigures,
    /// Its rate in the first third and in the last, in IOPS, where these are two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<[f64; 2]>,
    /// Whether the fast buffer may have taken all that it wrote.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub within_buffer: bool,
}

impl CornerFigures {
    /// What was recorded of a corner as this phase; `None` if the run did not come to it.
    pub(crate) fn of(corner: Corner, phase: &str, recording: &Recording) -> Option<Self> {
        let rate = Rate::of(&Totals::of(recording.series(phase)))?;
        let latency = LatencyFigures::of(recording, phase, 0..u32::MAX);
        let changed = changed(&iops_of(recording.series(phase))).map(|(first, last)| [first, last]);
        Some(Self { corner, rate, latency, changed, within_buffer: false })
    }

    fn figures(&self) -> impl Iterator<Item = Figure> {
        let (phase, Rate { megabytes_per_second, iops, .. }) = (self.corner.phase(), self.rate);
        let LatencyFigures { p50_ns, p999_ns, max_ns, .. } = self.latency;
        let name = |figure: &str| format!("{phase}, {figure}");
        let figures = [
            Some(Figure::rate(&phase, megabytes_per_second)),
            Some(Figure::iops(name("IOPS"), iops).unjudged()),
            Some(Figure::latency(name("p50"), p50_ns).unjudged()),
            Figure::percentile(name("p99.9"), p999_ns).map(Figure::unjudged),
            Some(Figure::latency(name("longest"), max_ns).unjudged()),
        ];
        figures.into_iter().flatten().map(move |figure| figure.of(&phase))
    }
}

fn conclude(
    plan: &Plan,
    recording: &Recording,
    drive: &DeviceInfo,
) -> (Option<Outcome>, Vec<Warning>) {
    let (mut corners, mut warnings) = (Vec::new(), Vec::new());
    let fill: Vec<_> = recording.series(FILL).collect();
    let fast_part = FastPart::of(&fill, drive.temperature_limit);
    let or_heat = FastPart::or_heat(&fill, drive.temperature_limit).filter(|_| fast_part.is_none());
    for corner in plan.write_corners().into_iter().chain(plan.read_corners()) {
        let phase = corner.phase();
        let Some(mut figures) = CornerFigures::of(corner, &phase, recording) else {
            warnings.push(Warning::Method(MethodWarning::Ended { phase, lasted: None }));
            break;
        };
        let written = Totals::of(recording.series(&phase)).written;
        // What is written at the same places again may stay in it, however much that is.
        let span = if corner.random { written.min(plan.random_write_span) } else { written };
        if let Some(buffer) = fast_part.map(|part| part.bytes).or(or_heat)
            && corner.operation == Operation::Write
            && span <= buffer
        {
            figures.within_buffer = fast_part.is_some();
            let (part, again, or_heat) = (Some(phase), written > buffer, or_heat.is_some());
            let written = if again { span } else { written };
            let doubt = MethodWarning::WithinBuffer { part, written, again, buffer, or_heat };
            warnings.push(Warning::Method(doubt));
        }
        corners.push(figures);
    }
    ((!corners.is_empty()).then_some(Outcome { corners, fast_part }), warnings)
}

#[cfg(test)]
mod tests {
    use writecliff_measure::Sample;
    use writecliff_sim::{Build, load};

    use super::*;

    /// So many MB in each second of a phase.
    fn seconds(phase: &str, megabytes: &[u64]) -> Vec<Sample> {
        let second = |(second, megabytes): (u32, &u64)| Sample {
            series: phase.to_owned(),
            second,
            span_ns: 1_000_000_000,
            writes: *megabytes,
            written_bytes: megabytes * 1_000_000,
            ..Sample::default()
        };
        (0..).zip(megabytes).map(second).collect()
    }

    #[test]
    fn a_corner_knows_whether_it_is_the_buffer_s_or_one_of_two_rates() {
        let drive = load("tiny").unwrap().open("sim:tiny").info().clone();
        let plan = Plan::default();
        let mut recording = Recording::default();
        let fill = [vec![500; 6], vec![200; 20]].concat();
        recording.samples.extend(seconds(FILL, &fill));
        let falls = [vec![500; 6], vec![200; 6]].concat();
        for (index, corner) in plan.write_corners().iter().enumerate() {
            let rates = if index == 0 { &falls[..] } else { &[100; 10] };
            recording.samples.extend(seconds(&corner.phase(), rates));
        }
        let outcome = conclude(&plan, &recording, &drive).0.unwrap();
        let [first, others @ ..] = &outcome.corners[..] else { panic!("no corners") };
        assert_eq!((first.changed, first.within_buffer), (Some([500.0, 200.0]), false));
        assert!(!others.is_empty());
        assert!(others.iter().all(|one| one.within_buffer && one.changed.is_none()), "{others:?}");
    }

    /// A fill that heat slowed before its buffer was full.
    #[test]
    fn of_a_fill_that_heat_slowed_the_buffer_is_doubted_all_the_same() {
        let drive = load("tiny").unwrap().open("sim:tiny").info().clone();
        let plan = Plan::default();
        let mut recording = Recording::default();
        let fill = seconds(FILL, &[vec![500; 6], vec![200; 20]].concat());
        let warm = |second: Sample| Sample {
            throttled_ns: Some(if (4..9).contains(&second.second) { 400_000_000 } else { 0 }),
            ..second
        };
        recording.samples.extend(fill.into_iter().map(warm));
        for corner in plan.write_corners() {
            let rates = if corner.random { &[100; 10][..] } else { &[500; 10] };
            recording.samples.extend(seconds(&corner.phase(), rates));
        }
        let (outcome, doubts) = conclude(&plan, &recording, &drive);
        let outcome = outcome.unwrap();
        assert_eq!(outcome.fast_part, None);
        assert!(outcome.corners.iter().all(|one| !one.within_buffer), "nobody knows");
        let told: Vec<String> = doubts.iter().map(ToString::to_string).collect();
        let of = |phase: &str| told.iter().any(|doubt| doubt.starts_with(phase));
        let random = plan.write_corners().into_iter().filter(|corner| corner.random);
        assert!(random.into_iter().all(|corner| of(&corner.phase())), "{told:?}");
        assert!(!of("sequential"), "5 GB are more than the 3.2 GB: {told:?}");
        assert!(
            told[0].contains("no more than the 3.20 GB after which the fill fell, at"),
            "{told:?}"
        );
    }
}
