//! Axes with ticks as a person would choose them, the same on the page and in the files.

use crate::number;

/// How values become places.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scale {
    Linear,
    /// Linear up to a value in the middle of the axis, and linear from there to its end.
    Broken {
        at: f64,
    },
    Log,
    /// Values are the places 0, 1, 2, ... of names.
    Names,
}

/// One axis of a picture.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    /// What stands beside it; empty where the ticks say it all.
    pub(crate) title: String,
    /// What is counted and its unit: the name of its CSV column.
    pub(crate) quantity: String,
    pub(crate) scale: Scale,
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) ticks: Vec<(f64, String)>,
}

impl Axis {
    fn new(title: &str, scale: Scale, (from, to): (f64, f64), ticks: Vec<(f64, String)>) -> Self {
        let (title, quantity) = (title.to_owned(), title.to_owned());
        Self { title, quantity, scale, from, to, ticks }
    }

    /// The same, with nothing beside it: its ticks have units.
    #[must_use]
    pub(crate) fn untitled(mut self) -> Self {
        self.title.clear();
        self
    }

    /// The same, of times in nanoseconds, which its ticks tell in units that suit them.
    #[must_use]
    pub(crate) fn of_nanos(mut self) -> Self {
        self.quantity = format!("{}, ns", self.quantity);
        self
    }

    /// The same, with ticks called otherwise.
    #[must_use]
    pub(crate) fn named(mut self, name: fn(f64) -> String) -> Self {
        self.ticks.iter_mut().for_each(|(value, tick)| *tick = name(*value));
        self
    }

    /// From zero to a round number not below `highest`, with room for what lies on it. Shares end at
    /// 100 %.
    pub(crate) fn linear(title: &str, highest: f64) -> Self {
        // Of zeros alone any will do, and one has ticks that differ.
        let highest = if highest > 0.0 { highest } else { 1.0 };
        let step = step_above(highest / 6.0);
        let mut steps = (highest / step - 1e-9).ceil();
        let is_share = title.contains('%') && highest <= 100.0;
        if highest > 0.96 * steps * step && !is_share {
            steps += 1.0;
        }
        let ticks = (0..=steps as u32).map(|index| f64::from(index) * step);
        let ticks = ticks.map(|value| (value, short(value))).collect();
        Self::new(title, Scale::Linear, (0.0, steps * step), ticks)
    }

    /// From one value to another, with a little room on either side. Seconds are told in the unit
    /// that suits their span.
    pub(crate) fn span(title: &str, from: f64, to: f64) -> Self {
        Self::span_in(6.0, title, from, to)
    }

    /// From zero to one value on the first half, and on to another on the second.
    pub(crate) fn broken(title: &str, at: f64, to: f64) -> Self {
        let [first, second] =
            [(0.0, at), (at, to)].map(|(from, to)| Self::span_in(3.0, title, from, to));
        let mut ticks = first.ticks;
        // None so near to the break that it runs into that of the other half.
        let near = (to - at) / 8.0;
        ticks.extend(second.ticks.into_iter().filter(|(value, _)| value - at > near));
        let scale = Scale::Broken { at };
        Self { scale, ticks, to: second.to, title: second.title, ..first }
    }

    fn span_in(steps: f64, title: &str, from: f64, to: f64) -> Self {
        let is_time = title.starts_with("seconds");
        let step = (to - from) / steps;
        let step = if is_time { time_step(step) } else { step_above(step) };
        let (first, last) = ((from / step).ceil() as i64, (to / step).floor() as i64);
        let ticks = (first..=last).map(|index| index as f64 * step);
        let name = |value| if is_time { time(value, to - from) } else { round(value) };
        let ticks = ticks.map(|value| (value, name(value))).collect();
        let margin = (to - from) * 0.01;
        let mut axis = Self::new(title, Scale::Linear, (from - margin, to + margin), ticks);
        if is_time {
            let of = title.trim_start_matches("seconds").trim_start_matches(" of ");
            axis.title = if of.is_empty() { "time".to_owned() } else { format!("time into {of}") };
        }
        axis
    }

    /// Whole decades around `lowest` to `highest`, each called by `name`. With `zero`, one decade
    /// more at the bottom that stands for zero.
    pub(crate) fn decades(
        title: &str,
        (lowest, highest): (f64, f64),
        zero: bool,
        name: fn(f64) -> String,
    ) -> Self {
        // Of nothing there is no lowest and no highest.
        let (lowest, highest) = match lowest.is_finite() && highest.is_finite() {
            true => (lowest, highest),
            false => (1.0, 10.0),
        };
        let low = lowest.log10().floor() as i32 - i32::from(zero);
        let high = (highest.log10().ceil() as i32).max(low + 1);
        // One or two decades alone would leave most of the axis without a number.
        let within: &[f64] = if high - low <= 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let values = (low..=high).flat_map(|n| within.iter().map(move |part| part * pow10(n)));
        let values = values.filter(|value| *value <= pow10(high));
        let mut ticks: Vec<_> = values.map(|value| (value, name(value))).collect();
        if zero {
            ticks.retain(|tick| tick.0 <= pow10(low) || tick.0 >= pow10(low + 1));
            "0".clone_into(&mut ticks[0].1);
        }
        Self::new(title, Scale::Log, (pow10(low), pow10(high)), ticks)
    }

