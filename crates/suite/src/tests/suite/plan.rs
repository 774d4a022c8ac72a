//! What is asked: steps, and their turns on a drive of some size.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, DeviceInfo, Nanos};

use super::step::Step;
use super::target::Target;
use crate::method::limits::PlanError;
use crate::method::test::Test;
use crate::tests::mixed::{self, Prepare};

/// The suite that is run without a file.
const OCP: &str = include_str!("ocp.toml");

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// What the suite is, for the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// How often the steps that are judged are gone through.
    #[serde(default = "once")]
    pub cycles: u32,
    /// Whether the drive is prepared before the first cycle only.
    #[serde(default)]
    pub prepare_once: bool,
    /// No step lasts longer; one that is cut short is not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Nanos>,
    /// Decides everything that is random.
    #[serde(default = "first_seed")]
    pub seed: u64,
    /// What its job files say and is done in a way that may surprise: option and how.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_as: Vec<String>,
    /// The steps.
    #[serde(rename = "step")]
    pub steps: Vec<Step>,
}

fn once() -> u32 {
    1
}

fn first_seed() -> u64 {
    1
}

impl Default for Plan {
    /// The suite that ships.
    fn default() -> Self {
        toml::from_str(OCP).expect("the suite that ships is one")
    }
}

/// A step in its turn.
pub(super) struct Turn<'a> {
    pub(super) name: String,
    pub(super) step: &'a Step,
    pub(super) number: u64,
}

/// The first whole second behind the longest ramp of a step's jobs.
pub(super) fn from_second(jobs: &mixed::Plan) -> u32 {
    let longest = jobs.jobs.iter().map(|job| job.ramp).max().unwrap_or_default();
    longest.0.div_ceil(1_000_000_000) as u32
}

impl Plan {
    /// All that is done, one after the other, on a drive of this capacity.
    pub(super) fn turns(&self, capacity: Bytes) -> Vec<Turn<'_>> {
        let fits = |step: &&Step| step.needs.is_none_or(|needs| needs <= capacity);
        let of = |prepares| self.steps.iter().filter(move |step| step.prepares == prepares);
        let mut turns = Vec::new();
        for cycle in 1..=self.cycles {
            let prepares = cycle == 1 || !self.prepare_once;
            let steps = of(true).filter(|_| prepares).chain(of(false));
            for step in steps.filter(fits) {
                let name = match cycle {
                    1 => step.name.clone(),
                    _ => format!("{}, cycle {cycle}", step.name),
                };
                turns.push(Turn { name, step, number: turns.len() as u64 });
            }
        }
        turns
    }

    /// I/Os in flight at most, of all jobs of a step together.
    pub(crate) fn in_flight(&self, drive: &DeviceInfo) -> usize {
        let turns = self.turns(drive.capacity).into_iter();
        let jobs = turns.filter_map(|turn| self.mixed(&turn, drive).ok());
        jobs.map(|jobs| jobs.in_flight()).max().unwrap_or(0)
    }

    /// The series of the steps that are judged, and the second of each that its figures begin with, behind the ramps of
    /// its step.
    pub(crate) fn told_from(&self, drive: &DeviceInfo) -> BTreeMap<String, u32> {
        let mut told = BTreeMap::new();
        for turn in self.turns(drive.capacity).iter().filter(|turn| !turn.step.prepares) {
            let Ok(jobs) = self.mixed(turn, drive) else { continue };
            let from = from_second(&jobs);
            told.extend(jobs.series_together(&turn.name).into_iter().map(|name| (name, from)));
        }
        told
    }

    /// The turn as a plan of jobs.
    pub(super) fn mixed(
        &self,
        turn: &Turn<'_>,
        drive: &DeviceInfo,
    ) -> Result<mixed::Plan, PlanError> {
        let mut jobs = turn.step.jobs(drive)?;
        if self.duration.is_some() {
            // A ramp alone is longer than what is left.
            jobs.iter_mut()
                .for_each(|job| (job.ramp, job.start_delay) = (Nanos::ZERO, Nanos::ZERO));
        }
        Ok(mixed::Plan {
            title: None,
            prepare: Prepare::Nothing,
            duration: self.duration,
            span: None,
            seed: self.seed.wrapping_add(turn.number << 32),
            read_as: Vec::new(),
            jobs,
        })
    }

    pub(super) fn check_step(&self, turn: &Turn<'_>, drive: &DeviceInfo) -> Result<(), PlanError> {
        let step = turn.step;
        let plan = self.mixed(turn, drive)?;
        if plan.jobs.is_empty() {
            let file = step.file.as_deref();
            return Err(step.wrong(match file {
                Some(file) => format!("{file} was not read; run the suite from its own file"),
                None => "it has no jobs; give it file, fio or [[step.job]]".to_owned(),
            }));
        }
        if plan.jobs.iter().any(|job| job.group != plan.jobs[0].group) {
            let reason = "its jobs are in several groups (stonewall); make a step of each";
            return Err(step.wrong(reason.to_owned()));
        }
        let in_step = |error: PlanError| step.wrong(error.to_string());
        plan.check(drive).map_err(in_step)?;
        let copies = plan.groups(drive.capacity).concat();
        let check = |target: &Target| {
            target.check()?;
            target.check_asked(mixed::asked_of(&copies, target.of), drive.into())
        };
        step.targets.iter().try_for_each(check).map_err(in_step)
    }
}
