//! The directories that results are in: of one run, or of several with a file that says what they
//! are to be.

use std::fs;
use std::path::{Path, PathBuf};

use writecliff_device::ErrorKind;
use writecliff_measure::{RunDirectory, RunDirectoryError};

use crate::runs::repeats::{Repeats, RepeatsError};
use crate::runs::review::{Review, ReviewError};

/// What a directory holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Results {
    /// One run.
    Run,
    /// Several tests of one drive.
    Review(Review),
    /// One test several times.
    Repeats(Repeats),
}

/// Why no results can be read from a directory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResultsError {
    /// Neither a run nor several that belong together.
    #[error("no run in {}; {}", path.display(), instead(below))]
    NoRun {
        /// The directory.
        path: PathBuf,
        /// Directories in it that hold results.
        below: Vec<PathBuf>,
    },
    /// A review that cannot be read.
    #[error(transparent)]
    Review(#[from] ReviewError),
    /// Repeats that cannot be read.
    #[error(transparent)]
    Repeats(#[from] RepeatsError),
    /// A run that cannot be read.
    #[error(transparent)]
    Run(#[from] RunDirectoryError),
}

/// So many directories that may have been meant are named at most.
const NAMED_MAX: usize = 3;

fn instead(below: &[PathBuf]) -> String {
    if below.is_empty() {
        return "name the directory of a run, of a review or of repeats".to_owned();
    }
    let named = below.iter().take(NAMED_MAX).map(|path| path.display().to_string());
    let named = named.collect::<Vec<_>>().join(", ");
    match below.len().saturating_sub(NAMED_MAX) {
        0 => {
            let are = if below.len() == 1 { "is" } else { "are" };
            format!("below it there {are} {named}: name what you mean")
        }
        more => format!("below it there are {named} and {more} more: name those that you mean"),
    }
}

impl ResultsError {
    /// Of a directory in which nothing was run.
    pub fn no_run(path: &Path) -> Self {
        let entries = fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
        let mut below: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        below.retain(|path| {
            RunDirectory::is_at(path) || Review::is_at(path) || Repeats::is_at(path)
        });
        below.sort();
        Self::NoRun { path: path.to_owned(), below }
    }

    /// What it asks of whoever named the directory.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NoRun { .. } => ErrorKind::Usage,
            Self::Review(error) => error.kind(),
            Self::Repeats(error) => error.kind(),
            Self::Run(error) => error.kind(),
        }
    }
}

impl Results {
    /// What is in the directory `path`; of a run no more than that it is there.
    ///
    /// # Errors
    /// [`ResultsError::NoRun`], or that the file of a review or of repeats is damaged.
    pub fn at(path: &Path) -> Result<Self, ResultsError> {
        if Repeats::is_at(path) {
            return Ok(Self::Repeats(Repeats::open(path)?));
        }
        if Review::is_at(path) {
            return Ok(Self::Review(Review::open(path)?));
        }
        match RunDirectory::is_at(path) {
            true => Ok(Self::Run),
            false => Err(ResultsError::no_run(path)),
        }
    }
}
