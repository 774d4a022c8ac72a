//! Sweeps on this machine: the points they make, their rows, and what becomes of them when they are
//! broken off.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use writecliff_columns::ColumnFile;
use writecliff_device::Bytes;
use writecliff_sweep::{
    End, GoOn, Row, Sweep, SweepError, SweepRun, TABLE, Work, all_here, write_page,
};

/// A sweep of the toy drive by a plan of seconds.
fn sweep(more: &str) -> Sweep {
    let text = format!(
        "drive = \"sim:tiny\"\ntest = \"consistency\"\nfigures = [\"steady mean\", \"write \
         amplification\"]\n{more}"
    );
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("plan.toml");
    fs::write(&path, text).unwrap();
    Sweep::read(&path).unwrap()
}

const GRID: &str = "[plan]\nduration = \"10s\"\n[grid]\n\"plan.spare_percent\" = [0, \
                    20]\n\"drive.gc.quantum\" = [1, 2, 4]\n";
const SAMPLE: &str = "seeds = 2\n[plan]\nduration = \"5s\"\n[sample]\npoints = 16\n[sample.over]\n\
                      \"drive.gc.free_low\" = { from = 3, to = 4 }\n\"plan.spare_percent\" = { from = \
                      0.0, to = 32.0 }\n\"drive.nand.program_time\" = { from = \"100us\", to = \
                      \"1600us\", log = true }\n";

const ON: &(dyn Fn(Option<&Row>) -> ControlFlow<()> + Sync) = &|_| ControlFlow::Continue(());

fn done(sweep: Sweep, path: &Path) -> Vec<Row> {
    let run = SweepRun::begin(sweep, path).unwrap();
    assert_eq!(run.run(None, ON).unwrap(), End::Complete);
    SweepRun::rows(path).unwrap()
}

#[test]
fn a_grid_has_every_combination_and_rows_say_what_they_are_of() {
    let dir = tempfile::tempdir().unwrap();
    let rows = done(sweep(GRID), dir.path());
    let settings: BTreeSet<String> = rows
        .iter()
        .map(|row| {
            format!("{} {}", row.point.plan["spare_percent"], row.point.profile["gc.quantum"])
        })
        .collect();
    assert_eq!((rows.len(), settings.len()), (6, 6));
    assert!(rows.iter().all(|row| row.error.is_none()));
    // Less of the drive in use: less to copy.
    for quantum in [1, 2, 4] {
        let of = |spare: u32| {
            let is_it = |row: &&Row| {
                row.point.profile["gc.quantum"] == json!(quantum)
                    && row.point.plan["spare_percent"] == json!(spare)
            };
            rows.iter().find(is_it).unwrap().figure("write amplification").unwrap()
        };
        assert!(of(20) < of(0), "{quantum}: {} {}", of(20), of(0));
    }
}

#[test]
fn a_latin_hypercube_has_one_point_in_each_part_of_each_range() {
    let points = sweep(SAMPLE).points().unwrap();
    assert_eq!(points.len(), 32);
    assert_eq!(points, sweep(SAMPLE).points().unwrap(), "always the same ones");
    let parts = |share: &dyn Fn(&Value) -> f64, key: &str| -> BTreeSet<u32> {
        let values = points.iter().map(|point| point.value(key).unwrap());
        values.map(|value| (share(&value) * 16.0) as u32).collect()
    };
    let spare = parts(&|value| value.as_f64().unwrap() / 32.0, "plan.spare_percent");
    assert_eq!(spare.len(), 16);
    let microseconds =
        |value: &Value| -> f64 { value.as_str().unwrap().trim_end_matches("us").parse().unwrap() };
    let program =
        parts(&|value| (microseconds(value) / 100.0).log2() / 4.0, "drive.nand.program_time");
    assert!(program.len() >= 15, "four digits may move one over an edge: {program:?}");
    let seeds: Vec<u64> = points.iter().map(|point| point.seed).take(4).collect();
    assert_eq!(seeds, [1, 2, 1, 2]);
}

