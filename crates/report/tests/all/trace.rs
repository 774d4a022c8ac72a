//! Page and table of traces: what they say, that every picture has its data, and what a browser makes
//! of them.
use crate::browser;
use crate::drives;

use std::fs;
use std::path::Path;

use browser::{Browser, chromium};
use drives::pictures;
use writecliff_device::{Bytes, Nanos, Operation};
use writecliff_report::{trace_summary, write_trace_page};
use writecliff_trace::{Description, Header, TraceIo, describe};

const VIEWS: [&str; 9] = [
    "trace-sizes",
    "trace-read-offsets",
    "trace-write-offsets",
    "trace-rates",
    "trace-read-share",
    "trace-working-set",
    "trace-depths",
    "trace-depths-over-time",
    "trace-inter-arrival",
];

fn described(name: &str, header: Header, ios: &[TraceIo]) -> Description {
    let last = ios.last().map_or(Nanos::ZERO, |io| io.completed.unwrap_or(io.issued));
    let info = describe(ios.iter().copied().map(Ok), last).unwrap();
    Description { name: name.to_owned(), header, info }
}

/// A second of reads in order and of writes here and there, a trim and a flush.
fn sample(name: &str, synthetic: bool) -> Description {
    let io = |index: u64| {
        let operation = match index {
            500 => Operation::Trim,
            700 => Operation::Flush,
            _ if index.is_multiple_of(4) => Operation::Write,
            _ => Operation::Read,
        };
        let offset = if operation == Operation::Write { index * 7919 % 4000 } else { index } * 4096;
        let issued = index * 1_000_000;
        let length = Bytes(if operation == Operation::Flush { 0 } else { 4096 });
        TraceIo {
            completed: Some(Nanos(issued + 1_500_000)),
            stream: (index % 3) as u16,
            ..TraceIo::new(Nanos(issued), operation, Bytes(offset), length)
        }
    };
    let ios: Vec<TraceIo> = (0..1000).map(io).collect();
    let streams = ["web", "compile", "virus scan"].map(str::to_owned).into();
    let (source, recorded_by) = ("a desk".to_owned(), "a test".to_owned());
    described(name, Header { source, recorded_by, synthetic, streams, ..Header::default() }, &ios)
}

fn page(traces: &[Description], out: &Path) -> String {
    fs::read_to_string(write_trace_page(traces, out).unwrap()).unwrap()
}

#[test]
fn every_picture_is_on_the_page_and_has_its_files() {
    let dir = tempfile::tempdir().unwrap();
    let html = page(&[sample("desk.trace", false)], dir.path());
    let pictures = pictures(&html);
    let ids: Vec<&str> = pictures.iter().map(|picture| picture.id.as_str()).collect();
    assert_eq!(ids, VIEWS);
    for (id, picture) in ids.iter().zip(&pictures) {
        let data = picture.markup.split("class=\"data\"").nth(1).unwrap();
        assert!(data.contains(" d=\"M"), "{id}: {data}");
        let file = |kind| fs::read_to_string(dir.path().join(format!("pictures/{id}.{kind}")));
        assert!(file("csv").unwrap().lines().count() > 1, "{id} has no data");
        let svg = file("svg").unwrap();
        assert!(svg.ends_with("</svg>\n") && svg.contains("desk.trace</text>"), "{id}");
    }
    for part in html.split("<a href=\"#").skip(1) {
        let anchor = part.split('"').next().unwrap();
        assert!(html.contains(&format!("id=\"{anchor}\"")), "#{anchor} leads nowhere");
    }
    assert!(!html.contains("synthetic"), "nobody made this one");
}

#[test]
fn files_hold_what_was_counted() {
    let dir = tempfile::tempdir().unwrap();
    page(&[sample("desk.trace", false)], dir.path());
    let rows = |id: &str| -> Vec<Vec<f64>> {
        let csv = fs::read_to_string(dir.path().join(format!("pictures/{id}.csv"))).unwrap();
        let numbers = |row: &str| row.split(',').map(|cell| cell.parse().unwrap()).collect();
        csv.lines().skip(1).map(numbers).collect()
    };
    let sum = |id: &str, column: usize| rows(id).iter().map(|row| row[column]).sum::<f64>();
    // Every fourth is a write, but two of those are a trim and a flush.
    assert_eq!((sum("trace-read-offsets", 4), sum("trace-write-offsets", 4)), (750.0, 248.0));
    assert!((sum("trace-inter-arrival", 1) - 100.0).abs() < 1e-9);
    assert_eq!(rows("trace-inter-arrival"), [[1_048_576.0, 100.0]], "a millisecond each");
    let sizes = fs::read_to_string(dir.path().join("pictures/trace-sizes.csv")).unwrap();
    let (reads, writes) = (75_000.0 / 998.0, 24_800.0 / 998.0);
    assert_eq!(sizes, format!("size up to,reads,writes\n4K,{reads},{writes}\n"));
    assert!(rows("trace-working-set").iter().all(|row| row[1] >= 4096.0 && row[1] <= 6.0 * 4096.0));
}

