//! The step of a test that is under way: its samples, how far it is, and the line about it.

use std::time::{Duration, Instant};

use writecliff_device::Nanos;
use writecliff_measure::{Sample, Waiting};
use writecliff_report::thousands;
use writecliff_suite::Progress;

use crate::progress::{human, time_left};

/// From I/Os of this size on, on average, a rate is told in MB/s.
const LARGE: u64 = 64 << 10;

/// What is known of the step under way.
#[derive(Clone)]
pub(super) struct Step {
    pub(super) name: String,
    /// Wall-clock time, for the time left only; nothing that is measured depends on it.
    began: Instant,
    pub(super) fraction: f64,
    /// How long it lasts in the drive's time, if that is set.
    length: Option<Nanos>,
    pub(super) points: Vec<Point>,
    /// Whether nothing completed in the last second, in any series.
    silent: bool,
    pub(super) waiting: Waiting,
    ios: u64,
    bytes: u64,
    is_simulated: bool,
}

/// A second of the step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) second: u32,
    pub(super) iops: f64,
    pub(super) megabytes_per_second: f64,
}

/// What a step's rate is told in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rate {
    Iops,
    MegabytesPerSecond,
}

impl Rate {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Iops => "IOPS",
            Self::MegabytesPerSecond => "MB/s",
        }
    }

    pub(super) fn of(self, point: &Point) -> f64 {
        match self {
            Self::Iops => point.iops,
            Self::MegabytesPerSecond => point.megabytes_per_second,
        }
    }
}

/// A part of a line, and how soon it gives way where there is little room: the highest goes first.
pub(super) struct Part {
    pub(super) text: String,
    pub(super) gives_way: u8,
}

impl Step {
    pub(super) fn begin(name: &str, is_simulated: bool) -> Self {
        Self {
            name: name.to_owned(),
            began: Instant::now(),
            fraction: 0.0,
            length: None,
            points: Vec::new(),
            silent: false,
            waiting: Waiting::default(),
            ios: 0,
            bytes: 0,
            is_simulated,
        }
    }

    pub(super) fn advance(&mut self, progress: &Progress<'_>) {
        (self.fraction, self.waiting) = (progress.fraction, progress.waiting);
        self.length = progress.length;
        if let Some(sample) = progress.sample {
            self.add(sample);
        }
    }

    fn add(&mut self, sample: &Sample) {
        let last = self.points.last();
        let same_second = last.is_some_and(|point| point.second == sample.second);
        self.silent = sample.ios() == 0 && (self.silent || !same_second);
        self.ios += sample.ios();
        self.bytes += sample.read_bytes + sample.written_bytes;
        self.points.push(Point {
            second: sample.second,
            iops: sample.iops().get(),
            megabytes_per_second: sample.megabytes_per_second(),
        });
    }

    /// What the rate of what it did so far says most in.
    pub(super) fn rate(&self) -> Rate {
        match self.ios > 0 && self.bytes / self.ios >= LARGE {
            true => Rate::MegabytesPerSecond,
            false => Rate::Iops,
        }
    }

    /// Whether nobody knows how long it goes on.
    fn is_open(&self) -> bool {
        self.fraction > 1.0
    }

    /// `torture  43 %  t = 860 s of the drive's 2,000 s  6,543 IOPS  12 s left here`.
    pub(super) fn parts(&self) -> Vec<Part> {
        let part = |gives_way, text| Part { text, gives_way };
        let share = match self.is_open() {
            true => "until it is steady".to_owned(),
            false => format!("{:.0} %", self.fraction * 100.0),
        };
        let mut parts = vec![part(0, format!("{}  {share}", self.name))];
        if let Some(point) = self.points.last() {
            parts.push(part(4, self.time(point.second)));
            let rate = self.rate();
            let figure = thousands(rate.of(point));
            parts.push(part(2, format!("{figure} {}", rate.name())));
        }
        match (self.stall(), time_left(self.began, self.fraction)) {
            (Some(stall), _) => parts.push(part(1, stall)),
            (None, Some(left)) if !self.is_open() => parts.push(part(1, self.left(left))),
            (None, _) => {}
        }
        parts
    }

    fn time(&self, second: u32) -> String {
        let now = thousands(f64::from(second));
        let whole = self.length.map(|length| thousands(length.as_secs_f64().floor()));
        match (whole, self.is_simulated) {
            (Some(whole), true) => format!("t = {now} s of the drive's {whole} s"),
            (Some(whole), false) => format!("t = {now} s of {whole} s"),
            (None, true) => format!("t = {now} s of the drive's time"),
            (None, false) => format!("t = {now} s"),
        }
    }

    /// A model's time passes at another speed than that of who waits for it.
    fn left(&self, left: Duration) -> String {
        let here = if self.is_simulated { " here" } else { "" };
        format!("{} left{here}", human(left))
    }

    /// `no I/O completed for 12 s`, or what else a real drive has not answered for long.
    fn stall(&self) -> Option<String> {
        let Waiting { ios, longest, .. } = self.waiting;
        let seconds = longest.as_secs_f64();
        match (ios, self.silent) {
            (0, _) => None,
            (_, true) => Some(format!("no I/O completed for {seconds:.0} s, {ios} in flight")),
            (1, false) => Some(format!("1 I/O unanswered for {seconds:.0} s")),
            (_, false) => Some(format!("{ios} I/Os unanswered for {seconds:.0} s")),
        }
    }
}

/// The parts in one line of `width` at most, as long as at least the most important one fits.
pub(super) fn fitted(mut parts: Vec<Part>, between: &str, width: usize) -> String {
    let line = |parts: &[Part]| {
        let texts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
        texts.join(between)
    };
    while line(&parts).chars().count() > width
        && let Some(most) = parts.iter().map(|part| part.gives_way).max().filter(|most| *most > 0)
    {
        parts.retain(|part| part.gives_way < most);
    }
    line(&parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_there_is_little_room_the_time_left_stays() {
        let part = |gives_way, text: &str| Part { text: text.to_owned(), gives_way };
        let parts = || {
            vec![
                part(0, "torture  43 %"),
                part(4, "t = 860 s of the drive's 2,000 s"),
                part(2, "6,543 IOPS"),
                part(1, "12 s left here"),
            ]
        };
        let whole = "torture  43 %  t = 860 s of the drive's 2,000 s  6,543 IOPS  12 s left here";
        assert_eq!(fitted(parts(), "  ", 80), whole);
        assert_eq!(fitted(parts(), "  ", 50), "torture  43 %  6,543 IOPS  12 s left here");
        assert_eq!(fitted(parts(), "  ", 30), "torture  43 %  12 s left here");
        assert_eq!(fitted(parts(), "  ", 5), "torture  43 %");
    }
}
