//! What a library shows of the runs in it, and what becomes of it when something goes wrong.
use crate::common;

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;

use common::{Place, own, run};
use writecliff::device::Nanos;
use writecliff::suite::{MethodWarning, Status, TESTS, Warning};
use writecliff::{DriveName, Event, Overrides, RunOptions, UNWATCHED};
use writecliff_bench::{BenchError, Filter, Kind, Library};

#[test]
fn every_figure_is_that_of_its_run() {
    let place = Place::new();
    for test in TESTS {
        let path = place.path(&format!("runs/{}", test.name));
        run(&(test.plan)().quick(), &path, RunOptions { quick: true, ..RunOptions::default() });
    }
    let mut library = place.library();
    library.add(&[place.path("runs")]).unwrap();
    // As the index has it, read by another process.
    let bench = place.library().bench().unwrap();
    let runs = own(&bench);
    assert_eq!(runs.len(), TESTS.len());
    for run in runs {
        let directory = run.private.directory.as_ref().unwrap();
        let (record, _) = writecliff::open(directory).unwrap();
        let expected: Vec<_> =
            record.figures().into_iter().map(|figure| (figure.name, figure.value)).collect();
        let shown = run.figures.iter();
        let shown: Vec<_> =
            shown.map(|(metric, value)| (bench.metrics[*metric].name.clone(), *value)).collect();
        assert_eq!(shown, expected, "{}", directory.display());
        let conditions = &bench.conditions[run.conditions];
        assert_eq!((conditions.kind, conditions.quick), (Kind::Simulated, true));
        assert!(!conditions.standard && !run.doubts.is_empty(), "{conditions:?}");
    }
}

#[test]
fn runs_that_differ_in_the_seed_alone_are_one_value() {
    let place = Place::new();
    (1..=3).for_each(|seed| drop(place.consistency(&format!("runs/{seed}"), seed)));
    let bench = Library::of(&[place.path("runs")]).unwrap().bench().unwrap();
    let runs = own(&bench);
    assert!(runs.iter().all(|run| run.conditions == runs[0].conditions));
    let places: Vec<usize> =
        (0..bench.runs.len()).filter(|place| !bench.runs[*place].catalogue).collect();
    for value in bench.values_of_runs(&places) {
        let mut numbers: Vec<f64> = runs
            .iter()
            .flat_map(|run| run.figures.iter().find(|(metric, _)| *metric == value.metric))
            .map(|(_, value)| *value)
            .collect();
        numbers.sort_by(f64::total_cmp);
        assert_eq!((value.lowest, value.highest), (numbers[0], numbers[numbers.len() - 1]));
        assert!(numbers.len() < 3 || value.median == numbers[1], "{value:?}");
        assert_eq!(value.of.len(), numbers.len());
    }
}

#[test]
fn an_index_that_is_thrown_away_comes_back_the_same() {
    let place = Place::new();
    place.consistency("runs/a", 1);
    let mut library = place.library();
    library.add(&[place.path("runs")]).unwrap();
    let before = library.bench().unwrap();
    let after = Library::rebuild(place.home(), |_, _| {}).unwrap().bench().unwrap();
    assert_eq!((after.runs, after.values), (before.runs, before.values));
    assert!(after.problems.is_empty(), "{:?}", after.problems);
}

#[test]
fn a_damaged_index_is_told_and_hides_nothing() {
    let place = Place::new();
    place.consistency("runs/a", 1);
    place.library().add(&[place.path("runs")]).unwrap();
    let index = place.home().path().join("index.sqlite");
    let whole = fs::read(&index).unwrap();
    let mut garbled = whole;
    garbled[4096..].fill(0x5a);
    for damage in [b"not a database at all, and long enough".to_vec(), garbled] {
        fs::write(&index, damage).unwrap();
        let bench = place.library().bench().unwrap();
        assert_eq!(own(&bench).len(), 1);
        let told = &bench.problems[0];
        assert!(told.path == index || told.path.ends_with("index.sqlite"), "{told:?}");
        assert!(told.message.contains("bench rebuild"), "{told:?}");
    }
    let bench = Library::rebuild(place.home(), |_, _| {}).unwrap().bench().unwrap();
    assert_eq!((own(&bench).len(), bench.problems.len()), (1, 0));
}

