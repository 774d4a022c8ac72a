//! What a real browser makes of the page: without a network, without scripts, under a strict policy, on
//! a phone, in the dark, on paper; and what a reader can do with it.
use crate::browser;
use crate::drives;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use browser::{Browser, chromium};
use drives::{alone, consistency};
use serde_json::json;
use writecliff_report::{Run, Subject, write_page};

const SECONDS: u64 = 200;

fn tiny(path: &Path) -> Run {
    consistency(path, SECONDS, 0.0)
}

/// A page about so many drives that differ in name.
fn page(dir: &Path, drives: usize) -> PathBuf {
    let run = tiny(&dir.join("run"));
    let named = |index: usize| {
        let mut run = run.clone();
        run.record.drive.model = format!("Drive {}", index + 1);
        alone(run)
    };
    let subjects: Vec<Subject> = (0..drives).map(named).collect();
    write_page(&subjects, &dir.join("page")).unwrap()
}

/// Serves one file to everybody, with one more header; returns its address.
fn serve(page: &Path, header: &'static str) -> String {
    let (listener, body) = (TcpListener::bind("127.0.0.1:0").unwrap(), fs::read(page).unwrap());
    let address = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(&mut stream).lines();
            while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            let length = body.len();
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\
                 Connection: close\r\n{header}\r\n"
            );
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
        }
    });
    address
}

/// How many pictures are seen, all of them wide enough to be read.
const SEEN: &str = "[...document.querySelectorAll('.plot')].filter(plot => plot.offsetParent && \
    plot.querySelector('svg').getBoundingClientRect().width > 150 && \
    plot.querySelector('.data path')).length";

const WHOLE: &str = "document.querySelector('#consistency-whole .plot')";

#[test]
fn pictures_are_there_without_scripts_and_under_the_strictest_policy() {
    let Some(chromium) = chromium() else { return };
    let dir = tempfile::tempdir().unwrap();
    let moved = dir.path().join("alone.html");
    fs::copy(page(dir.path(), 1), &moved).unwrap();
    let mut opened = Browser::open(&chromium, &moved);
    let all = opened.evaluate("document.querySelectorAll('.plot').length");
    assert!(all.as_u64().unwrap() >= 5);
    assert_eq!(opened.evaluate(SEEN), all);
    opened.assert_no_complaints();
    // The page's own policy allows its script over a network as well.
    opened.go(&serve(&moved, ""));
    assert_eq!(opened.evaluate(&format!("{WHOLE}.tabIndex")), 0);
    opened.assert_no_complaints();

    let strict = serve(&moved, "Content-Security-Policy: sandbox; default-src 'none'\r\n");
    let mut bare = Browser::start(&chromium);
    bare.without_scripts();
    for address in [format!("file://{}", moved.display()), strict] {
        bare.go(&address);
        assert_eq!(bare.evaluate(SEEN), all, "{address}");
    }
    bare.go(&format!("file://{}", page(&dir.path().join("two"), 2).display()));
    let buttons = "[...document.querySelectorAll('button')].filter(b => b.offsetParent).length";
    assert_eq!(bare.evaluate(buttons), 0, "what needs a script is not there without one");
}

#[test]
fn axes_beside_each_other_are_level_whatever_stands_above_them() {
    let Some(chromium) = chromium() else { return };
    let dir = tempfile::tempdir().unwrap();
    let run = tiny(&dir.path().join("run"));
    let called = |name: &str| {
        let mut run = run.clone();
        run.record.drive.model = name.to_owned();
        alone(run)
    };
    let long = "A drive whose name is so long that it takes a second line above its picture";
    let subjects = [called(long), called("Short")];
    let mut opened =
        Browser::open(&chromium, &write_page(&subjects, &dir.path().join("page")).unwrap());
    opened.resize(1440);
    let tops = "[...document.querySelectorAll('#consistency-whole .sheet')] \
        .map(sheet => sheet.getBoundingClientRect().top)";
    let tops = opened.evaluate(tops);
    assert_eq!(tops[0], tops[1]);
    let captions = "[...document.querySelectorAll('#consistency-whole figcaption')] \
        .map(caption => caption.getClientRects()[0].height > 30)";
    assert_eq!(opened.evaluate(captions), json!([true, false]), "one of them takes two lines");
    // Of rows, too: a long value takes no width from its own row alone.
    let widths = "new Set([...document.querySelectorAll('#consistency-range li:not(.axis) svg')] \
        .map(row => row.getBoundingClientRect().width)).size";
    assert_eq!(opened.evaluate(widths), 1);
}

