//! `cargo xtask tidy`: what a machine can hold of how the code is kept.

mod architecture;
mod circles;
mod floors;
mod versions;

use std::process::Command;
use std::time::{Duration, Instant};

use crate::run;
use crate::test::Outcome;

/// What `cargo xtask tidy` is asked for.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Format the code, and draw the table of crates in docs/architecture.md, before looking
    #[arg(long)]
    fix: bool,
}

/// Everything, of all packages; an error if anything is not as it should be.
pub(crate) fn tidy(options: &Options) -> Result<(), String> {
    if options.fix {
        run(Command::new("cargo").args(["fmt", "--all"]))?;
        architecture::fix()?;
    }
    let mut outcome = outcome();
    let clippy = ["clippy", "--all-targets", "--workspace", "--", "--deny", "warnings"];
    check(&mut outcome, "lints", &clippy);
    for skipped in &outcome.skipped {
        println!("xtask: SKIPPED {}: {}", skipped.name, skipped.why);
    }
    match outcome.failed.is_empty() {
        true => Ok(()),
        false => Err(format!("not tidy: {}", outcome.failed.join(", "))),
    }
}

/// Each check with what came of it, but for the lints: whoever compiles everything has them with it.
pub(crate) fn outcome() -> Outcome {
    let mut outcome = Outcome::default();
    outcome.add("no circles of imports", Duration::ZERO, circles::check());
    outcome.add("the table of crates", Duration::ZERO, architecture::check());
    outcome.add("the floors of suite", Duration::ZERO, floors::check());
    outcome.add("one version of each dependency", Duration::ZERO, versions::check());
    check(&mut outcome, "formatting", &["fmt", "--all", "--check"]);
    let deny = Command::new("cargo").args(["deny", "--version"]).output();
    match deny.is_ok_and(|output| output.status.success()) {
        true => {
            check(&mut outcome, "licences", &["deny", "check", "bans", "licenses", "sources"]);
        }
        false => outcome.skip("licences", "cargo-deny is not installed"),
    }
    outcome
}

/// What cargo says to this.
fn check(outcome: &mut Outcome, name: &str, arguments: &[&str]) {
    println!("xtask: cargo {}", arguments.join(" "));
    let started = Instant::now();
    let done = run(Command::new("cargo").args(arguments));
    outcome.add(name, started.elapsed(), done);
}