#[test]
fn rows_do_not_depend_on_when_beside_what_and_in_how_many_goes_they_were_made() {
    let dir = tempfile::tempdir().unwrap();
    let (whole, broken, alone) =
        (dir.path().join("whole"), dir.path().join("broken"), dir.path().join("alone"));
    let expected = done(sweep(GRID), &whole);

    let run = SweepRun::begin(sweep(GRID), &broken).unwrap();
    let rows = AtomicUsize::new(0);
    let twice = |row: Option<&Row>| {
        let seen = rows.fetch_add(usize::from(row.is_some()), Ordering::Relaxed);
        if seen >= 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    assert_eq!(run.run(None, &twice).unwrap(), End::Interrupted);
    let kept = SweepRun::rows(&broken).unwrap();
    assert!(!kept.is_empty() && kept.len() < expected.len(), "{}", kept.len());
    // A kill leaves half a line, and a point under way.
    let journal = broken.join("rows.jsonl");
    let half = fs::read_to_string(&journal).unwrap() + "{\"point\":5,\"dri";
    fs::write(&journal, half).unwrap();
    fs::create_dir_all(broken.join("under-way/5")).unwrap();
    let resumed = SweepRun::resume(&broken).unwrap();
    assert_eq!(resumed.done(), kept);
    assert_eq!(resumed.run(None, ON).unwrap(), End::Complete);
    assert_eq!(SweepRun::rows(&broken).unwrap(), expected);
    let table = |path: &Path| fs::read(path.join(TABLE)).unwrap();
    assert!(table(&broken) == table(&whole), "the same bytes");

    // With memory for one at a time.
    let run = SweepRun::begin(sweep(GRID), &alone).unwrap();
    run.run(Some(Bytes::from_mib(1)), ON).unwrap();
    assert!(table(&alone) == table(&whole), "the same bytes");
    let row = &expected[3];
    let place = dir.path().join("one");
    let wanted = ["steady mean".to_owned(), "write amplification".to_owned()];
    let again = row.point.perform(&wanted, &place, writecliff::UNWATCHED).unwrap().unwrap();
    assert_eq!(again, *row, "a row is made again from its point alone");
}

#[test]
fn what_fails_at_one_point_is_a_row_that_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let text = "[plan]\nduration = \"2s\"\n[grid]\n\"drive.gc.free_high\" = [5, 6, 4000]\n";
    let rows = done(sweep(text), dir.path());
    let errors: Vec<bool> = rows.iter().map(|row| row.error.is_some()).collect();
    assert_eq!(errors, [false, false, true]);
    assert!(rows[2].error.as_ref().unwrap().contains("gc.free_high"), "{:?}", rows[2].error);
    let file = ColumnFile::open(fs::File::open(dir.path().join(TABLE)).unwrap()).unwrap();
    assert_eq!(file.group(0, 100).unwrap().rows(), 3);
}

#[test]
fn a_plan_that_makes_no_sweep_says_what_to_mend() {
    let dir = tempfile::tempdir().unwrap();
    for (more, word) in [
        ("[grid]\n\"gc.quantum\" = [1]\n", "drive.SECTION.KEY"),
        ("[grid]\n\"drive.gc.quantum\" = []\n", "no values"),
        ("[grid]\n\"drive.gc.qantum\" = [1, 2]\n", "quantum"),
        ("[plan]\ndurration = \"2s\"\n", "duration"),
        ("seeds = 0\n", "0 of them"),
        ("[grid]\n\"plan.seed\" = [1, 2]\n", "seeds = N"),
        ("[grid]\ndrive = [\"sim:tiny\"]\n", "name one"),
        (
            "[sample]\npoints = 2\n[sample.over]\n\"plan.duration\" = { from = \"1s\", to = \"2us\" }\n",
            "units",
        ),
    ] {
        let refused = SweepRun::begin(sweep(more), &dir.path().join("none")).unwrap_err();
        assert!(refused.to_string().contains(word), "{refused}");
        assert_eq!(refused.kind(), writecliff::ErrorKind::Usage);
    }
    let real = Sweep { drive: "/dev/sda".to_owned(), ..sweep("") };
    assert!(real.points().unwrap_err().to_string().contains("sim:NAME"));
    assert!(!dir.path().join("none").exists(), "nothing was written");
    fs::write(dir.path().join("other"), "").unwrap();
    let refused = SweepRun::begin(sweep(GRID), dir.path()).unwrap_err();
    assert!(matches!(refused, SweepError::NotEmpty { .. }));
}

