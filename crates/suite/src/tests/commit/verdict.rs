//! What commits mean to those who ask: each by its own limit, or in its own unit. docs/methodology/commit.md
//! has the sources.

use writecliff_device::{Bytes, Layout};

use super::beside_phase;
use super::outcome::{Commits, Outcome, Stage, Took};
use crate::record::rate::{LatencyFigures, may_be_within};
use crate::record::unit::Unit;
use crate::record::warning::Warning;

/// What a system asks of a drive, and what it gets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// Who asks.
    pub who: &'static str,
    /// For what.
    pub asks: &'static str,
    /// Of what a directory is on, as it is; then there are no others.
    pub as_it_is: Option<Answer>,
    /// Of the fresh drive, if that was measured.
    pub fresh: Option<Answer>,
    /// In steady state.
    pub steady: Option<Answer>,
    /// In steady state beside a writer of pages: at full speed, or beside fewer pages where a limit is kept beside more and not there.
    pub beside: Option<Answer>,
    /// How many percent of its full speed that writer has.
    pub beside_percent: u32,
}

/// A figure, and whether it is good enough, where there is a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// The figure.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
    /// Whether the limit is kept, if there is one and a percentile's step leaves that known.
    pub holds: Option<bool>,
    /// What it is, where it is no percentile.
    pub instead: Option<Instead>,
    /// Whether something was wrong while it was measured.
    pub in_doubt: bool,
}

/// What says whether a limit is kept that no percentile says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instead {
    /// The longest of few: the percentile is no longer than that.
    Longest,
    /// The median of few: the percentile is no shorter than that.
    Median,
    /// The longest of so many, where none is to be longer.
    LongestOf(u64),
}

impl Answer {
    /// The same of what was measured in this phase.
    fn of(self, phase: &str, doubts: &[Warning]) -> Self {
        Self { in_doubt: doubts.iter().any(|doubt| doubt.names(phase)), ..self }
    }
}

/// What a figure is of the commits of a size.
type Told = fn(&Took) -> Option<Answer>;

/// 99 % of the syncs of its log are to take less, as its documentation has it.
const ETCD_P99_NS: u64 = 10_000_000;
/// Its heartbeat interval, unless it is told otherwise: a leader that waits longer is late with one.
const ETCD_HEARTBEAT_NS: u64 = 100_000_000;
/// Flushes of a transaction with a rollback journal: the journal, its header, the database.
const JOURNAL_FLUSHES: f64 = 3.0;
/// Clients that one flush commits for.
const CLIENTS: f64 = 16.0;

/// Who asks, for what, of commits of which size (KiB) and, in a directory, of which log, and what of them is
/// the answer.
type Asked = (&'static str, &'static str, u64, Layout, Told);

/// A log that is used again and again is overwritten, as PostgreSQL's and SQLite's are; etcd's is of files that
/// are preallocated, a segment of Kafka's grows, and so does a rollback journal, from nothing for each transaction.
const ASKED: [Asked; 7] = [
    ("etcd", "99 % of syncs in less than 10 ms", 4, Layout::Preallocated, |took| {
        p99(took, ETCD_P99_NS)
    }),
    ("etcd", "no sync longer than a heartbeat, 100 ms", 4, Layout::Preallocated, |took| {
        let longest = limited(took.latency.max_ns, ETCD_HEARTBEAT_NS);
        Some(Answer { instead: Some(Instead::LongestOf(took.count)), ..longest })
    }),
    ("PostgreSQL, one client", "commits a second", 8, Layout::Overwritten, |took| {
        rate(took.per_second)
    }),
    (
        "PostgreSQL, 16 clients",
        "commits a second, one flush of 64 KiB for all",
        64,
        Layout::Overwritten,
        |took| rate(CLIENTS * took.per_second),
    ),
    ("Kafka, flushed each time", "messages of 16 KiB a second", 16, Layout::Appended, |took| {
        rate(took.per_second)
    }),
    ("SQLite, WAL", "transactions a second, synchronous=FULL", 4, Layout::Overwritten, |took| {
        rate(took.per_second)
    }),
    (
        "SQLite, rollback journal",
        "transactions a second, three flushes each",
        4,
        Layout::Appended,
        |took| rate(took.per_second / JOURNAL_FLUSHES),
    ),
];

