//! Tiny traces whose figures were computed by hand.

use writecliff_device::Operation::{Flush, Read, Trim, Write};
use writecliff_device::{Bytes, Content, Operation};

use super::*;

const KIB: u64 = 1024;

fn io(issued: u64, operation: Operation, offset: u64, length: u64) -> TraceIo {
    TraceIo::new(Nanos(issued), operation, Bytes(offset), Bytes(length))
}

fn timed(issued: u64, completed: u64, operation: Operation) -> TraceIo {
    let offset = issued * 4096;
    TraceIo { completed: Some(Nanos(completed)), ..io(issued, operation, offset, 4096) }
}

fn info(ios: &[TraceIo]) -> Info {
    let end = |io: &TraceIo| io.issued.max(io.completed.unwrap_or_default());
    let duration = ios.iter().map(end).max().unwrap_or_default();
    describe(ios.iter().copied().map(Ok), duration).unwrap()
}

fn empty_window() -> Window {
    Window { touched_bytes: Some(0), ..Window::default() }
}

fn counts(classes: &[Class]) -> Vec<(u64, u64)> {
    classes.iter().map(|class| (class.to, class.count)).collect()
}

#[test]
fn a_trace_of_nothing_has_no_figures() {
    let info = info(&[]);
    assert_eq!((info.operations(), info.duration_ns, info.streams), (0, 0, 0));
    let nothing = Transfers { footprint_bytes: Some(0), ..Transfers::default() };
    assert_eq!(info.transfers, nothing);
    assert_eq!((info.queue_depths, info.busy, info.service_times), (None, None, None));
    assert_eq!((info.content, info.rewritten), (None, Some(Share::default())));
    assert_eq!((info.inter_arrival_ns, info.largest_streams), (vec![], vec![]));
    assert_eq!(info.windows, [empty_window()]);
    assert_eq!((info.read_offsets.cells, info.write_offsets.cells), (vec![], vec![]));
}

#[test]
fn one_operation_is_all_of_them() {
    let info = info(&[TraceIo { stream: 3, ..timed(0, 500, Read) }]);
    assert_eq!((info.reads.count, info.writes.count, info.operations()), (1, 0, 1));
    assert_eq!(info.reads, info.transfers);
    assert_eq!((info.reads.bytes, info.reads.mean_bytes), (4096, Some(4096.0)));
    assert_eq!(info.reads.sizes.kb4, Share { count: 1, percent: 100.0 });
    assert_eq!(info.writes.mean_bytes, None);
    let depths = info.queue_depths.unwrap();
    assert_eq!((depths.known, depths.computed, depths.mean, depths.max), (1, 1, 1.0, 1));
    assert_eq!(info.busy, Some(Busy { known: 1, all_ns: 500, reads_ns: 500, writes_ns: 0 }));
    let times = info.service_times.unwrap();
    let read = times.reads.unwrap();
    assert_eq!((read.mean_ns, read.p50_ns, read.p99_ns, read.max_ns), (500.0, 500, 500, 500));
    assert_eq!((times.transfers, times.writes), (times.reads, None));
    assert_eq!(info.largest_streams[0].stream, 3);
    assert_eq!(info.inter_arrival_ns, [], "nothing came after it");
}

#[test]
fn flushes_and_trims_are_counted_and_touch_nothing() {
    let flushes = info(&[io(0, Flush, 0, 0), io(10, Flush, 0, 0)]);
    assert_eq!((flushes.flushes, flushes.operations(), flushes.transfers.count), (2, 2, 0));
    assert_eq!((flushes.transfers.footprint_bytes, flushes.queue_depths), (Some(0), None));
    assert_eq!(counts(&flushes.inter_arrival_ns), [(16, 1)]);

    let trimmed = info(&[io(0, Trim, 0, 1 << 40), io(0, Trim, 0, 5), io(0, Write, 0, 8)]);
    assert_eq!((trimmed.trims, trimmed.trimmed_bytes), (2, (1 << 40) + 5));
    assert_eq!((trimmed.transfers.count, trimmed.transfers.footprint_bytes), (1, Some(4096)));
    assert_eq!(trimmed.largest_streams[0].operations.count, 3, "they are operations");
    assert_eq!(trimmed.largest_streams[0].bytes.count, 8, "but move no data");
}

