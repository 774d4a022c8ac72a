//! Everything that can keep the library from doing what was asked.

use std::path::{Path, PathBuf};

use writecliff::ErrorKind;
use writecliff::device::did_you_mean;

/// Why something was not done; [`Self::kind`] says whether to ask differently.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// Nobody says where the library is to be.
    #[error(
        "there is no place for the results library: neither WRITECLIFF_BENCH nor HOME is set; set \
         WRITECLIFF_BENCH to a directory"
    )]
    NoHome,
    /// There is to be none.
    #[error(
        "there is no results library, for WRITECLIFF_BENCH is off; name directories to look at, or \
         unset it"
    )]
    Off,
    /// The library of a user, asked for by root on his behalf.
    #[error(
        "under sudo the results library would be root's or become unwritable for you; run this \
         without sudo, or set WRITECLIFF_BENCH to the directory that you mean"
    )]
    UnderSudo,
    /// The library cannot be written.
    #[error("cannot write {} of the results library: {source}; no result is lost", path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The library's list of directories cannot be read.
    #[error("cannot read {} of the results library: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The index is damaged or cannot be used.
    #[error(
        "the index {} cannot be used: {source}; `writecliff bench rebuild` makes it anew, and no \
         result is lost", path.display()
    )]
    Index {
        /// The file.
        path: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// A directory that is not there.
    #[error("there is no directory {}", path.display())]
    NoDirectory {
        /// What was named.
        path: PathBuf,
    },
    /// A directory without any run.
    #[error("there is no run in {} or below it", path.display())]
    NoRun {
        /// What was named.
        path: PathBuf,
    },
    /// A directory whose runs are all damaged.
    #[error("there are 0 runs that can be read in {}: {why}; nothing was added", path.display())]
    Unreadable {
        /// What was named.
        path: PathBuf,
        /// What is wrong with the first.
        why: String,
    },
    /// A path that no line of a text can hold.
    #[error("the path {} cannot be kept in a list: it has a line end or is no UTF-8; rename it", path.display())]
    PathUnkept {
        /// The path.
        path: PathBuf,
    },
    /// Nothing in the library is called so.
    #[error("there is no drive and no run '{name}' in the results library{}", did_you_mean(name, known.iter().map(String::as_str)))]
    Unknown {
        /// What was asked for.
        name: String,
        /// The ids of what there is.
        known: Vec<String>,
    },
    /// Several things are called so.
    #[error("'{name}' may mean {}: name one", listed(all))]
    Ambiguous {
        /// What was asked for.
        name: String,
        /// The ids of what it may mean.
        all: Vec<String>,
    },
    /// Not in the library.
    #[error("{} is not in the results library; `writecliff bench list --runs` shows what is", path.display())]
    NotThere {
        /// What was named.
        path: PathBuf,
    },
    /// A test that there is not.
    #[error("there is no test '{name}'{}", did_you_mean(name, known.iter().map(String::as_str)))]
    UnknownTest {
        /// What was asked for.
        name: String,
        /// What the library has results of.
        known: Vec<String>,
    },
    /// Two drives with nothing that could be held against each other.
    #[error("{a} and {b} have no figure in common: {why}")]
    NothingInCommon {
        /// One.
        a: String,
        /// The other.
        b: String,
        /// What each has.
        why: String,
    },
    /// The file of the catalogue's results, or of published figures, that came with this version.
    #[error("{file}: {reason}")]
    Shipped {
        /// Which.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Results that cannot be read, or a drive that cannot be.
    #[error(transparent)]
    Writecliff(#[from] writecliff::Error),
}

/// So many are named at most.
const NAMED_MAX: usize = 6;

fn listed(all: &[String]) -> String {
    let named = all.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(NAMED_MAX) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

impl BenchError {
    /// What kind of no this is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Write { .. }
            | Self::Read { .. }
            | Self::Index { .. }
            | Self::Unreadable { .. }
            | Self::Shipped { .. } => ErrorKind::Failed,
            Self::Writecliff(error) => error.kind(),
            _ => ErrorKind::Usage,
        }
    }

    pub(crate) fn write(path: &Path) -> impl FnOnce(std::io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Write { path, source }
    }

    pub(crate) fn index(path: &Path) -> impl Fn(rusqlite::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Index { path: path.clone(), source }
    }
}
