//! `writecliff bench`: the results library. What it is and does is in the crate of that name.

mod change;
mod look;
mod pages;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use clap::Subcommand;
use writecliff_bench::{Bench, Home, Library, Problem};
use writecliff_device::printable;

use crate::error::CliError;
use crate::help;
use crate::output::{ProgressLine, say};

#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Show the pages in a browser, on this machine
    #[command(after_help = help::BENCH_SERVE)]
    Serve(pages::ServeArguments),
    /// Write the pages as files, for a web host or to be opened from a disk
    #[command(after_help = help::BENCH_EXPORT)]
    Export(pages::ExportArguments),
    /// List the drives that there are results of
    #[command(after_help = help::BENCH_LIST)]
    List(look::ListArguments),
    /// Show everything about a drive or a run
    #[command(after_help = help::BENCH_SHOW)]
    Show(look::ShowArguments),
    /// Compare two drives or two runs, figure by figure
    #[command(after_help = help::BENCH_COMPARE)]
    Compare(look::CompareArguments),
    /// Take results into the library, where they lie
    #[command(after_help = help::BENCH_ADD)]
    Add(change::AddArguments),
    /// Take results of somebody else's into the library: an archive or a directory
    #[command(after_help = help::BENCH_IMPORT)]
    Import(change::ImportArguments),
    /// Take results out of the library
    #[command(after_help = help::BENCH_RM)]
    Rm(change::RmArguments),
    /// Make the library's index anew from the results
    Rebuild(change::RebuildArguments),
}

pub(crate) fn bench(command: &BenchCommand) -> Result<(), CliError> {
    match command {
        BenchCommand::Serve(arguments) => pages::serve(arguments),
        BenchCommand::Export(arguments) => pages::export(arguments),
        BenchCommand::List(arguments) => look::list(arguments),
        BenchCommand::Show(arguments) => look::show(arguments),
        BenchCommand::Compare(arguments) => look::compare(arguments),
        BenchCommand::Add(arguments) => change::add(arguments),
        BenchCommand::Import(arguments) => change::import(arguments),
        BenchCommand::Rm(arguments) => change::rm(arguments),
        BenchCommand::Rebuild(arguments) => change::rebuild(arguments),
    }
}

/// The directories that were named, else the user's library.
pub(crate) fn library(directories: &[PathBuf]) -> Result<Library, CliError> {
    Ok(match directories {
        [] => Library::open_watched(Home::of_user()?, show_reading)?,
        named => Library::of_watched(named, show_reading)?,
    })
}

/// Shows how far a library is that has many new runs to read.
pub(crate) fn show_reading(done: usize, of: usize) {
    static LINE: Mutex<Option<ProgressLine>> = Mutex::new(None);
    let mut line = LINE.lock().unwrap_or_else(PoisonError::into_inner);
    match done < of {
        true => line
            .get_or_insert_with(ProgressLine::begin)
            .show(|| format!("{done} of {of} new runs read")),
        false => drop(line.take()),
    }
}

/// What is wrong with the library or with results in it, a line each; all else is shown.
pub(crate) fn say_problems(bench: &Bench) {
    say_each(&bench.problems);
}

fn say_each(problems: &[Problem]) {
    for problem in problems {
        let path = problem.path.display().to_string();
        say(&format!("note: {}: {}", printable(&path), printable(&problem.message)));
    }
}