#[test]
fn synthetic_traces_are_called_so_everywhere() {
    let dir = tempfile::tempdir().unwrap();
    let trace = sample("made.trace", true);
    let html = page(std::slice::from_ref(&trace), dir.path());
    let top = html.split("<nav").next().unwrap();
    assert!(top.contains("(synthetic)") && top.contains("<span class=\"mark\">synthetic</span>"));
    assert!(html.contains("Traces marked <span class=\"mark\">synthetic</span> were made"));
    assert!(html.contains("Synthetic: made by a generator"));
    for view in VIEWS {
        let svg = fs::read_to_string(dir.path().join(format!("pictures/{view}.svg"))).unwrap();
        assert!(svg.contains("made.trace (synthetic)"), "{view}");
    }
    assert!(trace_summary(&[trace]).starts_with("made.trace (SYNTHETIC)\n"));
}

#[test]
fn traces_of_little_have_the_pictures_that_there_are() {
    let dir = tempfile::tempdir().unwrap();
    let nothing = described("nothing.trace", Header::default(), &[]);
    assert!(pictures(&page(std::slice::from_ref(&nothing), dir.path())).is_empty());
    assert!(trace_summary(&[nothing]).contains("not known"));

    let read = TraceIo::new(Nanos(0), Operation::Read, Bytes(0), Bytes(4096));
    let one = described("one.trace", Header::default(), &[read]);
    let found = pictures(&page(&[one], dir.path()));
    let ids: Vec<&str> = found.iter().map(|picture| picture.id.as_str()).collect();
    let expected = [
        "trace-sizes",
        "trace-read-offsets",
        "trace-rates",
        "trace-read-share",
        "trace-working-set",
    ];
    assert_eq!(ids, expected);
}

/// Work, a long pause, work: nothing is drawn through the pause.
#[test]
fn no_depth_is_shown_where_nothing_was_issued() {
    let dir = tempfile::tempdir().unwrap();
    let read = |second: u64| {
        let issued = Nanos::from_secs(second);
        let io = TraceIo::new(issued, Operation::Read, Bytes(second * 4096), Bytes(4096));
        TraceIo { completed: Some(Nanos(issued.0 + 1000)), ..io }
    };
    let ios: Vec<TraceIo> = (0..10).chain(90..100).map(read).collect();
    let pictures = pictures(&page(&[described("t", Header::default(), &ios)], dir.path()));
    let depths = pictures.iter().find(|picture| picture.id == "trace-depths-over-time").unwrap();
    assert_eq!(depths.markup.matches("data-name").count(), 2);
    assert_eq!(depths.dots(), 40, "a dot for each window in which something was issued");
    assert!(!depths.markup.contains("stroke-linejoin"), "no line");
}

#[test]
fn a_page_replaces_nothing_but_a_page() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let traces = [sample("desk.trace", false)];
    for _ in 0..2 {
        page(&traces, &out);
    }
    // Interrupted before the page was there.
    fs::remove_file(out.join("index.html")).unwrap();
    page(&traces, &out);

    let other = dir.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("index.html"), "<title>My holidays</title>").unwrap();
    let refused = write_trace_page(&traces, &other).unwrap_err().to_string();
    assert!(refused.contains("holds no page") && refused.contains("a new directory"), "{refused}");
    assert_eq!(fs::read_dir(&other).unwrap().count(), 1);
    fs::remove_file(other.join("index.html")).unwrap();
    page(&traces, &other);
}

/// Two reads among a thousand writes have a dot each; a dense map has none.
#[test]
fn single_cells_of_the_map_are_seen() {
    let dir = tempfile::tempdir().unwrap();
    let io = |index: u64| {
        let operation = if index % 500 == 250 { Operation::Read } else { Operation::Write };
        let offset = Bytes((index * 7919 % 4000) << 20);
        TraceIo::new(Nanos(index * 1_000_000), operation, offset, Bytes(4096))
    };
    let ios: Vec<TraceIo> = (0..1000).map(io).collect();
    let pictures = pictures(&page(&[described("t", Header::default(), &ios)], dir.path()));
    for (id, is_seen) in [("trace-read-offsets", true), ("trace-write-offsets", false)] {
        let picture = pictures.iter().find(|picture| picture.id == id).unwrap();
        let has_dots = picture.markup.contains("stroke-linecap=\"square\"");
        assert_eq!(has_dots, is_seen, "{id}");
        let svg = fs::read_to_string(dir.path().join(format!("pictures/{id}.svg"))).unwrap();
        let cells = svg.split("crispEdges").nth(1).unwrap().split("</g>").next().unwrap();
        assert_eq!(cells.contains("stroke-width"), is_seen, "{id}");
    }
}

