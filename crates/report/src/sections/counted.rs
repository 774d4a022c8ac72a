//! What real drives counted of themselves, phase by phase.

use writecliff_device::{Bytes, Telemetry};
use writecliff_suite::Phase;

use crate::number::NONE;
use crate::run::Run;
use crate::section::{Column, Place, Row, Section, Table};
use crate::subjects::Subjects;

/// A column: its name, and what a phase has in it.
type Count = (&'static str, fn(&Telemetry, &Telemetry) -> Option<String>);

const COUNTS: &[Count] = &[
    ("written by the host", |before, after| grown(before.host_written, after.host_written)),
    ("into NAND", |before, after| grown(before.nand_written, after.nand_written)),
    ("write amplification", |before, after| {
        Some(format!("{:.2}", after.measured_write_amplification_since(before)?))
    }),
    ("endurance used", |before, after| {
        let used = after.wear_permille?.checked_sub(before.wear_permille?)?;
        Some(format!("{} %", used as f64 / 10.0))
    }),
    ("spare blocks left", |_, after| Some(format!("{} %", after.own?.spare_percent?))),
    ("new media errors", |before, after| new(before.own?.media_errors, after.own?.media_errors)),
    ("too warm", |before, after| {
        let minutes = new(before.own?.throttled_minutes, after.own?.throttled_minutes)?;
        Some(format!("{minutes} min"))
    }),
    ("power lost", |before, after| new(before.own?.unsafe_shutdowns, after.own?.unsafe_shutdowns)),
];

/// A table for each run of a drive that was asked.
pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let tables: Vec<Table> =
        subjects.runs().filter_map(|(subject, run)| table(subjects, subject, run)).collect();
    (!tables.is_empty()).then(|| Section {
        id: "counted",
        title: "The drive's own counts",
        question:
            "What did the drive count of itself? Asked before and after every phase; a figure \
                   that its units are too coarse for is left out."
                .to_owned(),
        doubts: Vec::new(),
        settings: Vec::new(),
        views: Vec::new(),
        tables,
        listings: Vec::new(),
    })
}

fn table(subjects: &Subjects<'_>, subject: usize, run: &Run) -> Option<Table> {
    let was_asked = |phase: &&Phase| phase.before.own.is_some() && phase.after.own.is_some();
    let phases: Vec<&Phase> = run.record.phases.iter().filter(was_asked).collect();
    let (first, last) = (phases.first()?, phases.last()?);
    let spans = phases.iter().map(|phase| (phase.name.as_str(), &phase.before, &phase.after));
    let whole = ("all of it", &first.before, &last.after);
    let spans: Vec<_> = match phases.len() {
        1 => spans.collect(),
        _ => spans.chain([whole]).collect(),
    };
    let values =
        |count: &Count| -> Vec<_> { spans.iter().map(|(_, a, b)| count.1(a, b)).collect() };
    let is_known = |count: &&Count| values(count).iter().any(Option::is_some);
    let known = COUNTS.iter().filter(is_known);
    // What is the same whatever was done needs no column.
    let is_constant = |count: &&Count| {
        let values = values(count);
        values.len() > 1 && values.iter().all(|value| *value == values[0])
    };
    let (constant, told): (Vec<&Count>, Vec<&Count>) = known.partition(is_constant);
    let rows = spans.iter().map(|(name, before, after)| {
        let values = told.iter().map(|count| count.1(before, after));
        Row::new(name, values.map(|value| value.unwrap_or_else(|| NONE.to_owned())).collect(), "")
    });
    let column = |count: &&Count| Column { of: Place::default(), name: count.0.to_owned() };
    let test = run.record.plan.name();
    let title = match subjects.is_comparison() {
        true => format!("{test}: {}", subjects.full_name(subject)),
        false => test.to_owned(),
    };
    let (rows, columns) = (rows.collect(), told.iter().map(column).collect());
    let mut table = Table::new(&title, &throughout(&constant, first), columns, rows);
    table.of = Place::of(subject);
    Some(table)
}

/// `Throughout: new media errors 0, power lost 0.`
fn throughout(constant: &[&Count], phase: &Phase) -> String {
    let words = constant.iter().filter_map(|(name, count)| {
        Some(format!("{name} {}", count(&phase.before, &phase.after)?))
    });
    let words = words.collect::<Vec<_>>().join(", ");
    if words.is_empty() { words } else { format!("Throughout: {words}.") }
}

fn grown(before: Option<Bytes>, after: Option<Bytes>) -> Option<String> {
    Some(Bytes(after?.0.checked_sub(before?.0)?).to_string())
}

fn new(before: Option<u64>, after: Option<u64>) -> Option<String> {
    Some(after?.checked_sub(before?)?.to_string())
}
