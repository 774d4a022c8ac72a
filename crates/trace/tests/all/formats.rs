//! Each format's hand-made file, and what it means.
use crate::outcome;

use std::io::Write;

use outcome::{Outcome, formats, io, read, read_bytes};
use writecliff_device::{Content, Operation};
use writecliff_trace::{Existing, Format, ReadError, SourceOptions, TraceIo, TraceWriter};

use Operation::{Flush, Read, Trim, Write as Written};

/// Reads one of the hand-made files, without being told its format.
fn outcome(name: &str) -> Outcome {
    read(&formats().join(name), &SourceOptions::default()).unwrap()
}

/// The volumes that a source tells, with their operations.
fn volumes(outcome: &Outcome) -> Vec<(&str, u64)> {
    let volumes = outcome.problems.volumes.iter();
    volumes.map(|volume| (&volume.name[..], volume.operations)).collect()
}

#[test]
fn blkparse() {
    let got = outcome("blkparse.txt");
    // The first issue was given back, so the second read's process is the first to count; its name
    // has blanks and brackets. Of two reads of one place, the older is done first.
    // The trim is never seen to end, so it counts as in flight only for itself.
    // The last write is done in two halves.
    assert_eq!(
        got.ios,
        [
            io(0, Some(3_000), Read, 4096 * 512, 8192, Some(1), 1),
            io(2_000, Some(7_000), Read, 4096 * 512, 8192, Some(2), 0),
            io(5_000, Some(6_000), Written, 2048 * 512, 4096, Some(2), 0),
            io(8_000, Some(9_000), Flush, 0, 0, Some(1), 2),
            io(10_000, None, Trim, 8192 * 512, 1 << 20, Some(1), 3),
            io(11_000, Some(14_000), Written, 100 * 512, 8192, Some(1), 3),
        ]
    );
    assert_eq!(got.header.streams, ["kjournald", "a b] c", "kworker/0:1H", "fstrim"]);
    assert_eq!(got.header.source, "blkparse.txt");
    let problems = &got.problems;
    // The file's name, three steps of a write, a message, a command, the end of a write without data,
    // seven lines of summary.
    assert_eq!((problems.broken, problems.passed_over), (0, 14), "{problems:?}");
    assert_eq!((problems.never_completed, problems.unmatched_completions), (1, 1));
    assert!(problems.volumes.is_empty());
}

#[test]
fn perf_script() {
    let got = outcome("perf.txt");
    assert_eq!(
        got.ios,
        [
            io(0, Some(41_000), Read, 512 * 512, 4096, Some(1), 0),
            io(4_123, Some(51_000), Written, 520 * 512, 4096, Some(2), 1),
            io(141_000, Some(241_000), Flush, 0, 0, Some(1), 2),
        ]
    );
    assert_eq!(got.header.streams, ["fio", "Web Content", "kworker/1:1H-kb"]);
    let problems = &got.problems;
    // Three comments, an insertion, a stack, another event, the end of a write without data, a
    // command.
    assert_eq!((problems.broken, problems.passed_over, problems.lines), (0, 8, 14));
}

#[test]
fn ftrace_of_a_device_with_requests_and_one_without() {
    let got = outcome("ftrace.txt");
    assert_eq!(
        got.ios,
        [
            io(0, Some(8_000), Written, 64 * 512, 4096, Some(1), 0),
            io(2_000, Some(3_000), Read, 128 * 512, 4096, Some(2), 0),
            io(10_000, Some(11_000), Written, 64 * 512, 4096, Some(1), 0),
        ]
    );
    assert_eq!((got.problems.lost_by_recorder, got.header.lost), (3, 3));
    assert_eq!(volumes(&got), [("252,0", 2), ("8,0", 1)]);
    let one = SourceOptions { stream: Some("8,0".to_owned()), ..SourceOptions::default() };
    let got = read(&formats().join("ftrace.txt"), &one).unwrap();
    assert_eq!(got.ios, [io(0, Some(1_000), Written, 64 * 512, 4096, Some(1), 0)]);
}

