//! Latin hypercube samples.

use serde_json::Value;
use writecliff_device::split_mix;

use crate::error::SweepError;
use crate::plan::{Sample, Setting, impossible};

/// Refuses a sample that makes no points.
pub(crate) fn check(sample: &Sample) -> Result<(), SweepError> {
    if sample.points == 0 {
        return Err(impossible("sample.points", "0 are none; leave [sample] out".to_owned()));
    }
    if sample.over.is_empty() {
        let reason =
            "there is no range; give one like \"drive.gc.free_low\" = { from = 4, to = 40 }";
        return Err(impossible("sample.over", reason.to_owned()));
    }
    let fault = sample.over.iter().find_map(|(key, range)| Some((key, range.fault()?)));
    fault.map_or(Ok(()), |(key, fault)| Err(impossible(key, fault)))
}

/// The settings of all points.
pub(crate) fn latin_hypercube(sample: &Sample) -> Vec<Setting> {
    let count = sample.points as usize;
    let mut settings = vec![Setting::new(); count];
    for (dimension, (key, range)) in sample.over.iter().enumerate() {
        let mut random = Random::new(sample.seed, dimension as u64);
        let parts = random.permutation(count);
        for (setting, part) in settings.iter_mut().zip(parts) {
            let share = (part as f64 + random.unit()) / count as f64;
            let value: Value = range.at(share);
            setting.push((key.clone(), value));
        }
    }
    settings
}

/// A stream of numbers for one dimension: another dimension more changes nothing of it.
struct Random(u64);

impl Random {
    fn new(seed: u64, dimension: u64) -> Self {
        Self(split_mix(seed ^ split_mix(dimension)))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(1);
        split_mix(self.0)
    }

    /// From 0 to below 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// By Fisher and Yates.
    fn permutation(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            order.swap(last, (self.next() % (last as u64 + 1)) as usize);
        }
        order
    }
}
