//! Power: what the drive draws, second by second, phase by phase.

use writecliff_device::DeviceInfo;
use writecliff_measure::Sample;
use writecliff_suite::Good;
use writecliff_suite::power::{
    AFTER_RANDOM, AFTER_SEQUENTIAL, IDLE, Outcome, Plan, PowerPhase, RANDOM_WRITE, SEQUENTIAL_WRITE,
};

use super::{Answer, answers, number_row, per_drive, table_of};
use crate::number;
use crate::number::NONE;
use crate::picture::{Axis, BLUE, GREEN, NEUTRAL, ORANGE, PURPLE, Picture, Points, Style, Trace};
use crate::section::{Column, Place, Row, Section, Table, View};
use crate::subjects::Subjects;

/// The phases in their order, as a person calls them.
const PHASES: [(&str, &str, Style); 5] = [
    (IDLE, "idle", NEUTRAL),
    (SEQUENTIAL_WRITE, "sequential", BLUE),
    (AFTER_SEQUENTIAL, "idle again", GREEN),
    (RANDOM_WRITE, "random", ORANGE),
    (AFTER_RANDOM, "idle at last", PURPLE),
];

const TITLE: &str = "Power";

/// What a sample says of something, in the unit of the picture.
type Reading = fn(&Sample) -> Option<f64>;

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let answers = answers::<Outcome>(subjects);
    if answers.is_empty() {
        // Nothing told what the drive draws: that doubt stands here all the same.
        let was_run = subjects.runs().any(|(_, run)| run.record.plan.name() == Plan::NAME);
        return was_run.then(|| Section::new(Plan::NAME, TITLE, "", Vec::new(), Vec::new()));
    }
    let power: Reading = |sample| Some(sample.power_microwatts? as f64 / 1e6);
    let temperature: Reading = |sample| Some(sample.temperature_millicelsius? as f64 / 1e3);
    let over_time = "Means of a second; the colours are the phases of the test.";
    let views = [
        view(subjects, &answers, ("power-watts", "Power", over_time), "watts", power),
        view(subjects, &answers, ("power-temperature", "Temperature", ""), "°C", temperature),
    ];
    let views = views.into_iter().flatten().collect();
    let method = still_at_work(subjects, &answers);
    Some(Section::new(Plan::NAME, TITLE, &method, views, tables(subjects, &answers)))
}

/// In which rests a drive writes for itself to their end: what it draws there, however evenly, is not what rest costs.
fn still_at_work(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> String {
    let is_at_work = |answer: &Answer<'_, Outcome>, phase: &str| {
        let last = answer.run.recording.series(phase).last();
        last.is_some_and(|s| s.ios() == 0 && s.nand_written_bytes.is_some_and(|bytes| bytes > 0))
    };
    let told = answers.iter().filter_map(|answer| {
        let rests = PHASES.iter().filter(|(phase, ..)| is_at_work(answer, phase));
        let rests: Vec<&str> = rests.map(|(_, name, _)| *name).collect();
        let of = match subjects.is_comparison() {
            true => format!("{}: ", subjects.full_name(answer.subject)),
            false => String::new(),
        };
        (!rests.is_empty()).then(|| format!("{of}{}", rests.join(", ")))
    });
    let told: Vec<String> = told.collect();
    match &told[..] {
        [] => String::new(),
        told => format!("Still writing for itself at the end of: {}.", told.join("; ")),
    }
}

/// The test in a sentence.
pub(super) fn headline(outcome: &Outcome, _: &DeviceInfo) -> Option<String> {
    let phase = |name| outcome.phases.iter().find(|phase| phase.phase == name);
    let (idle, busy) = (phase(IDLE)?, phase(SEQUENTIAL_WRITE)?);
    // What it still does for itself after writes is a part of what idle costs.
    let after =
        phase(AFTER_RANDOM).map(|after| after.mean).filter(|after| *after > idle.mean * 1.1);
    let after = after.map_or_else(String::new, |after| {
        format!(", {} on average in the idle time after random writes", number::watts(after))
    });
    let [idle, busy] = [idle, busy].map(drawn);
    Some(format!("It draws {idle} idle before any write{after}, and {busy} in sequential writes."))
}

/// What it draws in a phase once it has settled there, or on average.
fn drawn(phase: &PowerPhase) -> String {
    match settled_after(phase) {
        Some(0.0) => number::watts(phase.settled),
        Some(seconds) => {
            format!(
                "{} (settled, after {})",
                number::watts(phase.settled),
                number::seconds(seconds)
            )
        }
        None => format!("{} on average", number::watts(phase.mean)),
    }
}

