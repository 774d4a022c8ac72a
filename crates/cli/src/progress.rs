//! How far something is, in words: what has gone by, what is left, and when it ends.

use std::time::{Duration, Instant};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_short() {
        let spans = [0, 99, 100, 5999, 6000, 90_000].map(|s| human(Duration::from_secs(s)));
        assert_eq!(spans, ["0 s", "99 s", "1 min", "99 min", "1 h 40 min", "25 h 0 min"]);
    }
}
