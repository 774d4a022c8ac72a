//! `cargo xtask test`: everything that must pass before a change lands, in parts.
//!
//! Every part runs although another one failed. At the end stands one table: what ran, how long it
//! took, what failed, and what was left out and why.

mod built;
mod changed;
mod documentation;
mod outcome;
mod program;
mod table;

use std::thread::{self, JoinHandle};
use std::time::Instant;

pub(crate) use built::Built;
pub(crate) use outcome::Outcome;

use crate::python::{self, Pythons};
use crate::{guest, packages, tidy};
use changed::Scope;

/// What to test.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Options {
    /// Long sweeps too: the tests see WRITECLIFF_NIGHTLY=1, and the wheel is built as pip builds it
    #[arg(long)]
    nightly: bool,
    /// Only what the files can reach that are not committed, or that the last commit changed
    #[arg(long, conflicts_with = "nightly")]
    changed: bool,
    /// Only these packages' tests, like `suite`; more than once if you like
    #[arg(long, value_name = "PACKAGE", conflicts_with = "changed")]
    only: Vec<String>,
}

/// Runs every part, then prints the table; an error if anything failed.
pub(crate) fn test(options: &Options) -> Result<(), String> {
    packages::install(packages::FOR_TESTS)?;
    let scope = Scope::of(options)?;
    let wanted = scope.tested();
    // It is downloaded and unpacked while the compiler works.
    let guest = scope.reaches_guest().then(|| thread::spawn(guest::prepare));
    let mut parts = Parts::begin();
    parts.run("tidy", tidy::outcome);
    let mut built = None;
    parts.run("build", || {
        let (made, outcome) = Built::make(&wanted);
        built = Some(made);
        outcome
    });
    let mut built = built.unwrap_or_default();
    built.is_nightly = options.nightly;
    thread::scope(|scope_of_threads| {
        // It waits for its machines half of the time, which all others can have.
        let in_guest = || timed("guest", || in_guest(guest, &built, options.nightly));
        let in_guest = scope_of_threads.spawn(in_guest);
        for package in built.packages() {
            parts.run(package, || built.test(package));
        }
        for package in built.missing(&wanted) {
            parts.run(package, || Outcome::left_out("its tests", "they did not build"));
        }
        parts.run("documentation", documentation::outcome);
        match scope.reaches_python() {
            true => {
                let pythons =
                    if options.changed { Pythons::Newest } else { Pythons::NewestAndOldest };
                parts.run("python", || python::outcome(&built, options.nightly, pythons));
            }
            false => {
                parts.run("python", || Outcome::left_out("the Python package", Scope::UNCHANGED));
            }
        }
        let panicked =
            |_| timed("guest", || Outcome::of("its cases", Err("they panicked".to_owned())));
        parts.all.push(in_guest.join().unwrap_or_else(panicked));
    });
    parts.verdict()
}

/// The cases of the virtual machine, once it is prepared.
fn in_guest(
    prepared: Option<JoinHandle<Result<(), String>>>,
    built: &Built,
    is_nightly: bool,
) -> Outcome {
    let Some(prepared) = prepared else {
        return Outcome::left_out("the virtual machine", Scope::UNCHANGED);
    };
    match prepared.join().unwrap_or_else(|_| Err("it panicked".to_owned())) {
        Ok(()) => guest::outcome(built, is_nightly),
        Err(why) => Outcome::of("its packages", Err(why)),
    }
}

fn timed(name: &str, part: impl FnOnce() -> Outcome) -> table::Part {
    let name = name.trim_start_matches("writecliff-").to_owned();
    let started = Instant::now();
    let outcome = part();
    let part = table::Part { name, outcome, took: started.elapsed() };
    println!("xtask: {part}");
    part
}

/// What ran so far.
#[derive(Debug)]
struct Parts {
    began: Instant,
    all: Vec<table::Part>,
}

impl Parts {
    fn begin() -> Self {
        Self { began: Instant::now(), all: Vec::new() }
    }

    fn run(&mut self, name: &str, part: impl FnOnce() -> Outcome) {
        self.all.push(timed(name, part));
    }

    fn verdict(&self) -> Result<(), String> {
        print!("{}", table::Table { parts: &self.all, took: self.began.elapsed() });
        let failed: usize = self.all.iter().map(|part| part.outcome.failed.len()).sum();
        match failed {
            0 => Ok(()),
            _ => Err("not everything passed; what failed is above".to_owned()),
        }
    }
}
