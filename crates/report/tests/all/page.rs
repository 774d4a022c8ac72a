//! Page and summary of runs on simulated drives: what they say, and what a browser makes of them.
use crate::drives;

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use drives::{alone, consistency, page};
use writecliff_device::{Bytes, OwnCounters, Telemetry};
use writecliff_report::{Run, Subject, summary};
use writecliff_sim::{Ssd, load};
use writecliff_suite::{LatencyFigures, Plan, RunOptions, run};

const SECONDS: u64 = 200;

fn tiny(path: &Path, spare_percent: f64) -> Run {
    consistency(path, SECONDS, spare_percent)
}

/// Every file below a directory, with what is in it.
fn files(path: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for folder in [path.to_owned(), path.join("pictures")] {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.path().is_file() {
                let name = entry.file_name().into_string().unwrap();
                files.push((name, fs::read(entry.path()).unwrap()));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn the_same_runs_give_the_same_files() {
    let dir = tempfile::tempdir().unwrap();
    let subjects = [alone(tiny(&dir.path().join("run"), 0.0))];
    let (one, two) = (dir.path().join("a"), dir.path().join("b"));
    page(&subjects, &one);
    page(&subjects, &two);
    let (one, two) = (files(&one), files(&two));
    assert!(one == two, "two pages of the same run differ");
    let is_expected = |name: &str| [".html", ".svg", ".csv"].iter().any(|end| name.ends_with(end));
    assert!(one.iter().all(|(name, _)| is_expected(name)), "something else is left");
}

#[test]
fn what_a_drive_counted_of_itself_is_a_table_by_phase_and_figures() {
    let dir = tempfile::tempdir().unwrap();
    let mut run = tiny(&dir.path().join("run"), 0.0);
    let html = page(&[alone(run.clone())], &dir.path().join("without"));
    assert!(!html.contains("What did the drive count of itself"));
    let (mut host, mut nand) = (Bytes::from_gib(10), Bytes::from_gib(20));
    let mut told = |host_more: u64, nand_more: u64| {
        (host, nand) = (host + Bytes::from_gib(host_more), nand + Bytes::from_gib(nand_more));
        Telemetry {
            host_written: Some(host),
            nand_written: Some(nand),
            wear_permille: Some(nand.0 >> 33),
            own: Some(OwnCounters {
                written_unit: Bytes::from_mib(1),
                media_errors: Some(3),
                ..OwnCounters::default()
            }),
            ..Telemetry::default()
        }
    };
    for (phase, more) in run.record.phases.iter_mut().zip([(10, 11), (20, 60)]) {
        (phase.before, phase.after) = (told(0, 0), told(more.0, more.1));
    }
    let figures = run.record.figures();
    let of = |name: &str| figures.iter().find(|figure| figure.name == name).unwrap().value;
    assert!((of("drive's write amplification") - 71.0 / 30.0).abs() < 1e-9);
    assert!(of("drive's endurance used") > 0.0);
    let html = page(&[alone(run)], &dir.path().join("with"));
    for words in [
        "What did the drive count of itself",
        "1.10",
        "3.00",
        "2.37",
        "Throughout: new media errors 0.",
    ] {
        assert!(html.contains(words), "{words}");
    }
    assert!(!html.contains("too warm"), "what the drive does not count has no column");
}

#[test]
fn names_cannot_break_out_of_the_page() {
    let dir = tempfile::tempdir().unwrap();
    let mut evil = tiny(&dir.path().join("run"), 0.0);
    evil.record.drive.model = "</script><script>alert(1)</script><b>&".to_owned();
    let html = page(&[alone(evil)], &dir.path().join("page"));
    assert!(!html.contains("<script>alert"), "the model's name became a script");
    assert!(!html.contains("<b>&"), "the model's name became markup");
    for (name, text) in files(&dir.path().join("page")) {
        let is_svg = name.ends_with(".svg");
        assert!(!is_svg || !String::from_utf8(text).unwrap().contains("<script"), "{name}");
    }
}

#[test]
fn a_run_without_a_second_of_random_writes_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut ssd = Ssd::new(load("tiny").unwrap().into_ssd().unwrap(), "sim:tiny");
    let plan = Plan::Consistency(writecliff_suite::consistency::Plan::default());
    let mut stop_at_once = |_: &writecliff_suite::Progress<'_>| ControlFlow::Break(());
    run(&plan, &mut ssd, &path, RunOptions::default(), &mut stop_at_once).unwrap();
    let runs = [Subject::open(&path).unwrap()];
    assert!(
        page(&runs, &dir.path().join("page"))
            .contains("did not come to its first second of random writes")
    );
    let text = summary(&runs);
    assert!(text.contains("interrupted") && !text.contains("Steady mean"), "{text}");
    assert!(text.contains("no figures"), "{text}");
}

#[test]
fn a_run_that_was_broken_off_in_its_fill_tells_how_fast_that_was_and_draws_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let profile = load("samsung-840-evo-250gb").unwrap().into_ssd().unwrap();
    let mut ssd = Ssd::new(profile, "sim:samsung-840-evo-250gb");
    let plan = Plan::Consistency(writecliff_suite::consistency::Plan::default());
    let mut seconds = 0;
    let mut stop_soon = |_: &writecliff_suite::Progress<'_>| {
        seconds += 1;
        if seconds > 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    run(&plan, &mut ssd, &path, RunOptions::default(), &mut stop_soon).unwrap();
    let runs = [Subject::open(&path).unwrap()];
    let page = page(&runs, &dir.path().join("page"));
    assert!(page.contains("of its fill were recorded, in ") && page.contains(" MB/s on average"));
    assert!(!page.contains("consistency-whole"), "there is nothing to draw");
}

#[test]
fn the_summary_is_what_a_person_reads_in_ten_seconds() {
    let dir = tempfile::tempdir().unwrap();
    let mut run = tiny(&dir.path().join("run"), 0.0);
    run.record.warnings = vec![writecliff_suite::DriveWarning::FileNotDrive.into()];
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
        p1: Some(6_150.0),
        peak: 7_500.0,
        variation: 0.0412,
    };
    outcome.floor_to_mean = 0.881;
    outcome.steady_latency = LatencyFigures {
        p50_ns: 4_460_000,
        p99_ns: Some(8_980_000),
        p999_ns: Some(11_000_000),
        p9999_ns: Some(12_100_000),
        max_ns: 15_000_000,
    };
    (outcome.longest_ns, outcome.dead_seconds) = (1_270_000_000, 2);
    outcome.worst = Some(writecliff_suite::consistency::WorstSecond { second: 102, iops: 2_316.0 });
    outcome.steady_write_amplification = Some(8.8234);
    outcome.fill_megabytes_per_second = Some(273.07);
    let expected = "\
Tiny (SIMULATED): consistency, complete
  purge, sequential fill, then 3 min 20 s of 4 KiB random writes at QD32
  ! This is a file, not a drive, or stands on one: the file system and its cache
    policy are part of what was measured.

  A figure with ? is in doubt, or may be, for the reasons told here.
  Fresh                  66,667 IOPS ?
  Write cliff             after 56 s ?
  Steady window         140 s to 200 s
  Steady mean             6,923 IOPS ?
  Steady median           6,924 IOPS ?
  Floor                   6,100 IOPS ?
  Worst second            2,316 IOPS ?
  Floor / mean                  88 % ?
  1st percentile          6,150 IOPS ?
  Variation                      4 % ?
  Latency p50                4.46 ms ?
  Latency p99                8.98 ms ?
  Latency p99.9              11.0 ms ?
  Latency p99.99             12.1 ms ?
  Longest write               1.27 s ?
  Dead seconds                     2 ?
  Write amplification           8.82 ?
  Sequential fill           273 MB/s ?
";
    assert_eq!(summary(&[alone(run)]), expected);
}
