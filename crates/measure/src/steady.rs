//! Watches the rate of one or several streams, second by second, for when it is steady.

use writecliff_device::{Completion, DeviceTime, Nanos};
use writecliff_workload::{Of, Steady};

const SECOND: Nanos = Nanos::from_secs(1);

/// The streams that are judged by one rule, and their rates so far.
#[derive(Debug)]
pub(crate) struct Watch {
    rule: Steady,
    streams: Vec<usize>,
    /// When the first second that counts begins.
    from: DeviceTime,
    /// When the second under way ends.
    ends: DeviceTime,
    /// What was done in it.
    done: u64,
    /// The last seconds that are judged together.
    rates: Vec<f64>,
    is_steady: bool,
}

impl Watch {
    pub(crate) fn new(rule: Steady, stream: usize) -> Self {
        let (from, ends) = (DeviceTime::default(), DeviceTime::default());
        let (streams, rates) = (vec![stream], Vec::new());
        Self { rule, streams, from, ends, done: 0, rates, is_steady: false }
    }

    pub(crate) fn is_by(&self, rule: Steady) -> bool {
        self.rule == rule
    }

    pub(crate) fn add(&mut self, stream: usize) {
        self.streams.push(stream);
    }

    pub(crate) fn streams(&self) -> impl Iterator<Item = usize> {
        self.streams.iter().copied()
    }

    pub(crate) fn is_steady(&self) -> bool {
        self.is_steady
    }

    pub(crate) fn begin(&mut self, now: DeviceTime) {
        (self.from, self.ends) = (now + self.rule.after, now + SECOND);
    }

    /// Ends the seconds that are over by now.
    pub(crate) fn pass(&mut self, now: DeviceTime) {
        while self.ends <= now && !self.is_steady {
            if self.ends >= self.from + SECOND {
                self.judge();
            }
            self.done = 0;
            self.ends = self.ends + SECOND;
        }
    }

    fn judge(&mut self) {
        if self.rates.len() == self.rule.seconds() {
            self.rates.remove(0);
        }
        self.rates.push(self.done as f64);
        self.is_steady =
            self.rates.len() == self.rule.seconds() && self.rule.is_reached(&self.rates);
    }

    pub(crate) fn count(&mut self, stream: usize, completion: &Completion) {
        if !self.streams.contains(&stream) {
            return;
        }
        self.pass(completion.completed);
        self.done += match self.rule.of {
            Of::Iops => 1,
            Of::Bandwidth => completion.io.length.0,
        };
    }
}
