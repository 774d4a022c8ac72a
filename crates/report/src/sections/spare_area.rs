//! Spare area: what leaving a part of the drive unused buys.

use writecliff_suite::consistency::Outcome;
use writecliff_suite::spare_area::{Outcome as SpareArea, Plan};

use super::consistency::tortures;
use super::curves::{self, Curve};
use crate::number;
use crate::picture::Axis;
use crate::run::{NONE, spare_setting};
use crate::section::{Row, Section, Table};
use crate::subject::Subjects;

/// A drive's figures by spare area, the smallest first.
type Settings<'a> = Vec<(f64, &'a Outcome)>;

/// From the spare-area test, and from consistency runs where there are several.
pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let all = subjects.all.iter().enumerate().map(|(index, subject)| {
        let tortures = subject.runs.iter().flat_map(tortures);
        let mut settings: Settings<'_> = tortures
            .filter_map(|torture| Some((torture.spare_percent, torture.outcome?)))
            .collect();
        settings.sort_by(|a, b| a.0.total_cmp(&b.0));
        settings.dedup_by(|a, b| a.0 == b.0);
        (index, settings)
    });
    let all: Vec<(usize, Settings<'_>)> = all.filter(|(_, all)| all.len() > 1).collect();
    if all.is_empty() {
        return None;
    }
    let curve = |name, heading: &str, value: fn(&Outcome) -> f64| {
        let line = |settings: &Settings<'_>| {
            settings.iter().map(|(spare, outcome)| (*spare, value(outcome))).collect()
        };
        let lines = all.iter().map(|(subject, settings)| (*subject, line(settings))).collect();
        Curve { name, heading: heading.to_owned(), lines }
    };
    let curves = [
        curve("average", "Average once full, by spare area", |o| o.steady_iops.mean),
        curve("worst second", "Worst second once full, by spare area", |o| o.steady_iops.floor),
    ];
    let most = spares(&all).last().copied().unwrap_or(0.0);
    let x = Axis::span("share of the LBAs left untouched, %", 0.0, most);
    let text = "Random writes per second in the steady window. All settings are pictures of the \
                consistency section as well.";
    let views =
        curves::views(subjects, ("spare-area-curve", "By spare area", text), &x, "IOPS", &curves);
    Some(Section::new(Plan::NAME, "Spare area", "", views, vec![table(subjects, &all)]))
}

/// The verdict has it.
pub(super) fn headline(_: &SpareArea) -> Option<String> {
    None
}

fn spares(all: &[(usize, Settings<'_>)]) -> Vec<f64> {
    let mut spares: Vec<f64> =
        all.iter().flat_map(|(_, settings)| settings.iter().map(|setting| setting.0)).collect();
    spares.sort_by(f64::total_cmp);
    spares.dedup();
    spares
}

fn table(subjects: &Subjects<'_>, all: &[(usize, Settings<'_>)]) -> Table {
    let value = |settings: &Settings<'_>, spare: f64| {
        let found = settings.iter().find(|setting| setting.0 == spare);
        found.map_or(NONE.to_owned(), |(_, outcome)| {
            let mean = number::iops(outcome.steady_iops.mean);
            format!("{mean}, worst {}", number::percent(outcome.floor_to_mean))
        })
    };
    let row = |spare: &f64| {
        let values = all.iter().map(|(_, settings)| value(settings, *spare)).collect();
        Row::new(&spare_setting(*spare), values, "")
    };
    let columns = Table::columns_of(subjects, all.iter().map(|(subject, _)| *subject));
    let text = "Average once full, and the worst second as a share of it.";
    Table::new("Once full, by spare area", text, columns, spares(all).iter().map(row).collect())
}
