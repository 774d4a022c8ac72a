//! A whole run or review: its tests, how far it is with all of them, and when it ends.

use std::time::{Duration, Instant};

use writecliff_device::Nanos;
use writecliff_suite::Progress;

use super::step::{Part, fitted};
use crate::progress::{about_left, ends, gone, time_left};

/// What is to be done.
#[derive(Clone)]
pub(crate) struct Total {
    began: Instant,
    is_simulated: bool,
    /// Tests that were finished before.
    kept: usize,
    tests: Vec<Test>,
}

/// What is not over is never all done.
const NEARLY: f64 = 0.99;

/// A test of it. Times are the drive's, in seconds.
#[derive(Clone)]
struct Test {
    name: &'static str,
    state: State,
    expected: f64,
    gone: f64,
    step: String,
    step_began: f64,
    /// Whether nobody knows how long the step under way goes on.
    is_open: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Running,
    Done,
}

impl Total {
    /// Tests with the drive's time that each will take, roughly, after `kept` that are done.
    pub(crate) fn of(
        tests: impl IntoIterator<Item = (&'static str, Nanos)>,
        kept: usize,
        is_simulated: bool,
    ) -> Self {
        let test = |(name, expected): (_, Nanos)| Test {
            name,
            state: State::Waiting,
            expected: expected.as_secs_f64().max(1.0),
            gone: 0.0,
            step: String::new(),
            step_began: 0.0,
            is_open: false,
        };
        let tests = tests.into_iter().map(test).collect();
        Self { began: Instant::now(), is_simulated, kept, tests }
    }

    pub(super) fn is_simulated(&self) -> bool {
        self.is_simulated
    }

    fn test(&mut self, name: &str) -> Option<&mut Test> {
        self.tests.iter_mut().find(|test| test.name == name && test.state != State::Done)
    }

    /// Takes note of a second of the test of this name.
    pub(super) fn advance(&mut self, name: &str, progress: &Progress<'_>) {
        if let Some(test) = self.test(name) {
            test.advance(progress);
        }
    }

    /// Takes note of the end of the test of this name.
    pub(super) fn end(&mut self, name: &str) {
        if let Some(test) = self.test(name) {
            test.state = State::Done;
            test.expected = test.gone;
        }
    }

    /// Takes note of the end of another test of this name, of which nothing was told before.
    pub(super) fn end_unseen(&mut self, name: &str) {
        let is_it = |test: &&mut Test| test.name == name && test.state == State::Waiting;
        if let Some(test) = self.tests.iter_mut().find(is_it) {
            test.state = State::Done;
            test.gone = test.expected;
        }
    }

    /// How much of all is done, from 0 to 1, which it is only when all is.
    pub(super) fn fraction(&self) -> f64 {
        let gone: f64 = self.tests.iter().map(|test| test.gone).sum();
        let all: f64 = self.tests.iter().map(|test| test.expected.max(test.gone)).sum();
        let is_done = self.tests.iter().all(|test| test.state == State::Done);
        let most = if is_done { 1.0 } else { NEARLY };
        if all > 0.0 { (gone / all).min(most) } else { 1.0 }
    }

    /// On a real drive as much as is expected of the tests; on models, whose time runs at any speed,
    /// as what is done went. Nothing while nobody knows.
    fn left(&self) -> Option<Duration> {
        if self.tests.iter().any(|test| test.state == State::Running && test.is_open) {
            return None;
        }
        match self.is_simulated {
            true => time_left(self.began, self.fraction()),
            false => {
                let left = self.tests.iter().map(|test| (test.expected - test.gone).max(0.0));
                Duration::try_from_secs_f64(left.sum()).ok()
            }
        }
    }

    /// `test 3 of 9, 2 h 10 min gone, about 5 h 2 min left, ends about 14:05`; in `width` columns the
    /// time left is what stays.
    pub(super) fn line(&self, width: usize) -> String {
        let left = self.left();
        let parts = [
            (1, self.which()),
            (3, Some(gone(self.began))),
            (0, left.map(about_left)),
            (2, left.and_then(ends)),
        ];
        let part = |(gives_way, text): (u8, Option<String>)| Some(Part { text: text?, gives_way });
        fitted(parts.into_iter().filter_map(part).collect(), ", ", width)
    }

    /// `test 3 of 9`, `tests 3 and 4 of 9`; nothing where there is only one.
    fn which(&self) -> Option<String> {
        let count = |state| self.tests.iter().filter(|test| test.state == state).count();
        let (all, done) = (self.kept + self.tests.len(), self.kept + count(State::Done));
        match (all, count(State::Running)) {
            (0 | 1, _) => None,
            (_, 0) => Some(format!("{done} of {all} tests done")),
            (_, 1) => Some(format!("test {} of {all}", done + 1)),
            (_, 2) => Some(format!("tests {} and {} of {all}", done + 1, done + 2)),
            (_, more) => Some(format!("tests {} to {} of {all}", done + 1, done + more)),
        }
    }
}

impl Test {
    fn advance(&mut self, progress: &Progress<'_>) {
        self.state = State::Running;
        if self.step != progress.step {
            (self.step, self.step_began) = (progress.step.to_owned(), self.gone);
        }
        let Some(sample) = progress.sample else { return };
        self.gone = self.gone.max((sample.start_ns + sample.span_ns) as f64 / 1e9);
        // A drive that is slower than expected shows it in the step under way.
        if progress.fraction > 0.02 {
            let step = (self.gone - self.step_began) / progress.fraction;
            self.expected = self.expected.max(self.step_began + step);
        }
        self.is_open = progress.fraction > 1.0 || self.gone > self.expected;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use writecliff_measure::{Sample, Waiting};

    fn second(total: &mut Total, test: &str, gone: u64, fraction: f64) {
        let (start_ns, span_ns) = ((gone - 1) * 1_000_000_000, 1_000_000_000);
        let sample = Sample { start_ns, span_ns, ..Sample::default() };
        let waiting = Waiting::default();
        let (sample, step, length) = (Some(&sample), "torture", None);
        total.advance(test, &Progress { sample, step, fraction, length, waiting });
    }

    fn of_hundred_seconds(kept: usize) -> Total {
        let time = Nanos::from_secs(100);
        Total::of([("consistency", time), ("trim", time)], kept, false)
    }

    #[test]
    fn the_whole_is_told_test_by_test() {
        let mut total = of_hundred_seconds(7);
        assert!(
            total
                .line(usize::MAX)
                .starts_with("7 of 9 tests done, 0 s gone, about 3 min left, ends")
        );
        second(&mut total, "consistency", 50, 0.5);
        assert!(total.line(usize::MAX).starts_with("test 8 of 9, "), "{}", total.line(usize::MAX));
        assert_eq!(total.fraction(), 0.25);
        second(&mut total, "trim", 100, 1.0);
        assert_eq!(total.fraction(), 150.0 / 200.0);
        assert!(
            total.line(usize::MAX).starts_with("tests 8 and 9 of 9, "),
            "{}",
            total.line(usize::MAX)
        );
        total.end("consistency");
        total.end("trim");
        assert_eq!(total.fraction(), 1.0);
        assert!(
            total.line(usize::MAX).starts_with("9 of 9 tests done, "),
            "{}",
            total.line(usize::MAX)
        );
    }

    #[test]
    fn of_what_goes_on_until_the_drive_is_steady_nobody_knows_how_long() {
        let mut total = of_hundred_seconds(0);
        total.end_unseen("trim");
        second(&mut total, "consistency", 100, 1.0);
        assert_eq!(total.left(), Some(Duration::ZERO));
        second(&mut total, "consistency", 900, 1.1);
        assert_eq!((total.fraction(), total.left()), (NEARLY, None));
        let mut slow = of_hundred_seconds(0);
        slow.end_unseen("trim");
        second(&mut slow, "consistency", 5000, 0.01);
        assert_eq!((slow.fraction(), slow.left()), (NEARLY, None));
        total.end("consistency");
        assert_eq!(total.fraction(), 1.0);
    }

    #[test]
    fn what_ends_beside_the_test_that_is_shown_counts() {
        let repeats = ["mixed"; 4].map(|name| (name, Nanos::from_secs(100)));
        let mut total = Total::of(repeats, 0, true);
        second(&mut total, "mixed", 50, 0.5);
        total.end_unseen("mixed");
        assert_eq!(total.fraction(), 150.0 / 400.0);
        assert!(total.line(usize::MAX).starts_with("test 2 of 4, "), "{}", total.line(usize::MAX));
        total.end("mixed");
        assert!(total.line(usize::MAX).starts_with("2 of 4 tests done, "));
    }

    #[test]
    fn a_drive_slower_than_expected_moves_the_end() {
        let mut total = of_hundred_seconds(0);
        second(&mut total, "consistency", 80, 0.1);
        assert_eq!(total.fraction(), 80.0 / 900.0);
        assert_eq!(total.left(), Some(Duration::from_secs(720 + 100)));
    }
}
