//! Suite: which of its targets a drive meets.

use std::collections::BTreeMap;

use writecliff_device::{DeviceInfo, printable};
use writecliff_measure::Sample;
use writecliff_suite::suite::{Figures, Judged, Outcome, Plan, StepFigures};
use writecliff_suite::{Good, MethodWarning, Warning};

use super::{Answer, Latency, answers, latency_row, number_row, per_drive, table_of};
use crate::number;
use crate::number::NONE;
use crate::picture::{Axis, Picture, Points, latency, nth_style};
use crate::run::Run;
use crate::section::{Cell, Row, Section, Table, View};
use crate::subjects::Subjects;

/// A step's reads, writes, trims or flushes.
type Part = (String, &'static str);

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let answers = answers::<Outcome>(subjects);
    let steps = answers.iter().flat_map(|answer| &answer.outcome.steps);
    let mut parts: Vec<Part> = Vec::new();
    for step in steps.filter(|step| !step.prepares) {
        let all = step.operations().map(|(operation, _)| (step.name.clone(), operation));
        let new: Vec<Part> = all.filter(|part| !parts.contains(part)).collect();
        parts.extend(new);
    }
    if answers.is_empty() {
        return None;
    }
    let mut tables: Vec<Table> = targets(subjects, &answers).into_iter().collect();
    if !parts.is_empty() {
        tables.push(rates(subjects, &answers, &parts));
        tables.push(latencies(subjects, &answers, &parts));
    }
    let views = over_time(subjects, &answers).into_iter().collect();
    let titles: Vec<&str> = answers.iter().filter_map(title).collect();
    let method = match titles.split_first() {
        Some((first, others))
            if titles.len() == answers.len() && others.iter().all(|one| one == first) =>
        {
            format!("{}.", printable(first))
        }
        _ => String::new(),
    };
    Some(Section::new(Plan::NAME, "Suite", &method, views, tables))
}

fn title<'a>(answer: &Answer<'a, Outcome>) -> Option<&'a str> {
    match &answer.run.record.plan {
        writecliff_suite::Plan::Suite(plan) => plan.title.as_deref(),
        _ => None,
    }
}

/// So many targets that were missed are all named.
const NAMED_MAX: usize = 3;

/// The test in a sentence.
pub(super) fn headline(outcome: &Outcome, _: &DeviceInfo) -> Option<String> {
    let all: Vec<&Judged> = outcome.steps.iter().flat_map(|step| &step.targets).collect();
    let judged: Vec<bool> = all.iter().filter_map(|target| target.passes).collect();
    let met = judged.iter().filter(|passes| **passes).count();
    match (all.len(), judged.len()) {
        (0, _) => {
            let steps = match outcome.steps.len() {
                1 => "One step of the suite was done, and has no target.".to_owned(),
                count => {
                    format!("{count} steps of the suite were done; none of them has a target.")
                }
            };
            Some(steps)
        }
        (count, 0) => Some(format!("None of the suite's {count} targets was judged.")),
        (_, count) => {
            let has_cycles = outcome.steps.iter().any(|step| step.name.contains(", cycle "));
            let worst = missed(outcome);
            let missed =
                worst.iter().map(|target| format!("{} {}", target.figure, in_words(target)));
            let missed: Vec<String> = missed.collect();
            let missed = match missed.len() {
                0 => String::new(),
                1..=NAMED_MAX if has_cycles => {
                    format!(" Missed, at the worst of its cycles: {}.", missed.join("; "))
                }
                1..=NAMED_MAX => format!(" Missed: {}.", missed.join("; ")),
                _ => format!(" Missed, among others: {}.", missed[0]),
            };
            let left_out = outcome.targets_left_out as usize;
            let of_left_out = match left_out {
                0 => String::new(),
                left_out => format!(" ({left_out} of steps that were left out)"),
            };
            let unjudged = match all.len() + left_out - count {
                0 => String::new(),
                1 => format!("; 1 is not judged{of_left_out}"),
                more => format!("; {more} are not judged{of_left_out}"),
            };
            let all = all.len() + left_out;
            let each = if has_cycles { ", of which each counts once a cycle," } else { "" };
            Some(format!("{met} of {all} targets of the suite{each} are met{unjudged}.{missed}"))
        }
    }
}

