//! Units that live in the type: spans and points of device time, bytes, rates.
//!
//! Every unit is written and read as text with its unit (`"1300us"`, `"8KiB"`, `"270MB/s"`),
//! exactly: what is written reads back as the same value. Decimal prefixes (kB, MB, GB) are powers
//! of 1000, binary ones (KiB, MiB, GiB) powers of 1024, `Gbit` is 2^30 bits as NAND is sold.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A span of time in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Nanos(pub u64);

/// A point on a device's own clock, in nanoseconds since an origin that only the device knows.
///
/// Points subtract to a span and move by a span; two points do not add.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct DeviceTime(pub u64);

/// A number of bytes: a length, an offset or a capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u64);

/// Bytes per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Throughput(pub u64);

/// Power in microwatts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Power(pub u64);

/// Energy in nanojoules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Energy(pub u64);

/// A temperature in thousandths of a degree Celsius; nothing here is below freezing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Temperature(pub u64);

/// I/Os per second; made only from a count and the span it took.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Iops(f64);

impl Nanos {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// A span of whole seconds.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds * 1_000_000_000)
    }

    /// A span of whole milliseconds.
    pub const fn from_millis(milliseconds: u64) -> Self {
        Self(milliseconds * 1_000_000)
    }

    /// A span of whole microseconds.
    pub const fn from_micros(microseconds: u64) -> Self {
        Self(microseconds * 1_000)
    }

    /// The span in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl DeviceTime {
    /// A time that never comes.
    pub const MAX: Self = Self(u64::MAX);

    /// The span since `earlier`, zero if `earlier` is in fact later.
    pub fn since(self, earlier: Self) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Bytes {
    /// No bytes.
    pub const ZERO: Self = Self(0);

    /// Bytes from a count of KiB (1024 bytes).
    pub const fn from_kib(count: u64) -> Self {
        Self(count << 10)
    }

    /// Bytes from a count of MiB (1024² bytes).
    pub const fn from_mib(count: u64) -> Self {
        Self(count << 20)
    }

    /// Bytes from a count of GiB (1024³ bytes).
    pub const fn from_gib(count: u64) -> Self {
        Self(count << 30)
    }

    /// Whether this is a whole multiple of `unit`.
    pub const fn is_multiple_of(self, unit: Self) -> bool {
        self.0.is_multiple_of(unit.0)
    }
}

impl Throughput {
    /// The time that `amount` takes at this rate, rounded up to a nanosecond.
    ///
    /// # Panics
    /// If the rate is zero.
    pub fn time_for(self, amount: Bytes) -> Nanos {
        let nanos = (u128::from(amount.0) * 1_000_000_000).div_ceil(u128::from(self.0));
        Nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

impl Power {
    /// What this power adds up to over `span`, rounded down.
    pub fn over(self, span: Nanos) -> Energy {
        Energy((u128::from(self.0) * u128::from(span.0) / 1_000_000) as u64)
    }
}

impl Energy {
    /// The mean power over `span`; nothing if that is no time.
    pub fn mean_over(self, span: Nanos) -> Power {
        let microwatts = u128::from(self.0) * 1_000_000 / u128::from(span.0.max(1));
        Power(if span == Nanos::ZERO { 0 } else { microwatts as u64 })
    }
}

impl Iops {
    /// The rate of `count` I/Os over `span`; zero over an empty span.
    pub fn over(count: u64, span: Nanos) -> Self {
        Self(if span.0 == 0 { 0.0 } else { count as f64 / span.as_secs_f64() })
    }

    /// The rate as a plain number.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Mul<u64> for Nanos {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self(self.0 * times)
    }
}

impl Add<Nanos> for DeviceTime {
    type Output = Self;
    fn add(self, span: Nanos) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Sub for DeviceTime {
    type Output = Nanos;
    fn sub(self, earlier: Self) -> Nanos {
        Nanos(self.0 - earlier.0)
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<u64> for Bytes {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self(self.0 * times)
    }
}

/// Text that is not a number with a known unit, or one that is too large.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{got}' is {}", match most {
    Some(most) => format!("more than {most}, the most that there can be"),
    None => format!("not {what}; write it like {example}"),
})]
pub struct ParseUnitError {
    got: String,
    what: &'static str,
    example: &'static str,
    /// What can be at most, if it is more than that.
    most: Option<String>,
}

/// A unit's spellings, largest first, each with its size in the base unit as numerator / divisor.
struct Spelling {
    what: &'static str,
    example: &'static str,
    /// Whether fractions of the base unit are left out, or refused.
    rounds_down: bool,
    suffixes: &'static [(&'static str, u64)],
}

const TIME: Spelling = Spelling {
    what: "a time",
    example: "\"2000s\", \"30min\", \"1300us\"",
    rounds_down: false,
    suffixes: &[
        ("h", 3_600_000_000_000),
        ("min", 60_000_000_000),
        ("s", 1_000_000_000),
        ("ms", 1_000_000),
        ("us", 1_000),
        ("ns", 1),
    ],
};

