//! Commit: what a durable write takes, and what that means to those who ask.

use writecliff_device::{DeviceInfo, DeviceKind};
use writecliff_suite::commit::{
    Answer as Said, Cliff, Commits, Instead, Moment, Outcome, Plan, Setting, Stage, Took, Verdict,
};
use writecliff_suite::{
    Good, Outcome as AnyOutcome, Plan as AnyPlan, Unit, Warning, WindowState, consistency,
    is_hard_disk, spare_area, trim,
};

use super::curves::{self, Curve};
use super::{Answer, answers, table_of};
use crate::number;
use crate::number::NONE;
use crate::picture::{Axis, BLUE, GREEN, ORANGE, Style};
use crate::section::{Cell, Column, Place, Row, Section, Table, View};
use crate::subjects::Subjects;

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let answers = answers::<Outcome>(subjects);
    if answers.is_empty() {
        return None;
    }
    let tables = match &answers[..] {
        [answer] => {
            let helps = helps(subjects, answer);
            [Some(verdicts(answer)), helps, Some(commits(answer))].into_iter().flatten().collect()
        }
        _ => vec![of_several(subjects, &answers)],
    };
    let is_in_directory = |answer: &Answer<'_, Outcome>| {
        subjects.all[answer.subject].drive().kind == DeviceKind::Directory
    };
    let method = match answers.iter().all(is_in_directory) {
        true => {
            "Writes to a log in a file, through the page cache, each with the flush that makes it durable, or forced, \
             and, to compare, with neither. The drive below is as it is."
        }
        false => {
            "Writes to a log, each with the flush that makes it durable, or forced, and, to compare, with neither: \
             on the fresh drive, on the full one, beside a writer of pages until the drive is steady (a magnetic disk for a while, since it has \
             nothing to become steady to), and then again."
        }
    };
    let views = cliff(subjects, &answers);
    Some(Section::new(Plan::NAME, "Commit", method, views, tables))
}

/// The test in a sentence.
pub(super) fn headline(outcome: &Outcome, _: &DeviceInfo) -> Option<String> {
    of_limits(&outcome.verdicts(&[]))
}

/// The first limit, and what the same people ask for as well where that is missed.
fn of_limits(verdicts: &[Verdict]) -> Option<String> {
    let (first, others) = verdicts.split_first()?;
    // Who asks for two things does not hear of the one that is kept alone.
    let of_same = |other: &&Verdict| other.who == first.who;
    let kept = |answer: Option<Said>| answer.and_then(|answer| answer.holds) != Some(false);
    let is_missed =
        |one: &&Verdict| ![one.as_it_is, one.fresh, one.steady, one.beside].into_iter().all(kept);
    let missed = others.iter().filter(of_same).filter(is_missed);
    let limits: Vec<String> = std::iter::once(first).chain(missed).filter_map(limit).collect();
    (!limits.is_empty()).then(|| format!("{}, {}.", first.who, limits.join("; ")))
}

/// The last state of the drive, whether or not it is a steady one.
const LATER: &str = "after random writes";

/// The same of this drive: a magnetic disk has nothing to become steady to, and others may not have come to it.
fn later(answer: &Answer<'_, Outcome>) -> &'static str {
    let is_settled = |doubt: &Warning| doubt.window_state() == WindowState::Settled;
    let is_steady = answer.run.record.warnings.iter().all(is_settled);
    if is_steady && !is_hard_disk(&answer.run.record.drive) { "steady" } else { LATER }
}

/// Whether it is held against a limit: what is told as a time is.
fn has_limit(answer: Said) -> bool {
    answer.unit == Unit::Milliseconds
}

/// What becomes of the limit; a percentile that is told a step above it may keep it.
fn holds(answer: Said) -> &'static str {
    match answer.holds {
        Some(true) => "yes",
        Some(false) => "no",
        None => "not known",
    }
}

/// What becomes of a limit in each state of the drive.
fn limit(one: &Verdict) -> Option<String> {
    let said = |state: &str, answer: Option<Said>| {
        let answer = answer.filter(|answer| has_limit(*answer))?;
        Some(format!("{} {state}, {}", holds(answer), figure(answer)))
    };
    let stages = [
        said("here", one.as_it_is),
        said("when fresh", one.fresh),
        said(LATER, one.steady),
        said(&format!("beside a writer of pages{}", at_percent(one)), one.beside),
    ];
    let stages: Vec<String> = stages.into_iter().flatten().collect();
    (!stages.is_empty()).then(|| format!("{}: {}", one.asks, stages.join(", ")))
}

/// How fast the writer of pages is, where it is not at its full speed.
fn at_percent(one: &Verdict) -> String {
    match one.beside_percent {
        100 => String::new(),
        percent => format!(" at {percent} % of its speed"),
    }
}

