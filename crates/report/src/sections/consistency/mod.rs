//! Consistency: the seconds of every drive and spare setting on equal axes.

mod inside;
mod latency;
mod seconds;
mod series;

use writecliff_suite::consistency::NAME;

use crate::figures::FIGURES;
use crate::number;
use crate::picture::{Bar, Picture, drive_colour};
use crate::run::NONE;
use crate::section::{Column, Place, Row, Section, Table, View};
use crate::subject::Subjects;

pub(crate) use series::tortures;
use series::{Ranges, Series};

pub(crate) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let (series, settings) = series::of(subjects);
    if series.is_empty() {
        return None;
    }
    let ranges = Ranges::of(&series);
    let mut views = Vec::new();
    views.extend(ranking(&series));
    views.extend(seconds::views(&series, &ranges));
    views.extend(latency::views(&series, &ranges));
    views.extend(inside::views(&series, &ranges));
    Some(Section {
        id: NAME,
        title: "Consistency",
        question: "Does the drive serve the same load equally well every second, once full? \
                   Purge, fill, then 4KB random writes without pause; every second counts."
            .to_owned(),
        settings,
        views,
        tables: vec![figures(&series)],
    })
}

/// Which is steadier, and which is faster, at one glance.
fn ranking(series: &[Series<'_>]) -> Vec<View> {
    if series.iter().filter(|one| one.outcome.is_some()).count() < 2 {
        return Vec::new();
    }
    let bars = |value: fn(&writecliff_suite::consistency::Outcome) -> (f64, String)| {
        let mut bars: Vec<Bar> = series
            .iter()
            .filter_map(|one| {
                let (value, words) = value(one.outcome?);
                let colour = drive_colour(one.subject);
                Some(Bar { name: one.name.clone(), value, words, colour })
            })
            .collect();
        bars.sort_by(|a, b| b.value.total_cmp(&a.value));
        bars
    };
    let steadiest = bars(|outcome| {
        let share = outcome.floor_to_mean;
        (share * 100.0, number::percent(share))
    });
    let fastest = bars(|o| (o.steady_iops.mean, number::iops(o.steady_iops.mean)));
    vec![
        View::common(
            "Which is steadier?",
            "The worst second of the steady window as a share of its average, best first. \
             100 % is the same in every second.",
            Picture::bars(
                "consistency-steadiness".to_owned(),
                "Consistency: worst second as a share of the average".to_owned(),
                "worst second, % of the average",
                steadiest,
            ),
        ),
        View::common(
            "What is left once full",
            "Average of the steady window, best first.",
            Picture::bars(
                "consistency-steady-mean".to_owned(),
                "Random writes per second in steady state".to_owned(),
                "IOPS",
                fastest,
            ),
        ),
    ]
}

fn figures(series: &[Series<'_>]) -> Table {
    let column = |one: &Series<'_>| Column {
        of: Place { subject: Some(one.subject), setting: Some(one.setting) },
        name: one.label.clone(),
    };
    let row = |figure: &crate::figures::Figure| {
        let value = |one: &Series<'_>| one.outcome.map_or(NONE.to_owned(), figure.value);
        Row::new(figure.name, series.iter().map(value).collect(), figure.meaning)
    };
    let text = "Steady figures cover the last 30 % of the planned duration. Latencies are service \
                times, from histograms at most 0.8 % too high.";
    let columns = series.iter().map(column).collect();
    Table::new("Figures", text, columns, FIGURES.iter().map(row).collect())
}