#[test]
fn an_index_of_another_version_is_made_anew_or_left_alone() {
    let place = Place::new();
    place.consistency("runs/a", 1);
    place.library().add(&[place.path("runs")]).unwrap();
    let index = place.home().path().join("index.sqlite");
    let set = |version: i64| {
        let connection = rusqlite::Connection::open(&index).unwrap();
        connection.pragma_update(None, "user_version", version).unwrap();
    };
    set(0);
    let bench = place.library().bench().unwrap();
    assert_eq!((own(&bench).len(), bench.problems.len()), (1, 0), "an older one is made anew");
    set(1_000_000);
    let before = fs::read(&index).unwrap();
    let bench = place.library().bench().unwrap();
    assert_eq!(own(&bench).len(), 1);
    assert!(bench.problems[0].message.contains("newer version"), "{:?}", bench.problems);
    assert_eq!(fs::read(&index).unwrap(), before, "a newer one is left alone");
}

#[test]
fn an_index_that_cannot_be_written_costs_nothing_but_time() {
    let place = Place::new();
    place.consistency("runs/a", 1);
    place.library().add(&[place.path("runs")]).unwrap();
    let index = place.home().path().join("index.sqlite");
    fs::remove_file(&index).unwrap();
    fs::create_dir(&index).unwrap();
    let mut library = place.library();
    assert_eq!(own(&library.bench().unwrap()).len(), 1);
    place.consistency("runs/b", 2);
    assert!(library.refresh().unwrap());
    let bench = library.bench().unwrap();
    assert_eq!((own(&bench).len(), bench.problems.len()), (2, 1));
}

#[test]
fn what_is_gone_or_damaged_is_told_and_the_rest_is_shown() {
    let place = Place::new();
    let (gone, damaged) = (place.consistency("gone", 1), place.consistency("runs/bad", 2));
    place.consistency("runs/good", 3);
    let mut library = place.library();
    library.add(&[gone.clone(), place.path("runs")]).unwrap();
    fs::write(damaged.join("run.json"), "{\"schema_version\": 2").unwrap();
    let gone = gone.canonicalize().unwrap();
    fs::remove_dir_all(&gone).unwrap();
    assert!(library.refresh().unwrap());
    let bench = library.bench().unwrap();
    assert_eq!(own(&bench).len(), 1);
    let told: Vec<_> = bench.problems.iter().map(|problem| problem.path.clone()).collect();
    assert_eq!(told, [gone.clone(), damaged.canonicalize().unwrap()]);
    let place_of_it = library.place_of(&gone).unwrap();
    library.remove(&[place_of_it]).unwrap();
    assert_eq!(library.bench().unwrap().problems.len(), 1);
    assert!(place.path("runs/good").exists(), "nothing on disk is deleted");
}

#[test]
fn a_run_under_way_is_shown_as_that_and_one_that_was_broken_off_too() {
    let place = Place::new();
    let path = place.path("runs/slow");
    let looked = std::sync::Mutex::new(Vec::new());
    let watch = |event: Event<'_>| {
        if !matches!(event, Event::Progress(..)) || !path.join("run.json").exists() {
            return ControlFlow::Continue(());
        }
        let bench = Library::of(&[place.path("runs")]).unwrap().bench().unwrap();
        let run = own(&bench)[0].clone();
        looked.lock().unwrap().push((run.status, bench.conditions[run.conditions].unfinished));
        ControlFlow::Break(())
    };
    let (plan, drive) = (writecliff::plan("consistency").unwrap(), DriveName::from("sim:tiny"));
    writecliff::run(&plan, &drive, None, &path, RunOptions::default(), &watch).unwrap();
    assert_eq!(looked.lock().unwrap()[0], (Status::Running, true));
    let mut library = place.library();
    library.add(&[place.path("runs")]).unwrap();
    let bench = library.bench().unwrap();
    let run = own(&bench)[0];
    assert_eq!(run.status, Status::Interrupted);
    let listed = bench.run_list(&Filter::default()).unwrap();
    let listed = listed.iter().find(|entry| entry.id == run.id).unwrap();
    assert!(!listed.ranked && listed.conditions.contains("not finished"), "{listed:?}");
}

