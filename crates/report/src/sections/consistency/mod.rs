//! Consistency: the seconds of every drive and spare setting on equal axes.

mod inside;
mod latency;
mod seconds;
mod series;

use writecliff_suite::FigureOf;
use writecliff_suite::consistency::{CLIFF, FIGURES, Outcome, Plan};

use super::figure_row;

use crate::number;
use crate::picture::{Bar, Picture, nth_style};
use crate::section::{Column, Panel, Place, Section, Table, View, slug};
use crate::subject::Subjects;

pub(crate) use series::tortures;
use series::{Ranges, Series};

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let (series, settings) = series::of(subjects);
    if series.is_empty() {
        return None;
    }
    let ranges = Ranges::of(&series);
    let mut views = Vec::new();
    views.extend(rankings(subjects, &series, &settings));
    views.extend(seconds::views(&series, &ranges));
    views.extend(latency::views(&series, &ranges));
    views.extend(inside::views(&series, &ranges));
    Some(Section {
        id: Plan::NAME,
        title: "Consistency",
        question: "Does the drive serve the same load equally well every second, once full? \
                   Purge, fill, then 4KB random writes without pause; every second counts."
            .to_owned(),
        doubts: Vec::new(),
        settings,
        views,
        tables: vec![figures(&series)],
    })
}

/// The verdict has it.
pub(super) fn headline(_: &Outcome) -> Option<String> {
    None
}

/// A figure that drives are ranked by, the highest first.
struct Ranking {
    id: &'static str,
    title: &'static str,
    text: &'static str,
    quantity: &'static str,
    value: fn(&Outcome) -> (f64, String),
}

const RANKINGS: [Ranking; 2] = [
    Ranking {
        id: "consistency-steadiness",
        title: "Which is steadier?",
        text: "The worst second of the steady window as a share of its average, best first. \
               100 % is the same in every second.",
        quantity: "worst second, % of the average",
        value: |outcome| {
            let share = outcome.floor_to_mean;
            (share * 100.0, number::percent(share))
        },
    },
    Ranking {
        id: "consistency-steady-mean",
        title: "What is left once full",
        text: "Average of the steady window, best first.",
        quantity: "IOPS",
        value: |outcome| (outcome.steady_iops.mean, number::iops(outcome.steady_iops.mean)),
    },
];

/// Which is steadier, and which is faster, at one glance: of several drives a picture for each
/// spare area, of one drive one picture.
fn rankings(subjects: &Subjects<'_>, series: &[Series<'_>], settings: &[String]) -> Vec<View> {
    if series.iter().filter(|one| one.outcome.is_some()).count() < 2 {
        return Vec::new();
    }
    let by_setting = subjects.is_comparison() && settings.len() > 1;
    let view = |ranking: &Ranking| {
        let all: Vec<&Series<'_>> = series.iter().collect();
        let of_setting = |index: usize| -> Vec<&Series<'_>> {
            series.iter().filter(|one| one.setting == index).collect()
        };
        let panels = match by_setting {
            true => (0..settings.len())
                .map(|index| Panel {
                    of: Place { subject: None, setting: Some(index) },
                    caption: Some(settings[index].clone()),
                    picture: ranking.picture(
                        &of_setting(index),
                        Some(&settings[index]),
                        ranking.highest(series),
                    ),
                })
                .collect(),
            false => {
                let picture = ranking.picture(&all, None, ranking.highest(series));
                vec![Panel { of: Place::default(), caption: None, picture }]
            }
        };
        let (title, text) = (ranking.title.to_owned(), ranking.text.to_owned());
        View { id: ranking.id.to_owned(), title, text, more: false, panels }
    };
    RANKINGS.iter().map(view).collect()
}

impl Ranking {
    /// What the axes of all its pictures reach to.
    fn highest(&self, series: &[Series<'_>]) -> f64 {
        let values = series.iter().filter_map(|one| Some((self.value)(one.outcome?).0));
        values.fold(0.0, f64::max)
    }

    fn picture(&self, series: &[&Series<'_>], setting: Option<&str>, highest: f64) -> Picture {
        let drives =
            series.iter().map(|one| one.subject).collect::<std::collections::BTreeSet<_>>();
        let is_one_drive = drives.len() == 1 && series.len() > 1;
        let bar = |one: &&Series<'_>| {
            let (value, words) = (self.value)(one.outcome?);
            let name = match (is_one_drive, setting) {
                (true, _) => &one.caption,
                (false, Some(_)) => &one.drive,
                (false, None) => &one.name,
            };
            let style = nth_style(one.subject);
            Some(Bar { name: name.clone(), value, error: None, words, style })
        };
        let mut bars: Vec<Bar> = series.iter().filter_map(bar).collect();
        bars.sort_by(|a, b| b.value.total_cmp(&a.value));
        let id = setting.map_or(self.id.to_owned(), |s| format!("{}-{}", self.id, slug(s)));
        let title = match (setting, is_one_drive) {
            (Some(setting), _) => format!("{} ({setting})", self.title),
            (None, true) => format!("{} {}", self.title, series[0].drive),
            (None, false) => self.title.to_owned(),
        };
        Picture::bars(id, title, self.quantity, bars, highest)
    }
}

fn figures(series: &[Series<'_>]) -> Table {
    let column = |one: &Series<'_>| Column {
        of: Place { subject: Some(one.subject), setting: Some(one.setting) },
        name: one.label.clone(),
    };
    let row = |figure: &FigureOf<Outcome>| {
        let mut row = figure_row(figure, series.iter().map(|one| one.outcome), number::in_unit);
        if figure.name == CLIFF {
            for (words, one) in row.values.iter_mut().zip(series) {
                match one.outcome.map(|outcome| outcome.cliff_s) {
                    Some(Some(_)) => words.text.insert_str(0, "after "),
                    Some(None) => "none".clone_into(&mut words.text),
                    None => {}
                }
            }
        }
        row
    };
    let text = "Steady figures cover the last 30 % of the planned duration. Latencies are service \
                times, from histograms at most 0.8 % too high.";
    let columns = series.iter().map(column).collect();
    Table::new("Figures", text, columns, FIGURES.iter().map(row).collect())
}