/// The completion of the first may be among those lost: the second must not be taken for it.
#[test]
fn what_is_in_flight_when_events_are_lost_has_no_completion() {
    let event = |time: u32, what: &str, who: &str| {
        format!(" dd-200 [001] ..... 1.{time:06}: block_rq_{what}: 8,0 R 4096 () 64 + 8 [{who}]\n")
    };
    let text = event(1, "issue", "dd")
        + "CPU:1 [LOST 2 EVENTS]\n"
        + &event(5, "issue", "dd")
        + &event(6, "complete", "0");
    let got = read_bytes(text.as_bytes(), &SourceOptions::default()).unwrap();
    let completed: Vec<_> = got.ios.iter().map(|io| io.completed.map(|time| time.0)).collect();
    assert_eq!(completed, [None, Some(5_000)]);
    assert_eq!((got.problems.lost_by_recorder, got.problems.never_completed), (2, 1));
}

#[test]
fn fio_iolog_2_waits_between_operations() {
    let got = outcome("iolog-v2.txt");
    assert_eq!(
        got.ios,
        [
            io(0, None, Written, 0, 4096, None, 0),
            io(250_000, None, Read, 8192, 512, None, 1),
            io(1_250_000, None, Trim, 1 << 20, 65_536, None, 0),
            io(1_250_000, None, Flush, 0, 0, None, 0),
            io(1_250_000, None, Flush, 0, 0, None, 0),
        ]
    );
    assert_eq!(got.header.streams, ["/dev/sda", "/dev/sdb"]);
    assert_eq!(volumes(&got), [("/dev/sda", 4), ("/dev/sdb", 1)]);
    assert_eq!(got.problems.passed_over, 0, "opening, closing and waiting are no news");
}

#[test]
fn fio_iolog_3_has_times() {
    let got = outcome("iolog-v3.txt");
    assert_eq!(
        got.ios,
        [
            io(0, None, Read, 61_440, 4096, None, 0),
            io(248_000, None, Written, 774_144, 8192, None, 0),
            io(334_000, None, Trim, 880_640, 4096, None, 0),
            io(383_000, None, Flush, 0, 0, None, 0),
        ]
    );
    assert_eq!(got.header.streams, ["f.bin"]);
}

#[test]
fn msr_cambridge_is_put_in_order() {
    let got = outcome("msr.csv");
    assert_eq!(
        got.ios,
        [
            io(0, Some(41_300), Read, 383_496_192, 32_768, Some(1), 0),
            io(17_100, Some(117_100), Written, 0, 512, Some(2), 0),
            // The other disk's are not in this one's queue.
            io(37_100, Some(92_500), Written, 2_822_144, 4096, Some(1), 1),
            io(837_100, Some(837_200), Read, 4096, 4096, Some(1), 0),
        ]
    );
    assert_eq!(got.header.streams, ["hm_1", "hm_0"]);
    // 22 February 2007, 17:00:00.306 UTC.
    assert_eq!(got.header.began_unix_ns, Some(1_172_163_600_306_162_900));
    assert_eq!(got.problems.passed_over, 1, "an empty range");
    let one = SourceOptions { stream: Some("hm_0".to_owned()), ..SourceOptions::default() };
    let got = read(&formats().join("msr.csv"), &one).unwrap();
    assert_eq!(got.ios, [io(0, Some(55_400), Written, 2_822_144, 4096, Some(1), 0)]);
    assert_eq!((got.problems.other_streams, got.problems.volumes.len()), (4, 0));
}

#[test]
fn systor() {
    let got = outcome("systor.csv");
    assert_eq!(
        got.ios,
        [
            io(0, Some(2_000), Written, 1024, 512, Some(1), 0),
            io(1_000, Some(256_000), Read, 8192, 4096, Some(1), 1),
            io(2_500, None, Read, 4096, 4096, Some(1), 0),
        ]
    );
    assert_eq!(got.header.streams, ["4", "0"]);
    assert_eq!(got.header.began_unix_ns, Some(1_455_592_151_111_111_000));
    assert_eq!((got.problems.passed_over, got.problems.never_completed), (1, 1));
}

#[test]
fn alibaba() {
    let got = outcome("alibaba.csv");
    assert_eq!(
        got.ios,
        [
            io(0, None, Written, 8_792_731_648, 16_384, None, 0),
            io(46_000, None, Read, 59_110_326_272, 360_448, None, 1),
            io(46_000, None, Written, 46_057_824_256, 4096, None, 0),
        ]
    );
    assert_eq!(got.header.began_unix_ns, Some(1_577_808_144_360_767_000));
    assert_eq!(volumes(&got), [("419", 2), ("725", 1)]);
}

#[test]
fn tencent() {
    let got = outcome("tencent.csv");
    assert_eq!(
        got.ios,
        [
            io(0, None, Read, 12_910_952 * 512, 65_536, None, 0),
            io(1_000_000_000, None, Written, 6_338_688 * 512, 4096, None, 1),
            io(1_000_000_000, None, Read, 1_904_106_400 * 512, 196_608, None, 0),
        ]
    );
    assert_eq!(got.header.streams, ["1063", "1627"]);
}

