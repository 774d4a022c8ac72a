//! Page and summary of runs on simulated drives: what they say, and what a browser makes of them.
#![allow(clippy::unwrap_used)]

mod browser;

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use browser::{Browser, chromium};
use writecliff_device::Nanos;
use writecliff_report::{Run, summary, write_page};
use writecliff_sim::{Ssd, load};
use writecliff_suite::{LatencyFigures, Plan, RunOptions, consistency, run};

const SECONDS: u64 = 200;

/// Runs the consistency test on the tiny drive.
fn tiny(path: &Path, spare_percent: f64) -> Run {
    let duration = Nanos::from_secs(SECONDS);
    let plan = consistency::Plan { duration, spare_percent, ..consistency::Plan::default() };
    let mut ssd = Ssd::new(load("tiny").unwrap().into_ssd().unwrap(), "sim:tiny");
    run(&Plan::Consistency(plan), &mut ssd, path, RunOptions::default(), &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap();
    Run::open(path).unwrap()
}

fn page(runs: &[Run], out: &Path) -> String {
    fs::read_to_string(write_page(runs, out).unwrap()).unwrap()
}

#[test]
fn the_same_runs_give_the_same_page() {
    let dir = tempfile::tempdir().unwrap();
    let runs = [tiny(&dir.path().join("run"), 0.0)];
    let (one, two) = (page(&runs, &dir.path().join("a")), page(&runs, &dir.path().join("b")));
    assert!(one == two, "two pages of the same run differ");
    let files = fs::read_dir(dir.path().join("a")).unwrap().count();
    assert_eq!(files, 1, "nothing but the page is left");
}

#[test]
fn names_cannot_break_out_of_the_page() {
    let dir = tempfile::tempdir().unwrap();
    let mut evil = tiny(&dir.path().join("run"), 0.0);
    evil.record.drive.model = "</script><script>alert(1)</script><b>&".to_owned();
    let html = page(&[evil], &dir.path().join("page"));
    assert!(!html.contains("<script>alert"), "the model's name became a script");
    assert!(!html.contains("<b>&"), "the model's name became markup");
}

#[test]
fn a_run_without_a_second_of_random_writes_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut ssd = Ssd::new(load("tiny").unwrap().into_ssd().unwrap(), "sim:tiny");
    let plan = Plan::Consistency(consistency::Plan::default());
    let mut stop_at_once = |_: &writecliff_suite::Progress<'_>| ControlFlow::Break(());
    run(&plan, &mut ssd, &path, RunOptions::default(), &mut stop_at_once).unwrap();
    let runs = [Run::open(&path).unwrap()];
    assert!(page(&runs, &dir.path().join("page")).contains("there are no figures"));
    let text = summary(&runs);
    assert!(text.contains("interrupted") && text.contains("Steady mean"), "{text}");
}

#[test]
fn the_summary_is_what_a_person_reads_in_ten_seconds() {
    let dir = tempfile::tempdir().unwrap();
    let mut run = tiny(&dir.path().join("run"), 0.0);
    run.record.warnings = vec![writecliff_suite::Warning::FileNotDrive];
    let Some(writecliff_suite::Outcome::Consistency(outcome)) = &mut run.record.outcome else {
        panic!("no outcome");
    };
    // Figures of its own, so that this golden text is about words and not about the model.
    outcome.fresh_iops = 66_666.7;
    outcome.cliff_s = Some(56);
    outcome.steady_iops = writecliff_measure::Statistics {
        mean: 6_922.6,
        median: 6_924.0,
        floor: 6_100.0,
        p1: 6_150.0,
        peak: 7_500.0,
        variation: 0.0412,
    };
    outcome.floor_to_mean = 0.881;
    outcome.steady_latency = LatencyFigures {
        p50_ns: 4_460_000,
        p99_ns: 8_980_000,
        p999_ns: 11_000_000,
        p9999_ns: 12_100_000,
        max_ns: 15_000_000,
    };
    (outcome.longest_ns, outcome.dead_seconds) = (1_270_000_000, 2);
    outcome.steady_write_amplification = Some(8.8234);
    outcome.fill_megabytes_per_second = Some(273.07);
    let expected = "\
Tiny (SIMULATED): consistency, complete
  purge, sequential fill, then 200 s of 4KiB random writes at QD32
  ! This is a file, not a drive: the file system and its cache policy are part
    of what was measured.

  Fresh                 66,667 IOPS
  Write cliff            after 56 s
  Steady mean            6,923 IOPS
  Steady median          6,924 IOPS
  Floor                  6,100 IOPS
  Floor / mean                 88 %
  1st percentile         6,150 IOPS
  Variation                     4 %
  Latency p50               4.46 ms
  Latency p99               8.98 ms
  Latency p99.9             11.0 ms
  Latency p99.99            12.1 ms
  Longest write              1.27 s
  Dead seconds                    2
  Write amplification          8.82
  Sequential fill          273 MB/s
";
    assert_eq!(summary(&[run]), expected);
}

