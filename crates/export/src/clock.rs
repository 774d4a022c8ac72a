//! The clock on the wall, and the model's.

use std::str::FromStr;
use std::time::{Duration, Instant};

use writecliff_device::{DeviceTime, Nanos};

/// How fast the model's time passes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Speed {
    /// So many times as fast as the clock on the wall.
    Times(f64),
    /// As fast as requests are served: it stands still while nothing is asked for.
    Free,
}

impl Speed {
    /// Real time.
    pub const REAL: Self = Self::Times(1.0);

    /// How many times real time; `None` where it is free.
    pub(crate) fn times(self) -> Option<f64> {
        match self {
            Self::Times(times) => Some(times),
            Self::Free => None,
        }
    }
}

/// `1`, `0.1`, `10` or `free`.
impl FromStr for Speed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const LEAST: f64 = 0.001;
        const MOST: f64 = 1000.0;
        if text == "free" {
            return Ok(Self::Free);
        }
        let times = text.parse().ok().filter(|times| (LEAST..=MOST).contains(times));
        times.map(Self::Times).ok_or_else(|| {
            "expected free, or how many times real time: a number from 0.001 to 1000".to_owned()
        })
    }
}

/// Which moment of the model it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    speed: f64,
    wall: Instant,
    model: DeviceTime,
}

impl Clock {
    /// It is `model` now, and goes on from there.
    pub(crate) fn begin(speed: f64, model: DeviceTime) -> Self {
        Self { speed, wall: Instant::now(), model }
    }

    pub(crate) fn now(&self) -> DeviceTime {
        self.at(Instant::now())
    }

    /// Which moment of the model it is at this one.
    pub(crate) fn at(&self, wall: Instant) -> DeviceTime {
        let passed = wall.saturating_duration_since(self.wall).as_nanos() as f64 * self.speed;
        self.model + Nanos(passed as u64)
    }

    /// When it is this moment of the model.
    pub(crate) fn wall_at(&self, moment: DeviceTime) -> Instant {
        let passed = moment.since(self.model).0 as f64 / self.speed;
        self.wall + Duration::from_nanos(passed as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_lead_to_each_other() {
        let clock = Clock::begin(10.0, DeviceTime(5_000_000_000));
        let moment = DeviceTime(5_100_000_000);
        assert_eq!(clock.wall_at(moment) - clock.wall, Duration::from_millis(10));
        assert_eq!(clock.wall_at(DeviceTime(0)), clock.wall, "the past is over");
        assert!(clock.now() >= clock.model);
    }

    #[test]
    fn a_speed_is_a_number_or_free() {
        assert_eq!("1".parse(), Ok(Speed::REAL));
        assert_eq!("free".parse(), Ok(Speed::Free));
        for wrong in ["0", "-1", "nan", "inf", "fast", "1e9"] {
            assert!(wrong.parse::<Speed>().is_err(), "{wrong}");
        }
    }
}
