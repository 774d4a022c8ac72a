//! A list of jobs: the plan of a mixed load, as a small TOML file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use writecliff_device::Bytes;

use super::{Job, JobError};
use crate::random::mixed;

/// Jobs that belong together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobList {
    /// What they are, for the report.
    #[serde(default)]
    pub title: Option<String>,
    /// The jobs; `[[job]]` in a file.
    #[serde(rename = "job")]
    pub jobs: Vec<Job>,
}

impl JobList {
    /// Checks all jobs against a drive.
    ///
    /// # Errors
    /// [`JobError`] of the first that is not possible.
    pub fn check(&self, lba_size: Bytes, capacity: Bytes) -> Result<(), JobError> {
        let error = |job: &str, key, got: &str, reason: &str| JobError {
            job: job.to_owned(),
            key,
            got: got.to_owned(),
            reason: reason.to_owned(),
        };
        if self.jobs.is_empty() {
            return Err(error("", "job", "''", "a list has at least one [[job]]"));
        }
        let mut names = Vec::new();
        for job in &self.jobs {
            job.check(lba_size, capacity)?;
            names.extend(job.names());
        }
        names.sort();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            let reason = "two have this name, and the report could not tell them apart";
            return Err(error(&pair[0], "name", &pair[0], reason));
        }
        Ok(())
    }

    /// The jobs of each group, in the order in which groups run. Every copy is a job of its own,
    /// and every job has a seed of its own, its own or made of this one.
    pub fn groups(&self, seed: u64, capacity: Bytes) -> Vec<Vec<Job>> {
        let mut groups = BTreeMap::<u32, Vec<Job>>::new();
        for (index, job) in self.jobs.iter().enumerate() {
            let base = job.seed.unwrap_or_else(|| mixed(seed, index as u64));
            let copies = (0..job.copies).map(|copy| {
                let seed = if copy == 0 { base } else { mixed(base, u64::from(copy)) };
                job.copy(copy, seed, capacity)
            });
            groups.entry(job.group).or_default().extend(copies);
        }
        groups.into_values().collect()
    }

    /// Whether any job changes the drive's contents.
    pub fn writes(&self) -> bool {
        self.jobs.iter().any(Job::writes)
    }
}

impl Job {
    fn names(&self) -> impl Iterator<Item = String> {
        (0..self.copies).map(|copy| self.name_of(copy))
    }

    /// What a copy is called: a number behind the name if there are several.
    pub(crate) fn name_of(&self, copy: u32) -> String {
        match self.copies {
            1 => self.name.clone(),
            _ => format!("{} {}", self.name, copy + 1),
        }
    }
}
