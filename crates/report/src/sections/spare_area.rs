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
use crate::section::{Section, Table};
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
    let tables = vec![
        table(subjects, &all, "Average once full", |one| one.outcome.steady_iops.mean),
        table(subjects, &all, "Worst steady second", |one| one.outcome.steady_iops.floor),
    ];
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

fn table(
    subjects: &Subjects<'_>,
    all: &[(usize, Settings<'_>)],
    title: &str,
    value: fn(&Writes<'_>) -> f64,
) -> Table {
    let row = |spare: &f64| {
        let of = |(_, settings): &(usize, Settings<'_>)| {
            settings.iter().find(|one| one.spare_percent == *spare).map(value)
        };
        let mut row =
            number_row(&spare_setting(*spare), Good::AtLeast, all.iter().map(of), number::iops);
        for (cell, (_, settings)) in row.values.iter_mut().zip(all) {
            let one = settings.iter().find(|one| one.spare_percent == *spare);
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
    };
    let columns = Table::columns_of(subjects, all.iter().map(|(subject, _)| *subject));
    Table::new(title, "", columns, spares(all).iter().map(row).collect())
}
