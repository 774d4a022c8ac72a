//! A range of values: numbers, or texts of a number with a unit.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// From one value to another of the same kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// The least: `4`, `0.5`, `"10us"`.
    pub from: Value,
    /// The greatest.
    pub to: Value,
    /// Equal factors instead of equal steps.
    #[serde(default)]
    pub log: bool,
}

/// How a range's values are written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Form {
    Integer,
    Number,
    /// With this unit behind.
    Quantity(String),
}

impl Form {
    /// What stands behind the number.
    pub(crate) fn unit(&self) -> &str {
        match self {
            Self::Integer | Self::Number => "",
            Self::Quantity(unit) => unit,
        }
    }
}

impl Range {
    /// What keeps it from being one.
    pub(crate) fn fault(&self) -> Option<String> {
        let Some((form, from)) = parse(&self.from) else {
            return Some(format!("{} is no number, nor one with a unit", self.from));
        };
        let Some((other, to)) = parse(&self.to) else {
            return Some(format!("{} is no number, nor one with a unit", self.to));
        };
        if let (Form::Quantity(one), Form::Quantity(two)) = (&form, &other)
            && one != two
        {
            return Some(format!("{} and {} have different units", self.from, self.to));
        }
        if matches!(form, Form::Quantity(_)) != matches!(other, Form::Quantity(_)) {
            return Some(format!("of {} and {} only one has a unit", self.from, self.to));
        }
        if from >= to {
            return Some(format!("it goes from {} to {}, which is no more", self.from, self.to));
        }
        (self.log && from <= 0.0).then(|| "equal factors need values above 0".to_owned())
    }

    /// The value at this share of the way.
    pub(crate) fn at(&self, share: f64) -> Value {
        let (Some((form, from)), Some((other, to))) = (parse(&self.from), parse(&self.to)) else {
            return Value::Null;
        };
        let value = match self.log {
            true => from * (to / from).powf(share),
            false => from + (to - from) * share,
        };
        match form {
            Form::Integer if other == Form::Integer => Value::from(value.round() as i64),
            Form::Integer | Form::Number => Value::from(rounded(value)),
            Form::Quantity(unit) => Value::from(format!("{}{unit}", rounded(value))),
        }
    }
}

/// A value as a number and how it is written.
pub(crate) fn parse(value: &Value) -> Option<(Form, f64)> {
    match value {
        Value::Number(number) => {
            let form = if number.is_f64() { Form::Number } else { Form::Integer };
            Some((form, number.as_f64()?))
        }
        Value::String(text) => {
            let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
            let (number, unit) = text.split_at(digits);
            Some((Form::Quantity(unit.to_owned()), number.parse().ok()?))
        }
        _ => None,
    }
}

/// Four digits: nobody's key needs more.
fn rounded(value: f64) -> f64 {
    if value == 0.0 {
        return value;
    }
    let scale = 10_f64.powf(3.0 - value.abs().log10().floor());
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(from: impl Into<Value>, to: impl Into<Value>, log: bool) -> Range {
        Range { from: from.into(), to: to.into(), log }
    }

    #[test]
    fn values_are_written_as_the_ends_are() {
        assert_eq!(range(4, 40, false).at(0.5), Value::from(22));
        assert_eq!(range(0.5, 2.5, false).at(0.25), Value::from(1.0));
        assert_eq!(range("10us", "60us", false).at(0.5), Value::from("35us"));
        assert_eq!(range(1, 10_000, true).at(0.5), Value::from(100));
        assert_eq!(range("1MiB", "64MiB", true).at(0.5), Value::from("8MiB"));
        assert_eq!(range(1, 3.0, false).at(0.123_456), Value::from(1.247));
    }

    #[test]
    fn what_is_no_range_says_why() {
        for (wrong, word) in [
            (range(4, 4, false), "no more"),
            (range("1us", "2ms", false), "units"),
            (range(1, "2ms", false), "only one"),
            (range("eager", "lazy", false), "no number"),
            (range(0, 8, true), "above 0"),
        ] {
            assert!(wrong.fault().is_some_and(|fault| fault.contains(word)), "{wrong:?}");
        }
        assert_eq!(range("1us", "20us", true).fault(), None);
    }
}
