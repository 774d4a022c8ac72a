//! Cross stimulus recovery: large sequential writes, small random ones, and large sequential ones
//! again; how long it takes until these are as fast as before.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, Nanos};
use writecliff_measure::{Sample, Totals};

use super::part::Part;
use super::plan::{BySeries, Plan, SEQUENTIAL_LARGE};
use super::settings::CrossStimulusSettings;
use super::soak;
use crate::method::estimate::Estimate;
use crate::method::loads::Load;
use crate::method::session::{RunError, Session};
use crate::record::rate::Rate;

const PART: Part = Part::CrossStimulusRecovery;
/// Size of a random write.
const RANDOM: Bytes = Bytes::from_kib(8);
/// Writes are as fast as before from so much of it on: steady is what is within 10 %.
const RECOVERED: f64 = 0.9;

/// One kind of writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Sequential writes on the erased drive.
    First,
    /// Random writes.
    Random,
    /// Sequential writes once more.
    Again,
}

impl Stage {
    /// In the order in which they run.
    pub const ALL: [Self; 3] = [Self::First, Self::Random, Self::Again];

    /// Its phase and series.
    pub fn series(self) -> String {
        let what = match self {
            Self::First => "sequential",
            Self::Random => "random",
            Self::Again => "sequential again",
        };
        format!("{} {what}", PART.name())
    }

    fn load(self) -> Load {
        let random = self == Self::Random;
        Load { random, read_percent: 0, block: if random { RANDOM } else { SEQUENTIAL_LARGE } }
    }

    fn time(self, settings: &CrossStimulusSettings) -> Nanos {
        if self == Self::Random { settings.random } else { settings.sequential }
    }
}

pub(super) fn estimate(plan: &Plan, before: Estimate) -> Estimate {
    let CrossStimulusSettings { sequential, random } = plan.cross_stimulus;
    before.sequential(sequential).random(random).sequential(sequential)
}

pub(super) fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    let DeviceInfo { lba_size, .. } = *session.drive();
    let span = plan.used(session.drive());
    for stage in Stage::ALL {
        let (name, time) = (stage.series(), stage.time(&plan.cross_stimulus));
        let seed = plan.seed_of(&name);
        let stream = stage.load().stream(span, lba_size, plan.queue_depth, seed);
        session.phase(&name, |session| soak::measure(session, &name, stream, time).map(|_| ()))?;
    }
    Ok(())
}

/// What the change from one kind of writes to another does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CrossStimulus {
    /// As far as the run came, in the order in which they run.
    pub stages: Vec<StageFigures>,
    /// How long the last stage took until it was as fast as the first one in the end; `None` if it
    /// was not.
    pub recovered_after: Option<Nanos>,
}

/// One kind of writes. Speeds are in MB/s (10^6).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StageFigures {
    /// Of all of it.
    pub rate: Rate,
    /// Of its last tenth.
    pub end_megabytes_per_second: f64,
    /// The highest mean service time of a measurement's length, in nanoseconds.
    pub worst_mean_ns: u64,
}

/// `None` if the run did not come to it.
pub(super) fn conclude(plan: &Plan, by_series: &BySeries<'_>) -> Option<CrossStimulus> {
    let samples = |stage: Stage| by_series.get(stage.series().as_str()).map(Vec::as_slice);
    let stages: Vec<StageFigures> =
        Stage::ALL.into_iter().map_while(|stage| figures_of(plan, samples(stage)?)).collect();
    let first = stages.first()?;
    let is_back = |part: &&[&Sample]| {
        rate(part).is_some_and(|rate| {
            rate.megabytes_per_second >= RECOVERED * first.end_megabytes_per_second
        })
    };
    let parts = samples(Stage::Again).map(|again| measurements(plan, again)).unwrap_or_default();
    let back = parts.iter().position(|part| is_back(&part.as_slice()));
    let recovered_after = back.map(|index| {
        let until = parts[..=index].iter().flatten().copied();
        Totals::of(until).span
    });
    Some(CrossStimulus { stages, recovered_after })
}

fn figures_of(plan: &Plan, samples: &[&Sample]) -> Option<StageFigures> {
    let end = rate(&samples[samples.len() - samples.len().div_ceil(10)..])?;
    let means = measurements(plan, samples).into_iter().filter_map(|part| rate(&part));
    Some(StageFigures {
        rate: rate(samples)?,
        end_megabytes_per_second: end.megabytes_per_second,
        worst_mean_ns: means.map(|rate| rate.mean_ns).max()?,
    })
}

fn rate(samples: &[&Sample]) -> Option<Rate> {
    Rate::of(&Totals::of(samples.iter().copied()))
}

/// The samples, as many at a time as a measurement has.
pub fn measurements<'a>(plan: &Plan, samples: &[&'a Sample]) -> Vec<Vec<&'a Sample>> {
    let seconds = (plan.measurement.0 / Nanos::from_secs(1).0).max(1) as usize;
    samples.chunks(seconds).map(<[_]>::to_vec).collect()
}
