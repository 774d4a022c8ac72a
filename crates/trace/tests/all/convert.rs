//! Traces through other formats and back.
use crate::outcome;

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;

use outcome::{Outcome, formats, read};
use writecliff_device::{Bytes, Content, Nanos, Operation};
use writecliff_trace::{
    Conversion, ConvertError, Existing, Header, OutputFormat, ReadError, Source, SourceOptions,
    TraceIo, TraceWriter, convert,
};

const OPERATIONS: [Operation; 4] =
    [Operation::Read, Operation::Write, Operation::Trim, Operation::Flush];

/// Everything that the own format can carry, with and without a value.
fn sample(index: u64) -> TraceIo {
    let operation = OPERATIONS[index as usize % 4];
    let (offset, length) = match operation {
        Operation::Flush => (Bytes::ZERO, Bytes::ZERO),
        _ => (Bytes(index * 512), Bytes(512 << (index % 9))),
    };
    let content = Content { compressible_percent: (index % 101) as u8, duplicate_percent: 7 };
    let has_content = operation == Operation::Write && !index.is_multiple_of(7);
    TraceIo {
        completed: (!index.is_multiple_of(5)).then(|| Nanos(index * 1001 + 40_000)),
        queue_depth: Some(index as u32 % 50 + 1),
        content: has_content.then_some(content),
        stream: (index % 3) as u16,
        ..TraceIo::new(Nanos(index * 1001), operation, offset, length)
    }
}

fn write_sample(path: &Path, count: u64) -> Outcome {
    let mut writer = TraceWriter::create(path, Existing::Replaced).unwrap();
    (0..count).for_each(|index| writer.write(&sample(index)).unwrap());
    let streams = ["a", "b, \"c\"", "d"].map(str::to_owned).to_vec();
    writer.finish(&Header { streams, ..Header::default() }).unwrap();
    read(path, &SourceOptions::default()).unwrap()
}

fn converted(from: &Path, to: &Path) -> Conversion {
    let mut source = Source::open(from, &SourceOptions::default()).unwrap();
    let format = OutputFormat::of_path(to).unwrap();
    convert(&mut source, to, format, Existing::Replaced, &mut |_, _| ControlFlow::Continue(()))
        .unwrap()
        .unwrap()
}

#[test]
fn csv_carries_everything_but_the_header() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let before = write_sample(&at("a.trace"), 70_000);
    let done = converted(&at("a.trace"), &at("b.csv"));
    assert_eq!((done.summary.ios(), &done.left_out[..]), (70_000, &[][..]));
    let done = converted(&at("b.csv"), &at("c.trace"));
    assert_eq!((done.summary.ios(), &done.left_out[..]), (70_000, &[][..]));
    let after = read(&at("c.trace"), &SourceOptions::default()).unwrap();
    assert_eq!((after.ios, &after.header.streams), (before.ios, &before.header.streams));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 3, "nothing else is left");
}

#[test]
fn iolog_carries_what_is_issued_when() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let before = write_sample(&at("a.trace"), 1000);
    let done = converted(&at("a.trace"), &at("b.iolog"));
    let expected = [
        "completions",
        "queue depths",
        "content classes of writes",
        "streams",
        "parts of microseconds",
    ];
    assert_eq!(done.left_out, expected);
    converted(&at("b.iolog"), &at("c.trace"));
    let after = read(&at("c.trace"), &SourceOptions::default()).unwrap();
    assert_eq!((after.ios.len(), &after.header.streams[..]), (1000, &["trace".to_owned()][..]));
    for (before, after) in before.ios.iter().zip(&after.ios) {
        let micros = Nanos(before.issued.0 / 1000 * 1000);
        let expected = TraceIo::new(micros, before.operation, before.offset, before.length);
        assert_eq!(*after, expected);
    }
}

