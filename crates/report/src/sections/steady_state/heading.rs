//! The heading that a report by the specification begins with: what was tested, on what, and how. What
//! is not known is said to be.

use writecliff_device::{Bytes, DeviceInfo};
use writecliff_suite::steady_state::{Outcome, Part, Plan};
use writecliff_suite::{Plan as AnyPlan, RunRecord};

use crate::number;
use crate::run::{Run, host_in_words};
use crate::section::{Row, Table};
use crate::sections::specification::interface;
use crate::sections::{Answer, table_of};
use crate::subjects::Subjects;

/// What is said where neither drive nor run tells.
const NOT_TOLD: &str = "not told";

pub(super) fn table(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Table {
    type Said = (&'static str, fn(&Run, &Plan) -> String);
    const SAID: [Said; 17] = [
        ("Device under test", |run, _| device(&run.record.drive)),
        ("Serial number", |run, _| told(run.record.drive.serial.as_deref())),
        ("Firmware", |run, _| told(run.record.drive.firmware.as_deref())),
        ("Capacity", |run, _| capacity(&run.record.drive)),
        ("Interface", |run, _| told(interface(&run.record.drive).as_deref())),
        ("Form factor", |run, _| told(run.record.drive.specification.form_factor.as_deref())),
        ("NAND", |run, _| told(run.record.drive.specification.nand.as_deref())),
        ("Test date", |run, _| run.record.started.clone()),
        ("Test platform", |run, _| platform(&run.record)),
        ("Test software", |run, _| format!("Writecliff {}", run.record.tool_version)),
        ("Purge", |run, _| run.purge()),
        ("Write cache", |run, _| write_cache(run)),
        ("Preconditioning", |_, plan| preconditioning(plan)),
        ("Active range", |run, plan| active_range(&run.record.drive, plan)),
        ("Data pattern", |_, _| "random, not compressible".to_owned()),
        ("I/Os in flight", |_, plan| in_flight(plan)),
        ("Tests", |_, plan| tests(plan)),
    ];
    let row = |(name, said): &Said| {
        let value = |answer: &Answer<'_, Outcome>| match &answer.run.record.plan {
            AnyPlan::SteadyState(plan) => said(answer.run, plan),
            _ => NOT_TOLD.to_owned(),
        };
        Row::new(name, answers.iter().map(value).collect(), "")
    };
    let text = "SNIA Solid State Storage Performance Test Specification 2.0.2.";
    let rows = SAID.iter().map(row).collect();
    // That a figure is in doubt says nothing of what it was measured on.
    Table {
        first: true,
        of_others: true,
        ..table_of(subjects, answers, ("Test report", text), rows)
    }
}

fn told(text: Option<&str>) -> String {
    text.unwrap_or(NOT_TOLD).to_owned()
}

/// A model must not be taken for the drive that it is named after.
fn device(drive: &DeviceInfo) -> String {
    format!("{} ({})", drive.model, drive.kind)
}

fn capacity(drive: &DeviceInfo) -> String {
    let bytes = number::thousands(drive.capacity.0 as f64);
    format!("{} ({bytes} bytes), LBAs of {}", drive.capacity, number::size(drive.lba_size))
}

fn platform(record: &RunRecord) -> String {
    match host_in_words(&record.host) {
        untold if untold.is_empty() => NOT_TOLD.to_owned(),
        told => told,
    }
}

fn write_cache(run: &Run) -> String {
    let kernel_s = run.record.drive.write_cache.as_deref();
    match run.is_simulated() {
        true => "as the model has it".to_owned(),
        false => {
            kernel_s.map_or_else(|| NOT_TOLD.to_owned(), |said| format!("{said}, by the kernel"))
        }
    }
}

fn preconditioning(plan: &Plan) -> String {
    let passes = |part: &&Part| part.is_filled_before();
    let filled: Vec<&str> = plan.parts.iter().filter(passes).map(|part| words(*part)).collect();
    match (&filled[..], plan.precondition_passes) {
        ([], _) | (_, 0) => "purge only".to_owned(),
        (filled, passes) if filled.len() == plan.parts.len() => {
            format!("{passes} times the active range written in order in 128 KiB before each test")
        }
        (filled, passes) => format!(
            "{passes} times the active range written in order in 128 KiB before {}; purge only before \
             the others",
            filled.join(", ")
        ),
    }
}

fn active_range(drive: &DeviceInfo, plan: &Plan) -> String {
    let used = plan.span.map_or(drive.capacity, |span: Bytes| span.min(drive.capacity));
    match used == drive.capacity {
        true => "all LBAs".to_owned(),
        false => format!("the first {used}"),
    }
}

fn in_flight(plan: &Plan) -> String {
    let has = |part| plan.parts.contains(&part);
    let one = has(Part::Latency).then_some("; in Latency 1");
    let varied = has(Part::Composite) || has(Part::DemandIntensity);
    let varied = varied.then_some("; where demand is varied, as the tables say");
    let others = [one, varied].into_iter().flatten().collect::<String>();
    format!("{}{others}", plan.queue_depth)
}

fn tests(plan: &Plan) -> String {
    let mut names: Vec<&str> = plan.parts.iter().map(|part| words(*part)).collect();
    names.dedup();
    names.join(", ")
}

/// The specification's name of a part.
fn words(part: Part) -> &'static str {
    match part {
        Part::Iops => "IOPS",
        Part::Throughput => "Throughput (128 KiB)",
        Part::ThroughputMib => "Throughput (1024 KiB)",
        Part::Latency => "Latency",
        Part::WriteSaturation => "Write Saturation",
        Part::HostIdleRecovery => "Host Idle Recovery",
        Part::CrossStimulusRecovery => "Cross Stimulus Recovery",
        Part::Composite => "Enterprise Composite Workload",
        Part::DemandIntensity => "Demand Intensity",
    }
}
