//! How much a page weighs: every second of whole reviews, in what a phone loads and shows at once.
#![allow(clippy::unwrap_used)]

mod drives;

use std::io::Write;

use drives::{consistency, page, tiny};
use flate2::Compression;
use flate2::write::GzEncoder;
use writecliff_report::{Run, Subject};
use writecliff_suite::{Plan, TESTS};

/// As long as the documents' method.
const SECONDS: u64 = 2000;
const SPARES: [f64; 4] = [0.0, 10.0, 25.0, 40.0];
const NODES_MAX: usize = 15_000;

/// Every test, with seconds as many and as different as those of a large drive.
fn review(dir: &std::path::Path) -> Subject {
    let long = consistency(&dir.join("consistency"), SECONDS, 0.0);
    let spared = |spare_percent: f64| -> Run {
        let mut run = long.clone();
        let Plan::Consistency(plan) = &mut run.record.plan else { panic!("another plan") };
        plan.spare_percent = spare_percent;
        run
    };
    let others = TESTS.iter().filter(|test| test.name != "consistency");
    let other =
        |test: &writecliff_suite::TestEntry| tiny(&(test.plan)().quick(), &dir.join(test.name));
    let runs = SPARES.into_iter().map(spared).chain(others.map(other)).collect();
    Subject { runs, planned: None }
}

fn gzipped(text: &str) -> usize {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap().len()
}

fn assert_light(html: &str, megabytes: f64, megabytes_packed: f64) {
    let (bytes, packed) = (html.len() as f64 / 1e6, gzipped(html) as f64 / 1e6);
    assert!(bytes <= megabytes, "{bytes:.2} MB");
    assert!(packed <= megabytes_packed, "{packed:.2} MB packed");
    let nodes = html.matches('<').count() - html.matches("</").count();
    assert!(nodes < NODES_MAX, "{nodes} nodes");
}

#[test]
fn a_review_and_a_comparison_of_four_are_light() {
    let dir = tempfile::tempdir().unwrap();
    let one = review(dir.path());
    assert_light(&page(std::slice::from_ref(&one), &dir.path().join("one")), 1.5, 0.6);
    let named = |index: usize| {
        let mut drive = one.clone();
        drive.runs.iter_mut().for_each(|run| run.record.drive.model = format!("Drive {index}"));
        drive
    };
    let four: Vec<Subject> = (1..=4).map(named).collect();
    assert_light(&page(&four, &dir.path().join("four")), 3.0, 1.2);
}
