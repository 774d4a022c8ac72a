//! Latency at load: response times over the rate at which I/Os come.

use writecliff_device::DeviceInfo;
use writecliff_suite::latency_at_load::{
    Course, Gaps, Knee, LoadFigures, Outcome, Plan, Step, gaps_name, saturation_phase,
};
use writecliff_suite::loads::Load;
use writecliff_suite::{Good, Stage};

use super::curves::{self, Curve};
use super::loads::sentence;
use super::{Answer, answers, is_in_doubt, latency_row, number_row, table_of};
use crate::number;
use crate::picture::{Axis, BLUE, GREEN, Mark, ORANGE, PURPLE, Style};
use crate::section::{Column, Place, Row, Section, Table, View};
use crate::subjects::Subjects;

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let answers = answers::<Outcome>(subjects);
    let kinds = kinds(&answers);
    if kinds.is_empty() {
        return None;
    }
    let views = kinds.iter().flat_map(|kind| views(subjects, &answers, *kind)).collect();
    let tables = match &answers[..] {
        [answer] => kinds.iter().filter_map(|kind| of_one(answer, *kind)).collect(),
        _ => vec![of_several(subjects, &answers, &kinds)],
    };
    let method = "I/Os are due at shares of what the drive does with a full queue, and response \
                  times count from then. The knee is where arrivals over mean response time, \
                  Kleinrock's power, are highest: more load costs more than it brings.";
    Some(Section::new(Plan::NAME, "Latency at load", method, views, tables))
}

/// The test in a sentence.
pub(super) fn headline(outcome: &Outcome, _: &DeviceInfo) -> Option<String> {
    let load = outcome.loads.first()?;
    let course = load.courses.first()?;
    let (of, arrivals) = (operations(load.load), arrivals(course.gaps));
    if course.slowed_down {
        return Some(format!("With {arrivals}, no knee of {of} is told: {TOO_WARM}"));
    }
    let Some(Knee { percent, iops, mean_ns }) = course.knee else {
        let most = most_load(course)?;
        let mean = number::latency(most.rate.mean_ns);
        return Some(format!(
            "With {arrivals}, no knee of {of} is seen up to {} % of saturation, where they take {mean} on average.",
            most.percent
        ));
    };
    let (at, mean) = (number::iops(iops), number::latency(mean_ns));
    let least = if is_the_least(course, iops) { LEAST } else { "" };
    Some(format!(
        "With {arrivals}, the knee of {of} is at {at}, {percent:.0} % of saturation{least}, where they take \
         {mean} on average."
    ))
}

/// A load, and how the times between arrivals fall.
type Kind = (Load, Gaps);

/// Of all drives, in the order of the plan.
fn kinds(answers: &[Answer<'_, Outcome>]) -> Vec<Kind> {
    let mut kinds = Vec::new();
    for load in answers.iter().flat_map(|answer| &answer.outcome.loads) {
        for kind in load.courses.iter().map(|course| (load.load, course.gaps)) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
    }
    kinds
}

fn find(outcome: &Outcome, (load, gaps): Kind) -> Option<(&LoadFigures, &Course)> {
    let load = outcome.loads.iter().find(|one| one.load == load)?;
    Some((load, load.courses.iter().find(|course| course.gaps == gaps)?))
}

fn operations(load: Load) -> String {
    match load.read_percent {
        100 => "random reads".to_owned(),
        0 => "random writes".to_owned(),
        percent => format!("random I/O, {percent} % reads"),
    }
}

fn arrivals(gaps: Gaps) -> &'static str {
    match gaps {
        Gaps::Poisson => "Poisson arrivals",
        Gaps::Steady => "arrivals at equal steps",
    }
}