#[test]
fn every_width_and_colour_shows_pictures_that_can_be_read() {
    let Some(chromium) = chromium() else { return };
    let dir = tempfile::tempdir().unwrap();
    let mut opened = Browser::open(&chromium, &page(dir.path(), 4));
    for width in [1440, 800, 390] {
        opened.resize(width);
        opened.wait_for("document.documentElement.scrollWidth <= window.innerWidth");
        let smallest = "Math.min(...[...document.querySelectorAll('.plot text')].map(text => \
            parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a))";
        assert!(opened.evaluate(smallest).as_f64().unwrap() >= 11.0);
        let cut = "[...document.querySelectorAll('.plot .tick text, .plot .title')].filter(text => \
            text.getClientRects().length && \
            (text.getBoundingClientRect().right > innerWidth || \
             text.getBoundingClientRect().left < 0)).length";
        assert_eq!(opened.evaluate(cut), 0, "texts leave a window of {width}");
        let collide = "[...document.querySelectorAll('.tick.x')].some(ticks => { \
            const boxes = [...ticks.children].map(text => text.getBoundingClientRect()) \
                .filter(box => box.width > 0); \
            return boxes.some((box, i) => i > 0 && box.left < boxes[i - 1].right + 2); })";
        assert_eq!(opened.evaluate(collide), false, "ticks run into each other at {width}");
    }
    let ink = "getComputedStyle(document.querySelector('.tick')).fill";
    let light = opened.evaluate(ink);
    opened.media("screen", true);
    assert_ne!(opened.evaluate(ink), light, "text of pictures follows the dark");
    opened.assert_no_complaints();
}

#[test]
fn paper_has_no_buttons_and_few_pages() {
    let Some(chromium) = chromium() else { return };
    let dir = tempfile::tempdir().unwrap();
    let mut opened = Browser::open(&chromium, &page(dir.path(), 1));
    let (pages, bytes) = opened.print();
    assert!((1..=6).contains(&pages), "{pages} pages");
    assert!(bytes < 1 << 20, "{bytes} bytes");
    opened.media("print", true);
    let shown =
        "[...document.querySelectorAll('button, nav')].filter(one => one.offsetParent).length";
    assert_eq!(opened.evaluate(shown), 0);
    let paper = "getComputedStyle(document.body).backgroundColor";
    assert_eq!(opened.evaluate(paper), "rgb(255, 255, 255)", "paper is light in the dark as well");
}

/// A place of the axes' area of the first picture of the whole run, from its lower left corner.
fn place(opened: &mut Browser, x: f64, y: f64) -> (f64, f64) {
    opened.evaluate(&format!("{WHOLE}.scrollIntoView({{ block: 'center' }})"));
    let grid = format!("{WHOLE}.querySelector('.grid.y').getBoundingClientRect()");
    let side = |opened: &mut Browser, name: &str| {
        opened.evaluate(&format!("{grid}.{name}")).as_f64().unwrap()
    };
    let (left, right) = (side(opened, "left"), side(opened, "right"));
    let (top, bottom) = (side(opened, "top"), side(opened, "bottom"));
    (left + (right - left) * x, bottom - (bottom - top) * y)
}

#[test]
fn a_pointer_and_the_arrow_keys_read_the_values_of_a_second() {
    let Some(chromium) = chromium() else { return };
    let dir = tempfile::tempdir().unwrap();
    let mut opened = Browser::open(&chromium, &page(dir.path(), 1));
    opened.resize(1280);
    let at = place(&mut opened, 0.25, 0.5);
    opened.mouse(&[at], false);
    let told = opened.evaluate("document.querySelector('.tip').textContent");
    let told = told.as_str().unwrap();
    let csv = fs::read_to_string(dir.path().join("page/pictures/consistency-whole.csv")).unwrap();
    assert_agrees(told, &csv);
    let crossed = "[...document.querySelectorAll('.cross')].map(c => c.closest('.view').id)";
    let crossed = opened.evaluate(crossed);
    let all: Vec<&str> = crossed.as_array().unwrap().iter().map(|c| c.as_str().unwrap()).collect();
    assert!(
        all.contains(&"consistency-whole") && all.contains(&"consistency-latency-map"),
        "{all:?}"
    );

    opened.evaluate(&format!("{WHOLE}.focus()"));
    for key in ["Home", "ArrowRight", "ArrowRight"] {
        opened.key(key);
    }
    let announced = opened.evaluate("document.querySelector('[aria-live]').textContent");
    assert!(announced.as_str().unwrap().starts_with("2 s; "), "{announced}");
    assert_agrees(&announced.as_str().unwrap().replace("; ", "\n"), &csv);

    opened.evaluate("document.querySelector('#consistency-latency-map .plot').focus()");
    opened.key("ArrowRight");
    let cell = opened.evaluate("document.querySelector('[aria-live]').textContent");
    let cell = cell.as_str().unwrap();
    assert!(cell.starts_with("0 s; ") && cell.ends_with("% of the I/Os"), "{cell}");
    assert!(cell.contains("s to "), "the latencies of the cell: {cell}");
    opened.assert_no_complaints();
}

/// `50 s` and `66,700 IOPS` are what the file says of second 50, in three digits.
fn assert_agrees(told: &str, csv: &str) {
    let (second, value) = told.split_once('\n').unwrap();
    let second = second.strip_suffix(" s").unwrap();
    let row = csv.lines().find_map(|row| row.strip_prefix(&format!("{second},"))).unwrap();
    let told: f64 = value.strip_suffix(" IOPS").unwrap().replace(',', "").parse().unwrap();
    let exact: f64 = row.parse().unwrap();
    assert!((told / exact - 1.0).abs() < 0.006, "{told} for {exact}");
}

