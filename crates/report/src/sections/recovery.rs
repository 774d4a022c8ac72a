//! Recovery: how much of the fast buffer is back after a rest.

use writecliff_device::{Bytes, DeviceInfo, Nanos};
use writecliff_measure::{Sample, Statistics};
use writecliff_suite::recovery::{Burst, EXHAUST, Outcome, Plan, phases};
use writecliff_suite::{FastPart, Good, are_apart};

use super::curves::{self, Curve};
use super::{Answer, answers, is_in_doubt, number_row, per_drive, rest_words, table_of};
use crate::buffer;
use crate::number;
use crate::picture::{Axis, BLUE, Picture, Points, Trace, nth_style};
use crate::section::{Column, Place, Row, Section, Table, View};
use crate::subjects::Subjects;

const CONDITIONS: &str = "sequential writes after a rest, 1 MiB, 8 in flight, and many before it";

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let answers = answers::<Outcome>(subjects);
    if answers.is_empty() {
        return None;
    }
    let rests = rests(&answers);
    let mut views = back(subjects, &answers, &rests);
    views.extend(bursts(subjects, &answers));
    let tables = match &answers[..] {
        [answer] => vec![of_one(answer)],
        _ => vec![of_several(subjects, &answers, &rests)],
    };
    let method = "So much is written that a fast buffer would be full, and after each rest a burst shows what is back of it.";
    Some(Section::new(Plan::NAME, "Recovery", method, views, tables))
}

/// The test in a sentence.
pub(super) fn headline(outcome: &Outcome, _: &DeviceInfo) -> Option<String> {
    given_back(outcome)
}

/// How much of the buffer a rest gives back.
fn given_back(outcome: &Outcome) -> Option<String> {
    let Some(buffer) = outcome.buffer else {
        return Some(none_found(outcome));
    };
    let said =
        |burst: &Burst| Some((number::percent(outcome.share(burst)?), rest_words(burst.rest)));
    let (share, rest) = said(outcome.bursts.first()?)?;
    let last = outcome.bursts.iter().skip(1).last().and_then(said);
    let last = last.map_or(String::new(), |(share, rest)| format!(", and {share} after {rest}"));
    let bytes = number::bytes(buffer.bytes.0 as f64);
    if let Some((least, most)) = out_of_order(outcome) {
        let [least, most] = [least, most].map(number::percent);
        return Some(format!(
            "Of its fast buffer of {bytes}, {least} to {most} is back after a rest, and not always more after a longer one: \
             how much of that the rest gives is not told."
        ));
    }
    Some(format!("Of its fast buffer of {bytes}, {share} is back after {rest}{last}."))
}

/// A longer rest gives so much less back, as a share of the buffer, if something else than the rest does.
const LESS: f64 = 0.1;

/// The least and the most that came back, where a longer rest gave less than a shorter one.
fn out_of_order(outcome: &Outcome) -> Option<(f64, f64)> {
    let mut bursts: Vec<&Burst> = outcome.bursts.iter().collect();
    bursts.sort_by_key(|burst| burst.rest);
    let shares: Vec<f64> = bursts.iter().filter_map(|burst| outcome.share(burst)).collect();
    let most_before = |at: usize| shares[..at].iter().copied().fold(0.0, f64::max);
    let is_less = |at: &usize| shares[*at] < most_before(*at) - LESS;
    (1..shares.len()).find(is_less)?;
    let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
    Some((least, most_before(shares.len())))
}

/// That writes of the erased drive did not fall.
fn none_found(outcome: &Outcome) -> String {
    let bytes = |bytes: Bytes| number::bytes(bytes.0 as f64);
    let written = match (outcome.span, outcome.exhausted) {
        (Some(span), Some(exhausted)) if exhausted <= span => format!(" in {}", bytes(exhausted)),
        (Some(span), _) => format!(" in {} that are written again and again", bytes(span)),
        _ => String::new(),
    };
    format!(
        "Whether a fast buffer comes back is not known: no end of one is seen{written}, since {}.",
        if outcome.more_work { buffer::MORE_WORK } else { buffer::NONE_TOLD }
    )
}

