//! The situations that published figures are about: one table.

use std::str::FromStr;

use serde::Serialize;

use super::quantity::Quantity;

/// A situation and what is measured in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(into = "&'static str")]
#[allow(missing_docs, reason = "the table describes them")]
pub enum Scenario {
    SequentialRead,
    SequentialReadQd1,
    RandomRead,
    RandomReadQd1,
    RandomReadQd3,
    RandomReadQd4,
    SequentialWrite,
    SequentialWriteQd1,
    SequentialWriteCompressible,
    SequentialWriteSustained,
    SequentialWriteAfterIdle,
    RandomWrite,
    RandomWriteQd1,
    RandomWriteQd3,
    RandomWriteQd3Latency,
    RandomWriteQd3Used,
    RandomWriteQd4,
    RandomWriteCompressible,
    SteadyMean,
    SteadyFloor,
    SteadyP1,
    SteadyMax,
    SlowestSecond,
    SteadyMeanSpare25,
    SteadyFloorSpare25,
    SteadyP1Spare25,
    SteadyMaxSpare25,
    SlowestSecondSpare25,
    TrimClean,
    TrimDirtySlowest30,
    TrimBurstAfter30,
    TrimDirty40,
    TrimAfter40,
    TrimDirty60,
    TrimAfter60,
}

/// A row of the table of scenarios.
#[derive(Debug)]
pub struct ScenarioEntry {
    /// What it is.
    pub scenario: Scenario,
    /// What it is called in files.
    pub name: &'static str,
    /// What is measured, for a person; `docs/model.md` has more words.
    pub title: &'static str,
    pub(super) quantity: Quantity,
}

const fn rate(scenario: Scenario, name: &'static str, title: &'static str) -> ScenarioEntry {
    ScenarioEntry { scenario, name, title, quantity: Quantity::Rate }
}

const fn time(scenario: Scenario, name: &'static str, title: &'static str) -> ScenarioEntry {
    ScenarioEntry { scenario, name, title, quantity: Quantity::Time }
}

/// All scenarios.
#[rustfmt::skip]
pub const SCENARIOS: &[ScenarioEntry] = {
    use Scenario as S;
    &[
        rate(S::SequentialRead, "sequential-read", "sequential read, QD32"),
        rate(S::SequentialReadQd1, "sequential-read-qd1", "sequential read, QD1"),
        rate(S::RandomRead, "random-read", "4KB random read, QD32"),
        rate(S::RandomReadQd1, "random-read-qd1", "4KB random read, QD1"),
        rate(S::RandomReadQd3, "random-read-qd3", "4KB random read, QD3"),
        rate(S::RandomReadQd4, "random-read-qd4", "4KB random read, QD4"),
        rate(S::SequentialWrite, "sequential-write", "sequential write, QD32"),
        rate(S::SequentialWriteQd1, "sequential-write-qd1", "sequential write, QD1"),
        rate(S::SequentialWriteCompressible, "sequential-write-compressible", "seq. write, repeating data"),
        rate(S::SequentialWriteSustained, "sequential-write-sustained", "sequential write, later"),
        rate(S::SequentialWriteAfterIdle, "sequential-write-after-idle", "write after 30 s idle"),
        rate(S::RandomWrite, "random-write", "4KB random write, QD32"),
        rate(S::RandomWriteQd1, "random-write-qd1", "4KB random write, QD1"),
        rate(S::RandomWriteQd3, "random-write-qd3", "4KB random write, QD3"),
        time(S::RandomWriteQd3Latency, "random-write-qd3-latency", "4KB write latency, QD3"),
        rate(S::RandomWriteQd3Used, "random-write-qd3-used", "the same, drive used"),
        rate(S::RandomWriteQd4, "random-write-qd4", "4KB random write, QD4"),
        rate(S::RandomWriteCompressible, "random-write-compressible", "4KB write, repeating data"),
        rate(S::SteadyMean, "steady-mean", "steady mean"),
        rate(S::SteadyFloor, "steady-floor", "steady floor"),
        rate(S::SteadyP1, "steady-p1", "steady 1 % lowest"),
        rate(S::SteadyMax, "steady-max", "steady best second"),
        rate(S::SlowestSecond, "slowest-second", "slowest second"),
        rate(S::SteadyMeanSpare25, "steady-mean-spare25", "steady mean, 25 % spare"),
        rate(S::SteadyFloorSpare25, "steady-floor-spare25", "steady floor, 25 % spare"),
        rate(S::SteadyP1Spare25, "steady-p1-spare25", "steady 1 %, 25 % spare"),
        rate(S::SteadyMaxSpare25, "steady-max-spare25", "steady best, 25 % spare"),
        rate(S::SlowestSecondSpare25, "slowest-second-spare25", "slowest, 25 % spare"),
        rate(S::TrimClean, "trim-clean", "60 s write, clean"),
        rate(S::TrimDirtySlowest30, "trim-dirty-slowest-30min", "slowest second, dirty"),
        rate(S::TrimBurstAfter30, "trim-burst-after-30min", "best second after TRIM"),
        rate(S::TrimDirty40, "trim-dirty-40min", "60 s write, dirty"),
        rate(S::TrimAfter40, "trim-after-40min", "60 s write after TRIM"),
        rate(S::TrimDirty60, "trim-dirty-60min", "60 s write, dirty"),
        rate(S::TrimAfter60, "trim-after-60min", "60 s write after TRIM"),
    ]
};

impl Scenario {
    /// Its row of the table.
    pub fn entry(self) -> &'static ScenarioEntry {
        let entry = SCENARIOS.iter().find(|entry| entry.scenario == self);
        entry.unwrap_or_else(|| unreachable!("{self:?} is not in the table"))
    }
}

impl From<Scenario> for &'static str {
    fn from(scenario: Scenario) -> Self {
        scenario.entry().name
    }
}

impl FromStr for Scenario {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = SCENARIOS.iter().find(|entry| entry.name == text);
        found.map(|entry| entry.scenario).ok_or_else(|| {
            let names: Vec<_> = SCENARIOS.iter().map(|entry| entry.name).collect();
            format!("'{text}' is none of {}", names.join(", "))
        })
    }
}
