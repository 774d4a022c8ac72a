//! Suites as files: those of FioSynth, and the job files that suites name.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use writecliff_device::{Nanos, Operation};
use writecliff_workload::JobList;
use writecliff_workload::fio::Note;

use super::plan::Plan;
use super::step::{JobText, Step, Variable};
use super::target::{Limit, Measure, Target};
use crate::method::limits::PlanError;

/// A suite of FioSynth: JSON that names job files beside it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Suite {
    #[serde(default)]
    pre: Vec<Load>,
    def: Vec<Load>,
    run_cycles: u32,
    precondition_cycles: u32,
    #[serde(default)]
    precondition_first_cycle_only: Option<String>,
    #[serde(rename = "devices_in_global")]
    _devices_in_global: String,
    scale_by_capacity: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Load {
    template: String,
    alias: String,
    values: BTreeMap<String, Value>,
    #[serde(default)]
    targets: Targets,
}

/// Numbers, which are looked at when it is known whose they are.
type ByFigure = BTreeMap<String, Value>;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Targets {
    iops: ByOperation,
    throughput: Throughput,
    latency: ByOperation,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ByOperation {
    read: ByFigure,
    write: ByFigure,
    trim: ByFigure,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Throughput {
    read: ByFigure,
    write: ByFigure,
    trim: ByFigure,
    #[serde(rename = "scale_by_TB")]
    scale_by_terabytes: Option<Scale>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Scale {
    value: bool,
}

/// Variables that FioSynth multiplies by the drive's terabytes, and those that it divides by them.
const GROWING: [&str; 2] = ["RRATE", "DEPTH"];
const SHRINKING: [&str; 5] = ["W1THINK", "W2THINK", "W3THINK", "W4THINK", "W5THINK"];

impl Plan {
    /// Reads a suite of FioSynth, called `name`. Its job files are named and not read.
    ///
    /// # Errors
    /// The JSON reader's, with the line; [`PlanError`] for a figure that no target is about.
    pub fn from_fiosynth(name: &str, json: &str) -> Result<Self, FioSynthError> {
        let suite: Suite = serde_json::from_str(json)?;
        let scales = suite.scale_by_capacity != "N";
        let mut steps = Vec::new();
        for turn in 1..=suite.precondition_cycles {
            for load in &suite.pre {
                let mut step = load.step(name, true, scales)?;
                if turn > 1 {
                    step.name = format!("{}, again {turn}", step.name);
                }
                steps.push(step);
            }
        }
        for load in &suite.def {
            steps.push(load.step(name, false, scales)?);
        }
        tell_apart(&mut steps);
        Ok(Self {
            title: Some(name.to_owned()),
            cycles: suite.run_cycles,
            prepare_once: suite.precondition_first_cycle_only.as_deref() == Some("Y"),
            duration: None,
            seed: 1,
            read_as: Vec::new(),
            steps,
        })
    }

    /// Reads the files that the steps name, and returns what they say and is followed in a way that may
    /// surprise. A job
    /// file with nothing but `[global]` is a template: it gets a job.
    ///
    /// # Errors
    /// What `read` says of a file that is not there; [`PlanError`] of one that is no job file.
    pub fn load<E: From<PlanError>>(
        &mut self,
        mut read: impl FnMut(&Step, &str) -> Result<String, E>,
    ) -> Result<Vec<Note>, E> {
        let mut notes: Vec<Note> = Vec::new();
        for step in &mut self.steps {
            if let Some(file) = &step.file
                && step.fio.is_none()
                && step.jobs.is_empty()
            {
                let text = read(step, file)?;
                if file.ends_with(".toml") {
                    let list: JobList = toml::from_str(&text)
                        .map_err(|error| step.wrong(format!("{file}: {}", error.message())))?;
                    step.jobs = list.jobs;
                } else {
                    step.fio = Some(JobText::of(&as_jobs(&text)));
                }
            }
            // Any size of drive will do to find what is wrong with the text.
            let found = step.read(writecliff_device::Bytes(1_000_000_000_000))?.notes;
            let file = step.file.as_deref().unwrap_or(&step.name);
            // Of options that change no I/O a suite has too many.
            for note in found.into_iter().filter(Note::is_of_the_load) {
                let option = format!("{file}:{}: {}", note.line, note.option);
                if notes.iter().all(|known| known.option != option) {
                    notes.push(Note { line: 1, option, text: note.text });
                }
            }
        }
        self.read_as = notes.iter().map(|note| format!("{}: {}", note.option, note.text)).collect();
        Ok(notes)
    }
}

/// The text, with a job if it has none.
fn as_jobs(text: &str) -> String {
    let sections = text.lines().map(str::trim).filter(|line| line.starts_with('['));
    let has_job = sections.into_iter().any(|line| !line.starts_with("[global]"));
    if has_job { text.to_owned() } else { format!("{text}\n[drive]\n") }
}

/// Some suites do the same several times under one name.
fn tell_apart(steps: &mut [Step]) {
    let names: Vec<String> = steps.iter().map(|step| step.name.clone()).collect();
    for (index, step) in steps.iter_mut().enumerate() {
        let before = names[..index].iter().filter(|name| **name == step.name).count();
        if before > 0 {
            step.name = format!("{} ({})", step.name, before + 1);
        }
    }
}

/// Why a suite of FioSynth is not understood.
#[derive(Debug, thiserror::Error)]
pub enum FioSynthError {
    /// It is no such JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// It asks for something that is not measured.
    #[error(transparent)]
    Target(#[from] PlanError),
}

impl Load {
    fn step(&self, suite: &str, prepares: bool, scales: bool) -> Result<Step, PlanError> {
        Ok(Step {
            name: self.alias.clone(),
            prepares,
            trim_before: prepares,
            needs: None,
            file: Some(self.template.clone()),
            fio: None,
            jobs: Vec::new(),
            variables: self.variables(scales),
            targets: if prepares { Vec::new() } else { self.targets(suite, scales)? },
        })
    }

    fn variables(&self, scales: bool) -> BTreeMap<String, Variable> {
        let text = |text: &str| Variable::Text(text.to_owned());
        let mut variables = BTreeMap::from([
            ("DEV".to_owned(), text("drive")),
            ("IOENGINE".to_owned(), text("io_uring")),
            ("JOBS".to_owned(), Variable::Number(1)),
            // FioSynth draws it; any place is as good.
            ("OFFSET1".to_owned(), Variable::Number(0)),
            ("INCREMENT".to_owned(), Variable::MebibytesOver { mebibytes_over: 32 }),
        ]);
        for (name, value) in &self.values {
            variables.insert(name.clone(), variable(name, value, scales));
        }
        variables
    }

    fn targets(&self, suite: &str, scales: bool) -> Result<Vec<Target>, PlanError> {
        let Targets { iops, throughput, latency } = &self.targets;
        let per_terabyte = scales && throughput.scale_by_terabytes.is_some_and(|scale| scale.value);
        let each = |bounds: [&ByFigure; 3]| {
            let operations = [Operation::Read, Operation::Write, Operation::Trim];
            operations.into_iter().zip(bounds.map(Clone::clone)).collect::<Vec<_>>()
        };
        let source = Some(match self.alias == suite {
            true => suite.to_owned(),
            false => format!("{suite}, {}", self.alias),
        });
        let mut targets = Vec::new();
        let mut add = |of, figure, limit, per_terabyte| {
            targets.push(Target { of, figure, limit, per_terabyte, source: source.clone() });
        };
        for (of, bounds) in each([&throughput.read, &throughput.write, &throughput.trim]) {
            if let Some(least) = at_least(&self.alias, &bounds, "MiB/s")? {
                add(of, Measure::MebibytesPerSecond, Limit::Rate(least), per_terabyte);
            }
        }
        for (of, bounds) in each([&iops.read, &iops.write, &iops.trim]) {
            if let Some(least) = at_least(&self.alias, &bounds, "I/Os a second")? {
                add(of, Measure::Iops, Limit::Rate(least), false);
            }
        }
        for (of, bounds) in each([&latency.read, &latency.write, &latency.trim]) {
            for (name, microseconds) in bounds {
                let figure = measure(&name)?;
                let microseconds = number(&self.alias, &name, &microseconds, "microseconds")?;
                add(of, figure, Limit::Time(Nanos((microseconds * 1000.0) as u64)), false);
            }
        }
        Ok(targets)
    }
}

/// `RRATE` and the like are numbers that grow with the drive; all that is none is a text.
fn variable(name: &str, value: &Value, scales: bool) -> Variable {
    let number = value.as_f64().or_else(|| value.as_str()?.parse().ok());
    match number {
        Some(per_terabyte) if name == "OFFSET2" => Variable::PerTerabyte { per_terabyte },
        Some(per_terabyte) if GROWING.contains(&name) && scales => {
            Variable::PerTerabyte { per_terabyte }
        }
        Some(over_terabytes) if SHRINKING.contains(&name) && scales => {
            Variable::OverTerabytes { over_terabytes }
        }
        // Where nothing grows these still are at least one.
        Some(number) if GROWING.contains(&name) || SHRINKING.contains(&name) => {
            Variable::Number((number as u64).max(1))
        }
        _ => Variable::Text(value.as_str().map_or_else(|| value.to_string(), str::to_owned)),
    }
}

/// The least rate that is asked for; a rate of zero asks nothing.
fn at_least(step: &str, bounds: &ByFigure, unit: &str) -> Result<Option<f64>, PlanError> {
    if let Some(other) = bounds.keys().find(|name| *name != "MIN") {
        return Err(unknown(other, "a rate is asked for as MIN"));
    }
    let least = bounds.get("MIN").map(|least| number(step, "MIN", least, unit)).transpose()?;
    Ok(least.filter(|least| *least > 0.0))
}

/// What is asked of a figure, in its unit.
fn number(step: &str, figure: &str, value: &Value, unit: &str) -> Result<f64, PlanError> {
    value.as_f64().ok_or_else(|| PlanError {
        option: "a target for",
        got: format!("{figure} = {value}"),
        reason: format!("in '{step}' it is a plain number of {unit}, such as 5000"),
    })
}

/// `P99.99`, `MAX`.
fn measure(name: &str) -> Result<Measure, PlanError> {
    let parsed = match name {
        "MAX" => Ok(Measure::Longest),
        name => name.replacen('P', "p", 1).parse(),
    };
    parsed.map_err(|_| unknown(name, "a latency is asked for as P99.99 or MAX"))
}

fn unknown(name: &str, reason: &str) -> PlanError {
    PlanError { option: "a target for", got: name.to_owned(), reason: reason.to_owned() }
}
