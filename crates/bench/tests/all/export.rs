//! The pages as files: only what has changed is written, what is private stays here, and nothing of
//! anybody else's is touched.
use crate::common;
use crate::made;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use common::Place;
use made::{Cliffs, SECRETS, bench, gathered};
use serde_json::Value;
use writecliff::ErrorKind;
use writecliff_bench::{ExportProgress, Exported, Kind, Library, Reports, export, export_with};

/// Every file below a directory with its content.
fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => all.extend(files(&path)),
            false => drop(all.insert(path.clone(), fs::read(&path).unwrap())),
        }
    }
    all
}

#[test]
fn the_same_results_give_the_same_bytes_and_write_nothing_twice() {
    let dir = tempfile::tempdir().unwrap();
    let [one, two] = ["one", "two"].map(|name| dir.path().join(name));
    let first = export(&bench(9, 2), &Cliffs, &one).unwrap();
    assert_eq!((first.kept, first.removed), (0, 0));
    export(&bench(9, 2), &Cliffs, &two).unwrap();
    let contents = |dir: &Path| {
        let named = files(dir).into_iter();
        named
            .map(|(path, text)| (path.strip_prefix(dir).unwrap().to_owned(), text))
            .collect::<Vec<_>>()
    };
    assert_eq!(contents(&one), contents(&two));
    let again = export(&bench(9, 2), &Cliffs, &one).unwrap();
    assert_eq!((again.written, again.kept, again.removed), (0, first.written, 0));
}

#[test]
fn one_more_run_changes_its_drive_and_its_metrics_alone() {
    let dir = tempfile::tempdir().unwrap();
    export(&bench(9, 2), &Cliffs, dir.path()).unwrap();
    let before = files(dir.path());
    let mut gather = gathered(9, 2);
    let whole = made::conditions("consistency", Kind::Simulated, "the whole method");
    gather.run(made::run(4, 77, "consistency", whole));
    let Exported { written, removed, .. } = export(&gather.finish(), &Cliffs, dir.path()).unwrap();
    let after = files(dir.path());
    let new: Vec<_> = after.keys().filter(|path| !before.contains_key(*path)).collect();
    let is_drive = |path: &&&PathBuf| path.to_str().unwrap().contains("/drive-");
    assert_eq!(new.iter().filter(is_drive).count(), 1, "{new:?}");
    // The page, the index, the drive, the run's course, the figures of one test.
    assert_eq!((written, removed), (1 + 1 + 1 + 1 + 8, 1 + 1 + 8), "{new:?}");
}

#[test]
fn what_is_private_is_in_no_file() {
    let dir = tempfile::tempdir().unwrap();
    export(&bench(9, 2), &Cliffs, dir.path()).unwrap();
    for (path, content) in files(dir.path()) {
        let text = String::from_utf8(content).unwrap();
        for secret in SECRETS {
            assert!(!text.contains(secret), "{secret} in {}", path.display());
        }
    }
}

#[test]
fn a_directory_of_something_else_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let mine = dir.path().join("index.html");
    fs::write(&mine, "<title>My page</title>").unwrap();
    let error = export(&bench(2, 1), &Cliffs, dir.path()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(error.to_string().contains("name a new directory"), "{error}");
    assert_eq!(fs::read_to_string(&mine).unwrap(), "<title>My page</title>");

    let ours = tempfile::tempdir().unwrap();
    export(&bench(2, 1), &Cliffs, ours.path()).unwrap();
    let notes = [ours.path().join("notes.txt"), ours.path().join("data/notes.js")];
    notes.iter().for_each(|path| fs::write(path, "mine").unwrap());
    export(&bench(3, 1), &Cliffs, ours.path()).unwrap();
    assert!(notes.iter().all(|path| path.exists()), "what others put there stays");
}

/// What a file of results holds.
fn content(path: &Path) -> Value {
    let script = fs::read_to_string(path).unwrap();
    let (_, json) = script.split_once(", ").unwrap();
    serde_json::from_str(json.trim_end().strip_suffix(");").unwrap()).unwrap()
}

#[test]
fn every_figure_of_what_ships_is_in_its_drive_s_file_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let library = Library::of(&[]).unwrap();
    let bench = library.bench().unwrap();
    export(&bench, &library, dir.path()).unwrap();
    let data = files(&dir.path().join("data"));
    let is_drive = |path: &&PathBuf| path.to_str().unwrap().contains("/drive-");
    let all: Vec<Value> = data.keys().filter(is_drive).map(|path| content(path)).collect();
    assert_eq!(all.len(), bench.drives.len());
    let runs: BTreeMap<&str, &Value> = all
        .iter()
        .flat_map(|drive| drive["runs"].as_array().unwrap())
        .map(|run| (run["id"].as_str().unwrap(), &run["figures"]))
        .collect();
    assert_eq!(runs.len(), bench.runs.len());
    for run in &bench.runs {
        let figures = runs[run.id.as_str()];
        assert_eq!(figures.as_object().unwrap().len(), run.figures.len());
        for (metric, value) in &run.figures {
            assert_eq!(figures[&bench.metrics[*metric].id], *value, "{}", run.id);
        }
    }
    let printed: usize = all.iter().map(|drive| drive["published"].as_array().unwrap().len()).sum();
    assert_eq!(printed, bench.published.len());
}

#[test]
fn rankings_come_first_and_older_reports_only_when_asked_for() {
    let place = Place::new();
    let runs: Vec<PathBuf> =
        (1..=3).map(|seed| place.consistency(&format!("run-{seed}"), seed)).collect();
    for run in &runs {
        fs::create_dir(run.join("report")).unwrap();
        fs::write(run.join("report/index.html"), "theirs").unwrap();
    }
    let library = Library::of(&runs).unwrap();
    let bench = library.bench().unwrap();
    let out = place.path("site");
    let reports = || fs::read_dir(out.join("reports")).map_or(0, Iterator::count);
    let seen = Mutex::new(Vec::new());
    let watch = |progress| {
        if progress == ExportProgress::Shown {
            assert!(out.join("index.html").is_file(), "whole without its reports");
        }
        let mut seen = seen.lock().unwrap();
        match progress {
            ExportProgress::Shown => seen.push("shown"),
            ExportProgress::Report { .. } => seen.push("report"),
            _ => {}
        }
    };
    let newest = Reports::Newest(1);
    let first = export_with(&bench, &library, &out, newest, &watch).unwrap();
    assert_eq!((first.left_out, first.removed, reports()), (2, 0, 1));
    let again = export_with(&bench, &library, &out, newest, &watch).unwrap();
    assert_eq!((again.written, again.removed, reports()), (0, 0, 1));
    assert_eq!(*seen.lock().unwrap(), ["shown", "report", "shown"]);
    let all = export_with(&bench, &library, &out, Reports::All, &|_| {}).unwrap();
    assert_eq!((all.left_out, reports()), (0, 3));
    let linked = files(&out.join("data")).into_values();
    let linked: Vec<String> = linked.map(|text| String::from_utf8(text).unwrap()).collect();
    let links: usize = linked.iter().map(|text| text.matches("/index.html").count()).sum();
    assert_eq!(links, 3, "and nothing leads to what is not there");
    // One that is new is drawn however many are there.
    fs::remove_dir_all(out.join("reports")).unwrap();
    let last = export_with(&bench, &library, &out, newest, &|_| {}).unwrap();
    assert_eq!((last.left_out, reports()), (2, 1));
}
