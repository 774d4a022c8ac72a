//! Published figures: a row of `drives/published/figures.csv` each.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use writecliff_device::{ErrorKind, nearest};

use super::quantity;
use super::treatment::{Scenario, scenarios};
use crate::record::unit::Unit;

/// The figures that ship with Writecliff, as text for [`parse`].
pub const PUBLISHED: &str = include_str!("../../../../../drives/published/figures.csv");

/// What somebody published about a drive.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Published {
    /// The simulated drive's name.
    pub drive: String,
    /// The situation that the figure is about.
    pub scenario: Scenario,
    /// The figure, as it was printed.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
    /// Who says so.
    pub kind: Kind,
    /// Whether it was printed as a bound.
    pub bound: Bound,
    /// How the published figure was got, where that differs from the scenario.
    pub condition: String,
    /// Who published it, and where.
    pub source: String,
}

/// Whether a figure is a promise or an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The maker's: the model is fitted to it.
    Rating,
    /// Seen by a reviewer on one sample.
    Measured,
    /// Measured as well, and a key of the drive's profile was set to it by hand: a comment there
    /// says which. What `identity.fitted` names is [`Kind::Measured`].
    Fitted,
}

/// Whether a figure is exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// As exact as it is printed.
    None,
    /// "More than", "over".
    AtLeast,
    /// "Less than", "under".
    AtMost,
}

impl Published {
    /// By what factor a model of `value` is off, up or down: 1 if it is right, or on the right side
    /// of a bound.
    pub fn error_factor(&self, value: f64) -> f64 {
        let ratio = value / self.value;
        match self.bound {
            Bound::AtLeast if ratio >= 1.0 => 1.0,
            Bound::AtMost if ratio <= 1.0 => 1.0,
            _ => ratio.max(1.0 / ratio),
        }
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "rating" => Ok(Self::Rating),
            "measured" => Ok(Self::Measured),
            "fitted" => Ok(Self::Fitted),
            _ => Err(format!("'{text}' is neither rating, nor measured, nor fitted")),
        }
    }
}

impl FromStr for Bound {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "" => Ok(Self::None),
            "at least" => Ok(Self::AtLeast),
            "at most" => Ok(Self::AtMost),
            _ => Err(format!("'{text}' is no bound; write at least, at most or nothing")),
        }
    }
}

/// What is wrong with a file of figures.
#[derive(Debug, thiserror::Error)]
#[error("{file}:{line}: {reason}")]
pub struct FiguresError {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// What is wrong, and what would be right.
    pub reason: String,
}

impl FiguresError {
    /// Always a mistake in the file.
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

/// A row as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    drive: String,
    scenario: String,
    value: String,
    unit: String,
    kind: String,
    bound: String,
    condition: String,
    source: String,
}

/// The figures of a CSV text; `file` is what errors call it.
///
/// # Errors
/// [`FiguresError`] with the line of the first mistake.
pub fn parse(file: &str, text: &str) -> Result<Vec<Published>, FiguresError> {
    let wrong = |line, reason| FiguresError { file: file.to_owned(), line, reason };
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| wrong(1, reason(&error)))?.clone();
    let mut figures = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| {
            let line = error.position().map_or(1, csv::Position::line);
            wrong(line, reason(&error))
        })?;
        let line = record.position().map_or(1, csv::Position::line);
        let row: Row = record
            .deserialize(Some(&header))
            .map_err(|error| wrong(1, format!("the columns' names: {}", reason(&error))))?;
        figures.push(row.check().map_err(|reason| wrong(line, reason))?);
    }
    Ok(figures)
}

/// The library's own text repeats the position.
fn reason(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} columns instead of {expected_len}; put text with commas in quotes")
        }
        csv::ErrorKind::Deserialize { err, .. } => err.kind().to_string(),
        _ => error.to_string(),
    }
}

impl Row {
    /// Every column's value, or which column is wrong and why.
    fn check(self) -> Result<Published, String> {
        let scenario = Scenario::named(&self.scenario).ok_or_else(|| {
            let names = scenarios().map(|scenario| scenario.name);
            let nearest = nearest(&self.scenario, names).join(" or ");
            let meant = if nearest.is_empty() {
                String::new()
            } else {
                format!("; did you mean {nearest}?")
            };
            format!("scenario: no treatment gives '{}'{meant}", self.scenario)
        })?;
        let (unit, quantity) =
            quantity::unit(&self.unit).map_err(|reason| format!("unit: {reason}"))?;
        let kind = column("kind", &self.kind)?;
        let bound = column("bound", &self.bound)?;
        let value = self.value.parse().ok().filter(|value: &f64| value.is_finite() && *value > 0.0);
        let value = value.ok_or(format!("value: '{}' is no number above 0", self.value))?;
        if quantity != scenario.quantity() {
            return Err(format!("unit: {} is not measured in {unit}", self.scenario));
        }
        if self.drive.is_empty() || self.source.is_empty() {
            return Err("drive and source must not be empty".to_owned());
        }
        let Self { drive, condition, source, .. } = self;
        Ok(Published { drive, scenario, value, unit, kind, bound, condition, source })
    }
}

