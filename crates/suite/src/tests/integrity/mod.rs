//! Integrity: does the drive return what was written, and has it what it claims?
//!
//! Blocks that say what they are, over the whole drive: sparse probes first, which a drive that
//! claims more than it has does not pass; then every block once, then random writes, trims and flushes
//! with looks at random blocks between them, and at last a look at everything. A later run looks at
//! the blocks of an earlier one again, after the drive was unplugged or its machine restarted.

mod checked;
mod kept;
mod ledger;
mod load;
mod scheme;

use std::path::{Path, PathBuf};

use serde::de::{self, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use writecliff_device::{Bytes, DeviceError, DeviceInfo, DeviceKind, Held, Nanos, Stamping};
use writecliff_measure::Recording;

use crate::method::estimate::{Demands, Estimate};
use crate::method::limits::{PlanError, check_block, check_depths, check_duration, used};
use crate::method::overrides::{Choice, Overrides};
use crate::method::quick::{QUICK_TORTURE, quick_span};
use crate::method::session::{Extent, RunError, Session};
use crate::method::test::{InReviews, Test};
use crate::record::figure::{Figure, FigureOf, figures_of};
use crate::record::file::recover_record;
use crate::record::run_record::{Record, Status};
use crate::record::trace_facts::TraceFacts;
use crate::record::unit::Unit;
use crate::record::warning::Warning;
use crate::record::warning::data::DataWarning;
use crate::record::warning::method::MethodWarning;
use checked::Checked;
use kept::Kept;
pub use ledger::Kind;
use ledger::Ledger;
use load::{Load, Rounds, Stop, Until};
use scheme::{LONG, Scheme};

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

/// The drive is told about in so many parts of equal size.
pub const SLICES: u32 = 256;

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// How long random operations are begun.
    pub duration: Nanos,
    /// Stretches of the drive with a probe in each; the first stretch is written whole.
    pub probes: u32,
    /// Share of the random operations that are looks, in percent.
    pub read_percent: u8,
    /// I/Os in flight.
    pub queue_depth: usize,
    /// The part of the drive, from its start, that is used; `None` for all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Bytes>,
    /// The directory of an earlier run, whose blocks are read and compared and nothing is written;
    /// what else is in the plan is that run's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reopen: Option<PathBuf>,
    /// Decides what goes where, and with what data.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            duration: Nanos::from_secs(2000),
            probes: 1024,
            read_percent: 30,
            queue_depth: 32,
            span: None,
            reopen: None,
            seed: 1,
        }
    }
}

impl Plan {
    fn used(&self, drive: &DeviceInfo) -> Bytes {
        used(self.span, drive.capacity, block_of(drive))
    }

    fn check_memory(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        let used = self.used(drive);
        let needed = Ledger::memory(used.0 / block_of(drive).0);
        match available_memory() {
            Some(free) if needed > free => {
                let reason = format!(
                    "to keep what each block must hold takes {needed} of memory, and {free} are \
                     free; take a smaller part of the drive"
                );
                Err(PlanError { option: "span", got: used.exact(), reason })
            }
            _ => Ok(()),
        }
    }
}

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
        let memory = Ledger::memory(all.0 / block_of(drive).0);
        let nothing = Estimate { memory, ..Estimate::on(drive) };
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
            Some(path) => reopen(path, session),
            None => run(self, session),
        }
    }

    /// No recording holds what the blocks held.
    fn conclude(&self, _: &Recording, _: &[TraceFacts]) -> (Option<Outcome>, Vec<Warning>) {
        (None, Vec::new())
    }

    fn conclude_from(
        &self,
        _: &Recording,
        _: &[TraceFacts],
        found: Option<&Outcome>,
    ) -> (Option<Outcome>, Vec<Warning>) {
        let is_finished = found.is_some_and(|outcome| outcome.finished);
        let phase = "every block had been read back".to_owned();
        let ended = (!is_finished).then_some(Warning::Method(MethodWarning::Ended { phase }));
        let doubts = found.into_iter().flat_map(Outcome::doubts);
        (found.cloned(), doubts.chain(ended).collect())
    }

    fn figures(outcome: &Outcome) -> Vec<Figure> {
        figures_of(FIGURES, outcome)
    }
}

/// The block that is stamped: as large as most drives' pages, and whole LBAs.
fn block_of(drive: &DeviceInfo) -> Bytes {
    Bytes::from_kib(4).max(drive.lba_size)
}

fn keeps_nothing(drive: &DeviceInfo) -> PlanError {
    let (option, got) = ("a look at the data of", drive.address.clone());
    PlanError { option, got, reason: "it keeps none that could be compared".to_owned() }
}

/// Memory that this machine can give (proc(5)); `None` if it does not tell.
fn available_memory() -> Option<Bytes> {
    let told = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = told.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(Bytes::from_kib(kib))
}

fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
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
fn reopen(path: &Path, session: &mut Session<'_>) -> Result<(), RunError> {
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
        ios: Box<dyn Iterator<Item = writecliff_device::Io> + Send + 'a>,
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

/// An earlier run whose blocks are to be read again.
struct Earlier {
    plan: Plan,
    kept: Kept,
    drive: DeviceInfo,
}

/// The plan of a run of whatever test.
struct AnyPlan {
    test: String,
    keys: Map<String, Value>,
}

impl<'de> Deserialize<'de> for AnyPlan {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut keys = Map::deserialize(from)?;
        match keys.remove("test") {
            Some(Value::String(test)) => Ok(Self { test, keys }),
            _ => Err(de::Error::missing_field("test")),
        }
    }
}

impl Earlier {
    fn open(path: &Path) -> Result<Self, PlanError> {
        let no = |reason: String| PlanError {
            option: "reopen",
            got: path.display().to_string(),
            reason,
        };
        let record: Record<AnyPlan, IgnoredAny> =
            recover_record(path).map_err(|error| no(error.to_string()))?;
        let AnyPlan { test, keys } = record.plan;
        if test != Plan::NAME {
            return Err(no(format!(
                "it is a run of {test}; only {} keeps what it wrote",
                Plan::NAME
            )));
        }
        let plan: Plan =
            Plan::deserialize(Value::Object(keys)).map_err(|error| no(error.to_string()))?;
        if plan.reopen.is_some() {
            return Err(no("it only read what another run wrote; name that one".to_owned()));
        }
        if record.drive.kind == DeviceKind::Simulated {
            return Err(no("of a simulated drive nothing is left after its run".to_owned()));
        }
        if record.status == Status::Running {
            return Err(no("it goes on still".to_owned()));
        }
        if record.method_version != <Plan as Test>::METHOD_VERSION {
            return Err(no("another version of writecliff wrote it, in another order".to_owned()));
        }
        let kept =
            Kept::read(path).map_err(|error| no(format!("what it wrote is not known: {error}")))?;
        Ok(Self { plan, kept, drive: record.drive })
    }

    /// The same drive, as far as it has a name; of one without any, another size tells.
    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        let written = &self.drive;
        let names = |drive: &DeviceInfo| (drive.world_wide_name.clone(), drive.serial.clone());
        let (block, blocks) = (block_of(drive), self.plan.used(drive).0 / block_of(drive).0);
        let is_same = names(written) == names(drive)
            && written.capacity == drive.capacity
            && (self.kept.block, self.kept.blocks) == (block, blocks);
        if is_same {
            return Ok(());
        }
        let words = |drive: &DeviceInfo| {
            let serial = drive.serial.as_deref().or(drive.world_wide_name.as_deref());
            format!(
                "{} of {} ({})",
                drive.model,
                drive.capacity.exact(),
                serial.unwrap_or("no name")
            )
        };
        let reason = format!("that run wrote to {}, not to this drive", words(written));
        Err(PlanError { option: "a look back with", got: words(drive), reason })
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// What the drive claims to have.
    pub capacity: Bytes,
    /// The size of a block.
    pub block: Bytes,
    /// Blocks under test.
    pub blocks: u64,
    /// Blocks that were read and compared, each time counted.
    pub checks: u64,
    /// Blocks in which nothing was left of what was written.
    pub lost: u64,
    /// Blocks that held an earlier version.
    pub old: u64,
    /// Blocks that held what was written to another place.
    pub misplaced: u64,
    /// Blocks that held parts of several versions.
    pub torn: u64,
    /// Blocks that held something else.
    pub damaged: u64,
    /// Blocks that the drive failed to read.
    pub unreadable: u64,
    /// Blocks that held an earlier version of what was never acknowledged, or not flushed when the
    /// earlier run ended: that may be.
    pub not_flushed: u64,
    /// What the drive has, if the probes found less than it claims.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real_capacity: Option<Bytes>,
    /// Whether everything was looked at that was to be.
    pub finished: bool,
    /// Whether it was an earlier run that had written all this.
    pub reopened: bool,
    /// The first blocks that were found bad, 16 at most.
    pub first: Vec<BadBlock>,
    /// Where the bad ones lie.
    pub slices: Vec<BadSlice>,
}

/// A block that was not as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadBlock {
    /// Its first LBA.
    pub lba: u64,
    /// The same place in bytes.
    pub offset: Bytes,
    /// What was wrong with it.
    pub kind: Kind,
    /// The pass that it had to be of; zero if anything but another place's data was right.
    pub expected: u16,
    /// What was found in it; `None` if it could not be read.
    pub found: Option<Held>,
    /// In which phase.
    pub phase: String,
}

/// Bad blocks of one kind in one of the [`SLICES`] of the part under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadSlice {
    /// Counted from 0.
    pub slice: u32,
    /// What was wrong with them.
    pub kind: Kind,
    /// How many.
    pub blocks: u64,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Lost, Self::Old, Self::Misplaced, Self::Torn, Self::Damaged, Self::Unreadable];

    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Old => "old",
            Self::Misplaced => "misplaced",
            Self::Torn => "torn",
            Self::Damaged => "damaged",
            Self::Unreadable => "unreadable",
        }
    }
}

