//! The optional parts: what rests, other kinds of writes, and I/Os in flight do.

use writecliff_device::Nanos;
use writecliff_measure::Sample;
use writecliff_suite::Good;
use writecliff_suite::steady_state::cross_stimulus::{Stage, StageFigures};
use writecliff_suite::steady_state::demand::DemandFigures;
use writecliff_suite::steady_state::host_idle::{self, AfterRest, HostIdle};
use writecliff_suite::steady_state::{CrossStimulus, Demand, Mixture, Outcome};

use crate::number;
use crate::number::NONE;
use crate::picture::{Axis, BLUE, ORANGE, Picture, Points, Trace, nth_style};
use crate::section::{Column, Place, Row, Table, View};
use crate::sections::curves::{self, Curve};
use crate::sections::{Answer, number_row, per_drive, rest_words, table_of};
use crate::subjects::Subjects;

type Answers<'a, 'b> = &'b [Answer<'a, Outcome>];

pub(super) fn views(subjects: &Subjects<'_>, answers: Answers<'_, '_>) -> Vec<View> {
    let mut views: Vec<View> = idle(subjects, answers).into_iter().collect();
    views.extend(cross(subjects, answers));
    views.extend(demand(subjects, answers));
    views
}

pub(super) fn tables(subjects: &Subjects<'_>, answers: Answers<'_, '_>) -> Vec<Table> {
    match answers {
        [answer] => {
            let idle = answer.outcome.host_idle.iter().map(idle_of_one);
            let cross = answer.outcome.cross_stimulus.iter().map(cross_of_one);
            idle.chain(cross).chain(answer.outcome.demands.iter().map(demand_of_one)).collect()
        }
        _ => of_several(subjects, answers),
    }
}

/// IOPS of every access, a colour for each rest.
fn idle(subjects: &Subjects<'_>, answers: Answers<'_, '_>) -> Option<View> {
    let of = |answer: &Answer<'_, Outcome>| {
        let rests = answer.outcome.host_idle.iter().flat_map(|idle| &idle.rests);
        rests.map(|after| (after.rest, accesses(answer, after.rest))).collect::<Vec<_>>()
    };
    let all: Vec<(f64, f64)> = answers.iter().flat_map(of).flat_map(|(_, points)| points).collect();
    let (end, highest) = all.iter().fold((0.0, 0.0), |(end, highest): (f64, f64), point| {
        (end.max(point.0), highest.max(point.1))
    });
    let x = Axis::span("access with a rest before it", 0.0, end + 1.0);
    let y = Axis::linear("IOPS", highest);
    let text = "4 KiB random writes for some seconds with a rest between them; what the drive does \
                without rests is in the table.";
    let names = ("steady-state-host-idle", "Host idle recovery", text);
    per_drive(subjects, answers, names, |answer, id, heading| {
        let trace = |(index, (rest, points)): (usize, (Nanos, _))| {
            Points::dots(&format!("rests of {}", rest_words(rest)), nth_style(index), points)
        };
        let traces: Vec<Trace> = of(answer).into_iter().enumerate().map(trace).collect();
        let mut picture = Picture::new(id, heading, x.clone(), y.clone(), traces);
        "4 KiB random writes between rests".clone_into(&mut picture.conditions);
        (!picture.traces.is_empty()).then_some(picture)
    })
}

/// Mean IOPS of each access with a rest before it.
fn accesses(answer: &Answer<'_, Outcome>, rest: Nanos) -> Vec<(f64, f64)> {
    let [access, _, _] = host_idle::series(rest);
    let samples: Vec<&Sample> = answer.run.recording.series(&access).collect();
    let all = host_idle::accesses(&samples);
    let iops = |samples: &Vec<&Sample>| {
        let totals = writecliff_measure::Totals::of(samples.iter().copied());
        totals.iops().get()
    };
    all.iter().enumerate().skip(1).map(|(number, access)| (number as f64, iops(access))).collect()
}

/// Data rates of the three kinds of writes, one after the other.
fn cross(subjects: &Subjects<'_>, answers: Answers<'_, '_>) -> Option<View> {
    let of = |answer: &Answer<'_, Outcome>| {
        let mut begun = 0.0;
        let stages = Stage::ALL.map(|stage| {
            let series = stage.series();
            let samples = answer.run.recording.series(&series).filter(|sample| sample.is_whole());
            let points: Vec<(f64, f64)> = samples
                .map(|s| (begun + f64::from(s.second) / 60.0, s.megabytes_per_second()))
                .collect();
            begun = points.last().map_or(begun, |point| point.0 + 1.0 / 60.0);
            (stage, points)
        });
        stages.into_iter().filter(|(_, points)| !points.is_empty())
    };
    let points = || answers.iter().flat_map(of).flat_map(|(_, points)| points);
    let end = points().map(|point| point.0).fold(0.0, f64::max);
    let highest = points().map(|point| point.1).fold(0.0, f64::max);
    let x = Axis::span("minutes", 0.0, end);
    let y = Axis::linear("MB/s", highest);
    let text = "Sequential writes of 1 MiB, random ones of 8 KiB, and sequential ones again. Each dot \
                is a second.";
    let names = ("steady-state-cross-stimulus", "Cross stimulus recovery", text);
    per_drive(subjects, answers, names, |answer, id, heading| {
        let trace = |(index, (stage, points)): (usize, (Stage, _))| {
            Points::dots(stage_words(stage), nth_style(index), points)
        };
        let traces: Vec<Trace> = of(answer).enumerate().map(trace).collect();
        let mut picture = Picture::new(id, heading, x.clone(), y.clone(), traces);
        "writes, QD32, from a purged drive on".clone_into(&mut picture.conditions);
        (!picture.traces.is_empty()).then_some(picture)
    })
}