#[test]
fn spc() {
    let got = outcome("spc.csv");
    assert_eq!(
        got.ios,
        [
            io(0, None, Written, 20_941_264 * 512, 8192, None, 0),
            io(2_335_000, None, Written, 20_939_840 * 512, 8192, None, 0),
            io(448_294_001, None, Read, 100 * 512, 512, None, 1),
            io(948_294_000, None, Read, 108 * 512, 512, None, 1),
        ]
    );
    assert_eq!(
        (&got.header.streams[..], got.header.began_unix_ns),
        (&["0", "1"].map(String::from)[..], None)
    );
}

#[test]
fn csv_with_named_columns() {
    let got = outcome("named.csv");
    let content = Some(Content { compressible_percent: 46, duplicate_percent: 10 });
    assert_eq!(
        got.ios,
        [
            TraceIo { content, ..io(0, Some(250_000), Written, 4096, 4096, Some(1), 0) },
            io(1_500, None, Read, 8192, 512, Some(7), 1),
            io(2_501, Some(1_002_501), Trim, 16_384, 1024, Some(2), 1),
            io(3_500, None, Flush, 0, 0, Some(3), 0),
        ]
    );
    assert_eq!(got.header.streams, ["a, \"b\"", "c"]);
    let got = outcome("own.csv");
    let content = Some(Content { compressible_percent: 46, duplicate_percent: 0 });
    assert_eq!(
        got.ios,
        [
            TraceIo { content, ..io(0, Some(1_500), Written, 4096, 8192, Some(1), 0) },
            io(1_000, None, Read, 0, 512, Some(2), 1),
            io(2_000, Some(2_500), Flush, 0, 0, Some(1), 0),
        ]
    );
}

/// What is in flight is the queue's, whoever asked for it, and whatever format the trace is in.
#[test]
fn a_stream_shares_its_queue_with_others() {
    let mut text = "issued_ns,completed_ns,operation,offset,length,stream\n".to_owned();
    for n in 0..8 {
        let stream = if n == 7 { "b" } else { "a" };
        text += &format!("{n},{},read,0,512,{stream}\n", 100 + n);
    }
    let one = SourceOptions { stream: Some("b".to_owned()), ..SourceOptions::default() };
    let all = read_bytes(text.as_bytes(), &SourceOptions::default()).unwrap();
    let csv = read_bytes(text.as_bytes(), &one).unwrap();
    assert_eq!((csv.ios.len(), csv.ios[0].queue_depth), (1, Some(8)));
    assert_eq!((&csv.header.streams[..], csv.problems.other_streams), (&["b".to_owned()][..], 7));

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.trace");
    let mut writer = TraceWriter::create(&path, Existing::Replaced).unwrap();
    all.ios.iter().for_each(|io| writer.write(io).unwrap());
    writer.finish(&all.header).unwrap();
    assert_eq!(read(&path, &one).unwrap().ios[0].queue_depth, Some(8));

    let event = |n: u32, action: char, name: &str| {
        format!(" 8,0 0 1 0.{n:09} 1 {action} R {} + 8 [{name}]\n", 8 * (n % 10))
    };
    let text =
        event(0, 'D', "a") + &event(1, 'D', "b") + &event(10, 'C', "0") + &event(11, 'C', "0");
    let process = read_bytes(text.as_bytes(), &one).unwrap();
    assert_eq!(process.ios, [io(0, Some(10), Read, 4096, 4096, Some(2), 0)]);
}

/// What fails has no completion, in every format of the kernel's events.
#[test]
fn failed_operations_stay_without_completion() {
    let blkparse = " 8,0 0 1 0.000001 9 D R 0 + 8 [x]\n 8,0 0 1 0.000002 9 D W 8 + 8 [x]\n \
                    8,0 0 1 0.000003 0 C R 0 + 8 [-5]\n 8,0 0 1 0.000004 0 C W 8 + 8 [0]\n";
    let perf = "x 9 [0] 0.000001: block:block_rq_issue: 8,0 R 4096 () 0 + 8 [x]\n\
                x 9 [0] 0.000002: block:block_rq_issue: 8,0 W 4096 () 8 + 8 0x2,0,4 [x]\n\
                x 9 [0] 0.000003: block:block_rq_complete: 8,0 R () 0 + 8 0x2,0,4 [-5]\n\
                x 9 [0] 0.000004: block:block_rq_complete: 8,0 W () 8 + 8 [0]\n";
    for text in [blkparse, perf] {
        let got = read_bytes(text.as_bytes(), &SourceOptions::default()).unwrap();
        let expected = [
            io(0, None, Read, 0, 4096, None, 0),
            io(1_000, Some(3_000), Written, 4096, 4096, Some(1), 0),
        ];
        assert_eq!(got.ios, expected, "{text}");
        assert_eq!((got.problems.failed, got.problems.never_completed), (1, 0));
    }
}

