//! The documents' tables: one list of figures that terminal and page are made from.

use writecliff_trace::{Description, Info, ServiceTime, Share, Sizes, Transfers};

use super::columns;
use crate::number;
use crate::section::{Column, Place, Row, Table};

const NOT_KNOWN: &str = "not known";

/// One figure: what it is called, what it means, and how to say it; `None` where there is nothing
/// to say. docs/methodology/ has the exact definitions.
struct Figure {
    name: &'static str,
    meaning: &'static str,
    value: fn(&Info) -> Option<String>,
}

/// All figures, in the documents' order.
const FIGURES: &[Figure] = &[
    Figure { name: "Reads", meaning: "operations", value: |i| count(i.reads.count) },
    Figure { name: "Writes", meaning: "operations", value: |i| count(i.writes.count) },
    Figure { name: "Trims", meaning: "operations", value: |i| some(i.trims, count) },
    Figure { name: "Flushes", meaning: "operations", value: |i| some(i.flushes, count) },
    Figure { name: "Data read", meaning: "decimal", value: |i| bytes(i.reads.bytes) },
    Figure { name: "Data written", meaning: "decimal", value: |i| bytes(i.writes.bytes) },
    Figure { name: "Data trimmed", meaning: "decimal", value: |i| some(i.trimmed_bytes, bytes) },
    Figure { name: "Mean read", meaning: "bytes over operations", value: |i| mean(&i.reads) },
    Figure { name: "Mean write", meaning: "bytes over operations", value: |i| mean(&i.writes) },
    Figure {
        name: "4 KiB: all / reads / writes",
        meaning: "exactly 4096 bytes: share of all, of reads, of writes",
        value: |i| size(i, |sizes| sizes.kb4),
    },
    Figure { name: "16 KiB", meaning: "exactly 16 KiB", value: |i| size(i, |sizes| sizes.kb16) },
    Figure { name: "32 KiB", meaning: "exactly 32 KiB", value: |i| size(i, |sizes| sizes.kb32) },
    Figure { name: "64 KiB", meaning: "exactly 64 KiB", value: |i| size(i, |sizes| sizes.kb64) },
    Figure { name: "128 KiB", meaning: "exactly 128 KiB", value: |i| size(i, |sizes| sizes.kb128) },
    Figure {
        name: "Other sizes",
        meaning: "any other size",
        value: |i| size(i, |sizes| sizes.rest),
    },
    Figure {
        name: "Sequential",
        meaning: "begin exactly where one of the last 32 runs of their kind ended",
        value: |i| shares(i, |transfers| transfers.sequential),
    },
    Figure {
        name: "Average queue depth",
        meaning: "in flight at the issue of each read and write, itself included",
        value: |i| known(i.queue_depths.as_ref().map(|depths| format!("{:.3}", depths.mean))),
    },
    Figure {
        name: "At queue depth 1",
        meaning: "reads and writes that found the drive idle",
        value: |i| i.queue_depths.as_ref().map(|depths| percent(depths.at_one.percent)),
    },
    Figure {
        name: "Highest queue depth",
        meaning: "the most in flight at any issue",
        value: |i| i.queue_depths.as_ref().and_then(|depths| count(depths.max.into())),
    },
    Figure {
        name: "Duration",
        meaning: "first issue to the last thing known",
        value: |i| Some(number::time_span(i.duration_ns)),
    },
    Figure {
        name: "Busy",
        meaning: "time with anything in flight, and its share of the duration",
        value: |i| known(busy(i, |busy| busy.all_ns)),
    },
    Figure {
        name: "Busy with reads",
        meaning: "time with a read in flight",
        value: |i| busy(i, |busy| busy.reads_ns),
    },
    Figure {
        name: "Busy with writes",
        meaning: "time with a write in flight",
        value: |i| busy(i, |busy| busy.writes_ns),
    },
    Figure {
        name: "Mean service time",
        meaning: "issue to completion: of all, of reads, of writes",
        value: |i| known(service(i, |time| time.mean_ns as u64)),
    },
    Figure {
        name: "Service time p50",
        meaning: "half of them took at most this",
        value: |i| service(i, |time| time.p50_ns),
    },
    Figure {
        name: "Service time p99",
        meaning: "99 of 100 took at most this",
        value: |i| service(i, |time| time.p99_ns),
    },
    Figure {
        name: "Longest service time",
        meaning: "the longest of all, of reads, of writes",
        value: |i| service(i, |time| time.max_ns),
    },
    Figure {
        name: "Footprint",
        meaning: "4 KiB blocks touched, each once: by any, by reads, by writes",
        value: |i| known(footprint(i)),
    },
    Figure {
        name: "Rewritten",
        meaning: "share of the data written in blocks that the trace had written before",
        value: |i| known(i.rewritten.map(|rewritten| percent(rewritten.percent))),
    },
    Figure {
        name: "Compressible",
        meaning: "what a compressor can remove of the written data",
        value: |i| known(i.content.map(|content| percent(content.compressible_percent))),
    },
];

