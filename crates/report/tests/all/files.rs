//! The pictures as files: SVG that is XML and holds every point, CSV with every second.
use crate::drives;

use std::fs;
use std::path::Path;

use drives::{alone, consistency, modelling_what_it_needs, page, pictures, tiny};
use writecliff_report::{Subject, summary};
use writecliff_suite::consistency::TORTURE;
use writecliff_suite::{TESTS, consistency as consistency_test};

const SECONDS: usize = 100;

fn read(out: &Path, name: &str) -> String {
    fs::read_to_string(out.join("pictures").join(name)).unwrap()
}

/// Panics unless every element is closed in its order and every text is escaped.
fn assert_xml(name: &str, text: &str) {
    let mut open: Vec<&str> = Vec::new();
    for part in text.split('<').skip(1) {
        let (tag, rest) = part.split_once('>').unwrap_or_else(|| panic!("{name}: {part}"));
        assert!(!rest.contains('>'), "{name}: {part}");
        assert!(rest.split('&').skip(1).all(|entity| entity.contains(';')), "{name}: {part}");
        assert_eq!(tag.matches('"').count() % 2, 0, "{name}: {tag}");
        let element = tag.split_whitespace().next().unwrap();
        match tag.strip_prefix('/') {
            Some(closed) => assert_eq!(open.pop(), Some(closed), "{name}"),
            None if tag.ends_with('/') => {}
            None => open.push(element),
        }
    }
    assert!(open.is_empty(), "{name}: {open:?} is not closed");
}

#[test]
fn every_second_is_in_both_files() {
    let dir = tempfile::tempdir().unwrap();
    let run = consistency(&dir.path().join("run"), SECONDS as u64, 0.0);
    let out = dir.path().join("page");
    page(&[alone(run.clone())], &out);
    let csv = read(&out, "consistency-whole.csv");
    let rows: Vec<&str> = csv.lines().collect();
    assert!(
        rows[0].starts_with("\"seconds of random writes (") && rows[0].contains(", simulated"),
        "{}",
        rows[0]
    );
    assert!(rows[0].ends_with("\",IOPS"), "{}", rows[0]);
    let seconds = run.recording.series(TORTURE).map(|s| format!("{},{}", s.second, s.iops().get()));
    assert_eq!(rows[1..], seconds.collect::<Vec<_>>()[..]);
    let svg = read(&out, "consistency-whole.svg");
    assert_eq!(svg.matches("h0").count(), SECONDS);
    assert!(svg.contains(">The whole run: Tiny (simulated)</text>"), "the file says what it shows");

    let percentiles = read(&out, "consistency-latency.csv");
    assert!(percentiles.lines().next().unwrap().ends_with(",longest,p99.9,p99,p50"));
    assert_eq!(percentiles.lines().count(), SECONDS + 1);
    assert_eq!(read(&out, "consistency-amplification.csv").lines().count(), SECONDS + 1);
}

#[test]
fn columns_of_the_heat_map_are_all_of_their_writes() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("page");
    page(&[alone(consistency(&dir.path().join("run"), SECONDS as u64, 0.0))], &out);
    let csv = read(&out, "consistency-latency-map.csv");
    let mut sums = std::collections::BTreeMap::new();
    for row in csv.lines().skip(1) {
        let cells: Vec<f64> = row.split(',').map(|cell| cell.parse().unwrap()).collect();
        *sums.entry(cells[0] as u32).or_insert(0.0) += cells[4];
    }
    assert_eq!(sums.len(), SECONDS);
    assert!(sums.values().all(|sum: &f64| (sum - 100.0).abs() < 1e-6), "{sums:?}");
}

#[test]
fn the_page_of_any_test_alone_begins_with_what_it_found() {
    let dir = tempfile::tempdir().unwrap();
    for test in TESTS {
        let run = tiny(&(test.plan)().quick(), &dir.path().join(test.name));
        let found_something = run.record.outcome.is_some();
        let html = page(&[alone(run)], &dir.path().join("page"));
        let said = html.split("<p class=\"headline\">").nth(1);
        assert_eq!(said.is_some(), found_something, "{}", test.name);
        if let Some(said) = said.map(|rest| rest.split("</p>").next().unwrap()) {
            assert!(!html.contains(&format!("<li>{said}")), "{said}: said once is enough");
        }
    }
}

#[test]
fn every_test_has_its_section_and_its_files() {
    let dir = tempfile::tempdir().unwrap();
    let run = |test: &writecliff_suite::TestEntry| {
        let plan = (test.plan)().quick();
        modelling_what_it_needs(&plan, &dir.path().join(test.name))
    };
    let mut subject = Subject { runs: TESTS.iter().map(run).collect(), planned: None };
    let out = dir.path().join("review");
    let html = page(&[subject.clone()], &out);
    let section = |test: &str| {
        let begins = format!("<section class=\"test\" id=\"{test}\">");
        let rest = html.split(&begins).nth(1).unwrap_or_else(|| panic!("{test} has no section"));
        rest.split("<section class=\"test\"").next().unwrap()
    };
    assert!(TESTS.iter().all(|test| section(test.name).contains("</h2>")));
    assert!(section("consistency").contains("too few for a floor"), "at its test");
    for help in ["What spare area and TRIM bring", "25 % spare area", "TRIM: sequential writes"] {
        assert!(section("commit").contains(help), "{help}");
    }
    for line in ["MAJ:MIN ctrl=user model=linear rbps=", "  - mountpoint: "] {
        assert!(section("cost-model").contains(line), "{line}");
    }
    let steady_state = section("steady-state");
    let verdict = steady_state.find("<h3>By the rule</h3>").unwrap();
    assert!(
        verdict < steady_state.find("class=\"view").unwrap(),
        "what the rounds come to is first"
    );
    for picture in pictures(&html) {
        let id = picture.id.as_str();
        assert_xml(id, &read(&out, &format!("{id}.svg")));
        assert!(read(&out, &format!("{id}.csv")).lines().count() > 1, "{id} has no data");
        for kind in ["svg", "csv"] {
            assert!(html.contains(&format!("href=\"pictures/{id}.{kind}\"")), "{id} is not linked");
        }
    }
    assert!(html.len() < 3 << 19, "{} bytes", html.len());
    for part in html.split("<a href=\"#").skip(1) {
        let anchor = part.split('"').next().unwrap();
        assert!(html.contains(&format!("id=\"{anchor}\"")), "#{anchor} leads nowhere");
    }
    let text = summary(&[subject.clone()]);
    assert!(
        text.contains("Corners: Rates") && text.contains("Steady state: By the rule"),
        "{text}"
    );

    let mut other = subject.clone();
    other.runs.iter_mut().for_each(|run| run.record.drive.model = "A <second> & \"drive\"".into());
    subject.runs.retain(|run| run.record.plan.name() != consistency_test::Plan::NAME);
    let html = page(&[other, subject], &dir.path().join("comparison"));
    for picture in pictures(&html) {
        let id = picture.id.as_str();
        assert_xml(id, &read(&dir.path().join("comparison"), &format!("{id}.svg")));
    }
}
