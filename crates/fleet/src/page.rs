//! A fleet's page.

use std::path::{Path, PathBuf};

use serde_json::Value;
use writecliff_report::{
    FleetDrive, FleetFigure, FleetKind, FleetPage, FleetPart, ReportError, fleet_summary,
    thousands, write_fleet_page,
};

use writecliff_sweep::RowFigure;

use crate::plan::Fleet;
use crate::tally::histogram;
use crate::total::{KindTotal, Service, SlowDrive};
use crate::variants::Variant;

/// Writes the page about these variants into the directory `out`, and returns its path.
///
/// # Errors
/// [`ReportError`]; an older page is kept then.
pub fn write_page(
    fleet: &Fleet,
    services: &[(&Variant, Service)],
    out: &Path,
) -> Result<PathBuf, ReportError> {
    write_fleet_page(&page(fleet, services), out)
}

/// The figures of these variants as a table, a column for each. Plain text.
pub fn summary(fleet: &Fleet, services: &[(&Variant, Service)]) -> String {
    fleet_summary(&page(fleet, services))
}

fn page(fleet: &Fleet, services: &[(&Variant, Service)]) -> FleetPage {
    FleetPage {
        title: fleet.title.clone().unwrap_or_else(|| "A fleet of simulated drives".to_owned()),
        lead: lead(services),
        headline: headline(services),
        limit_ns: fleet.limit.0,
        variants: services.iter().map(|(variant, service)| part(variant, service)).collect(),
    }
}

/// How many drives, and what is asked of them.
fn lead(services: &[(&Variant, Service)]) -> String {
    let drives: Vec<u64> =
        services.iter().map(|(variant, _)| variant.fleet.drive_count()).collect();
    let (least, most) = (drives.iter().min().unwrap_or(&0), drives.iter().max().unwrap_or(&0));
    let count = if least == most { format!("{most}") } else { format!("{least} to {most}") };
    let requests: u64 = services.iter().map(|(_, service)| service.requests().0).sum();
    let variants = match services.len() {
        1 => String::new(),
        many => format!(" in each of {many} variants"),
    };
    let minutes = services.first().map_or(0.0, |(v, _)| v.fleet.duration.as_secs_f64() / 60.0);
    let kinds = || services.iter().flat_map(|(variant, _)| &variant.fleet.drives);
    let scale = match kinds().any(|kind| kind.drive.contains("@1/")) {
        true => " Scale models have the rates of the drives they stand for, and shorter pauses.",
        false => "",
    };
    format!(
        "{count} simulated drives{variants}, {minutes:.1} minutes of service, {} requests in \
         all. Response times count from when a request is due; no network and no host is simulated.\
         {scale}",
        thousands(requests as f64)
    )
}

/// The variants with the fewest and the most late requests.
fn headline(services: &[(&Variant, Service)]) -> String {
    let share = |service: &Service| {
        let (all, late) = service.requests();
        late as f64 / all.max(1) as f64 * 100.0
    };
    let mut all: Vec<(&str, f64)> =
        services.iter().map(|(variant, service)| (&*variant.name, share(service))).collect();
    all.sort_by(|a, b| a.1.total_cmp(&b.1));
    match &all[..] {
        [(_, share)] => format!("{} of the requests are late.", percent(*share)),
        [(best, low), .., (worst, high)] if low < high => format!(
            "{best} has the fewest late requests, {}; {worst} the most, {}.",
            percent(*low),
            percent(*high)
        ),
        _ => String::new(),
    }
}

fn percent(share: f64) -> String {
    match share {
        0.0 => "none".to_owned(),
        0.0..0.1 => format!("{share:.4} %"),
        _ => format!("{share:.2} %"),
    }
}

fn part(variant: &Variant, service: &Service) -> FleetPart {
    FleetPart {
        name: variant.name.clone(),
        doubts: doubts(&variant.fleet, service),
        figures: figures(service),
        longer: longer(service),
        minutes: (1..)
            .zip(&service.minutes)
            .map(|(number, minute)| (f64::from(number), minute.percentile(99.9).0 as f64))
            .collect(),
        blame: blame(&variant.fleet, service),
        kinds: service
            .kinds
            .iter()
            .filter(|kind| kind.drives > 0)
            .map(|k| kind(k, service))
            .collect(),
        slowest: service
            .slowest
            .iter()
            .take(SLOWEST)
            .map(|slow| drive(slow, &variant.fleet, service))
            .collect(),
        plan: plan(&variant.fleet),
    }
}

/// So many of the slowest drives are told.
const SLOWEST: usize = 5;

