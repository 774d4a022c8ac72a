//! What reading a trace costs per line of text, per record and per row, from the page cache.

use std::fmt::Write as _;
use std::path::PathBuf;

use divan::Bencher;
use divan::counter::ItemsCount;
use tempfile::TempDir;
use writecliff_device::{Bytes, Nanos, Operation};
use writecliff_trace::{Existing, Format, Header, Source, SourceOptions, TraceIo, TraceWriter};

/// Lines of each file.
const LINES: u64 = 2_000_000;
/// Of traces in which an operation takes two lines: how many are in flight.
const QUEUE_DEPTH: u64 = 8;

fn main() {
    divan::main();
}

/// Whole benches: a file takes longer to make than to read.
#[divan::bench(
    args = ["blkparse", "perf", "iolog", "msr", "systor", "alibaba", "tencent", "spc", "csv"],
    sample_count = 5,
    sample_size = 1
)]
fn lines(bencher: Bencher<'_, '_>, format: &str) {
    let format: Format = format.parse().expect("a format's name");
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("trace");
    std::fs::write(&path, text(format)).expect("room for the file");
    read(bencher, &(directory, path), LINES);
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn rows_of_the_own_format(bencher: Bencher<'_, '_>) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("t.trace");
    let mut writer = TraceWriter::create(&path, Existing::Replaced).expect("a new file");
    for index in 0..LINES {
        let io = TraceIo::new(Nanos(index * 997), Operation::Read, place(index), Bytes(4096));
        let io = TraceIo { completed: Some(Nanos(index * 997 + 7500)), ..io };
        writer.write(&io).expect("room for the file");
    }
    writer.finish(&Header::default()).expect("room for the file");
    read(bencher, &(directory, path), LINES);
}

fn read(bencher: Bencher<'_, '_>, (_directory, path): &(TempDir, PathBuf), lines: u64) {
    bencher.counter(ItemsCount::new(lines)).bench_local(|| {
        let source = Source::open(path, &SourceOptions::default()).expect("a trace");
        source.map(|io| io.expect("a whole trace").length.0).fold(0, u64::wrapping_add)
    });
}

/// Scattered over a terabyte.
fn place(index: u64) -> Bytes {
    Bytes((index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 36) * 4096)
}

fn text(format: Format) -> String {
    let mut text = String::with_capacity(LINES as usize * 100);
    if format == Format::Iolog {
        text += "fio version 3 iolog\n";
    }
    if format == Format::Csv {
        text += "issued_ns,completed_ns,operation,offset,length,queue_depth,stream\n";
    }
    for index in 0..LINES {
        line(&mut text, format, index).expect("text takes everything");
    }
    text
}

fn line(text: &mut String, format: Format, index: u64) -> std::fmt::Result {
    let is_kernel = matches!(format, Format::Blkparse | Format::Perf);
    // Issues run ahead of completions by the queue's depth.
    let is_issue = !is_kernel || index < QUEUE_DEPTH || index.is_multiple_of(2);
    let io = match (is_kernel, is_issue) {
        (false, _) => index,
        (true, true) if index < QUEUE_DEPTH => index,
        (true, true) => (index + QUEUE_DEPTH) / 2,
        (true, false) => (index - QUEUE_DEPTH) / 2,
    };
    let (seconds, nanos) = (index / 1_000_000, index % 1_000_000 * 1000);
    let (offset, sector) = (place(io).0, place(io).0 / 512);
    let letter = if io.is_multiple_of(3) { 'W' } else { 'R' };
    match format {
        Format::Blkparse if is_issue => {
            writeln!(
                text,
                "  8,0    3 {index:8} {seconds:5}.{nanos:09}   697  D  {letter}S {sector} + 8 [postgres]"
            )
        }
        Format::Blkparse => {
            writeln!(
                text,
                "  8,0    3 {index:8} {seconds:5}.{nanos:09}     0  C  {letter}S {sector} + 8 [0]"
            )
        }
        Format::Perf if is_issue => writeln!(
            text,
            "        postgres 14767 [001] {seconds:5}.{nanos:09}:    block:block_rq_issue: 8,0 {letter}S 4096 () {sector} + 8 0x2,0,4 [postgres]"
        ),
        Format::Perf => writeln!(
            text,
            "         swapper     0 [001] {seconds:5}.{nanos:09}: block:block_rq_complete: 8,0 {letter}S () {sector} + 8 0x2,0,4 [0]"
        ),
        Format::Iolog => {
            let operation = if letter == 'W' { "write" } else { "read" };
            writeln!(text, "{index} /dev/nvme0n1 {operation} {offset} 4096")
        }
        Format::Msr => {
            let operation = if letter == 'W' { "Write" } else { "Read" };
            writeln!(
                text,
                "{},hm,1,{operation},{offset},4096,413",
                128_166_372_003_061_629 + index * 10
            )
        }
        Format::Systor => {
            writeln!(
                text,
                "{}.{nanos:09},0.000255000,{letter},4,{offset},4096",
                1_455_592_151 + seconds
            )
        }
        Format::Alibaba => {
            writeln!(text, "419,{letter},{offset},4096,{}", 1_577_808_144_360_767 + index)
        }
        Format::Tencent => {
            writeln!(
                text,
                "{},{sector},8,{},1063",
                1_538_323_200 + seconds,
                u8::from(letter == 'W')
            )
        }
        Format::Spc => writeln!(text, "0,{sector},4096,{letter},{seconds}.{:06}", nanos / 1000),
        _ => writeln!(
            text,
            "{},{},{},{offset},4096,8,postgres",
            index * 1000,
            index * 1000 + 7500,
            if letter == 'W' { "write" } else { "read" }
        ),
    }
}
