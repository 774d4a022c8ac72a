//! Cost model: the rates that a scheduler may count on, fresh and in steady state, and how late a drive is
//! at shares of them.

use writecliff_device::DeviceInfo;
use writecliff_suite::cost_model::{
    Coefficient, Coefficients, Limits, OfOperation, Outcome, PERCENTILE, Plan, Rung, State,
    measured, phase,
};
use writecliff_suite::{Good, Phase, Plan as AnyPlan, is_hard_disk};

use super::curves::{self, Curve};
use super::{Answer, answers, latency_row, number_row, table_of};
use crate::cost_model::{ModelFormat, ModelOptions, lie, words};
use crate::number::{self, NONE};
use crate::picture::{Axis, BLUE, ORANGE, Style};
use crate::section::{Column, Listing, Place, Row, Section, Table, View};
use crate::subjects::Subjects;

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let answers = answers::<Outcome>(subjects);
    if answers.is_empty() {
        return None;
    }
    let tables = match &answers[..] {
        [answer] => [Some(rates(answer)), shares(answer)].into_iter().flatten().collect(),
        _ => vec![of_several(subjects, &answers)],
    };
    let method = "Six rates by themselves, of the fresh drive as other tools measure them (a magnetic disk is never fresh), and in steady state (of a magnetic disk, when it is full); then \
                  reads and writes that arrive together at growing shares of the steady rates, half of each. \
                  writecliff model RUN makes the files of other systems from it.";
    let section = Section::new(Plan::NAME, "Cost model", method, views(subjects, &answers), tables);
    Some(section.with_listings(files(&answers)))
}

/// The forms that are shown on a page.
const SHOWN: [&str; 2] = ["iocost", "seastar"];