/// The logs of files, and the sizes of their commits, that somebody asks for.
pub(super) fn logs_of_files() -> impl Iterator<Item = (Bytes, Layout)> {
    let of_files = ASKED.iter().filter(|asked| asked.3 != Layout::Overwritten);
    of_files.map(|asked| (Bytes::from_kib(asked.2), asked.3))
}

/// The 99th percentile; where there are too few commits for one, what it is no longer than, the longest of them, if
/// that keeps the limit, or what it is no shorter than, their median, if that does not.
fn p99(took: &Took, limit: u64) -> Option<Answer> {
    let LatencyFigures { p50_ns, p99_ns, max_ns, .. } = took.latency;
    let (nanos, instead) = match p99_ns {
        Some(p99_ns) => (p99_ns, None),
        None if max_ns < limit => (max_ns, Some(Instead::Longest)),
        None if p50_ns >= limit => (p50_ns, Some(Instead::Median)),
        None => return None,
    };
    let answer = Answer { instead, ..limited(nanos, limit) };
    // Of a percentile just above it that is not known.
    let is_known = instead == Some(Instead::Longest) || !may_be_within(nanos as f64, limit as f64);
    Some(Answer { holds: answer.holds.filter(|_| is_known), ..answer })
}

fn limited(nanos: u64, limit: u64) -> Answer {
    let (value, holds) = (nanos as f64 / 1e6, Some(nanos < limit));
    Answer { value, unit: Unit::Milliseconds, holds, instead: None, in_doubt: false }
}

fn rate(per_second: f64) -> Option<Answer> {
    let (value, unit) = (per_second, Unit::Count);
    Some(Answer { value, unit, holds: None, instead: None, in_doubt: false })
}

impl Outcome {
    /// Whether there is but one kind of log: on a raw drive; in a directory whose file system preallocates nothing,
    /// if the run came to the log that is appended to, which is measured after that.
    fn has_no_such_log(&self, stage: Stage, log: Layout) -> bool {
        let appended = |one: &Commits| one.setting.log == Layout::Appended;
        stage != Stage::AsItIs || log == Layout::Preallocated && self.commits.iter().any(appended)
    }

    /// What those who ask get, as far as it was measured; doubts are those of the run.
    pub fn verdicts(&self, doubts: &[Warning]) -> Vec<Verdict> {
        // The commits beside pages are of one size.
        let size_beside = self.commits.first().map(|first| first.setting.size);
        let verdict = |&(who, asks, kib, log, told): &Asked| {
            let size = Bytes::from_kib(kib);
            let found = |stage| {
                let instead = self.flushed(stage, size, Layout::Overwritten);
                let has_none = self.has_no_such_log(stage, log);
                self.flushed(stage, size, log).or(instead.filter(|_| has_none))
            };
            let of = |stage| {
                let commits = found(stage)?;
                Some(told(&commits.took)?.of(&commits.setting.phase(stage), doubts))
            };
            let (fresh, steady, as_it_is) =
                (of(Stage::Fresh), of(Stage::Steady), of(Stage::AsItIs));
            let is_of_size = size_beside == Some(size);
            let beside: Vec<(u32, Answer)> = self
                .beside
                .iter()
                .filter(|_| is_of_size)
                .filter_map(|beside| {
                    let answer = told(&beside.took)?;
                    Some((beside.percent, answer.of(&beside_phase(beside.percent), doubts)))
                })
                .collect();
            let fails = |(_, answer): &&(u32, Answer)| answer.holds == Some(false);
            let at_full_speed = beside.iter().find(|(percent, _)| *percent == 100);
            let beside = match at_full_speed {
                Some((_, answer)) if answer.holds == Some(true) => beside.iter().find(fails),
                _ => None,
            }
            .or(at_full_speed);
            let (beside_percent, beside) =
                beside.map_or((100, None), |(percent, answer)| (*percent, Some(*answer)));
            Verdict { who, asks, as_it_is, fresh, steady, beside, beside_percent }
        };
        let all = ASKED.iter().map(verdict);
        let is_told =
            |one: &Verdict| [one.as_it_is, one.fresh, one.steady].iter().any(Option::is_some);
        all.filter(is_told).collect()
    }
}
