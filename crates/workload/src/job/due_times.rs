//! How far the due times of a load's I/Os lie apart.

use rand_distr::{Distribution as _, Exp1, StandardUniform};
use rand_xoshiro::Xoshiro256PlusPlus;
use writecliff_device::{Bytes, Nanos};

use super::{Gaps, Pace};
use crate::random::{mixed, seeded};

/// The steps from one due time to the next; made by [`Pace::due_times`].
#[derive(Debug, Clone)]
pub struct DueTimes {
    pace: Pace,
    random: Xoshiro256PlusPlus,
}

/// Beside the numbers that a job's I/Os are drawn with.
const NUMBER: u64 = 2;

impl Pace {
    /// The due times of a load at this pace; the seed decides those that are random.
    pub fn due_times(self, seed: u64) -> DueTimes {
        DueTimes { pace: self, random: seeded(mixed(seed, NUMBER)) }
    }

    /// How far an I/O of `length` bytes moves the due time of the next, on average; zero where there
    /// are no due times.
    ///
    /// # Panics
    /// If the rate is zero, or there are two: [`super::Job::by_rate`] makes a job of each.
    pub fn mean_step(self, length: Bytes) -> Nanos {
        match self {
            Self::Closed | Self::Think { .. } | Self::Muse { .. } => Nanos::ZERO,
            Self::Rates { .. } => panic!("a load has one rate"),
            Self::Rate(rate) | Self::Scatter(rate) | Self::Bursts { rate, .. } => {
                rate.time_for(length)
            }
            Self::Iops(iops) | Self::Arrivals { iops, .. } => Nanos(1_000_000_000 / iops),
        }
    }
}

impl DueTimes {
    /// The rest that is due after the I/Os before it, if there is one.
    pub fn rest(&mut self) -> Option<Nanos> {
        match self.pace {
            Pace::Muse { mean } => {
                let share: f64 = StandardUniform.sample(&mut self.random);
                Some(Nanos((share * 2.0 * mean.0 as f64).round() as u64))
            }
            pace => pace.rests().map(|(rest, _)| rest),
        }
    }

    /// How far an I/O of `length` bytes moves the due time of the next; zero where there are no due
    /// times.
    ///
    /// # Panics
    /// If the rate is zero.
    pub fn step(&mut self, length: Bytes) -> Nanos {
        let mean = match self.pace {
            Pace::Arrivals { iops, gaps: Gaps::Poisson } => 1e9 / iops as f64,
            Pace::Scatter(_) => self.pace.mean_step(length).0 as f64,
            pace => return pace.mean_step(length),
        };
        let exponential: f64 = Exp1.sample(&mut self.random);
        Nanos((exponential * mean).round() as u64)
    }
}