#[test]
fn a_list_is_of_the_drives_that_are_named() {
    let place = Place::new();
    place.consistency("runs/a", 1);
    let bench = Library::of(&[place.path("runs")]).unwrap().bench().unwrap();
    let named = |names: &[&str]| {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let filter = Filter { names, ..Filter::default() };
        let drives = bench.drive_list(&filter)?.into_iter().map(|drive| drive.id).collect();
        let runs = bench.run_list(&filter)?.into_iter().map(|run| run.drive).collect();
        Ok::<(Vec<String>, Vec<String>), BenchError>((drives, runs))
    };
    let (drives, runs) = named(&["Tiny", "m500 960"]).unwrap();
    assert_eq!(drives, ["crucial-m500-960gb", "tiny-224mib"]);
    assert!(runs.contains(&"tiny-224mib".to_owned()));
    assert!(runs.iter().all(|drive| drives.contains(drive)));
    assert!(named(&[]).unwrap().0.len() > drives.len());
    let unknown = named(&["tiny", "tinny"]).unwrap_err();
    let unknown = unknown.to_string();
    assert!(
        unknown.contains("no run 'tinny' in the results library; did you mean tiny"),
        "{unknown}"
    );
}

#[test]
fn a_run_that_ends_appears_in_a_library_that_is_open() {
    let place = Place::new();
    place.consistency("runs/a", 1);
    let mut library = place.library();
    library.add(&[place.path("runs")]).unwrap();
    let version = library.version().to_owned();
    assert!(!library.refresh().unwrap());
    place.consistency("runs/b", 2);
    assert!(library.refresh().unwrap());
    assert_ne!(library.version(), version);
    assert_eq!(own(&library.bench().unwrap()).len(), 2);
}

#[test]
fn two_processes_fill_one_library_at_once() {
    let place = Place::new();
    let runs: Vec<PathBuf> =
        (1..=4).map(|seed| place.consistency(&format!("run-{seed}"), seed)).collect();
    std::thread::scope(|scope| {
        for run in &runs {
            scope.spawn(|| {
                let mut library = place.library();
                library.add(std::slice::from_ref(run)).unwrap();
                assert!(!own(&library.bench().unwrap()).is_empty());
            });
        }
    });
    let bench = place.library().bench().unwrap();
    assert_eq!((own(&bench).len(), bench.problems.len()), (4, 0), "{:?}", bench.problems);
}

#[test]
fn what_is_no_result_is_refused_before_anything_is_added() {
    let place = Place::new();
    let run = place.consistency("run", 1);
    let mut library = place.library();
    let empty = place.path("empty");
    fs::create_dir(&empty).unwrap();
    let refused = library.add(&[run.clone(), empty]);
    assert!(matches!(refused, Err(BenchError::NoRun { .. })), "{refused:?}");
    let refused = library.add(&[run, place.path("nowhere")]);
    assert!(matches!(refused, Err(BenchError::NoDirectory { .. })), "{refused:?}");
    assert_eq!(own(&library.bench().unwrap()).len(), 0);
}

#[test]
fn this_machine_without_a_drive_is_no_result_of_a_drive() {
    let place = Place::new();
    let path = place.path("null");
    let second = Overrides { duration: Some(Nanos::from_secs(1)), ..Overrides::default() };
    let plan = writecliff::plan("consistency").unwrap().quick().with(&second).unwrap();
    let options = RunOptions { quick: true, ..RunOptions::default() };
    writecliff::run(&plan, &DriveName::Null, None, &path, options, UNWATCHED).unwrap();
    let bench = Library::of(&[path]).unwrap().bench().unwrap();
    assert_eq!(own(&bench).len(), 0);
    assert!(bench.problems[0].message.contains("no drive"), "{:?}", bench.problems);
}

/// Changes what a run's record says of its steady state.
fn forge(run: &std::path::Path) {
    let path = run.join("run.json");
    let mut record: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    record["outcome"]["steady_iops"]["floor"] = 9_999_999.into();
    fs::write(&path, serde_json::to_vec(&record).unwrap()).unwrap();
}

fn cut_short(run: &std::path::Path) {
    let path = run.join("series.parquet");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
}

