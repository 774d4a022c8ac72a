//! Encryption: what does it cost?
//!
//! The four corners on the fresh and the full drive, random writes until it is used, and what a TRIM
//! of everything brings back: plain, with software encryption that lets no trim pass, and with one
//! that does. Data compress as an ordinary user's do; encrypted ones do not, whatever they were.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, Content, DeviceInfo, Encryption, Nanos, Operation, Throughput};
use writecliff_measure::{Queue, Recording, Sample, Totals};
use writecliff_workload::{RandomUniform, Sequential};

use crate::method::estimate::{Demands, Estimate};
use crate::method::fill::{FILL_QUEUE_DEPTH, SETTLE_TIME};
use crate::method::limits::{
    PlanError, check_block, check_depths, check_duration, check_percents, used,
};
use crate::method::overrides::{Choice, Overrides};
use crate::method::quick::{QUICK_MEASUREMENT, QUICK_TORTURE, quick_span};
use crate::method::session::{Extent, RunError, Session};
use crate::method::test::{InReviews, Test};
use crate::record::figure::{Figure, Good};
use crate::record::phase::Phase;
use crate::record::rate::Rate;
use crate::record::trace_facts::TraceFacts;
use crate::record::unit::Unit;
use crate::record::warning::Warning;
use crate::record::warning::method::MethodWarning;
use crate::tests::corners::{self, Corner, Data};

/// What a host does with data before the drive gets them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Setting {
    /// Nothing.
    Plain,
    /// It encrypts, and keeps trims to itself.
    Encrypted,
    /// It encrypts, and trims pass.
    EncryptedWithTrim,
}

impl Setting {
    /// In the order of the run.
    pub const ALL: [Self; 3] = [Self::Plain, Self::Encrypted, Self::EncryptedWithTrim];

    /// What its phases and figures are called by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Encrypted => "encrypted",
            Self::EncryptedWithTrim => "encrypted-with-trim",
        }
    }

    fn encryption(self, plan: &Plan) -> Option<Encryption> {
        let Plan { cipher, seed, .. } = *plan;
        let passes_trims = self == Self::EncryptedWithTrim;
        (self != Self::Plain).then_some(Encryption { passes_trims, cipher, seed })
    }
}

/// What is measured at each setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Writes in order on the fresh drive.
    SequentialWrite,
    /// Writes at random places of the fresh drive.
    RandomWrite,
    /// Reads in order of the full drive.
    SequentialRead,
    /// Reads at random places of the full drive.
    RandomRead,
    /// Writes at random places of the drive that is full and written to for long.
    Used,
    /// The same after a TRIM of everything.
    AfterTrim,
}

impl Part {
    /// In the order of the run.
    pub const ALL: [Self; 6] = [
        Self::SequentialWrite,
        Self::RandomWrite,
        Self::SequentialRead,
        Self::RandomRead,
        Self::Used,
        Self::AfterTrim,
    ];

    /// What its phases and figures are called by.
    pub fn name(self) -> &'static str {
        match self {
            Self::SequentialWrite => "sequential-write",
            Self::RandomWrite => "random-write",
            Self::SequentialRead => "sequential-read",
            Self::RandomRead => "random-read",
            Self::Used => "used",
            Self::AfterTrim => "after-trim",
        }
    }

    /// Whether it is counted in I/Os; else in bytes.
    pub fn is_random(self) -> bool {
        !matches!(self, Self::SequentialWrite | Self::SequentialRead)
    }

    /// The phase that it is recorded as, at a setting: `encrypted/random-write`.
    pub fn phase(self, setting: Setting) -> String {
        phase(setting, self.name())
    }
}

fn phase(setting: Setting, what: &str) -> String {
    format!("{}/{what}", setting.name())
}

/// What to do. The corners are those of the test `corners`, the random ones with a full queue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// The share of the data, in percent, that a compressor can remove before they are encrypted.
    pub compressible_percent: u8,
    /// Size of a random read or write.
    pub random_block: Bytes,
    /// Random reads or writes in flight.
    pub random_queue_depth: usize,
    /// The part of the fresh drive, from its start, that random writes go to.
    pub random_write_span: Bytes,
    /// Length of each random corner.
    pub random_duration: Nanos,
    /// Size of a sequential read or write.
    pub sequential_block: Bytes,
    /// Sequential reads or writes in flight.
    pub sequential_queue_depth: usize,
    /// Length of each sequential corner.
    pub sequential_duration: Nanos,
    /// Length of the random writes over the full drive.
    pub torture: Nanos,
    /// Length of those after the TRIM.
    pub measurement: Nanos,
    /// What a simulated drive's host encrypts or decrypts with its one processor. A real one takes
    /// the time that it takes.
    pub cipher: Throughput,
    /// The processor that this was measured on; `None`: the method's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cipher_of: Option<String>,
    /// The part of the drive, from its start, that is used; `None` for all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Bytes>,
    /// Decides which LBAs are written, in which order, with what data, and the key.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        let corners = corners::Plan::default();
        Self {
            compressible_percent: 46,
            random_block: corners.random_block,
            random_queue_depth: 32,
            random_write_span: corners.random_write_span,
            random_duration: corners.random_duration,
            sequential_block: corners.sequential_block,
            sequential_queue_depth: corners.sequential_queue_depth,
            sequential_duration: corners.sequential_duration,
            torture: Nanos::from_secs(30 * 60),
            measurement: Nanos::from_secs(60),
            cipher: CIPHER,
            cipher_of: None,
            span: None,
            seed: 1,
        }
    }
}