/// An answer's figure in words.
fn figure(answer: Said) -> String {
    let what = match answer.instead {
        None => String::new(),
        Some(Instead::Longest) => ", the longest of few".to_owned(),
        Some(Instead::Median) => ", the median of few".to_owned(),
        Some(Instead::LongestOf(count)) => {
            format!(", the longest of {}", number::thousands(count as f64))
        }
    };
    match answer.unit {
        Unit::Milliseconds => {
            format!("{}{what}", number::latency((answer.value * 1e6).round() as u64))
        }
        _ => number::count(answer.value),
    }
}

/// A figure with what it means, if there is a limit.
fn in_words(answer: Option<Said>) -> String {
    let Some(answer) = answer else { return NONE.to_owned() };
    match has_limit(answer) {
        true => format!("{}, {}", holds(answer), figure(answer)),
        false => figure(answer),
    }
}

fn verdicts(answer: &Answer<'_, Outcome>) -> Table {
    let verdicts = answer.outcome.verdicts(&answer.run.record.warnings);
    let of_directory = verdicts.iter().any(|one| one.as_it_is.is_some());
    let row = |one: &Verdict| {
        let cell = |answer: Option<Said>, at: &str| Cell {
            in_doubt: answer.is_some_and(|answer| answer.in_doubt),
            ..Cell::from(in_words(answer) + at)
        };
        let values = match of_directory {
            true => vec![cell(one.as_it_is, "")],
            false => {
                vec![cell(one.fresh, ""), cell(one.steady, ""), cell(one.beside, &at_percent(one))]
            }
        };
        Row { values, ..Row::new(&format!("{}: {}", one.who, one.asks), Vec::new(), "") }
    };
    let column = |name: &str| Column { of: Place::default(), name: name.to_owned() };
    let (columns, text) = match of_directory {
        true => (vec![column("as it is")], "Each by its own limit, or in its own unit."),
        false => (
            match later(answer) {
                LATER => ["fresh", LATER, "beside them"].map(column).into(),
                later => ["fresh", later, "steady, beside pages"].map(column).into(),
            },
            "Each by its own limit, or in its own unit, one flush after the other; beside pages is beside \
             random writes at the full speed that the drive keeps, or beside fewer of them where a limit is kept beside \
             more and not there.",
        ),
    };
    let rows = verdicts.iter().map(row).collect();
    let mut table = Table::new("What it means", text, columns, rows);
    "who asks, and for what".clone_into(&mut table.corner);
    table
}

/// What other tests of the drive found that would make its writes faster, and with them the commits beside
/// them.
fn helps(subjects: &Subjects<'_>, answer: &Answer<'_, Outcome>) -> Option<Table> {
    let subject = &subjects.all[answer.subject];
    let doubted = |mut row: Row, in_doubt: bool| {
        row.values.iter_mut().for_each(|cell| cell.in_doubt = in_doubt);
        row
    };
    let outcomes =
        || subjects.all[answer.subject].runs.iter().filter_map(|run| run.record.outcome.as_ref());
    let settings = outcomes().filter_map(|outcome| match outcome {
        AnyOutcome::SpareArea(outcome) => Some(&outcome.settings),
        _ => None,
    });
    let settings: Vec<_> = settings.flatten().collect();
    // All of the drive is the consistency test's.
    let without = subjects.all[answer.subject].runs.iter().find_map(|run| {
        match (&run.record.plan, run.record.outcome.as_ref()?) {
            (AnyPlan::Consistency(plan), AnyOutcome::Consistency(outcome))
                if plan.spare_percent == 0.0 =>
            {
                Some(outcome.steady_iops.mean)
            }
            _ => None,
        }
    });
    let spare = settings.iter().filter_map(|setting| {
        let (with, without) = (setting.outcome.steady_iops.mean, without?);
        let when = if later(answer) == LATER { "in the end" } else { "in steady state" };
        let name = format!("{} % spare area: random writes {when}", setting.spare_percent);
        let times = number::ratio(with / without);
        let row = Row::new(&name, vec![number::iops(without), number::iops(with), times], "");
        let of = [consistency::Plan::NAME, spare_area::Plan::NAME];
        Some(doubted(row, of.iter().any(|test| subject.is_doubtful(test))))
    });
    let trim = outcomes().filter_map(|outcome| match outcome {
        // Where the drive was not as dirty before both, their ratio is not TRIM's.
        AnyOutcome::Trim(outcome) if outcome.is_dirty_alike() => {
            let (dirty, trimmed) = (outcome.whole_dirty?, outcome.whole_after_trim?);
            let rate = number::megabytes_per_second;
            let values = vec![rate(dirty), rate(trimmed), number::ratio(trimmed / dirty)];
            let row = Row::new("TRIM: sequential writes of the used drive", values, "");
            Some(doubted(row, subject.is_doubtful(trim::Plan::NAME)))
        }
        _ => None,
    });
    let rows: Vec<Row> = spare.chain(trim).collect();
    let column = |name: &str| Column { of: Place::default(), name: name.to_owned() };
    let columns = ["without", "with", "with over without"].map(column).into();
    let mut is_unlike = outcomes().filter_map(|outcome| match outcome {
        AnyOutcome::Trim(outcome) => {
            Some(outcome.after_trim.is_some() && !outcome.is_dirty_alike())
        }
        _ => None,
    });
    let mut text = "From the other tests of this drive. Commits beside pages wait for the pages, so that faster writes \
                    make them shorter; how much shorter was not measured."
        .to_owned();
    if is_unlike.any(|is_unlike| is_unlike) {
        text += " TRIM is left out: the drive was not as dirty before the pass with it as before the one without.";
    }
    (!rows.is_empty()).then(|| {
        let mut table = Table::new("What spare area and TRIM bring", &text, columns, rows);
        table.of_others = true;
        "what, and what it changes".clone_into(&mut table.corner);
        table
    })
}

