//! Repeats: how far figures can be relied on, from runs that differ by nothing but their seed.

use writecliff_suite::{Figure, FigureStatistics, Unit};

use crate::number::{NONE, in_unit};
use crate::picture::{Bar, Picture, nth_style};
use crate::run::Run;
use crate::section::{Cell, Column, Panel, Place, Row, Section, Table, View, picture_id};
use crate::subjects::Subjects;

/// The units that figures are drawn in, and what the pictures of each are called.
const UNITS: [(Unit, &str, &str); 3] = [
    (Unit::Iops, "repeats-iops", "IOPS"),
    (Unit::MegabytesPerSecond, "repeats-rates", "MB/s"),
    (Unit::Milliseconds, "repeats-times", "ms"),
];

/// A drive whose run was repeated, and what comes of it.
struct Repeated<'a> {
    subject: usize,
    run: &'a Run,
    figures: Vec<FigureStatistics>,
}

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let runs = subjects.runs().filter(|(_, run)| run.is_repeated());
    let all: Vec<Repeated<'_>> = runs.map(|(subject, run)| repeated(subject, run)).collect();
    if all.is_empty() {
        return None;
    }
    let views = UNITS.iter().filter_map(|unit| view(subjects, &all, unit)).collect();
    Some(Section {
        id: "repeats",
        title: "Repeats",
        question: "How far can the figures be relied on?".to_owned(),
        doubts: Vec::new(),
        settings: Vec::new(),
        views,
        tables: all.iter().map(|one| table(subjects, one)).collect(),
        listings: Vec::new(),
    })
}

fn repeated(subject: usize, run: &Run) -> Repeated<'_> {
    let figures: Vec<Vec<Figure>> = run.and_repeats().map(|run| run.record.figures()).collect();
    Repeated { subject, run, figures: FigureStatistics::of(&figures) }
}

/// The means of the figures in this unit that a gate would look at.
fn view(
    subjects: &Subjects<'_>,
    all: &[Repeated<'_>],
    (unit, id, quantity): &(Unit, &str, &str),
) -> Option<View> {
    let is_shown = |of: &&FigureStatistics| of.figure.unit == *unit && of.figure.judged;
    let shown = |one: &Repeated<'_>| -> Vec<FigureStatistics> {
        one.figures.iter().filter(is_shown).cloned().collect()
    };
    let ends = all.iter().flat_map(shown).map(|of| of.figure.value + of.deviation.unwrap_or(0.0));
    let highest = ends.fold(0.0, f64::max);
    let panel = |one: &Repeated<'_>| {
        let style = nth_style(one.subject);
        let bar = |of: FigureStatistics| Bar {
            words: with_deviation(&of),
            name: of.figure.name,
            value: of.figure.value,
            error: of.deviation,
            style,
        };
        let bars: Vec<Bar> = shown(one).into_iter().map(bar).collect();
        let (name, count) = (subjects.full_name(one.subject), one.run.repeats.len() + 1);
        let title = format!("Mean and deviation of {count} runs, {quantity}: {name}");
        let id = picture_id(id, subjects, one.subject);
        let caption = subjects.is_comparison().then(|| subjects.name(one.subject).to_owned());
        let picture = Picture::bars(id, title, quantity, bars, highest);
        Panel { of: Place::of(one.subject), caption, picture }
    };
    let panels: Vec<Panel> = all.iter().filter(|one| !shown(one).is_empty()).map(panel).collect();
    (!panels.is_empty()).then(|| View {
        id: (*id).to_owned(),
        title: format!("Mean and deviation, {quantity}"),
        text: "The figures that a gate looks at; the table has all. The line at the end of a bar reaches one \
               standard deviation either way."
            .to_owned(),
        more: false,
        panels,
    })
}

/// `4,492 IOPS ± 31 IOPS`.
fn with_deviation(of: &FigureStatistics) -> String {
    let mean = in_unit(of.figure.value, of.figure.unit);
    match of.deviation {
        Some(deviation) => format!("{mean} ± {}", variation(deviation, of.figure.unit)),
        None => mean,
    }
}

/// A deviation with its unit. That of equal times is no time that was not measured, and little is
/// not nothing.
fn variation(deviation: f64, unit: Unit) -> String {
    match unit {
        _ if deviation == 0.0 => "0".to_owned(),
        _ => {
            let told = in_unit(deviation, unit);
            let is_told_apart = |least: &f64| in_unit(*least, unit) != in_unit(0.0, unit);
            match told == in_unit(0.0, unit) {
                true => [0.01, 0.1, 1.0]
                    .into_iter()
                    .find(is_told_apart)
                    .map_or(told, |least| format!("under {}", in_unit(least, unit))),
                false => told,
            }
        }
    }
}

fn table(subjects: &Subjects<'_>, one: &Repeated<'_>) -> Table {
    let heads = ["mean", "±", "runs", "lowest", "highest"];
    let head = |name: &&str| Column { of: Place::default(), name: (*name).to_owned() };
    let (columns, rows) = (heads.iter().map(head).collect(), one.figures.iter().map(row).collect());
    let seeds: Vec<String> =
        one.run.and_repeats().map(|run| run.record.plan.seed().to_string()).collect();
    let (first, count) = (&seeds[0], seeds.len());
    let text = format!(
        "{count} runs of {} that differ by nothing but the seed ({}); ± is the sample standard \
         deviation. Pictures and tables below are of the run with seed {first}, but for bars with a \
         line at their end, which are means.",
        one.run.record.plan.name(),
        seeds.join(", "),
    );
    let is_the_same = |of: &FigureStatistics| of.deviation == Some(0.0);
    let by_the_model = match one.figures.iter().all(is_the_same) && one.run.is_simulated() {
        true => {
            " Nothing in this model depends on the seed: that all are the same is the model's, and no \
                 word of how a real drive varies."
        }
        false => "",
    };
    let is_time = |of: &FigureStatistics| of.figure.unit == Unit::Milliseconds;
    let steps = match one.figures.iter().any(is_time) {
        true => {
            " Percentiles of times are told in steps of up to 0.8 %: a deviation of less is the step's."
        }
        false => "",
    };
    let text = text + steps + by_the_model;
    let title = match subjects.is_comparison() {
        true => format!("Figures with their deviation: {}", subjects.name(one.subject)),
        false => "Figures with their deviation".to_owned(),
    };
    Table { of: Place::of(one.subject), ..Table::new(&title, &text, columns, rows) }
}

fn row(of: &FigureStatistics) -> Row {
    let FigureStatistics { figure, deviation, count, lowest, highest } = of;
    let cell = |value: f64| Cell::new(in_unit(value, figure.unit), Some(value));
    let runs = Cell::new(count.to_string(), Some(*count as f64));
    let words = deviation.map_or_else(|| NONE.to_owned(), |own| variation(own, figure.unit));
    let deviation = Cell::new(words, *deviation);
    let values = vec![cell(figure.value), deviation, runs, cell(*lowest), cell(*highest)];
    Row { name: figure.name.clone(), values, meaning: String::new(), good: None }
}