/// What one core of an AMD EPYC encrypts in sectors of 512 bytes by its AES instructions, block by
/// block (2.4 GB/s), rounded down.
const CIPHER: Throughput = Throughput(2_000_000_000);
/// The share of the torture, from its end, in which the drive counts as used.
const USED_SHARE: f64 = 0.3;

impl Plan {
    /// The test of the corners that these are.
    fn corners(&self) -> corners::Plan {
        let depth = self.random_queue_depth;
        corners::Plan {
            random_block: self.random_block,
            random_write_queue_depths: vec![depth],
            random_write_span: self.random_write_span,
            random_read_queue_depth: depth,
            random_duration: self.random_duration,
            sequential_block: self.sequential_block,
            sequential_queue_depth: self.sequential_queue_depth,
            sequential_duration: self.sequential_duration,
            span: self.span,
            seed: self.seed,
        }
    }

    fn used(&self, drive: &DeviceInfo) -> Bytes {
        used(self.span, drive.capacity, self.random_block)
    }

    fn content(&self) -> Content {
        Content { compressible_percent: self.compressible_percent, duplicate_percent: 0 }
    }
}

impl Test for Plan {
    type Outcome = Outcome;

    const NAME: &'static str = "encryption";
    const QUESTION: &'static str = "what does encryption cost?";
    const REVIEWS: InReviews = InReviews::OnRequest;
    const CHOICES: &'static [Choice] = &[Choice::Duration];

    fn with(self, overrides: &Overrides) -> Result<Self, PlanError> {
        let torture = overrides.duration.unwrap_or(self.torture);
        Ok(Self { torture, ..self })
    }

    fn quick(self) -> Self {
        let short = |own: Nanos| own.min(QUICK_MEASUREMENT);
        Self {
            random_duration: short(self.random_duration),
            sequential_duration: short(self.sequential_duration),
            torture: QUICK_TORTURE.min(self.torture),
            measurement: short(self.measurement),
            span: quick_span(self.span),
            ..self
        }
    }

    fn demands(&self) -> Demands {
        self.corners().demands()
    }

    fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        let reads = self.random_duration + self.sequential_duration;
        let setting = |estimate: Estimate| {
            estimate
                .random(self.random_duration)
                .sequential(self.sequential_duration)
                .fill(self.used(drive))
                .rest(SETTLE_TIME.min(self.random_duration) + reads)
                .random(self.torture)
                .random(self.measurement)
        };
        Setting::ALL.iter().fold(Estimate::on(drive), |estimate, _| setting(estimate))
    }

    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        check_percents("compressible_percent", &[self.compressible_percent])?;
        if !(CIPHER_MIN..=CIPHER_MAX).contains(&self.cipher) {
            let reason =
                format!("it lies between {} and {}", CIPHER_MIN.exact(), CIPHER_MAX.exact());
            return Err(PlanError { option: "cipher", got: self.cipher.exact(), reason });
        }
        check_duration("torture", self.torture)?;
        check_duration("measurement", self.measurement)?;
        check_block(self.random_block, self.span, drive)?;
        check_depths([FILL_QUEUE_DEPTH], drive)?;
        self.corners().check(drive)
    }

    fn as_asked(&self) -> Self {
        Self { cipher_of: None, ..self.clone() }
    }

    fn asks_as(&self, other: &Self) -> bool {
        self.as_asked() == other.as_asked()
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        run(self, session)
    }

    fn conclude(&self, recording: &Recording, _: &[TraceFacts]) -> (Option<Outcome>, Vec<Warning>) {
        conclude(self, recording)
    }

    fn with_phases(&self, outcome: Outcome, phases: &[Phase]) -> Outcome {
        outcome.with_processor_time(phases)
    }

    fn figures(outcome: &Outcome) -> Vec<Figure> {
        outcome.settings.iter().flat_map(|setting| outcome.figures_of(setting)).collect()
    }
}

