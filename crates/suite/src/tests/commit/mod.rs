//! Commit: what does a durable write cost?
//!
//! Databases write to a log and wait until that is durable, again and again: a write and a flush after it,
//! or a forced write. How long that takes on the fresh drive, on the full one and in steady state, for
//! sizes of the log's writes and for several committers at once; beside a writer of pages that uses up the
//! drive's spare area, second by second; and beside one at full and at half speed of what the drive keeps.

mod conclude;
mod outcome;
mod verdict;

use serde::{Deserialize, Serialize};
use writecliff_device::{
    Bytes, DeviceInfo, DeviceKind, Durability, Layout, LogWrites, Nanos, Operation, Throughput,
};
use writecliff_measure::{OfJob, Recording, Source, Stream, Streams, Until};
use writecliff_workload::{Amount, Blocks, Job, JobIos, Mix, Order, Pace, RandomUniform, Sizes};

use crate::method::estimate::{Demands, Estimate, is_hard_disk};
use crate::method::fill::{FILL_BLOCK, FILL_QUEUE_DEPTH};
use crate::method::limits::{
    PlanError, check_block, check_depths, check_duration, check_list, used,
};
use crate::method::overrides::{Choice, Overrides};
use crate::method::quick::{QUICK_MEASUREMENT, few, quick_span};
use crate::method::seed::seed_of;
use crate::method::session::{Extent, RunError, Session};
use crate::method::settling::{DRIVE_WRITES_MAX, Settling, TIME_MAX};
use crate::method::test::{InReviews, Known, Test};
use crate::record::figure::Figure;
use crate::record::warning::Warning;

pub use outcome::{Beside, Cliff, Commits, Moment, Outcome, Stage, Took};
pub use verdict::{Answer, Instead, Verdict};

/// The phase that writes every LBA once.
pub const FILL: &str = "fill";
/// The phase in which the writer of pages uses up the spare area, and the commits beside it.
pub const CLIFF: &str = "cliff";
/// The series of the commits beside a writer of pages.
const COMMITS: &str = "commits";

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// Sizes of a commit's write, by one committer; those that are no whole LBAs are left out.
    pub sizes: Vec<Bytes>,
    /// Committers at once, each for itself, of the size `block`.
    pub committers: Vec<usize>,
    /// Size of a commit's write where sizes are not what is asked about.
    pub block: Bytes,
    /// How long each is measured.
    pub measurement: Nanos,
    /// The log: the part of the drive, from its start, that commits are written to, over and over.
    pub log: Bytes,
    /// Size of a write of the writer of pages, at random places of all that is used.
    pub page: Bytes,
    /// Its writes in flight, if the drive takes as many beside the commits.
    pub page_queue_depth: usize,
    /// How long it writes at least, and then on until the drive is steady.
    pub cliff: Nanos,
    /// How long commits are measured beside it then, at each of its speeds.
    pub beside: Nanos,
    /// The part of the drive, from its start, that is used; `None` for all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Bytes>,
    /// Decides which pages are written, in which order, and with what data.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            sizes: [512, 2048, 4096, 8192, 16_384, 65_536].map(Bytes).to_vec(),
            committers: vec![4, 16],
            block: Bytes::from_kib(4),
            measurement: Nanos::from_secs(10),
            log: Bytes::from_mib(1024),
            page: Bytes::from_kib(4),
            page_queue_depth: 32,
            cliff: Nanos::from_secs(600),
            beside: Nanos::from_secs(60),
            span: None,
            seed: 1,
        }
    }
}

/// Commits in flight beside pages: one under way, and one for its thread to go on with. Those are slow, and
/// what waits is still to be done when the time is over.
const BESIDE_PAGES: usize = 2;
/// Commits in flight at most.
const IN_FLIGHT: usize = 128;

/// What is measured by itself in each stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// When a write is complete; `later` for one that is no commit, to compare with.
    pub durability: Durability,
    /// Size of the write.
    pub size: Bytes,
    /// How many committers do it at once.
    pub committers: usize,
    /// What the log is before it is written; a drive's is always written over.
    #[serde(default, skip_serializing_if = "is_overwritten")]
    pub log: Layout,
}

fn is_overwritten(log: &Layout) -> bool {
    *log == Layout::Overwritten
}

impl Setting {
    /// A short name, as of a phase: `flushed-4KiB`, `forced-4KiB-16`.
    fn name(&self) -> String {
        let durability = durability_name(self.durability);
        let many =
            if self.committers == 1 { String::new() } else { format!("-{}", self.committers) };
        let log = match self.log {
            Layout::Overwritten => "",
            Layout::Preallocated => "-preallocated",
            Layout::Appended => "-appended",
        };
        format!("{durability}-{}{many}{log}", self.size.exact())
    }

