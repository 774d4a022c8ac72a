//! What a user means by a name: a drive, or a run.

use std::path::Path;

use crate::error::BenchError;
use crate::model::{Bench, Drive, slug};

/// A drive, or runs, by their places in a [`Bench`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chosen {
    /// In [`Bench::drives`].
    Drive(usize),
    /// In [`Bench::runs`]; at least one.
    Runs(Vec<usize>),
}

impl Bench {
    /// What is called `name`: a run by its id; runs by their directory or one above them, such as a
    /// review's; a drive by its id, its name in the catalogue (also as `sim:NAME`), or any part of
    /// its name that only one has.
    ///
    /// # Errors
    /// [`BenchError::Unknown`] with what is near, [`BenchError::Ambiguous`].
    pub fn find(&self, name: &str) -> Result<Chosen, BenchError> {
        let runs = self.runs_of(name);
        if !runs.is_empty() {
            return Ok(Chosen::Runs(runs));
        }
        let name = name.strip_prefix("sim:").unwrap_or(name);
        let wanted = slug(name);
        let exact = self.drives.iter().position(|drive| {
            drive.id == wanted || drive.profile.as_deref().is_some_and(|profile| profile == wanted)
        });
        if let Some(drive) = exact {
            return Ok(Chosen::Drive(drive));
        }
        let found = match self.named_like(&wanted) {
            found if found.is_empty() => self.with_in_name(name),
            found => found,
        };
        match found[..] {
            [drive] => Ok(Chosen::Drive(drive)),
            [] => Err(self.unknown(name)),
            _ => {
                let all = found.iter().map(|drive| self.drives[*drive].id.clone()).collect();
                Err(BenchError::Ambiguous { name: name.to_owned(), all })
            }
        }
    }

    /// Whether all parts of `name` are in a drive's id or in its name in the catalogue.
    pub(crate) fn has_in_name(&self, drive: usize, name: &str) -> bool {
        let drive = &self.drives[drive];
        let wanted = slug(name.strip_prefix("sim:").unwrap_or(name));
        if says(drive, name) {
            return true;
        }
        if wanted.is_empty() {
            return false;
        }
        let has_all = |id: &str| wanted.split('-').all(|part| id.contains(part));
        has_all(&drive.id) || drive.profile.as_deref().is_some_and(has_all)
    }

    pub(crate) fn unknown(&self, name: &str) -> BenchError {
        BenchError::Unknown { name: name.to_owned(), known: self.names() }
    }

    /// Drives whose id ends so; else those that have it in one piece; else those that have its parts.
    fn named_like(&self, wanted: &str) -> Vec<usize> {
        let ends = |id: &str| id.strip_suffix(wanted).is_some_and(|rest| rest.ends_with('-'));
        let has = |id: &str| id.contains(wanted);
        let has_parts = |id: &str| wanted.split('-').all(|part| id.contains(part));
        let ways: [&dyn Fn(&str) -> bool; 3] = [&ends, &has, &has_parts];
        let of = |is_it: &dyn Fn(&str) -> bool| -> Vec<usize> {
            (0..self.drives.len()).filter(|place| is_it(&self.drives[*place].id)).collect()
        };
        let is_nothing = wanted.is_empty();
        ways.into_iter().map(of).find(|found| !found.is_empty() && !is_nothing).unwrap_or_default()
    }

    /// Drives that have this in their name, in whatever letters.
    fn with_in_name(&self, name: &str) -> Vec<usize> {
        (0..self.drives.len()).filter(|place| says(&self.drives[*place], name)).collect()
    }

    fn runs_of(&self, name: &str) -> Vec<usize> {
        let all = 0..self.runs.len();
        let by_id: Vec<usize> = all.clone().filter(|run| self.runs[*run].id == name).collect();
        let Ok(directory) = Path::new(name).canonicalize() else { return by_id };
        let is_in = |run: &usize| {
            let at = &self.runs[*run].private.directory;
            at.as_ref().is_some_and(|at| at.starts_with(&directory))
        };
        if by_id.is_empty() { all.filter(is_in).collect() } else { by_id }
    }

    fn names(&self) -> Vec<String> {
        let profiles = self.drives.iter().filter_map(|drive| drive.profile.clone());
        let ids = self.drives.iter().map(|drive| drive.id.clone());
        profiles.chain(ids).collect()
    }
}

fn says(drive: &Drive, name: &str) -> bool {
    let name = name.trim().to_lowercase();
    !name.is_empty() && drive.name.to_lowercase().contains(&name)
}