const SIZE: Spelling = Spelling {
    what: "a size",
    example: "\"4KiB\", \"250GB\", \"128Gbit\"",
    rounds_down: false,
    suffixes: &[
        ("TiB", 1 << 40),
        ("TB", 1_000_000_000_000),
        ("GiB", 1 << 30),
        ("GB", 1_000_000_000),
        ("Gbit", 1 << 27),
        ("MiB", 1 << 20),
        ("MB", 1_000_000),
        ("KiB", 1 << 10),
        ("kB", 1_000),
        ("B", 1),
    ],
};

const RATE: Spelling = Spelling {
    what: "a rate",
    example: "\"270MB/s\", \"154.8MiB/s\"",
    rounds_down: true,
    suffixes: &[
        ("GiB/s", 1 << 30),
        ("GB/s", 1_000_000_000),
        ("MiB/s", 1 << 20),
        ("MB/s", 1_000_000),
        ("KiB/s", 1 << 10),
        ("kB/s", 1_000),
        ("B/s", 1),
    ],
};

const POWER: Spelling = Spelling {
    what: "a power",
    example: "\"2.2W\", \"80mW\"",
    rounds_down: false,
    suffixes: &[("W", 1_000_000), ("mW", 1_000), ("uW", 1)],
};

const ENERGY: Spelling = Spelling {
    what: "an energy",
    example: "\"65uJ\"",
    rounds_down: false,
    suffixes: &[("J", 1_000_000_000), ("mJ", 1_000_000), ("uJ", 1_000), ("nJ", 1)],
};

const TEMPERATURE: Spelling = Spelling {
    what: "a temperature",
    example: "\"70C\"",
    rounds_down: false,
    suffixes: &[("C", 1_000), ("mC", 1)],
};

impl Spelling {
    /// Reads a decimal number and a unit; refuses what is not a whole number of base units, but for a rate,
    /// of which nobody means the fraction of a byte.
    fn parse(&self, text: &str) -> Result<u64, ParseUnitError> {
        let wrong = |most| {
            let (got, what, example) = (text.to_owned(), self.what, self.example);
            ParseUnitError { got, what, example, most }
        };
        let error = || wrong(None);
        let split = text.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(error)?;
        let (number, suffix) = (text[..split].trim(), &text[split..]);
        let &(_, unit) = self.suffixes.iter().find(|(s, _)| *s == suffix).ok_or_else(error)?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || (number.contains('.') && !digits(fraction)) || fraction.len() > 12 {
            return Err(error());
        }
        let scale = 10u128.pow(fraction.len() as u32);
        let too_large = || wrong(Some(self.largest()));
        let mantissa: u128 = format!("{whole}{fraction}").parse().map_err(|_| too_large())?;
        let product = mantissa.checked_mul(u128::from(unit)).ok_or_else(too_large)?;
        if !self.rounds_down && !product.is_multiple_of(scale) {
            return Err(error());
        }
        u64::try_from(product / scale).map_err(|_| too_large())
    }

    /// The most whole units of the largest kind.
    fn largest(&self) -> String {
        let (suffix, unit) = self.suffixes[0];
        format!("{}{suffix}", u64::MAX / unit)
    }

    /// The shortest exact spelling: the largest unit that divides the value.
    fn exact(&self, value: u64) -> String {
        let (suffix, unit) = self
            .suffixes
            .iter()
            .filter(|(suffix, unit)| *suffix != "Gbit" && value.is_multiple_of(*unit))
            .min_by_key(|(_, unit)| value / unit)
            .filter(|_| value != 0)
            .or(self.suffixes.last())
            .expect("every spelling has a base unit");
        format!("{}{suffix}", value / unit)
    }
}

/// Gives a unit its exact text form, in both directions, and in serde.
macro_rules! textual {
    ($unit:ident, $spelling:ident) => {
        impl FromStr for $unit {
            type Err = ParseUnitError;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $spelling.parse(text).map(Self)
            }
        }

        impl $unit {
            /// The exact value with its unit, such that parsing it gives the same value.
            pub fn exact(self) -> String {
                $spelling.exact(self.0)
            }
        }

        impl Serialize for $unit {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.exact())
            }
        }

        impl<'de> Deserialize<'de> for $unit {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(de::Error::custom)
            }
        }
    };
}

textual!(Nanos, TIME);
textual!(Bytes, SIZE);
textual!(Throughput, RATE);
textual!(Power, POWER);
textual!(Energy, ENERGY);
textual!(Temperature, TEMPERATURE);

impl fmt::Display for Nanos {
    /// Three significant digits in the unit a person would choose: `1.30 ms`, `42.0 us`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0 {
            0..1_000 => return write!(f, "{} ns", self.0),
            1_000..1_000_000 => (self.0 as f64 / 1e3, "µs"),
            1_000_000..1_000_000_000 => (self.0 as f64 / 1e6, "ms"),
            _ => (self.0 as f64 / 1e9, "s"),
        };
        write!(f, "{} {unit}", three_digits(value))
    }
}

