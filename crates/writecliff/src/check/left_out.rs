//! How well the model predicts what it was fitted to, had it not been.

use std::collections::BTreeSet;

use serde_json::Map;
use writecliff_suite::check::{CheckProgress, Comparison, Published, compare};

use super::Catalogue;
use super::value::KeyValue;
use crate::{Error, profile};

/// What is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftOut {
    /// All that was measured of a drive: every key fitted to it takes its relatives' value.
    Drive,
    /// One scenario of a drive: the keys fitted to that do.
    Test,
}

/// A key that was fitted, in all drives in which it was.
struct FittedKey {
    drive: String,
    key: String,
    scenario: String,
    value: KeyValue,
    /// The maker of the drive's controller.
    maker: String,
}

/// Compares the figures that drives were fitted to with drives that were not: the fitted keys have
/// the geometric mean of what other drives with a controller of the same maker were fitted to, or
/// of all others if there is none. A key that no other drive was fitted by stays as it is, and the
/// figure is left out.
///
/// # Errors
/// If a drive is unknown, or cannot be treated.
pub fn compare_without(
    left_out: LeftOut,
    figures: &[Published],
    watch: impl Fn(CheckProgress<'_>) + Sync,
) -> Result<Vec<Comparison>, Error> {
    let keys = fitted_keys(figures)?;
    let mut compared = Vec::new();
    for (drive, scenario) in cases(left_out, &keys) {
        let is_left_out = |key: &&FittedKey| {
            key.drive == drive && scenario.is_none_or(|scenario| key.scenario == scenario)
        };
        let mut changes = Map::new();
        for key in keys.iter().filter(is_left_out) {
            if let Some(value) = of_relatives(key, &keys) {
                changes.insert(key.key.clone(), value.written());
            }
        }
        let is_about = |figure: &&Published| {
            let is_scenario = |name| figure.scenario.name == name;
            figure.drive == drive && scenario.map_or(is_measured(figure), is_scenario)
        };
        let about: Vec<Published> = figures.iter().filter(is_about).cloned().collect();
        let catalogue = Catalogue::with(drive, changes.clone());
        // Relatives' values may make a drive that cannot work: too little spare area for them.
        if changes.is_empty() || catalogue.profile(drive).is_err() {
            continue;
        }
        compared.extend(compare(&about, &catalogue, &watch)?);
    }
    Ok(compared)
}

fn is_measured(figure: &Published) -> bool {
    figure.kind == writecliff_suite::check::Kind::Measured
}

fn fitted_keys(figures: &[Published]) -> Result<Vec<FittedKey>, Error> {
    let mut drives: Vec<&str> = figures.iter().map(|figure| figure.drive.as_str()).collect();
    drives.dedup();
    let mut keys = Vec::new();
    for drive in drives {
        let profile = profile(drive)?;
        let (identity, values) = (profile.identity(), profile.record().values);
        let maker = identity.controller.as_deref().and_then(|text| text.split(' ').next());
        for (key, scenario) in &identity.fitted {
            let at = key.split_once('.').and_then(|(section, key)| values.get(section)?.get(key));
            if let Some(value) = at.and_then(KeyValue::read) {
                keys.push(FittedKey {
                    drive: drive.to_owned(),
                    key: key.clone(),
                    scenario: scenario.clone(),
                    value,
                    maker: maker.unwrap_or_default().to_owned(),
                });
            }
        }
    }
    Ok(keys)
}

/// Each drive, or each scenario of each drive.
fn cases(left_out: LeftOut, keys: &[FittedKey]) -> Vec<(&str, Option<&str>)> {
    let case = |key| {
        let FittedKey { drive, scenario, .. }: &FittedKey = key;
        (drive.as_str(), (left_out == LeftOut::Test).then_some(scenario.as_str()))
    };
    let cases: BTreeSet<_> = keys.iter().map(case).collect();
    cases.into_iter().collect()
}

fn of_relatives(left_out: &FittedKey, keys: &[FittedKey]) -> Option<KeyValue> {
    let others = |is_relative: fn(&FittedKey, &FittedKey) -> bool| {
        let is_other = |key: &&FittedKey| {
            key.key == left_out.key && key.drive != left_out.drive && is_relative(key, left_out)
        };
        let numbers = keys.iter().filter(is_other).map(|key| key.value.number().max(1.0).ln());
        let numbers: Vec<f64> = numbers.collect();
        (!numbers.is_empty()).then(|| (numbers.iter().sum::<f64>() / numbers.len() as f64).exp())
    };
    let mean = others(|a, b| a.maker == b.maker).or_else(|| others(|_, _| true))?;
    Some(left_out.value.with_number(mean))
}