#[test]
fn sizes_count_where_they_are_exact() {
    let lengths = [4, 4, 16, 32, 64, 128, 8, 512].map(|kib| kib * KIB);
    let mut ios: Vec<_> = lengths.iter().map(|length| io(0, Read, 0, *length)).collect();
    ios.extend([io(0, Write, 0, 4 * KIB), io(0, Write, 0, 4 * KIB + 1)]);
    let info = info(&ios);
    let listed = |sizes: Sizes| {
        let Sizes { kb4, kb16, kb32, kb64, kb128, rest } = sizes;
        [kb4, kb16, kb32, kb64, kb128, rest].map(|share| share.count)
    };
    assert_eq!(listed(info.reads.sizes), [2, 1, 1, 1, 1, 2]);
    assert_eq!(listed(info.writes.sizes), [1, 0, 0, 0, 0, 1]);
    assert_eq!(listed(info.transfers.sizes), [3, 1, 1, 1, 1, 3]);
    assert_eq!(info.transfers.sizes.kb4.percent, 30.0);
    assert_eq!(info.reads.sizes.rest.percent, 25.0);
    assert_eq!(counts(&info.writes.size_classes), [(4096, 1), (8192, 1)]);
    assert_eq!(info.transfers.size_classes[0].count, 3);
    assert_eq!(info.transfers.mean_bytes, Some(info.transfers.bytes as f64 / 10.0));
}

#[test]
fn interleaved_streams_are_sequential_each() {
    // Two readers and a writer in turn: all but the first of each go on where one ended.
    let mut ios = Vec::new();
    for round in 0..4 {
        ios.push(io(round, Read, round * 4096, 4096));
        ios.push(io(round, Read, (1 << 30) + round * 8192, 8192));
        ios.push(io(round, Write, round * 4096, 4096));
    }
    let info = info(&ios);
    assert_eq!(info.reads.sequential, Share { count: 6, percent: 75.0 });
    assert_eq!(info.writes.sequential, Share { count: 3, percent: 75.0 });
    assert_eq!(info.transfers.sequential, Share { count: 9, percent: 75.0 });
}

#[test]
fn queue_depths_are_told_or_computed_or_not_known() {
    let told = |depth, issued| TraceIo { queue_depth: Some(depth), ..io(issued, Read, 0, 512) };
    let depths = info(&[told(1, 0), told(5, 1), told(32, 2), told(2, 3)]).queue_depths.unwrap();
    assert_eq!((depths.known, depths.computed, depths.mean, depths.max), (4, 0, 10.0, 32));
    assert_eq!(depths.at_one, Share { count: 1, percent: 25.0 });
    assert_eq!(counts(&depths.classes), [(1, 1), (2, 1), (4, 0), (8, 1), (16, 0), (32, 1)]);

    // In flight at issue: 1, 2, 3 with the flush, which has no queue depth of its own, then 1.
    let ios = [
        timed(0, 100, Read),
        timed(10, 100, Flush),
        timed(20, 100, Write),
        timed(50, 60, Read),
        timed(100, 200, Read),
    ];
    let depths = info(&ios).queue_depths.unwrap();
    assert_eq!((depths.known, depths.computed, depths.max), (4, 4, 4));
    assert_eq!((depths.mean, depths.at_one.percent), (9.0 / 4.0, 50.0));

    // What is told counts before what could be computed.
    let mut ios = ios;
    (ios[0].queue_depth, ios[4].completed) = (Some(9), None);
    let depths = info(&ios).queue_depths.unwrap();
    assert_eq!((depths.known, depths.computed, depths.max, depths.mean), (3, 2, 9, 16.0 / 3.0));
    assert_eq!(info(&[io(0, Read, 0, 1)]).queue_depths, None);
}

#[test]
fn busy_time_counts_overlapping_operations_once() {
    let ios = [
        timed(0, 100, Read),
        timed(50, 150, Write),
        timed(60, 70, Read),
        timed(150, 160, Flush),
        timed(200, 220, Trim),
        timed(300, 400, Write),
        timed(390, 450, Read),
    ];
    let info = info(&ios);
    let busy = Busy { known: 7, all_ns: 160 + 20 + 150, reads_ns: 100 + 60, writes_ns: 200 };
    assert_eq!((info.busy, info.duration_ns), (Some(busy), 450));
    let times = info.service_times.unwrap();
    assert_eq!(times.transfers.unwrap().mean_ns, f64::from(100 + 100 + 10 + 100 + 60) / 5.0);
    assert_eq!(times.reads.unwrap().p50_ns, 60);
    assert_eq!(times.writes.unwrap().max_ns, 100);
    assert_eq!(times.transfers.unwrap().known, 5);
}

