use super::*;
use crate::{Existing, ReadError, TraceIo, WriteError};
use std::fs;
use writecliff_device::{Bytes, Content, Nanos, Operation};

const OPERATIONS: [Operation; 4] =
    [Operation::Read, Operation::Write, Operation::Trim, Operation::Flush];

/// Every column with and without a value, and the largest of each.
fn sample(index: u64) -> TraceIo {
    let operation = OPERATIONS[index as usize % 4];
    let (offset, length) = match operation {
        Operation::Flush => (Bytes::ZERO, Bytes::ZERO),
        _ => (Bytes(index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 2), Bytes(512 << (index % 24))),
    };
    let is_write = operation == Operation::Write;
    let content = Content { compressible_percent: (index % 101) as u8, duplicate_percent: 100 };
    TraceIo {
        issued: Nanos(index / 3 * 1_000_000_007),
        completed: index.is_multiple_of(3).then(|| Nanos(index / 3 * 1_000_000_007 + index)),
        queue_depth: index.is_multiple_of(5).then_some(u32::MAX - index as u32),
        content: (is_write && !index.is_multiple_of(7)).then_some(content),
        stream: (u64::from(u16::MAX) - index % 9) as u16,
        ..TraceIo::new(Nanos::ZERO, operation, offset, length)
    }
}

fn header() -> Header {
    Header {
        source: "a \"quoted\" source".to_owned(),
        recorded_by: "a test".to_owned(),
        synthetic: true,
        clock: Some("mono".to_owned()),
        began_unix_ns: Some(u64::MAX),
        device_size: Some(Bytes(u64::MAX)),
        streams: vec!["one".to_owned(), String::new()],
        lost: 3,
    }
}

#[test]
fn what_is_written_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.trace");
    for count in [0, 1, 65_535, 65_536, 200_000] {
        let mut writer = TraceWriter::create(&path, Existing::Replaced).unwrap();
        (0..count).for_each(|index| writer.write(&sample(index)).unwrap());
        let summary = writer.finish(&header()).unwrap();
        assert_eq!(summary.ios(), count);
        let trace = TraceFile::open(&path).unwrap();
        assert_eq!((trace.header(), trace.summary()), (&header(), &summary));
        let mut read = 0;
        for (index, io) in trace.enumerate() {
            assert_eq!(io.unwrap(), sample(index as u64));
            read += 1;
        }
        assert_eq!(read, count);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing else is left");
    }
}

#[test]
fn what_a_file_says_cannot_steer_a_terminal() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.trace");
    let evil = || "\u{1b}[31m".to_owned();
    let header = Header {
        source: evil(),
        recorded_by: evil(),
        clock: Some(evil()),
        streams: vec![evil()],
        ..header()
    };
    TraceWriter::create(&path, Existing::Replaced).unwrap().finish(&header).unwrap();
    let read = TraceFile::open(&path).unwrap().header().clone();
    let shown = [&read.source, &read.recorded_by, read.clock.as_ref().unwrap(), &read.streams[0]];
    assert_eq!(shown, ["\u{fffd}[31m"; 4]);
}

/// 65,536 names take more than what is kept free for a header without.
#[test]
fn room_is_kept_for_all_names() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer =
        TraceWriter::create(&directory.path().join("t.trace"), Existing::Replaced).unwrap();
    let before = writer.room_needed();
    writer.expect_names(1_300_000).unwrap();
    assert!(writer.room_needed() >= before + 1_300_000);
    let kept = writer.room_needed();
    writer.expect_names(1_300_000).unwrap();
    writer.expect_names(7).unwrap();
    assert_eq!(writer.room_needed(), kept);
}

#[test]
fn a_file_is_whole_or_absent() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.trace");
    let mut writer = TraceWriter::create(&path, Existing::Replaced).unwrap();
    writer.write(&sample(3)).unwrap();
    let error = writer.write(&sample(0)).unwrap_err();
    assert!(matches!(error, WriteError::Unsorted { index: 1, .. }), "{error}");
    let long = TraceIo { length: Bytes((1 << 32) + 1), ..sample(1_000_000) };
    let error = writer.write(&TraceIo { operation: Operation::Read, ..long }).unwrap_err();
    assert!(matches!(error, WriteError::Oversized { index: 1, .. }), "{error}");
    writer.write(&TraceIo { operation: Operation::Trim, ..long }).unwrap();
    drop(writer);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);

    let nowhere = directory.path().join("absent/t.trace");
    let error = TraceWriter::create(&nowhere, Existing::Replaced).unwrap_err();
    assert!(matches!(error, WriteError::Output(_)), "{error}");
}

#[test]
fn a_damaged_file_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.trace");
    let mut writer = TraceWriter::create(&path, Existing::Replaced).unwrap();
    (0..1000).for_each(|index| writer.write(&sample(index)).unwrap());
    writer.finish(&header()).unwrap();
    let whole = fs::read(&path).unwrap();
    let read = |bytes: &[u8]| -> Result<usize, ReadError> {
        fs::write(&path, bytes).unwrap();
        let mut count = 0;
        for io in TraceFile::open(&path)? {
            io?;
            count += 1;
        }
        Ok(count)
    };
    for cut in [0, 1, 3, 4, 11, 12, whole.len() / 2, whole.len() - 1] {
        let error = read(&whole[..cut]).unwrap_err();
        assert!(matches!(error, ReadError::Format { .. }), "{cut}: {error}");
    }
    // A byte anywhere: read otherwise, or told, but never a panic and never an endless trace.
    for at in (0..whole.len()).step_by(7) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        assert!(read(&bytes).unwrap_or(0) <= 1000, "byte {at}");
    }
}
