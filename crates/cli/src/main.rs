//! The `writecliff` binary: arguments to plans, one file per command.

mod args;
mod commands;
mod consent;
mod error;
mod help;
mod interrupt;
mod keys;
mod library;
mod live;
mod open;
mod options;
mod output;
mod place;
mod png;
mod progress;

use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Command};
use writecliff::DriveName;

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Review { drive, options } => commands::review::review(drive, &options),
        Command::Run { test, drive, options } => {
            let directory = options.directory.clone().map(DriveName::Directory);
            let on = drive.or(directory);
            commands::run::run(test.as_deref().zip(on.as_ref()), &options)
        }
        Command::Drives { names, check: true, options, .. } => {
            commands::check::check(&names, &options)
        }
        Command::Drives { names, fit: true, options, .. } => {
            commands::check::fit_to_figures(&names, &options)
        }
        Command::Drives { names, options, .. } => commands::drives::drives(&names, options.json),
        Command::Gate { run, options } => commands::gate::run(&run, &options),
        Command::Export(arguments) => commands::export::export(&arguments),
        Command::Sweep(arguments) => commands::sweep::sweep(&arguments),
        Command::Fleet(arguments) => commands::fleet::fleet(&arguments),
        Command::Import(arguments) => commands::import::import(&arguments),
        Command::Meter(arguments) => commands::meter::meter(&arguments),
        Command::Trace { command } => commands::trace::trace(&command),
        Command::Purge(arguments) => commands::purge::run(&arguments),
        Command::Security(arguments) => commands::security::security(&arguments),
        Command::PsidRevert(arguments) => commands::security::revert(&arguments),
        Command::Model(arguments) => commands::model::model(&arguments),
        Command::Report(arguments) => commands::report::report(&arguments),
        Command::Bench { command } => commands::bench::bench(&command),
        Command::Cipher => commands::cipher::cipher(),
        Command::Completions { shell } => commands::manual::completions(shell),
        Command::Manual { directory } => commands::manual::manual(&directory),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Where nobody can be told, the exit code must do.
            output::say(&format!("writecliff: {error}"));
            error.exit_code()
        }
    }
}
