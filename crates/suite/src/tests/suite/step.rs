//! A step of a suite: jobs with variables in their text, and what a drive of some size makes of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, printable};
use writecliff_workload::fio::{self, FioJobs};
use writecliff_workload::{Job, JobList};

use super::target::{Counted, Target};
use crate::method::limits::PlanError;

/// One load, and what is asked of the drive under it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// What it is called in the report; no two alike.
    pub name: String,
    /// Whether it only brings the drive into its state: it comes before all that do not, and is not
    /// judged.
    #[serde(default)]
    pub prepares: bool,
    /// Whether the whole drive is trimmed before.
    #[serde(default)]
    pub trim_before: bool,
    /// Left out on smaller drives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<Bytes>,
    /// A job file, or a plan of the test mixed, beside the suite's own file. Once it is read, where
    /// the jobs came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The jobs, as a fio job file has them: a text, or a list of its lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fio: Option<JobText>,
    /// The jobs, in words of our own.
    #[serde(default, rename = "job", skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<Job>,
    /// What `${NAME}` is in the job file.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, Variable>,
    /// What is asked of the drive.
    #[serde(default, rename = "target", skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Target>,
}

/// A job file's text, line by line: what is in a record has no line breaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Vec<String>")]
pub struct JobText(Vec<String>);

/// As people write it, or as it was kept.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a job file is a text or a list of lines")]
enum Written {
    Text(String),
    Lines(Vec<String>),
}

impl From<Written> for JobText {
    fn from(written: Written) -> Self {
        match written {
            Written::Text(text) => Self::of(&text),
            Written::Lines(lines) => Self::of(&lines.join("\n")),
        }
    }
}

impl From<JobText> for Vec<String> {
    fn from(text: JobText) -> Self {
        text.0
    }
}

impl JobText {
    /// Tabs and the like are spaces to fio as well.
    pub(crate) fn of(text: &str) -> Self {
        let line = |line: &str| printable(&line.replace(char::is_control, " "));
        Self(text.lines().map(line).collect())
    }

    fn text(&self) -> String {
        self.0.join("\n")
    }
}

/// What a variable of a job file is; some grow with the drive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "a variable is a text, a number, or one of { per_terabyte = N }, \
                 { over_terabytes = N }, { mebibytes_over = N }"
)]
pub enum Variable {
    /// Always the same.
    Number(u64),
    /// Always the same.
    Text(String),
    /// So many for each terabyte of the drive, in whole numbers and at least one.
    PerTerabyte {
        /// For one terabyte.
        per_terabyte: f64,
    },
    /// Divided by the drive's terabytes, in whole numbers and at least one.
    OverTerabytes {
        /// For one terabyte.
        over_terabytes: f64,
    },
    /// The drive's mebibytes divided by this.
    MebibytesOver {
        /// The divisor.
        mebibytes_over: u64,
    },
}

impl Variable {
    fn on(&self, Counted { capacity, terabytes }: Counted) -> String {
        let whole = |number: f64| (number as u64).max(1).to_string();
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
            Self::PerTerabyte { per_terabyte } => whole(per_terabyte * terabytes),
            Self::OverTerabytes { over_terabytes } => whole(over_terabytes / terabytes),
            Self::MebibytesOver { mebibytes_over } => {
                ((capacity.0 >> 20) / (*mebibytes_over).max(1)).to_string()
            }
        }
    }
}

impl Step {
    /// The jobs on a drive, or on one of a capacity.
    ///
    /// # Errors
    /// [`PlanError`] with the step, and what is wrong with it.
    pub fn jobs(&self, drive: impl Into<Counted>) -> Result<Vec<Job>, PlanError> {
        Ok(self.read(drive)?.list.jobs)
    }

    /// The same with what the job file says and is not followed.
    pub(crate) fn read(&self, drive: impl Into<Counted>) -> Result<FioJobs, PlanError> {
        let drive = drive.into();
        let Some(text) = &self.fio else {
            let list = JobList { title: None, jobs: self.jobs.clone() };
            return Ok(FioJobs { list, notes: Vec::new() });
        };
        let variable = |name: &str| self.variables.get(name).map(|value| value.on(drive));
        let file = self.file.as_deref().unwrap_or(&self.name);
        fio::read(file, &text.text(), &variable).map_err(|error| self.wrong(error.to_string()))
    }

    pub(crate) fn wrong(&self, reason: String) -> PlanError {
        PlanError { option: "the step", got: format!("'{}'", self.name), reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::{Target, terabytes};
    use writecliff_sim::Build;

    #[test]
    fn variables_grow_with_the_drive_as_the_published_suites_have_it() {
        let (small, large) = (Bytes(250_059_350_016), Bytes(3_840_755_982_336));
        assert_eq!((terabytes(small), terabytes(large)), (0.3, 3.8));
        assert_eq!((terabytes(Bytes(250_000_000_000)), terabytes(Bytes(1))), (0.2, 0.1));
        let up = Variable::PerTerabyte { per_terabyte: 13.0 };
        let down = Variable::OverTerabytes { over_terabytes: 11_648.0 };
        let [small, large] = [small, large].map(Counted::from);
        assert_eq!((up.on(small), up.on(large)), ("3".to_owned(), "49".to_owned()));
        assert_eq!((down.on(small), down.on(large)), ("38826".to_owned(), "3065".to_owned()));
        assert_eq!(Variable::PerTerabyte { per_terabyte: 0.0 }.on(large), "1");
        assert_eq!(
            Variable::MebibytesOver { mebibytes_over: 32 }.on(Bytes::from_gib(1).into()),
            "32"
        );
        // A scale model has its drive's rates, and so gets its loads.
        let drive = |name: &str| {
            let profile = writecliff_sim::load("samsung-840-evo-250gb").unwrap();
            let profile = match name.ends_with("@1/16") {
                true => writecliff_sim::scaled(&profile, 16).unwrap(),
                false => profile,
            };
            profile.open(name).info().clone()
        };
        let (whole, model) = (drive("sim:d"), drive("sim:d@1/16"));
        let counted = [&whole, &model].map(Counted::from);
        assert_eq!(counted.map(|of| of.terabytes), [0.3, 0.3]);
        assert_eq!(counted[1].capacity, model.capacity);
        let target = "of = 'read'\nfigure = 'iops'\nlimit = 39\nper_terabyte = true";
        let target: Target = toml::from_str(target).unwrap();
        let said = counted.map(|of| target.judged("", None, of, None).source);
        let expected = ["0.3 are counted", "0.3 of the whole drive are counted"];
        let expected = expected.map(|of| format!("the suite; 39 for each terabyte, of which {of}"));
        assert_eq!(said, expected);
    }
}
