//! Idle: what the first read after a rest takes, and what the drive draws meanwhile.

use writecliff_device::{DeviceInfo, Nanos};
use writecliff_suite::Good;
use writecliff_suite::idle::{Outcome, Plan, Rest};

use super::curves::{self, Curve};
use super::{Answer, answers, latency_row, number_row, rest_words, table_of};
use crate::number;
use crate::number::NONE;
use crate::picture::{Axis, BLUE, ORANGE};
use crate::section::{Column, Place, Row, Section, Table};
use crate::subjects::Subjects;

const CONDITIONS: &str = "4 KiB random reads, one after each rest";

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let answers = answers::<Outcome>(subjects);
    if answers.is_empty() {
        return None;
    }
    let rests = rests(&answers);
    let x = Axis::names("time at rest", rests.iter().copied().map(rest_words).collect());
    let place = |rest: &Rest| rests.iter().position(|one| *one == rest.rest).unwrap_or(0) as f64;
    let lines = |value: fn(&Rest) -> Option<f64>| {
        let line = |answer: &Answer<'_, Outcome>| {
            let point = |rest: &Rest| Some((place(rest), value(rest)?));
            (answer.subject, answer.outcome.rests.iter().filter_map(point).collect())
        };
        answers
            .iter()
            .map(line)
            .filter(|(_, points): &(usize, Vec<_>)| !points.is_empty())
            .collect()
    };
    let (first, power) = ("The first read after a rest", "Power at the end of a rest");
    let curve = |name, heading: &str, style, lines| Curve {
        name,
        heading: heading.to_owned(),
        style,
        lines,
    };
    let reads = curve("first read", first, BLUE, lines(|rest| Some(rest.first_ns as f64 / 1e6)));
    let watts = curve("power", power, ORANGE, lines(|rest| rest.watts));
    let mut views = curves::views(
        subjects,
        ("idle-first-read", first, "Mean of the repeats."),
        &x,
        "ms",
        CONDITIONS,
        &[reads],
    );
    if !watts.lines.is_empty() {
        let names = (
            "idle-power",
            power,
            "Mean of the last second, or of the whole rest where that is shorter.",
        );
        views.extend(curves::views(subjects, names, &x, "watts", CONDITIONS, &[watts]));
    }
    let tables = match &answers[..] {
        [answer] => vec![of_one(answer)],
        _ => vec![of_several(subjects, &answers, &rests)],
    };
    Some(Section::new(Plan::NAME, "Idle", "One read after each rest.", views, tables))
}

/// The test in a sentence.
pub(super) fn headline(outcome: &Outcome, _: &DeviceInfo) -> Option<String> {
    // The shortest of equal ones.
    let slowest = outcome.rests.iter().rev().max_by_key(|rest| rest.first_ns)?;
    let longest = outcome.rests.iter().max_by_key(|rest| rest.rest)?;
    let draws = longest.watts.map_or_else(String::new, |watts| {
        format!("; after {} it draws {}", rest_words(longest.rest), number::watts(watts))
    });
    Some(format!(
        "The first read after {} takes {} instead of {}{draws}.",
        rest_words(slowest.rest),
        number::latency(slowest.first_ns),
        number::latency(outcome.awake_ns)
    ))
}

/// Of all drives, the shortest first.
fn rests(answers: &[Answer<'_, Outcome>]) -> Vec<Nanos> {
    let all = answers.iter().flat_map(|answer| &answer.outcome.rests);
    let mut rests: Vec<Nanos> = all.map(|rest| rest.rest).collect();
    rests.sort_unstable();
    rests.dedup();
    rests
}

/// Rests down and figures across.
fn of_one(answer: &Answer<'_, Outcome>) -> Table {
    let row = |rest: &Rest| {
        let power = rest.watts.map_or(NONE.to_owned(), number::watts);
        let times = [rest.first_ns, rest.first_max_ns].map(number::latency);
        Row::new(&rest_words(rest.rest), [&times[..], &[power]].concat(), "")
    };
    let column = |name: &str| Column { of: Place::default(), name: name.to_owned() };
    let columns = ["first read", "the longest", "power"].map(column).into();
    let text = format!("Without a rest a read takes {}.", number::latency(answer.outcome.awake_ns));
    Table::new("At rest", &text, columns, answer.outcome.rests.iter().map(row).collect())
}

fn of_several(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>], rests: &[Nanos]) -> Table {
    let find = |answer: &Answer<'_, Outcome>, rest: Nanos| {
        answer.outcome.rests.iter().find(|one| one.rest == rest).copied()
    };
    let awake = answers.iter().map(|answer| Some(answer.outcome.awake_ns));
    let mut rows = vec![latency_row("read without a rest", awake)];
    rows.extend(rests.iter().map(|rest| {
        let first = answers.iter().map(|answer| Some(find(answer, *rest)?.first_ns));
        latency_row(&format!("first read after {}", rest_words(*rest)), first)
    }));
    let tells = answers.iter().any(|answer| answer.outcome.rests.iter().any(|r| r.watts.is_some()));
    rows.extend(rests.iter().filter(|_| tells).map(|rest| {
        let power = answers.iter().map(|answer| find(answer, *rest)?.watts);
        number_row(
            &format!("power after {}", rest_words(*rest)),
            Good::AtMost,
            power,
            number::watts,
        )
    }));
    table_of(subjects, answers, ("At rest", ""), rows)
}
