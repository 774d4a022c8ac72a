//! All figures of a run: the one list that gates, tables and indexes of results read.

use serde::Serialize;

use crate::list::{Outcome, RunRecord};
use crate::record::efficiency::Efficiency;
use crate::record::figure::{Figure, Good};
use crate::record::imported::ImportedFrom;
use crate::record::phase::Phase;
use crate::record::served::Served;
use crate::record::unit::Unit;

/// A record for a program that reads it: what can be counted need not be looked for.
#[derive(Debug, Serialize)]
pub struct WithFigures<'a> {
    /// As in `run.json`.
    #[serde(flatten)]
    pub record: &'a RunRecord,
    /// [`RunRecord::figures`].
    pub figures: Vec<Figure>,
    /// Its warnings in words, as every other place says them.
    pub doubts: Vec<String>,
}

impl RunRecord {
    /// The results as numbers, the most telling first, what each phase gave for a watt, and what a real
    /// drive counted of itself; none as long as there is no outcome.
    pub fn figures(&self) -> Vec<Figure> {
        let Some(outcome) = &self.outcome else { return Vec::new() };
        let mut figures = outcome.figures();
        figures.extend(self.efficiency.iter().flat_map(Efficiency::figures));
        figures.extend(counted(self));
        figures
    }

    /// Which program measured it, if it was another one.
    pub fn imported_from(&self) -> Option<&ImportedFrom> {
        self.outcome.as_ref().and_then(Outcome::imported_from)
    }

    /// How the drive was served, if other programs used it.
    pub fn served(&self) -> Option<&Served> {
        match &self.outcome {
            Some(Outcome::Mixed(outcome)) => outcome.served.as_ref(),
            _ => None,
        }
    }

    /// The record as JSON has it, and its figures beside it.
    pub fn with_figures(&self) -> WithFigures<'_> {
        let doubts = self.warnings.iter().map(ToString::to_string).collect();
        WithFigures { record: self, figures: self.figures(), doubts }
    }
}

/// What a real drive counted from the first phase to the last.
fn counted(record: &RunRecord) -> Vec<Figure> {
    let of_drive = |phase: &&Phase| phase.before.own.is_some() && phase.after.own.is_some();
    let asked: Vec<&Phase> = record.phases.iter().filter(of_drive).collect();
    let ([first, ..], Some(last)) = (&asked[..], asked.last()) else { return Vec::new() };
    let (before, after) = (&first.before, &last.after);
    let amplification = after
        .measured_write_amplification_since(before)
        .map(|times| Figure::new("drive's write amplification", times, Unit::Ratio, Good::AtMost));
    let used = before.wear_permille.zip(after.wear_permille).map(|(before, after)| {
        let percent = after.saturating_sub(before) as f64 / 10.0;
        Figure::new("drive's endurance used", percent, Unit::Percent, Good::AtMost).unjudged()
    });
    amplification.into_iter().chain(used).collect()
}