/// Slower than any processor of this century.
const CIPHER_MIN: Throughput = Throughput(1_000_000);
/// Faster than any.
const CIPHER_MAX: Throughput = Throughput(1_000_000_000_000);

fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    for setting in Setting::ALL {
        // Who cannot encrypt here is left in peace before the drive is purged for it.
        if session.encrypt(setting.encryption(plan).as_ref())? {
            measure(plan, session, setting)?;
        }
    }
    session.encrypt(None).map(|_| ())
}

fn measure(plan: &Plan, session: &mut Session<'_>, setting: Setting) -> Result<(), RunError> {
    for part in [Part::SequentialWrite, Part::RandomWrite] {
        refresh(plan, session, setting)?;
        corner(plan, session, setting, part)?;
    }
    refresh(plan, session, setting)?;
    fill(plan, session, setting)?;
    session.idle(&phase(setting, "settle"), SETTLE_TIME.min(plan.random_duration))?;
    corner(plan, session, setting, Part::SequentialRead)?;
    corner(plan, session, setting, Part::RandomRead)?;

    torture(plan, session, setting, Part::Used, plan.torture)?;
    if !session.drive().trim {
        session.warn(MethodWarning::NoTrim);
        return Ok(());
    }
    session.trim(&phase(setting, "trim"), plan.used(session.drive()))?;
    torture(plan, session, setting, Part::AfterTrim, plan.measurement)
}

/// A purge is the drive's own: encryption stands aside for it.
fn refresh(plan: &Plan, session: &mut Session<'_>, setting: Setting) -> Result<(), RunError> {
    session.encrypt(None)?;
    session.purge()?;
    session.encrypt(setting.encryption(plan).as_ref()).map(|_| ())
}

fn corner(
    plan: &Plan,
    session: &mut Session<'_>,
    setting: Setting,
    part: Part,
) -> Result<(), RunError> {
    let corners = plan.corners();
    let is_it = |corner: &Corner| {
        let is_read = matches!(part, Part::SequentialRead | Part::RandomRead);
        let of_data = corner.data == Data::Random;
        (corner.operation == Operation::Read) == is_read
            && corner.random == part.is_random()
            && of_data
    };
    let corner = corners.write_corners().into_iter().chain(corners.read_corners()).find(is_it);
    corner.map_or(Ok(()), |corner| {
        corners::measure_as(&corners, session, &corner, &part.phase(setting), plan.content())
    })
}

/// Every LBA in use once, in order.
fn fill(plan: &Plan, session: &mut Session<'_>, setting: Setting) -> Result<(), RunError> {
    let span = plan.used(session.drive());
    let ios = Sequential::new(Operation::Write, span, plan.sequential_block);
    let writes = Queue::new(ios.with_content(plan.content()), FILL_QUEUE_DEPTH);
    session.record(&phase(setting, "fill"), writes, None, Extent::Bytes(span))
}

/// Writes at random places of all that is in use.
fn torture(
    plan: &Plan,
    session: &mut Session<'_>,
    setting: Setting,
    part: Part,
    duration: Nanos,
) -> Result<(), RunError> {
    let span = plan.used(session.drive());
    let ios = RandomUniform::new(Operation::Write, span, plan.random_block, plan.seed);
    let writes = Queue::new(ios.with_content(plan.content()), plan.random_queue_depth);
    session.record(&part.phase(setting), writes, Some(duration), Extent::Time(duration))
}

/// What was measured at each setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// In the order of the run; those that were not to be had here are left out.
    pub settings: Vec<SettingFigures>,
}

/// The figures of one setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettingFigures {
    /// Which.
    pub setting: Setting,
    /// In the order of the run, as far as it came.
    pub parts: Vec<PartFigures>,
}

/// The figures of a part at one setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartFigures {
    /// Which.
    pub part: Part,
    /// How fast.
    pub rate: Rate,
    /// Read or written in the whole of its phase.
    pub bytes: Bytes,
    /// NAND writes for each byte of the host's, if the drive tells.
    pub write_amplification: Option<f64>,
    /// Mean power in watts, if anything tells.
    pub watts: Option<f64>,
    /// Processor time of the host for each GB (10^9 bytes), in seconds.
    pub processor_s_per_gb: Option<f64>,
    /// How many of the host's processors that kept busy, on average.
    pub processors_busy: Option<f64>,
}

impl PartFigures {
    /// As a person counts it: random I/Os in IOPS, sequential ones in MB/s.
    pub fn value(&self) -> f64 {
        if self.part.is_random() { self.rate.iops } else { self.rate.megabytes_per_second }
    }
}

