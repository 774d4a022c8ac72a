//! How well the model predicts what it was fitted to, had it not been.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use writecliff_sim::catalogue;
use writecliff_suite::check::{CheckProgress, Comparison, Kind, Published, Role, compare};

use super::Catalogue;
use super::value::KeyValue;
use crate::drive::profile;
use crate::error::Error;

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
    /// What one of it is as a share of the drive's capacity, if it counts blocks: relatives with other dies lend their
    /// spare area, and not how many blocks that is. Else 1.
    share: f64,
    /// The maker of the drive's controller.
    maker: String,
}

/// The key that counts blocks.
const BLOCKS: &str = "nand.blocks_per_plane";

/// A drive without what is left out, and the figures that it is compared with.
struct Case {
    drive: String,
    scenario: Option<String>,
    changes: Map<String, Value>,
    figures: Vec<Published>,
}

/// Compares the figures that drives were fitted to with drives that were not: the fitted keys have
/// the geometric mean of what other drives of the catalogue with a controller of the same maker were
/// fitted to, or of all others if there is none; of blocks their share of the capacity. A key that no other drive was fitted by stays as it
/// is, and the figure is left out.
///
/// `watch` is told of drives, or of scenarios of drives, where [`compare`] tells of treatments.
///
/// # Errors
/// If a drive is unknown, or cannot be treated.
pub fn compare_without(
    left_out: LeftOut,
    figures: &[Published],
    watch: impl Fn(CheckProgress<'_>) + Sync,
) -> Result<Vec<Comparison>, Error> {
    let keys = fitted_keys(figures)?;
    let cases = cases(left_out, figures, &keys);
    let mut compared = Vec::new();
    for (place, case) in cases.iter().enumerate() {
        let catalogue = Catalogue::with(&case.drive, case.changes.clone());
        // Relatives' values may make a drive that cannot work: too little spare area for them.
        if catalogue.profile(&case.drive).is_ok() {
            compared.extend(compare(&case.figures, &catalogue, |_| {})?);
        }
        let what = case.scenario.as_deref().unwrap_or("all that was measured");
        let (done, all) = (place + 1, cases.len());
        watch(CheckProgress { drive: &case.drive, treatment: what, done, all });
    }
    // Even a rating is, where the key that stands for it is left out.
    for comparison in &mut compared {
        comparison.role = Role::Predicted;
    }
    Ok(compared)
}

/// Those of all drives that ship, and of the figures' own.
fn fitted_keys(figures: &[Published]) -> Result<Vec<FittedKey>, Error> {
    let of_figures = figures.iter().map(|figure| figure.drive.as_str());
    let drives: BTreeSet<&str> = catalogue().into_iter().chain(of_figures).collect();
    let mut keys = Vec::new();
    for drive in drives {
        let profile = profile(drive)?;
        let (identity, values) = (profile.identity(), profile.record().values);
        let capacity = identity.capacity.0 as f64;
        let of_block =
            profile.clone().into_ssd().map(|ssd| ssd.superblock_size().0 as f64 / capacity);
        let maker = identity.controller.as_deref().and_then(|text| text.split(' ').next());
        for (key, scenario) in &identity.fitted {
            let at = key.split_once('.').and_then(|(section, key)| values.get(section)?.get(key));
            if let Some(value) = at.and_then(KeyValue::read) {
                keys.push(FittedKey {
                    drive: drive.to_owned(),
                    key: key.clone(),
                    scenario: scenario.clone(),
                    value,
                    share: of_block.filter(|_| key == BLOCKS).unwrap_or(1.0),
                    maker: maker.unwrap_or_default().to_owned(),
                });
            }
        }
    }
    Ok(keys)
}

/// A case for each drive that there are figures of, or for each scenario of each, if any of its keys
/// has relatives.
fn cases(left_out: LeftOut, figures: &[Published], keys: &[FittedKey]) -> Vec<Case> {
    let names: BTreeSet<(&str, Option<&str>)> = keys
        .iter()
        .map(|key| (&*key.drive, (left_out == LeftOut::Test).then_some(&*key.scenario)))
        .collect();
    let cases = names.into_iter().map(|(drive, scenario)| {
        let is_left_out = |key: &&FittedKey| {
            key.drive == drive && scenario.is_none_or(|scenario| key.scenario == scenario)
        };
        let relatives = |key: &FittedKey| Some((key.key.clone(), of_relatives(key, keys)?));
        let is_about = |figure: &&Published| {
            figure.drive == drive
                && scenario.map_or(figure.kind == Kind::Measured, |s| figure.scenario.name == s)
        };
        Case {
            drive: drive.to_owned(),
            scenario: scenario.map(str::to_owned),
            changes: keys.iter().filter(is_left_out).filter_map(relatives).collect(),
            figures: figures.iter().filter(is_about).cloned().collect(),
        }
    });
    cases.filter(|case| !case.changes.is_empty() && !case.figures.is_empty()).collect()
}

/// The value that a key has in other drives: the geometric mean.
fn of_relatives(left_out: &FittedKey, keys: &[FittedKey]) -> Option<Value> {
    let others = |is_relative: fn(&FittedKey, &FittedKey) -> bool| {
        let is_other = |key: &&FittedKey| {
            key.key == left_out.key && key.drive != left_out.drive && is_relative(key, left_out)
        };
        let number = |key: &FittedKey| (key.value.number().max(1.0) * key.share).ln();
        let numbers: Vec<f64> = keys.iter().filter(is_other).map(number).collect();
        (!numbers.is_empty()).then(|| (numbers.iter().sum::<f64>() / numbers.len() as f64).exp())
    };
    let mean = others(|a, b| a.maker == b.maker).or_else(|| others(|_, _| true))?;
    Some(left_out.value.with_number(mean / left_out.share).written())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relatives_lend_their_spare_area_and_not_how_many_blocks_it_is() {
        let drives = ["samsung-pm9a3-960gb", "sk-hynix-pe8110-960gb", "wd-datacenter-nvme-960gb"];
        let figure = |drive: &str| Published { drive: drive.to_owned(), ..a_figure() };
        let keys = fitted_keys(&drives.map(figure)).unwrap();
        let blocks: Vec<&FittedKey> = keys.iter().filter(|key| key.key == BLOCKS).collect();
        assert!(blocks.len() >= drives.len());
        for key in blocks {
            let raw = key.value.number() * key.share;
            assert!((1.05..1.6).contains(&raw), "{}: {raw} of the capacity", key.drive);
            let lent = of_relatives(key, &keys).unwrap();
            let lent = KeyValue::read(&lent).unwrap().number() * key.share;
            assert!((1.05..1.6).contains(&lent), "{}: {lent}", key.drive);
        }
    }

    fn a_figure() -> Published {
        writecliff_suite::check::parse("figures.csv", writecliff_suite::check::PUBLISHED)
            .unwrap()
            .remove(0)
    }
}