fn column<T: FromStr<Err = String>>(name: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|reason| format!("{name}: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "drive,scenario,value,unit,kind,bound,condition,source\n";

    #[test]
    fn a_row_reads_as_it_is_written() {
        let row = "tiny,random-read,98000,IOPS,measured,at least,\"a, b\",somewhere\n";
        let figure = parse("f.csv", &format!("{HEADER}{row}")).unwrap().remove(0);
        assert_eq!((figure.drive.as_str(), figure.value), ("tiny", 98000.0));
        assert_eq!((figure.scenario.name, figure.unit), ("random-read", Unit::Iops));
        assert_eq!((figure.bound, figure.condition.as_str()), (Bound::AtLeast, "a, b"));
        let written = serde_json::to_value(&figure).unwrap();
        assert_eq!(
            (&written["scenario"], &written["unit"]),
            (&"random-read".into(), &"IOPS".into())
        );
        assert_eq!(written["bound"], "at-least");
    }

    #[test]
    fn errors_are_factors_up_or_down_and_none_on_the_right_side_of_a_bound() {
        let factor = |bound: &str, model| {
            let row = format!("tiny,random-read,200,IOPS,measured,{bound},,s\n");
            parse("f.csv", &format!("{HEADER}{row}")).unwrap()[0].error_factor(model)
        };
        assert_eq!([100.0, 200.0, 400.0].map(|model| factor("", model)), [2.0, 1.0, 2.0]);
        assert_eq!([100.0, 400.0].map(|model| factor("at least", model)), [2.0, 1.0]);
        assert_eq!([100.0, 400.0].map(|model| factor("at most", model)), [1.0, 2.0]);
    }

    #[test]
    fn mistakes_are_told_with_file_and_line() {
        let good = "tiny,random-read,1,IOPS,rating,,,s\n";
        let cases = [
            (
                "tiny,random-red,1,IOPS,rating,,,s",
                "f.csv:3: scenario: no treatment gives 'random-red'; did",
            ),
            ("tiny,random-read,x,IOPS,rating,,,s", "f.csv:3: value: 'x'"),
            ("tiny,random-read,0,IOPS,rating,,,s", "f.csv:3: value: '0'"),
            ("tiny,random-read,inf,IOPS,rating,,,s", "f.csv:3: value: 'inf'"),
            ("tiny,random-read,1,furlongs,rating,,,s", "f.csv:3: unit: 'furlongs'"),
            ("tiny,random-read,1,ms,rating,,,s", "f.csv:3: unit: random-read is not"),
            ("tiny,random-read,1,IOPS,hearsay,,,s", "f.csv:3: kind: 'hearsay'"),
            ("tiny,random-read,1,IOPS,measured,roughly,,s", "f.csv:3: bound: 'roughly'"),
            ("tiny,random-read,1,IOPS,rating,,,", "f.csv:3: drive and source"),
            ("tiny,random-read,1,IOPS,rating,,s", "f.csv:3: 7 columns instead of 8"),
        ];
        for (row, expected) in cases {
            let error = parse("f.csv", &format!("{HEADER}{good}{row}\n{good}")).expect_err(row);
            assert!(error.to_string().starts_with(expected), "{row}\n gave: {error}");
        }
        let error = parse("f.csv", "drive,speed\ntiny,1\n").expect_err("columns");
        assert!(error.to_string().starts_with("f.csv:1: the columns' names:"), "{error}");
        let error = parse("f.csv", &HEADER.replace("\n", ",more\na,b,c,d,e,f,g,h,i\n"));
        assert!(error.is_err());
    }

    #[test]
    fn what_ships_is_right_and_about_drives_of_the_catalogue() {
        let catalogue = writecliff_sim::catalogue();
        let figures = parse("figures.csv", PUBLISHED).unwrap_or_else(|error| panic!("{error}"));
        assert!(figures.len() > 300);
        let mut drives: Vec<_> = figures.iter().map(|figure| figure.drive.as_str()).collect();
        drives.dedup();
        let together = drives.len();
        drives.sort_unstable();
        drives.dedup();
        assert_eq!(drives.len(), together, "each drive's rows stand together");
        for figure in &figures {
            let Published { drive, scenario, .. } = figure;
            assert!(catalogue.contains(&drive.as_str()), "{drive} is not in the catalogue");
            // A figure that nobody can look up is not published by us either.
            assert!(figure.source.contains("://"), "{drive}: {}", figure.source);
            let twins = |other: &&Published| {
                (&other.drive, other.scenario, &other.condition, &other.source)
                    == (drive, *scenario, &figure.condition, &figure.source)
            };
            assert_eq!(figures.iter().filter(twins).count(), 1, "{drive}: {scenario} twice");
        }
        assert!(!catalogue.contains(&"figures") && !catalogue.contains(&"published"));
    }

    /// What a profile says that it is fitted to is a figure of that drive, and a key of it.
    #[test]
    fn profiles_are_fitted_to_figures_that_there_are() {
        let figures = parse("figures.csv", PUBLISHED).unwrap();
        for name in writecliff_sim::catalogue() {
            let profile = writecliff_sim::load(name).unwrap();
            let values = profile.record().values;
            for (key, scenario) in &profile.identity().fitted {
                let is_about = |f: &Published| f.drive == name && f.scenario.is_named_by(scenario);
                assert!(figures.iter().any(is_about), "{name}: nothing is published of {scenario}");
                let (section, key) = key.split_once('.').unwrap();
                assert!(values[section].get(key).is_some(), "{name}: no {section}.{key}");
            }
        }
    }
}