impl Outcome {
    /// The figures of a part at a setting, if the run came to it.
    pub fn find(&self, setting: Setting, part: Part) -> Option<&PartFigures> {
        let of_setting = self.settings.iter().find(|figures| figures.setting == setting)?;
        of_setting.parts.iter().find(|figures| figures.part == part)
    }

    /// The share of the plain rate that a setting leaves.
    pub fn kept(&self, setting: Setting, part: Part) -> Option<f64> {
        let plain = self.find(Setting::Plain, part)?.value();
        Some(self.find(setting, part)?.value() / plain).filter(|share| share.is_finite())
    }

    /// Adds what was counted around the phases.
    fn with_processor_time(mut self, phases: &[Phase]) -> Self {
        for SettingFigures { setting, parts } in &mut self.settings {
            for figures in parts {
                let name = figures.part.phase(*setting);
                let found = phases.iter().find(|phase| phase.name == name);
                let Some(phase) = found.filter(|phase| phase.length > Nanos::ZERO) else {
                    continue;
                };
                let time = phase.after.processor_since(&phase.before).map(Nanos::as_secs_f64);
                let gigabytes = figures.bytes.0 as f64 / 1e9;
                figures.processor_s_per_gb = time.map(|time| time / gigabytes);
                figures.processors_busy = time.map(|time| time / phase.length.as_secs_f64());
            }
        }
        self
    }

    fn figures_of(&self, of: &SettingFigures) -> Vec<Figure> {
        let setting = of.setting.name();
        let mut figures = Vec::new();
        for part in &of.parts {
            let name = format!("{}, {setting}", part.part.name());
            figures.push(match part.part.is_random() {
                true => Figure::iops(&name, part.rate.iops),
                false => Figure::rate(&name, part.rate.megabytes_per_second),
            });
            let kept = self.kept(of.setting, part.part).filter(|_| of.setting != Setting::Plain);
            let more = [
                ("of the plain rate", kept.map(|kept| kept * 100.0), Unit::Percent, Good::AtLeast),
                (
                    "processor time per GB",
                    part.processor_s_per_gb.map(|seconds| seconds * 1e3),
                    Unit::Milliseconds,
                    Good::AtMost,
                ),
                ("write amplification", part.write_amplification, Unit::Ratio, Good::AtMost),
                ("power", part.watts, Unit::Watts, Good::AtMost),
            ];
            figures.extend(more.into_iter().filter_map(|(what, value, unit, good)| {
                Some(Figure::new(format!("{name}, {what}"), value?, unit, good).unjudged())
            }));
        }
        figures.into_iter().map(|figure| figure.of(setting)).collect()
    }
}

fn conclude(plan: &Plan, recording: &Recording) -> (Option<Outcome>, Vec<Warning>) {
    let (mut settings, mut warnings) = (Vec::new(), Vec::new());
    for setting in Setting::ALL {
        let parts: Vec<PartFigures> =
            Part::ALL.iter().filter_map(|part| figures(plan, recording, setting, *part)).collect();
        let missing = Part::ALL.iter().find(|part| parts.iter().all(|have| have.part != **part));
        warnings.extend(
            missing
                .map(|part| Warning::Method(MethodWarning::Ended { phase: part.phase(setting) })),
        );
        if !parts.is_empty() {
            settings.push(SettingFigures { setting, parts });
        }
    }
    ((!settings.is_empty()).then_some(Outcome { settings }), warnings)
}

fn figures(
    plan: &Plan,
    recording: &Recording,
    setting: Setting,
    part: Part,
) -> Option<PartFigures> {
    let phase = part.phase(setting);
    let from = match part {
        Part::Used => (plan.torture.as_secs_f64() * (1.0 - USED_SHARE)).floor(),
        _ => 0.0,
    };
    let counts = |sample: &&Sample| f64::from(sample.second) >= from;
    let samples: Vec<&Sample> = recording.series(&phase).filter(counts).collect();
    let totals = Totals::of(samples.iter().copied());
    Some(PartFigures {
        part,
        rate: Rate::of(&totals)?,
        bytes: Totals::of(recording.series(&phase)).bytes(),
        write_amplification: totals.write_amplification(),
        watts: mean_watts(&samples),
        processor_s_per_gb: None,
        processors_busy: None,
    })
}

/// Mean power over the samples' time; `None` if one of them does not tell.
fn mean_watts(samples: &[&Sample]) -> Option<f64> {
    let energy = samples
        .iter()
        .map(|sample| Some(sample.power_microwatts? as f64 / 1e6 * sample.span_ns as f64))
        .sum::<Option<f64>>()?;
    let span: u64 = samples.iter().map(|sample| sample.span_ns).sum();
    Some(energy / span as f64)
}
