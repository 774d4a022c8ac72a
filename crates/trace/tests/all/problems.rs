//! Lines that cannot be used: told, counted, and past a share refused.
use crate::outcome;

use outcome::{formats, read, read_bytes};
use rustix::time::{ClockId, clock_gettime};
use writecliff_device::Operation;
use writecliff_trace::{Format, Place, ReadError, Source, SourceOptions};

/// `good` lines of Alibaba's format, a microsecond apart, and a line of nonsense after each `every`.
fn lines(good: u64, every: u64) -> String {
    (1..=good)
        .map(|n| match n.is_multiple_of(every) {
            true => format!("7,R,{n},512,{n}\n7,r,\u{1}nonsense {n}\n"),
            false => format!("7,R,{n},512,{n}\n"),
        })
        .collect()
}

fn options(percent: f64) -> SourceOptions {
    SourceOptions {
        format: Some(Format::Alibaba),
        bad_lines_percent: percent,
        ..SourceOptions::default()
    }
}

#[test]
fn broken_lines_are_told_with_their_number_and_what_they_lack() {
    let got = read_bytes(lines(3000, 150).as_bytes(), &options(1.0)).unwrap();
    let problems = &got.problems;
    assert_eq!((got.ios.len(), problems.broken, problems.lines), (3000, 20, 3020));
    assert_eq!((got.header.lost, problems.lost()), (20, 20));
    assert_eq!(problems.first_broken.len(), 10, "the first ten");
    let first = &problems.first_broken[0];
    assert_eq!((first.place, first.expected), (Place::Line(151), "R or W"));
    let text = first.to_string();
    assert!(text.ends_with("/t:151: expected R or W, found '7,r,\u{fffd}nonsense 150'"), "{text}");
}

#[test]
fn too_many_broken_lines_are_refused_at_the_end_and_long_before() {
    let refused = |text: &str, percent| match read_bytes(text.as_bytes(), &options(percent)) {
        Err(ReadError::BadLines { broken, lines, .. }) => Some((broken, lines)),
        Ok(_) => None,
        Err(other) => panic!("{other}"),
    };
    let one_of_fifty = lines(490, 49);
    assert_eq!(refused(&one_of_fifty, 1.0), Some((10, 500)), "few lines are judged at the end");
    assert_eq!(refused(&one_of_fifty, 2.0), None);
    assert_eq!(refused(&lines(1, 1), 49.9), Some((1, 2)));
    assert_eq!(refused(&lines(1, 2), 0.0), None);
    let early = refused(&lines(1_000_000, 49), 1.0);
    assert_eq!(early, Some((81, 4096)), "a long file is not read to its end");
}

#[test]
fn every_broken_field_of_every_format_is_told() {
    for (format, line) in [
        (Format::Blkparse, "  8,0 3 1 0.0 697  D   W 223490 - 8 [kjournald]"),
        (Format::Blkparse, "  8,0 3 1 0.0 697  D   W 223490 + 8 kjournald"),
        (Format::Blkparse, "  8,0 3 1 0.0 697  D   W 18446744073709551615 + 8 [x]"),
        (Format::Blkparse, "  8,0 3 1"),
        (Format::Blkparse, "hello"),
        (Format::Perf, "x 1 [0] now: block:block_rq_issue: 8,0 R 4096 () 0 + 8 [x]"),
        (Format::Perf, "x 1 [0] 1.0: block:block_rq_issue: 8 R 4096 () 0 + 8 [x]"),
        (Format::Perf, "x 1 [0] 1.0: block:block_rq_issue: 8,0 R 4096 0 + 8 [x]"),
        (Format::Perf, "x 1 [0] 1.0: block:block_rq_issue: 8,0 R 4096 () 0 + 4294967296 [x]"),
        (Format::Perf, "hello"),
        (Format::Iolog, "hello"),
        (Format::Msr, "128166372003061629,hm,x,Read,0,512,1"),
        (Format::Msr, "128166372003061629,hm,1,Reed,0,512,1"),
        (Format::Msr, "12,hm,1,Read,0,512,1"),
        (Format::Msr, "128166372003061629,hm,1,Read,0,512,1,9"),
        (Format::Msr, "128166372003061629,hm,1,Read,18446744073709551615,512,1"),
        (Format::Msr, "18446744073709551615,hm,1,Read,0,512,1"),
        (Format::Msr, "128166372003061629,hm,1,Read,0,512,18446744073709551615"),
        (Format::Systor, "1.0,,X,0,0,512"),
        (Format::Systor, "1.0,,R,,0,512"),
        (Format::Systor, "-1.0,,R,0,0,512"),
        (Format::Alibaba, "x,R,0,512,1"),
        (Format::Alibaba, "1,R,0,512,-1"),
        (Format::Tencent, "1,36028797018963968,1,0,1"),
        (Format::Tencent, "1,0,1,2,1"),
        (Format::Spc, "0,0,512,x,0.0"),
        (Format::Spc, "0,0,512,r,1e3"),
    ] {
        let told = SourceOptions { format: Some(format), ..options(100.0) };
        let got = read_bytes(line.as_bytes(), &told).unwrap();
        assert_eq!((got.ios.len(), got.problems.broken), (0, 1), "{format}: {line}");
        let nothing =
            read_bytes(line.as_bytes(), &SourceOptions { format: Some(format), ..options(0.0) });
        assert!(matches!(nothing, Err(ReadError::BadLines { .. })), "{format}: {line}");
    }
}

