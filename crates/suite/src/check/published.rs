//! Published figures: a row of `drives/published/figures.csv` each.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use writecliff_device::ErrorKind;

use super::TOLERANCE_PERCENT;
use super::quantity;
use super::scenario::Scenario;
use crate::Unit;

/// The figures that ship with Writecliff, as text for [`parse`].
pub const PUBLISHED: &str = include_str!("../../../../drives/published/figures.csv");

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
    /// Whether the model must meet it.
    pub kind: Kind,
    /// How far the model may be from a figure of behaviour; see [`Published::bound`].
    #[serde(rename = "bound")]
    own_bound: Bound,
    /// How the published figure was got, where that differs from the scenario.
    pub condition: String,
    /// Who published it, and where.
    pub source: String,
}

/// Whether a figure is a promise or an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The maker's rating: the model is fitted to it and must meet it within
    /// [`TOLERANCE_PERCENT`].
    Specification,
    /// Seen by a reviewer on one sample: a prediction of the model, judged by the row's own bound.
    Behaviour,
}

/// How far the model may be from a figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(into = "String")]
pub enum Bound {
    /// Any value is only shown.
    None,
    /// So many percent of the figure, up or down.
    Percent(f64),
    /// So many times the figure, or that part of it.
    Factor(f64),
    /// The figure or more.
    AtLeast,
    /// The figure or less.
    AtMost,
}

impl Published {
    /// What the model is judged by.
    pub fn bound(&self) -> Bound {
        match self.kind {
            Kind::Specification => Bound::Percent(TOLERANCE_PERCENT),
            Kind::Behaviour => self.own_bound,
        }
    }
}

impl Bound {
    /// Whether a model of `ratio` times the figure is within; `None` if nothing is bounded.
    pub fn holds(self, ratio: f64) -> Option<bool> {
        // 1.1 - 1 is a little more than 10 %.
        const ROUNDING: f64 = 1e-9;
        match self {
            Self::None => None,
            Self::Percent(percent) => Some((ratio - 1.0).abs() <= percent / 100.0 + ROUNDING),
            Self::Factor(factor) => Some((1.0 / factor..=factor).contains(&ratio)),
            Self::AtLeast => Some(ratio >= 1.0 - ROUNDING),
            Self::AtMost => Some(ratio <= 1.0 + ROUNDING),
        }
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "specification" => Ok(Self::Specification),
            "behaviour" => Ok(Self::Behaviour),
            _ => Err(format!("'{text}' is neither specification nor behaviour")),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Percent(percent) => write!(f, "{percent}%"),
            Self::Factor(factor) => write!(f, "factor {factor}"),
            Self::AtLeast => f.write_str("at least"),
            Self::AtMost => f.write_str("at most"),
        }
    }
}

impl From<Bound> for String {
    fn from(bound: Bound) -> Self {
        bound.to_string()
    }
}

impl FromStr for Bound {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str, least: f64| {
            text.trim().parse().ok().filter(|number: &f64| number.is_finite() && *number > least)
        };
        let percent = text.strip_suffix('%').and_then(|text| number(text, 0.0));
        let factor = text.strip_prefix("factor ").and_then(|text| number(text, 1.0));
        match (text, percent, factor) {
            ("", ..) => Ok(Self::None),
            ("at least", ..) => Ok(Self::AtLeast),
            ("at most", ..) => Ok(Self::AtMost),
            (_, Some(percent), _) => Ok(Self::Percent(percent)),
            (.., Some(factor)) => Ok(Self::Factor(factor)),
            _ => Err(format!("'{text}' is no bound; write 20%, factor 2, at least or at most")),
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
        let scenario: Scenario = column("scenario", &self.scenario)?;
        let (unit, quantity) =
            quantity::unit(&self.unit).map_err(|reason| format!("unit: {reason}"))?;
        let kind = column("kind", &self.kind)?;
        let own_bound = column("bound", &self.bound)?;
        let value = self.value.parse().ok().filter(|value: &f64| value.is_finite() && *value > 0.0);
        let value = value.ok_or(format!("value: '{}' is no number above 0", self.value))?;
        if quantity != scenario.entry().quantity {
            return Err(format!("unit: {} is not measured in {unit}", self.scenario));
        }
        if kind == Kind::Specification && own_bound != Bound::None {
            let within = format!("a specification is always judged by {TOLERANCE_PERCENT} %");
            return Err(format!("bound: {within}; leave it empty"));
        }
        if self.drive.is_empty() || self.source.is_empty() {
            return Err("drive and source must not be empty".to_owned());
        }
        let Self { drive, condition, source, .. } = self;
        Ok(Published { drive, scenario, value, unit, kind, own_bound, condition, source })
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
        let row = "tiny,random-read,98000,IOPS,behaviour,factor 1.5,\"a, b\",somewhere\n";
        let figure = parse("f.csv", &format!("{HEADER}{row}")).unwrap().remove(0);
        assert_eq!((figure.drive.as_str(), figure.value), ("tiny", 98000.0));
        assert_eq!((figure.scenario, figure.unit), (Scenario::RandomRead, Unit::Iops));
        assert_eq!((figure.bound(), figure.condition.as_str()), (Bound::Factor(1.5), "a, b"));
        let written = serde_json::to_value(&figure).unwrap();
        assert_eq!(
            (&written["scenario"], &written["unit"]),
            (&"random-read".into(), &"IOPS".into())
        );
        assert_eq!(written["bound"], "factor 1.5");
    }

    #[test]
    fn mistakes_are_told_with_file_and_line() {
        let good = "tiny,random-read,1,IOPS,specification,,,s\n";
        let cases = [
            ("tiny,random-red,1,IOPS,specification,,,s", "f.csv:3: scenario: 'random-red'"),
            ("tiny,random-read,x,IOPS,specification,,,s", "f.csv:3: value: 'x'"),
            ("tiny,random-read,0,IOPS,specification,,,s", "f.csv:3: value: '0'"),
            ("tiny,random-read,inf,IOPS,specification,,,s", "f.csv:3: value: 'inf'"),
            ("tiny,random-read,1,furlongs,specification,,,s", "f.csv:3: unit: 'furlongs'"),
            ("tiny,random-read,1,ms,specification,,,s", "f.csv:3: unit: random-read is not"),
            ("tiny,random-read,1,IOPS,hearsay,,,s", "f.csv:3: kind: 'hearsay'"),
            ("tiny,random-read,1,IOPS,behaviour,roughly,,s", "f.csv:3: bound: 'roughly'"),
            ("tiny,random-read,1,IOPS,behaviour,factor 0.5,,s", "f.csv:3: bound: 'factor 0.5'"),
            ("tiny,random-read,1,IOPS,specification,20%,,s", "f.csv:3: bound: a specification"),
            ("tiny,random-read,1,IOPS,specification,,,", "f.csv:3: drive and source"),
            ("tiny,random-read,1,IOPS,specification,,s", "f.csv:3: 7 columns instead of 8"),
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
        assert!(figures.len() > 40);
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
                (&other.drive, other.scenario, &other.condition)
                    == (drive, *scenario, &figure.condition)
            };
            assert_eq!(figures.iter().filter(twins).count(), 1, "{drive}: {scenario:?} twice");
        }
        assert!(!catalogue.contains(&"figures") && !catalogue.contains(&"published"));
    }
}
