//! What came of a part of the tests.

use std::time::Duration;

/// What came of a part: which tests passed, failed or were left out.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) passed: usize,
    /// How many passed in an earlier run, and were not tried again since nothing of it has changed.
    pub(crate) before: usize,
    /// The names of those that failed.
    pub(crate) failed: Vec<String>,
    pub(crate) skipped: Vec<Skipped>,
    /// Those that are not [`QUICK`].
    pub(crate) slow: Vec<(String, Duration)>,
}

/// What was left out, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Skipped {
    pub(crate) name: String,
    pub(crate) why: String,
}

/// What takes longer is not tried by who wants to know soon.
pub(crate) const QUICK: Duration = Duration::from_secs(2);

impl Outcome {
    /// One thing that was done, or why not.
    pub(crate) fn of(name: &str, done: Result<(), String>) -> Self {
        let mut outcome = Self::default();
        outcome.add(name, Duration::ZERO, done);
        outcome
    }

    /// Nothing but something that was left out.
    pub(crate) fn left_out(name: &str, why: &str) -> Self {
        let mut outcome = Self::default();
        outcome.skip(name, why);
        outcome
    }

    /// One test more; what it has to say of its failure is printed at once.
    pub(crate) fn add(&mut self, name: &str, took: Duration, done: Result<(), String>) {
        match done {
            Ok(()) => self.passed += 1,
            Err(said) => {
                println!("xtask: FAILED {name}\n{}", said.trim_end());
                self.failed.push(name.to_owned());
            }
        }
        if took >= QUICK {
            self.slow.push((name.to_owned(), took));
        }
    }

    pub(crate) fn skip(&mut self, name: &str, why: &str) {
        self.skipped.push(Skipped { name: name.to_owned(), why: why.to_owned() });
    }

    /// Both.
    pub(crate) fn join(&mut self, other: Self) {
        self.passed += other.passed;
        self.before += other.before;
        self.failed.extend(other.failed);
        self.skipped.extend(other.skipped);
        self.slow.extend(other.slow);
    }
}
