//! What comes of I/Os that clients of an exported drive asked for: one job that nobody planned.

use std::collections::BTreeMap;

use writecliff_device::{Nanos, Operation};
use writecliff_measure::{LatencyHistogram, Recording, Sample};

use super::conclude::figures_over;
use super::outcome::Outcome;
use super::series::series;
use crate::record::rate::LatencyFigures;
use crate::record::served::{Served, too_late};
use crate::record::warning::Warning;

/// What all clients together are called among the jobs.
pub const CLIENTS: &str = "clients";
/// The operations in the order of their series' numbers. What the drive writes to its NAND is told beside
/// the writes.
pub const SERVED: [Operation; 4] =
    [Operation::Write, Operation::Read, Operation::Trim, Operation::Flush];
/// The series whose times say how late answers went out; nothing is counted in it.
pub const LATENESS: &str = "answers late";

/// The clients' figures, and whether they are the drive's. Whatever was said of them before, the seconds say
/// it.
pub(super) fn conclude(served: &Served, recording: &Recording) -> (Option<Outcome>, Vec<Warning>) {
    let names = SERVED.map(|operation| series(CLIENTS, operation));
    let jobs = match busy(&names, recording) {
        Nanos::ZERO => Vec::new(),
        // Who reads after he has written has not read half as fast.
        all => {
            let own = |series: &str| busy(&[series.to_owned()], recording);
            vec![figures_over((all, &own), (CLIENTS, 0), recording, 0)]
        }
    };
    let late = recording.latencies(LATENESS, 0..u32::MAX);
    let mut own = LatencyHistogram::default();
    names.iter().for_each(|name| own.merge(&recording.latencies(name, 0..u32::MAX)));
    let is_known = late.count() > 0;
    let lateness = is_known.then(|| LatencyFigures::of(recording, LATENESS, 0..u32::MAX));
    let percentiles =
        |times: &LatencyHistogram| [50.0, 99.0].map(|p| -> Nanos { times.percentile(p) });
    let doubt = is_known.then(|| too_late(percentiles(&late), percentiles(&own))).flatten();
    let served = Some(Served { lateness, ..served.clone() });
    (
        Some(Outcome { jobs, served, imported_from: None }),
        doubt.map(Warning::Job).into_iter().collect(),
    )
}

/// How long the seconds are in which anything was asked for: when clients rest is their affair, and no speed of
/// the drive's.
fn busy(names: &[String], recording: &Recording) -> Nanos {
    let of_clients = |sample: &&Sample| names.contains(&sample.series) && sample.ios() > 0;
    let busy = recording.samples.iter().filter(of_clients);
    let spans: BTreeMap<u64, u64> = busy.map(|sample| (sample.start_ns, sample.span_ns)).collect();
    Nanos(spans.values().sum())
}
