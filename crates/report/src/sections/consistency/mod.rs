//! Consistency: the seconds of every drive and spare setting on equal axes.

mod inside;
mod latency;
mod seconds;
mod series;

use writecliff_device::DeviceInfo;
use writecliff_suite::consistency::{CLIFF, FIGURES, MEAN, Outcome, Plan};
use writecliff_suite::{FigureOf, WindowState};

use super::figure_row;
use crate::number;
use crate::number::NONE;
use crate::picture::{Picture, Range};
use crate::section::{Column, Panel, Place, Row, Section, Table, View, slug};
use crate::subjects::Subjects;
use crate::writes;

use series::{Ranges, Series, windows};

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let (series, settings) = series::of(subjects);
    // A run that ended before its random writes has nothing to draw, and no figures.
    let drawn: Vec<Series<'_>> =
        series.iter().filter(|one| one.seconds().next().is_some()).cloned().collect();
    if drawn.is_empty() {
        return None;
    }
    let shared = Ranges::of(&drawn, subjects.is_equal_load(Plan::NAME));
    let mut views = seconds::whole(&drawn, &shared);
    views.extend(ranges(subjects, &drawn, &settings));
    views.extend(seconds::last(&drawn, &shared));
    views.extend(latency::views(&drawn, &shared));
    views.extend(inside::views(&drawn, &shared));
    let tables = tables(subjects, &series, &settings);
    Some(Section {
        id: Plan::NAME,
        title: "Consistency",
        question: "Does the drive serve the same load equally well every second, once full? \
                   Purge, where the drive has one, fill, then 4 KiB random writes without pause; every \
                   second counts."
            .to_owned(),
        doubts: Vec::new(),
        settings,
        views,
        tables,
        listings: Vec::new(),
    })
}

/// The verdict has it.
pub(super) fn headline(_: &Outcome, _: &DeviceInfo) -> Option<String> {
    None
}

const RANGE: &str = "consistency-range";
const RANGE_TITLE: &str = "How fast and how steady, once full";

/// How high and how wide the last seconds lie, at one glance: of several drives a picture for each
/// spare area, of one drive one picture of all.
fn ranges(subjects: &Subjects<'_>, series: &[Series<'_>], settings: &[String]) -> Option<View> {
    let known: Vec<&Series<'_>> = series.iter().filter(|one| one.outcome.is_some()).collect();
    if known.is_empty() {
        return None;
    }
    let is_long = known.iter().all(|one| one.state != WindowState::TooShort);
    let any_sure = known.iter().any(|one| !one.in_doubt.steady);
    let is_ranked =
        is_long && any_sure && subjects.is_equal_load(Plan::NAME) && subjects.is_result();
    let by_setting = subjects.is_comparison() && settings.len() > 1;
    let ends = ends(&known);
    let panels = match by_setting {
        true => (0..settings.len())
            .map(|setting| {
                let of_it = |one: &&Series<'_>| one.setting == setting;
                let own: Vec<_> = known.iter().copied().filter(of_it).collect();
                Panel {
                    of: Place { subject: None, setting: Some(setting) },
                    caption: Some(settings[setting].clone()),
                    picture: range_picture(&own, Some(&settings[setting]), is_ranked, ends),
                }
            })
            .collect(),
        false => {
            let picture = range_picture(&known, None, is_ranked, ends);
            vec![Panel { of: Place::default(), caption: None, picture }]
        }
    };
    let how = format!(
        "From the worst (large dot) over the median (stroke) to the best second (small dot) of the {}. \
         The shorter, the steadier; the further right, the faster. Logarithmic.",
        windows(known.iter().copied())
    );
    let order = match (is_ranked && known.len() > 1, known.iter().any(|one| one.in_doubt.steady)) {
        (false, _) => "",
        (true, false) => " The highest worst second first.",
        (true, true) => " The highest worst second first, what is in doubt last.",
    };
    let (title, text) = (RANGE_TITLE.to_owned(), format!("{how}{order}"));
    Some(View { id: RANGE.to_owned(), title, text, more: false, panels })
}

