//! The points that a sweep makes: every combination of its grid, at every point of its sample, with every
//! seed.

use std::collections::BTreeMap;

use serde_json::Value;
use writecliff::DriveName;
use writecliff_report::thousands;

use crate::error::SweepError;
use crate::plan::{DRIVE, Setting, Sweep, impossible};
use crate::point::Point;
use crate::sample::{self, latin_hypercube};

/// More points than that are a mistake in the plan.
const POINTS_MAX: u64 = 1_000_000;

impl Sweep {
    /// How many points it makes; none is made for that.
    pub fn count(&self) -> u64 {
        let factors = self.factors().into_iter().map(|(_, count)| count);
        factors.fold(1, u64::saturating_mul)
    }

    /// What its points are all combinations of: the keys to change, and how many each has.
    fn factors(&self) -> Vec<(&str, u64)> {
        let grid = self.grid.iter().map(|(key, values)| (key.as_str(), values.len() as u64));
        let sample = self.sample.iter().map(|sample| ("sample.points", u64::from(sample.points)));
        grid.chain(sample).chain([("seeds", u64::from(self.seeds))]).collect()
    }

    /// Refuses more points than anybody waits for, before one of them takes memory.
    fn check_count(&self) -> Result<(), SweepError> {
        let count = self.count();
        if count <= POINTS_MAX {
            return Ok(());
        }
        let several: Vec<_> = self.factors().into_iter().filter(|(_, many)| *many > 1).collect();
        let product: Vec<String> = several.iter().map(|(key, n)| format!("{n} {key}")).collect();
        let most = several.iter().max_by_key(|(_, many)| *many).map_or("grid", |(key, _)| key);
        let reason = format!(
            "{} are {}{} points, and {} are the most; a [sample] covers whole ranges with few",
            product.join(" x "),
            if count == u64::MAX { "more than " } else { "" },
            thousands(count as f64),
            thousands(POINTS_MAX as f64)
        );
        Err(impossible(most, reason))
    }

    /// Every point, in the order of their numbers: the same ones on every machine.
    ///
    /// # Errors
    /// [`SweepError::Impossible`] with the key to mend.
    pub fn points(&self) -> Result<Vec<Point>, SweepError> {
        self.check()?;
        self.check_count()?;
        let grid = combinations(&self.grid);
        let samples = self.sample.as_ref().map_or_else(|| vec![Setting::new()], latin_hypercube);
        let seeds = 1..=u64::from(self.seeds);
        let settings = grid.iter().flat_map(|grid| samples.iter().map(move |own| (grid, own)));
        let all = settings.flat_map(|(grid, own)| seeds.clone().map(move |seed| (grid, own, seed)));
        let point = |(index, (grid, own, seed)): (usize, (&Setting, &Setting, u64))| {
            Point::new(self, index, grid.iter().chain(own), seed)
        };
        Ok(all.enumerate().map(point).collect())
    }

    fn check(&self) -> Result<(), SweepError> {
        let has_drives = self.grid.contains_key(DRIVE);
        if self.drive.is_empty() != has_drives {
            let reason = "name one, as drive = \"sim:NAME\", or several, as \"drive\" in [grid]";
            return Err(impossible(DRIVE, reason.to_owned()));
        }
        let own = (!has_drives).then(|| Value::from(self.drive.as_str()));
        let drives = self.grid.get(DRIVE).into_iter().flatten().chain(&own);
        let is_real = |drive: &&Value| {
            !drive.as_str().is_some_and(|name| DriveName::from(name).is_simulated())
        };
        if let Some(drive) = { drives }.find(is_real) {
            let reason = format!(
                "{drive} is no simulated drive, which are many; say sim:NAME, or \
                 array:raid5:4:sim:NAME"
            );
            return Err(impossible(DRIVE, reason));
        }
        if self.seeds == 0 {
            return Err(impossible(
                "seeds",
                "0 of them make no run; leave it out for one".to_owned(),
            ));
        }
        let varied = self.varied();
        if let Some(key) = varied.iter().find(|key| !is_key(key)) {
            let reason = "a key is 'drive', 'drive.SECTION.KEY' or 'plan.KEY'".to_owned();
            return Err(impossible(key, reason));
        }
        if let Some(key) = varied.iter().chain(self.plan.keys()).find(|key| is_seed(key)) {
            return Err(impossible(key, "say seeds = N, for runs with 1 to N".to_owned()));
        }
        if let Some((key, _)) = self.grid.iter().find(|(_, values)| values.is_empty()) {
            return Err(impossible(key, "it has no values".to_owned()));
        }
        let is_twice = |key: &&String| varied.iter().filter(|other| other == key).count() > 1;
        if let Some(key) = varied.iter().find(is_twice) {
            return Err(impossible(key, "it is in the grid and in the sample".to_owned()));
        }
        self.sample.as_ref().map_or(Ok(()), sample::check)
    }
}

fn is_key(key: &str) -> bool {
    let of_profile =
        |rest: &str| rest.split_once('.').is_some_and(|(a, b)| !a.is_empty() && !b.is_empty());
    match key.split_once('.') {
        None => key == DRIVE,
        Some((DRIVE, rest)) => of_profile(rest),
        Some(("plan", rest)) => !rest.is_empty(),
        Some(_) => false,
    }
}

/// Every point has its own.
fn is_seed(key: &str) -> bool {
    matches!(key, "plan.seed" | "seed")
}

/// Every combination, the last key's values in the innermost turn.
fn combinations(grid: &BTreeMap<String, Vec<Value>>) -> Vec<Setting> {
    grid.iter().fold(vec![Setting::new()], |settings, (key, values)| {
        let with = |setting: &Setting, value: &Value| {
            let mut more = setting.clone();
            more.push((key.clone(), value.clone()));
            more
        };
        settings
            .iter()
            .flat_map(|setting| values.iter().map(move |value| with(setting, value)))
            .collect()
    })
}
