//! What a cost model came to.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, Nanos};

use super::coefficients::{Coefficient, Coefficients, figure_name};
use crate::record::figure::{Figure, Good};
use crate::record::rate::{LatencyFigures, Rate};
use crate::record::unit::Unit;

/// What a cost model came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Size of the I/Os that are counted.
    pub block: Bytes,
    /// Rates of the fresh drive; `None` if the run did not come to all of them, and of a magnetic disk, which is
    /// never fresh.
    pub fresh: Option<Coefficients>,
    /// Rates in steady state.
    pub steady: Option<Coefficients>,
    /// How long the fresh drive's random writes lasted; `None` if those in steady state are no slower.
    pub promise: Option<Promise>,
    /// Reads and writes together, at growing shares of the steady rates.
    pub rungs: Vec<Rung>,
    /// What the drive keeps of the model; `None` if not even the smallest share.
    pub limits: Option<Limits>,
}

/// How far the drive is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Purged, and a part of it written in order.
    Fresh,
    /// Written full, and at random until it was steady.
    Steady,
}

impl State {
    /// A short name, as of phases and figures.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Steady => "steady",
        }
    }
}

/// How long a full drive did what the fresh one promises.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Promise {
    /// Seconds of random writes after the fill before the first three in a row with less than nine tenths of that.
    pub seconds: u32,
    /// How much of the drive was written in them.
    pub drive_writes: f64,
    /// Random writes of the fresh drive over those in steady state.
    pub times: f64,
}

/// Reads and writes that arrive together at a share of the model, half of it of each.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rung {
    /// The share, in percent.
    pub percent: u32,
    /// Whether the drive kept up with what arrived.
    pub kept: bool,
    /// What the reads came to.
    pub reads: OfOperation,
    /// What the writes came to.
    pub writes: OfOperation,
}

/// Reads, or writes, that arrive at a rate. Response times are from their arrival.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OfOperation {
    /// Arrivals a second that were asked for.
    pub asked_iops: u64,
    /// What was done.
    pub rate: Rate,
    /// [`Limits::percentile`], in nanoseconds, if there were I/Os enough for one.
    pub at_percentile_ns: Option<u64>,
    /// The others.
    pub latency: LatencyFigures,
}

/// What the drive keeps of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// The share, in percent: the highest at which, and below which, it kept up.
    pub percent: u32,
    /// So many percent of the I/Os take no longer than the following.
    pub percentile: f64,
    /// Of reads: half as much again as the longest that was measured of any share that is kept.
    pub read: Nanos,
    /// Of writes.
    pub write: Nanos,
    /// What came of the same load once more; `None` if the run ended before it.
    pub check: Option<Box<Rung>>,
}

/// The percentile of a solid-state drive's limits: as tools/cgroup/iocost_coef_gen.py of the Linux kernel has it.
pub const PERCENTILE: f64 = 95.0;
/// That of a hard disk's, as that tool has it.
pub(super) const PERCENTILE_OF_DISKS: f64 = 50.0;

impl Limits {
    /// What was measured, times this, is what is asked of a drive: as tools/cgroup/iocost_coef_gen.py of
    /// the Linux kernel has it.
    pub(super) const MARGIN: f64 = 1.5;
    /// The least that a controller is to leave, of what the drive keeps: that tool's 60 of 100 %.
    const LEAST: f64 = 0.6;

    /// The least share that a controller is to leave, in percent.
    pub fn least_percent(&self) -> f64 {
        f64::from(self.percent) * Self::LEAST
    }

    /// Whether the same load kept them once more; `None` if it was not tried.
    pub fn hold(&self) -> Option<bool> {
        let check = self.check.as_ref()?;
        let within =
            |of: OfOperation, limit: Nanos| of.at_percentile_ns.is_some_and(|ns| ns <= limit.0);
        Some(check.kept && within(check.reads, self.read) && within(check.writes, self.write))
    }
}

const KEPT: &str = "model kept";
const READS_THERE: &str = "reads at what is kept";
const WRITES_THERE: &str = "writes at what is kept";
const PROMISE: &str = "promise of random writes, times too high";

/// Of a run that comes to its end.
pub(super) fn figure_names() -> Vec<String> {
    let of_state =
        |state: State| Coefficient::ALL.map(move |one| figure_name(state.name(), one)).into_iter();
    let late = [PERCENTILE, PERCENTILE_OF_DISKS]
        .into_iter()
        .flat_map(|percentile| [READS_THERE, WRITES_THERE].map(|of| late_name(of, percentile)));
    let others = [KEPT, PROMISE].map(str::to_owned).into_iter().chain(late);
    [State::Steady, State::Fresh].into_iter().flat_map(of_state).chain(others).collect()
}

/// What is of another percentile is another figure.
fn late_name(of: &str, percentile: f64) -> String {
    match percentile == PERCENTILE {
        true => of.to_owned(),
        false => format!("{of}, p{percentile}"),
    }
}

impl Outcome {
    /// How much too high a fresh drive's file would be: the largest of its rates over those in steady
    /// state, and which.
    pub fn worst_promise(&self) -> Option<(Coefficient, f64)> {
        let (fresh, steady) = (self.fresh?, self.steady?);
        let times = |one: Coefficient| (one, fresh.get(one) / steady.get(one));
        Coefficient::ALL.map(times).into_iter().max_by(|one, other| one.1.total_cmp(&other.1))
    }

    pub(super) fn figures(&self) -> Vec<Figure> {
        let of = |state: State, rates: Option<Coefficients>| {
            rates.map_or_else(Vec::new, |rates| rates.figures(state.name()))
        };
        let steady = of(State::Steady, self.steady);
        let fresh = of(State::Fresh, self.fresh);
        let limits = self.limits.iter().flat_map(|limits| {
            let kept = Figure::new(KEPT, f64::from(limits.percent), Unit::Percent, Good::AtLeast);
            // Near saturation a little more load makes response times much longer.
            let late =
                [(READS_THERE, limits.read), (WRITES_THERE, limits.write)].map(|(of, limit)| {
                    Figure::latency(late_name(of, limits.percentile), limit.0).unjudged()
                });
            std::iter::once(kept).chain(late)
        });
        let promise = self.promise.map(|promise| {
            Figure::new(PROMISE, promise.times, Unit::Ratio, Good::AtMost).unjudged()
        });
        steady.into_iter().chain(limits).chain(promise).chain(fresh).collect()
    }
}
