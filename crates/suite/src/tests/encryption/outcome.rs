//! What was measured at each setting, and its figures.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, Nanos};

use super::part::{Part, Setting};
use crate::record::figure::{Figure, Good};
use crate::record::phase::Phase;
use crate::record::rate::Rate;
use crate::record::unit::Unit;

/// What was measured at each setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// In the order of the run; those that were not to be had here are left out.
    pub settings: Vec<SettingFigures>,
}

/// The figures of one setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettingFigures {
    /// Which.
    pub setting: Setting,
    /// In the order of the run, as far as it came.
    pub parts: Vec<PartFigures>,
}

/// The figures of a part at one setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartFigures {
    /// Which.
    pub part: Part,
    /// How fast.
    pub rate: Rate,
    /// Read or written in the whole of its phase.
    pub bytes: Bytes,
    /// NAND writes for each byte of the host's, if the drive tells.
    pub write_amplification: Option<f64>,
    /// Mean power in watts, if anything tells.
    pub watts: Option<f64>,
    /// Processor time of the host for each GB (10^9 bytes), in seconds.
    pub processor_s_per_gb: Option<f64>,
    /// How many of the host's processors that kept busy, on average.
    pub processors_busy: Option<f64>,
}

impl PartFigures {
    /// As a person counts it: random I/Os in IOPS, sequential ones in MB/s.
    pub fn value(&self) -> f64 {
        if self.part.is_random() { self.rate.iops } else { self.rate.megabytes_per_second }
    }
}

impl Outcome {
    /// The figures of a part at a setting, if the run came to it.
    pub fn find(&self, setting: Setting, part: Part) -> Option<&PartFigures> {
        let of_setting = self.settings.iter().find(|figures| figures.setting == setting)?;
        of_setting.parts.iter().find(|figures| figures.part == part)
    }

    /// The share of the plain rate that a setting leaves.
    pub fn kept(&self, setting: Setting, part: Part) -> Option<f64> {
        let plain = self.find(Setting::Plain, part)?.value();
        Some(self.find(setting, part)?.value() / plain).filter(|share| share.is_finite())
    }

    /// Adds what was counted around the phases.
    pub(super) fn with_processor_time(mut self, phases: &[Phase]) -> Self {
        for SettingFigures { setting, parts } in &mut self.settings {
            for figures in parts {
                let name = figures.part.phase(*setting);
                let found = phases.iter().find(|phase| phase.name == name);
                let Some(phase) = found.filter(|phase| phase.length > Nanos::ZERO) else {
                    continue;
                };
                let time = phase.after.processor_since(&phase.before).map(Nanos::as_secs_f64);
                let gigabytes = figures.bytes.0 as f64 / 1e9;
                figures.processor_s_per_gb = time.map(|time| time / gigabytes);
                figures.processors_busy = time.map(|time| time / phase.length.as_secs_f64());
            }
        }
        self
    }

    pub(super) fn figures_of(&self, of: &SettingFigures) -> Vec<Figure> {
        let setting = of.setting.name();
        let mut figures = Vec::new();
        for part in &of.parts {
            let name = format!("{}, {setting}", part.part.name());
            figures.push(match part.part.is_random() {
                true => Figure::iops(&name, part.rate.iops),
                false => Figure::rate(&name, part.rate.megabytes_per_second),
            });
            let kept = self.kept(of.setting, part.part).filter(|_| of.setting != Setting::Plain);
            let more = [
                ("of the plain rate", kept.map(|kept| kept * 100.0), Unit::Percent, Good::AtLeast),
                (
                    "processor time per GB",
                    part.processor_s_per_gb.map(|seconds| seconds * 1e3),
                    Unit::Milliseconds,
                    Good::AtMost,
                ),
                ("write amplification", part.write_amplification, Unit::Ratio, Good::AtMost),
                ("power", part.watts, Unit::Watts, Good::AtMost),
            ];
            figures.extend(more.into_iter().filter_map(|(what, value, unit, good)| {
                Some(Figure::new(format!("{name}, {what}"), value?, unit, good).unjudged())
            }));
        }
        figures.into_iter().map(|figure| figure.of(setting)).collect()
    }
}
