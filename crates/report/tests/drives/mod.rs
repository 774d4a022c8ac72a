//! Runs on the tiny simulated drive, and what is read back from a page about them.
#![allow(dead_code, reason = "every test file has a copy of its own and uses a part")]

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use serde_json::Value;
use writecliff_device::Nanos;
use writecliff_report::{Run, Subject, write_page};
use writecliff_sim::{Ssd, load};
use writecliff_suite::{Plan, RunOptions, consistency, run};

/// Runs any test on the tiny drive.
pub(crate) fn tiny(plan: &Plan, path: &Path) -> Run {
    let mut ssd = Ssd::new(load("tiny").unwrap().into_ssd().unwrap(), "sim:tiny");
    run(plan, &mut ssd, path, RunOptions::default(), &mut |_| ControlFlow::Continue(())).unwrap();
    Run::open(path).unwrap()
}

/// Runs the consistency test.
pub(crate) fn consistency(path: &Path, seconds: u64, spare_percent: f64) -> Run {
    let duration = Nanos::from_secs(seconds);
    let plan = consistency::Plan { duration, spare_percent, ..consistency::Plan::default() };
    tiny(&Plan::Consistency(plan), path)
}

/// A subject of one run.
pub(crate) fn alone(run: Run) -> Subject {
    Subject { runs: vec![run], planned: None }
}

/// The page's text.
pub(crate) fn page(subjects: &[Subject], out: &Path) -> String {
    fs::read_to_string(write_page(subjects, out).unwrap()).unwrap()
}

/// The pictures of a page, as its script reads them.
pub(crate) fn pictures(html: &str) -> Vec<Value> {
    let begin = "<script type=\"application/json\" id=\"pictures\">";
    let start = html.find(begin).unwrap() + begin.len();
    let end = start + html[start..].find("</script>").unwrap();
    serde_json::from_str(&html[start..end]).unwrap()
}

/// The pictures whose names begin so, in the order of the page.
pub(crate) fn of_view<'a>(pictures: &'a [Value], view: &str) -> Vec<&'a Value> {
    let is_of_view = |id: &str| id.strip_prefix(view).is_some_and(|rest| !rest.starts_with("-map"));
    pictures.iter().filter(|picture| is_of_view(picture["id"].as_str().unwrap())).collect()
}