#[test]
fn bytes_are_rewritten_where_the_trace_wrote_before() {
    let ios = [
        io(0, Read, 0, 8192),
        io(1, Write, 0, 8192),
        io(2, Write, 4096, 8192),
        io(3, Write, 1 << 40, 4096),
        io(4, Write, 512, 1024),
    ];
    let info = info(&ios);
    // 4096 of the second write, and the whole last one.
    let written = 8192 + 8192 + 4096 + 1024;
    let percent = 5120.0 * 100.0 / f64::from(written);
    assert_eq!(info.rewritten, Some(Share { count: 5120, percent }));
    assert_eq!(info.reads.footprint_bytes, Some(8192));
    assert_eq!(info.writes.footprint_bytes, Some(4 * 4096));
    let both = info.transfers.footprint_bytes;
    assert_eq!(both, Some(4 * 4096), "what is read and written counts once");
}

#[test]
fn windows_have_their_own_working_sets() {
    // A duration of 1999 ns makes 200 windows of 10 ns.
    let depth = |depth, io| TraceIo { queue_depth: Some(depth), ..io };
    let ios = [
        depth(1, io(0, Write, 0, 4096)),
        depth(4, io(9, Read, 0, 8192)),
        io(10, Read, 0, 4096),
        io(1999, Write, 1 << 20, 512),
    ];
    let info = info(&ios);
    assert_eq!((info.window_ns, info.windows.len()), (10, 200));
    let first = Window {
        reads: 1,
        writes: 1,
        read_bytes: 8192,
        written_bytes: 4096,
        touched_bytes: Some(8192),
        queue_depth_mean: Some(2.5),
        queue_depth_max: Some(4),
    };
    assert_eq!(info.windows[0], first);
    assert_eq!((info.windows[1].reads, info.windows[1].touched_bytes), (1, Some(4096)));
    assert_eq!(info.windows[1].queue_depth_mean, None);
    assert_eq!(info.windows[2..199], vec![empty_window(); 197]);
    assert_eq!((info.windows[199].writes, info.windows[199].touched_bytes), (1, Some(4096)));
    assert_eq!(info.read_offsets.cells, [OffsetCell(0, 0, 1), OffsetCell(1, 0, 1)]);
    assert_eq!(info.write_offsets.row_bytes, 16384);
    assert_eq!(info.write_offsets.cells, [OffsetCell(0, 0, 1), OffsetCell(199, 64, 1)]);
}

#[test]
fn spans_between_issues_are_counted_by_power_of_two() {
    let ios = [0, 0, 1, 5, 1005, 2029].map(|issued| io(issued, Read, 0, 1));
    let expected = [(0, 1), (1, 1), (2, 0), (4, 1), (1024, 2)];
    let mut found = counts(&info(&ios).inter_arrival_ns);
    found.retain(|(to, count)| *to <= 4 || *count > 0);
    assert_eq!(found, expected);
}

#[test]
fn streams_and_data_have_their_shares() {
    let of = |stream, io| TraceIo { stream, ..io };
    let content = |compressible_percent, io| {
        let content = Content { compressible_percent, duplicate_percent: 20 };
        TraceIo { content: Some(content), ..io }
    };
    let mut ios = vec![
        content(100, of(0, io(0, Write, 0, 3000))),
        content(0, of(2, io(0, Write, 0, 9000))),
        of(2, io(0, Write, 0, 4000)),
        of(65535, io(0, Read, 0, 4000)),
    ];
    let found = info(&ios);
    assert_eq!(found.streams, 3);
    let order: Vec<u16> = found.largest_streams.iter().map(|stream| stream.stream).collect();
    assert_eq!(order, [2, 65535, 0]);
    let largest = &found.largest_streams[0];
    assert_eq!(largest.operations, Share { count: 2, percent: 50.0 });
    assert_eq!(largest.bytes, Share { count: 13_000, percent: 65.0 });
    let expected =
        WrittenContent { known_bytes: 12_000, compressible_percent: 25.0, duplicate_percent: 20.0 };
    assert_eq!(found.content, Some(expected));

    ios.extend((10..30).map(|stream| of(stream, io(0, Read, 0, 1))));
    let found = info(&ios);
    assert_eq!((found.streams, found.largest_streams.len()), (23, 10));
    assert_eq!(found.largest_streams[3].stream, 10, "equals in their order");
}

#[test]
fn what_is_out_of_order_counts_as_issued_with_the_one_before() {
    let info = info(&[timed(100, 110, Read), timed(50, 105, Read), timed(120, 130, Read)]);
    assert_eq!(info.out_of_order, 1);
    assert_eq!(info.busy.unwrap().all_ns, 20);
    assert_eq!(counts(&info.inter_arrival_ns)[0], (0, 1));
}

