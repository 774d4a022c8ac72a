//! How far something is, in words: what has gone by, what is left, and when it ends.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::output::ProgressLine;

/// Less than this says nothing about the rest.
const SHARE_MIN: f64 = 0.01;
const TAKEN_MIN: Duration = Duration::from_millis(300);

/// `45 s`, `12 min`, `2 h 10 min`.
pub(crate) fn human(span: Duration) -> String {
    match span.as_secs() {
        seconds @ 0..100 => format!("{seconds} s"),
        seconds @ 100..6000 => format!("{} min", seconds / 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// What is left if the rest goes as what has been done of it, from 0 to 1; nothing while that says
/// nothing.
pub(crate) fn time_left(began: Instant, done: f64) -> Option<Duration> {
    let taken = began.elapsed();
    let known = done > SHARE_MIN && taken > TAKEN_MIN;
    known.then(|| taken.mul_f64((1.0 - done.min(1.0)) / done))
}

/// `12 s gone, about 40 s left, ends about 14:05`, as far as that is known.
pub(crate) fn gone_and_left(began: Instant, done: Option<f64>) -> String {
    let left = done.and_then(|done| time_left(began, done));
    let parts = [Some(gone(began)), left.map(about_left), left.and_then(ends)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

pub(crate) fn gone(began: Instant) -> String {
    format!("{} gone", human(began.elapsed()))
}

pub(crate) fn about_left(left: Duration) -> String {
    format!("about {} left", human(left))
}

/// `ends about 14:05` on this machine's clock, with the day if that is another; nothing where it is
/// so soon that nobody needs to know.
pub(crate) fn ends(left: Duration) -> Option<String> {
    let now = jiff::Zoned::now();
    let end = now.checked_add(left).ok().filter(|_| left >= Duration::from_secs(60))?;
    let how = if end.date() == now.date() { "%H:%M" } else { "%a %H:%M" };
    Some(format!("ends about {}", end.strftime(how)))
}

/// How many of many pieces are done, on a line of its own.
pub(crate) struct Counted {
    what: &'static str,
    all: usize,
    before: usize,
    new: AtomicUsize,
    failed: AtomicUsize,
    began: Instant,
    line: ProgressLine,
}

impl Counted {
    /// Of `all`, so many are done already; `what` are several of them called.
    pub(crate) fn begin(what: &'static str, all: usize, before: usize) -> Self {
        let (new, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (began, line) = (Instant::now(), ProgressLine::begin());
        Self { what, all, before, new, failed, began, line }
    }

    /// One more is done.
    pub(crate) fn one(&self, is_failed: bool) {
        self.new.fetch_add(1, Ordering::Relaxed);
        self.failed.fetch_add(usize::from(is_failed), Ordering::Relaxed);
    }

    /// Shows it, if it is time to.
    pub(crate) fn show(&self) {
        self.line.show(|| {
            let new = self.new.load(Ordering::Relaxed);
            let share = new as f64 / (self.all - self.before).max(1) as f64;
            let failed = match self.failed.load(Ordering::Relaxed) {
                0 => String::new(),
                failed => format!(", {failed} failed"),
            };
            let (done, left) = (self.before + new, gone_and_left(self.began, Some(share)));
            format!("{done} of {} {}{failed}, {left}", self.all, self.what)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_short() {
        let spans = [0, 99, 100, 5999, 6000, 90_000].map(|s| human(Duration::from_secs(s)));
        assert_eq!(spans, ["0 s", "99 s", "1 min", "99 min", "1 h 40 min", "25 h 0 min"]);
    }
}