/// The targets that were missed: of those of several cycles the worst, the farthest first.
fn missed(outcome: &Outcome) -> Vec<&Judged> {
    let all = outcome.steps.iter().flat_map(|step| &step.targets);
    let mut missed: Vec<_> = all.filter(|target| target.passes == Some(false)).collect();
    missed.sort_by(|a, b| far(b).total_cmp(&far(a)));
    // In another cycle it is the same target.
    let target_of = |target: &Judged| match target.figure.split_once(", cycle ") {
        Some((step, rest)) => {
            format!("{step}{}", rest.trim_start_matches(|c: char| c.is_ascii_digit()))
        }
        None => target.figure.clone(),
    };
    let mut known: Vec<String> = Vec::new();
    missed.retain(|target| {
        let name = target_of(target);
        let is_new = !known.contains(&name);
        known.push(name);
        is_new
    });
    missed
}

/// Of each step whose targets were judged whether it is in doubt: that none was is not.
pub(super) fn doubts_of_headline(run: &Run, outcome: &Outcome) -> Vec<bool> {
    let is_judged = |step: &&StepFigures| step.targets.iter().any(|one| one.passes.is_some());
    let is_doubtful = |step: &StepFigures| {
        let of =
            |operation| run.and_repeats().any(|run| is_in_doubt(run, &step.name, operation, false));
        ["reads", "writes"].into_iter().any(of)
    };
    let steps = outcome.steps.iter().filter(is_judged);
    steps.map(is_doubtful).collect()
}

/// Whether the service times of an operation of a step are in doubt, or with `rates` what was done. Beside trims whose
/// time is not modelled all of a step is; flushes are in doubt where there are any.
pub(super) fn is_in_doubt(run: &Run, step: &str, operation: &str, rates: bool) -> bool {
    let has =
        |operation: &str| run.recording.series(&format!("{step} {operation}")).next().is_some();
    let of_flushes = Warning::Method(MethodWarning::FlushOfDataOnly);
    let doubts = run.record.warnings.iter();
    let mut doubts = doubts.filter(|doubt| **doubt != of_flushes || has("flushes"));
    doubts.any(|doubt| {
        doubt.may_be_of_step(step, operation, rates)
            || (doubt.may_be_of_step(step, "trims", rates) && has("trims"))
    })
}

/// How far a target was missed, as a ratio.
fn far(target: &Judged) -> f64 {
    let ratio = target.got.unwrap_or(target.bound) / target.bound.max(f64::MIN_POSITIVE);
    if target.good() == Good::AtMost { ratio } else { 1.0 / ratio.max(f64::MIN_POSITIVE) }
}

/// `3.1 ms, at most 5.0 ms`.
fn in_words(target: &Judged) -> String {
    let side = if target.good() == Good::AtMost { "at most" } else { "at least" };
    let bound = value(target, target.bound);
    let got = target.got.map_or_else(
        || NONE.to_owned(),
        |got| match value(target, got) {
            same if same == bound && got != target.bound => {
                writecliff_suite::to_the_hair(got, target.unit())
            }
            told => told,
        },
    );
    format!("{got}, {side} {bound}")
}

fn value(target: &Judged, number: f64) -> String {
    match target.good() {
        Good::AtMost => number::latency((number * 1e6) as u64),
        Good::AtLeast => writecliff_suite::in_words(number, target.unit()),
    }
}

/// Every target with what it asks and who asks it, and what each drive came to.
fn targets(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Option<Table> {
    let of = |answer: &Answer<'_, Outcome>| -> Vec<Judged> {
        answer.outcome.steps.iter().flat_map(|step| step.targets.clone()).collect()
    };
    let mut all: Vec<Judged> = Vec::new();
    for target in answers.iter().flat_map(of) {
        if all.iter().all(|known| known.figure != target.figure) {
            all.push(target);
        }
    }
    let row = |target: &Judged| {
        let cell = |answer: &Answer<'_, Outcome>| {
            let found = of(answer).into_iter().find(|one| one.figure == target.figure);
            found.map_or(Cell::from(NONE.to_owned()), |found| verdict(&found))
        };
        let row = Row {
            name: target.figure.clone(),
            values: answers.iter().map(cell).collect(),
            meaning: target.source.clone(),
            good: Some(target.good()),
        };
        // What a step that fell behind makes of a limit is judged already.
        let mut row = match part_of(answers, target) {
            Some(part) => doubted(answers, &part, true, row),
            None => row,
        };
        // What was not measured is in no doubt.
        row.values
            .iter_mut()
            .filter(|cell| cell.number.is_none())
            .for_each(|cell| cell.in_doubt = false);
        row
    };
    let rows: Vec<Row> = all.iter().map(row).collect();
    let text = "What the suite asks, and whether it was so.";
    let mut table = table_of(subjects, answers, ("Targets", text), rows);
    (table.first, table.meanings) = (true, "Asked by");
    (!all.is_empty()).then_some(table)
}

