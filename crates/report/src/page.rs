//! One self-contained HTML file over any number of runs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use askama::Template;
use plotly::Plot;
use serde::Serialize;

use crate::figures::{FIGURES, NONE};
use crate::pictures::{Picture, Ranges, View, is_thinned, pictures, tells};
use crate::{Run, labels, number};

/// Why a page could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The page cannot be written.
    #[error("cannot write the report {}: {source}; choose another place with --out", path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The page's template failed, which only a bug can cause.
    #[error("cannot make the report: {0}; please report this")]
    Render(#[from] askama::Error),
    /// A picture could not be put into words, which only a bug can cause.
    #[error("cannot make the report's pictures: {0}; please report this")]
    Pictures(#[from] serde_json::Error),
}

/// Writes `out/index.html`, atomically, and returns its path.
///
/// # Errors
/// [`ReportError`]; an older page is kept then.
pub fn write_page(runs: &[Run], out: &Path) -> Result<PathBuf, ReportError> {
    let html = render(runs)?;
    let path = out.join("index.html");
    let partial = out.join("index.html.partial");
    let write = || -> io::Result<()> {
        fs::create_dir_all(out)?;
        fs::write(&partial, html)?;
        fs::rename(&partial, &path)
    };
    write().map_err(|source| {
        // What is left of a failed attempt only takes space.
        let _ = fs::remove_file(&partial);
        ReportError::Write { path: path.clone(), source }
    })?;
    Ok(path)
}

#[derive(Template)]
#[template(path = "page.html")]
struct Page {
    title: String,
    /// Whether what the title names is simulated.
    simulated_title: bool,
    has_simulated: bool,
    several: bool,
    runs: Vec<RunPart>,
    views: Vec<ViewPart>,
    figures: Vec<FigurePart>,
    style: &'static str,
    /// The pictures, as JSON that cannot end its script element.
    pictures: String,
    plotly: String,
    script: &'static str,
}

/// Seconds that a log axis would silently leave out are drawn, and this says how.
const DEAD: &str = " Triangles at the bottom are seconds in which nothing completed.";

/// What the page says of one run.
struct RunPart {
    label: String,
    simulated: bool,
    status: String,
    is_complete: bool,
    verdict: String,
    warnings: Vec<String>,
    details: Vec<(&'static str, String)>,
}

/// A section with one picture for each run shown.
struct ViewPart {
    id: &'static str,
    title: String,
    text: &'static str,
    /// What the orange triangles of this picture are, if it may have any.
    dead: &'static str,
}

/// A row of the numbers table.
struct FigurePart {
    name: &'static str,
    meaning: &'static str,
    values: Vec<String>,
}

/// What the page's script gets of one run.
#[derive(Serialize)]
struct RunPictures {
    label: String,
    simulated: bool,
    pictures: Vec<Picture>,
}

fn render(runs: &[Run]) -> Result<String, ReportError> {
    let ranges = Ranges::of(runs);
    let labels = labels(runs);
    let pictures: Vec<RunPictures> = runs
        .iter()
        .zip(&labels)
        .map(|(run, label)| RunPictures {
            label: label.clone(),
            simulated: run.is_simulated(),
            pictures: pictures(run, &ranges),
        })
        .collect();
    let page = Page {
        title: title(runs),
        simulated_title: matches!(runs, [run] if run.is_simulated()),
        has_simulated: runs.iter().any(Run::is_simulated),
        several: runs.len() > 1,
        runs: runs.iter().zip(labels).map(|(run, label)| run_part(run, label)).collect(),
        views: views(runs, &ranges),
        figures: FIGURES.iter().map(|figure| figure_part(figure, runs)).collect(),
        style: include_str!("../templates/page.css"),
        pictures: serde_json::to_string(&pictures)?.replace('<', "\\u003c"),
        plotly: plotly_script(),
        script: include_str!("../templates/page.js"),
    };
    Ok(page.render()?)
}

fn title(runs: &[Run]) -> String {
    match runs {
        [run] => run.label(),
        runs => format!("{} runs compared", runs.len()),
    }
}

/// The plotting library alone; what the crate offers for offline use also brings a formula
/// renderer of 2 MB that nothing here needs.
fn plotly_script() -> String {
    const END: &str = "</script>";
    let sources = Plot::offline_js_sources();
    let end = sources.find(END).map_or(sources.len(), |start| start + END.len());
    sources[..end].to_owned()
}

fn run_part(run: &Run, label: String) -> RunPart {
    RunPart {
        label,
        simulated: run.is_simulated(),
        status: run.status(),
        is_complete: run.record.status == writecliff_suite::Status::Complete,
        verdict: verdict(run),
        warnings: run.record.warnings.iter().map(ToString::to_string).collect(),
        details: details(run),
    }
}

/// The result in one or two plain sentences.
fn verdict(run: &Run) -> String {
    let Some(outcome) = run.outcome() else {
        return "The run ended before its first second of random writes: there are no figures."
            .to_owned();
    };
    let steady = &outcome.steady_iops;
    let cliff = match outcome.cliff_s {
        Some(second) => format!(
            "{} for {}, then the write cliff.",
            number::iops(outcome.fresh_iops),
            number::seconds(f64::from(second))
        ),
        None => format!("{} fresh, and no write cliff.", number::iops(outcome.fresh_iops)),
    };
    format!(
        "{cliff} Steady: {} on average, {} in the worst second ({} of the average).",
        number::iops(steady.mean),
        number::thousands(steady.floor),
        number::percent(outcome.floor_to_mean)
    )
}

fn details(run: &Run) -> Vec<(&'static str, String)> {
    let (record, plan, drive) = (&run.record, run.plan(), &run.record.drive);
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| NONE.to_owned());
    let purge = record.purge.map_or_else(
        || "none".to_owned(),
        |purge| match purge.sampled {
            0 => purge.how.describe().to_owned(),
            sampled => format!(
                "{}; {} of {sampled} places read back still held data",
                purge.how.describe(),
                purge.still_readable
            ),
        },
    );
    vec![
        ("Drive", format!("{} ({})", drive.model, drive.kind)),
        ("Address", drive.address.clone()),
        ("Serial", text(&drive.serial)),
        ("Firmware", text(&drive.firmware)),
        (
            "Capacity",
            format!("{} ({} bytes)", drive.capacity, number::thousands(drive.capacity.0 as f64)),
        ),
        (
            "Sectors",
            format!(
                "{} logical, {} physical",
                drive.lba_size.exact(),
                drive.physical_block_size.exact()
            ),
        ),
        ("Scheduler", text(&drive.scheduler)),
        ("Test", format!("{}: {}", record.plan.name(), run.method())),
        ("Spare area left", format!("{} % of the LBAs untouched", plan.spare_percent)),
        ("Fill", format!("{} at QD{}", plan.fill_block.exact(), plan.fill_queue_depth)),
        ("Seed", plan.seed.to_string()),
        ("Purge", purge),
        ("Started", record.started.clone()),
        (
            "Host",
            format!(
                "{}, {} × {}",
                record.host.kernel, record.host.processors, record.host.processor
            ),
        ),
        ("Writecliff", format!("{}, schema {}", record.tool_version, record.schema_version)),
        ("Data", data(run)),
    ]
}

/// Where everything that was recorded is to be found.
fn data(run: &Run) -> String {
    let is_cut_off = run.path.join("journal.jsonl").exists();
    let files = match (
        is_cut_off,
        run.path.join("ios.parquet").exists() || run.path.join("ios.journal").exists(),
    ) {
        (false, false) => "run.json, series.parquet and histograms.parquet",
        (false, true) => "run.json, series.parquet, histograms.parquet and ios.parquet",
        (true, false) => "run.json and journal.jsonl",
        (true, true) => "run.json, journal.jsonl and ios.journal",
    };
    format!("{files} in {}", run.path.display())
}

fn views(runs: &[Run], ranges: &Ranges) -> Vec<ViewPart> {
    let steady = number::seconds(ranges.steady_from);
    let thinned = runs.iter().any(is_thinned);
    let shown = View::ALL.into_iter().filter(|v| *v != View::Inside || runs.iter().any(tells));
    shown
        .map(|view| {
            let (title, text) = match view {
                View::Whole if thinned => (
                    "The whole run".to_owned(),
                    "Logarithmic. So many seconds that each stretch shows its lowest and highest.",
                ),
                View::Whole => (
                    "The whole run".to_owned(),
                    "Every dot is one second. Logarithmic: each line is ten times the one below.",
                ),
                View::SteadyLog => (
                    format!("Steady state, from {steady}"),
                    "The same seconds, closer. Logarithmic.",
                ),
                View::SteadyLinear => (
                    format!("Steady state, from {steady}, linear"),
                    "A steady drive is a thin band. Look at the lowest dots, not at the middle.",
                ),
                View::Latency => (
                    "Latency".to_owned(),
                    "Service time of the writes of each second. Logarithmic.",
                ),
                View::Inside => (
                    "Write amplification".to_owned(),
                    "NAND writes per host write, as the drive itself counts them.",
                ),
            };
            let shows_iops = matches!(view, View::Whole | View::SteadyLog | View::SteadyLinear);
            let dead = if shows_iops && ranges.has_dead { DEAD } else { "" };
            ViewPart { id: view.id(), title, text, dead }
        })
        .collect()
}

fn figure_part(figure: &crate::figures::Figure, runs: &[Run]) -> FigurePart {
    let value = |run: &Run| match run.outcome() {
        Some(outcome) => (figure.value)(outcome),
        None => NONE.to_owned(),
    };
    FigurePart {
        name: figure.name,
        meaning: figure.meaning,
        values: runs.iter().map(value).collect(),
    }
}