#[test]
fn an_empty_file_is_called_so_in_any_format() {
    let directory = tempfile::tempdir().unwrap();
    for (name, why) in [("t", "right file"), ("rec.trace.partial", "that was killed")] {
        let path = directory.path().join(name);
        std::fs::write(&path, "").unwrap();
        for format in [None, Some(Format::Csv), Some(Format::Trace)] {
            let told = SourceOptions { format, ..SourceOptions::default() };
            let error = read(&path, &told).unwrap_err();
            assert!(matches!(error, ReadError::Empty { .. }), "{error}");
            let error = error.to_string();
            assert!(error.contains(&format!("{name} is empty")) && error.contains(why), "{error}");
            assert!(!error.contains("in doubt"), "{error}");
        }
    }
}

/// What every line would lack is told once, and before any is read.
#[test]
fn csv_without_its_columns_is_told_what_it_needs() {
    for names in [
        "issued_ns,operation,offset",
        "issued_ns,operation,offset,sector,length",
        "time_s,op,offset,length",
        "",
    ] {
        let text = format!("{names}\n1,read,0,512\n2,read,0,512\n");
        let told = SourceOptions { format: Some(Format::Csv), ..options(100.0) };
        let error = read_bytes(text.as_bytes(), &told).unwrap_err();
        assert!(matches!(error, ReadError::NoColumns { .. }), "{names}: {error}");
        let error = error.to_string();
        let found = if names.is_empty() { "1,read,0,512" } else { names };
        assert!(error.contains("expected a first line that names issued_ns"), "{error}");
        assert!(error.ends_with(&format!("found '{found}'")), "{error}");
    }
}

#[test]
fn broken_rows_of_csv_are_told() {
    let header = "issued_ns,completed_ns,operation,offset,length,queue_depth,duplicate_percent\n";
    for row in [
        "5,4,read,0,512,,",
        "5,,reed,0,512,,",
        "5,,read,,512,,",
        ",,read,0,512,,",
        "5,,read,0,512,0,",
        "5,,write,0,512,,101",
        "5,,read,0,512,",
        "5,,read,0,512,,,",
        "\"5,,read,0,512,,",
        "\"5\"x,,read,0,512,,",
    ] {
        let told = SourceOptions { format: Some(Format::Csv), ..options(100.0) };
        let got = read_bytes(format!("{header}{row}\n").as_bytes(), &told).unwrap();
        assert_eq!((got.ios.len(), got.problems.broken), (0, 1), "{row}");
    }
}

#[test]
fn reads_and_writes_above_4_gib_are_broken_in_every_format() {
    let over = (1_u64 << 32) + 512;
    let csv = "issued_ns,operation,offset,length\n";
    for (format, text) in [
        (Format::Csv, format!("{csv}5,read,0,{}\n6,read,0,{}\n", 1_u64 << 63, 1_u64 << 63)),
        (Format::Csv, format!("{csv}5,write,0,{over}\n6,read,0,{over}\n")),
        (Format::Alibaba, format!("1,R,0,{over},1\n1,W,0,{over},2\n")),
        (Format::Tencent, format!("1,0,{0},0,1\n1,0,{0},1,1\n", over / 512)),
        (Format::Blkparse, {
            let line = |kind| format!(" 8,0 0 1 0.1 1 D {kind} 0 + {} [x]\n", over / 512);
            line("R") + &line("W")
        }),
    ] {
        let told = SourceOptions { format: Some(format), ..options(100.0) };
        let got = read_bytes(text.as_bytes(), &told).unwrap();
        assert_eq!((got.ios.len(), got.problems.broken), (0, 2), "{format}: {text}");
        assert_eq!(got.problems.first_broken[0].expected, "a read or write of at most 4 GiB");
    }
    let most = format!("{csv}5,read,0,{}\n6,trim,0,{over}\n", 1_u64 << 32);
    let told = SourceOptions { format: Some(Format::Csv), ..options(0.0) };
    assert_eq!(read_bytes(most.as_bytes(), &told).unwrap().ios.len(), 2);
}

#[test]
fn what_comes_too_late_is_counted() {
    let mut text = lines(70_000, u64::MAX);
    text += "7,R,0,512,69000\n7,R,0,512,2\n";
    let got = read_bytes(text.as_bytes(), &options(1.0)).unwrap();
    assert_eq!((got.ios.len(), got.problems.out_of_reach, got.header.lost), (70_001, 1, 1));
    assert!(got.ios.is_sorted_by_key(|io| io.issued));
    let refused = read_bytes(text.as_bytes(), &options(0.0)).unwrap_err();
    assert!(matches!(refused, ReadError::BadLines { out_of_reach: 1, .. }), "{refused}");
}

