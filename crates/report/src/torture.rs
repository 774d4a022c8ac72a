//! The random writes of a run, by spare area, of whichever test they are a part.

use writecliff_suite::Plan;
use writecliff_suite::consistency::{Outcome, TORTURE};
use writecliff_suite::spare_area::{Setting, torture_phase};

use crate::run::Run;

/// The random writes of a run at one setting.
pub(crate) struct Torture<'a> {
    pub(crate) spare_percent: f64,
    pub(crate) phase: String,
    pub(crate) outcome: Option<&'a Outcome>,
}

/// Those of the consistency test, and of the spare-area test as far as it came.
pub(crate) fn tortures<'a>(run: &'a Run) -> Vec<Torture<'a>> {
    match (&run.record.plan, &run.record.outcome) {
        (Plan::Consistency(plan), outcome) => {
            let outcome = match outcome {
                Some(writecliff_suite::Outcome::Consistency(outcome)) => Some(outcome),
                _ => None,
            };
            let (spare_percent, phase) = (plan.spare_percent, TORTURE.to_owned());
            vec![Torture { spare_percent, phase, outcome }]
        }
        (_, Some(writecliff_suite::Outcome::SpareArea(outcome))) => {
            let torture = |one: &'a Setting| Torture {
                spare_percent: one.spare_percent,
                phase: torture_phase(one.spare_percent),
                outcome: Some(&one.outcome),
            };
            outcome.settings.iter().map(torture).collect()
        }
        _ => Vec::new(),
    }
}
