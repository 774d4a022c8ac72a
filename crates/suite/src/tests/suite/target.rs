//! What a suite asks of a drive under a load, and whether it was so.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use writecliff_device::{Bytes, DeviceInfo, Nanos, Operation};

use crate::method::change::by_chance;
use crate::method::estimate::scale;
use crate::method::limits::PlanError;
use crate::method::loads::plural;
use crate::record::figure::{Good, millis};
use crate::record::judged::{Judged, Unjudged};
use crate::record::rate::{ios_for, may_be_within};
use crate::record::unit::Unit;
use crate::tests::mixed::IOPS;

/// A figure of one operation, and what it must be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// The operation that it is about.
    pub of: Operation,
    /// The figure.
    pub figure: Measure,
    /// What it must be.
    pub limit: Limit,
    /// Whether the limit is for each terabyte of the drive.
    #[serde(default)]
    pub per_terabyte: bool,
    /// Who asks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// A figure that can be asked for: `iops`, `MiB/s`, `p99.99`, `longest`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measure {
    /// I/Os a second.
    Iops,
    /// Mebibytes a second.
    MebibytesPerSecond,
    /// The service time that so many percent of the I/Os do not exceed.
    Percentile(f64),
    /// The longest service time.
    Longest,
}

/// A limit: a longest time (`"5ms"`), or a least rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a limit is a time such as \"5ms\", or a number of IOPS or MiB/s")]
pub enum Limit {
    /// At most so long.
    Time(Nanos),
    /// At least so many a second.
    Rate(f64),
}

/// A limit and the rate that it is held against may be the same figure, rounded in other units.
const ROUNDED: f64 = 0.001;

/// How large a drive is, to a suite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Counted {
    /// What can be read and written.
    pub capacity: Bytes,
    /// What rates grow with: of a scale model those of the drive, whose rates it has.
    pub terabytes: f64,
}

impl From<Bytes> for Counted {
    fn from(capacity: Bytes) -> Self {
        Self { capacity, terabytes: terabytes(capacity) }
    }
}

impl From<&DeviceInfo> for Counted {
    fn from(drive: &DeviceInfo) -> Self {
        let whole = drive.capacity * u64::from(scale(drive).unwrap_or(1));
        Self { capacity: drive.capacity, terabytes: terabytes(whole) }
    }
}

/// A drive's terabytes as suites count them: to one digit behind the point, ties to even, and at
/// least 0.1.
pub fn terabytes(capacity: Bytes) -> f64 {
    ((capacity.0 as f64 / 1e11).round_ties_even() / 10.0).max(0.1)
}

impl Target {
    /// Refuses a limit of another kind than its figure.
    pub(crate) fn check(&self) -> Result<(), PlanError> {
        let is_rate = matches!(self.figure, Measure::Iops | Measure::MebibytesPerSecond);
        let reason = match self.limit {
            Limit::Time(time) if !is_rate && time > Nanos::ZERO && !self.per_terabyte => {
                return Ok(());
            }
            Limit::Rate(rate) if is_rate && rate.is_finite() && rate > 0.0 => return Ok(()),
            _ if is_rate => {
                "it needs a limit that is a number above 0, in the unit of its name, such as limit = 68"
            }
            _ => "it needs a limit in time, such as limit = \"5ms\", and none for each terabyte",
        };
        Err(self.wrong(reason.to_owned()))
    }

    /// Refuses a least rate above what the jobs are to do: no drive comes to it.
    pub(super) fn check_asked(
        &self,
        asked: Option<(f64, &str)>,
        counted: Counted,
    ) -> Result<(), PlanError> {
        let (bound, _) = self.bound(counted);
        let most = match (self.figure, asked) {
            (Measure::Iops, Some((rate, IOPS))) => rate,
            (Measure::MebibytesPerSecond, Some((rate, unit))) if unit != IOPS => {
                rate * 1e6 / f64::from(1 << 20)
            }
            _ => return Ok(()),
        };
        let [least, most_told] =
            [bound, most].map(|rate| format!("{} {}", (rate * 10.0).round() / 10.0, self.figure));
        let reason = || {
            format!(
                "that is {least} on this drive, and the jobs' own rates come to {most_told}: no drive would keep \
                 it; lower the limit, or raise the jobs' rates"
            )
        };
        (bound <= most * (1.0 + ROUNDED)).then_some(()).ok_or_else(|| self.wrong(reason()))
    }

