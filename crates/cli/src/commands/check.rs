//! `writecliff drives --check`: simulated drives beside the published figures of the real ones; and
//! `--fit`, a drive's own keys fitted to what was measured of it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use serde::Serialize;
use writecliff::check::{Catalogue, Fit, LeftOut, compare_without, fit};
use writecliff::profile;
use writecliff_report::{TextTable, course_pictures, cut, model_picture};
use writecliff_suite::check::{
    Accuracy, Bound, CheckProgress, Class, Comparison, PUBLISHED, Published, PublishedShape,
    RATING_TOLERANCE, Role, ShapeComparison, compare, compare_shapes, parse, published_shapes,
};

use crate::error::CliError;
use crate::output::{ProgressLine, print, print_json, say};
use crate::progress::gone_and_left;

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// Use these figures instead of those that ship (docs/formats.md)
    #[arg(long, value_name = "FILE", requires = "comparison")]
    pub(crate) figures: Option<PathBuf>,
    /// Compare what drives were fitted to with drives that were not: their fitted keys have the
    /// values of relatives
    #[arg(long, value_name = "WHAT", requires = "check")]
    pub(crate) leave_out: Option<LeaveOut>,
    /// Draw each drive beside its figures, DIR/NAME.svg, and beside courses that were measured,
    /// DIR/NAME-COURSE.svg
    #[arg(long, value_name = "DIR", requires = "check")]
    pub(crate) pictures: Option<PathBuf>,
    /// Print everything as JSON instead
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `--leave-out` leaves out.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum LeaveOut {
    /// All that was measured of a drive
    Drive,
    /// One scenario of a drive
    Test,
}

const SHIPPED: &str = "drives/published/figures.csv";

/// Compares, prints, and fails if a rating is missed.
pub(crate) fn check(names: &[OsString], options: &CheckArguments) -> Result<(), CliError> {
    let figures = chosen(names, options, true)?;
    let mut drives: Vec<&str> = figures.iter().map(|figure| figure.drive.as_str()).collect();
    drives.dedup();
    let drives = match &drives[..] {
        [only] => (*only).to_owned(),
        drives => format!("{} simulated drives", drives.len()),
    };
    let (line, began) = (ProgressLine::begin(), Instant::now());
    let watch = |CheckProgress { drive, treatment, done, all }: CheckProgress<'_>| {
        let time = || gone_and_left(began, Some(done as f64 / all as f64));
        line.show(|| format!("{done} of {all} treatments, {}; last {drive}: {treatment}", time()));
    };
    let compared = match options.leave_out {
        None => {
            if !figures.is_empty() {
                say(&format!("comparing {} figures of {drives}", figures.len()));
            }
            compare(&figures, &Catalogue::default(), watch)?
        }
        Some(LeaveOut::Drive) => compare_without(LeftOut::Drive, &figures, watch)?,
        Some(LeaveOut::Test) => compare_without(LeftOut::Test, &figures, watch)?,
    };
    let shapes = match options.figures.is_none() && options.leave_out.is_none() {
        true => {
            let names = without_prefix(names);
            let is_of = |shape: &PublishedShape| names.is_empty() || names.contains(&shape.drive);
            let shapes: Vec<_> = published_shapes().into_iter().filter(is_of).collect();
            compare_shapes(&shapes, &Catalogue::default(), watch)?
        }
        false => Vec::new(),
    };
    drop(line);
    if let Some(directory) = &options.pictures {
        draw(directory, &compared)?;
    }
    match options.json {
        true => print_json(&report(&compared, &shapes))?,
        false => {
            let figures = if compared.is_empty() { String::new() } else { table(&compared) };
            print(&(figures + &shape_table(&shapes)))?;
        }
    }
    match compared.iter().filter(|comparison| comparison.fails()).count() {
        0 => Ok(()),
        count => Err(CliError::RatingMissed { count }),
    }
}

/// Names of drives as the catalogue has them.
fn without_prefix(names: &[OsString]) -> Vec<String> {
    let bare = |name: &OsString| {
        let name = name.to_string_lossy();
        name.strip_prefix("sim:").unwrap_or(&name).to_owned()
    };
    names.iter().map(bare).collect()
}

/// A picture of each drive.
fn draw(directory: &Path, compared: &[Comparison]) -> Result<(), CliError> {
    let failed = |path: &Path, source| CliError::Drawing { path: path.to_owned(), source };
    std::fs::create_dir_all(directory).map_err(|source| failed(directory, source))?;
    for block in compared.chunk_by(|a, b| a.figure.drive == b.figure.drive) {
        let drive = &block[0].figure.drive;
        // A profile of one's own is called by its file.
        let name = Path::new(drive).file_stem().unwrap_or_default();
        let name = name.to_string_lossy();
        let write = |name: &str, picture: &str| {
            let path = directory.join(format!("{name}.svg"));
            std::fs::write(&path, picture).map_err(|source| failed(&path, source))
        };
        write(&name, &model_picture(drive, block))?;
        for (course, picture) in course_pictures(drive, block) {
            write(&format!("{name}-{course}"), &picture)?;
        }
    }
    Ok(())
}

