//! Queue depth: how fast and how late loads are with how many I/Os in flight.

use writecliff_device::DeviceInfo;
use writecliff_suite::Good;
use writecliff_suite::loads::Load;
use writecliff_suite::queue_depth::{DepthFigures, LoadFigures, Outcome, Plan, phase};

use super::curves::{self, Curve};
use super::loads::{in_words, operations, order, sentence, style, unit};
use super::{Answer, answers, cell_of, doubted_in, merged, number_row, table_of};
use crate::number;
use crate::number::NONE;
use crate::picture::Axis;
use crate::section::{Column, Place, Row, Section, Table, View};
use crate::subjects::Subjects;

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let answers = answers::<Outcome>(subjects);
    if answers.is_empty() {
        return None;
    }
    let loads = loads(&answers);
    let depths = depths(&answers);
    let groups = groups(subjects, &loads);
    let scaling = groups.iter().flat_map(|loads| scaling(subjects, &answers, loads, &depths));
    let demand = groups.iter().flat_map(|loads| demand(subjects, &answers, loads));
    let views = scaling.chain(demand).collect();
    let tables = match &answers[..] {
        [answer] => of_one(answer, &loads, &depths),
        _ => of_several(subjects, &answers, &loads, &depths),
    };
    let method = format!(
        "A full drive, and for random writes one that was written to at random before; what is \
         measured later finds it as the loads before left it.{}",
        limits(subjects, &answers)
    );
    Some(Section::new(Plan::NAME, "Queue depth", &method, views, tables))
}

/// How many I/Os the drives take at once, of those that take fewer than were measured.
fn limits(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> String {
    let deepest = depths(answers).last().copied().unwrap_or_default();
    let taken = |answer: &Answer<'_, Outcome>| answer.run.record.drive.queue_depth_max;
    let limited: Vec<_> = answers.iter().filter(|answer| taken(answer) < deepest).collect();
    let rest = "More wait in the host, and service times have that wait in them.";
    match &limited[..] {
        [] => String::new(),
        [first, others @ ..] if others.iter().all(|other| taken(other) == taken(first)) => {
            let who = match answers.len() == limited.len() {
                true if answers.len() == 1 => "The drive takes".to_owned(),
                true => "Each drive takes".to_owned(),
                false if limited.len() == 1 => format!("{} takes", names_of(subjects, &limited)),
                false => format!("{} take", names_of(subjects, &limited)),
            };
            format!(" {who} {} at once. {rest}", taken(first))
        }
        limited => {
            let each = limited.iter().map(|answer| {
                format!("{} takes {} at once", subjects.full_name(answer.subject), taken(answer))
            });
            format!(" {}. {rest}", each.collect::<Vec<_>>().join(", "))
        }
    }
}

fn names_of(subjects: &Subjects<'_>, answers: &[&Answer<'_, Outcome>]) -> String {
    let names = answers.iter().map(|answer| subjects.full_name(answer.subject));
    names.collect::<Vec<_>>().join(", ")
}

/// The test in a sentence.
pub(super) fn headline(outcome: &Outcome, _: &DeviceInfo) -> Option<String> {
    let reads = outcome.loads.iter().find(|one| one.load.random && !one.load.writes())?;
    let (first, best) = (reads.depths.first()?, best(&reads.depths)?);
    // Where the curve is level.
    let enough = reads.depths.iter().find(|one| one.rate.iops >= 0.9 * best)?;
    let (one, all) = (number::iops(first.rate.iops), number::iops(best));
    let (at_first, at) = (first.queue_depth, enough.queue_depth);
    let is_deepest = reads.depths.iter().all(|one| one.queue_depth <= at);
    let scale = format!("Random reads give {one} at QD{at_first} and {all} at most");
    Some(match at_first == at {
        true => format!("Random reads gain nothing by more in flight than {at}: {one}."),
        false if is_deepest => format!("{scale}, at QD{at}, the deepest that was tried."),
        false => format!("{scale}, at least 90 % of which at QD{at}."),
    })
}

/// The phases of what the sentence tells: the most that random reads come to is one of all depths.
pub(super) fn phases_of_headline(outcome: &Outcome) -> Vec<String> {
    let reads = outcome.loads.iter().filter(|one| one.load.random && !one.load.writes()).take(1);
    let phases = |one: &LoadFigures| {
        one.depths.iter().map(|depth| phase(one.load, depth.queue_depth)).collect::<Vec<_>>()
    };
    reads.flat_map(phases).collect()
}