#[test]
fn a_recording_that_was_cut_short_and_a_record_that_contradicts_it_are_told() {
    let place = Place::new();
    let (cut, forged) = (place.consistency("runs/cut", 1), place.consistency("runs/forged", 2));
    let good = place.consistency("runs/good", 3);
    let (honest, _) = writecliff::open(&forged).unwrap();
    cut_short(&cut);
    forge(&forged);
    let mut library = place.library();
    let added = library.add(&[place.path("runs")]).unwrap();
    assert_eq!((added[0].runs, added[0].problems.len()), (2, 2), "{added:?}");
    let bench = library.bench().unwrap();
    let told: Vec<_> = bench.problems.iter().map(|problem| problem.path.clone()).collect();
    assert_eq!(told, [cut.canonicalize().unwrap()]);
    let forged = forged.canonicalize().unwrap();
    let is_forged = |run: &&&writecliff_bench::Run| run.private.directory.as_ref() == Some(&forged);
    let all = own(&bench);
    let run = all.iter().find(is_forged).unwrap();
    assert!(run.doubts[0].contains("other figures than its seconds give"), "{:?}", run.doubts);
    assert!(!run.may_win);
    let shown: Vec<f64> = run.figures.iter().map(|(_, value)| *value).collect();
    let expected: Vec<f64> = honest.figures().iter().map(|figure| figure.value).collect();
    assert_eq!(shown, expected);
    // Also where it happens later.
    cut_short(&good);
    assert!(library.refresh().unwrap());
    assert_eq!(library.bench().unwrap().problems.len(), 2);
}

#[test]
fn what_is_in_doubt_of_a_run_is_what_its_doubts_are_about() {
    let place = Place::new();
    let (mut record, _) = writecliff::open(&place.consistency("run", 1)).unwrap();
    let mut undoubted = |doubts: Vec<Warning>| {
        record.warnings = doubts;
        writecliff_bench::NewRun::of(&record).unwrap().undoubted
    };
    let at_once = Warning::from(MethodWarning::CliffAtOnce { seconds: 1, fresh: 9.0 });
    let of_fresh = undoubted(vec![at_once.clone()]);
    assert!(of_fresh.iter().any(|id| id == "consistency.steady-mean"), "{of_fresh:?}");
    assert!(of_fresh.iter().all(|id| id != "consistency.fresh"), "{of_fresh:?}");
    let of_steady = MethodWarning::NotSteady { percent: 9.0 };
    assert_eq!(undoubted(vec![at_once, of_steady.into()]), ["consistency.sequential-fill"]);
    assert!(undoubted(vec![MethodWarning::Quick.into()]).is_empty());
    assert!(undoubted(Vec::new()).is_empty(), "nothing is to be told apart");
}

#[test]
fn a_directory_of_which_nothing_can_be_read_is_not_added() {
    let place = Place::new();
    let (cut, good) = (place.consistency("cut", 1), place.consistency("good", 2));
    cut_short(&cut);
    let mut library = place.library();
    let refused = library.add(&[good, cut]).unwrap_err();
    assert_eq!(refused.kind(), writecliff::ErrorKind::Failed);
    assert!(refused.to_string().contains("0 runs that can be read"), "{refused}");
    assert!(library.places().unwrap().is_empty());
    assert_eq!(own(&library.bench().unwrap()).len(), 0);
}

#[test]
fn a_run_that_ships_and_is_run_again_counts_once() {
    let shipped = Library::of(&[]).unwrap().bench().unwrap();
    let again = |run: &writecliff_bench::Run| writecliff_bench::NewRun {
        id: "again".to_owned(),
        drive: shipped.drives[run.drive].clone(),
        variant: run.variant.clone(),
        conditions: shipped.conditions[run.conditions].clone(),
        started: "2026-11-24T10:00:00Z".to_owned(),
        label: None,
        status: run.status.clone(),
        doubts: run.doubts.clone(),
        undoubted: Vec::new(),
        may_win: run.may_win,
        seed: run.seed,
        tool_version: run.tool_version.clone(),
        figures: run
            .figures
            .iter()
            .map(|(at, value)| (shipped.metrics[*at].clone(), *value))
            .collect(),
        catalogue: false,
        private: Default::default(),
    };
    let mut gather = writecliff_bench::Gather::default();
    writecliff_bench::catalogue::shipped().unwrap().runs().for_each(|run| gather.run(run));
    gather.run(again(&shipped.runs[0]));
    let bench = gather.finish();
    assert_eq!(bench.runs.len(), shipped.runs.len() + 1);
    assert!(bench.values.iter().all(|value| value.of.len() == 1));
}
