//! The rates of a linear cost model, by the names that the Linux kernel has for them.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, Operation};

use crate::method::loads::Load;
use crate::record::figure::Figure;

/// A rate of a linear cost model (Documentation/admin-guide/cgroup-v2.rst of the Linux kernel,
/// `io.cost.model`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coefficient {
    /// Bytes read a second, in order.
    Rbps,
    /// Blocks read a second, in order.
    Rseqiops,
    /// Blocks read a second, at random places.
    Rrandiops,
    /// Bytes written a second, in order.
    Wbps,
    /// Blocks written a second, in order.
    Wseqiops,
    /// Blocks written a second, at random places.
    Wrandiops,
}

impl Coefficient {
    /// All of them, in the kernel's order.
    pub const ALL: [Self; 6] =
        [Self::Rbps, Self::Rseqiops, Self::Rrandiops, Self::Wbps, Self::Wseqiops, Self::Wrandiops];

    /// In the order in which tools/cgroup/iocost_coef_gen.py of the Linux kernel measures them.
    pub(super) const AS_THE_KERNEL_MEASURES: [Self; 6] =
        [Self::Wbps, Self::Rbps, Self::Wseqiops, Self::Rseqiops, Self::Wrandiops, Self::Rrandiops];

    /// In the order in which they are measured in steady state. Writes in order come last: they leave
    /// another drive behind than random ones.
    pub const AS_MEASURED_HERE: [Self; 6] =
        [Self::Wrandiops, Self::Rrandiops, Self::Rseqiops, Self::Rbps, Self::Wseqiops, Self::Wbps];

    pub(super) fn random(operation: Operation) -> Self {
        if operation == Operation::Read { Self::Rrandiops } else { Self::Wrandiops }
    }

    /// What the kernel calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rbps => "rbps",
            Self::Rseqiops => "rseqiops",
            Self::Rrandiops => "rrandiops",
            Self::Wbps => "wbps",
            Self::Wseqiops => "wseqiops",
            Self::Wrandiops => "wrandiops",
        }
    }

    /// The same in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Rbps => "sequential reads",
            Self::Rseqiops => "small sequential reads",
            Self::Rrandiops => "random reads",
            Self::Wbps => "sequential writes",
            Self::Wseqiops => "small sequential writes",
            Self::Wrandiops => "random writes",
        }
    }

    /// Whether it is a rate of bytes, and none of I/Os.
    pub fn counts_bytes(self) -> bool {
        matches!(self, Self::Rbps | Self::Wbps)
    }

    pub(super) fn load(self, block: Bytes) -> Load {
        let random = matches!(self, Self::Rrandiops | Self::Wrandiops);
        let reads = matches!(self, Self::Rbps | Self::Rseqiops | Self::Rrandiops);
        Load { random, read_percent: if reads { 100 } else { 0 }, block }
    }
}

/// The rates of a drive in one state: bytes, or I/Os, a second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Coefficients {
    /// [`Coefficient::Rbps`].
    pub rbps: f64,
    /// [`Coefficient::Rseqiops`].
    pub rseqiops: f64,
    /// [`Coefficient::Rrandiops`].
    pub rrandiops: f64,
    /// [`Coefficient::Wbps`].
    pub wbps: f64,
    /// [`Coefficient::Wseqiops`].
    pub wseqiops: f64,
    /// [`Coefficient::Wrandiops`].
    pub wrandiops: f64,
}

impl Coefficients {
    /// `None` unless each of them is known.
    pub(super) fn of(find: impl Fn(Coefficient) -> Option<f64>) -> Option<Self> {
        Some(Self {
            rbps: find(Coefficient::Rbps)?,
            rseqiops: find(Coefficient::Rseqiops)?,
            rrandiops: find(Coefficient::Rrandiops)?,
            wbps: find(Coefficient::Wbps)?,
            wseqiops: find(Coefficient::Wseqiops)?,
            wrandiops: find(Coefficient::Wrandiops)?,
        })
    }

    /// One of them.
    pub fn get(&self, coefficient: Coefficient) -> f64 {
        match coefficient {
            Coefficient::Rbps => self.rbps,
            Coefficient::Rseqiops => self.rseqiops,
            Coefficient::Rrandiops => self.rrandiops,
            Coefficient::Wbps => self.wbps,
            Coefficient::Wseqiops => self.wseqiops,
            Coefficient::Wrandiops => self.wrandiops,
        }
    }

    /// Such a share of each of them.
    #[must_use]
    pub fn scaled(&self, share: f64) -> Self {
        Self {
            rbps: self.rbps * share,
            rseqiops: self.rseqiops * share,
            rrandiops: self.rrandiops * share,
            wbps: self.wbps * share,
            wseqiops: self.wseqiops * share,
            wrandiops: self.wrandiops * share,
        }
    }

    /// The figures of a state, those that are asked for most first.
    pub(super) fn figures(&self, state: &str) -> Vec<Figure> {
        use Coefficient::{Rbps, Rrandiops, Rseqiops, Wbps, Wrandiops, Wseqiops};
        let figure = |one: Coefficient| {
            let (name, rate) = (figure_name(state, one), self.get(one));
            let figure = match one.counts_bytes() {
                true => Figure::rate(name, rate / 1e6),
                false => Figure::iops(name, rate),
            };
            figure.of(state)
        };
        [Wrandiops, Rrandiops, Wbps, Rbps, Wseqiops, Rseqiops].map(figure).into()
    }
}

pub(super) fn figure_name(state: &str, coefficient: Coefficient) -> String {
    format!("{state} {}", coefficient.words())
}