fn view(
    subjects: &Subjects<'_>,
    answers: &[Answer<'_, Outcome>],
    (id, title, text): (&str, &str, &str),
    quantity: &str,
    reading: Reading,
) -> Option<View> {
    let points = |answer: &Answer<'_, Outcome>, phase: &str| -> Vec<(f64, f64)> {
        let begin = answer.run.recording.series(IDLE).next().map_or(0, |sample| sample.start_ns);
        let second = |s: &Sample| s.start_ns.saturating_sub(begin) as f64 / 1e9;
        let samples = answer.run.recording.series(phase);
        let whole = samples.filter(|sample| sample.is_whole());
        whole.filter_map(|sample| Some((second(sample), reading(sample)?))).collect()
    };
    let of_answer = |answer| PHASES.iter().flat_map(move |(phase, _, _)| points(answer, phase));
    let all = || answers.iter().flat_map(of_answer);
    let (start, end) = all().fold((f64::INFINITY, 0.0), |(start, end): (f64, f64), point| {
        (start.min(point.0), end.max(point.0))
    });
    all().next()?;
    let x = Axis::span("seconds of the test", start.floor(), end + 1.0);
    let y = Axis::linear(quantity, all().map(|point| point.1).fold(0.0, f64::max));
    per_drive(subjects, answers, (id, title, text), |answer, id, heading| {
        let trace = |(phase, name, style): &(&str, &str, Style)| {
            Some(points(answer, phase))
                .filter(|points| !points.is_empty())
                .map(|points| Points::dots(name, *style, points))
        };
        let traces: Vec<Trace> = PHASES.iter().filter_map(trace).collect();
        let mut picture = Picture::new(id, heading, x.clone(), y.clone(), traces);
        picture.conditions =
            "idle; sequential writes, 128 KiB, QD32; 4 KiB random writes, QD32".into();
        (!picture.traces.is_empty()).then_some(picture)
    })
}

/// What is said of a phase.
type Said = (&'static str, fn(&PowerPhase) -> Option<f64>, fn(f64) -> String);

const SAID: [Said; 5] = [
    ("mean", |phase| Some(phase.mean), number::watts),
    ("lowest second", |phase| Some(phase.lowest), number::watts),
    ("highest second", |phase| Some(phase.highest), number::watts),
    ("settled at", |phase| settled_after(phase).map(|_| phase.settled), number::watts),
    ("settled after", settled_after, number::seconds),
];

/// In seconds, 0 if it was from the beginning what it is; `None` if it never settled.
fn settled_after(phase: &PowerPhase) -> Option<f64> {
    phase.settled_after_s.map(f64::from)
}

/// Of one drive phases down and figures across; of several, their means and where they settle.
fn tables(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Vec<Table> {
    let found = |answer: &Answer<'_, Outcome>, phase: &str| {
        answer.outcome.phases.iter().find(|one| one.phase == phase).cloned()
    };
    let title = "Power by phase";
    if let [answer] = answers {
        let row = |(phase, name, _): &(&str, &str, Style)| {
            let found = found(answer, phase);
            let value = |(_, value, words): Said| {
                found.as_ref().and_then(value).map_or(NONE.to_owned(), words)
            };
            Row::new(name, SAID.map(value).into(), "")
        };
        let column = |(name, ..): Said| Column { of: Place::default(), name: name.to_owned() };
        let rows = PHASES.iter().map(row).collect();
        return vec![Table::new(title, "", SAID.map(column).into(), rows)];
    }
    let table = |(said, value, words): Said| {
        let row = |(phase, name, _): &(&str, &str, Style)| {
            let numbers = answers.iter().map(|answer| value(&found(answer, phase)?));
            number_row(name, Good::AtMost, numbers, words)
        };
        let rows = PHASES.iter().map(row).collect();
        table_of(subjects, answers, (&format!("{title}: {said}"), ""), rows)
    };
    [SAID[0], SAID[2]].into_iter().map(table).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_draws_what_it_settles_at_or_so_much_on_average() {
        let said = |settled_after_s| {
            let (phase, mean, lowest) = (IDLE.to_owned(), 0.0071, 0.005);
            let (highest, settled) = (0.096, 0.005);
            drawn(&PowerPhase { phase, mean, lowest, highest, settled, settled_after_s })
        };
        assert_eq!(said(Some(2)), "5.00 mW (settled, after 2 s)");
        assert_eq!(said(Some(0)), "5.00 mW");
        assert_eq!(said(None), "7.10 mW on average");
    }
}