/// A request that never ends holds back only so many others.
#[test]
fn a_lost_completion_costs_bounded_memory_and_no_operation() {
    let mut text = " 8,0 0 1 0.000000000 1 D R 0 + 8 [x]\n".to_owned();
    for n in 1..200_000 {
        text += &format!(" 8,0 0 1 0.{:09} 1 D W {n} + 8 [x]\n", n * 1000);
        text += &format!(" 8,0 0 1 0.{:09} 0 C W {n} + 8 [0]\n", n * 1000 + 500);
    }
    text += " 8,0 0 1 0.300000000 0 C R 0 + 8 [0]\n";
    let told = SourceOptions { format: Some(Format::Blkparse), ..options(0.0) };
    let got = read_bytes(text.as_bytes(), &told).unwrap();
    assert_eq!((got.ios.len(), got.ios[0].completed), (200_000, None));
    assert_eq!((got.problems.never_completed, got.problems.unmatched_completions), (1, 1));
    // Before the first that completes no depth is known.
    assert_eq!(got.ios[0].queue_depth, None);
    assert!(got.ios[1..].iter().all(|io| io.queue_depth == Some(1)));
    assert!(got.ios[1..].iter().all(|io| io.service_time().unwrap().0 == 500));
}

#[test]
fn a_stream_that_is_not_there_is_told_with_some_that_are() {
    let one = SourceOptions { stream: Some("hm_7".to_owned()), ..SourceOptions::default() };
    let error = read(&formats().join("msr.csv"), &one).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("no stream 'hm_7'") && text.ends_with("hm_1, hm_0"), "{text}");
}

/// Offsets of different volumes are no range of one device.
#[test]
fn several_volumes_are_refused_where_they_must_not_be_mixed() {
    let apart = SourceOptions { mix_volumes: false, ..SourceOptions::default() };
    for (name, listed) in [
        ("ftrace.txt", "2 volumes, each with offsets of its own: 252,0 (2 operations), 8,0 (1 op"),
        ("msr.csv", "2 volumes, each with offsets of its own: hm_1 (3 operations), hm_0 (1 op"),
    ] {
        let error = read(&formats().join(name), &apart).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, ReadError::SeveralVolumes { .. }), "{name}: {text}");
        assert!(text.contains(listed) && text.contains("take one of them"), "{name}: {text}");
    }
    let one = SourceOptions { stream: Some("8,0".to_owned()), ..apart };
    assert_eq!(read(&formats().join("ftrace.txt"), &one).unwrap().ios.len(), 1);
    assert_eq!(read(&formats().join("blkparse.txt"), &apart).unwrap().ios.len(), 6);

    let many: String = (0..23).map(|volume| format!("{volume},R,0,512,{volume}\n")).collect();
    let text = read_bytes(many.as_bytes(), &apart).unwrap_err().to_string();
    assert!(text.contains("19 (1 operation), and 3 more;"), "{text}");
}

#[test]
fn progress_comes_to_an_end() {
    let path = formats().join("msr.csv");
    let mut source = Source::open(&path, &SourceOptions::default()).unwrap();
    assert_eq!(
        source.by_ref().filter(|io| io.as_ref().unwrap().operation == Operation::Read).count(),
        2
    );
    assert_eq!(source.progress(), Some(1.0));
}

/// Each took time that grew with the square of the file's length. The processor's time is
/// compared, which other processes do not change, with that of as many ordinary lines.
#[test]
fn no_file_takes_more_than_its_length_is_worth() {
    const REQUESTS: u32 = 60_000;
    let event = |action: char, device: u32, sector: u32, sectors: u32| {
        let (major, minor) = (device >> 20, device & 0xf_ffff);
        format!(" {major},{minor} 0 1 0.5 1 {action} R {sector} + {sectors} [0]\n")
    };
    let all = |line: &dyn Fn(u32) -> String| (0..REQUESTS).map(line).collect::<String>();
    let ordinary = all(&|n| event('D', 8, n, 8)) + &all(&|n| event('C', 8, n, 8));
    // Bios of many devices, each of which is then found to take requests.
    let devices = all(&|n| event('Q', n, 8, 8)) + &all(&|n| event('D', n, 8, 8));
    // Requests that are done in part, the last first, so that all wait for one place.
    let end = 2 * REQUESTS;
    let parts = all(&|n| event('D', 8, n, end - n))
        + &all(&|n| event('C', 8, REQUESTS - 1 - n, end - 8 - (REQUESTS - 1 - n)));
    let taken = |text: &str| {
        let options = SourceOptions { format: Some(Format::Blkparse), ..options(0.0) };
        let began = clock_gettime(ClockId::ThreadCPUTime);
        let ios = read_bytes(text.as_bytes(), &options).unwrap().ios.len();
        assert_eq!(ios, REQUESTS as usize);
        let taken = clock_gettime(ClockId::ThreadCPUTime) - began;
        taken.tv_sec as f64 + taken.tv_nsec as f64 / 1e9
    };
    let usual = taken(&ordinary);
    for (what, text) in [("devices", devices), ("parts", parts)] {
        let times = taken(&text) / usual;
        assert!(times < 20.0, "{what}: {times:.1} times as long as ordinary lines");
    }
}