fn stage_words(stage: Stage) -> &'static str {
    match stage {
        Stage::First => "sequential, 1 MiB",
        Stage::Random => "random, 8 KiB",
        Stage::Again => "sequential again",
    }
}

const MIXTURES: [Mixture; 2] = [Mixture::Composite, Mixture::Transactions];

fn mixture_words(mixture: Mixture) -> (&'static str, &'static str) {
    match mixture {
        Mixture::Composite => ("Composite", "enterprise composite, 40 % reads"),
        Mixture::Transactions => ("Demand intensity", "8 KiB random, 65 % reads"),
    }
}

fn of_mixture(outcome: &Outcome, mixture: Mixture) -> Option<&Demand> {
    outcome.demands.iter().find(|demand| demand.mixture == mixture)
}

/// Mean service times over IOPS, a point for each number in flight.
fn demand(subjects: &Subjects<'_>, answers: Answers<'_, '_>) -> Vec<View> {
    let curve = |mixture: Mixture| {
        let (heading, name) = mixture_words(mixture);
        let point = |one: &DemandFigures| (one.rate.iops, one.rate.mean_ns as f64);
        let line = |answer: &Answer<'_, Outcome>| {
            let demand = of_mixture(answer.outcome, mixture)?;
            Some((answer.subject, demand.depths.iter().rev().map(point).collect()))
        };
        let style = if mixture == Mixture::Composite { ORANGE } else { BLUE };
        let heading = format!("{heading}: {name}");
        Curve { name, heading, style, lines: answers.iter().filter_map(line).collect() }
    };
    let curves: Vec<Curve<'_>> =
        MIXTURES.map(curve).into_iter().filter(|curve| !curve.lines.is_empty()).collect();
    if curves.is_empty() {
        return Vec::new();
    }
    let fastest = curves::points(&curves).map(|point| point.0).fold(0.0, f64::max);
    let (x, y) = (Axis::linear("IOPS", fastest), curves::times("mean service time", &curves));
    let text = "A point for each number of I/Os in flight, in their order along the line; what the drive does \
                not take at once waits in the host.";
    let names = ("steady-state-demand", "Demand intensity", text);
    curves::views_on(subjects, names, (&x, &y), "random reads and writes in steady state", &curves)
}

fn columns(names: &[&str]) -> Vec<Column> {
    let column = |name: &&str| Column { of: Place::default(), name: (*name).to_owned() };
    names.iter().map(column).collect()
}

/// Rests down and figures across.
fn idle_of_one(idle: &HostIdle) -> Table {
    let before = idle.before.window.average;
    let row = |after: &AfterRest| {
        let values = vec![
            number::thousands(after.iops),
            number::percent(after.iops / before),
            number::thousands(after.first_iops),
            number::thousands(after.last_iops),
            number::thousands(after.baseline_iops),
        ];
        Row::new(&rest_words(after.rest), values, "")
    };
    let text = format!(
        "IOPS of 4 KiB random writes; without rests the drive had {} before.",
        number::iops(before)
    );
    let names = ["all", "of that", "first", "last", "without rests after"];
    let rows = idle.rests.iter().map(row).collect();
    let mut table = Table::new("Host idle recovery", &text, columns(&names), rows);
    "rests".clone_into(&mut table.corner);
    table
}

/// Kinds of writes down and figures across.
fn cross_of_one(cross: &CrossStimulus) -> Table {
    let row = |(stage, figures): (Stage, &StageFigures)| {
        let values = vec![
            number::megabytes_per_second(figures.end_megabytes_per_second),
            number::service_time(figures.worst_mean_ns),
            number::service_time(figures.rate.max_ns),
        ];
        Row::new(stage_words(stage), values, "")
    };
    let is_whole = cross.stages.len() == Stage::ALL.len();
    let text = match cross.recovered_after {
        Some(after) => format!(
            "After {} sequential writes were within 10 % of their speed before the random ones.",
            number::time_span(after.0)
        ),
        None if is_whole => {
            "Sequential writes did not come back within 10 % of their speed before \
                             the random ones."
                .to_owned()
        }
        None => String::new(),
    };
    let names = ["in the end", "worst mean latency", "longest latency"];
    let rows = Stage::ALL.into_iter().zip(&cross.stages).map(row).collect();
    let mut table = Table::new("Cross stimulus recovery", &text, columns(&names), rows);
    "writes".clone_into(&mut table.corner);
    table
}

