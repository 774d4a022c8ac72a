//! Encryption: what does it cost?
//!
//! The four corners on the fresh and the full drive, random writes until it is used, and what a TRIM
//! of everything brings back: plain, with software encryption that lets no trim pass, and with one
//! that does. Data compress as an ordinary user's do; encrypted ones do not, whatever they were.

mod conclude;
mod outcome;
mod part;

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, Content, DeviceInfo, Encryption, Nanos, Operation, Throughput};
use writecliff_measure::{Queue, Recording};
use writecliff_workload::{RandomUniform, Sequential};

use crate::method::estimate::{Demands, Estimate};
use crate::method::fill::{FILL_QUEUE_DEPTH, SETTLE_TIME};
use crate::method::limits::{
    PlanError, check_block, check_depths, check_duration, check_percents, used,
};
use crate::method::overrides::{Choice, Overrides};
use crate::method::quick::{QUICK_MEASUREMENT, QUICK_TORTURE, quick_span};
use crate::method::session::{Extent, RunError, Session};
use crate::method::test::{InReviews, Known, Test};
use crate::record::figure::Figure;
use crate::record::phase::Phase;
use crate::record::warning::{MethodWarning, Warning};
use crate::tests::corners::{self, Corner, Data};

pub use outcome::{Outcome, PartFigures, SettingFigures};
pub use part::{Part, Setting};

use part::phase;

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

    fn encryption(&self, setting: Setting) -> Option<Encryption> {
        let Self { cipher, seed, .. } = *self;
        let passes_trims = setting == Setting::EncryptedWithTrim;
        (setting != Setting::Plain).then_some(Encryption { passes_trims, cipher, seed })
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
    /// 2: fresh random writes count for as long as those after the TRIM.
    const METHOD_VERSION: u32 = 2;
    const NOT_ALWAYS: &'static [&'static str] =
        &["of the plain rate", "processor time per GB", "write amplification", "power"];

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

    fn is_one_rate(&self, series: &str, second: u32) -> bool {
        let parts =
            [Part::SequentialWrite, Part::RandomWrite, Part::SequentialRead, Part::RandomRead];
        let is_counted = |part: &Part| conclude::counted(self, *part).contains(&f64::from(second));
        let mut counted = parts.into_iter().filter(is_counted);
        counted.any(|part| Setting::ALL.iter().any(|setting| series == part.phase(*setting)))
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        run(self, session)
    }

    fn conclude(&self, recording: &Recording, _: &Known<'_>) -> (Option<Outcome>, Vec<Warning>) {
        conclude::conclude(self, recording)
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
        if session.encrypt(plan.encryption(setting).as_ref())? {
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
    session.encrypt(plan.encryption(setting).as_ref()).map(|_| ())
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
