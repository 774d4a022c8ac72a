//! Spare area: what does unused space buy?
//!
//! The consistency test again, once for each share of the LBAs that is never touched after the
//! purge. To the drive what is not touched is more spare area.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, Nanos};
use writecliff_measure::Recording;

use crate::method::estimate::{Demands, Estimate};
use crate::method::limits::{PlanError, check_list};
use crate::method::overrides::{Choice, Overrides};
use crate::method::quick::{QUICK_TORTURE, quick_span};
use crate::method::session::{RunError, Session};
use crate::method::test::{Known, Test};
use crate::record::figure::Figure;
use crate::record::warning::{MethodWarning, Warning, at_spare};
use crate::tests::consistency::{self, UntilSteady};

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// Shares of the LBAs, in percent, that are left untouched: one torture each.
    pub settings: Vec<f64>,
    /// Length of each torture, or of its first part.
    pub duration: Nanos,
    /// Whether each goes on until the drive is steady.
    #[serde(default, skip_serializing_if = "UntilSteady::is_no")]
    pub until_steady: UntilSteady,
    /// The part of the drive, from its start, that counts as all of it; `None` for the drive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Bytes>,
    /// Decides which LBAs are written, in which order, and with what data.
    pub seed: u64,
}

impl Default for Plan {
    /// The published setting, 25 %, and one on either side.
    fn default() -> Self {
        let consistency::Plan { duration, until_steady, span, seed, .. } =
            consistency::Plan::default();
        Self { settings: vec![10.0, 25.0, 40.0], duration, until_steady, span, seed }
    }
}

impl Plan {
    /// The consistency test of one setting.
    pub fn at(&self, spare_percent: f64) -> consistency::Plan {
        let Self { duration, until_steady, span, seed, .. } = *self;
        let default = consistency::Plan::default();
        consistency::Plan { duration, until_steady, spare_percent, span, seed, ..default }
    }

    fn all(&self) -> impl Iterator<Item = consistency::Plan> {
        self.settings.iter().map(|setting| self.at(*setting))
    }
}

impl Test for Plan {
    type Outcome = Outcome;

    const NAME: &'static str = "spare-area";
    const QUESTION: &'static str = "what does unused space buy?";
    const CHOICES: &'static [Choice] = &[Choice::Duration, Choice::UntilSteady, Choice::SpareList];

    fn with(self, overrides: &Overrides) -> Result<Self, PlanError> {
        let settings = match overrides.spare[..] {
            [] => self.settings,
            _ => overrides.spare.clone(),
        };
        let duration = overrides.duration.unwrap_or(self.duration);
        let until_steady = self.until_steady.overridden(overrides);
        Ok(Self { settings, duration, until_steady, ..self })
    }

    fn on(self, drive: &DeviceInfo) -> Self {
        Self { until_steady: self.until_steady.on(drive), ..self }
    }

    /// How long it took until the drive was steady is its answer, not the question.
    fn as_asked(&self) -> Self {
        Self { until_steady: UntilSteady::No, ..self.clone() }
    }

    fn quick(self) -> Self {
        // The published setting, if it is one of the plan's.
        let published = self.settings.iter().position(|setting| *setting == 25.0).unwrap_or(0);
        let settings = self.settings.get(published).copied().into_iter().collect();
        let duration = QUICK_TORTURE.min(self.duration);
        let until_steady = UntilSteady::No;
        Self { settings, duration, until_steady, span: quick_span(self.span), ..self }
    }

    fn demands(&self) -> Demands {
        consistency::Plan::default().demands()
    }

    fn estimate(&self, drive: &DeviceInfo) -> Estimate {
        self.all().map(|plan| plan.estimate(drive)).fold(Estimate::on(drive), Estimate::and)
    }

    fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
        check_list("spare", &self.settings)?;
        self.all().try_for_each(|plan| plan.check(drive))
    }

    fn spare_of(&self, series: &str) -> Option<f64> {
        let is_of = |setting: &f64| {
            [fill_phase(*setting), torture_phase(*setting)].contains(&series.to_owned())
        };
        self.settings.iter().copied().find(is_of)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        run(self, session)
    }

    fn conclude(
        &self,
        recording: &Recording,
        known: &Known<'_>,
    ) -> (Option<Outcome>, Vec<Warning>) {
        conclude(self, recording, known.drive)
    }

    fn figures(outcome: &Outcome) -> Vec<Figure> {
        outcome.settings.iter().flat_map(Setting::figures).collect()
    }

    fn figure_names(&self) -> Option<Vec<String>> {
        let at = |setting: &f64| {
            let names = consistency::FIGURES.iter().map(|figure| figure.name);
            names.map(|name| named(name, *setting)).collect::<Vec<_>>()
        };
        Some(self.settings.iter().flat_map(at).collect())
    }
}

/// What a figure is called at one setting.
fn named(figure: &str, setting: f64) -> String {
    format!("{figure} at {}", at_spare(setting))
}

/// The phase that writes every LBA in use once, at one setting.
pub fn fill_phase(setting: f64) -> String {
    format!("{}-{setting}", consistency::FILL)
}

/// The phase of random writes at one setting.
pub fn torture_phase(setting: f64) -> String {
    format!("{}-{setting}", consistency::TORTURE)
}

fn run(plan: &Plan, session: &mut Session<'_>) -> Result<(), RunError> {
    for setting in &plan.settings {
        session.purge()?;
        let (fill, torture) = (fill_phase(*setting), torture_phase(*setting));
        consistency::fill_and_torture(&plan.at(*setting), session, &fill, &torture)?;
    }
    Ok(())
}

/// The consistency of the drive at each setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// In the order of the plan; a setting that the run did not come to is left out.
    pub settings: Vec<Setting>,
}

/// The consistency of the drive with so much left untouched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// Share of the LBAs, in percent.
    pub spare_percent: f64,
    /// What came of it.
    pub outcome: consistency::Outcome,
}

impl Setting {
    /// Those of the consistency test, of this setting.
    fn figures(&self) -> Vec<Figure> {
        let figures = consistency::Plan::figures(&self.outcome).into_iter();
        let setting = self.spare_percent;
        let at = |figure: Figure| {
            let name = named(&figure.name, setting);
            Figure { name, ..figure }.of(at_spare(setting))
        };
        figures.map(at).collect()
    }
}

fn conclude(
    plan: &Plan,
    recording: &Recording,
    drive: &DeviceInfo,
) -> (Option<Outcome>, Vec<Warning>) {
    let (mut settings, mut warnings) = (Vec::new(), Vec::new());
    for setting in &plan.settings {
        let (fill, torture) = (fill_phase(*setting), torture_phase(*setting));
        let concluded =
            consistency::conclude_phases(&plan.at(*setting), recording, drive, &fill, &torture);
        let (Some(outcome), doubts) = concluded else {
            warnings.push(Warning::Method(MethodWarning::Ended {
                phase: format!("the torture at {setting} % spare"),
                lasted: None,
            }));
            break;
        };
        // With much spare area a drive need not have a cliff: that is the answer, not a doubt.
        let doubts =
            doubts.into_iter().filter(|doubt| *doubt != Warning::Method(MethodWarning::NoCliff));
        warnings.extend(doubts.map(|doubt| doubt.at_spare(Some(*setting))));
        settings.push(Setting { spare_percent: *setting, outcome });
    }
    ((!settings.is_empty()).then_some(Outcome { settings }), warnings)
}
