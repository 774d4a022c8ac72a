//! The reports of runs, made anew for whoever looks at Bench: without serial numbers, without the
//! machine and its directories, and never as HTML that came from somewhere else.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use writecliff::device::DeviceKind;
use writecliff::suite::{Host, ResultsError};
use writecliff_report::{Format, PAGE, ReportError, Run, Subject, write_report_for};

use super::hash;
use crate::model::Bench;

/// Where reports are, below the root.
pub(crate) const FOLDER: &str = "reports";

/// A report of one run, or of several that are a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Report {
    /// What its directory is called: a hash of what its runs gave and of the version that makes it.
    pub(crate) key: String,
    /// Their ids.
    pub(crate) runs: Vec<String>,
    /// The drive's id.
    drive: String,
    /// When the last of its runs began.
    pub(crate) began: String,
    /// Where its results are.
    results: PathBuf,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportsError {
    /// Its results cannot be read.
    #[error("no report of {}: {source}", path.display())]
    Results {
        /// Their directory.
        path: PathBuf,
        /// Why not.
        source: ResultsError,
    },
    /// It cannot be written.
    #[error(transparent)]
    Report(#[from] ReportError),
}

/// The reports of all runs that have one.
pub(crate) fn of(bench: &Bench) -> Vec<Report> {
    let mut pages: BTreeMap<&Path, Vec<usize>> = BTreeMap::new();
    for (place, run) in bench.runs.iter().enumerate() {
        if let Some(page) = &run.private.report {
            pages.entry(page).or_default().push(place);
        }
    }
    let report = |(page, places): (&Path, Vec<usize>)| {
        let runs: Vec<String> = places.iter().map(|place| bench.runs[*place].id.clone()).collect();
        let first = &bench.runs[places[0]];
        let began = places.iter().map(|place| bench.runs[*place].started.clone()).max();
        Some(Report {
            began: began.unwrap_or_default(),
            key: key(bench, &places),
            drive: bench.drives[first.drive].id.clone(),
            results: results_of(page, first.private.directory.as_deref())?,
            runs,
        })
    };
    pages.into_iter().filter_map(report).collect()
}

/// Changes when a report would: with what the runs gave (a meter's log may come later), and with the
/// version that makes it.
fn key(bench: &Bench, places: &[usize]) -> String {
    let mut text = env!("CARGO_PKG_VERSION").to_owned();
    for run in places.iter().map(|place| &bench.runs[*place]) {
        let figures = run.figures.iter().map(|(metric, value)| (&bench.metrics[*metric].id, value));
        text +=
            &format!("{} {:?} {:?} {:?}", run.id, run.status, run.doubts, Vec::from_iter(figures));
    }
    hash(text.as_bytes())
}

/// A page lies in a folder of its results; where it lies elsewhere, there is the run.
fn results_of(page: &Path, run: Option<&Path>) -> Option<PathBuf> {
    let above = page.parent().and_then(Path::parent).map(Path::to_owned);
    let holds = |results: &PathBuf| run.is_none_or(|run| run.starts_with(results));
    above.filter(holds).or_else(|| run.map(Path::to_owned))
}

impl Report {
    /// Its page, below the root.
    pub(crate) fn path(&self) -> String {
        format!("{FOLDER}/{}/{PAGE}", self.key)
    }

    /// Makes it in the directory `out`, which is its own.
    ///
    /// # Errors
    /// [`ReportsError`]; whatever was there is kept then.
    pub(crate) fn write(&self, out: &Path) -> Result<(), ReportsError> {
        let read = Subject::open(&self.results);
        let mut subject =
            read.map_err(|source| ReportsError::Results { path: self.results.clone(), source })?;
        subject.runs.iter_mut().for_each(forget);
        let bench = format!("../../{}#drive/{}", super::PAGE, self.drive);
        write_report_for(&[subject], out, Format::Html, Some(&bench))?;
        Ok(())
    }
}

/// Whether a path below a report's directory is one of its files' by form.
pub(crate) fn allowed(file: &str) -> bool {
    let is_plain = |name: &str| {
        let good = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        !name.starts_with('.') && !name.is_empty() && name.bytes().all(good)
    };
    match file.split_once('/') {
        None => file == PAGE,
        Some((folder, name)) => {
            let is_picture = [".svg", ".csv", ".png"].iter().any(|end| name.ends_with(end));
            folder == "pictures" && is_plain(name) && is_picture
        }
    }
}

/// Takes out of a run what is nobody else's business.
fn forget(run: &mut Run) {
    run.record = without_paths(&run.record);
    run.path = run.path.file_name().map_or_else(PathBuf::new, PathBuf::from);
    let drive = &mut run.record.drive;
    drive.serial = None;
    drive.world_wide_name = None;
    if drive.kind != DeviceKind::Simulated {
        drive.stands_on.clear();
    }
    run.record.host = Host { kernel: String::new(), processor: String::new(), processors: 0 };
    run.repeats.iter_mut().for_each(forget);
}

/// The same with the last part of every path in it: `/home/me/own.toml` is `own.toml`. What cannot
/// be read back so is left as it was.
fn without_paths<T: Serialize + DeserializeOwned + Clone>(value: &T) -> T {
    let Ok(mut json) = serde_json::to_value(value) else { return value.clone() };
    shorten(&mut json);
    serde_json::from_value(json).unwrap_or_else(|_| value.clone())
}

/// Shortens every path in a value, and in its names.
pub(super) fn shorten(json: &mut Value) {
    match json {
        Value::String(text) => *text = short_paths(text),
        Value::Array(all) => all.iter_mut().for_each(shorten),
        Value::Object(all) => {
            all.values_mut().for_each(shorten);
            let named = std::mem::take(all).into_iter();
            *all = named.map(|(name, value)| (short_paths(&name), value)).collect();
        }
        _ => {}
    }
}

/// The words of a text, of each that is a path the last part. `sim:` and brackets may stand before.
fn short_paths(text: &str) -> String {
    let short = |word: &str| {
        let begins = word.find('/').filter(|at| {
            let before = &word[..*at];
            before.is_empty() || before.ends_with([':', '(', '"', '\'', '=', '“', '['])
        });
        // `http://`, and what has one part alone, is no path of this machine.
        let begins = begins.filter(|at| !word[*at..].starts_with("//"));
        match (begins, word.trim_end_matches('/').rfind('/')) {
            (Some(begin), Some(last)) => format!("{}{}", &word[..begin], &word[last + 1..]),
            _ => word.to_owned(),
        }
    };
    text.split(' ').map(short).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_paths_the_last_part_is_left() {
        let cases = [
            ("/dev/nvme0n1", "nvme0n1"),
            ("sim:/home/me/own.toml", "sim:own.toml"),
            ("sim:samsung-840-evo-250gb", "sim:samsung-840-evo-250gb"),
            ("cannot read /home/me/a: no space, MB/s", "cannot read a: no space, MB/s"),
            ("the file /srv/x/y.img", "the file y.img"),
            ("(/a/b)", "(b)"),
            ("https://example.org/a/b", "https://example.org/a/b"),
            ("steady floor / mean", "steady floor / mean"),
        ];
        for (text, short) in cases {
            assert_eq!(short_paths(text), short);
        }
    }

    #[test]
    fn only_a_report_s_own_files_are_given() {
        for good in ["index.html", "pictures/consistency-whole.svg", "pictures/a.csv"] {
            assert!(allowed(good), "{good}");
        }
        let bad = [
            "",
            "run.json",
            "pictures/",
            "pictures/../index.html",
            "../index.html",
            "pictures/.hidden.svg",
            "pictures/a/b.svg",
            "/etc/passwd",
            "pictures/a.html",
            "pictures\\a.svg",
            "index.html/",
            "pictures/%2e%2e.svg",
        ];
        for bad in bad {
            assert!(!allowed(bad), "{bad}");
        }
    }
}