/// I/Os in flight down and figures across.
fn demand_of_one(demand: &Demand) -> Table {
    let row = |one: &DemandFigures| {
        let (mean, latency) = (one.rate.mean_ns, one.latency);
        let late = [Some(mean), Some(latency.p50_ns), latency.p99_ns, latency.p9999_ns];
        let late = late.map(number::service_time_if);
        let values = [number::thousands(one.rate.iops)].into_iter().chain(late).collect();
        Row::new(&one.queue_depth.to_string(), values, "")
    };
    let (title, load) = mixture_words(demand.mixture);
    let best = demand.best_in_time().map_or(String::new(), |best| {
        let iops = number::iops(best.rate.iops);
        format!(" At most 5 ms on average: {iops} with {} in flight.", best.queue_depth)
    });
    let names = ["IOPS", "mean", "median", "99 %", "99.99 %"];
    let rows = demand.depths.iter().rev().map(row).collect();
    let text = format!("Service times: {load}.{best}");
    let mut table = Table::new(title, &text, columns(&names), rows);
    "in flight".clone_into(&mut table.corner);
    table
}

/// Drives across; of each part what it is about.
fn of_several(subjects: &Subjects<'_>, answers: Answers<'_, '_>) -> Vec<Table> {
    let tables = [
        ("Host idle recovery", "IOPS of accesses with rests between them.", idle_rows(answers)),
        ("Cross stimulus recovery", "", cross_rows(answers)),
        ("Demand intensity", "In IOPS.", demand_rows(answers)),
    ];
    let table = |(title, text, mut rows): (&str, &str, Vec<Row>)| {
        rows.retain(|row| row.values.iter().any(|value| value.text != NONE));
        (!rows.is_empty()).then(|| table_of(subjects, answers, (title, text), rows))
    };
    tables.into_iter().filter_map(table).collect()
}

fn idle_rows(answers: Answers<'_, '_>) -> Vec<Row> {
    let idle = |answer: &Answer<'_, Outcome>| answer.outcome.host_idle.clone();
    let mut rests: Vec<Nanos> =
        answers.iter().filter_map(idle).flat_map(|idle| idle.rests).map(|r| r.rest).collect();
    rests.sort_unstable();
    rests.dedup();
    let before = answers.iter().map(|answer| Some(idle(answer)?.before.window.average));
    let without = number_row("without rests", Good::AtLeast, before, number::thousands);
    let row = |rest: &Nanos| {
        let iops = |answer: &Answer<'_, Outcome>| {
            Some(idle(answer)?.rests.iter().find(|after| after.rest == *rest)?.iops)
        };
        let name = format!("rests of {}", rest_words(*rest));
        number_row(&name, Good::AtLeast, answers.iter().map(iops), number::thousands)
    };
    [without].into_iter().chain(rests.iter().map(row)).collect()
}

fn cross_rows(answers: Answers<'_, '_>) -> Vec<Row> {
    let cross = |answer: &Answer<'_, Outcome>| answer.outcome.cross_stimulus.clone();
    let stage = |(index, stage): (usize, Stage)| {
        let speed = |answer: &Answer<'_, Outcome>| {
            Some(cross(answer)?.stages.get(index)?.end_megabytes_per_second)
        };
        let (name, words) = (stage_words(stage), number::megabytes_per_second);
        number_row(name, Good::AtLeast, answers.iter().map(speed), words)
    };
    let back = |answer: &Answer<'_, Outcome>| Some(cross(answer)?.recovered_after?.0 as f64);
    let words = |nanos: f64| number::time_span(nanos as u64);
    let back = number_row("as fast after", Good::AtMost, answers.iter().map(back), words);
    Stage::ALL.into_iter().enumerate().map(stage).chain([back]).collect()
}

fn demand_rows(answers: Answers<'_, '_>) -> Vec<Row> {
    let row = |mixture: Mixture| {
        let best = |answer: &Answer<'_, Outcome>| {
            Some(of_mixture(answer.outcome, mixture)?.best_in_time()?.rate.iops)
        };
        let single = |answer: &Answer<'_, Outcome>| {
            let depths = &of_mixture(answer.outcome, mixture)?.depths;
            Some(depths.iter().find(|one| one.queue_depth == 1)?.rate.iops)
        };
        let name = mixture_words(mixture).1;
        [
            number_row(
                &format!("{name}: best within 5 ms"),
                Good::AtLeast,
                answers.iter().map(best),
                number::thousands,
            ),
            number_row(
                &format!("{name}: one at a time"),
                Good::AtLeast,
                answers.iter().map(single),
                number::thousands,
            ),
        ]
    };
    MIXTURES.into_iter().flat_map(row).collect()
}