    /// What it is called beside its figures.
    pub fn words(&self) -> String {
        let Self { durability, size, committers, log } = self;
        let what = match durability {
            Durability::Later => "writes",
            Durability::Forced => "forced writes",
            Durability::Flushed => "commits",
        };
        let many = match committers {
            1 => String::new(),
            count => format!(", {count} at once"),
        };
        let log = match log {
            Layout::Overwritten => "",
            Layout::Preallocated => ", preallocated",
            Layout::Appended => ", appended",
        };
        format!("{what} of {}{many}{log}", size.exact())
    }

    fn log(&self) -> LogWrites {
        let Self { durability, committers, log: layout, .. } = *self;
        LogWrites { layout, durability, committers, begins_anew: true }
    }

    fn phase(&self, stage: Stage) -> String {
        format!("{}-{}", stage.name(), self.name())
    }
}

/// What a kind of durability is called.
fn durability_name(durability: Durability) -> &'static str {
    match durability {
        Durability::Later => "write",
        Durability::Forced => "forced",
        Durability::Flushed => "flushed",
    }
}

/// Rates of the writer of pages in steady state, in percent of what the drive does beside commits. Full
/// speed comes first: the others are shares of it.
pub const PAGE_PERCENTS: [u32; 2] = [100, 50];

/// The phase beside a writer of pages, which is its series as well.
fn beside_phase(percent: u32) -> String {
    format!("beside-{percent}%")
}

/// The series of the commits there.
fn beside_commits(percent: u32) -> String {
    format!("{}-{COMMITS}", beside_phase(percent))
}

/// So many of these in flight, without an end, in one series.
fn commits<'a>(writes: impl Source + 'a, in_flight: usize) -> Stream<'a> {
    stream(writes, in_flight, Pace::Closed, 0)
}

fn stream<'a>(ios: impl Source + 'a, queue_depth: usize, pace: Pace, seed: u64) -> Stream<'a> {
    let (ios, operations) = (Box::new(ios), Vec::new());
    Stream { ios, queue_depth, pace, seed, duration: None, operations }
}

impl Plan {
    fn used(&self, drive: &DeviceInfo) -> Bytes {
        used(self.span, drive.capacity, self.page)
    }

    /// The commits that verdicts and the cliff are about.
    fn main(&self) -> Setting {
        Setting {
            durability: Durability::Flushed,
            size: self.block,
            committers: 1,
            log: Layout::Overwritten,
        }
    }

    /// What is measured in each stage but the full one, in order, the main one first.
    fn settings(&self) -> Vec<Setting> {
        let with = |size, committers| {
            [Durability::Flushed, Durability::Forced].map(|durability| Setting {
                durability,
                size,
                committers,
                ..self.main()
            })
        };
        let sizes = self.sizes.iter().filter(|size| **size != self.block);
        let plain = Setting { durability: Durability::Later, ..self.main() };
        with(self.block, 1)
            .into_iter()
            .chain([plain])
            .chain(sizes.flat_map(|size| with(*size, 1)))
            .chain(self.committers.iter().flat_map(|count| with(self.block, *count)))
            .collect()
    }

    /// What is measured in a directory: the same, and a log that grows or whose space was never written, for
    /// the main size and for whoever asks that of another one.
    fn settings_in_directory(&self) -> Vec<Setting> {
        let logs = [Layout::Preallocated, Layout::Appended];
        let with = |log| {
            [Durability::Flushed, Durability::Forced].map(|durability| Setting {
                durability,
                log,
                ..self.main()
            })
        };
        let is_another = |size: &Bytes| *size != self.block && self.sizes.contains(size);
        let of_others = verdict::logs_of_files().filter(|(size, _)| is_another(size));
        let of_others = of_others.map(|(size, log)| Setting { size, log, ..self.main() });
        let of_main = logs.into_iter().flat_map(with);
        self.settings().into_iter().chain(of_main).chain(of_others).collect()
    }

    /// Commits into the log, from its start, without an end.
    fn log_writes(&self, setting: Setting, drive: &DeviceInfo) -> JobIos {
        let job = Job {
            name: setting.name(),
            mix: Mix::only(Operation::Write),
            order: Order::Sequential,
            block: Blocks::Same(Sizes::One(setting.size)),
            size: Some(Amount::Bytes(used(Some(self.log), self.used(drive), setting.size))),
            durability: setting.durability,
            time_based: true,
            runtime: Some(Nanos(u64::MAX)),
            ..Job::default()
        };
        job.ios(drive.lba_size, drive.capacity)
    }

