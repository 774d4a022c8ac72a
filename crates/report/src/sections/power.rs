//! Power: what the drive draws, second by second, phase by phase.

use writecliff_measure::Sample;
use writecliff_suite::power::{
    AFTER_RANDOM, AFTER_SEQUENTIAL, IDLE, Outcome, Plan, RANDOM_WRITE, SEQUENTIAL_WRITE,
};

use super::{Answer, answers};
use crate::number;
use crate::picture::{Axis, BLUE, GREEN, NEUTRAL, ORANGE, PURPLE, Picture, Points, Style};
use crate::run::NONE;
use crate::section::{Panel, Place, Row, Section, Table, View, picture_id};
use crate::subject::Subjects;

/// The phases in their order, as a person calls them.
const PHASES: [(&str, &str, Style); 5] = [
    (IDLE, "idle", NEUTRAL),
    (SEQUENTIAL_WRITE, "sequential writes", BLUE),
    (AFTER_SEQUENTIAL, "idle after these", GREEN),
    (RANDOM_WRITE, "random writes", ORANGE),
    (AFTER_RANDOM, "idle after random writes", PURPLE),
];

/// What a sample says of something, in the unit of the picture.
type Reading = fn(&Sample) -> Option<f64>;

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let answers = answers::<Outcome>(subjects);
    if answers.is_empty() {
        return None;
    }
    let power: Reading = |sample| Some(sample.power_microwatts? as f64 / 1e6);
    let temperature: Reading = |sample| Some(sample.temperature_millicelsius? as f64 / 1e3);
    let over_time = "Means of a second; the colours are the phases of the test.";
    let views = [
        view(subjects, &answers, ("power-watts", "Power", over_time), "watts", power),
        view(subjects, &answers, ("power-temperature", "Temperature", ""), "°C", temperature),
    ];
    let views = views.into_iter().flatten().collect();
    Some(Section::new(Plan::NAME, "Power", "", views, vec![table(subjects, &answers)]))
}

/// The test in a sentence.
pub(super) fn headline(outcome: &Outcome) -> Option<String> {
    let watts = |name| outcome.phases.iter().find(|phase| phase.phase == name).map(|p| p.mean);
    let (idle, busy) = (watts(IDLE)?, watts(SEQUENTIAL_WRITE)?);
    Some(format!("It draws {idle:.2} W idle and {busy:.2} W in sequential writes."))
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
        let second = |s: &Sample| (s.start_ns.saturating_sub(begin) / 1_000_000_000) as f64;
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
    let panel = |answer: &Answer<'_, Outcome>| {
        let trace = |(phase, name, style): &(&str, &str, Style)| {
            Some(points(answer, phase))
                .filter(|points| !points.is_empty())
                .map(|points| Points::dots(name, *style, points))
        };
        let heading = format!("{title}: {}", subjects.full_name(answer.subject));
        let id = picture_id(id, subjects, answer.subject);
        let traces = PHASES.iter().filter_map(trace).collect();
        let picture = Picture::new(id, heading, x.clone(), y.clone(), traces);
        let caption = subjects.is_comparison().then(|| subjects.name(answer.subject).to_owned());
        Panel { of: Place::of(answer.subject), caption, picture }
    };
    let panels = answers.iter().map(panel).collect();
    Some(View {
        id: id.to_owned(),
        title: title.to_owned(),
        text: text.to_owned(),
        more: false,
        panels,
    })
}

fn table(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Table {
    let value = |answer: &Answer<'_, Outcome>, phase: &str| {
        let found = answer.outcome.phases.iter().find(|one| one.phase == phase);
        found.map_or(NONE.to_owned(), |found| {
            let (lowest, highest) = (watts(found.lowest), watts(found.highest));
            let settled = match found.settled_after_s {
                0 => String::new(),
                after => format!(
                    ", {} W from {} s on",
                    watts(found.settled),
                    number::thousands(f64::from(after))
                ),
            };
            format!("{} W ({lowest} to {highest}{settled})", watts(found.mean))
        })
    };
    let row = |(phase, name, _): &(&str, &str, Style)| {
        let values = answers.iter().map(|answer| value(answer, phase)).collect();
        let mut letters = name.chars();
        let first = letters.next().map_or(String::new(), |first| first.to_uppercase().to_string());
        Row::new(&(first + letters.as_str()), values, "")
    };
    let columns = Table::columns_of(subjects, answers.iter().map(|answer| answer.subject));
    let text = "Mean, lowest and highest second, and where it settled if it took time.";
    Table::new("Power by phase", text, columns, PHASES.iter().map(row).collect())
}

fn watts(watts: f64) -> String {
    format!("{watts:.2}")
}