fn best(depths: &[DepthFigures]) -> Option<f64> {
    depths.iter().map(|one| one.rate.iops).reduce(f64::max)
}

/// Of all drives, in the order of the plan.
fn loads(answers: &[Answer<'_, Outcome>]) -> Vec<Load> {
    let mut loads = Vec::new();
    for found in answers.iter().flat_map(|answer| &answer.outcome.loads) {
        if !loads.contains(&found.load) {
            loads.push(found.load);
        }
    }
    loads
}

/// What shares a picture: of one drive the loads of an order, of several one load on all drives.
fn groups(subjects: &Subjects<'_>, loads: &[Load]) -> Vec<Vec<Load>> {
    let is_with =
        |one: &Load, other: &Load| !subjects.is_comparison() && one.random == other.random;
    loads.chunk_by(is_with).map(<[Load]>::to_vec).collect()
}

/// Of all drives, the smallest first.
fn depths(answers: &[Answer<'_, Outcome>]) -> Vec<usize> {
    let loads = answers.iter().flat_map(|answer| &answer.outcome.loads);
    let mut depths: Vec<usize> =
        loads.flat_map(|load| load.depths.iter().map(|one| one.queue_depth)).collect();
    depths.sort_unstable();
    depths.dedup();
    depths
}

fn of_load(outcome: &Outcome, load: Load) -> &[DepthFigures] {
    let found = outcome.loads.iter().find(|one| one.load == load);
    found.map_or(&[], |found| &found.depths)
}

fn find(answer: &Answer<'_, Outcome>, load: Load, queue_depth: usize) -> Option<DepthFigures> {
    let depths = of_load(answer.outcome, load);
    depths.iter().find(|one| one.queue_depth == queue_depth).copied()
}

/// What a person counts a load in: random in IOPS, sequential in MB/s.
fn rate(load: Load, figures: &DepthFigures) -> f64 {
    if load.random { figures.rate.iops } else { figures.rate.megabytes_per_second }
}

/// A curve for each load.
fn curves<'a>(
    answers: &[Answer<'_, Outcome>],
    loads: &[Load],
    names: &'a [String],
    point: impl Fn(Load, &DepthFigures) -> (f64, f64),
) -> Vec<Curve<'a>> {
    let curve = |(load, name): (&Load, &'a String)| {
        let line = |answer: &Answer<'_, Outcome>| {
            let depths = of_load(answer.outcome, *load).iter();
            (answer.subject, depths.map(|figures| point(*load, figures)).collect())
        };
        let lines = answers.iter().map(line).filter(|(_, line): &(_, Vec<_>)| !line.is_empty());
        let (heading, style) = (in_words(*load), style(*load));
        Curve { name, heading, style, lines: lines.collect() }
    };
    loads.iter().zip(names).map(curve).collect()
}

/// What they are called beside each other.
fn names(loads: &[Load]) -> Vec<String> {
    loads.iter().copied().map(operations).collect()
}

/// Rates over the number in flight.
fn scaling(
    subjects: &Subjects<'_>,
    answers: &[Answer<'_, Outcome>],
    loads: &[Load],
    depths: &[usize],
) -> Vec<View> {
    let (load, names) = (loads[0], names(loads));
    let title = sentence(order(load));
    let place =
        |depth: usize| depths.iter().position(|one| *one == depth).unwrap_or_default() as f64;
    let curves =
        curves(answers, loads, &names, |load, one| (place(one.queue_depth), rate(load, one)));
    let x = Axis::names("I/Os in flight", depths.iter().map(usize::to_string).collect());
    let (id, title) =
        (format!("queue-depth-{}", order(load)), format!("{title} I/O by queue depth"));
    curves::views(subjects, (&id, &title, ""), &x, unit(load).0, &conditions(load), &curves)
}

/// Mean service times over rates, a point for each number in flight.
fn demand(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>], loads: &[Load]) -> Vec<View> {
    let (load, names) = (loads[0], names(loads));
    let title = sentence(order(load));
    let curves =
        curves(answers, loads, &names, |load, one| (rate(load, one), one.rate.mean_ns as f64));
    let fastest = curves::points(&curves).map(|point| point.0).fold(0.0, f64::max);
    let x = Axis::linear(unit(load).0, fastest);
    let y = curves::times("mean service time", &curves);
    let id = format!("queue-depth-demand-{}", order(load));
    let title = format!("{title} I/O: service time over speed");
    let text = "A point for each number in flight, in their order along the line.";
    let names = (id.as_str(), title.as_str(), text);
    let views = curves::views_on(subjects, names, (&x, &y), &conditions(load), &curves);
    match load.random {
        true => views,
        false => views.into_iter().map(View::on_demand).collect(),
    }
}