    fn pages(&self, drive: &DeviceInfo, name: &str) -> RandomUniform {
        let seed = seed_of(self.seed, name);
        RandomUniform::new(Operation::Write, self.used(drive), self.page, seed)
    }

    /// What the drive takes at once beside so many commits in flight, if that is less than is asked for.
    fn pages_in_flight(&self, drive: &DeviceInfo, commits: usize) -> usize {
        self.page_queue_depth.min(drive.queue_depth_max.saturating_sub(commits)).max(1)
    }

    fn settling(&self, drive: &DeviceInfo) -> Settling {
        Settling { block: self.page, least: self.cliff, used: self.used(drive) }
    }
}

impl Test for Plan {
    type Outcome = Outcome;

    const NAME: &'static str = "commit";
    const QUESTION: &'static str = "what does a durable write cost?";
    const REVIEWS: InReviews = InReviews::OnRequest;
    const CHOICES: &'static [Choice] = &[Choice::Duration];
    const METHOD_VERSION: u32 = 2;
    /// Of few commits there are none.
    const NOT_ALWAYS: &'static [&'static str] = &[", p99"];

    fn with(self, overrides: &Overrides) -> Result<Self, PlanError> {
        Ok(Self { measurement: overrides.duration.unwrap_or(self.measurement), ..self })
    }

    fn on(self, drive: &DeviceInfo) -> Self {
        let is_whole = |size: &Bytes| size.is_multiple_of(drive.lba_size);
        let sizes = self.sizes.iter().copied().filter(is_whole).collect();
        Self { sizes, ..self }
    }

    fn quick(self) -> Self {
        Self {
            sizes: few(self.sizes, &[Bytes::from_kib(4), Bytes::from_kib(64)]),
            committers: few(self.committers, &[16]),
            measurement: QUICK_MEASUREMENT.min(self.measurement),
            cliff: QUICK_MEASUREMENT.min(self.cliff),
            beside: QUICK_MEASUREMENT.min(self.beside),
            span: quick_span(self.span),
            ..self
        }
    }

    fn demands(&self) -> Demands {
        let committers = self.committers.iter().copied().max().unwrap_or(1);
        let beside = self.page_queue_depth + BESIDE_PAGES;
        let queue_depth = (2 * committers).max(IN_FLIGHT).max(beside).max(FILL_QUEUE_DEPTH);
        let sizes = self.sizes.iter().copied().chain([self.block, self.page, FILL_BLOCK]);
        Demands { queue_depth, io_size: sizes.max().unwrap_or(FILL_BLOCK) }
    }

    fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        let each = self.measurement;
        if drive.kind == DeviceKind::Directory {
            let settings = self.settings_in_directory().len() as u64;
            return Estimate::on(drive).random(each * settings);
        }
        let stage = each * self.settings().len() as u64;
        let used = self.used(drive);
        let longest = if is_hard_disk(drive) { self.cliff } else { TIME_MAX.max(self.cliff) };
        Estimate::on(drive)
            .random(stage)
            .fill(used)
            .random(each)
            .random_until(self.cliff..longest, used, DRIVE_WRITES_MAX)
            .random(stage + self.beside * PAGE_PERCENTS.len() as u64)
    }

    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        check_list("sizes", &self.sizes)?;
        check_duration("measurement", self.measurement)?;
        check_duration("cliff", self.cliff)?;
        check_duration("beside", self.beside)?;
        for size in self.sizes.iter().chain([&self.block]) {
            check_block(*size, Some(self.log.min(self.used(drive))), drive)?;
        }
        check_block(self.page, self.span, drive)?;
        check_depths(self.committers.iter().copied(), drive)?;
        if drive.kind == DeviceKind::Directory {
            return Ok(());
        }
        check_depths([FILL_QUEUE_DEPTH], drive)
    }

    fn is_one_rate(&self, series: &str, _: u32) -> bool {
        let stages = [Stage::AsItIs, Stage::Fresh, Stage::Full, Stage::Steady];
        let is_alone = stages.iter().any(|stage| {
            series.strip_prefix(stage.name()).is_some_and(|rest| rest.starts_with('-'))
        });
        is_alone || PAGE_PERCENTS.iter().any(|percent| series == beside_phase(*percent))
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        run(self, session)
    }

    fn conclude(
        &self,
        recording: &Recording,
        known: &Known<'_>,
    ) -> (Option<Outcome>, Vec<Warning>) {
        conclude::conclude(self, recording, known.drive)
    }

    fn figures(outcome: &Outcome) -> Vec<Figure> {
        outcome.figures()
    }

    fn figure_names(&self) -> Option<Vec<String>> {
        Some(outcome::figure_names(self))
    }
}

fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    if session.drive().kind == DeviceKind::Directory {
        // What else is there is left alone: the drive is as it is.
        return stage(plan, session, Stage::AsItIs, &plan.settings_in_directory());
    }
    // What one leaves behind, in a fast buffer or in the spare area, the next would find.
    for setting in plan.settings() {
        session.purge()?;
        stage(plan, session, Stage::Fresh, &[setting])?;
    }
    session.purge()?;
    session.fill(FILL, plan.used(session.drive()), FILL_BLOCK, FILL_QUEUE_DEPTH)?;
    stage(plan, session, Stage::Full, &[plan.main()])?;
    through_the_cliff(plan, session)?;
    // What is written to the log in order gives the drive room that the pages would use up first.
    beside_pages(plan, session)?;
    stage(plan, session, Stage::Steady, &plan.settings())
}

/// Each setting by itself.
fn stage(
    plan: &Plan,
    session: &mut Session<'_>,
    stage: Stage,
    settings: &[Setting],
) -> Result<(), RunError> {
    settings.iter().try_for_each(|setting| {
        let Some(in_flight) = session.prepare_log(setting.log())? else { return Ok(()) };
        let commits = commits(OfJob(plan.log_writes(*setting, session.drive())), in_flight);
        let (time, extent) = (Some(plan.measurement), Extent::Time(plan.measurement));
        session.record(&setting.phase(stage), Streams::new([commits]), time, extent)
    })
}

/// Has the drive make itself ready for the commits beside pages.
fn beside_in_flight(plan: &Plan, session: &mut Session<'_>) -> Result<Option<usize>, RunError> {
    let most = session.prepare_log(plan.main().log())?;
    Ok(most.map(|most| most.min(BESIDE_PAGES)))
}

/// A committer beside a page writer at full speed, until that is steady; on a magnetic disk, which has nothing
/// to come to rest from, for as long as that takes at least.
fn through_the_cliff(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    let Some(in_flight) = beside_in_flight(plan, session)? else { return Ok(()) };
    let drive = session.drive();
    let (log, pages) = (plan.log_writes(plan.main(), drive), plan.pages(drive, CLIFF));
    let depth = plan.pages_in_flight(drive, in_flight);
    if is_hard_disk(drive) {
        let pages = stream(pages, depth, Pace::Closed, plan.seed);
        let supply = Streams::new([pages, commits(OfJob(log), in_flight)]);
        let (time, extent) = (Some(plan.cliff), Extent::Time(plan.cliff));
        return session.record_as(CLIFF, &[CLIFF, COMMITS], supply, time, extent);
    }
    let settling = plan.settling(drive);
    settling.record_beside(session, CLIFF, &[CLIFF, COMMITS], |is_over| {
        let pages = stream(Until::new(pages, is_over.clone()), depth, Pace::Closed, plan.seed);
        Streams::new([pages, commits(Until::new(OfJob(log), is_over), in_flight)])
    })
}

/// A committer beside a page writer at shares of its full speed, which is measured first: the drive is as
/// the way through the cliff has left it, and keeps that speed.
fn beside_pages(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    let mut full = None;
    PAGE_PERCENTS.iter().try_for_each(|percent| {
        let Some(in_flight) = beside_in_flight(plan, session)? else { return Ok(()) };
        let drive = session.drive();
        let (name, of_commits) = (beside_phase(*percent), beside_commits(*percent));
        let pace = full.map_or(Pace::Closed, |bytes: f64| {
            Pace::Scatter(Throughput((bytes * f64::from(*percent) / 100.0) as u64))
        });
        let pages = plan.pages(drive, &name);
        let pages =
            stream(pages, plan.pages_in_flight(drive, in_flight), pace, seed_of(plan.seed, &name));
        let commits = commits(OfJob(plan.log_writes(plan.main(), drive)), in_flight);
        let (time, extent) = (Some(plan.beside), Extent::Time(plan.beside));
        session.phase(&name, |session| {
            let supply = Streams::new([pages, commits]);
            let done = session.several(&name, &[&name, &of_commits], supply, time, extent)?;
            full = full.or(done.first().map(|pages| pages.megabytes_per_second() * 1e6));
            Ok(())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_a_directory_every_log_that_somebody_asks_for_is_measured_once() {
        let settings = Plan::default().settings_in_directory();
        for (size, log) in verdict::logs_of_files() {
            let wanted = Setting { size, log, ..Plan::default().main() };
            assert_eq!(settings.iter().filter(|one| **one == wanted).count(), 1, "{wanted:?}");
        }
    }
}