impl Outcome {
    /// Blocks that were not as they were written.
    pub fn bad(&self) -> u64 {
        Kind::ALL.iter().fold(0, |sum: u64, kind| sum.saturating_add(self.of_kind(*kind)))
    }

    /// Those of one kind.
    pub fn of_kind(&self, kind: Kind) -> u64 {
        match kind {
            Kind::Lost => self.lost,
            Kind::Old => self.old,
            Kind::Misplaced => self.misplaced,
            Kind::Torn => self.torn,
            Kind::Damaged => self.damaged,
            Kind::Unreadable => self.unreadable,
        }
    }

    /// What must be said on top, however short the run was.
    fn doubts(&self) -> impl Iterator<Item = Warning> + use<> {
        let (claimed, blocks, bad) = (self.capacity, self.blocks, self.bad());
        let short = self
            .real_capacity
            .map(|real| Warning::Data(DataWarning::ClaimsTooMuch { claimed, real }));
        let bad = (bad > 0).then_some(Warning::Data(DataWarning::BadBlocks { bad, blocks }));
        let tested = Bytes(self.block.0.saturating_mul(blocks));
        let is_part = tested.0.saturating_add(self.block.0) <= claimed.0;
        let part =
            is_part.then_some(Warning::Data(DataWarning::PartTested { tested, capacity: claimed }));
        [short, bad, part].into_iter().flatten()
    }

    fn count(&mut self, kind: Kind) -> &mut u64 {
        match kind {
            Kind::Lost => &mut self.lost,
            Kind::Old => &mut self.old,
            Kind::Misplaced => &mut self.misplaced,
            Kind::Torn => &mut self.torn,
            Kind::Damaged => &mut self.damaged,
            Kind::Unreadable => &mut self.unreadable,
        }
    }
}

impl BadBlock {
    /// What it had to hold, in words.
    pub fn expected_in_words(&self) -> String {
        match self.expected {
            0 => "nothing of another place".to_owned(),
            pass => format!("pass {pass}"),
        }
    }

    /// What it held, in words; places in LBAs of `lba_size`.
    pub fn found_in_words(&self, lba_size: Bytes) -> String {
        match self.found {
            None => "the drive fails to read it".to_owned(),
            Some(Held::Zeros) => "zeros".to_owned(),
            Some(Held::Unstamped) => "data without a stamp".to_owned(),
            Some(Held::AnotherRun) => "a block of another run".to_owned(),
            Some(Held::Stamped { offset, pass }) if offset == self.offset => {
                format!("pass {}", pass.get())
            }
            Some(Held::Stamped { offset, pass }) => {
                format!("pass {} of LBA {}", pass.get(), offset.0 / lba_size.0.max(1))
            }
            Some(Held::Torn { oldest: Some(oldest), newest }) => {
                format!("parts of passes {} and {}", oldest.get(), newest.get())
            }
            Some(Held::Torn { oldest: None, newest }) => {
                format!("a part of pass {}, the rest not of this run", newest.get())
            }
            Some(Held::Damaged { sector }) => {
                format!("bytes that were not written, from byte {} on", sector * 512)
            }
        }
    }
}

type Row = FigureOf<Outcome>;

/// All figures of an outcome.
pub const FIGURES: &[Row] = &[
    Row::less("blocks not as written", "Not as written", Unit::Count, |o| Some(o.bad() as f64))
        .means("blocks that did not come back as they were written"),
    Row::less("lost blocks", "Lost", Unit::Count, |o| Some(o.lost as f64))
        .means("nothing of what was written was left")
        .unjudged(),
    Row::less("old blocks", "Old", Unit::Count, |o| Some(o.old as f64))
        .means("an earlier version came back")
        .unjudged(),
    Row::less("misplaced blocks", "Misplaced", Unit::Count, |o| Some(o.misplaced as f64))
        .means("what was written to another place came back")
        .unjudged(),
    Row::less("torn blocks", "Torn", Unit::Count, |o| Some(o.torn as f64))
        .means("parts of several versions came back")
        .unjudged(),
    Row::less("damaged blocks", "Damaged", Unit::Count, |o| Some(o.damaged as f64))
        .means("bytes came back that nobody had written")
        .unjudged(),
    Row::less("unreadable blocks", "Unreadable", Unit::Count, |o| Some(o.unreadable as f64))
        .means("the drive failed to read them")
        .unjudged(),
    Row::less("blocks not flushed", "Not flushed", Unit::Count, |o| Some(o.not_flushed as f64))
        .means(
            "an earlier version came back of what was not acknowledged or not flushed: that may be",
        )
        .unjudged(),
    Row::more("blocks compared", "Compared", Unit::Count, |o| Some(o.checks as f64))
        .means("blocks that were read and compared, each time counted")
        .unjudged(),
    Row::more("real capacity", "Real capacity", Unit::Bytes, |o| Some(o.real_capacity?.0 as f64))
        .means("what the drive has, if that is less than it claims")
        .unjudged(),
];
