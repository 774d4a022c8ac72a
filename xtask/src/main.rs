//! The project's own chores: `cargo xtask test`, `python`, `guest`, `bench`, `same`, `tidy`,
//! `picture`, `catalogue`, `dist`.

mod bench;
mod catalogue;
mod dist;
mod guest;
mod packages;
mod picture;
mod python;
mod revision;
mod same;
mod test;
mod tidy;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::Parser;
use clap::error::ErrorKind;
use serde_json::Value;

/// The project's own chores; run from the workspace's root.
#[derive(Debug, Parser)]
enum Chore {
    /// Install what the tests need (apt, when root) and run every test
    Test(test::Options),
    /// Build the Python package as a wheel and try it on the oldest and the newest Python here
    Python,
    /// Try the tool on many emulated drives in a virtual machine
    Guest(guest::Options),
    /// Measure speed beside an earlier commit and beside fio, in turn
    Bench(bench::Options),
    /// Show which figures of simulated drives are not those of an earlier commit
    Same(same::Options),
    /// Check formatting, lints, and licences if cargo-deny is installed
    Tidy(tidy::Options),
    /// Make the README's picture from a run of the tool, and pictures of the models
    Picture,
    /// Review simulated drives that have changed, for the results that ship, and run on the others the
    /// tests that are new in reviews: half a minute for each review
    Catalogue {
        /// Every drive: after a change of the model
        #[arg(long)]
        all: bool,
    },
    /// Make what people install: a static program, an archive, a Debian package
    Dist,
}

fn main() -> ExitCode {
    let chore = match Chore::try_parse() {
        Ok(chore) => chore,
        Err(answer) if is_help(&answer) => answer.exit(),
        Err(error) => {
            eprintln!("xtask: {}", in_one_line(&error));
            return ExitCode::from(2);
        }
    };
    let done = match chore {
        Chore::Test(options) => test::test(&options),
        Chore::Python => python::test(),
        Chore::Guest(options) => guest::guest(&options),
        Chore::Bench(options) => bench::bench(&options),
        Chore::Same(options) => same::same(&options),
        Chore::Tidy(options) => tidy::tidy(&options),
        Chore::Picture => picture::picture(),
        Chore::Catalogue { all } => catalogue::catalogue(all),
        Chore::Dist => dist::dist(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            eprintln!("xtask: {what}");
            ExitCode::FAILURE
        }
    }
}

/// Help that was asked for, or that stands in for a missing chore.
fn is_help(answer: &clap::Error) -> bool {
    use ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand};
    matches!(answer.kind(), DisplayHelp | DisplayHelpOnMissingArgumentOrSubcommand)
}

/// What clap found wrong, and what it thinks was meant.
fn in_one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let is_said_anyway = |part: &&str| !part.starts_with("Usage") && !part.starts_with("For more");
    let parts: Vec<&str> = text.split("\n\n").map(str::trim).filter(is_said_anyway).collect();
    let line = parts.join("; ").split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{}; `cargo xtask --help` lists all", line.trim_start_matches("error: "))
}

/// Runs cargo in the workspace, its output shown.
fn cargo(arguments: &[&str]) -> Result<(), String> {
    println!("xtask: cargo {}", arguments.join(" "));
    run(Command::new("cargo").args(arguments))
}

/// Where cargo builds, whatever its settings say.
fn target_directory() -> Result<PathBuf, String> {
    let metadata = metadata()?;
    let target = metadata["target_directory"].as_str().ok_or("cargo metadata names no target")?;
    Ok(PathBuf::from(target))
}

/// The workspace as cargo sees it, without what it is built of from elsewhere.
fn metadata() -> Result<Value, String> {
    let mut command = Command::new("cargo");
    command.args(["metadata", "--no-deps", "--format-version", "1"]);
    let output = command.output().map_err(|error| format!("cannot run cargo: {error}"))?;
    serde_json::from_slice(&output.stdout)
        .map_err(|_| format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)))
}

/// Runs a command to its end.
fn run(command: &mut Command) -> Result<(), String> {
    let shown = format!("{command:?}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{shown} ended with {status}; its output is above")),
        Err(error) => Err(format!("cannot run {shown}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(arguments: &[&str]) -> String {
        let arguments = ["xtask"].iter().chain(arguments);
        in_one_line(&Chore::try_parse_from(arguments).unwrap_err())
    }

    #[test]
    fn a_wrong_argument_is_one_line() {
        let rest = "; `cargo xtask --help` lists all";
        assert_eq!(refused(&["tidy", "--all"]), format!("unexpected argument '--all' found{rest}"));
        assert_eq!(
            refused(&["test", "--nigthly"]),
            format!(
                "unexpected argument '--nigthly' found; tip: a similar argument exists: \
                 '--nightly'{rest}"
            )
        );
        assert_eq!(
            refused(&["bench", "--only"]),
            format!("a value is required for '--only <NAME>' but none was supplied{rest}")
        );
    }
}
