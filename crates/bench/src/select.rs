//! What a user means by a name: a drive, or a run.

use std::path::Path;

use crate::BenchError;
use crate::model::{Bench, slug};

/// A drive or a run, by its place in a [`Bench`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chosen {
    /// In [`Bench::drives`].
    Drive(usize),
    /// In [`Bench::runs`].
    Run(usize),
}

impl Bench {
    /// What is called `name`: a run by its id or its directory; a drive by its id, its name in the
    /// catalogue (also as `sim:NAME`), or any part of its name that only one has.
    ///
    /// # Errors
    /// [`BenchError::Unknown`] with what is near, [`BenchError::Ambiguous`].
    pub fn find(&self, name: &str) -> Result<Chosen, BenchError> {
        if let Some(run) = self.run_of(name) {
            return Ok(Chosen::Run(run));
        }
        let name = name.strip_prefix("sim:").unwrap_or(name);
        let wanted = slug(name);
        let exact = self.drives.iter().position(|drive| {
            drive.id == wanted || drive.profile.as_deref().is_some_and(|profile| profile == wanted)
        });
        if let Some(drive) = exact {
            return Ok(Chosen::Drive(drive));
        }
        let has_all =
            |id: &str| !wanted.is_empty() && wanted.split('-').all(|part| id.contains(part));
        let found: Vec<usize> =
            (0..self.drives.len()).filter(|place| has_all(&self.drives[*place].id)).collect();
        match found[..] {
            [drive] => Ok(Chosen::Drive(drive)),
            [] => Err(BenchError::Unknown { name: name.to_owned(), known: self.names() }),
            _ => {
                let all = found.iter().map(|drive| self.drives[*drive].id.clone()).collect();
                Err(BenchError::Ambiguous { name: name.to_owned(), all })
            }
        }
    }

    fn run_of(&self, name: &str) -> Option<usize> {
        let by_id = self.runs.iter().position(|run| run.id == name);
        by_id.or_else(|| {
            let directory = Path::new(name).canonicalize().ok()?;
            let is_it = |at: &Path| at.canonicalize().is_ok_and(|at| at == directory);
            self.runs.iter().position(|run| run.private.directory.as_deref().is_some_and(is_it))
        })
    }

    fn names(&self) -> Vec<String> {
        let profiles = self.drives.iter().filter_map(|drive| drive.profile.clone());
        let ids = self.drives.iter().map(|drive| drive.id.clone());
        profiles.chain(ids).collect()
    }
}
