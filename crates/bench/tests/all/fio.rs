//! What fio measured, as drives of their own under conditions that a person reads.
use crate::common;

use std::fs;
use std::path::PathBuf;

use common::{Place, own};
use serde_json::{Value, json};
use writecliff::device::Bytes;
use writecliff::{Imported, import_fio};
use writecliff_bench::{Bench, Filter, Library, drive_table};

/// What fio prints of one job on a regular file.
fn output(queue_depth: &str) -> Value {
    let nothing = json!({"io_bytes": 0, "total_ios": 0, "runtime": 0});
    let writes = json!({"io_bytes": 4_096_000, "total_ios": 1000, "runtime": 2000,
        "clat_ns": {"min": 5, "max": 9000, "mean": 80.0, "stddev": 1.0, "N": 1000,
            "percentile": {"50.000000": 70, "99.000000": 990, "99.900000": 999, "99.990000": 8999}},
        "lat_ns": {"max": 9100, "mean": 85.0, "N": 1000}});
    json!({"fio version": "fio-3.33", "timestamp_ms": 1_795_403_135_000_i64,
        "global options": {"bs": "4k", "runtime": "2", "filename": "/srv/data/fio.bin",
            "ioengine": "libaio", "direct": "1"},
        "jobs": [{"jobname": "randwrite", "groupid": 0, "error": 0, "elapsed": 3,
            "job options": {"rw": "randwrite", "iodepth": queue_depth},
            "read": nothing, "write": writes, "trim": nothing}]})
}

fn import(place: &Place, name: &str, model: Option<&str>, queue_depth: &str) -> PathBuf {
    let (json, out) = (place.path(&format!("{name}.json")), place.path(name));
    fs::write(&json, output(queue_depth).to_string()).unwrap();
    let known = Imported {
        model: model.map(str::to_owned),
        capacity: Some(Bytes(960_197_124_096)),
        ..Imported::default()
    };
    import_fio(&json, &known, &out).unwrap();
    out
}

fn drives(bench: &Bench) -> Vec<&str> {
    let mut drives: Vec<&str> =
        own(bench).iter().map(|run| bench.drives[run.drive].id.as_str()).collect();
    drives.sort_unstable();
    drives
}

#[test]
fn models_that_are_named_are_drives_of_their_own_in_any_letters_and_any_length() {
    let place = Place::new();
    let long = "x".repeat(5000);
    let models = ["Alpha One", "Beta Two", "Диск Первый", "Диск Второй", &long];
    let mut runs: Vec<PathBuf> = models
        .iter()
        .enumerate()
        .map(|(at, model)| import(&place, &format!("run-{at}"), Some(model), "32"))
        .collect();
    runs.push(import(&place, "nameless", None, "32"));
    let bench = Library::of(&runs).unwrap().bench().unwrap();
    let mut found = drives(&bench);
    found.dedup();
    assert_eq!(found.len(), 6, "{found:?}");
    assert!(found.contains(&"alpha-one-960gb") && found.contains(&"file-960gb"), "{found:?}");
    assert!(
        bench.drives.iter().all(|drive| !drive.name.contains("/srv")),
        "paths are nobody's business"
    );
    assert!(bench.find("диск первый").is_ok() && bench.find("диск").is_err());
    let filter = Filter { without_shipped: true, ..Filter::default() };
    let listed = bench.drive_list(&filter).unwrap();
    assert_eq!(listed.len(), 6, "nothing that ships: {listed:?}");
    let widest = drive_table(&listed).lines().map(|line| line.chars().count()).max();
    assert!(widest < Some(120), "{widest:?}");
}

#[test]
fn a_file_that_is_imported_again_counts_once_and_may_win() {
    let place = Place::new();
    let runs = ["a", "b", "c"].map(|name| import(&place, name, Some("Alpha"), "32"));
    let bench = Library::of(&runs).unwrap().bench().unwrap();
    let drive = own(&bench)[0].drive;
    let values: Vec<_> = bench.values.iter().filter(|value| value.drive == drive).collect();
    assert!(!values.is_empty() && values.iter().all(|value| value.of.len() == 1), "{values:?}");
    assert!(values.iter().all(|value| value.doubted && value.may_win), "its conditions say it");
}

#[test]
fn conditions_are_words_and_differ_in_words() {
    let place = Place::new();
    let runs = [import(&place, "a", Some("Alpha"), "32"), import(&place, "b", Some("Alpha"), "4")];
    let bench = Library::of(&runs).unwrap().bench().unwrap();
    let conditions: Vec<_> =
        own(&bench).iter().map(|run| &bench.conditions[run.conditions]).collect();
    for one in &conditions {
        let all = one.parts.values().chain([&one.words]);
        assert!(all.clone().all(|words| !words.contains(['{', '[', '"'])), "{one:?}");
    }
    let shallow = conditions.iter().find(|one| one.parts["job 1 queue depth"] == "4").unwrap();
    let words = &shallow.words;
    assert!(words.contains("job randwrite (") && words.contains("queue depth 4"), "{words}");
    let deep = conditions.iter().find(|one| one.parts["job 1 queue depth"] == "32").unwrap();
    assert_eq!(shallow.differences(deep), "job 1 queue depth 4 against 32");
}
