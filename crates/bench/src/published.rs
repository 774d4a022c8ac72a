//! Figures that others printed, each with its source: those that models are held against
//! (`drives/published/figures.csv`), and those that no model gives (`drives/published/more.csv`).

use std::collections::BTreeMap;

use serde::Deserialize;
use writecliff::device::ProfileRecord;
use writecliff::suite::check::{Bound, Kind as Origin, PUBLISHED, Published as Row, parse};
use writecliff::suite::{Good, Unit, consistency};

use crate::error::BenchError;
use crate::gather::NewPublished;
use crate::model::{Conditions, Drive, Kind, Metric, Published, slug};

const FILE: &str = "drives/published/figures.csv";
const MORE_FILE: &str = "drives/published/more.csv";
const MORE: &str = include_str!("../../../drives/published/more.csv");

/// What stands for a test in metrics and conditions that no test of ours has.
pub const TEST: &str = "published";

/// Scenarios that are what a figure of the consistency test is: 4 KB random writes over all LBAs of a
/// full drive at a queue depth of 32, the last 600 s of 2000.
const SAME: [(&str, &str); 3] =
    [("steady-mean", "steady mean"), ("steady-floor", "steady floor"), ("steady-p1", "steady p1")];

/// A row of `more.csv`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct More {
    drive: String,
    quantity: String,
    value: f64,
    unit: String,
    better: String,
    kind: String,
    bound: String,
    condition: String,
    source: String,
}

/// All that come with this version.
///
/// # Errors
/// [`BenchError::Shipped`] with the row that is wrong.
pub(crate) fn shipped() -> Result<Vec<NewPublished>, BenchError> {
    let wrong = |file: &str, reason: String| BenchError::Shipped { file: file.to_owned(), reason };
    let rows = parse(FILE, PUBLISHED).map_err(|error| wrong(FILE, error.to_string()))?;
    let mut drives = Drives::default();
    let mut all = Vec::with_capacity(rows.len());
    for row in &rows {
        all.push(figure(row, drives.get(&row.drive).map_err(|why| wrong(FILE, why))?));
    }
    for row in csv::Reader::from_reader(MORE.as_bytes()).deserialize() {
        let row: More = row.map_err(|error| wrong(MORE_FILE, error.to_string()))?;
        let drive = drives.get(&row.drive).map_err(|why| wrong(MORE_FILE, why))?;
        all.push(row.figure(drive));
    }
    Ok(all)
}

/// The catalogue's drives, each looked up once.
#[derive(Default)]
struct Drives(BTreeMap<String, Drive>);

impl Drives {
    fn get(&mut self, name: &str) -> Result<Drive, String> {
        if let Some(drive) = self.0.get(name) {
            return Ok(drive.clone());
        }
        let profile = writecliff::sim::load(name).map_err(|error| error.to_string())?;
        let drive = Drive::of_profile(name, &profile.record());
        self.0.insert(name.to_owned(), drive.clone());
        Ok(drive)
    }
}

fn figure(row: &Row, drive: Drive) -> NewPublished {
    let (value, unit, printed) = in_common_unit(row.value, row.unit);
    let rated = row.kind == Origin::Rating;
    let bound = match row.bound {
        Bound::None => None,
        Bound::AtLeast => Some("at least"),
        Bound::AtMost => Some("at most"),
    };
    let told = [row.condition.as_str(), &printed].map(str::to_owned);
    let condition = told.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
    let details = Details {
        value,
        bound: bound.map(str::to_owned),
        rated,
        condition: condition.join("; "),
        how: row.condition.clone(),
        source: &row.source,
    };
    details.of(drive, metric(row.scenario.name, unit))
}

/// Reviews that print 2^20 bytes as megabytes are told in real ones, so that they can be compared.
fn in_common_unit(value: f64, unit: Unit) -> (f64, Unit, String) {
    match unit {
        Unit::MebibytesPerSecond => {
            let megabytes = value * f64::from(1 << 20) / 1e6;
            (megabytes, Unit::MegabytesPerSecond, format!("printed as {value} MiB/s"))
        }
        unit => (value, unit, String::new()),
    }
}

/// A quantity of ours, where the scenario is that; else one of its own.
fn metric(scenario: &str, unit: Unit) -> Metric {
    let same = SAME.iter().find(|(name, _)| *name == scenario && unit == Unit::Iops);
    if let Some(row) =
        same.and_then(|(_, ours)| consistency::FIGURES.iter().find(|figure| figure.name == *ours))
    {
        let figure = writecliff::suite::Figure {
            name: row.name.to_owned(),
            of: None,
            value: 0.0,
            unit,
            good: row.good,
            judged: row.judged,
            stage: row.stage,
        };
        return Metric::of(consistency::Plan::NAME, figure);
    }
    let good = if unit == Unit::Milliseconds { Good::AtMost } else { Good::AtLeast };
    own_metric(&scenario.replace('-', " "), unit.symbol(), good)
}

