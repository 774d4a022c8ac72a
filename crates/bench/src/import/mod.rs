//! Results of somebody else's. An archive is bytes from outside: it is unpacked within bounds, only
//! what runs consist of is taken, and what a run found is computed anew from its seconds.
//!
//! Left out: everything else in an archive (pages above all, which could hold scripts), single I/Os,
//! and links and devices of whatever kind.

mod anew;
mod archive;
mod limits;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tempfile::TempDir;
use writecliff::ErrorKind;

use crate::conditions::hash;
use crate::error::BenchError;
use crate::home::Home;
use crate::library::Library;
use crate::model::slug;

pub use limits::Limits;
use limits::Sink;

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// It cannot be read at all.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The archive or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Not one of the archives that are known.
    #[error("{} is no archive that can be imported; .tar, .tar.gz, .tar.zst and .zip can", path.display())]
    Format {
        /// The file.
        path: PathBuf,
    },
    /// It breaks off, or its parts are not what they say.
    #[error("{} is damaged: {reason}; nothing was imported", path.display())]
    Damaged {
        /// The archive.
        path: PathBuf,
        /// How.
        reason: String,
    },
    /// It wants to write somewhere else.
    #[error("{} holds '{name}', which leads out of it; nothing was imported", path.display())]
    Escapes {
        /// The archive.
        path: PathBuf,
        /// The entry.
        name: String,
    },
    /// More than anybody's results are.
    #[error("{} {what}; nothing was imported: unpack it yourself, look at it, and `bench add` it", path.display())]
    TooMuch {
        /// The archive.
        path: PathBuf,
        /// Which bound.
        what: String,
    },
    /// There is no run in it that can be read.
    #[error("there is no run in {} that can be imported{}", path.display(), why(refused))]
    Nothing {
        /// The archive.
        path: PathBuf,
        /// What there was, and what is wrong with it.
        refused: Vec<String>,
    },
    /// The library.
    #[error(transparent)]
    Bench(#[from] BenchError),
}

fn why(refused: &[String]) -> String {
    refused.first().map_or_else(String::new, |first| format!(": {first}"))
}

impl ImportError {
    /// What kind of no this is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Bench(error) => error.kind(),
            Self::Read { source, .. } => ErrorKind::of_path(source),
            Self::TooMuch { .. } | Self::Escapes { .. } => ErrorKind::Refused,
            Self::Format { .. } | Self::Damaged { .. } | Self::Nothing { .. } => ErrorKind::Usage,
        }
    }
}

/// What came of an import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// The copy in the library; none if all of it was there already.
    pub place: Option<PathBuf>,
    /// Runs that are new.
    pub runs: usize,
    /// Runs whose figures were not what their seconds give; they are now.
    pub corrected: Vec<String>,
    /// Runs that cannot be read, and why.
    pub refused: Vec<String>,
    /// Entries that are no part of a run and were not taken.
    pub left_out: usize,
}

/// Takes what is in an archive or a directory into a library, as a copy of its own.
///
/// # Errors
/// [`ImportError`]; the library is as before.
pub fn import(
    library: &mut Library,
    home: &Home,
    source: &Path,
    limits: &Limits,
) -> Result<Imported, ImportError> {
    home.create()?;
    let imported = home.imported();
    fs::create_dir_all(&imported).map_err(BenchError::write(&imported))?;
    // Hidden, so that no look at the library takes it for results; gone whatever happens.
    let incoming = tempfile::Builder::new().prefix(".incoming-").tempdir_in(&imported);
    let incoming = incoming.map_err(BenchError::write(&imported))?;
    let left_out = unpack(source, incoming.path(), limits)?;
    let anew = anew::of(incoming.path(), limits);
    let new: Vec<&anew::Run> =
        anew.runs.iter().filter(|run| !library.has(&run.id).unwrap_or(false)).collect();
    if anew.runs.is_empty() {
        return Err(ImportError::Nothing { path: source.to_owned(), refused: anew.refused });
    }
    let corrected = new.iter().filter(|run| run.corrected).map(|run| run.name.clone()).collect();
    let runs = new.len();
    let place = match runs {
        0 => None,
        _ => Some(settle(incoming, &imported, source, &anew.runs)?),
    };
    library.refresh()?;
    Ok(Imported { place, runs, corrected, refused: anew.refused, left_out })
}

/// Gives the unpacked runs their place in the library, named for the archive and what is in it.
fn settle(
    incoming: TempDir,
    imported: &Path,
    source: &Path,
    runs: &[anew::Run],
) -> Result<PathBuf, BenchError> {
    let stem =
        source.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let stem = slug(stem.split('.').next().unwrap_or_default());
    let ids: String = runs.iter().map(|run| run.id.as_str()).collect();
    let place = imported.join(format!(
        "{}-{}",
        if stem.is_empty() { "results" } else { &stem },
        hash(&ids)
    ));
    if place.exists() {
        fs::remove_dir_all(&place).map_err(BenchError::write(&place))?;
    }
    fs::rename(incoming.path(), &place).map_err(BenchError::write(&place))?;
    // Its own directory has gone under another name.
    let _ = incoming.keep();
    Ok(place)
}

/// Copies what runs consist of out of an archive or a directory; the number of other entries.
fn unpack(source: &Path, into: &Path, limits: &Limits) -> Result<usize, ImportError> {
    let read = |error| ImportError::Read { path: source.to_owned(), source: error };
    let about = fs::metadata(source).map_err(read)?;
    let size = if about.is_dir() { u64::MAX } else { about.len() };
    let mut sink = Sink::new(source, into, limits, size);
    match about.is_dir() {
        true => archive::from_directory(source, &mut sink)?,
        false => archive::from_file(File::open(source).map_err(read)?, &mut sink)?,
    }
    Ok(sink.left_out())
}
