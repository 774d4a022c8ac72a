//! What has been measured, and what is made of it.

use std::path::PathBuf;

use pyo3::prelude::*;
use serde_json::{Value, json};
use writecliff::suite::{Repeats, Results};
use writecliff::trace::{
    Description, SourceOptions, Summary, describe, open as open_trace, read_ahead,
};
use writecliff::{
    Imported, MODEL_FORMATS, ModelFormat, ModelOptions, Overrides, Report, ReportOptions, Review,
    ReviewEnd, ReviewRun, RunOptions, Source,
};
use writecliff_bench::{Comparison, Library};

use crate::drive::{Drive, agreed, told};
use crate::errors::{FailedError, Raised, raised};
use crate::json;
use crate::table::Table;
use crate::watched::watched;

/// Of a run's directory its record with figures as JSON, doubts, and tables; of a review's or of
/// repeats the directories of its runs.
#[pyfunction]
pub(crate) fn open(py: Python<'_>, path: PathBuf) -> PyResult<Opened> {
    let results = Results::at(&path).map_err(|error| writecliff::Error::from(error).raised())?;
    let directories = match results {
        Results::Run => {
            let opened = py.detach(|| writecliff::open(&path));
            let (record, _) = opened.map_err(|error| writecliff::Error::from(error).raised())?;
            let table = |name: &str| Table::of_file(path.join(name));
            let every_io = path.join("ios.parquet").is_file().then(|| table("ios.parquet"));
            let tables = (table("series.parquet"), table("histograms.parquet"), every_io);
            let doubts = record.warnings.iter().map(ToString::to_string).collect();
            let record = json::text(&record.with_figures())?;
            return Ok((Some((record, doubts)), Some(tables), Vec::new()));
        }
        Results::Review(Review { tests, .. }) => {
            tests.into_iter().map(|test| test.directory).collect()
        }
        Results::Repeats(repeats) => directories(&repeats)?,
    };
    let is_there = |directory: &PathBuf| directory.join("run.json").is_file();
    let all = directories.into_iter().map(|directory: String| path.join(directory));
    Ok((None, None, all.filter(is_there).collect()))
}

/// The record and its doubts in words; seconds, latencies and every I/O; directories.
type Opened = (Option<(String, Vec<String>)>, Option<(Table, Table, Option<Table>)>, Vec<PathBuf>);

fn directories(repeats: &Repeats) -> PyResult<Vec<String>> {
    let plans = repeats.plans().map_err(|error| writecliff::Error::from(error).raised())?;
    Ok(plans.into_iter().map(|(directory, _)| directory).collect())
}

/// Runs a review into the new directory `out`.
#[pyfunction]
#[pyo3(signature = (drive, tests, with_, overrides, out, options, consent = None, progress = None))]
#[expect(clippy::too_many_arguments, reason = "the package names them all")]
pub(crate) fn review(
    py: Python<'_>,
    drive: &Drive,
    tests: Vec<String>,
    with_: Vec<String>,
    overrides: &str,
    out: PathBuf,
    options: &str,
    consent: Option<(String, bool)>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let overrides: Overrides = json::read("overrides", overrides)?;
    let options: RunOptions = json::read("options", options)?;
    let tests =
        Review::choose(&tests, &with_).map_err(|error| writecliff::Error::from(error).raised())?;
    let begun = ReviewRun::begin(drive.name.clone(), &tests, &overrides, options, &out);
    let review = begun.map_err(|error| error.raised())?;
    let consent = consent.map(agreed);
    let ended =
        watched(py, progress, |watch| review.run(consent.as_ref(), &|event| told(watch, &event)))?;
    match ended.map_err(|error| error.raised())? {
        ReviewEnd::Complete => Ok(()),
        other => Err(FailedError::new_err(format!("the review ended early: {other:?}"))),
    }
}

/// The page and the summary of these results.
#[pyfunction]
pub(crate) fn report(
    py: Python<'_>,
    runs: Vec<PathBuf>,
    out: PathBuf,
    different_plans: bool,
) -> PyResult<(PathBuf, String)> {
    let mut options = ReportOptions::default();
    options.different_plans = different_plans;
    let sources: Vec<Source> = runs.iter().map(|run| Source::from(run.as_path())).collect();
    let made = py.detach(|| writecliff::report(&sources, &out, &options));
    let Report { page, summary, .. } = made.map_err(|error| error.raised())?;
    Ok((page, summary))
}

/// Makes a run of fio's JSON in the new directory `out`.
#[pyfunction]
pub(crate) fn import_fio(py: Python<'_>, file: PathBuf, known: &str, out: PathBuf) -> PyResult<()> {
    let known: Value = json::read("known", known)?;
    let text = |key: &str| known[key].as_str().map(str::to_owned);
    let mut about = Imported { model: text("model"), ..Imported::default() };
    (about.serial, about.firmware) = (text("serial"), text("firmware"));
    about.capacity = text("capacity").and_then(|capacity| capacity.parse().ok());
    let made = py.detach(|| writecliff::import_fio(&file, &about, &out));
    made.map(drop).map_err(|error| error.raised())
}

/// What a trace is like, as JSON.
#[pyfunction]
pub(crate) fn trace_info(py: Python<'_>, name: PathBuf) -> PyResult<String> {
    let described = py.detach(|| -> Result<Description, String> {
        let shown = name.display().to_string();
        let mut source =
            open_trace(&name, 1, &SourceOptions::default()).map_err(|error| error.to_string())?;
        let duration = source.summary().map(Summary::duration);
        let info = read_ahead(&mut source, |ios| describe(ios, duration));
        let info = info.map_err(|error| error.to_string())?;
        Ok(Description { name: shown, header: source.header().clone(), info })
    });
    json::text(&described.map_err(|text| raised(writecliff::ErrorKind::Usage, text))?)
}

/// The cost model that the run in this directory measured, in the form of this name.
#[pyfunction]
pub(crate) fn cost_model(
    path: PathBuf,
    format: &str,
    mixed: bool,
    mount_point: Option<String>,
) -> PyResult<String> {
    let Some(format) = ModelFormat::find(format) else {
        let names: Vec<&str> = MODEL_FORMATS.iter().map(|format| format.name).collect();
        let text = format!("there is no format {format:?}; there are {}", names.join(", "));
        return Err(raised(writecliff::ErrorKind::Usage, text));
    };
    let mut options = ModelOptions::default();
    (options.mixed, options.mount_point) = (mixed, mount_point);
    writecliff::cost_model(&path, format, options).map_err(|error| error.raised())
}

/// Two drives or runs of the results library, or in directories, compared: as text, Markdown and JSON.
#[pyfunction]
pub(crate) fn bench_compare(
    py: Python<'_>,
    one: &str,
    other: &str,
) -> PyResult<(String, String, String)> {
    let compared = py.detach(|| {
        let paths = [one, other].into_iter().map(PathBuf::from).filter(|path| path.is_dir());
        let bench = Library::of_user(&paths.collect::<Vec<_>>())?.bench()?;
        Comparison::of(&bench, &bench.find(one)?, &bench.find(other)?)
    });
    let compared = compared.map_err(|error| error.raised())?;
    Ok((compared.text(), compared.markdown(), json::text(&json!(compared))?))
}
