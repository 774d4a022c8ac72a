//! What comes of a recording.

use std::ops::Range;

use writecliff_measure::{Recording, Sample, Totals};

use super::Plan;
use super::outcome::{Outcome, PartFigures, SettingFigures};
use super::part::{Part, Setting};
use crate::record::rate::Rate;
use crate::record::warning::{MethodWarning, Warning};

/// The share of the torture, from its end, in which the drive counts as used.
const USED_SHARE: f64 = 0.3;

/// What a recording of this plan comes to.
pub(super) fn conclude(plan: &Plan, recording: &Recording) -> (Option<Outcome>, Vec<Warning>) {
    let (mut settings, mut warnings) = (Vec::new(), Vec::new());
    for setting in Setting::ALL {
        let parts: Vec<PartFigures> =
            Part::ALL.iter().filter_map(|part| figures(plan, recording, setting, *part)).collect();
        let missing = Part::ALL.iter().find(|part| parts.iter().all(|have| have.part != **part));
        warnings.extend(missing.map(|part| {
            Warning::Method(MethodWarning::Ended { phase: part.phase(setting), lasted: None })
        }));
        if !parts.is_empty() {
            settings.push(SettingFigures { setting, parts });
        }
    }
    ((!settings.is_empty()).then_some(Outcome { settings }), warnings)
}

/// The seconds of a part that its figures are of.
pub(super) fn counted(plan: &Plan, part: Part) -> Range<f64> {
    match part {
        Part::Used => (plan.torture.as_secs_f64() * (1.0 - USED_SHARE)).floor()..f64::INFINITY,
        // For as long as after the TRIM, with which it is compared.
        Part::RandomWrite => 0.0..plan.measurement.as_secs_f64(),
        _ => 0.0..f64::INFINITY,
    }
}

fn figures(
    plan: &Plan,
    recording: &Recording,
    setting: Setting,
    part: Part,
) -> Option<PartFigures> {
    let phase = part.phase(setting);
    let counts = |sample: &&Sample| counted(plan, part).contains(&f64::from(sample.second));
    let samples: Vec<&Sample> = recording.series(&phase).filter(counts).collect();
    let totals = Totals::of(samples.iter().copied());
    Some(PartFigures {
        part,
        rate: Rate::of(&totals)?,
        bytes: Totals::of(recording.series(&phase)).bytes(),
        write_amplification: totals.write_amplification(),
        watts: mean_watts(&samples),
        processor_s_per_gb: None,
        processors_busy: None,
    })
}

/// Mean power over the samples' time; `None` if one of them does not tell.
fn mean_watts(samples: &[&Sample]) -> Option<f64> {
    let energy = samples
        .iter()
        .map(|sample| Some(sample.power_microwatts? as f64 / 1e6 * sample.span_ns as f64))
        .sum::<Option<f64>>()?;
    let span: u64 = samples.iter().map(|sample| sample.span_ns).sum();
    Some(energy / span as f64)
}