/// What a person copies from the page of one drive.
fn files(answers: &[Answer<'_, Outcome>]) -> Vec<Listing> {
    let [answer] = answers else { return Vec::new() };
    let formats = SHOWN.iter().filter_map(|name| ModelFormat::find(name));
    let listing = |format: &ModelFormat| {
        let lines = format.write(&answer.run.record, &ModelOptions::default()).ok()?;
        let text = format!(
            "As writecliff model RUN --format {} prints it, but for what only the machine with the drive knows.",
            format.name
        );
        Some(Listing { title: format!("To copy: {}", format.what), text, lines })
    };
    formats.filter_map(listing).collect()
}

/// The test in a sentence.
pub(super) fn headline(outcome: &Outcome, drive: &DeviceInfo) -> Option<String> {
    let kept = match (&outcome.limits, outcome.steady) {
        // A disk has no spare area to use up.
        (Some(limits), Some(_)) if is_hard_disk(drive) => {
            format!("Written full, it keeps up with {}. ", kept(limits))
        }
        (Some(limits), Some(_)) => {
            format!("In steady state it keeps up with {}. ", kept(limits))
        }
        _ => String::new(),
    };
    let lie = lie(outcome).unwrap_or_default();
    let text = format!("{kept}{lie}");
    (!text.is_empty()).then(|| text.trim_end().to_owned())
}

/// What is kept of a model, and how late.
fn kept(limits: &Limits) -> String {
    let Limits { percent, percentile, read, write, .. } = limits;
    let half = f64::from(*percent) / 2.0;
    let held = match limits.hold() {
        Some(true) => "",
        Some(false) => ", which a second try did not hold",
        None => ", which was not tried a second time",
    };
    format!(
        "{half} % of its random reads and {half} % of its random writes at once, {percentile} % of the reads within \
         {} and of the writes within {}: half as much again as was measured{held}",
        number::latency(read.0),
        number::latency(write.0)
    )
}

/// Rates down, states across.
fn rates(answer: &Answer<'_, Outcome>) -> Table {
    let Outcome { fresh, steady, .. } = answer.outcome;
    let AnyPlan::CostModel(plan) = &answer.run.record.plan else {
        unreachable!("the outcome is of this test");
    };
    // What a run that ended early has of them it came to.
    let alone = |state, one| {
        let name = phase(state, one);
        let is_whole = |phase: &Phase| phase.name == name && !phase.unfinished;
        let is_there = answer.run.record.phases.iter().any(is_whole);
        measured(&answer.run.recording, state, one).filter(|_| is_there)
    };
    let row = |one: &Coefficient| {
        let rate = |rates: &Option<Coefficients>, state| {
            rates.map(|rates| rates.get(*one)).or_else(|| alone(state, *one))
        };
        let said =
            |rate: Option<f64>| rate.map_or_else(|| NONE.to_owned(), |rate| words(*one, rate));
        let (fresh, steady) = (rate(fresh, State::Fresh), rate(steady, State::Steady));
        let times = fresh.zip(steady).map(|(fresh, steady)| number::ratio(fresh / steady));
        let values = vec![said(steady), said(fresh), times.unwrap_or_else(|| NONE.to_owned())];
        let block = if one.counts_bytes() { plan.transfer } else { plan.block };
        let name = format!("{}: {} of {}", one.name(), one.words(), number::size(block));
        Row::new(&name, values, "")
    };
    let rows = Coefficient::ALL.iter().map(row).collect();
    let columns = ["steady", "fresh", "fresh over steady"].map(column).into();
    let text = lie(answer.outcome).unwrap_or_default();
    let mut table = Table::new("The model", &text, columns, rows);
    "rate".clone_into(&mut table.corner);
    table
}

fn column(name: &str) -> Column {
    Column { of: Place::default(), name: name.to_owned() }
}

/// `50 %, 25 % of each`: half of a share is each operation's.
fn share(percent: u32) -> String {
    format!("{percent} %, {} % of each", f64::from(percent) / 2.0)
}

/// Shares down, response times across.
fn shares(answer: &Answer<'_, Outcome>) -> Option<Table> {
    let Outcome { rungs, limits, .. } = answer.outcome;
    let percentile = limits.as_ref().map(|limits| limits.percentile);
    // The limits of a drive may be for its median, or for its 99th percentile.
    let has_own = percentile.is_none_or(|percentile| percentile != 50.0 && percentile != 99.0);
    let of = |of: OfOperation| {
        let at = number::service_time_if(of.at_percentile_ns);
        let tail = number::service_time_if(of.latency.p99_ns);
        let times =
            [Some(number::service_time(of.latency.p50_ns)), has_own.then_some(at), Some(tail)];
        std::iter::once(number::count(of.rate.iops)).chain(times.into_iter().flatten())
    };
    let row = |name: String, rung: &Rung| {
        let behind = if rung.kept { "" } else { ", fell behind" };
        let values = [of(rung.reads), of(rung.writes)].into_iter().flatten().collect();
        Row::new(&format!("{name}{behind}"), values, "")
    };
    let rows: Vec<Row> = rungs.iter().map(|rung| row(share(rung.percent), rung)).collect();
    let again = limits.as_ref().and_then(|limits| limits.check.as_deref());
    let again = again.map(|check| row(format!("{}, once more", share(check.percent)), check));
    let at = percentile.map_or_else(|| "limit".to_owned(), |percentile| format!("p{percentile}"));
    let columns = ["reads", "writes"]
        .iter()
        .flat_map(|operation| {
            let figures = [Some("a second"), Some("p50"), has_own.then_some(&*at), Some("p99")];
            let named = figures.into_iter().flatten();
            named.map(|figure| column(&format!("{operation}, {figure}"))).collect::<Vec<_>>()
        })
        .collect();
    let text = match (limits, rungs.first()) {
        (Some(limits), _) => format!("The drive keeps up with {}.", kept(limits)),
        (None, Some(Rung { kept: false, .. })) => {
            "The drive did not keep up with the smallest share.".to_owned()
        }
        (None, _) if !answer.run.is_complete() && rungs.iter().all(|rung| rung.kept) => {
            "The run ended before the first share that the drive does not keep up with: what it keeps is not known."
                .to_owned()
        }
        (None, _) => "There were too few I/Os for a percentile.".to_owned(),
    };
    let rows: Vec<Row> = rows.into_iter().chain(again).collect();
    (!rows.is_empty()).then(|| {
        let mut table = Table::new("Shares of the model", &text, columns, rows);
        "reads and writes at".clone_into(&mut table.corner);
        table
    })
}

/// Drives are compared by their rates, what they keep of them, and how late they are then.
fn of_several(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Table {
    let of_state = |state: State, one: Coefficient| {
        let rate = move |answer: &Answer<'_, Outcome>| {
            let rates = match state {
                State::Fresh => answer.outcome.fresh,
                State::Steady => answer.outcome.steady,
            };
            Some(rates?.get(one))
        };
        let name = format!("{}: {}", state.name(), one.words());
        number_row(&name, Good::AtLeast, answers.iter().map(rate), |rate| words(one, rate))
    };
    let rows = [State::Steady, State::Fresh]
        .into_iter()
        .flat_map(|state| Coefficient::ALL.map(|one| of_state(state, one)));
    let limits = || answers.iter().map(|answer| answer.outcome.limits.as_ref());
    let shares = limits().map(|limits| limits.map(|limits| f64::from(limits.percent)));
    let shares = number_row("kept of the model", Good::AtLeast, shares, |percent| {
        number::percent(percent / 100.0)
    });
    let mut late = Vec::new();
    let text = match percentile_of_all(answers) {
        Some(percentile) => {
            let row = |name: &str, limit: fn(&Limits) -> u64| {
                latency_row(name, limits().map(|limits| limits.map(limit)))
            };
            late.push(row("reads then", |limits| limits.read.0));
            late.push(row("writes then", |limits| limits.write.0));
            format!(
                "Response times are those of {percentile} %, and half as much again as the longest that was measured up to what is kept."
            )
        }
        None => {
            "Response times at what is kept are of other percentiles, and not beside each other."
                .to_owned()
        }
    };
    let rows = rows.chain([shares]).chain(late).collect();
    table_of(subjects, answers, ("The model", &text), rows)
}

/// The percentile that all response times are of, if it is one.
fn percentile_of_all(answers: &[Answer<'_, Outcome>]) -> Option<f64> {
    let limits = answers.iter().filter_map(|answer| answer.outcome.limits.as_ref());
    let mut all: Vec<f64> = limits.map(|limits| limits.percentile).collect();
    all.dedup();
    match all[..] {
        [] => Some(PERCENTILE),
        [one] => Some(one),
        _ => None,
    }
}

/// A quantity of a share: its name, its style, and where it is.
type Quantity = (&'static str, Style, fn(&Rung) -> Option<u64>);

const QUANTITIES: [Quantity; 2] = [
    ("reads", BLUE, |rung| rung.reads.at_percentile_ns),
    ("writes", ORANGE, |rung| rung.writes.at_percentile_ns),
];

/// Response times over the share of the model.
fn views(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Vec<View> {
    let curve = |(name, style, value): &Quantity| {
        let line = |answer: &Answer<'_, Outcome>| {
            let point = |rung: &Rung| Some((f64::from(rung.percent), value(rung)? as f64));
            (answer.subject, answer.outcome.rungs.iter().filter_map(point).collect())
        };
        let lines: Vec<(usize, Vec<(f64, f64)>)> = answers.iter().map(line).collect();
        let lines = lines.into_iter().filter(|(_, line)| !line.is_empty()).collect();
        Curve {
            name,
            heading: format!("Response times at shares of the model: {name}"),
            style: *style,
            lines,
        }
    };
    let curves: Vec<Curve<'_>> = QUANTITIES.iter().map(curve).collect();
    if curves.iter().all(|curve| curve.lines.is_empty()) {
        return Vec::new();
    }
    let x = Axis::linear("share of the steady rates, %", 100.0);
    let y = curves::times("response time", &curves);
    let share = match percentile_of_all(answers) {
        Some(percentile) => format!("{percentile} % of the reads and of the writes take no longer"),
        None => {
            let of_each = answers.iter().filter_map(|answer| {
                let limits = answer.outcome.limits.as_ref()?;
                Some(format!("{}: {} %", subjects.full_name(answer.subject), limits.percentile))
            });
            let of_each: Vec<String> = of_each.collect();
            format!(
                "Such a share of the reads and of the writes takes no longer ({})",
                of_each.join("; ")
            )
        }
    };
    let text = format!(
        "{share}, where both arrive at random moments. The last point may be the first share that the drive did not \
         keep up with."
    );
    let names = ("cost-model", "Response times at shares of the model", text.as_str());
    curves::views_on(
        subjects,
        names,
        (&x, &y),
        "reads and writes, half of each, open loop",
        &curves,
    )
}