    /// Ratios from one upwards, logarithmic.
    pub(crate) fn ratio(title: &str, highest: f64) -> Self {
        let all = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0];
        let to = highest * 1.15;
        let ticks = all.into_iter().filter(|tick| *tick <= to).map(|tick| (tick, short(tick)));
        Self::new(title, Scale::Log, (0.87, to), ticks.collect())
    }

    /// One place for each name, in order.
    pub(crate) fn names(title: &str, names: Vec<String>) -> Self {
        let to = names.len() as f64 - 0.5;
        let ticks = names.into_iter().enumerate().map(|(index, name)| (index as f64, name));
        Self::new(title, Scale::Names, (-0.5, to), ticks.collect())
    }

    /// What stands at a place, in words: a name, or the span of a logarithmic column.
    pub(crate) fn name_of(&self, value: f64) -> String {
        match self.scale {
            Scale::Names => {
                let tick = self.ticks.iter().find(|tick| tick.0 == value);
                tick.map_or_else(String::new, |tick| tick.1.clone())
            }
            Scale::Log if value > 1.0 => {
                let (from, to) = (number::thousands(value / 2.0), number::thousands(value));
                format!("{from} to {to} {}", self.quantity)
            }
            Scale::Linear | Scale::Broken { .. } | Scale::Log => {
                format!("{} {}", round(value), self.quantity)
            }
        }
    }

    /// The value at a place, the inverse of [`place`](Self::place).
    pub(crate) fn value(&self, place: f64) -> f64 {
        match self.scale {
            Scale::Log => self.from * (self.to / self.from).powf(place),
            Scale::Broken { at } if place <= 0.5 => self.from + (at - self.from) * place * 2.0,
            Scale::Broken { at } => at + (self.to - at) * (place - 0.5) * 2.0,
            Scale::Linear | Scale::Names => self.from + (self.to - self.from) * place,
        }
    }

    /// Where a value lies, 0 to 1 from one end to the other.
    pub(crate) fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Log => (value / self.from).log10() / (self.to / self.from).log10(),
            Scale::Broken { at } if value <= at => 0.5 * (value - self.from) / (at - self.from),
            Scale::Broken { at } => 0.5 + 0.5 * (value - at) / (self.to - at),
            Scale::Linear | Scale::Names => (value - self.from) / (self.to - self.from),
        }
    }
}

/// The 1, 2 or 5 times a power of ten that is no less than `step`.
fn step_above(step: f64) -> f64 {
    let decade = 10f64.powf(step.max(1e-12).log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|n| n * decade);
    steps.into_iter().find(|nice| *nice >= step * (1.0 - 1e-9)).unwrap_or(10.0 * decade)
}

/// Steps of time that people count in, in seconds.
const TIME_STEPS: [f64; 20] = [
    1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0, 7200.0,
    14_400.0, 21_600.0, 43_200.0, 86_400.0, 172_800.0, 432_000.0,
];

fn time_step(step: f64) -> f64 {
    let suits = |nice: &f64| step <= *nice;
    match TIME_STEPS.into_iter().find(suits) {
        Some(nice) if step > 0.5 => nice,
        _ => step_above(step),
    }
}

/// `90 s`, `20 min`, `1.5 h`, by how long all of it lasts.
fn time(seconds: f64, span: f64) -> String {
    match (seconds, span) {
        (0.0, _) => "0".to_owned(),
        (_, 10_800.0..) => format!("{} h", plain(seconds / 3600.0)),
        (_, 180.0..) => format!("{} min", plain(seconds / 60.0)),
        _ => format!("{} s", plain(seconds)),
    }
}

/// `500`, `1K`, `1.5K`, `100K`, `1M`.
pub(crate) fn short(value: f64) -> String {
    match value {
        1e6.. => format!("{}M", plain(value / 1e6)),
        1e3.. => format!("{}K", plain(value / 1e3)),
        _ => plain(value),
    }
}

/// `0.5`, `1,400`.
fn round(value: f64) -> String {
    if value.fract() == 0.0 { number::thousands(value) } else { plain(value) }
}