/// A quantity of a step: its name, its style where it shares a picture, and whether drives are
/// compared by it.
type Quantity = (&'static str, Style, bool, fn(&Step) -> Option<u64>);

const QUANTITIES: [Quantity; 4] = [
    ("mean", BLUE, true, |step| Some(step.rate.mean_ns)),
    ("p99", GREEN, true, |step| step.p99_ns),
    ("p99.9", ORANGE, false, |step| step.p999_ns),
    ("p99.99", PURPLE, true, |step| step.p9999_ns),
];

fn views(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>], kind: Kind) -> Vec<View> {
    let is_comparison = subjects.is_comparison();
    let (load, gaps) = kind;
    let curve = |(name, style, _, value): &Quantity| {
        let line = |answer: &Answer<'_, Outcome>| {
            let (_, course) = find(answer.outcome, kind)?;
            let point = |step: &Step| Some((step.asked_iops as f64, value(step)? as f64));
            Some((answer.subject, course.steps.iter().filter_map(point).collect()))
        };
        let heading = format!("{}: {name} response time, {}", operations(load), arrivals(gaps));
        let lines = answers.iter().filter_map(line).collect();
        Curve { name, heading: sentence(&heading), style: *style, lines }
    };
    let shown = QUANTITIES.iter().filter(|(_, _, compared, _)| *compared || !is_comparison);
    let curves: Vec<Curve<'_>> = shown.map(curve).collect();
    let most = curves::points(&curves).map(|point| point.0).fold(0.0, f64::max);
    let x = Axis::linear("arrivals, IOPS", most);
    let y = curves::times("response time", &curves);
    let id = format!("latency-at-load-{}-{}", load.name(), gaps_name(gaps));
    let title = sentence(&format!("{}, {}", operations(load), arrivals(gaps)));
    let names = (id.as_str(), title.as_str(), "");
    let conditions = format!("{} {}, open loop", number::size(load.block), operations(load));
    let mut views = curves::views_on(subjects, names, (&x, &y), &conditions, &curves);
    if let ([answer], [view]) = (answers, &mut views[..])
        && let Some((_, Course { knee: Some(knee), .. })) = find(answer.outcome, kind)
    {
        let mark = Mark::Upright { at: knee.iops, label: "knee".to_owned() };
        view.panels.iter_mut().for_each(|panel| panel.picture.marks.push(mark.clone()));
    }
    // Users come at random; what equal steps show beside that is the drive without a queue.
    match gaps {
        Gaps::Poisson => views,
        Gaps::Steady => views.into_iter().map(View::on_demand).collect(),
    }
}