#[test]
fn every_format_becomes_ours() {
    let directory = tempfile::tempdir().unwrap();
    for (name, _) in outcome::FILES {
        let before = read(&formats().join(name), &SourceOptions::default()).unwrap();
        let own = directory.path().join("own.trace");
        converted(&formats().join(name), &own);
        let after = read(&own, &SourceOptions::default()).unwrap();
        assert_eq!((after.ios, after.header), (before.ios, before.header), "{name}");
    }
}

#[test]
fn a_stream_of_our_own() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.trace");
    let all = write_sample(&path, 100);
    let one =
        |name: &str| SourceOptions { stream: Some(name.to_owned()), ..SourceOptions::default() };
    let got = read(&path, &one("d")).unwrap();
    let expected: Vec<TraceIo> = all.ios.into_iter().filter(|io| io.stream == 2).collect();
    assert_eq!((got.ios, got.problems.other_streams), (expected, 67));
    let error = read(&path, &one("x")).unwrap_err();
    assert!(matches!(error, ReadError::NoSuchStream { .. }), "{error}");
}

#[test]
fn a_conversion_that_ends_early_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let from = directory.path().join("a.trace");
    write_sample(&from, 140_000);
    let empty = directory.path().join("empty.iolog");
    fs::write(&empty, "fio version 3 iolog\n").unwrap();
    for name in ["b.trace", "b.iolog", "b.csv"] {
        let to = directory.path().join(name);
        let format = OutputFormat::of_path(&to).unwrap();
        let mut source = Source::open(&from, &SourceOptions::default()).unwrap();
        let stopped = convert(&mut source, &to, format, Existing::Replaced, &mut |source, ios| {
            assert!(source.progress().is_some_and(|share| share > 0.4 && share < 0.5));
            assert_eq!(ios, 65_536);
            ControlFlow::Break(())
        });
        assert_eq!(stopped.unwrap(), None);
        let told =
            SourceOptions { format: Some("iolog".parse().unwrap()), ..SourceOptions::default() };
        let mut source = Source::open(&empty, &told).unwrap();
        let nothing = convert(&mut source, &to, format, Existing::Replaced, &mut |_, _| {
            ControlFlow::Continue(())
        });
        assert!(matches!(nothing, Err(ConvertError::NoOperations { .. })));
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2, "{name}");
    }
}

/// fio takes what we write, and does it: as many reads, writes and flushes, of as many bytes.
#[test]
fn fio_replays_our_iolog() {
    if Command::new("fio").arg("--version").output().is_err() {
        println!("SKIPPED: fio is not installed");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let ios = [
        (0, Operation::Write, 0, 65_536),
        (1_000, Operation::Write, 131_072, 4096),
        (5_000, Operation::Read, 4096, 8192),
        (90_000, Operation::Flush, 0, 0),
        (100_000, Operation::Read, 0, 512),
        (100_000, Operation::Read, 512, 512),
    ];
    let mut writer = TraceWriter::create(&at("a.trace"), Existing::Replaced).unwrap();
    for (micros, operation, offset, length) in ios {
        let io = TraceIo::new(Nanos(micros * 1000), operation, Bytes(offset), Bytes(length));
        writer.write(&io).unwrap();
    }
    writer.finish(&Header::default()).unwrap();
    converted(&at("a.trace"), &at("b.iolog"));
    fs::write(at("drive"), vec![0u8; 1 << 20]).unwrap();

    let mut fio = Command::new("fio");
    fio.current_dir(directory.path()).args(["--name=replay", "--output-format=json"]);
    fio.arg(format!("--read_iolog={}", at("b.iolog").display()));
    fio.arg(format!("--replay_redirect={}", at("drive").display()));
    let output = fio.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    let job = &json["jobs"][0];
    let done = |what: &str| (job[what]["total_ios"].as_u64(), job[what]["io_bytes"].as_u64());
    assert_eq!(done("read"), (Some(3), Some(9216)), "{text}");
    assert_eq!(done("write"), (Some(2), Some(69_632)), "{text}");
    assert_eq!(job["sync"]["total_ios"].as_u64(), Some(1), "{text}");
    let took = job["job_runtime"].as_u64().unwrap();
    assert!(took >= 99, "fio keeps the times: {took} ms");
}