/// At most two decimals, none that are zero; of less than a tenth two digits that mean something.
fn plain(value: f64) -> String {
    let decimals = match value.abs() {
        less @ 0.0..0.1 if less > 0.0 => (1.0 - less.max(1e-12).log10().floor()) as usize,
        _ => 2,
    };
    let text = format!("{value:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A number with so many digits that mean something: `0.03`, `38`.
pub(crate) fn significant(value: f64, digits: i32) -> String {
    let decade = value.abs().max(1e-12).log10().floor() as i32;
    let scale = pow10(digits - 1 - decade);
    let rounded = (value * scale).round() / scale;
    match rounded {
        1000.0.. => number::thousands(rounded),
        _ => rounded.to_string(),
    }
}

/// `10 µs`, from nanoseconds.
pub(crate) fn latency(nanos: f64) -> String {
    match nanos {
        1e9.. => format!("{} s", plain(nanos / 1e9)),
        1e6.. => format!("{} ms", plain(nanos / 1e6)),
        1e3.. => format!("{} µs", plain(nanos / 1e3)),
        _ => format!("{} ns", plain(nanos)),
    }
}

/// `60 GB`, decimal.
pub(crate) fn bytes(value: f64) -> String {
    match value {
        1e15.. => format!("{} PB", plain(value / 1e15)),
        1e12.. => format!("{} TB", plain(value / 1e12)),
        1e9.. => format!("{} GB", plain(value / 1e9)),
        1e6.. => format!("{} MB", plain(value / 1e6)),
        1e3.. => format!("{} kB", plain(value / 1e3)),
        _ => plain(value),
    }
}

fn pow10(exponent: i32) -> f64 {
    10f64.powi(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_numbers() {
        let highest = [0.9, 1.1, 38_000.0, 40_000.0, 41_000.0, 99_000.0, 0.031, 4.9];
        let expected = [1.0, 1.2, 40_000.0, 50_000.0, 50_000.0, 120_000.0, 0.04, 6.0];
        let tops = highest.map(|highest| Axis::linear("IOPS", highest).to);
        assert!(tops.iter().zip(expected).all(|(top, end)| (top - end).abs() < 1e-9), "{tops:?}");
        let zeros = Axis::linear("late requests, %", 0.0).ticks;
        assert!(zeros.iter().skip(1).all(|(_, tick)| tick != "0"), "{zeros:?}");
        assert_eq!([99.0, 100.0].map(|most| Axis::linear("reads, %", most).to), [100.0, 100.0]);
        assert_eq!([0.5, 500.0, 1500.0, 1e5, 1e6].map(short), ["0.5", "500", "1.5K", "100K", "1M"]);
        let apart = |highest: f64| {
            let ticks = Axis::linear("late requests, %", highest).ticks;
            ticks.windows(2).all(|pair| pair[0].1 != pair[1].1)
        };
        assert!([0.0042, 0.000_31, 0.05, 0.7, 3.0, 123_456.0].into_iter().all(apart));
        assert_eq!([0.001, 0.0125, 0.002].map(plain), ["0.001", "0.013", "0.002"]);
        assert_eq!([100.0, 1e4, 1e7, 1e9].map(latency), ["100 ns", "10 µs", "10 ms", "1 s"]);
        assert_eq!([0.3, 500.0, 150.0].map(step_above), [0.5, 500.0, 200.0]);
    }

    #[test]
    fn time_is_told_in_the_unit_that_suits_its_span() {
        let ticks = |end: f64| -> Vec<String> {
            Axis::span("seconds of random writes", 0.0, end)
                .ticks
                .into_iter()
                .map(|t| t.1)
                .collect()
        };
        assert_eq!(ticks(100.0), ["0", "20 s", "40 s", "60 s", "80 s", "100 s"]);
        assert_eq!(ticks(2000.0), ["0", "10 min", "20 min", "30 min"]);
        assert_eq!(ticks(36_000.0), ["0", "2 h", "4 h", "6 h", "8 h", "10 h"]);
        let axis = Axis::span("seconds of random writes", 0.0, 100.0);
        assert_eq!(
            (&*axis.title, &*axis.quantity),
            ("time into random writes", "seconds of random writes")
        );
    }

    #[test]
    fn values_lie_where_their_scale_puts_them() {
        let decades = Axis::decades("IOPS", (120.0, 50_000.0), true, short);
        assert_eq!((decades.from, decades.to), (10.0, 100_000.0));
        assert_eq!(decades.ticks[0].1, "0");
        assert!((decades.place(1000.0) - 0.5).abs() < 1e-9);
        let written = Axis::span("GB written", 1400.0, 2000.0);
        let ticks: Vec<f64> = written.ticks.iter().map(|tick| tick.0).collect();
        assert_eq!(ticks, [1400.0, 1500.0, 1600.0, 1700.0, 1800.0, 1900.0, 2000.0]);
        assert_eq!(Axis::names("size", vec!["a".into(), "b".into()]).place(0.5), 0.5);
    }
}
