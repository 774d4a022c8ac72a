//! `cargo xtask test`: everything that must pass before a change lands, in parts.
//!
//! Every part runs although another one failed. At the end stands one table: what ran, how long it
//! took, what failed, and what was left out and why.

mod before;
mod built;
mod changed;
mod documentation;
mod outcome;
mod program;
mod table;

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

pub(crate) use built::Built;
pub(crate) use outcome::Outcome;

use crate::python::{self, Pythons};
use crate::{guest, packages, target_directory, tidy};
use before::Before;
use changed::Scope;
use program::How;

/// What to test.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Options {
    /// Long sweeps too: the tests see WRITECLIFF_NIGHTLY=1, and the wheel is built as pip builds it
    #[arg(long)]
    nightly: bool,
    /// Only what the files can reach that are not committed, or that the last commit changed, and of
    /// that only tests that are quick, once all were tried here
    #[arg(long, conflicts_with = "nightly")]
    changed: bool,
    /// Only these packages' tests, like `suite`; more than once if you like
    #[arg(long, value_name = "PACKAGE", conflicts_with = "changed")]
    only: Vec<String>,
    /// Also what passed before and has not changed since, which is not tried again otherwise
    #[arg(long)]
    again: bool,
}

impl Options {
    /// Whether what passed before counts for nothing.
    fn is_again(&self) -> bool {
        self.again || self.nightly || !self.only.is_empty()
    }
}

/// Runs every part, then prints the table; an error if anything failed.
pub(crate) fn test(options: &Options) -> Result<(), String> {
    packages::install(packages::FOR_TESTS)?;
    let scope = Scope::of(options)?;
    let wanted = scope.tested();
    let before = Before::read(&target_directory()?, options.is_again());
    let guest_is_of = before.of_directories(scope.guest_is_of());
    let wants_guest = scope.reaches_guest() && before.known(GUEST, guest_is_of).is_none();
    // It is downloaded and unpacked while the compiler works.
    let guest = wants_guest.then(|| thread::spawn(guest::prepare));
    let parts = Parts::begin();
    parts.run("tidy", tidy::outcome);
    let mut built = None;
    parts.run("build", || {
        let (made, outcome) = Built::make(&wanted);
        built = Some(made);
        outcome
    });
    let built = built.unwrap_or_default();
    let (parts, built, before, scope) = (&parts, &built, &before, &scope);
    let waiting = Mutex::new(built.packages());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    // Machines, interpreters and browsers wait half of the time, or use one processor of several.
    thread::scope(|beside| {
        beside.spawn(|| {
            parts.run(GUEST, || match scope.reaches_guest() {
                true => {
                    before.or_try(GUEST, guest_is_of, || in_guest(guest, built, options.nightly))
                }
                false => Outcome::left_out("the virtual machine", Scope::UNCHANGED),
            });
        });
        beside.spawn(|| parts.run("python", || in_python(options, scope, built, before)));
        for _ in 0..2 {
            beside.spawn(|| {
                while let Some(package) = next() {
                    parts.run(package, || of_package(package, options, built, before));
                }
            });
        }
        for package in built.missing(&wanted) {
            parts.run(package, || Outcome::left_out("its tests", "they did not build"));
        }
        parts.run("documentation", documentation::outcome);
    });
    parts.verdict()
}

/// The tests of a package; who wants to know soon gets the quick ones.
fn of_package(package: &str, options: &Options, built: &Built, before: &Before) -> Outcome {
    let of = before.of_programs(built.programs(package));
    let how = How { is_nightly: options.nightly, without: &[] };
    if !options.changed {
        return before.or_try(package, of, || built.test(package, how));
    }
    before.known(package, of).unwrap_or_else(|| {
        let slow = before.slow(package);
        let mut outcome = built.test(package, How { without: &slow, ..how });
        let why = format!(
            "longer than {} s when it was tried last; tried without --changed",
            outcome::QUICK.as_secs()
        );
        slow.iter().for_each(|test| outcome.skip(test, &why));
        outcome
    })
}

/// The tests of the Python package.
fn in_python(options: &Options, scope: &Scope, built: &Built, before: &Before) -> Outcome {
    if !scope.reaches_python() {
        return Outcome::left_out("the Python package", Scope::UNCHANGED);
    }
    let (pythons, name) = match options.changed {
        true => (Pythons::Newest, "python, the newest"),
        false => (Pythons::NewestAndOldest, "python"),
    };
    let of = before.of_programs(built.native.iter().chain(&built.writecliff));
    before.or_try(name, of, || python::outcome(built, options.nightly, pythons))
}

/// What the part in the virtual machine is called.
const GUEST: &str = "guest";

/// The cases of the virtual machine, once it is prepared.
fn in_guest(
    prepared: Option<JoinHandle<Result<(), String>>>,
    built: &Built,
    is_nightly: bool,
) -> Outcome {
    let prepared = prepared.map_or_else(|| Ok(guest::prepare()), JoinHandle::join);
    match prepared.unwrap_or_else(|_| Err("it panicked".to_owned())) {
        Ok(()) => guest::outcome(built, is_nightly),
        Err(why) => Outcome::of("its packages", Err(why)),
    }
}

/// What ran so far.
#[derive(Debug)]
struct Parts {
    began: Instant,
    all: Mutex<Vec<table::Part>>,
}

impl Parts {
    fn begin() -> Self {
        Self { began: Instant::now(), all: Mutex::default() }
    }

    /// Runs a part, which has failed if it panics.
    fn run(&self, name: &str, part: impl FnOnce() -> Outcome) {
        let name = name.trim_start_matches("writecliff-").to_owned();
        let started = Instant::now();
        let outcome = panic::catch_unwind(AssertUnwindSafe(part));
        let outcome =
            outcome.unwrap_or_else(|_| Outcome::of("all of it", Err("it panicked".to_owned())));
        let part = table::Part { name, outcome, took: started.elapsed() };
        println!("xtask: {part}");
        self.all().push(part);
    }

    fn all(&self) -> MutexGuard<'_, Vec<table::Part>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn verdict(&self) -> Result<(), String> {
        let all = self.all();
        print!("{}", table::Table { parts: &all, took: self.began.elapsed() });
        let failed: usize = all.iter().map(|part| part.outcome.failed.len()).sum();
        match failed {
            0 => Ok(()),
            _ => Err("not everything passed; what failed is above".to_owned()),
        }
    }
}
