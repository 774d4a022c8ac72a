//! Axes with ticks as a person would choose them, the same on the page and in the files.

use crate::number;

/// How values become places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    Linear,
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

    /// The same, with ticks called otherwise.
    #[must_use]
    pub(crate) fn named(mut self, name: fn(f64) -> String) -> Self {
        self.ticks.iter_mut().for_each(|(value, tick)| *tick = name(*value));
        self
    }

    /// The same, with room beyond its end.
    #[must_use]
    pub(crate) fn longer(mut self, factor: f64) -> Self {
        self.to *= factor;
        self
    }

    /// From zero to a round number not below `highest`.
    pub(crate) fn linear(title: &str, highest: f64) -> Self {
        // Half a dot of room, or the highest would be cut.
        let top = nice_top(highest * 1.01);
        let ticks = (0..=4).map(|quarter| top * f64::from(quarter) / 4.0);
        let ticks = ticks.map(|value| (value, short(value))).collect();
        Self::new(title, Scale::Linear, (0.0, top), ticks)
    }

    /// From one value to another, with a little room on either side.
    pub(crate) fn span(title: &str, from: f64, to: f64) -> Self {
        let step = nice_step((to - from) / 3.0);
        let (first, last) = ((from / step).ceil() as i64, (to / step).floor() as i64);
        let ticks = (first..=last).map(|index| index as f64 * step);
        let ticks = ticks.map(|value| (value, round(value))).collect();
        let margin = (to - from) * 0.01;
        Self::new(title, Scale::Linear, (from - margin, to + margin), ticks)
    }

    /// Whole decades around `lowest` to `highest`, each called by `name`. With `zero`, one decade
    /// more at the bottom that stands for zero.
    pub(crate) fn decades(
        title: &str,
        (lowest, highest): (f64, f64),
        zero: bool,
        name: fn(f64) -> String,
    ) -> Self {
        let low = lowest.log10().floor() as i32 - i32::from(zero);
        let high = (highest.log10().ceil() as i32).max(low + 1);
        let mut ticks: Vec<_> = (low..=high).map(|n| (pow10(n), name(pow10(n)))).collect();
        if zero {
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
            Scale::Linear | Scale::Log => format!("{} {}", round(value), self.quantity),
        }
    }

    /// Where a value lies, 0 to 1 from one end to the other.
    pub(crate) fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Log => (value / self.from).log10() / (self.to / self.from).log10(),
            Scale::Linear | Scale::Names => (value - self.from) / (self.to - self.from),
        }
    }

    /// Where zeros are drawn that the axis cannot show.
    pub(crate) fn bottom(&self) -> f64 {
        match self.scale {
            Scale::Log => self.from * 10f64.powf(0.15),
            Scale::Linear | Scale::Names => self.from,
        }
    }
}

/// The next of 1, 2, 4, 6 or 8 times a power of ten: quarters of it are round.
fn nice_top(highest: f64) -> f64 {
    let decade = 10f64.powf(highest.max(1e-9).log10().floor());
    let steps = [1.0, 1.2, 1.6, 2.0, 2.4, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    steps.iter().map(|step| step * decade).find(|top| *top >= highest).unwrap_or(10.0 * decade)
}

/// The 1, 2 or 5 times a power of ten nearest below `step`.
fn nice_step(step: f64) -> f64 {
    let decade = 10f64.powf(step.max(1e-9).log10().floor());
    [5.0, 2.0].into_iter().map(|n| n * decade).find(|nice| *nice <= step).unwrap_or(decade)
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

/// At most two decimals, none that are zero.
fn plain(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
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
        let tops = [1.0, 1.1, 39_999.0, 40_000.0, 41_000.0, 99_000.0, 0.031];
        let expected = [1.0, 1.2, 40_000.0, 40_000.0, 50_000.0, 100_000.0, 0.04];
        assert_eq!(tops.map(nice_top), expected);
        assert_eq!([0.5, 500.0, 1500.0, 1e5, 1e6].map(short), ["0.5", "500", "1.5K", "100K", "1M"]);
        assert_eq!([100.0, 1e4, 1e7, 1e9].map(latency), ["100 ns", "10 µs", "10 ms", "1 s"]);
        assert_eq!([0.3, 500.0, 150.0].map(nice_step), [0.2, 500.0, 100.0]);
    }

    #[test]
    fn values_lie_where_their_scale_puts_them() {
        let decades = Axis::decades("IOPS", (120.0, 50_000.0), true, short);
        assert_eq!((decades.from, decades.to), (10.0, 100_000.0));
        assert_eq!(decades.ticks[0].1, "0");
        assert!((decades.place(1000.0) - 0.5).abs() < 1e-9);
        let time = Axis::span("seconds", 1400.0, 2000.0);
        let ticks: Vec<f64> = time.ticks.iter().map(|tick| tick.0).collect();
        assert_eq!(ticks, [1400.0, 1600.0, 1800.0, 2000.0]);
        assert_eq!(Axis::names("size", vec!["a".into(), "b".into()]).place(0.5), 0.5);
    }
}
