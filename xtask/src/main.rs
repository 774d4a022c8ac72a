//! The project's own chores: `cargo xtask test`, `bench`, `tidy`, `picture`.

mod bench;
mod packages;
mod picture;

use std::process::{Command, ExitCode};

use clap::Parser;

/// The project's own chores; run from the workspace's root.
#[derive(Debug, Parser)]
enum Chore {
    /// Install what the tests need (apt, when root) and run every test
    Test,
    /// Measure speed; fio beside the engine, in turn
    Bench,
    /// Check formatting, lints, and licences if cargo-deny is installed
    Tidy,
    /// Make the README's picture from a run of the tool
    Picture,
}

fn main() -> ExitCode {
    let done = match Chore::parse() {
        Chore::Test => test(),
        Chore::Bench => bench::bench(),
        Chore::Tidy => tidy(),
        Chore::Picture => picture::picture(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            eprintln!("xtask: {what}");
            ExitCode::FAILURE
        }
    }
}

/// Everything that must pass before a change lands.
fn test() -> Result<(), String> {
    packages::install(packages::FOR_TESTS)?;
    tidy()?;
    cargo(&["test", "--workspace"])?;
    println!("xtask: all tests passed");
    Ok(())
}

fn tidy() -> Result<(), String> {
    cargo(&["fmt", "--all", "--check"])?;
    cargo(&["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"])?;
    let deny = Command::new("cargo").args(["deny", "--version"]).output();
    if deny.is_ok_and(|output| output.status.success()) {
        return cargo(&["deny", "check", "bans", "licenses", "sources"]);
    }
    println!("xtask: SKIPPED the licence check: cargo-deny is not installed");
    Ok(())
}

/// Runs cargo in the workspace, its output shown.
fn cargo(arguments: &[&str]) -> Result<(), String> {
    println!("xtask: cargo {}", arguments.join(" "));
    run(Command::new("cargo").args(arguments))
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