/// What the files mean does not depend on how they are packed, nor on who tells their format.
#[test]
fn packed_files_mean_the_same() {
    for (name, format) in outcome::FILES {
        let plain = outcome(name);
        let bytes = std::fs::read(formats().join(name)).unwrap();
        let told = SourceOptions { format: Some(format), ..SourceOptions::default() };
        assert_eq!(read_bytes(&bytes, &told).unwrap().ios, plain.ios, "{name} as {format}");
        let (one, two) = bytes.split_at(bytes.len() / 3);
        let gzip = [packed_by_gzip(one), packed_by_gzip(two)].concat();
        let skippable = [&b"\x50\x2a\x4d\x18\x03\0\0\0abc"[..]];
        let frames = [one, two].map(|part| zstd::encode_all(part, 1).unwrap());
        let zstd = [skippable.concat(), frames.concat()].concat();
        for packed in [gzip, zstd] {
            let got = read_bytes(&packed, &SourceOptions::default()).unwrap();
            assert_eq!((&got.ios, &got.problems), (&plain.ios, &plain.problems), "{name}");
            let cut = read_bytes(&packed[..packed.len() - 9], &SourceOptions::default());
            assert!(matches!(cut, Err(ReadError::Read { .. })), "{name}, cut off: {cut:?}");
        }
    }
}

fn packed_by_gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// However many of its rows are broken.
#[test]
fn a_first_line_with_all_columns_is_csv() {
    let text = "issued_ns,completed_ns,operation,offset,length\n\
                1,2,0,0,512\n2,3,1,0,512\n3,4,1,0,512\nx,5,1,0,512\n4,3,1,0,512\n";
    let some = SourceOptions { bad_lines_percent: 50.0, ..SourceOptions::default() };
    let got = read_bytes(text.as_bytes(), &some).unwrap();
    assert_eq!((got.ios.len(), got.problems.broken), (3, 2));
    let error = read_bytes(text.as_bytes(), &SourceOptions::default()).unwrap_err();
    assert!(matches!(error, ReadError::BadLines { format: "csv", .. }), "{error}");
}

/// Excel begins its files so.
#[test]
fn a_byte_order_mark_is_no_part_of_a_text() {
    for name in ["named.csv", "msr.csv", "alibaba.csv", "iolog-v3.txt", "blkparse.txt"] {
        let bytes = std::fs::read(formats().join(name)).unwrap();
        let marked = [&b"\xef\xbb\xbf"[..], &bytes].concat();
        for marked in [packed_by_gzip(&marked), marked] {
            let got = read_bytes(&marked, &SourceOptions::default()).unwrap();
            let expected = outcome(name);
            assert_eq!((got.ios, got.problems), (expected.ios, expected.problems), "{name}");
        }
    }
}

#[test]
fn what_could_be_anything_is_asked_about() {
    for (bytes, part) in [
        ("hello\nworld\n", "no operation in blkparse, perf, iolog"),
        ("1,2,3\n", "no operation"),
        (
            "time_s,op,offset,length\n1,R,0,512\n",
            "first line that names issued_ns (or _us, _ms, _s)",
        ),
        // Half of it is one thing, half another.
        ("0,1,512,r,0.1\n419,W,0,512,1577808144360767\n", "could be"),
    ] {
        let error = read_bytes(bytes.as_bytes(), &SourceOptions::default()).unwrap_err();
        assert!(matches!(error, ReadError::UnknownFormat { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains(part) && text.contains("name the format"), "{text}");
    }
    let spc = SourceOptions {
        format: Some(Format::Spc),
        bad_lines_percent: 50.0,
        ..SourceOptions::default()
    };
    let got = read_bytes(b"0,1,512,r,0.1\n419,W,0,512,1577808144360767\n", &spc).unwrap();
    assert_eq!((got.ios.len(), got.problems.broken), (1, 1));
}