/// Fits each drive and prints the values that its profile should have.
pub(crate) fn fit_to_figures(names: &[OsString], options: &CheckArguments) -> Result<(), CliError> {
    let figures = chosen(names, options, false)?;
    let drives: BTreeSet<&str> = figures.iter().map(|figure| figure.drive.as_str()).collect();
    let mut all = BTreeMap::new();
    for drive in drives {
        let line = ProgressLine::begin();
        let watch = |key: &str, value: f64| line.show(|| format!("{drive}: {key} = {value}"));
        let fits = fit(drive, &figures, watch)?;
        drop(line);
        if !options.json {
            print(&fit_table(drive, &fits))?;
        }
        all.insert(drive, fits);
    }
    if options.json { print_json(&all) } else { Ok(()) }
}

fn fit_table(drive: &str, fits: &[Fit]) -> String {
    if fits.is_empty() {
        return format!(
            "{drive}\nNothing to fit: its profile has no identity.fitted that names a scenario of these \
             figures.\n\n"
        );
    }
    let mut table = TextTable::new()
        .text("key", 22, usize::MAX)
        .text("fitted to", 24, usize::MAX)
        .numbers("before", 0)
        .numbers("after", 0)
        .numbers("model/published", 0);
    for fit in fits {
        table.row(vec![
            fit.key.clone(),
            fit.scenario.clone(),
            fit.before.to_string(),
            fit.after.to_string(),
            format!("{:.3}", fit.ratio),
        ]);
    }
    format!("{drive}\n{}\n", table.render())
}

/// The figures of the drives that were named; of all drives if none was. Words will do for figures where
/// they are looked at.
fn chosen(
    names: &[OsString],
    options: &CheckArguments,
    or_words: bool,
) -> Result<Vec<Published>, CliError> {
    let names = without_prefix(names);
    let (file, text) = match &options.figures {
        None => (SHIPPED.to_owned(), PUBLISHED.to_owned()),
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .map_err(|source| CliError::FiguresUnreadable { path: path.clone(), source })?;
            (path.display().to_string(), text)
        }
    };
    let mut figures = parse(&file, &text)?;
    for name in &names {
        profile(name)?;
        let takes_words = or_words && options.figures.is_none() && options.leave_out.is_none();
        let has_words = || published_shapes().iter().any(|of| of.drive == *name);
        let lacks_figures = figures.iter().all(|figure| figure.drive != *name);
        let lacks_words = !takes_words || !has_words();
        if lacks_figures && lacks_words {
            return Err(CliError::NoFigures { drive: name.clone(), figures: file });
        }
    }
    figures.retain(|figure| names.is_empty() || names.contains(&figure.drive));
    Ok(figures)
}

/// What a script gets.
#[derive(Serialize)]
struct Report<'a> {
    rating_tolerance: f64,
    ratings_missed: usize,
    #[serde(flatten)]
    accuracy: Accuracy,
    comparisons: &'a [Comparison],
    shapes: &'a [ShapeComparison],
}

fn report<'a>(comparisons: &'a [Comparison], shapes: &'a [ShapeComparison]) -> Report<'a> {
    Report {
        rating_tolerance: RATING_TOLERANCE,
        ratings_missed: comparisons.iter().filter(|comparison| comparison.fails()).count(),
        accuracy: Accuracy::of(comparisons),
        comparisons,
        shapes,
    }
}

/// What reviews call the seconds of a steady state, and what the model's are.
fn shape_table(shapes: &[ShapeComparison]) -> String {
    if shapes.is_empty() {
        return String::new();
    }
    let mut table = TextTable::new()
        .text("steady state of", 27, 40)
        .text("in words", 34, 34)
        .text("looks like", 15, 20)
        .text("model", 9, 12)
        .numbers("scatter", 0)
        .text("", 6, 6);
    for ShapeComparison { published, model, variation, fits } in shapes {
        let spare = match published.spare {
            0.0 => String::new(),
            percent => format!(", {percent} % unused"),
        };
        table.row(vec![
            format!("{}{spare}", published.drive),
            published.words.clone(),
            published.shapes.replace('|', " or "),
            (*model).to_owned(),
            format!("{:.1} %", variation * 100.0),
            (if *fits { "so" } else { "NOT SO" }).to_owned(),
        ]);
    }
    format!("\n{}", table.render())
}

