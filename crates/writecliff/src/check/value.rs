//! The value of a profile's key as a number, and the way back.

use serde_json::Value;
use writecliff_device::{Bytes, Nanos, Throughput};

/// A value with its unit, as profiles are written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum KeyValue {
    Time(Nanos),
    Rate(Throughput),
    Size(Bytes),
    Count(u64),
}

impl KeyValue {
    /// `None` for what is no single number.
    pub(super) fn read(value: &Value) -> Option<Self> {
        if let Some(count) = value.as_u64() {
            return Some(Self::Count(count));
        }
        let text = value.as_str()?;
        let time = text.parse().ok().map(Self::Time);
        let rate = || text.parse().ok().map(Self::Rate);
        let size = || text.parse().ok().map(Self::Size);
        time.or_else(rate).or_else(size)
    }

    pub(super) fn number(self) -> f64 {
        match self {
            Self::Time(time) => time.0 as f64,
            Self::Rate(rate) => rate.0 as f64,
            Self::Size(size) => size.0 as f64,
            Self::Count(count) => count as f64,
        }
    }

    /// Another value of the same unit, in three digits and no finer than they are written.
    pub(super) fn with_number(self, number: f64) -> Self {
        let digits = 10_f64.powf((number.max(1.0).log10().floor() - 2.0).max(0.0));
        let number = ((number / digits).round() * digits).max(0.0) as u64;
        match self {
            Self::Time(_) => Self::Time(Nanos(number)),
            Self::Rate(_) => Self::Rate(Throughput(number)),
            Self::Size(_) => Self::Size(Bytes(number.next_multiple_of(4096))),
            Self::Count(_) => Self::Count(number),
        }
    }

    pub(super) fn written(self) -> Value {
        match self {
            Self::Time(time) => time.exact().into(),
            Self::Rate(rate) => rate.exact().into(),
            Self::Size(size) => size.exact().into(),
            Self::Count(count) => count.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_as_they_are_written_in_three_digits() {
        for (text, number, written) in [
            (r#""27200ns""#, 31_234.0, r#""31200ns""#),
            (r#""540MB/s""#, 5.0e8, r#""500MB/s""#),
            (r#""4MiB""#, 8_388_608.0, r#""8392704B""#),
            ("12", 17.4, "17"),
        ] {
            let value = KeyValue::read(&serde_json::from_str(text).unwrap()).unwrap();
            let back = value.with_number(number).written();
            let expected: Value = serde_json::from_str(written).unwrap();
            assert_eq!(KeyValue::read(&back), KeyValue::read(&expected), "{back}");
        }
        assert_eq!(KeyValue::read(&serde_json::json!(["1us", "2us"])), None);
    }
}