#[test]
fn a_footprint_too_wide_to_be_noted_is_not_known() {
    let scattered: Vec<TraceIo> = (0..3).map(|i| io(i, Write, i << 27, 4096)).collect();
    let of_pages = |pages| {
        let mut describer = Describer::new(Windows::of(2));
        describer.footprint = footprint::Footprint::of_pages(pages);
        describer.add(&scattered).unwrap();
        describer.finish()
    };
    let (known, given_up) = (of_pages(3), of_pages(2));
    assert_eq!(known.writes.footprint_bytes, Some(3 * 4096));
    for transfers in [&given_up.transfers, &given_up.reads, &given_up.writes] {
        assert_eq!(transfers.footprint_bytes, None);
    }
    assert_eq!((given_up.rewritten, given_up.windows[0].touched_bytes), (None, None));
    assert_eq!(given_up.writes.sequential, known.writes.sequential, "all else is as it was");
}

#[test]
fn operations_longer_than_any_are_refused() {
    let ios = [io(0, Read, 0, 1 << 32), io(0, Write, 4096, (1 << 32) + 1)];
    let error = describe(ios.into_iter().map(Ok), Nanos(0)).unwrap_err();
    assert!(matches!(error, ReadError::Oversized { index: 1, offset: 4096, .. }), "{error}");
    let broken = || ReadError::Format { path: "a.trace".into(), reason: "damaged".into() };
    let error = describe([Err(broken())].into_iter(), Nanos(0)).unwrap_err();
    assert!(error.to_string().contains("damaged"), "{error}");
}

/// Scripts depend on these names.
#[test]
fn json_has_the_same_names_from_version_to_version() {
    let mut ios = [timed(0, 100, Read), timed(10, 30, Write)];
    ios[1].content = Some(Content { compressible_percent: 50, duplicate_percent: 0 });
    let described = Description {
        name: "a.trace".to_owned(),
        header: crate::Header::default(),
        info: info(&ios),
    };
    let json = serde_json::to_value(&described).unwrap();
    let share = |count: u64, percent: f64| serde_json::json!({"count": count, "percent": percent});
    let sizes = serde_json::json!({
        "4KB": share(1, 100.0), "16KB": share(0, 0.0), "32KB": share(0, 0.0),
        "64KB": share(0, 0.0), "128KB": share(0, 0.0), "rest": share(0, 0.0),
    });
    let class = |from, to, count| serde_json::json!({"from": from, "to": to, "count": count});
    let one = serde_json::json!({
        "count": 1, "bytes": 4096, "mean_bytes": 4096.0, "sequential": share(0, 0.0),
        "sizes": sizes, "size_classes": [class(2049, 4096, 1)], "footprint_bytes": 4096,
    });
    let time = |ns: u64| serde_json::json!({"known": 1, "mean_ns": ns as f64, "p50_ns": ns, "p99_ns": ns, "max_ns": ns});
    let info = &json["info"];
    assert_eq!((&info["reads"], &info["writes"]), (&one, &one));
    assert_eq!(
        (&info["service_times"]["reads"], &info["service_times"]["writes"]),
        (&time(100), &time(20))
    );
    assert_eq!(
        info["busy"],
        serde_json::json!({"known": 2, "all_ns": 100, "reads_ns": 100, "writes_ns": 20})
    );
    let depths = serde_json::json!({
        "known": 2, "computed": 2, "mean": 1.5, "at_one": share(1, 50.0), "max": 2,
        "classes": [class(1, 1, 1), class(2, 2, 1)],
    });
    assert_eq!(info["queue_depths"], depths);
    let content = serde_json::json!({
        "known_bytes": 4096, "compressible_percent": 50.0, "duplicate_percent": 0.0,
    });
    assert_eq!(info["content"], content);
    assert_eq!(info["inter_arrival_ns"], serde_json::json!([class(9, 16, 1)]));
    let stream = serde_json::json!({"stream": 0, "operations": share(2, 100.0), "bytes": share(8192, 100.0)});
    assert_eq!(info["largest_streams"], serde_json::json!([stream]));
    let offsets = serde_json::json!({"row_bytes": 4096, "cells": [[0, 0, 1]]});
    assert_eq!(info["read_offsets"], offsets);
    let window = serde_json::json!({
        "reads": 1, "writes": 0, "read_bytes": 4096, "written_bytes": 0, "touched_bytes": 4096,
        "queue_depth_mean": 1.0, "queue_depth_max": 1,
    });
    assert_eq!(info["windows"][0], window);
    let names: Vec<&str> = info.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = [
        "busy",
        "content",
        "duration_ns",
        "flushes",
        "inter_arrival_ns",
        "largest_streams",
        "out_of_order",
        "queue_depths",
        "read_offsets",
        "reads",
        "rewritten",
        "service_times",
        "streams",
        "transfers",
        "trimmed_bytes",
        "trims",
        "window_ns",
        "windows",
        "write_offsets",
        "writes",
    ];
    let mut sorted = names;
    sorted.sort_unstable();
    assert_eq!(sorted, expected);
}