/// Of all drives, the shortest first.
fn rests(answers: &[Answer<'_, Outcome>]) -> Vec<Nanos> {
    let all = answers.iter().flat_map(|answer| &answer.outcome.bursts);
    let mut rests: Vec<Nanos> = all.map(|burst| burst.rest).collect();
    rests.sort_unstable();
    rests.dedup();
    rests
}

/// How much was written fast, over the rest before it.
fn back(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>], rests: &[Nanos]) -> Vec<View> {
    let x = Axis::names("time at rest", rests.iter().copied().map(rest_words).collect());
    let place = |burst: &Burst| rests.iter().position(|one| *one == burst.rest).unwrap_or(0) as f64;
    let line = |answer: &Answer<'_, Outcome>| {
        let share = |burst: &Burst| Some((place(burst), answer.outcome.share(burst)? * 100.0));
        (answer.subject, answer.outcome.bursts.iter().filter_map(share).collect::<Vec<_>>())
    };
    let lines = answers.iter().map(line).filter(|(_, points)| !points.is_empty()).collect();
    let title = "What is back of the buffer";
    let curve = Curve { name: "back", heading: title.to_owned(), style: BLUE, lines };
    if curve.lines.is_empty() {
        return Vec::new();
    }
    let mut text = "What a burst writes fast, as a share of the erased drive's buffer.".to_owned();
    let unordered = answers.iter().filter(|answer| out_of_order(answer.outcome).is_some());
    let unordered: Vec<&str> = unordered.map(|answer| subjects.name(answer.subject)).collect();
    if !unordered.is_empty() {
        text += &format!(
            " Of {} a longer rest did not always give more: how much of it the rest gives is not told.",
            unordered.join(", ")
        );
    }
    let names = ("recovery-back", title, text.as_str());
    curves::views(subjects, names, &x, "% of the buffer", CONDITIONS, &[curve])
}

/// A picture for each drive: the seconds of every burst, over each other.
fn bursts(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Option<View> {
    let of_answer = |answer| each(answer).flat_map(|(_, points)| points);
    let all = || answers.iter().flat_map(of_answer);
    let (end, highest) = all().fold((0.0, 0.0), |(end, highest): (f64, f64), (second, speed)| {
        (end.max(second), highest.max(speed))
    });
    let x = Axis::span("seconds of the burst", 0.0, end + 1.0);
    let y = Axis::linear("MB/s", highest);
    let names = ("recovery-bursts", "The bursts", "Each dot is a second.");
    per_drive(subjects, answers, names, |answer, id, heading| {
        let traces: Vec<Trace> = each(answer)
            .enumerate()
            .map(|(index, (rest, points))| {
                Points::dots(&format!("after {}", rest_words(rest)), nth_style(index), points)
            })
            .collect();
        let mut picture = Picture::new(id, heading, x.clone(), y.clone(), traces);
        CONDITIONS.clone_into(&mut picture.conditions);
        (!picture.traces.is_empty()).then_some(picture)
    })
}

/// The bursts' whole seconds with their speeds.
fn each<'a>(
    answer: &'a Answer<'_, Outcome>,
) -> impl Iterator<Item = (Nanos, Vec<(f64, f64)>)> + 'a {
    let point = |s: &Sample| (f64::from(s.second), s.megabytes_per_second());
    answer.outcome.bursts.iter().map(move |burst| {
        let [_, phase] = phases(burst.rest);
        let samples = answer.run.recording.series(&phase).filter(|sample| sample.is_whole());
        (burst.rest, samples.map(point).collect())
    })
}

/// Rests down and figures across.
fn of_one(answer: &Answer<'_, Outcome>) -> Table {
    let row = |burst: &Burst| {
        let more = if burst.all { ", and more" } else { "" };
        let values = vec![
            answer.outcome.buffer.map_or(crate::number::NONE.to_owned(), |_| {
                format!("{}{more}", number::bytes(burst.back.0 as f64))
            }),
            answer.outcome.share(burst).map_or(crate::number::NONE.to_owned(), number::percent),
            number::megabytes_per_second(burst.megabytes_per_second),
            number::megabytes_per_second(burst.end_megabytes_per_second),
        ];
        Row::new(&rest_words(burst.rest), values, "")
    };
    let column = |name: &str| Column { of: Place::default(), name: name.to_owned() };
    let columns = ["written fast", "of the buffer", "whole burst", "its second half, median"]
        .map(column)
        .into();
    let text = answer.outcome.buffer.map_or_else(
        || none_found(answer.outcome),
        |buffer| {
            format!(
                "On the erased drive the buffer takes {} at {}; past it {}.",
                number::bytes(buffer.bytes.0 as f64),
                number::megabytes_per_second(buffer.fast_megabytes_per_second),
                past(answer, buffer)
            )
        },
    );
    let rows = answer.outcome.bursts.iter().map(row).collect();
    let mut table = Table::new("After a rest", &text, columns, rows);
    "rest".clone_into(&mut table.corner);
    table
}