fn own_metric(name: &str, unit: &str, good: Good) -> Metric {
    Metric {
        id: format!("{TEST}.{}.{}", slug(name), slug(unit)),
        test: TEST.to_owned(),
        name: name.to_owned(),
        of: None,
        unit: unit.to_owned(),
        good,
        judged: true,
    }
}

/// What is told of a printed figure.
struct Details<'a> {
    value: f64,
    bound: Option<String>,
    rated: bool,
    /// For a person.
    condition: String,
    /// What sets it apart from others of its quantity.
    how: String,
    source: &'a str,
}

impl Details<'_> {
    fn of(self, drive: Drive, metric: Metric) -> NewPublished {
        let (source, url) = match self.source.rsplit_once(", ") {
            Some((title, url)) if url.starts_with("http") => (title, Some(url.to_owned())),
            _ => (self.source, None),
        };
        let by = match self.rated {
            true => "rated by the maker".to_owned(),
            false => format!("measured by {}", url.as_deref().map_or(source, host)),
        };
        let conditions = conditions(&by, &self.how);
        let figure = Published {
            drive: 0,
            metric: 0,
            conditions: 0,
            value: self.value,
            bound: self.bound,
            rated: self.rated,
            condition: Some(self.condition).filter(|text| !text.is_empty()),
            source: source.to_owned(),
            url,
        };
        NewPublished { drive, metric, conditions, figure }
    }
}

impl More {
    fn figure(self, drive: Drive) -> NewPublished {
        let good = if self.better == "less" { Good::AtMost } else { Good::AtLeast };
        let metric = own_metric(&self.quantity, &self.unit, good);
        let details = Details {
            value: self.value,
            bound: Some(self.bound).filter(|text| !text.is_empty()),
            rated: self.kind == "rating",
            how: self.condition.clone(),
            condition: self.condition,
            source: &self.source,
        };
        details.of(drive, metric)
    }
}

/// One reviewer's figures, got in one way, are held against each other; so are the makers' ratings.
fn conditions(by: &str, how: &str) -> Conditions {
    let mut parts = BTreeMap::from([("figures".to_owned(), by.to_owned())]);
    let mut words = by.to_owned();
    if !how.is_empty() {
        parts.insert("how".to_owned(), how.to_owned());
        words += &format!("; {how}");
    }
    Conditions::new(TEST, Kind::Published, how.is_empty(), words, parts)
}

/// Of an address: what a reviewer is known by.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    host.strip_prefix("www.").unwrap_or(host)
}

impl Drive {
    /// A drive of the catalogue, by its profile.
    pub(crate) fn of_profile(name: &str, profile: &ProfileRecord) -> Self {
        let values = &profile.values;
        let text = |section: &str, key: &str| {
            values.get(section).and_then(|section| section[key].as_str()).map(str::to_owned)
        };
        let number = |section: &str, key: &str| {
            values.get(section).and_then(|section| section[key].as_f64())
        };
        let capacity = text("identity", "capacity").and_then(|text| text.parse().ok());
        Self::in_short(crate::identity::Short {
            profile: name.to_owned(),
            model: text("identity", "model").unwrap_or_else(|| name.to_owned()),
            capacity: capacity.map_or(0, |bytes: writecliff::device::Bytes| bytes.0),
            interface: text("link", "interface"),
            nand: text("nand", "name"),
            controller: text("identity", "controller"),
            form_factor: text("identity", "form_factor"),
            released: text("identity", "released"),
            price_usd: number("identity", "price_usd"),
            price_of: text("identity", "price_of"),
            rotates: values.contains_key("mechanics"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printed_figure_is_there_with_its_source() {
        let all = shipped().unwrap();
        let rows = PUBLISHED.lines().count() - 1 + MORE.lines().count() - 1;
        assert_eq!(all.len(), rows);
        for new in &all {
            assert!(!new.figure.source.is_empty(), "{new:?}");
            assert_eq!(new.conditions.kind, Kind::Published);
            assert!(new.drive.capacity.is_some() && new.drive.maker.is_some(), "{:?}", new.drive);
        }
        let floor = all.iter().find(|new| new.metric.id == "consistency.steady-floor");
        assert!(floor.is_some(), "the floors of the documents are figures of our test");
    }

    #[test]
    fn a_printed_mebibyte_is_told_in_megabytes() {
        let (value, unit, printed) = in_common_unit(500.0, Unit::MebibytesPerSecond);
        assert_eq!((value, unit), (524.288, Unit::MegabytesPerSecond));
        assert_eq!(printed, "printed as 500 MiB/s");
    }

    #[test]
    fn ratings_and_each_reviewer_stand_by_themselves() {
        let all = shipped().unwrap();
        for one in &all {
            for other in &all {
                if one.figure.rated != other.figure.rated {
                    assert_ne!(one.conditions.id, other.conditions.id);
                }
            }
        }
        assert_eq!(host("https://www.anandtech.com/show/7594"), "anandtech.com");
    }
}