/// The step and the operation that a target is of: `load reads, p99`.
fn part_of(answers: &[Answer<'_, Outcome>], target: &Judged) -> Option<Part> {
    let mut steps = answers.iter().flat_map(|answer| &answer.outcome.steps);
    steps.find_map(|step| {
        let is_of = |(operation, _): &(&'static str, &Figures)| {
            target.figure.starts_with(&format!("{} {operation}, ", step.name))
        };
        let (operation, _) = step.operations().find(is_of)?;
        Some((step.name.clone(), operation))
    })
}

fn verdict(target: &Judged) -> Cell {
    let verdict = match target.passes {
        Some(true) => "pass: ",
        Some(false) => "FAIL: ",
        None => "not judged: ",
    };
    let why = target.unjudged.map_or_else(String::new, |why| format!(" ({why})"));
    Cell::new(format!("{verdict}{}{why}", in_words(target)), target.got)
}

fn name((step, operation): &Part) -> String {
    format!("{step} {operation}")
}

fn find<'a>(outcome: &'a Outcome, (step, operation): &Part) -> Option<&'a Figures> {
    let step = outcome.steps.iter().find(|one| one.name == *step)?;
    step.operations().find(|(one, _)| one == operation).map(|(_, figures)| figures)
}

fn rates(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>], parts: &[Part]) -> Table {
    type Rate = (&'static str, fn(&Figures) -> f64, fn(f64) -> String);
    const RATES: [Rate; 2] = [
        ("IOPS", |figures| figures.iops, number::iops),
        ("MiB/s", |figures| figures.mebibytes_per_second, |rate| format!("{rate:.1} MiB/s")),
    ];
    let rows = parts.iter().flat_map(|part| {
        RATES.map(|(what, value, words)| {
            // Flushes move no bytes.
            let of = |answer: &Answer<'_, Outcome>| {
                find(answer.outcome, part).map(value).filter(|rate| *rate > 0.0)
            };
            let title = format!("{}: {what}", name(part));
            let row = number_row(&title, Good::AtLeast, answers.iter().map(of), words);
            doubted(answers, part, true, row)
        })
    });
    table_of(subjects, answers, ("Rates", ""), rows.collect())
}

fn latencies(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>], parts: &[Part]) -> Table {
    const LATENCIES: [Latency<Figures>; 6] = [
        ("mean", |figures| Some(figures.mean_ns)),
        ("99 %", |figures| figures.latency.p99_ns),
        ("99.9 %", |figures| figures.latency.p999_ns),
        ("99.99 %", |figures| figures.latency.p9999_ns),
        ("99.9999 %", |figures| figures.p999999_ns),
        ("longest", |figures| Some(figures.latency.max_ns)),
    ];
    let each = parts.iter().flat_map(|part| LATENCIES.iter().map(move |figure| (part, figure)));
    let rows = each.map(|(part, (figure, nanos))| {
        let of = |answer: &Answer<'_, Outcome>| find(answer.outcome, part).and_then(nanos);
        let row = latency_row(&format!("{}: {figure}", name(part)), answers.iter().map(of));
        doubted(answers, part, false, row)
    });
    table_of(subjects, answers, ("Service times", ""), rows.collect())
}