/// How fast it goes past the buffer: where that serves some writes again on the way, for most of the time.
fn past(answer: &Answer<'_, Outcome>, buffer: FastPart) -> String {
    let mut left = buffer.bytes.0;
    let samples = answer.run.recording.series(EXHAUST).filter(|sample| sample.is_whole());
    let is_past = |sample: &&Sample| {
        left = left.saturating_sub(sample.written_bytes);
        left == 0
    };
    let seconds: Vec<f64> = samples.filter(is_past).map(Sample::megabytes_per_second).collect();
    let mean = buffer.slow_megabytes_per_second;
    let doubt = if is_in_doubt(answer.run, EXHAUST) { " (in doubt)" } else { "" };
    let of_all = format!("writes go at {} on average{doubt}", number::megabytes_per_second(mean));
    match Statistics::of(&seconds) {
        Some(Statistics { median, .. }) if are_apart(median, mean) => {
            format!(
                "half of the seconds are at {} or less, and {of_all}",
                number::megabytes_per_second(median)
            )
        }
        _ => of_all,
    }
}

fn of_several(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>], rests: &[Nanos]) -> Table {
    let find = |answer: &Answer<'_, Outcome>, rest: Nanos| {
        answer.outcome.bursts.iter().find(|one| one.rest == rest).copied()
    };
    let buffer = answers.iter().map(|answer| Some(answer.outcome.buffer?.bytes.0 as f64));
    let mut rows = vec![number_row("fast buffer", Good::AtLeast, buffer, number::bytes)];
    rows.extend(rests.iter().map(|rest| {
        let share = |a: &Answer<'_, Outcome>| a.outcome.share(&find(a, *rest)?);
        let name = format!("back after {}", rest_words(*rest));
        number_row(&name, Good::AtLeast, answers.iter().map(share), number::percent)
    }));
    rows.extend(rests.iter().map(|rest| {
        let speed = answers.iter().map(|a| Some(find(a, *rest)?.megabytes_per_second));
        let name = format!("burst after {}", rest_words(*rest));
        number_row(&name, Good::AtLeast, speed, number::megabytes_per_second)
    }));
    table_of(subjects, answers, ("After a rest", ""), rows)
}

#[cfg(test)]
mod tests {
    use writecliff_device::Bytes;
    use writecliff_suite::FastPart;

    use super::*;

    #[test]
    fn a_longer_rest_that_gives_less_back_is_not_told_as_what_the_rest_gave() {
        let outcome = |shares: &[u64]| Outcome {
            more_work: false,
            buffer: Some(FastPart {
                bytes: Bytes(100),
                fast_megabytes_per_second: 500.0,
                slow_megabytes_per_second: 100.0,
            }),
            span: None,
            exhausted: None,
            bursts: (1..)
                .zip(shares)
                .map(|(rest, back)| Burst {
                    rest: Nanos::from_secs(rest),
                    back: Bytes(*back),
                    all: false,
                    megabytes_per_second: 100.0,
                    end_megabytes_per_second: 100.0,
                })
                .collect(),
        };
        let told = |shares: &[u64]| given_back(&outcome(shares)).unwrap();
        assert!(told(&[20, 55, 100]).contains("20 % is back after 1 s, and 100 % after 3 s"));
        assert!(told(&[79, 3, 55, 47]).contains("3 % to 79 % is back after a rest"));
        assert_eq!(out_of_order(&outcome(&[100, 97])), None);
        assert_eq!(out_of_order(&outcome(&[])), None);
    }
}
