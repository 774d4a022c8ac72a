//! A drive that other programs used.

use serde::{Deserialize, Serialize};
use writecliff_device::Nanos;

use crate::record::rate::LatencyFigures;
use crate::record::warning::JobWarning;

/// How a simulated drive was served to the programs whose I/Os these are, and how well.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Served {
    /// What these programs did, in the words of whoever served it. What nobody says is like nothing else.
    pub load: Option<String>,
    /// What the drive had behind it.
    pub state: String,
    /// How many times as fast as the clock on the wall its time passed; `None` where it waited for nobody.
    pub speed: Option<f64>,
    /// Whether flushes and forced writes were answered without being done.
    pub lying_flush: bool,
    /// How often its power went.
    pub power_cuts: u64,
    /// What a client saw of a drive that takes no time, before this one was served.
    #[serde(default)]
    pub floor: Option<Floor>,
    /// How much later than the drive would have answered answers went out, by its own clock; known where
    /// its time passes by itself.
    pub lateness: Option<LatencyFigures>,
}

/// Times of reads of 4 KiB, one at a time, of a drive that takes none: the way to it and back on the machine
/// that served it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Floor {
    /// Mean.
    pub mean_ns: u64,
    /// Median.
    pub p50_ns: u64,
    /// 99 %.
    pub p99_ns: u64,
}

impl Served {
    /// What has to be the same for two of them to be held against each other. What nobody has told is the
    /// same as nothing that began at another moment.
    pub(crate) fn what_was_asked(&self, begun: &str) -> String {
        let load = self.load.clone().unwrap_or_else(|| format!("a load not told, begun {begun}"));
        let speed = self.speed.map_or_else(|| "free".to_owned(), |times| times.to_string());
        let flushes = if self.lying_flush { ", flushes not done" } else { "" };
        format!("{load}; drive {}, speed {speed}{flushes}", self.state)
    }
}

/// Answers later than this share of the drive's own time are a doubt.
const LATE_SHARE: f64 = 0.1;

/// Whether answers went out too late for what a client measured to be the drive's: by the median and the
/// 99th percentile of how late they were, and of what the drive takes by itself.
pub fn too_late(late: [Nanos; 2], own: [Nanos; 2]) -> Option<JobWarning> {
    let share = |late: Nanos, own: Nanos| late.0 as f64 / own.0.max(1) as f64;
    let parts = ["Half", "One in a hundred"];
    let mut pairs = parts.into_iter().zip(late.into_iter().zip(own));
    let (part, (late, own)) = pairs.find(|(_, (late, own))| share(*late, *own) > LATE_SHARE)?;
    Some(JobWarning::AnswersLate { part: part.to_owned(), late, own })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_late_by_the_drive_s_own_time() {
        let micros = |all: [u64; 2]| all.map(Nanos::from_micros);
        assert_eq!(too_late(micros([9, 90]), micros([90, 900])), None);
        let late = too_late(micros([9, 91]), micros([90, 900])).unwrap();
        assert!(late.to_string().starts_with("One in a hundred of the answers"), "{late}");
    }
}