/// What the axes of all pictures reach from and to.
fn ends(series: &[&Series<'_>]) -> (f64, f64) {
    let all = || series.iter().filter_map(|one| Some(one.outcome?.steady_iops));
    let lowest = all().map(|s| s.floor).filter(|floor| *floor > 0.0).fold(1e9, f64::min);
    let highest = all().map(|s| s.peak).fold(1.0, f64::max);
    (lowest.min(highest).max(1.0), highest)
}

fn range_picture(
    series: &[&Series<'_>],
    setting: Option<&str>,
    is_ranked: bool,
    ends: (f64, f64),
) -> Picture {
    let is_one_drive = series.iter().all(|one| one.subject == series[0].subject);
    let range = |one: &&Series<'_>| {
        let iops = one.outcome?.steady_iops;
        let name = match (is_one_drive && series.len() > 1, setting) {
            (true, None) => &one.caption,
            (false, None) => &one.name,
            (_, Some(_)) => &one.drive,
        };
        let [low, middle, high] = [iops.floor, iops.median, iops.peak].map(number::count);
        let unsettled = match one.state {
            WindowState::Settled if one.in_doubt.steady => ", in doubt",
            WindowState::Settled => "",
            WindowState::Settling => ", still settling",
            WindowState::TooLittle => ", too little written",
            WindowState::TooShort => ", too short",
        };
        Some(Range {
            name: name.clone(),
            low: iops.floor,
            middle: iops.median,
            middle_is: "median",
            high: iops.peak,
            words: format!("{low} – {middle} – {high}{unsettled}"),
            style: one.style,
        })
    };
    let (mut sure, doubtful): (Vec<&Series<'_>>, Vec<&Series<'_>>) =
        series.iter().copied().partition(|one| !(is_ranked && one.in_doubt.steady));
    if is_ranked {
        let floor =
            |one: &&Series<'_>| one.outcome.map_or(0.0, |outcome| outcome.steady_iops.floor);
        sure.sort_by(|a, b| floor(b).total_cmp(&floor(a)));
    }
    let ranges: Vec<Range> = sure.iter().chain(&doubtful).filter_map(range).collect();
    let id = setting.map_or(RANGE.to_owned(), |setting| format!("{RANGE}-{}", slug(setting)));
    let title = match (setting, is_one_drive) {
        (Some(setting), _) => format!("{RANGE_TITLE} ({setting})"),
        (None, true) => format!("{RANGE_TITLE}: {}", series[0].drive),
        (None, false) => RANGE_TITLE.to_owned(),
    };
    let mut picture = Picture::ranges(id, title, "IOPS", ("drive", ranges), ends);
    picture.conditions = conditions(series);
    picture
}

/// What all of them have in common; the spare area is the last that is said.
fn conditions(series: &[&Series<'_>]) -> String {
    let Some((first, rest)) = series.split_first() else { return String::new() };
    match rest.iter().all(|one| one.conditions == first.conditions) {
        true => first.conditions.clone(),
        false => {
            let common = first.conditions.rsplit_once(", ").map_or("", |(common, _)| common);
            format!("{common}, by spare area")
        }
    }
}

/// A table of all; of several drives one for each spare area.
fn tables(subjects: &Subjects<'_>, series: &[Series<'_>], settings: &[String]) -> Vec<Table> {
    if !subjects.is_comparison() || settings.len() < 2 {
        let all: Vec<&Series<'_>> = series.iter().collect();
        return vec![figures("Figures", &all, |one| one.label.clone())];
    }
    let table = |(setting, name): (usize, &String)| {
        let own: Vec<&Series<'_>> = series.iter().filter(|one| one.setting == setting).collect();
        let mut table = figures(&format!("Figures: {name}"), &own, |one| one.model.clone());
        table.of = Place { subject: None, setting: Some(setting) };
        table
    };
    settings.iter().enumerate().map(table).collect()
}

fn figures(title: &str, series: &[&Series<'_>], name: fn(&Series<'_>) -> String) -> Table {
    let column = |one: &&Series<'_>| Column {
        of: Place { subject: Some(one.subject), setting: Some(one.setting) },
        name: name(one),
    };
    let row = |figure: &FigureOf<Outcome>| {
        let mut row = figure_row(figure, series.iter().map(|one| one.outcome), number::in_unit);
        for (cell, one) in row.values.iter_mut().zip(series) {
            cell.in_doubt = one.in_doubt.at(figure.stage);
        }
        if figure.name == CLIFF {
            for (words, one) in row.values.iter_mut().zip(series) {
                match one.outcome {
                    Some(outcome) if outcome.came_back() => {
                        let first = if outcome.falls_again { "first after" } else { "after" };
                        let lasts = format!("below half {}, {first} ", outcome.how_long());
                        words.text.insert_str(0, &lasts);
                    }
                    Some(outcome) if outcome.cliff_s.is_some() => {
                        words.text.insert_str(0, "after ");
                    }
                    Some(outcome) => {
                        // At least it was not met as long as it was looked for.
                        let is_short =
                            one.state == WindowState::TooShort && !one.had_time_for_a_cliff();
                        let is_open = is_short || outcome.may_have_fallen();
                        let known = if is_open { "not known" } else { "none" };
                        known.clone_into(&mut words.text);
                        words.number = Some(one.seconds().count() as f64);
                    }
                    None => {}
                }
            }
        }
        row
    };
    let window = windows(series.iter().copied());
    let text = format!(
        "Steady figures are of the {window}, which ends with the run: five rounds of a tenth of a drive \
         write or more where it goes on until it is steady and came to as many; else what follows 70 % of \
         the planned duration, or of what was recorded if that is less, and the cliff. Latencies are \
         service times, from histograms at most 0.8 % too high."
    );
    let columns = series.iter().map(column).collect();
    let seconds = series.iter().map(|one| of_window(one).unwrap_or_else(|| NONE.to_owned()));
    let name = match (
        window == writes::window(WindowState::Settled),
        window == writes::window(WindowState::Settling),
    ) {
        (true, _) => "Steady window",
        (_, true) => "Last part",
        _ => "Steady window or last part",
    };
    let window_row = Row::new(name, seconds.collect(), "from its first second to its last");
    let mut table = Table::new(title, &text, columns, FIGURES.iter().map(row).collect());
    for row in &mut table.rows {
        // What nobody has judged is not called steady.
        if window != writes::window(WindowState::Settled) {
            row.name = row.name.replace("Steady mean", "Mean").replace("Steady median", "Median");
            row.meaning = row.meaning.replace(writes::window(WindowState::Settled), window);
        }
    }
    let mean = FIGURES.iter().position(|figure| figure.name == MEAN).unwrap_or(0);
    table.rows.insert(mean, window_row);
    // What no drive tells, or none has.
    table.rows.retain(|row| row.values.iter().any(|cell| cell.text != NONE));
    table
}

/// Which seconds the figures at the end are of: `1,400 s to 2,000 s`.
fn of_window(one: &Series<'_>) -> Option<String> {
    let [from, to] = [one.outcome?.steady_from_s as usize, one.seconds().count()]
        .map(|second| format!("{} s", number::thousands(second as f64)));
    Some(format!("{from} to {to}"))
}
