//! What the drives are, as far as anybody told: data sheet, board and price.

use writecliff_device::{Bytes, DeviceInfo, DeviceKind, Specification};
use writecliff_suite::scale;

use crate::number;
use crate::number::NONE;
use crate::section::{Row, Table};
use crate::subjects::Subjects;

/// A row: its name, and what a drive says of it.
type Fact = (&'static str, fn(&DeviceInfo) -> Option<String>);

const FACTS: &[Fact] = &[
    // Of what another program measured nobody need know it.
    ("Capacity", |drive| (drive.capacity > Bytes::ZERO).then(|| drive.capacity.to_string())),
    ("Form factor", |drive| drive.specification.form_factor.clone()),
    ("First sold", |drive| drive.specification.released.clone()),
    ("Controller", |drive| drive.specification.controller.clone()),
    ("Interface", interface),
    ("DRAM", |drive| drive.specification.dram.map(binary)),
    ("NAND", |drive| of_the_whole(drive, drive.specification.nand.as_ref())),
    ("NAND configuration", |drive| {
        of_the_whole(drive, drive.specification.nand_configuration.as_ref())
    }),
    ("NAND on the board", |drive| drive.specification.nand_capacity.map(binary)),
    ("Spare area", spare_area),
    ("Own encryption", |drive| drive.specification.own_encryption.clone()),
    ("Rated writes", |drive| Some(drive.specification.rated_writes?.to_string())),
    ("Price", |drive| Some(dollars(drive.specification.price_usd?))),
    ("Price per GB", price_per_gb),
    ("Price of", |drive| drive.specification.price_of.clone()),
    ("Note of its model", note),
];

/// A column for each drive; rows that no drive has anything for are left out. `None` of files in directories: of
/// the drives below nothing is known.
pub(crate) fn table(subjects: &Subjects<'_>) -> Option<Table> {
    if subjects.all.iter().all(|subject| subject.drive().kind == DeviceKind::Directory) {
        return None;
    }
    let is_known = |fact: &&Fact| subjects.all.iter().any(|s| fact.1(s.drive()).is_some());
    let row = |(name, value): &Fact| {
        let value = |drive: &DeviceInfo| value(drive).unwrap_or_else(|| NONE.to_owned());
        Row::new(name, subjects.all.iter().map(|s| value(s.drive())).collect(), "")
    };
    let said = subjects.all.iter().any(|s| s.drive().specification != Specification::default());
    let text = match said {
        true if subjects.all.iter().any(|subject| spare_area(subject.drive()).is_some()) => {
            "As the profiles of the drives have it; those that ship name their sources. Spare area: what the NAND \
             has beyond the capacity, as a share of the capacity."
        }
        true => "As the profiles of the drives have it; those that ship name their sources.",
        false => match subjects.is_comparison() {
            true => "Of what their makers say nothing but the capacity is known.",
            false => "Of what its maker says nothing but the capacity is known.",
        },
    };
    let columns = Table::columns_of(subjects, 0..subjects.all.len());
    let rows: Vec<Row> = FACTS.iter().filter(is_known).map(row).collect();
    // One drive's capacity stands above it.
    let tells = said || subjects.is_comparison() || rows.len() > 1;
    (tells && !rows.is_empty()).then(|| Table::new("Specification", text, columns, rows))
}

/// Dies are the whole drive's, and a scale model's smaller.
fn of_the_whole(drive: &DeviceInfo, fact: Option<&String>) -> Option<String> {
    let of = if scale(drive).is_some() { " (of the whole drive)" } else { "" };
    Some(format!("{}{of}", fact?))
}

/// What a real drive has now, or what its profile says.
pub(super) fn interface(drive: &DeviceInfo) -> Option<String> {
    let profile = drive.profile.as_ref().and_then(|profile| profile.values.get("link"));
    let told = profile.and_then(|link| link["interface"].as_str()).map(str::to_owned);
    drive.link.as_ref().map(ToString::to_string).or(told)
}

/// What the figures of a simulated drive rest on, as its profile says it.
fn note(drive: &DeviceInfo) -> Option<String> {
    let profile = drive.profile.as_ref()?;
    let note = profile.values.get("identity")?.get("note")?.as_str()?;
    let of_another =
        if profile.changes.is_empty() { "" } else { "Of the drive that was changed: " };
    Some(format!("{of_another}{note}"))
}

/// As `writecliff drives` has it.
fn spare_area(drive: &DeviceInfo) -> Option<String> {
    let spare = drive.specification.spare_area(drive.capacity)?;
    Some(format!("{:.1} %", spare * 100.0))
}

fn price_per_gb(drive: &DeviceInfo) -> Option<String> {
    let gigabytes = drive.capacity.0 as f64 / 1e9;
    Some(format!("{}/GB", dollars(drive.specification.price_usd? / gigabytes)))
}

fn dollars(amount: f64) -> String {
    match amount {
        1000.0.. => format!("${}", number::thousands(amount)),
        _ => format!("${amount:.2}"),
    }
}

/// Memory is counted in powers of two.
fn binary(bytes: Bytes) -> String {
    let exact = bytes.exact();
    let split = exact.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(exact.len());
    format!("{} {}", &exact[..split], &exact[split..])
}