/// Settings down, what they took across.
fn commits(answer: &Answer<'_, Outcome>) -> Table {
    let Outcome { commits, cliff, beside } = answer.outcome;
    let later = later(answer);
    let row = |name: String, took: &Took| {
        let latency = took.latency;
        let values = vec![
            number::count(took.per_second),
            number::service_time(latency.p50_ns),
            number::service_time_if(latency.p99_ns),
            number::service_time_if(latency.p999_ns),
            number::service_time(latency.max_ns),
        ];
        Row::new(&name, values, "")
    };
    let named = |one: &Commits| {
        let stage = if one.stage == Stage::Steady { later } else { one.stage.words() };
        format!("{stage}: {}", words(one.setting))
    };
    let alone = commits.iter().map(|one| row(named(one), &one.took));
    // A magnetic disk has no spare area to use up.
    let through = match is_hard_disk(&answer.run.record.drive) {
        true => "full: beside pages at full speed",
        false => "through the cliff: beside pages",
    };
    let through = cliff.iter().map(|one| row(through.to_owned(), &one.took));
    let beside = beside.iter().map(|one| {
        let pages = number::iops(one.pages.iops);
        row(format!("{later}: beside pages at {} % ({pages})", one.percent), &one.took)
    });
    let rows = alone.chain(through).chain(beside).collect();
    let column = |name: &str| Column { of: Place::default(), name: name.to_owned() };
    let columns = ["a second", "p50", "p99", "p99.9", "longest"].map(column).into();
    let text = match answer.run.record.drive.kind {
        DeviceKind::Simulated => {
            "Commits a second are those of committers that begin the next at once."
        }
        _ => {
            "Commits a second are those of committers that begin the next as soon as this host lets them."
        }
    };
    let mut table = Table::new("Commits", text, columns, rows);
    "drive and commits".clone_into(&mut table.corner);
    table
}

fn words(setting: Setting) -> String {
    setting.words().replace(&setting.size.exact(), &number::size(setting.size))
}

