//! All figures of a run: the one list that gates, tables and indexes of results read.

use serde::Serialize;

use crate::list::{Outcome, RunRecord};
use crate::record::efficiency::Efficiency;
use crate::record::figure::{Figure, Good, Stage};
use crate::record::imported::ImportedFrom;
use crate::record::phase::Phase;
use crate::record::served::Served;
use crate::record::unit::Unit;
use crate::record::warning::Warning;

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

    /// Whether what the drive gave at this stage in this part of the test is in doubt, by [`Figure::stage`] and
    /// [`Figure::of`]; `None` is a figure of all parts. Where the part is a phase, doubts that name others, or begin
    /// later, are not about it.
    pub fn is_in_doubt(&self, stage: Stage, part: Option<&str>) -> bool {
        let phase = part.filter(|part| self.phases.iter().any(|phase| phase.name == *part));
        let is_of_others = |doubt: &Warning| {
            phase.is_some_and(|phase| doubt.names_others(phase) || self.is_before(phase, doubt))
        };
        self.warnings.iter().any(|doubt| doubt.is_about(stage, part) && !is_of_others(doubt))
    }

    /// Whether a phase was over before what a doubt is about began.
    pub fn is_before(&self, phase: &str, doubt: &Warning) -> bool {
        let place = |name: &str| self.phases.iter().position(|phase| phase.name == name);
        doubt.from_phase().and_then(place).zip(place(phase)).is_some_and(|(from, at)| at < from)
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