impl fmt::Display for Bytes {
    /// Decimal, three significant digits: `250 GB`, `4.10 kB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0 {
            0..1_000 => return write!(f, "{} B", self.0),
            1_000..1_000_000 => (self.0 as f64 / 1e3, "kB"),
            1_000_000..1_000_000_000 => (self.0 as f64 / 1e6, "MB"),
            1_000_000_000..1_000_000_000_000 => (self.0 as f64 / 1e9, "GB"),
            1_000_000_000_000..1_000_000_000_000_000 => (self.0 as f64 / 1e12, "TB"),
            _ => (self.0 as f64 / 1e15, "PB"),
        };
        write!(f, "{} {unit}", three_digits(value))
    }
}

impl Bytes {
    /// In words, as [`Display`](fmt::Display) has it; exactly where that does not tell it from `other`.
    pub fn told_from(self, other: Self) -> String {
        let text = self.to_string();
        if text == other.to_string() { format!("{} bytes", self.0) } else { text }
    }
}

impl fmt::Display for Throughput {
    /// In MB/s, decimal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} MB/s", three_digits(self.0 as f64 / 1e6))
    }
}

impl fmt::Display for Power {
    /// In watts, three significant digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} W", three_digits(self.0 as f64 / 1e6))
    }
}

impl fmt::Display for Temperature {
    /// In whole degrees.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0} °C", self.0 as f64 / 1e3)
    }
}

fn three_digits(value: f64) -> String {
    let decimals = if value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_reads_as_the_value_it_names() {
        assert_eq!("1300us".parse(), Ok(Nanos(1_300_000)));
        assert_eq!("3.8ms".parse(), Ok(Nanos(3_800_000)));
        assert_eq!("33min".parse(), Ok(Nanos::from_secs(1980)));
        assert_eq!("128Gbit".parse(), Ok(Bytes::from_gib(16)));
        assert_eq!("250GB".parse(), Ok(Bytes(250_000_000_000)));
        assert_eq!("4 KiB".parse(), Ok(Bytes(4096)));
        assert_eq!("270MB/s".parse(), Ok(Throughput(270_000_000)));
        assert_eq!("154.8MiB/s".parse(), Ok(Throughput(162_319_564)), "rounded down");
        assert_eq!("79360KiB/s".parse(), Ok(Throughput(79360 * 1024)));
        assert_eq!("2.5W".parse(), Ok(Power(2_500_000)));
        assert_eq!("65uJ".parse(), Ok(Energy(65_000)));
        assert_eq!("70C".parse(), Ok(Temperature(70_000)));
    }

    #[test]
    fn text_without_a_known_unit_is_refused_with_an_example() {
        for text in ["", "12", "s", "1.s", ".5s", "-1s", "1e3s", "0.5ns", "5 parsecs", "1..2s"] {
            let error = text.parse::<Nanos>().expect_err(text);
            assert!(error.to_string().contains("2000s"), "{error}");
        }
        assert!("4 kib".parse::<Bytes>().is_err());
        assert!("99999999999TiB".parse::<Bytes>().is_err());
        assert!("99999999999999999999999999999999999999999s".parse::<Nanos>().is_err());
    }

    #[test]
    fn exact_text_reads_back_as_the_same_value() {
        for value in [0, 1, 512, 4096, 1_000_000, 250_000_000_000, 250_059_350_016, u64::MAX] {
            assert_eq!(Bytes(value).exact().parse(), Ok(Bytes(value)));
            assert_eq!(Nanos(value).exact().parse(), Ok(Nanos(value)));
        }
        assert_eq!(Nanos::from_secs(2000).exact(), "2000s");
        assert_eq!(Bytes::from_kib(128).exact(), "128KiB");
        assert_eq!(Bytes(0).exact(), "0B");
    }

    #[test]
    fn display_rounds_for_a_person() {
        assert_eq!(Nanos(1_300_000).to_string(), "1.30 ms");
        assert_eq!(Nanos(999).to_string(), "999 ns");
        assert_eq!(Bytes(250_059_350_016).to_string(), "250 GB");
        assert_eq!(Bytes(99_960_000).to_string(), "100 MB");
        assert_eq!(Bytes::from_mib(768).told_from(Bytes::from_mib(1024)), "805 MB");
        assert_eq!(Bytes(805_306_368).told_from(Bytes(805_302_272)), "805306368 bytes");
    }

    #[test]
    fn power_over_time_is_energy_and_back() {
        let energy = Power(2_500_000).over(Nanos::from_secs(3));
        assert_eq!(energy, Energy(7_500_000_000));
        assert_eq!(energy.mean_over(Nanos::from_secs(3)), Power(2_500_000));
        assert_eq!(energy.mean_over(Nanos::ZERO), Power(0));
    }

    #[test]
    fn transfer_time_rounds_up() {
        assert_eq!(Throughput(1_000_000_000).time_for(Bytes(4096)), Nanos(4096));
        assert_eq!(Throughput(3).time_for(Bytes(1)), Nanos(333_333_334));
    }
}
