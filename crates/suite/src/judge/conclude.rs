//! What comes of a run: its outcome, what it gave for a watt, and what is to be doubted of it.

use writecliff_device::{DeviceInfo, Nanos};
use writecliff_measure::Recording;

use crate::judge::doubts::{broken_off, doubts, prepares};
use crate::judge::odd::odd;
use crate::list::{Outcome, Plan, RunRecord};
use crate::method::estimate::lacks;
use crate::method::test::Known;
use crate::record::efficiency::Efficiency;
use crate::record::phase::Phase;
use crate::record::run_record::Status;
use crate::record::warning::{MethodWarning, Warning};

/// What a plan needs of a drive that lacks it, or whose model does.
pub(crate) fn not_modelled(plan: &Plan, drive: &DeviceInfo) -> Vec<Warning> {
    let doubt = |mechanism| Warning::Method(MethodWarning::NotModelled { mechanism });
    plan.needs().iter().copied().filter(|needed| lacks(drive, *needed)).map(doubt).collect()
}

impl RunRecord {
    /// Gives the run its status and the outcome that its recording allows, with the doubts that
    /// come from the recording.
    pub(crate) fn conclude(&mut self, recording: &Recording, status: Status) {
        self.status = status;
        let (outcome, warnings) = self.conclusion(recording);
        self.outcome = outcome;
        // The last phase of a run that was broken off did not come to its end.
        let broken_off = usize::from(self.status != Status::Complete);
        let ended = &self.phases[..self.phases.len().saturating_sub(broken_off)];
        self.efficiency = Efficiency::of_phases(ended, recording);
        self.warnings.extend(warnings);
    }

    /// Draws the conclusions from the recording, in place of those that it came with: whoever made
    /// it may have written anything there. Doubts that no recording can tell stay.
    pub(crate) fn conclude_anew(&mut self, recording: &Recording) {
        let (outcome, warnings) = self.conclusion(recording);
        self.outcome = outcome;
        self.efficiency = Efficiency::of_phases(&self.phases, recording);
        self.warnings.retain(|warning| !warnings.contains(warning));
        self.warnings.extend(warnings);
    }

    /// Takes back what was concluded from `before` and concludes from `after` instead; doubts that
    /// did not come from the recording stay.
    pub(crate) fn conclude_again(&mut self, before: &Recording, after: &Recording) {
        let (_, old) = self.conclusion(before);
        self.warnings.retain(|warning| !old.contains(warning));
        self.conclude(after, self.status.clone());
    }

    /// What the plan makes of the recording. A part of the test that was broken off has no figures where others have:
    /// they would be of less than its time. Where it is all there is, they are told, and doubted: the last value says
    /// whether it is in them.
    fn of_finished_parts(&self, recording: &Recording) -> (Option<Outcome>, Vec<Warning>, bool) {
        let known = Known { drive: &self.drive, traces: &self.traces };
        let conclude = |recording: &Recording, phases: &[Phase]| {
            self.plan.conclude(recording, &known, self.outcome.as_ref(), phases)
        };
        let tells_what_was_done = matches!(
            self.plan,
            Plan::Consistency(_)
                | Plan::SpareArea(_)
                | Plan::Mixed(_)
                | Plan::Suite(_)
                | Plan::Integrity(_)
        );
        if self.status != Status::Complete
            && !tells_what_was_done
            && let Some((last, finished)) = self.phases.split_last()
            && last.unfinished
        {
            let (outcome, warnings) = conclude(&recording.before(last.start), finished);
            if outcome.is_some() {
                return (outcome, warnings, false);
            }
        }
        let (outcome, warnings) = conclude(recording, &self.phases);
        (outcome, warnings, true)
    }

    fn conclusion(&self, recording: &Recording) -> (Option<Outcome>, Vec<Warning>) {
        let lacks = not_modelled(&self.plan, &self.drive);
        if !lacks.is_empty() {
            return (None, lacks);
        }
        let (outcome, mut warnings, has_the_last) = self.of_finished_parts(recording);
        // What a complete run lacks was not possible on this drive.
        let is_complete = self.status == Status::Complete;
        warnings.retain(|warning| {
            !is_complete || !matches!(warning, Warning::Method(MethodWarning::Ended { .. }))
        });
        if let Some(ended_in) = broken_off(self, recording) {
            let of_it = outcome.as_ref().filter(|_| has_the_last);
            self.tell_where_it_ended(&mut warnings, ended_in, of_it);
        }
        warnings.extend(outcome.iter().flat_map(odd));
        warnings.extend(doubts(self, recording));
        (outcome, warnings)
    }

    /// Says in which part a run was broken off, and for how long that had gone on; `of_it` is what is told of it.
    fn tell_where_it_ended(
        &self,
        warnings: &mut Vec<Warning>,
        (phase, lasted): (String, Nanos),
        of_it: Option<&Outcome>,
    ) {
        let is_told = |doubt: &Warning| {
            use MethodWarning::{Incomplete, NoRandomWrites};
            matches!(
                doubt.of_any_setting(),
                Warning::Method(Incomplete { .. } | NoRandomWrites { .. })
            )
        };
        if warnings.iter().any(is_told) {
            return;
        }
        let mut missing = warnings.iter_mut().filter_map(|warning| match warning {
            Warning::Method(MethodWarning::Ended { phase, lasted }) => Some((phase, lasted)),
            _ => None,
        });
        match (missing.find(|(of, _)| **of == phase || of_it.is_none()), of_it) {
            // It ended in this one, and not before the first that is missing.
            (Some((first, after)), _) => (*first, *after) = (phase, Some(lasted)),
            (None, Some(outcome)) if !prepares(&self.plan, &phase) => {
                let spare = self.plan.spare_of(&phase);
                let has_part =
                    outcome.figures().iter().any(|figure| figure.of.as_ref() == Some(&phase));
                let met_cliff = met_cliff(outcome, spare);
                let doubt = MethodWarning::BrokenOff { phase, lasted, has_part, met_cliff };
                warnings.push(Warning::Method(doubt).at_spare(spare));
            }
            (None, _) => {
                warnings
                    .push(Warning::Method(MethodWarning::Ended { phase, lasted: Some(lasted) }));
            }
        }
    }
}

/// Whether random writes, of this setting of the spare area if there are several, came to their cliff.
fn met_cliff(outcome: &Outcome, spare: Option<f64>) -> bool {
    match outcome {
        Outcome::Consistency(outcome) => outcome.cliff_s.is_some(),
        Outcome::SpareArea(outcome) => outcome
            .settings
            .iter()
            .any(|one| Some(one.spare_percent) == spare && one.outcome.cliff_s.is_some()),
        _ => false,
    }
}