#[test]
fn a_page_shows_what_each_key_does_and_what_failed() {
    let dir = tempfile::tempdir().unwrap();
    let text = "[plan]\nduration = \"5s\"\n[grid]\n\"plan.spare_percent\" = [0, 10, \
                20]\n\"drive.gc.victim\" = [\"greedy\", \"fifo\", \"<b>none</b>\"]\n";
    let swept = sweep(text);
    let rows = done(swept.clone(), &dir.path().join("sweep"));
    let page = write_page(&swept, &rows, &dir.path().join("page")).unwrap();
    let html = fs::read_to_string(page).unwrap();
    for words in
        ["What each key does", "steady mean over write amplification", "The best by", "failed:"]
    {
        assert!(html.contains(words), "{words}");
    }
    assert!(!html.contains("<b>none"), "a value became markup");
    // Windows of a few seconds say little of any point, and none is called better than another.
    let ran = || rows.iter().filter(|row| row.error.is_none());
    assert!(ran().all(|row| row.doubts.iter().any(|doubt| doubt.contains("too few"))));
    assert!(html.contains("All points: ") && html.contains(">in doubt<"));
    assert!(!html.contains("class=\"best\""), "what is in doubt wins nothing");
    let csv = dir.path().join("page/pictures/effect-steady-mean-plan-spare-percent.csv");
    let csv = fs::read_to_string(csv).unwrap();
    let means: Vec<f64> = csv
        .lines()
        .skip(1)
        .filter_map(|line| line.rsplit(',').next().unwrap().parse().ok())
        .collect();
    let of = |spare: u32| {
        let rows = rows.iter().filter(|row| row.point.plan["spare_percent"] == json!(spare));
        let values: Vec<f64> = rows.filter_map(|row| row.figure("steady mean")).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    let expected: Vec<f64> = [0, 10, 20].map(of).to_vec();
    let is_close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-6 * b;
    assert!(
        means.len() == 3 && means.iter().zip(&expected).all(is_close),
        "{means:?} {expected:?}"
    );
}

#[test]
fn points_are_counted_before_one_of_them_takes_memory() {
    let values: Vec<Value> = (1..=1000).map(Value::from).collect();
    let keys = ["drive.gc.quantum", "drive.gc.free_low", "plan.queue_depth"];
    let grid = keys.map(|key| (key.to_owned(), values.clone())).into_iter().collect();
    let large = Sweep { grid, ..sweep("") };
    assert_eq!(large.count(), 1_000_000_000);
    let dir = tempfile::tempdir().unwrap();
    let refused = SweepRun::begin(large, &dir.path().join("none")).unwrap_err().to_string();
    for words in ["1000 drive.gc.quantum x 1000", "1,000,000,000 points", "1,000,000 are the most"]
    {
        assert!(refused.contains(words), "{refused}");
    }
    let many = sweep(&SAMPLE.replace("points = 16", "points = 1000000000"));
    let refused = SweepRun::begin(many, &dir.path().join("none")).unwrap_err().to_string();
    assert!(refused.contains("sample.points") && refused.contains("2,000,000,000"), "{refused}");
    let seeds = Sweep { seeds: u32::MAX, ..sweep(GRID) };
    assert!(seeds.points().unwrap_err().to_string().contains("'seeds'"));
    assert_eq!(sweep(GRID).count(), 6);
}

#[test]
fn what_all_points_take_is_told_beforehand() {
    let dir = tempfile::tempdir().unwrap();
    let run = SweepRun::begin(sweep(GRID), dir.path()).unwrap();
    let amount = run.amount();
    assert_eq!(amount.drives, 6);
    assert!(amount.seconds > 60.0 && amount.written_bytes > 6e6, "{amount:?}");
}

#[test]
fn a_figure_that_the_test_does_not_have_is_told_before_any_point_is_run() {
    let dir = tempfile::tempdir().unwrap();
    let wanted = |test: &str, figures: &[&str], more: &str| {
        let figures = figures.iter().map(|name| (*name).to_owned()).collect();
        Sweep { test: test.to_owned(), figures, ..sweep(more) }
    };
    // Also of more points than are looked at one by one.
    let seeds = Sweep { seeds: 100, ..wanted("consistency", &["p99"], GRID) };
    let refused = SweepRun::begin(seeds, &dir.path().join("none")).unwrap_err();
    assert!(refused.to_string().contains("steady latency p99"), "{refused}");
    for (test, figure, word) in [
        ("consistency", "p99", "did you mean steady latency p99"),
        ("spare-area", "steady mean", "steady mean at 10 % spare"),
        ("trim", "nonsense", "trim has no figure 'nonsense'"),
    ] {
        let plan = wanted(test, &[figure], "");
        let refused = SweepRun::begin(plan, &dir.path().join("none")).unwrap_err();
        assert!(refused.to_string().contains(word), "{refused}");
        assert_eq!(refused.kind(), writecliff::ErrorKind::Usage);
    }
    assert!(!dir.path().join("none").exists(), "nothing was run");
    // What only some runs have is no mistake.
    let sometimes = wanted("consistency", &["write cliff", "torture, IOPS per watt"], GRID);
    SweepRun::begin(sometimes, &dir.path().join("none")).unwrap();
}

/// Where names are known from a run only, the first point tells.
#[test]
fn a_figure_that_the_first_point_lacks_ends_the_sweep() {
    let dir = tempfile::tempdir().unwrap();
    let grid = "quick = true\n[grid]\n\"drive.gc.quantum\" = [1, 2, 3, 4]\n";
    let corners = |figure: &str| Sweep {
        test: "corners".to_owned(),
        figures: vec![figure.to_owned()],
        ..sweep(grid)
    };
    let run = SweepRun::begin(corners("random wriet"), &dir.path().join("wrong")).unwrap();
    let refused = run.run(None, ON).unwrap_err();
    let words = refused.to_string();
    assert!(words.contains("'random wriet'") && words.contains("so would all"), "{words}");
    assert_eq!(SweepRun::rows(&dir.path().join("wrong")).unwrap(), []);
}

#[test]
fn a_directory_with_a_sweep_says_how_to_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let plan = || sweep("[plan]\nduration = \"2s\"\n");
    done(plan(), dir.path());
    let refused = SweepRun::begin(plan(), dir.path()).unwrap_err();
    assert!(matches!(refused, SweepError::IsThere { .. }), "{refused}");
    assert!(refused.to_string().contains("sweep --resume"), "{refused}");
}

/// A million points may be left, each of which takes a while to say what it needs.
#[test]
fn after_an_interrupt_no_other_piece_is_looked_at() {
    let (jobs, asked) = (vec![(); 10_000], AtomicUsize::new(0));
    let need = |(): &()| {
        asked.fetch_add(1, Ordering::Relaxed);
        Bytes(1)
    };
    let work = |(): &(), _: GoOn<'_>| Ok::<Option<u8>, ()>(None);
    let ended =
        all_here(&jobs, (None, need), &|_: Option<&u8>| ControlFlow::Break(()), work, |_| Ok(()));
    assert_eq!(ended, Ok(End::Interrupted));
    assert!(asked.into_inner() < 1000);
}