fn conditions(load: Load) -> String {
    let (block, order) = (number::size(load.block), order(load));
    format!("{block} {order} reads and writes on a full drive")
}

/// What a table says of a load with so many in flight.
type Said = (&'static str, &'static str, fn(Load, &DepthFigures) -> String);

const SAID: [Said; 3] = [
    ("Rates", "", |load, one| unit(load).1(rate(load, one))),
    ("Mean service times", "Reads and writes together.", |_, one| {
        number::service_time(one.rate.mean_ns)
    }),
    ("99 % of the service times", "At most so long; reads and writes together.", |_, one| {
        number::service_time_if(one.latency.p99_ns)
    }),
];

/// Numbers in flight down and loads across.
fn of_one(answer: &Answer<'_, Outcome>, loads: &[Load], depths: &[usize]) -> Vec<Table> {
    let column = |load: &Load| Column { of: Place::default(), name: in_words(*load) };
    let table = |(title, text, words): &Said| {
        let value = |load: &Load, depth: usize| {
            let Some(found) = find(answer, *load, depth) else { return NONE.to_owned().into() };
            let part = phase(*load, depth);
            cell_of(answer.run, &part, words(*load, &found), found.rate.iops)
        };
        let row = |depth: &usize| {
            let values = loads.iter().map(|load| value(load, *depth)).collect();
            Row { values, ..Row::new(&depth.to_string(), Vec::new(), "") }
        };
        let columns = loads.iter().map(column).collect();
        let mut table = Table::new(title, text, columns, depths.iter().map(row).collect());
        "in flight".clone_into(&mut table.corner);
        table
    };
    SAID.iter().map(table).collect()
}

/// What a row of a comparison is called.
fn name_of(load: Load, depth: usize) -> String {
    format!("{}, QD{depth}", in_words(load))
}

/// Drives across, and down each load with every fourth of the numbers in flight: the pictures have the
/// others.
fn of_several(
    subjects: &Subjects<'_>,
    answers: &[Answer<'_, Outcome>],
    loads: &[Load],
    depths: &[usize],
) -> Vec<Table> {
    let mut shown: Vec<usize> = Vec::new();
    for depth in depths {
        if shown.last().is_none_or(|last| *depth >= 4 * last) {
            shown.push(*depth);
        }
    }
    type Compared = (&'static str, Good, fn(Load, &DepthFigures) -> Option<f64>);
    const COMPARED: [Compared; 2] = [
        ("Rates", Good::AtLeast, |load, one| Some(rate(load, one))),
        ("99 % of the service times", Good::AtMost, |_, one| Some(one.latency.p99_ns? as f64)),
    ];
    let table = |(title, good, value): &Compared| {
        let row = |load: &Load, depth: usize| {
            let of = |answer: &Answer<'_, Outcome>| value(*load, &find(answer, *load, depth)?);
            let part = phase(*load, depth);
            let words = |value: f64| match good {
                Good::AtLeast => unit(*load).1(value),
                Good::AtMost => number::service_time(value as u64),
            };
            let row = number_row(&name_of(*load, depth), *good, answers.iter().map(of), words);
            doubted_in(&part, answers, row)
        };
        // What is the same at all of them is told of all; of others those that are shown.
        let is_shown = |load: &Load, row: &Row| {
            let is_of = |depth: &usize| row.name == name_of(*load, *depth);
            !depths.iter().any(is_of) || shown.iter().any(is_of)
        };
        let rows = loads.iter().flat_map(|load| {
            let all = merged(depths.iter().map(|depth| row(load, *depth)).collect());
            all.into_iter().filter(move |row| is_shown(load, row)).collect::<Vec<_>>()
        });
        let text = match shown.len() < depths.len() {
            true => {
                "Rows are of depths four times apart, and depths that are alike share one; the pictures have all."
            }
            false => "",
        };
        table_of(subjects, answers, (title, text), rows.collect())
    };
    COMPARED.iter().map(table).collect()
}