const WIDTH: usize = 100;
const FIGURE_WIDTH: usize = 33;
const CONDITION_WIDTH: usize = 20;

/// One block a drive, a line a figure; below all of them what they amount to and what was cited.
fn table(comparisons: &[Comparison]) -> String {
    let mut sources: Vec<&str> = Vec::new();
    for comparison in comparisons {
        let source = comparison.figure.source.as_str();
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    let of_one_drive = comparisons.chunk_by(|a, b| a.figure.drive == b.figure.drive);
    let blocks: Vec<String> = of_one_drive.map(|block| drive_block(block, &sources)).collect();
    let mut text = blocks.join("\n");
    text += &summary(&Accuracy::of(comparisons));
    text += "\nSources\n";
    for (index, source) in sources.iter().enumerate() {
        let number = format!("{:>4} ", format!("[{}]", index + 1));
        text += &(number + &cut(source, WIDTH - 5).join("\n     ") + "\n");
    }
    text
}

/// A figure a line; a name or a condition that is too long goes on below it.
fn drive_block(comparisons: &[Comparison], sources: &[&str]) -> String {
    let mut table = TextTable::new()
        .text("scenario", FIGURE_WIDTH, FIGURE_WIDTH)
        .text("published how", CONDITION_WIDTH, CONDITION_WIDTH)
        .numbers("model", 0)
        .numbers("published", 0)
        .numbers("off by", 0)
        .text("", 9, usize::MAX)
        .numbers("from", 0);
    for comparison in comparisons {
        let figure = &comparison.figure;
        let source = sources.iter().position(|source| *source == figure.source).unwrap_or(0);
        let bound = match figure.bound {
            Bound::None => "",
            Bound::AtLeast => ">",
            Bound::AtMost => "<",
        };
        table.row(vec![
            figure.scenario.to_string(),
            figure.condition.clone(),
            number(comparison.model),
            format!("{bound}{} {:5}", figure.value, figure.unit),
            factor(comparison.error_factor),
            role(comparison).to_owned(),
            format!("[{}]", source + 1),
        ]);
    }
    format!("{}\n{}", comparisons[0].figure.drive, table.render())
}

fn role(comparison: &Comparison) -> &'static str {
    match comparison.role {
        Role::Rating if comparison.fails() => "MISSED",
        Role::Rating => "rating",
        Role::Fitted => "fitted",
        Role::Predicted => "predicted",
    }
}

/// Ratings, what was fitted to, and predictions, apart.
fn summary(accuracy: &Accuracy) -> String {
    let mut table = TextTable::new()
        .text("by what factor the model is off", 31, usize::MAX)
        .numbers("figures", 0)
        .numbers("median", 0)
        .numbers("nine in ten", 0)
        .numbers("within x1.1", 0)
        .numbers("x1.5", 0);
    for errors in &accuracy.errors {
        let role = match errors.role {
            Role::Rating => "ratings",
            Role::Fitted => "fitted to",
            Role::Predicted => "predicted",
        };
        let class = match errors.class {
            None => ", all",
            Some(Class::Rate) => ": rates, fresh",
            Some(Class::Used) => ": used, dirty, steady",
            Some(Class::Latency) => ": latencies, one at a time",
        };
        let share = |share: f64| format!("{:.0} %", share * 100.0);
        table.row(vec![
            format!("{role}{class}"),
            errors.count.to_string(),
            factor(errors.median),
            factor(errors.p90),
            share(errors.within_1_1),
            share(errors.within_1_5),
        ]);
    }
    let orders = &accuracy.rank_orders;
    let right = orders.iter().filter(|order| order.wrong == 0).count();
    let orders = match orders.len() {
        0 => String::new(),
        all => {
            format!("Orders of drives by one source, predicted: {right} of {all} entirely right.\n")
        }
    };
    format!("\n{}{orders}", table.render())
}

/// As many decimals as make three or more digits.
fn number(value: f64) -> String {
    let decimals = match value.abs() {
        100.0.. => 0,
        10.0.. => 1,
        1.0.. => 2,
        _ => 4,
    };
    format!("{value:.decimals$}")
}

/// `x1.07`; far away, hundredths say nothing.
fn factor(value: f64) -> String {
    if value < 9.95 { format!("x{value:.2}") } else { format!("x{value:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_show_what_they_mean() {
        assert_eq!([97654.3, 54.73, 7.2, 0.0219].map(number), ["97654", "54.7", "7.20", "0.0219"]);
        assert_eq!([1.0, 1.234, 12.34].map(factor), ["x1.00", "x1.23", "x12"]);
    }
}
