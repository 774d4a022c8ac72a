//! What a drive did in a scenario, and the units that it is published in.

use crate::record::unit::Unit;

/// What kind of number a scenario gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    Rate,
    Time,
    Share,
}

/// What a drive did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Measured {
    Rate {
        iops: f64,
        bytes_per_second: f64,
    },
    Time {
        seconds: f64,
    },
    /// Of the span.
    Share {
        percent: f64,
    },
}

/// The units of published figures.
const UNITS: [(Unit, Quantity); 5] = [
    (Unit::MegabytesPerSecond, Quantity::Rate),
    (Unit::MebibytesPerSecond, Quantity::Rate),
    (Unit::Iops, Quantity::Rate),
    (Unit::Milliseconds, Quantity::Time),
    (Unit::Percent, Quantity::Share),
];

/// The unit that is written so, and what is measured in it.
pub(super) fn unit(text: &str) -> Result<(Unit, Quantity), String> {
    let found = UNITS.into_iter().find(|(unit, _)| unit.symbol() == text);
    let names = UNITS.map(|(unit, _)| unit.symbol()).join(", ");
    found.ok_or(format!("'{text}' is none of {names}"))
}

impl Measured {
    /// # Panics
    /// If the unit is none of the quantity; [`parse`](super::parse) lets no such figure pass.
    pub(super) fn in_unit(self, unit: Unit) -> f64 {
        match (self, unit) {
            (Self::Rate { bytes_per_second, .. }, Unit::MegabytesPerSecond) => {
                bytes_per_second / 1e6
            }
            (Self::Rate { bytes_per_second, .. }, Unit::MebibytesPerSecond) => {
                bytes_per_second / f64::from(1 << 20)
            }
            (Self::Rate { iops, .. }, Unit::Iops) => iops,
            (Self::Time { seconds }, Unit::Milliseconds) => seconds * 1e3,
            (Self::Share { percent }, Unit::Percent) => percent,
            (measured, unit) => unreachable!("{measured:?} is not measured in {unit}"),
        }
    }
}