/// A row for each figure that any of the traces has something for.
pub(super) fn table(traces: &[Description]) -> Table {
    let row = |figure: &Figure| {
        let values: Vec<_> = traces.iter().map(|trace| (figure.value)(&trace.info)).collect();
        if values.iter().all(Option::is_none) {
            return None;
        }
        let values = values.into_iter().map(|value| value.unwrap_or_else(none));
        Some(Row::new(figure.name, values.collect(), figure.meaning))
    };
    let rows = FIGURES.iter().filter_map(row).collect();
    Table::new("Figures", "", columns(traces), rows)
}

/// The largest streams of a trace that has any by name.
pub(super) fn streams(index: usize, trace: &Description) -> Option<Table> {
    let (info, names) = (&trace.info, &trace.header.streams);
    if names.is_empty() && info.streams < 2 {
        return None;
    }
    let row = |stream: &writecliff_trace::StreamShare| {
        let name = names.get(usize::from(stream.stream)).filter(|name| !name.is_empty());
        let name = name.cloned().unwrap_or_else(|| format!("stream {}", stream.stream));
        let values = vec![percent(stream.operations.percent), percent(stream.bytes.percent)];
        Row::new(&name, values, "")
    };
    let column = |name: &str| Column { of: Place::default(), name: name.to_owned() };
    let columns = vec![column("of ops"), column("of data")];
    let (listed, all) = (info.largest_streams.len(), info.streams);
    let title = match listed as u64 == all {
        true => format!("Streams: {}", trace.name),
        false => format!("The {listed} largest of {all} streams: {}", trace.name),
    };
    let rows = info.largest_streams.iter().map(row).collect();
    Some(Table { of: Place::of(index), ..Table::new(&title, "", columns, rows) })
}

fn count(count: u64) -> Option<String> {
    Some(number::thousands(count as f64))
}

fn bytes(bytes: u64) -> Option<String> {
    Some(number::gigabytes(bytes))
}

/// Nothing of nothing.
fn some(value: u64, say: fn(u64) -> Option<String>) -> Option<String> {
    if value == 0 { None } else { say(value) }
}

fn known(value: Option<String>) -> Option<String> {
    Some(value.unwrap_or_else(|| NOT_KNOWN.to_owned()))
}

/// `28.0 %`.
fn percent(percent: f64) -> String {
    format!("{percent:.1} %")
}

fn mean(transfers: &Transfers) -> Option<String> {
    Some(transfers.mean_bytes.map_or_else(none, number::bytes))
}

fn none() -> String {
    crate::number::NONE.to_owned()
}

/// Of all, of reads, of writes.
fn three(info: &Info, say: impl Fn(&Transfers) -> Option<String>) -> Option<String> {
    let of = |transfers| say(transfers).unwrap_or_else(none);
    Some([&info.transfers, &info.reads, &info.writes].map(of).join(" / "))
}

/// `28.0 / 20.1 / 37.6 %`.
fn shares(info: &Info, share: impl Fn(&Transfers) -> Share) -> Option<String> {
    let of = |transfers: &Transfers| {
        (transfers.count > 0).then(|| format!("{:.1}", share(transfers).percent))
    };
    three(info, of).map(|text| text + " %")
}

fn size(info: &Info, share: fn(&Sizes) -> Share) -> Option<String> {
    shares(info, |transfers| share(&transfers.sizes))
}

fn footprint(info: &Info) -> Option<String> {
    info.transfers.footprint_bytes?;
    three(info, |transfers| transfers.footprint_bytes.map(number::gigabytes))
}

fn busy(info: &Info, time: fn(&writecliff_trace::Busy) -> u64) -> Option<String> {
    info.busy.as_ref().map(time).map(|time| {
        let share = time as f64 * 100.0 / info.duration_ns.max(1) as f64;
        format!("{} ({})", number::time_span(time), percent(share))
    })
}

fn service(info: &Info, value: fn(&ServiceTime) -> u64) -> Option<String> {
    info.service_times.map(|times| {
        let of =
            |time: Option<ServiceTime>| time.as_ref().map(value).map_or_else(none, number::latency);
        [times.transfers, times.reads, times.writes].map(of).join(" / ")
    })
}
