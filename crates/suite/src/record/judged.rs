//! What a plan itself asks of the drive, and whether it was so.

use serde::{Deserialize, Serialize};

use crate::record::figure::Good;
use crate::record::unit::Unit;

/// A target, and what the drive came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The step, the operation and the figure.
    pub figure: String,
    /// What it was, in `unit`; `None` if there were no such I/Os.
    pub got: Option<f64>,
    /// What it must be, in `unit`.
    pub bound: f64,
    /// What both count: `ms`, `IOPS` or `MiB/s`.
    pub unit: String,
    /// Whether it was so; `None` if it was not judged, because the run was cut short or had no such
    /// I/Os.
    pub passes: Option<bool>,
    /// Who asks it.
    pub source: String,
}

impl Judged {
    /// What its numbers count.
    pub fn unit(&self) -> Unit {
        let units = [Unit::Iops, Unit::MebibytesPerSecond];
        units.into_iter().find(|unit| unit.symbol() == self.unit).unwrap_or(Unit::Milliseconds)
    }

    /// Which side of the bound is good.
    pub fn good(&self) -> Good {
        if self.unit() == Unit::Milliseconds { Good::AtMost } else { Good::AtLeast }
    }
}
