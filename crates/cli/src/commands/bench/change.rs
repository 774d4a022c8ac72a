//! `writecliff bench add`, `import`, `rm` and `rebuild`.

use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;

use clap::Args;
use writecliff_bench::{Home, Library, Limits, import as take_in};
use writecliff_device::printable;

use super::{library, say_each, say_problems, show_reading};
use crate::error::CliError;
use crate::output::{print, print_json, say};

#[derive(Debug, Args)]
pub(crate) struct AddArguments {
    /// Directories of runs and reviews, or any above such
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Say nothing but what went wrong
    #[arg(long)]
    quiet: bool,
}

pub(crate) fn add(arguments: &AddArguments) -> Result<(), CliError> {
    for added in library(&[])?.add(&arguments.runs)? {
        say_each(&added.problems);
        if !arguments.quiet {
            let runs = if added.runs == 1 { "run" } else { "runs" };
            print(&format!("{}: {} {runs}\n", added.place.display(), added.runs))?;
        }
    }
    Ok(())
}

#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// A .tar, .tar.gz, .tar.zst or .zip, or a directory
    #[arg(value_name = "FILE|DIR")]
    source: PathBuf,
    /// Print what came of it as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn import(arguments: &ImportArguments) -> Result<(), CliError> {
    let home = Home::of_user()?;
    let mut library = Library::open_watched(home.clone(), show_reading)?;
    let imported = take_in(&mut library, &home, &arguments.source, &Limits::default())?;
    for refused in &imported.refused {
        say(&format!("note: not imported: {}", printable(refused)));
    }
    for run in &imported.corrected {
        say(&format!(
            "note: {}: its figures were not what its seconds give, and are now",
            printable(run)
        ));
    }
    if arguments.json {
        return print_json(&imported);
    }
    let runs = if imported.runs == 1 { "run" } else { "runs" };
    match &imported.place {
        Some(place) => print(&format!("{}: {} {runs}\n", place.display(), imported.runs)),
        None => print("All of it is in the library already.\n"),
    }
}

#[derive(Debug, Args)]
pub(crate) struct RmArguments {
    /// Directories that were added, or runs by their ids
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Delete what was imported without asking
    #[arg(long)]
    yes: bool,
}

pub(crate) fn rm(arguments: &RmArguments) -> Result<(), CliError> {
    let mut library = library(&[])?;
    let places = arguments.runs.iter().map(|run| library.place_of(run));
    let places = places.collect::<Result<Vec<_>, _>>()?;
    let copies: Vec<&PathBuf> = places.iter().filter(|place| library.is_imported(place)).collect();
    if !copies.is_empty() && !arguments.yes && !agreed(&copies)? {
        return Err(CliError::NotAgreed);
    }
    library.remove(&places)?;
    Ok(())
}

/// Whether somebody at the terminal agrees that the copies are deleted.
fn agreed(copies: &[&PathBuf]) -> Result<bool, CliError> {
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return Ok(false);
    }
    let named: Vec<String> = copies.iter().map(|copy| copy.display().to_string()).collect();
    say(&format!("This deletes what was imported:\n  {}\nType yes to go on:", named.join("\n  ")));
    let mut typed = String::new();
    let read = std::io::stdin().lock().read_line(&mut typed);
    read.map_err(|source| CliError::Prompt { source })?;
    Ok(typed.trim() == "yes")
}

#[derive(Debug, Args)]
pub(crate) struct RebuildArguments {
    /// Say nothing but what went wrong
    #[arg(long)]
    quiet: bool,
}

pub(crate) fn rebuild(arguments: &RebuildArguments) -> Result<(), CliError> {
    let bench = Library::rebuild(Home::of_user()?, show_reading)?.bench()?;
    say_problems(&bench);
    let own = bench.runs.iter().filter(|run| !run.catalogue).count();
    match arguments.quiet {
        true => Ok(()),
        false => print(&format!("{own} runs\n")),
    }
}
