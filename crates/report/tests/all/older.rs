//! Runs that earlier versions recorded give their page and summary.
use crate::drives;

use std::fs;
use std::path::Path;

use drives::{alone, page, pictures};
use writecliff_report::{Run, summary};
use writecliff_suite::TESTS;

/// Reads a copy: what was cut off gets its final form by that.
fn copy(of: &Path, to: &Path) -> Run {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(of).unwrap() {
        let file = entry.unwrap().path();
        fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
    }
    Run::open(to).unwrap()
}

#[test]
fn every_test_of_version_0_1_has_its_page() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../suite/tests/fixtures/0.1");
    let dir = tempfile::tempdir().unwrap();
    let others = ["cut-off", "failed", "every-io"];
    let tests = TESTS.iter().map(|test| test.name).filter(|name| fixtures.join(name).is_dir());
    for name in tests.chain(others) {
        let runs = [alone(copy(&fixtures.join(name), &dir.path().join(name)))];
        let html = page(&runs, &dir.path().join(name).join("report"));
        assert!(html.contains("schema 1"), "{name}: the page says who recorded it");
        assert!(!pictures(&html).is_empty(), "{name}");
        let text = summary(&runs);
        assert!(text.contains(&runs[0].runs[0].record.drive.model), "{name}: {text}");
    }
}