/// Loads down and figures across.
fn of_one(answer: &Answer<'_, Outcome>, kind: Kind) -> Option<Table> {
    type Said = (&'static str, fn(&Step) -> String);
    const SAID: [Said; 9] = [
        ("arrivals/s", |step| number::thousands(step.asked_iops as f64)),
        ("IOPS", |step| number::thousands(step.rate.iops)),
        ("mean", |step| number::service_time(step.rate.mean_ns)),
        ("p50", |step| number::service_time(step.p50_ns)),
        ("p99", |step| number::service_time_if(step.p99_ns)),
        ("p99.9", |step| number::service_time_if(step.p999_ns)),
        ("p99.99", |step| number::service_time_if(step.p9999_ns)),
        ("p99.999", |step| number::service_time_if(step.p99999_ns)),
        ("longest", |step| number::service_time(step.rate.max_ns)),
    ];
    let (load, course) = find(answer.outcome, kind)?;
    let row = |step: &Step| {
        let behind = if step.fell_behind { ", fell behind" } else { "" };
        let values = SAID.iter().map(|(_, words)| words(step)).collect();
        Row::new(&format!("{} %{behind}", step.percent), values, "")
    };
    let column = |(name, _): &Said| Column { of: Place::default(), name: (*name).to_owned() };
    let (columns, rows) =
        (SAID.iter().map(column).collect(), course.steps.iter().map(row).collect());
    let title = sentence(&format!("{}, {}", operations(kind.0), arrivals(kind.1)));
    let saturation = number::iops(load.saturation_iops);
    let knee = course.knee.map_or_else(String::new, |knee| {
        let place = match course.steps.iter().map(|step| step.asked_iops as f64).collect::<Vec<_>>()
        {
            steps if steps.contains(&knee.iops) && is_last_before_a_fall(course, knee.iops) => {
                "the last step that kept up"
            }
            steps if steps.contains(&knee.iops) && is_the_least(course, knee.iops) => {
                "the least load that was tried: it may lie lower"
            }
            steps if steps.contains(&knee.iops) => "one of the steps",
            _ => "by the curve through the steps beside it",
        };
        format!(
            " The knee is at {} ({:.0} %), with a mean of {}, {place}.",
            number::iops(knee.iops),
            knee.percent,
            number::latency(knee.mean_ns)
        )
    });
    let knee = match (course.slowed_down, course.knee, most_load(course)) {
        (true, ..) => format!(" No knee is told: {TOO_WARM}"),
        (_, None, Some(most)) => format!(" No knee is seen up to {} %.", most.percent),
        _ => knee,
    };
    let phase = saturation_phase(load.load);
    let is_doubtful = answer.run.record.warnings.iter().any(|doubt| doubt.names(&phase));
    let in_doubt = match is_doubtful {
        true => " (in doubt, and with it all percentages of it)",
        false if is_in_doubt(answer.run, &phase) => " ?",
        false => "",
    };
    let of_knee = match course.knee.is_some() && answer.run.is_doubtful_at(Stage::Later, None) {
        true => " This is in doubt.",
        false => "",
    };
    let text =
        format!("Response times by load; saturation is at {saturation}{in_doubt}.{knee}{of_knee}");
    let mut table = Table::new(&title, &text, columns, rows);
    "of saturation".clone_into(&mut table.corner);
    Some(table)
}

/// The step of most load, if the drive kept up with it: past saturation a mean tells how long I/Os came, and a doubt
/// says so.
fn most_load(course: &Course) -> Option<&Step> {
    course.steps.iter().max_by_key(|step| step.asked_iops).filter(|step| !step.fell_behind)
}

/// Why there is no knee.
const TOO_WARM: &str = "the drive became too warm and slowed down while its load was measured.";

/// What is said of a knee there.
const LEAST: &str = ", the least load that was tried";

/// Whether no step had less load, so that the knee may lie lower.
fn is_the_least(course: &Course, iops: f64) -> bool {
    course.steps.iter().all(|step| step.asked_iops as f64 >= iops)
}

/// Whether every step of more load fell behind.
fn is_last_before_a_fall(course: &Course, iops: f64) -> bool {
    course.steps.iter().all(|step| step.asked_iops as f64 <= iops || step.fell_behind)
}

/// Shares of its own saturation at which drives are compared.
const COMPARED_AT: [u32; 2] = [50, 80];

/// Drives across.
fn of_several(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>], kinds: &[Kind]) -> Table {
    let mut rows: Vec<Row> = Vec::new();
    let mut last = None;
    for kind in kinds {
        let (load, gaps) = *kind;
        let found = || answers.iter().map(|answer| find(answer.outcome, *kind));
        if last != Some(load) {
            let saturation = found().map(|found| Some(found?.0.saturation_iops));
            let name = sentence(&format!("{}: saturation", operations(load)));
            rows.push(number_row(&name, Good::AtLeast, saturation, number::iops));
            last = Some(load);
        }
        let name =
            |what: &str| sentence(&format!("{}, {}: {what}", operations(load), arrivals(gaps)));
        let knee = found().map(|found| Some(found?.1.knee?.iops));
        rows.push(number_row(&name("knee"), Good::AtLeast, knee, number::iops));
        for percent in COMPARED_AT {
            let step = move |course: &Course| {
                course.steps.iter().find(|step| step.percent == percent).copied()
            };
            for (quantity, _, _, value) in &QUANTITIES {
                let times = found().map(|found| value(&step(found?.1)?));
                rows.push(latency_row(&name(&format!("{quantity} at {percent} %")), times));
            }
        }
    }
    let text = "Response times at shares of each drive's own saturation.";
    table_of(subjects, answers, ("Response times", text), rows)
}