/// A rounded share would say that all are known.
#[test]
fn what_is_not_known_is_counted() {
    let told = |completed: fn(u64) -> Option<Nanos>, queue_depth: fn(u64) -> Option<u32>| {
        let read = |index: u64| TraceIo {
            completed: completed(index),
            queue_depth: queue_depth(index),
            ..TraceIo::new(Nanos(index), Operation::Read, Bytes(index * 4096), Bytes(4096))
        };
        let ios: Vec<TraceIo> = (0..4020).map(read).collect();
        trace_summary(&[described("t", Header::default(), &ios)])
    };
    let text = told(|index| (index >= 4).then_some(Nanos(index)), |_| Some(1));
    assert!(text.contains("! Completions are not known of 4 of 4,020 operations.\n"), "{text}");
    let text = told(|_| None, |index| (index != 9).then_some(1));
    assert!(
        text.contains("! Queue depths are not known of 1 of 4,020 reads and writes.\n"),
        "{text}"
    );
}

#[test]
fn names_cannot_break_out_of_the_page() {
    let dir = tempfile::tempdir().unwrap();
    let mut evil = sample("</script><script>alert(1)</script><b>&", true);
    evil.header.source = "<i>".to_owned();
    evil.header.streams = vec!["<u>".to_owned(); 3];
    let html = page(&[evil], dir.path());
    for broken in ["<script>alert", "<b>&", "<i>", "<u>"] {
        assert!(!html.contains(broken), "{broken} became markup");
    }
}

#[test]
fn the_table_is_what_the_documents_print() {
    let expected = "\
desk.trace
  a desk, a test

  Reads                                                750
  Writes                                               248
  Trims                                                  1
  Flushes                                                1
  Data read                                        3.07 MB
  Data written                                     1.02 MB
  Data trimmed                                     4.10 kB
  Mean read                                        4.10 kB
  Mean write                                       4.10 kB
  4 KiB: all / reads / writes      100.0 / 100.0 / 100.0 %
  16 KiB                                 0.0 / 0.0 / 0.0 %
  32 KiB                                 0.0 / 0.0 / 0.0 %
  64 KiB                                 0.0 / 0.0 / 0.0 %
  128 KiB                                0.0 / 0.0 / 0.0 %
  Other sizes                            0.0 / 0.0 / 0.0 %
  Sequential                           50.1 / 66.7 / 0.0 %
  Average queue depth                                1.999
  At queue depth 1                                   0.1 %
  Highest queue depth                                    2
  Duration                                          1.00 s
  Busy                                    1.00 s (100.0 %)
  Busy with reads                          875 ms (87.5 %)
  Busy with writes                         372 ms (37.2 %)
  Mean service time            1.50 ms / 1.50 ms / 1.50 ms
  Service time p50             1.50 ms / 1.50 ms / 1.50 ms
  Service time p99             1.50 ms / 1.50 ms / 1.50 ms
  Longest service time         1.50 ms / 1.50 ms / 1.50 ms
  Footprint                    4.09 MB / 3.07 MB / 1.02 MB
  Rewritten                                          0.0 %
  Compressible                                   not known

  Streams: desk.trace
                        of ops  of data
";
    let text = trace_summary(&[sample("desk.trace", false)]);
    assert!(text.starts_with(expected), "{text}");
    let both = trace_summary(&[sample("desk.trace", false), sample("made.trace", true)]);
    assert!(both.contains("[2] made.trace") && both.contains("made.trace (SYNTHETIC)"), "{both}");
    assert!(both.lines().all(|line| line.chars().count() <= 100), "{both}");
}

#[test]
fn a_footprint_that_is_not_known_is_said_to_be_so() {
    let dir = tempfile::tempdir().unwrap();
    let mut trace = sample("wide.trace", false);
    let info = &mut trace.info;
    for transfers in [&mut info.transfers, &mut info.reads, &mut info.writes] {
        transfers.footprint_bytes = None;
    }
    info.rewritten = None;
    info.windows.iter_mut().for_each(|window| window.touched_bytes = None);
    let text = trace_summary(std::slice::from_ref(&trace));
    assert!(text.contains("more places than 1 GiB of memory can note"), "{text}");
    for figure in ["Footprint", "Rewritten"] {
        let line = text.lines().find(|line| line.trim_start().starts_with(figure));
        assert!(line.is_some_and(|line| line.ends_with("not known")), "{line:?}");
    }
    let html = page(&[trace], dir.path());
    assert!(html.contains("more places than 1 GiB") && !html.contains("trace-working-set"));
}

#[test]
fn a_browser_shows_every_picture_at_any_width() {
    let Some(chromium) = chromium() else { return };
    let dir = tempfile::tempdir().unwrap();
    let traces = [sample("desk.trace", false), sample("made.trace", true)];
    let html = write_trace_page(&traces, dir.path()).unwrap();
    let mut opened = Browser::open(&chromium, &html);
    for width in [1280, 390] {
        opened.resize(width);
        opened.wait_for("document.documentElement.scrollWidth <= window.innerWidth");
        opened.wait_for(
            "[...document.querySelectorAll('.plot .picture')].every(drawn => { \
             const box = drawn.getBoundingClientRect(); \
             return box.width > 200 && box.right <= window.innerWidth; })",
        );
    }
    opened.press(".switch button[data-value=\"1\"]");
    opened.wait_for(
        "[...document.querySelectorAll('figure')].filter(figure => !figure.hidden).length === 9",
    );
    opened.assert_no_complaints();
}
