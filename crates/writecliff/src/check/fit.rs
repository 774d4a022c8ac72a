//! Keys of a profile, each fitted to one thing that was measured of the drive.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};
use writecliff_sim::Profile;
use writecliff_suite::check::{Published, compare};

use super::Catalogue;
use super::value::KeyValue;
use crate::drive::profile;
use crate::error::Error;

/// A key, what it was fitted to, and how well that went.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fit {
    /// `section.key`.
    pub key: String,
    /// The scenario that `identity.fitted` names for it.
    pub scenario: String,
    /// The value before and after.
    pub before: Value,
    /// See `before`.
    pub after: Value,
    /// What the model gives with the new value over what was published (the geometric mean of
    /// several figures).
    pub ratio: f64,
}

/// Near enough.
const EXACT: f64 = 1.01;
/// Values tried for a key before the nearest one is taken.
const TRIALS: usize = 14;
/// A value that is nothing yet is begun with, in the unit's own smallest parts.
const FIRST: f64 = 5000.0;
/// So much farther each time that the target is not between two values yet.
const STEP: f64 = 1.8;
/// Keys depend on each other: all are gone through so often.
const ROUNDS: usize = 2;

/// Fits every key that the drive's `identity.fitted` names, one after the other, each by trying
/// values of itself alone; `watch` is told of each trial.
///
/// # Errors
/// If the drive is unknown, or cannot be treated.
pub fn fit(
    name: &str,
    figures: &[Published],
    watch: impl Fn(&str, f64) + Sync,
) -> Result<Vec<Fit>, Error> {
    let original = profile(name)?;
    let fitted = original.identity().fitted.clone();
    let mut changes = Map::new();
    let mut fits = BTreeMap::new();
    for _ in 0..ROUNDS {
        for (key, scenario) in &fitted {
            let about = |f: &&Published| f.drive == name && f.scenario.name == scenario;
            let targets: Vec<Published> = figures.iter().filter(about).cloned().collect();
            let Some(before) = value_of(&original, key).filter(|_| !targets.is_empty()) else {
                continue;
            };
            let start = changes.get(key).and_then(KeyValue::read).unwrap_or(before);
            let mut search = Search::begin(start);
            for _ in 0..TRIALS {
                let Some(value) = search.next() else { break };
                changes.insert(key.clone(), value.written());
                search.saw(value, ratio(name, &targets, &changes)?);
                watch(key, value.number());
            }
            let (value, ratio) = search.best();
            changes.insert(key.clone(), value.written());
            let (key, scenario) = (key.clone(), scenario.clone());
            let fit =
                Fit { key, scenario, before: before.written(), after: value.written(), ratio };
            fits.insert(fit.key.clone(), fit);
        }
    }
    Ok(fits.into_values().collect())
}

/// A key's value, a default included.
fn value_of(profile: &Profile, key: &str) -> Option<KeyValue> {
    let (section, key) = key.split_once('.')?;
    KeyValue::read(profile.record().values.get(section)?.get(key)?)
}

/// What the changed drive gives over what was published; `None` if it cannot work.
fn ratio(
    name: &str,
    targets: &[Published],
    changes: &Map<String, Value>,
) -> Result<Option<f64>, Error> {
    let catalogue = Catalogue::with(name, changes.clone());
    if catalogue.profile(name).is_err() {
        return Ok(None);
    }
    let compared = compare(targets, &catalogue, |_| {})?;
    let logs = compared.iter().map(|one| (one.model / one.figure.value).ln());
    Ok(Some((logs.sum::<f64>() / targets.len() as f64).exp()))
}

/// The value at which a ratio that rises or falls with it is 1: first outwards by doubling, then by
/// bisection, both on a logarithmic scale.
#[derive(Debug)]
struct Search {
    seen: Vec<(KeyValue, f64)>,
    impossible: Vec<f64>,
    next: Option<KeyValue>,
}

impl Search {
    fn begin(start: KeyValue) -> Self {
        let start = if start.number() > 0.0 { start } else { start.with_number(first_of(start)) };
        Self { seen: Vec::new(), impossible: Vec::new(), next: Some(start) }
    }

    fn next(&mut self) -> Option<KeyValue> {
        self.next.take()
    }

