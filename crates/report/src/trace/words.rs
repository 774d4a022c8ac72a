//! What is said of a trace.

use writecliff_trace::{Description, Info};

use crate::number;
use crate::section::Sentence;

/// Where it comes from, in a line.
pub(super) fn origin(trace: &Description) -> String {
    let header = &trace.header;
    match (header.source.as_str(), header.recorded_by.as_str()) {
        ("", "") => "of unknown origin".to_owned(),
        (source, "") => source.to_owned(),
        ("", tool) => tool.to_owned(),
        (source, tool) if header.synthetic => format!("made by {tool} from {source}"),
        (source, tool) => format!("{source}, {tool}"),
    }
}

/// What speaks against taking the figures as they are.
pub(super) fn doubts(trace: &Description) -> Vec<String> {
    let Description { header, info, .. } = trace;
    let mut doubts = Vec::new();
    if header.synthetic {
        doubts.push("Synthetic: made by a generator, not recorded from an application.".to_owned());
    }
    if header.lost > 0 {
        let lost = number::thousands(header.lost as f64);
        doubts.push(format!("Known to be missing: {lost} operations or lines of the source."));
    }
    if info.out_of_order > 0 {
        let count = number::thousands(info.out_of_order as f64);
        doubts.push(format!(
            "Out of order: {count} operations; they count as issued with the one before."
        ));
    }
    if let Some(busy) = info.busy
        && busy.known < info.operations()
    {
        let unknown = of(info.operations() - busy.known, info.operations());
        doubts.push(format!("Completions are not known of {unknown} operations."));
    }
    if let Some(depths) = &info.queue_depths
        && depths.known < info.transfers.count
    {
        let unknown = of(info.transfers.count - depths.known, info.transfers.count);
        doubts.push(format!("Queue depths are not known of {unknown} reads and writes."));
    }
    if info.transfers.footprint_bytes.is_none() {
        doubts.push(
            "Footprint, working set and the share rewritten are not known: the trace touches more \
             places than 1 GiB of memory can note."
                .to_owned(),
        );
    }
    doubts
}

/// `4 of 4,020`: a share would be rounded to all or nothing.
fn of(part: u64, whole: u64) -> String {
    format!("{} of {}", number::thousands(part as f64), number::thousands(whole as f64))
}

/// The trace in a few sentences.
pub(super) fn findings(info: &Info) -> Vec<Sentence> {
    let count = |count: u64| number::thousands(count as f64);
    let mut texts = vec![(
        format!(
            "{} reads of {} and {} writes of {} in {}.",
            count(info.reads.count),
            number::gigabytes(info.reads.bytes),
            count(info.writes.count),
            number::gigabytes(info.writes.bytes),
            number::time_span(info.duration_ns),
        ),
        ("trace-rates", "Over time"),
    )];
    if info.transfers.count > 0 {
        texts.push((
            format!(
                "{} are exactly 4 KiB; {} are sequential.",
                number::percent(info.transfers.sizes.kb4.percent / 100.0),
                number::percent(info.transfers.sequential.percent / 100.0),
            ),
            ("trace-sizes", "Sizes"),
        ));
    }
    if let (Some(both), Some(reads), Some(writes), Some(rewritten)) = (
        info.transfers.footprint_bytes.filter(|bytes| *bytes > 0),
        info.reads.footprint_bytes,
        info.writes.footprint_bytes,
        info.rewritten,
    ) {
        texts.push((
            format!(
                "They touch {} of the device, reads {} and writes {}; {} of what is written \
                 overwrites what the trace wrote before.",
                number::gigabytes(both),
                number::gigabytes(reads),
                number::gigabytes(writes),
                number::percent(rewritten.percent / 100.0),
            ),
            ("trace-working-set", "Working set"),
        ));
    }
    if let Some(depths) = &info.queue_depths {
        texts.push((
            format!(
                "{:.2} in flight on average, {} at most; {} find the drive idle.",
                depths.mean,
                count(depths.max.into()),
                number::percent(depths.at_one.percent / 100.0),
            ),
            ("trace-depths", "Queue depth"),
        ));
    }
    texts.into_iter().map(|(text, see)| Sentence { text, see: vec![see] }).collect()
}

/// All that its header says.
pub(super) fn details(trace: &Description) -> Vec<(String, String)> {
    let header = &trace.header;
    let told = |text: &str| if text.is_empty() { "not told".to_owned() } else { text.to_owned() };
    let or_not_told = |value: Option<String>| value.unwrap_or_else(|| told(""));
    [
        ("Source", told(&header.source)),
        (if header.synthetic { "Made by" } else { "Recorded by" }, told(&header.recorded_by)),
        ("Kind", if header.synthetic { "synthetic" } else { "recorded" }.to_owned()),
        ("Clock", or_not_told(header.clock.clone())),
        ("Device size", or_not_told(header.device_size.map(|size| size.to_string()))),
        ("Missing", number::thousands(header.lost as f64)),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}