    fn wrong(&self, reason: String) -> PlanError {
        let got = match self.limit {
            Limit::Time(time) => format!("limit = \"{}\"", time.exact()),
            Limit::Rate(rate) => format!("limit = {rate}"),
        };
        let each = if self.per_terabyte { " for each terabyte" } else { "" };
        let got = format!("{} of {} with {got}{each}", self.figure, plural(self.of));
        PlanError { option: "a target for", got, reason }
    }

    fn bound(&self, counted: Counted) -> (f64, Good) {
        match self.limit {
            Limit::Time(time) => (millis(time.0), Good::AtMost),
            Limit::Rate(rate) if self.per_terabyte => (rate * counted.terabytes, Good::AtLeast),
            Limit::Rate(rate) => (rate, Good::AtLeast),
        }
    }

    /// Whether so many I/Os at this rate are too few by no more than chance takes from those that are drawn.
    pub(super) fn is_missed_by_chance(&self, ios: u64, got: f64, counted: Counted) -> bool {
        let (bound, good) = self.bound(counted);
        let ios = ios as f64;
        let wanted = ios * bound / got;
        good == Good::AtLeast && got < bound && wanted - ios <= by_chance(wanted)
    }

    /// Whether it is a limit of service times that these keep.
    pub(super) fn is_kept_time(&self, got: f64, counted: Counted) -> bool {
        let (bound, good) = self.bound(counted);
        good == Good::AtMost && got <= bound
    }

    /// Whether it is a percentile that may keep its limit, since it is told in steps.
    pub(super) fn may_be_kept(&self, got: f64, counted: Counted) -> bool {
        let (bound, good) = self.bound(counted);
        let is_percentile = matches!(self.figure, Measure::Percentile(_));
        is_percentile && good == Good::AtMost && may_be_within(got, bound)
    }

    pub(crate) fn judged(
        &self,
        name: &str,
        got: Option<f64>,
        counted: Counted,
        unjudged: Option<Unjudged>,
    ) -> Judged {
        let (bound, good) = self.bound(counted);
        let passes = got.filter(|_| unjudged.is_none()).map(|got| match good {
            Good::AtLeast => got >= bound,
            Good::AtMost => got <= bound,
        });
        let mut source = self.source.clone().unwrap_or_else(|| "the suite".to_owned());
        if let (Limit::Rate(rate), true) = (self.limit, self.per_terabyte) {
            let of = counted.terabytes;
            // A scale model has its drive's rates.
            let whole = if of > terabytes(counted.capacity) { " of the whole drive" } else { "" };
            source += &format!("; {rate} for each terabyte, of which {of:.1}{whole} are counted");
        }
        let unit = self.figure.unit().symbol().to_owned();
        Judged { figure: name.to_owned(), got, bound, unit, passes, unjudged, source }
    }
}

impl Measure {
    /// I/Os that a figure needs: of fewer, a percentile is the longest of them and no percentile.
    pub(super) fn ios_min(self) -> u64 {
        match self {
            Self::Percentile(percent) => ios_for(percent),
            Self::Iops | Self::MebibytesPerSecond | Self::Longest => 0,
        }
    }

    fn unit(self) -> Unit {
        match self {
            Self::Iops => Unit::Iops,
            Self::MebibytesPerSecond => Unit::MebibytesPerSecond,
            Self::Percentile(_) | Self::Longest => Unit::Milliseconds,
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Iops => f.write_str("iops"),
            Self::MebibytesPerSecond => f.write_str("MiB/s"),
            Self::Percentile(percent) => write!(f, "p{percent}"),
            Self::Longest => f.write_str("longest"),
        }
    }
}

impl FromStr for Measure {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let percent = |number: &str| number.parse().ok().filter(|p| (0.0..100.0).contains(p));
        match (text, text.strip_prefix('p').and_then(percent)) {
            ("iops", _) => Ok(Self::Iops),
            ("MiB/s", _) => Ok(Self::MebibytesPerSecond),
            ("longest", _) => Ok(Self::Longest),
            (_, Some(percent)) => Ok(Self::Percentile(percent)),
            _ => Err(format!("'{text}' is no figure: it is iops, MiB/s, p99.99 or longest")),
        }
    }
}

impl Serialize for Measure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Measure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_within_a_step_of_its_limit_may_be_kept() {
        let target = |figure| Target {
            of: Operation::Read,
            figure,
            limit: Limit::Time(Nanos::from_millis(2)),
            per_terabyte: false,
            source: None,
        };
        let may_be = |figure, got| target(figure).may_be_kept(got, Bytes(1 << 40).into());
        let percentile = Measure::Percentile(99.9);
        assert_eq!([2.0, 2.007, 2.02].map(|got| may_be(percentile, got)), [false, true, false]);
        assert!(!may_be(Measure::Longest, 2.007), "which is counted as it is");
    }
}