fn doubts(fleet: &Fleet, service: &Service) -> Vec<String> {
    let mut doubts = Vec::new();
    let failed: u64 = service.kinds.iter().map(|kind| kind.failed).sum();
    if failed > 0 {
        doubts.push(format!(
            "{failed} I/Os failed on their drives; they count as answers, as if another fragment had \
             been at hand at once."
        ));
    }
    let [first, last] = [service.minutes.first(), service.minutes.last()]
        .map(|minute| minute.map_or(0, |minute| minute.percentile(99.0).0));
    if last > first.saturating_mul(FALLS_BEHIND).max(fleet.limit.0) {
        doubts.push(
            "The 99th percentile of the last minute is many times that of the first: a part of the \
             fleet falls behind, and its figures grow with the length of the service."
                .to_owned(),
        );
    }
    doubts
}

/// A percentile that grows by more is a queue that grows.
const FALLS_BEHIND: u64 = 5;

fn figures(service: &Service) -> Vec<FleetFigure> {
    let figure = |RowFigure { name, value, unit, good }| {
        let meaning =
            MEANINGS.iter().find(|(of, _)| **of == name).map_or("", |(_, meaning)| meaning);
        FleetFigure { name, value, unit, good, meaning }
    };
    service.figures().into_iter().map(figure).collect()
}

const MEANINGS: [(&str, &str); 6] = [
    ("late requests", "above the limit"),
    (
        "cost of a TB a year",
        "of data; drives until their rated writes are used up, five years at most",
    ),
    ("p99.9 of the worst minute", "of all requests"),
    ("hedged reads", "asked further drives"),
    ("write amplification", "of the drives: NAND bytes for each byte that one is given"),
    ("NAND writes for a byte of data", "of the whole: copies and parity are in it"),
];

/// A point for each bucket of the response times.
fn longer(service: &Service) -> Vec<(f64, f64)> {
    let all = service.minutes.iter().flat_map(|minute| minute.reads.iter().chain(&minute.writes));
    let responses = histogram(all);
    let mut left = responses.count();
    let total = left.max(1) as f64;
    let points = responses.counts().map(|counted| {
        left -= counted.count;
        (counted.latency as f64, left as f64 / total * 100.0)
    });
    thinned(points.collect())
}

/// Points that would lie on the same place are left out.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    let last = points.len().saturating_sub(1);
    for (index, point) in points.into_iter().enumerate() {
        let is_near = kept.last().is_some_and(|(x, y): &(f64, f64)| {
            point.0 < x * NEAR && point.1 > y / NEAR && point.1 > 0.0
        });
        if !is_near || index == last {
            kept.push(point);
        }
    }
    kept
}

/// Times and shares that differ by less look the same on axes of decades.
const NEAR: f64 = 1.03;

/// The drives that most late requests waited for first.
fn blame(fleet: &Fleet, service: &Service) -> Vec<(f64, f64)> {
    let all: u64 = service.slowest.iter().map(|slow| slow.drive.late).sum();
    if all == 0 {
        return Vec::new();
    }
    let (drives, mut sum) = (fleet.drive_count() as f64, 0);
    let mut points = vec![(0.0, 0.0)];
    points.extend((1..).zip(&service.slowest).map(|(count, slow)| {
        sum += slow.drive.late;
        (f64::from(count) / drives * 100.0, sum as f64 / all as f64 * 100.0)
    }));
    points.push((100.0, 100.0));
    points
}

fn kind(kind: &KindTotal, service: &Service) -> FleetKind {
    let all = |of: fn(&KindTotal) -> u64| service.kinds.iter().map(of).sum::<u64>().max(1) as f64;
    FleetKind {
        drive: kind.drive.clone(),
        drives: kind.drives,
        waited_percent: kind.waited_for as f64 / all(|kind| kind.waited_for) * 100.0,
        late_percent: kind.late as f64 / all(|kind| kind.late) * 100.0,
        write_amplification: kind
            .nand_written
            .filter(|_| kind.written > 0)
            .map(|nand| nand as f64 / kind.written as f64),
        years: kind.years,
        dollars_a_year: kind.dollars_a_year,
    }
}

fn drive(slow: &SlowDrive, fleet: &Fleet, service: &Service) -> FleetDrive {
    let all: u64 = service.slowest.iter().map(|slow| slow.drive.late).sum();
    FleetDrive {
        place: format!("group {}, drive {}", slow.group, slow.place),
        drive: fleet
            .drives
            .get(slow.drive.kind)
            .map_or_else(String::new, |kind| kind.drive.clone()),
        full_percent: slow.drive.full_percent,
        overwrites: slow.drive.overwrites,
        late: slow.drive.late,
        late_percent: slow.drive.late as f64 / all.max(1) as f64 * 100.0,
    }
}

/// The plan as lines of keys and values.
fn plan(fleet: &Fleet) -> Vec<(String, String)> {
    let Ok(Value::Object(values)) = serde_json::to_value(fleet) else { return Vec::new() };
    let text = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    values.into_iter().map(|(key, value)| (key, text(value))).collect()
}
