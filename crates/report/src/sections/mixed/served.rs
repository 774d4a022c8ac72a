//! What programs did to a drive that was exported to them, second by second beside their rates, and how the
//! drive was served.

use writecliff_measure::Sample;
use writecliff_suite::mixed::{CLIENTS, Outcome};
use writecliff_suite::{LatencyFigures, Served};

use super::{OverTime, Stream, times};
use crate::number;
use crate::picture::Axis;
use crate::section::{Row, Table};
use crate::sections::{Answer, table_of};
use crate::subjects::Subjects;

/// What is shown of exports alone, and of which streams.
pub(super) fn over_time() -> [(OverTime, Vec<Stream>); 3] {
    let of_clients = |operation| (CLIENTS.to_owned(), operation);
    let moved = OverTime {
        id: "served-data",
        title: "Data in each second",
        text: "Millions of bytes that were written and read.",
        value: |sample| Some(sample.megabytes_per_second()),
        axis: |_, highest| Axis::linear("MB", highest),
    };
    let amplification = OverTime {
        id: "served-amplification",
        title: "Write amplification",
        text: "NAND writes per write of the clients, as the drive itself counts them; what it does for itself \
               in a second without writes is in none.",
        value: Sample::write_amplification,
        axis: |_, highest| Axis::ratio("NAND writes per write", highest.max(8.0)),
    };
    let late = OverTime {
        id: "served-late",
        title: "How late answers went out",
        text: "The 99th percentile of each second, beyond what the drive takes and by its own clock: what \
               this machine adds to what a client sees, besides the way to it. Logarithmic.",
        value: |sample| (sample.latency_p99_ns > 0).then_some(sample.latency_p99_ns as f64),
        axis: |lowest, highest| times("lateness", lowest, highest),
    };
    [
        (moved, vec![of_clients("writes"), of_clients("reads")]),
        (amplification, vec![of_clients("writes")]),
        // The series `mixed::LATENESS`.
        (late, vec![("answers".to_owned(), "late")]),
    ]
}

/// How the drives were served.
pub(super) fn table(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Option<Table> {
    answers.iter().find_map(|answer| answer.outcome.served.as_ref())?;
    type Fact = (&'static str, fn(&Answer<'_, Outcome>, &Served) -> String, &'static str);
    const FACTS: [Fact; 10] = [
        ("load", |_, served| served.load.clone().unwrap_or_else(|| "not told".to_owned()), ""),
        ("before it", |_, served| served.state.clone(), ""),
        ("served", |_, served| speed(served), ""),
        ("flushes", |_, served| flushes(served), ""),
        ("power cuts", |_, served| served.power_cuts.to_string(), ""),
        ("units lost", |answer, _| lost(answer), "of its map, in power cuts and with dies"),
        (
            "with I/O",
            |answer, _| with_io(answer),
            "of the time that it was served; the rates of reads, writes, trims and flushes are over the seconds in which there were any, which count whole",
        ),
        ("write amplification", |answer, _| amplification(answer), "while it was served"),
        (
            "the way",
            |_, served| way(served),
            "to a drive that takes no time, and back: clients see more",
        ),
        ("answers late by", |_, served| lateness(served.lateness.as_ref()), "by the drive's clock"),
    ];
    let row = |(name, words, meaning): &Fact| {
        let words = |answer: &Answer<'_, Outcome>| match &answer.outcome.served {
            Some(served) => words(answer, served),
            None => number::NONE.to_owned(),
        };
        Row::new(name, answers.iter().map(words).collect(), meaning)
    };
    let text = "What programs did to the simulated drive as a network block device.";
    let mut table = table_of(subjects, answers, ("Served", text), FACTS.iter().map(row).collect());
    table.first = true;
    Some(table)
}

/// `in real time`, `at 10 times real time`.
pub(super) fn speed(served: &Served) -> String {
    match served.speed {
        Some(1.0) => "in real time".to_owned(),
        Some(times) => format!("at {times} times real time"),
        None => "in time that stands still while nothing is asked for".to_owned(),
    }
}

fn way(served: &Served) -> String {
    let Some(floor) = served.floor else { return number::NONE.to_owned() };
    let [p50, p99] = [floor.p50_ns, floor.p99_ns].map(number::latency);
    format!("{p50} (median), {p99} (p99)")
}

fn with_io(answer: &Answer<'_, Outcome>) -> String {
    let busy = answer.outcome.jobs.iter().map(|job| job.seconds).fold(0.0, f64::max);
    let all = answer.run.record.phases.first().map_or(0.0, |phase| phase.length.as_secs_f64());
    format!("{} of {}", number::seconds(busy), number::seconds(all))
}

fn flushes(served: &Served) -> String {
    let words = if served.lying_flush { "answered without being done" } else { "done" };
    words.to_owned()
}

fn lost(answer: &Answer<'_, Outcome>) -> String {
    let phases = &answer.run.record.phases;
    let lost = phases
        .first()
        .and_then(|phase| phase.after.lost_pages?.checked_sub(phase.before.lost_pages?));
    lost.map_or_else(|| number::NONE.to_owned(), |units| number::thousands(units as f64))
}

fn amplification(answer: &Answer<'_, Outcome>) -> String {
    let phases = &answer.run.record.phases;
    let times =
        phases.first().and_then(|phase| phase.after.write_amplification_since(&phase.before));
    times.map_or_else(|| number::NONE.to_owned(), |times| format!("{times:.2}"))
}

fn lateness(late: Option<&LatencyFigures>) -> String {
    let Some(late) = late else { return number::NONE.to_owned() };
    let known = [
        (Some(late.p50_ns), "median"),
        (late.p99_ns, "p99"),
        (late.p999_ns, "p99.9"),
        (Some(late.max_ns), "at most"),
    ];
    let told = known
        .into_iter()
        .filter_map(|(nanos, which)| Some(format!("{} ({which})", number::latency(nanos?))));
    told.collect::<Vec<_>>().join(", ")
}
