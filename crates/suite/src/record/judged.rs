//! What a plan itself asks of the drive, and whether it was so.

use serde::{Deserialize, Serialize};
use writecliff_device::Mechanism;

use crate::record::figure::Good;
use crate::record::number::thousands;
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
    /// Whether it was so; `None` if it was not judged.
    pub passes: Option<bool>,
    /// Why it was not, if it was not. Older runs do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unjudged: Option<Unjudged>,
    /// Who asks it.
    pub source: String,
}

/// Why a target was not judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum Unjudged {
    /// The step was quick, or was broken off.
    #[error("its step did not last as long as the suite asks; run the suite in full")]
    CutShort,
    /// The load has none of what the target is about.
    #[error("its step had no such I/Os; ask for what the load does")]
    NoIos,
    /// The model does nothing of the kind.
    #[error("not modelled: this model has no {mechanism}")]
    NotModelled {
        /// What it lacks.
        mechanism: Mechanism,
    },
    /// Its I/Os began later and later, and their times count from when each began.
    #[error(
        "its step fell behind its rate: I/Os began later and later, of which these times say nothing"
    )]
    Behind,
    /// Arrivals are drawn, and as many fewer come by chance.
    #[error("as many I/Os may be missing by chance, since arrivals are drawn")]
    Chance,
    /// It may be kept: histograms tell percentiles in steps.
    #[error(
        "a percentile is told in steps, at most 0.8 % too high, and the limit is within the last of them"
    )]
    Step,
    /// A percentile of fewer would be the longest of them.
    #[error(
        "its step had {} such I/Os, and {} make this percentile; a longer step has them",
        thousands(*ios as f64),
        thousands(*needed as f64)
    )]
    FewIos {
        /// How many there were.
        ios: u64,
        /// How many it takes.
        needed: u64,
    },
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
