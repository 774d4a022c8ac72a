//! Spare area: what leaving a part of the drive unused buys.

use writecliff_device::DeviceInfo;
use writecliff_suite::consistency::Outcome;
use writecliff_suite::spare_area::{Outcome as SpareArea, Plan};
use writecliff_suite::{Good, WindowState};

use super::curves::{self, Curve};
use super::number_row;
use crate::number;
use crate::picture::{Axis, ORANGE, WRITES};
use crate::run::spare_setting;
use crate::section::{Column, Place, Row, Section, Table};
use crate::subjects::Subjects;
use crate::writes::{Writes, writes};

/// A drive's figures by spare area, the smallest first.
type Settings<'a> = Vec<Writes<'a>>;

/// From the spare-area test, and from consistency runs where there are several.
pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let all = subjects.all.iter().enumerate().map(|(index, subject)| (index, writes(subject)));
    let all: Vec<(usize, Settings<'_>)> = all.filter(|(_, all)| all.len() > 1).collect();
    if all.is_empty() {
        return None;
    }
    let curve = |name, style, heading: &str, value: fn(&Outcome) -> f64| {
        // A setting that shows no steady state is no point of a curve of steady states.
        let steady = |one: &&Writes<'_>| one.state == WindowState::Settled;
        let line = |settings: &Settings<'_>| {
            let steady = settings.iter().filter(steady);
            steady.map(|one| (one.spare_percent, value(&one.outcome))).collect()
        };
        let lines = all.iter().map(|(subject, settings)| (*subject, line(settings)));
        let lines = lines.filter(|(_, points): &(usize, Vec<_>)| !points.is_empty()).collect();
        Curve { name, heading: heading.to_owned(), style, lines }
    };
    let curves = [
        curve("average", WRITES, "Average once full, by spare area", |o| o.steady_iops.mean),
        curve("worst steady second", ORANGE, "Worst steady second, by spare area", |o| {
            o.steady_iops.floor
        }),
    ];
    let most = spares(&all).last().copied().unwrap_or(0.0);
    let x = Axis::span("share of the LBAs left untouched, %", 0.0, most);
    let unsteady = all.iter().flat_map(|(_, settings)| settings);
    let unsteady = unsteady.filter(|one| one.state != WindowState::Settled).count();
    let left_out = match unsteady {
        0 => "",
        _ => " What shows no steady state is in the tables alone.",
    };
    let text = format!("Random writes per second in the steady window of each run.{left_out}");
    let names = ("spare-area-curve", "By spare area", &*text);
    let conditions = "4 KiB random writes, QD32, incompressible data";
    let views = match curves.iter().all(|curve| curve.lines.is_empty()) {
        true => Vec::new(),
        false => curves::views(subjects, names, &x, "IOPS", conditions, &curves),
    };
    let tables = match &all[..] {
        [(_, settings)] => vec![of_one(&all, settings)],
        _ => FIGURES
            .iter()
            .map(|(title, value)| {
                let columns = Table::columns_of(subjects, all.iter().map(|(subject, _)| *subject));
                let settings: Vec<_> = all.iter().map(|(_, settings)| (settings, *value)).collect();
                let row = |spare: &f64| row(*spare, &settings);
                Table::new(title, "", columns, spares(&all).iter().map(row).collect())
            })
            .collect(),
    };
    Some(Section::new(Plan::NAME, "Spare area", "", views, tables))
}

/// The verdict has it.
pub(super) fn headline(_: &SpareArea, _: &DeviceInfo) -> Option<String> {
    None
}

fn spares(all: &[(usize, Settings<'_>)]) -> Vec<f64> {
    let mut spares: Vec<f64> =
        all.iter().flat_map(|(_, settings)| settings.iter().map(|one| one.spare_percent)).collect();
    spares.sort_by(f64::total_cmp);
    spares.dedup();
    spares
}

type Value = fn(&Writes<'_>) -> f64;

const FIGURES: [(&str, Value); 2] = [
    ("Average once full", |one| one.outcome.steady_iops.mean),
    ("Worst steady second", |one| one.outcome.steady_iops.floor),
];

/// Both figures beside each other, and spare areas down.
fn of_one(all: &[(usize, Settings<'_>)], settings: &Settings<'_>) -> Table {
    let column =
        |(name, _): &(&str, Value)| Column { of: Place::default(), name: name.to_lowercase() };
    let both: Vec<_> = FIGURES.iter().map(|(_, value)| (settings, *value)).collect();
    let row = |spare: &f64| Row { good: None, ..row(*spare, &both) };
    let rows = spares(all).iter().map(row).collect();
    Table::new("Once full, by spare area", "", FIGURES.iter().map(column).collect(), rows)
}

/// A figure of each drive at this spare area, with what is in doubt of it.
fn row(spare: f64, figures: &[(&Settings<'_>, Value)]) -> Row {
    let found =
        |settings: &&Settings<'_>| settings.iter().position(|one| one.spare_percent == spare);
    let of = |(settings, value): &(&Settings<'_>, Value)| Some(value(&settings[found(settings)?]));
    let mut row =
        number_row(&spare_setting(spare), Good::AtLeast, figures.iter().map(of), number::iops);
    for (cell, (settings, _)) in row.values.iter_mut().zip(figures) {
        let one = found(settings).map(|index| &settings[index]);
        cell.in_doubt = one.is_some_and(|one| one.in_doubt.steady);
        let doubt = match one.map(|one| one.state) {
            None | Some(WindowState::Settled) => continue,
            Some(WindowState::TooShort) => ", too short",
            Some(WindowState::TooLittle) => ", too little written",
            Some(WindowState::Settling) => ", not settled",
        };
        cell.in_doubt = true;
        cell.text += doubt;
    }
    row
}