const ZOOMED: &str = "[...document.querySelectorAll('.plot')].map(plot => \
    !plot.querySelector('.data').getAttribute('viewBox').startsWith('0 0 4000 '))";

/// Drags over a part of the picture of the whole run.
fn drag(opened: &mut Browser) {
    let places = [0.2, 0.3, 0.5].map(|x| place(opened, x, 0.5));
    opened.mouse(&places, true);
}

/// Where what it shows begins.
fn first_shown(opened: &mut Browser) -> f64 {
    let view = opened.evaluate(&format!("{WHOLE}.querySelector('.data').getAttribute('viewBox')"));
    view.as_str().unwrap().split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn a_drag_zooms_every_picture_of_the_axis_and_can_be_undone() {
    let Some(chromium) = chromium() else { return };
    let dir = tempfile::tempdir().unwrap();
    let mut opened = Browser::open(&chromium, &page(dir.path(), 2));
    opened.resize(1280);
    let whole = opened.evaluate(ZOOMED);
    let same = format!(
        "[...document.querySelectorAll('.plot')].map(plot => plot.dataset.x === {WHOLE}.dataset.x)"
    );
    let same = opened.evaluate(&same);
    for undo in ["Escape", "button"] {
        drag(&mut opened);
        assert_eq!(opened.evaluate(ZOOMED), same, "those of the axis and no others");
        let ticks = opened.evaluate(&format!("{WHOLE}.querySelectorAll('.tick.x text').length"));
        assert!(ticks.as_u64().unwrap() >= 3, "a zoomed axis has its ticks");
        match undo {
            "button" => opened.press(".undo"),
            _ => opened.key(undo),
        }
        opened.wait_for("document.querySelector('.undo').hidden");
        assert_eq!(opened.evaluate(ZOOMED), whole);
    }
    opened.assert_no_complaints();
}

#[test]
fn any_drives_can_be_chosen_and_the_address_keeps_what_was_chosen() {
    let Some(chromium) = chromium() else { return };
    let dir = tempfile::tempdir().unwrap();
    let page = page(dir.path(), 4);
    let mut opened = Browser::open(&chromium, &page);
    opened.resize(1280);
    let shown = "[...document.querySelectorAll('#consistency-whole figure')].map(f => !f.hidden)";
    for value in ["0", "2"] {
        opened.press(&format!(".switch button[data-value=\"{value}\"]"));
    }
    let two = json!([true, false, true, false]);
    assert_eq!(opened.evaluate(shown), two);
    let columns = "[...document.querySelectorAll('#consistency thead th[data-subject]')] \
        .filter(head => head.offsetParent).length";
    assert_eq!(opened.evaluate(columns), 2, "tables show what is chosen");
    drag(&mut opened);
    let address = opened.evaluate("location.href");
    let address = address.as_str().unwrap().to_owned();
    assert!(address.contains("#drives=1,3&zoom="), "{address}");
    let zoomed = first_shown(&mut opened);
    opened.go(&address);
    opened.wait_for(&format!("JSON.stringify({shown}) === '{two}'"));
    let restored = first_shown(&mut opened);
    assert!((zoomed - restored).abs() < 1.0, "{zoomed} {restored}");
    opened.press(".switch button[data-value=\"all\"]");
    assert_eq!(opened.evaluate(shown), json!([true, true, true, true]));
    opened.assert_no_complaints();
}

#[test]
fn a_link_s_target_is_not_hidden_below_the_bar_of_twelve_drives() {
    let Some(chromium) = chromium() else { return };
    let dir = tempfile::tempdir().unwrap();
    let page = page(dir.path(), 12);
    let mut opened = Browser::open(&chromium, &page);
    for width in [1280, 390] {
        opened.resize(width);
        opened.evaluate("location.hash = ''; location.hash = '#consistency-latency'");
        let below = "document.querySelector('#consistency-latency h3').getBoundingClientRect().top \
            >= document.querySelector('.switch').getBoundingClientRect().bottom";
        opened.wait_for(below);
    }
}

#[test]
fn dead_seconds_are_drawn_at_the_bottom_of_the_log_axis() {
    let Some(chromium) = chromium() else { return };
    let dir = tempfile::tempdir().unwrap();
    let mut run = tiny(&dir.path().join("run"));
    let dead = [100, 150, 151];
    let torture = writecliff_suite::consistency::TORTURE;
    let torture = run.recording.samples.iter_mut().filter(|s| s.series == torture);
    torture.filter(|sample| dead.contains(&sample.second)).for_each(|sample| sample.writes = 0);
    let html = write_page(&[alone(run)], &dir.path().join("page")).unwrap();
    let mut opened = Browser::open(&chromium, &html);
    let zeros =
        format!("{WHOLE}.querySelector('[data-zero]').getAttribute('d').match(/m/gi).length");
    assert_eq!(opened.evaluate(&zeros), dead.len());
    assert_eq!(opened.evaluate(&format!("{WHOLE}.querySelector('.tick text').textContent")), "0");
    opened.assert_no_complaints();
}