/// The row with what is in doubt of this part of each drive's run.
fn doubted(
    answers: &[Answer<'_, Outcome>],
    (step, operation): &Part,
    rates: bool,
    mut row: Row,
) -> Row {
    for (cell, answer) in row.values.iter_mut().zip(answers) {
        cell.in_doubt = is_in_doubt(answer.run, step, operation, rates);
    }
    row
}

/// The longest read and write of each second, over all steps.
fn over_time(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Option<View> {
    let points = |answer: &Answer<'_, Outcome>, operation: &str| -> Vec<(f64, f64)> {
        let steps = answer.outcome.steps.iter().filter(|step| !step.prepares);
        let of = steps.map(|step| (format!("{} {operation}", step.name), step.from_s));
        let of: BTreeMap<String, u32> = of.collect();
        let is_told = |sample: &&Sample| {
            of.get(&sample.series).is_some_and(|from| sample.second >= *from) && sample.ios() > 0
        };
        let told = answer.run.recording.samples.iter().filter(is_told);
        told.map(|s| (s.start_ns as f64 / 1e9, s.latency_max_ns.max(1) as f64)).collect()
    };
    let kinds = ["reads", "writes", "trims", "flushes"];
    let all = || answers.iter().flat_map(|answer| kinds.iter().flat_map(|k| points(answer, k)));
    all().next()?;
    let fold = |of: fn(f64, f64) -> f64, from: f64, axis: fn((f64, f64)) -> f64| {
        all().map(axis).fold(from, of)
    };
    let begin = fold(f64::min, f64::INFINITY, |point| point.0);
    let end = fold(f64::max, 0.0, |point| point.0) + 1.0;
    let lowest = fold(f64::min, f64::INFINITY, |point| point.1);
    let highest = fold(f64::max, 2.0, |point| point.1);
    let x = Axis::span("seconds of the run", begin, end);
    let mut y = Axis::decades("service time, ns", (lowest, highest), false, latency);
    y.title = "service time".to_owned();
    let text = "Of the steps that do not prepare the drive, one after the other, behind their ramps. Logarithmic.";
    let names = ("suite-latencies", "Longest service time of each second", text);
    per_drive(subjects, answers, names, |answer, id, heading| {
        let trace = |(index, kind): (usize, &&str)| {
            let points = points(answer, kind);
            (!points.is_empty()).then(|| Points::dots(kind, nth_style(index), points))
        };
        let traces = kinds.iter().enumerate().filter_map(trace).collect();
        let mut picture = Picture::new(id, heading, x.clone(), y.clone(), traces);
        picture.conditions = "the loads of a suite".to_owned();
        Some(picture)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Targets in milliseconds, as they were judged.
    fn said(targets: &[(&str, Option<bool>)], left_out: u32) -> String {
        let target = |(figure, passes): &(&str, Option<bool>)| {
            let got = passes.map(|passes| if passes { 1.0 } else { 9.0 });
            serde_json::json!({
                "figure": figure, "got": got, "bound": 5.0, "unit": "ms", "passes": passes, "source": "",
            })
        };
        let targets: Vec<_> = targets.iter().map(target).collect();
        let outcome = serde_json::json!({
            "capacity": "1GB",
            "targets_left_out": left_out,
            "steps": [{
                "name": "a, cycle 2", "prepares": false, "seconds": 10.0,
                "reads": null, "writes": null, "trims": null, "targets": targets,
            }],
        });
        let drive = writecliff_sim::Ssd::new(
            writecliff_sim::load("tiny").unwrap().into_ssd().unwrap(),
            "sim:tiny",
        );
        let drive = writecliff_device::Device::info(&drive).clone();
        headline(&serde_json::from_value(outcome).unwrap(), &drive).unwrap()
    }

    #[test]
    fn what_a_hair_decides_is_told_to_the_hair() {
        let told = |got: f64| {
            let target = serde_json::json!({
                "figure": "a writes, longest", "got": got, "bound": 400.0, "unit": "ms", "passes": got <= 400.0,
                "source": "",
            });
            in_words(&serde_json::from_value(target).unwrap())
        };
        assert_eq!(told(400.3384), "400.3384 ms, at most 400 ms");
        assert_eq!(told(400.0), "400 ms, at most 400 ms");
        assert_eq!(told(398.2), "398 ms, at most 400 ms");
    }

    #[test]
    fn few_targets_that_were_missed_are_all_named_once_and_those_left_out_are_counted() {
        let (met, missed) = (Some(true), Some(false));
        let all = [
            ("a reads, p99", missed),
            ("a, cycle 2 reads, p99", missed),
            ("b", missed),
            ("c", met),
        ];
        let told = said(&all, 2);
        assert!(told.starts_with("1 of 6 targets"), "{told}");
        assert!(
            told.contains(
                "are met; 2 are not judged (2 of steps that were left out). Missed, at the worst of its cycles: a reads, p99"
            ),
            "{told}"
        );
        assert!(told.contains("; b 9.00 ms") && !told.contains("cycle 2"), "{told}");
        let told = said(&[("a", missed), ("b", missed), ("c", missed), ("d", missed)], 0);
        assert!(told.contains("Missed, among others: a 9.00 ms, at most 5.00 ms."), "{told}");
    }
}