    fn saw(&mut self, value: KeyValue, ratio: Option<f64>) {
        match ratio {
            Some(ratio) => self.seen.push((value, ratio)),
            None => self.impossible.push(value.number()),
        }
        if ratio.is_some_and(|ratio| ratio.max(1.0 / ratio) < EXACT) {
            return;
        }
        let next = self.between().or_else(|| self.outwards());
        let is_new = |next: &KeyValue| {
            let number = next.number();
            self.seen.iter().all(|(value, _)| value.number() != number)
                && !self.impossible.contains(&number)
        };
        self.next = next.filter(is_new);
    }

    /// Half way between two neighbours of which one is above the target and one below.
    fn between(&self) -> Option<KeyValue> {
        let mut sorted = self.seen.clone();
        sorted.sort_by(|(a, _), (b, _)| a.number().total_cmp(&b.number()));
        let crosses = |pair: &&[(KeyValue, f64)]| (pair[0].1 > 1.0) != (pair[1].1 > 1.0);
        let pair = sorted.windows(2).find(crosses)?;
        let (low, high) = (pair[0].0.number(), pair[1].0.number());
        Some(pair[0].0.with_number((low.max(0.5) * high).sqrt()))
    }

    /// Beyond one end of what was tried: the one that comes nearer to the target, the upper one if
    /// they are as near; the other if nothing works there.
    fn outwards(&self) -> Option<KeyValue> {
        let mut sorted = self.seen.clone();
        sorted.sort_by(|(a, _), (b, _)| a.number().total_cmp(&b.number()));
        let ((low, at_low), (high, at_high)) = (*sorted.first()?, *sorted.last()?);
        let off = |ratio: f64| ratio.ln().abs();
        let up = high.with_number(high.number() * STEP);
        let down = low.with_number(low.number() / STEP);
        let works = |value: &KeyValue| {
            let number = value.number();
            let is_as_bad = |bad: &f64| {
                let (above, below) = (*bad > high.number(), *bad < low.number());
                (above && number >= *bad) || (below && number <= *bad)
            };
            number > 0.0 && !self.impossible.iter().any(is_as_bad)
        };
        let nearer_below = off(at_low) < off(at_high) - 0.01;
        let order = if nearer_below { [down, up] } else { [up, down] };
        order.into_iter().find(works)
    }

    /// The value whose ratio is nearest to 1.
    fn best(&self) -> (KeyValue, f64) {
        let nearest = |(_, a): &&(KeyValue, f64), (_, b): &&(KeyValue, f64)| {
            a.ln().abs().total_cmp(&b.ln().abs())
        };
        self.seen.iter().min_by(nearest).copied().unwrap_or((KeyValue::Count(0), f64::NAN))
    }
}

fn first_of(value: KeyValue) -> f64 {
    if matches!(value, KeyValue::Count(_)) { 4.0 } else { FIRST }
}

#[cfg(test)]
mod tests {
    use super::*;
    use writecliff_device::Nanos;

    fn found(start: u64, ratio: impl Fn(f64) -> Option<f64>) -> (f64, usize) {
        let mut search = Search::begin(KeyValue::Time(Nanos(start)));
        let mut trials = 0;
        while let Some(value) = search.next().filter(|_| trials < TRIALS) {
            trials += 1;
            search.saw(value, ratio(value.number()));
        }
        (search.best().0.number(), trials)
    }

    #[test]
    fn the_value_is_found_whichever_way_it_lies() {
        for target in [3_000.0, 20_000.0, 150_000.0] {
            let falling = found(20_000, |value| Some(target / value));
            let rising = found(20_000, |value| Some(value / target));
            for (value, trials) in [falling, rising] {
                assert!((value / target - 1.0).abs() < 0.02, "{value} for {target}, {trials}");
            }
        }
        let (value, _) = found(0, |value| Some(5_000.0 / value));
        assert!((value / 5_000.0 - 1.0).abs() < 0.02, "{value} from nothing");
    }

    #[test]
    fn what_cannot_be_met_ends_with_the_nearest_that_works() {
        let (value, trials) = found(10_000, |value| (value < 15_000.0).then_some(value / 50_000.0));
        assert!((9_000.0..15_000.0).contains(&value) && trials <= TRIALS, "{value} {trials}");
        // The other side is tried where one does not work.
        let works_below = |value: f64| (value < 15_000.0).then_some(1_000.0 / value);
        let (value, _) = found(10_000, works_below);
        assert!((value / 1_000.0 - 1.0).abs() < 0.02, "{value}");
        let (_, trials) = found(10_000, |_| Some(2.0));
        assert!(trials <= TRIALS, "a key without effect");
    }
}
