//! `writecliff bench list`, `show` and `compare`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::Serialize;
use writecliff_bench::{
    Bench, Chosen, Comparison, DriveEntry, Filter, Kind, Library, RunEntry, drive_table, run_table,
};

use super::{library, say_problems, show_reading};
use crate::error::CliError;
use crate::output::{print, print_json};

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// Only drives that have this in their name; or list only what is in this directory and below it,
    /// instead of the library and what ships
    #[arg(value_name = "NAME|DIR")]
    places: Vec<String>,
    /// Only results of this test; `published` for printed figures that no test gives
    #[arg(long, value_name = "TEST")]
    test: Option<String>,
    /// Only results of this kind
    #[arg(long, value_enum, value_name = "KIND")]
    kind: Option<KindName>,
    /// List runs instead of drives
    #[arg(long)]
    runs: bool,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum KindName {
    /// What models gave
    Simulated,
    /// What was measured on drives
    Measured,
    /// What others printed
    Published,
}

impl From<KindName> for Kind {
    fn from(name: KindName) -> Self {
        match name {
            KindName::Simulated => Self::Simulated,
            KindName::Measured => Self::Measured,
            KindName::Published => Self::Published,
        }
    }
}

/// What a script gets.
#[derive(Serialize)]
struct Listed {
    #[serde(skip_serializing_if = "Option::is_none")]
    drives: Option<Vec<DriveEntry>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<Vec<RunEntry>>,
}

pub(crate) fn list(arguments: &ListArguments) -> Result<(), CliError> {
    let is_directory = |place: &&String| Path::new(place).is_dir();
    let (directories, names): (Vec<_>, Vec<_>) = arguments.places.iter().partition(is_directory);
    let directories: Vec<PathBuf> = directories.into_iter().map(PathBuf::from).collect();
    let filter = Filter {
        names: names.into_iter().cloned().collect(),
        test: arguments.test.clone(),
        kind: arguments.kind.map(Kind::from),
        without_shipped: !directories.is_empty(),
    };
    let bench = library(&directories)?.bench()?;
    let listed = match arguments.runs {
        true => Listed { drives: None, runs: Some(bench.run_list(&filter)?) },
        false => Listed { drives: Some(bench.drive_list(&filter)?), runs: None },
    };
    say_problems(&bench);
    match (&listed.drives, &listed.runs) {
        _ if arguments.json => print_json(&listed),
        (Some(drives), _) => print(&drive_table(drives)),
        (None, runs) => print(&run_table(runs.as_deref().unwrap_or_default())),
    }
}

#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// A drive, by its name, its id or a part of that; or a run, by its directory or its id
    #[arg(value_name = "DRIVE|RUN")]
    name: String,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

pub(crate) fn show(arguments: &ShowArguments) -> Result<(), CliError> {
    let (bench, chosen) = find(&[&arguments.name])?;
    let details = bench.details(&chosen[0]);
    match arguments.json {
        true => print_json(&details),
        false => print(&details.text()),
    }
}

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// A drive or a run, as for `show`
    a: String,
    /// Another
    b: String,
    /// Print Markdown instead of a table
    #[arg(long, conflicts_with_all = ["json", "csv"])]
    markdown: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print CSV
    #[arg(long)]
    csv: bool,
}

pub(crate) fn compare(arguments: &CompareArguments) -> Result<(), CliError> {
    let (bench, chosen) = find(&[&arguments.a, &arguments.b])?;
    let comparison = Comparison::of(&bench, &chosen[0], &chosen[1])?;
    match arguments {
        CompareArguments { json: true, .. } => print_json(&comparison),
        CompareArguments { csv: true, .. } => print(&comparison.csv()),
        CompareArguments { markdown: true, .. } => print(&comparison.markdown()),
        _ => print(&comparison.text()),
    }
}

/// What is meant by each name. A directory need not be in the library.
fn find(names: &[&String]) -> Result<(Bench, Vec<Chosen>), CliError> {
    let directories = names.iter().map(PathBuf::from).filter(|path| path.is_dir());
    let bench =
        Library::of_user_watched(&directories.collect::<Vec<_>>(), show_reading)?.bench()?;
    let chosen = names.iter().map(|name| bench.find(name)).collect::<Result<Vec<_>, _>>()?;
    say_problems(&bench);
    Ok((bench, chosen))
}