/// Drives are compared by what they mean to those who ask.
fn of_several(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Table {
    type Of = fn(&Verdict) -> Option<Said>;
    const STATES: [(&str, Of); 4] = [
        ("as it is", |verdict| verdict.as_it_is),
        ("fresh", |verdict| verdict.fresh),
        ("steady", |verdict| verdict.steady),
        ("steady, beside pages", |verdict| verdict.beside),
    ];
    let all: Vec<Vec<Verdict>> =
        answers.iter().map(|answer| answer.outcome.verdicts(&answer.run.record.warnings)).collect();
    let mut asked: Vec<(&str, &str)> = Vec::new();
    for one in all.iter().flatten() {
        if !asked.contains(&(one.who, one.asks)) {
            asked.push((one.who, one.asks));
        }
    }
    let mut rows = Vec::new();
    for (who, asks) in asked {
        for (state, of) in STATES {
            let found = |verdicts: &Vec<Verdict>| {
                verdicts.iter().find(|one| (one.who, one.asks) == (who, asks)).and_then(of)
            };
            let told: Vec<Option<Said>> = all.iter().map(found).collect();
            if told.iter().all(Option::is_none) {
                continue;
            }
            let is_time = told.iter().flatten().any(|answer| has_limit(*answer));
            let good = if is_time { Good::AtMost } else { Good::AtLeast };
            let cell = |answer: &Option<Said>| {
                Cell::new(in_words(*answer), answer.map(|answer| answer.value))
            };
            let values = told.iter().map(cell).collect();
            let (name, meaning) = (format!("{who}: {asks}; {state}"), String::new());
            rows.push(Row { name, values, meaning, good: Some(good) });
        }
    }
    let text = "Each by its own limit, or in its own unit; beside pages is beside random writes at the full speed \
                that the drive keeps, or beside fewer of them where a limit is kept beside more and not there.";
    table_of(subjects, answers, ("What it means", text), rows)
}

/// A quantity of a moment: its name, its style, and where it is.
type Quantity = (&'static str, Style, fn(&Moment) -> Option<u64>);

const QUANTITIES: [Quantity; 3] = [
    ("p50", BLUE, |moment| Some(moment.p50_ns)),
    ("p99", GREEN, |moment| moment.p99_ns),
    ("longest", ORANGE, |moment| Some(moment.max_ns)),
];

/// Commits beside pages, from the full drive to the steady one.
fn cliff(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Vec<View> {
    let are_disks = answers.iter().all(|answer| is_hard_disk(&answer.run.record.drive));
    let title = if are_disks { "Commits beside pages" } else { "Commits through the cliff" };
    let curve = |(name, style, value): &Quantity| {
        let line = |answer: &Answer<'_, Outcome>| {
            let Cliff { course, .. } = answer.outcome.cliff.as_ref()?;
            let point = |moment: &Moment| Some((f64::from(moment.second), value(moment)? as f64));
            Some((answer.subject, course.iter().filter_map(point).collect()))
        };
        let lines: Vec<(usize, Vec<(f64, f64)>)> = answers.iter().filter_map(line).collect();
        let lines = lines.into_iter().filter(|(_, line)| !line.is_empty()).collect();
        Curve { name, heading: format!("{title}: {name}"), style: *style, lines }
    };
    let curves: Vec<Curve<'_>> = QUANTITIES.iter().map(curve).collect();
    if curves.iter().all(|curve| curve.lines.is_empty()) {
        return Vec::new();
    }
    let longest = curves::points(&curves).map(|point| point.0).fold(1.0, f64::max);
    let x = Axis::linear("seconds since the pages began", longest);
    let y = curves::times("a commit takes", &curves);
    let text = "One committer beside random writes of pages at full speed, from the full drive on, until it is steady if \
                it has anything to become steady to. \
                Each point is a second, or as many as make 300 points; of fewer than a hundred commits there is no p99.";
    let names = ("commit-cliff", title, text);
    let conditions = match &answers[0].run.record.plan {
        AnyPlan::Commit(plan) => format!(
            "{} with a flush each, beside {} random writes",
            number::size(plan.block),
            number::size(plan.page)
        ),
        _ => String::new(),
    };
    curves::views_on(subjects, names, (&x, &y), &conditions, &curves)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_is_kept_is_not_told_without_the_one_that_is_missed() {
        let answer = |holds: bool| {
            let (unit, holds) = (Unit::Milliseconds, Some(holds));
            Some(Said { value: 2.0, unit, holds, instead: None, in_doubt: false })
        };
        let verdict = |who, asks, steady| {
            let (as_it_is, beside) = (None, None);
            Verdict {
                who,
                asks,
                as_it_is,
                fresh: answer(true),
                steady: answer(steady),
                beside,
                beside_percent: 100,
            }
        };
        let said = |second, third| {
            let (one, other) = (verdict("etcd", "99 %", true), verdict("etcd", "all", second));
            of_limits(&[one, other, verdict("Kafka", "messages", third)]).unwrap()
        };
        let kept = "etcd, 99 %: yes when fresh, 2.00 ms, yes after random writes, 2.00 ms";
        assert_eq!(said(true, false), format!("{kept}."));
        assert_eq!(
            said(false, true),
            format!("{kept}; all: yes when fresh, 2.00 ms, no after random writes, 2.00 ms.")
        );
    }

    #[test]
    fn what_is_no_percentile_is_not_told_as_one() {
        let said = |instead| {
            let (value, unit) = (2.0, Unit::Milliseconds);
            in_words(Some(Said { value, unit, holds: Some(false), instead, in_doubt: true }))
        };
        assert_eq!(said(None), "no, 2.00 ms");
        assert_eq!(said(Some(Instead::Median)), "no, 2.00 ms, the median of few");
        let just_above = Said {
            value: 10.04,
            unit: Unit::Milliseconds,
            holds: None,
            instead: None,
            in_doubt: false,
        };
        assert_eq!(in_words(Some(just_above)), "not known, 10.0 ms");
        let rate = Said { unit: Unit::Count, ..just_above };
        assert_eq!(in_words(Some(rate)), "10.0", "of a rate there is no limit");
    }
}