/// Axis types and ranges of every picture of a view, as Plotly has them.
const AXES: &str = "['whole', 'steady-log', 'steady-linear'].map(view => \
    [...document.querySelectorAll('#view-' + view + ' .js-plotly-plot')].map(plot => \
    [plot._fullLayout.yaxis.type, plot._fullLayout.yaxis.range, plot._fullLayout.xaxis.range]))";

/// How many runs the three pictures and the table show.
const SHOWN: &str = "['whole', 'steady-log', 'steady-linear'].map(view => \
    document.querySelectorAll('#view-' + view + ' .js-plotly-plot').length)";

/// Dots drawn in the first picture of a view.
fn dots(view: &str) -> String {
    format!(
        "document.querySelector('#view-{view} .js-plotly-plot').querySelectorAll('.point').length"
    )
}

#[test]
fn a_browser_without_a_network_shows_every_second_and_switches_runs() {
    let Some(chromium) = chromium() else { return };
    let dir = tempfile::tempdir().unwrap();
    let runs = [tiny(&dir.path().join("a"), 0.0), tiny(&dir.path().join("b"), 25.0)];
    let html = write_page(&runs, &dir.path().join("page")).unwrap();
    let mut opened = Browser::open(&chromium, &html);
    opened.resize(1280);
    opened.wait_for(&format!("{SHOWN}.every(count => count === 2)"));

    let steady = SECONDS * 3 / 10;
    assert_eq!(opened.evaluate(&dots("whole")), SECONDS);
    assert_eq!(opened.evaluate(&dots("steady-log")), steady);
    assert_eq!(opened.evaluate(&dots("steady-linear")), steady);

    let both = opened.evaluate(AXES);
    for (view, expected) in ["log", "log", "linear"].into_iter().enumerate() {
        assert_eq!(both[view][0][0], expected);
        assert_eq!(both[view][0], both[view][1], "runs side by side have different axes");
    }
    for (run, label) in ["Tiny", "Tiny, 25 % spare"].into_iter().enumerate() {
        let button = format!("button[data-run=\"{run}\"]");
        opened.press(&button);
        opened.wait_for(&format!("{SHOWN}.every(count => count === 1)"));
        let drawn = opened.evaluate(AXES);
        for view in 0..3 {
            assert_eq!(drawn[view][0], both[view][run], "switching moved an axis");
        }
        let captions = "[...document.querySelectorAll('.plots figcaption')].every(caption => \
            caption.firstChild.textContent.trim() === ";
        opened.wait_for(&format!("{captions}{label:?})"));
        let pressed = format!("document.querySelector('{button}').getAttribute('aria-pressed')");
        assert_eq!(opened.evaluate(&pressed), "true");
        let columns =
            "[...document.querySelectorAll('thead th[data-run]')].filter(th => !th.hidden).length";
        assert_eq!(opened.evaluate(columns), 1, "the table shows the chosen run");
    }
    opened.press("button[data-run=\"all\"]");
    opened.wait_for(&format!("{SHOWN}.every(count => count === 2)"));

    for width in [1280, 390] {
        opened.resize(width);
        opened.wait_for("document.documentElement.scrollWidth <= window.innerWidth");
        let fits = "[...document.querySelectorAll('.js-plotly-plot')].every(plot => \
            plot.querySelector('.main-svg').getBoundingClientRect().right <= window.innerWidth)";
        opened.wait_for(fits);
    }
    opened.assert_no_complaints();
}

#[test]
fn dead_seconds_are_drawn_at_the_bottom_of_the_log_axis() {
    let Some(chromium) = chromium() else { return };
    let dir = tempfile::tempdir().unwrap();
    let mut run = tiny(&dir.path().join("run"), 0.0);
    let dead = [100, 150, 151];
    let torture = run.recording.samples.iter_mut().filter(|s| s.phase == consistency::TORTURE);
    torture.filter(|sample| dead.contains(&sample.second)).for_each(|sample| sample.writes = 0);
    let html = write_page(&[run], &dir.path().join("page")).unwrap();
    let mut opened = Browser::open(&chromium, &html);
    opened.wait_for(&format!("{} === {SECONDS}", dots("whole")));
    let triangles = "document.querySelector('#view-whole .js-plotly-plot').data[1].x";
    assert_eq!(opened.evaluate(triangles), serde_json::json!(dead));
    let lowest = "document.querySelector('#view-whole .js-plotly-plot').layout.yaxis.ticktext[0]";
    assert_eq!(opened.evaluate(lowest), "0");
    opened.assert_no_complaints();
}
