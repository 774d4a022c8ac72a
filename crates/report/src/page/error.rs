//! Why a page could not be made.

use std::io;
use std::path::PathBuf;

use writecliff_device::ErrorKind;
use writecliff_output::OutputError;
use writecliff_suite::Label;

/// Why a page could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The page or a picture cannot be written.
    #[error("cannot write the report {}: {source}; choose another place", path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file of it cannot be written; a block device is refused.
    #[error("no report: {0}")]
    Output(#[from] OutputError),
    /// The directory holds what is no page.
    #[error(
        "{} is not empty and holds no page of Writecliff's; name a new directory, or an \
         earlier page's", path.display()
    )]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
    /// Runs that did not do the same, and nobody asked for them on one page.
    #[error(
        "these runs did not do the same:\n  - {}\ncompare runs of one plan, or allow \
         different_plans, which ranks nothing across them",
        differences.join("\n  - ")
    )]
    DifferentPlans {
        /// What differs, for each test.
        differences: Vec<String>,
    },
    /// One name for what is to be told apart.
    #[error("two of the directories are to be called {label}; give each a name of its own")]
    SameLabel {
        /// The name.
        label: Label,
    },
    /// The page's template failed, which only a bug can cause.
    #[error("cannot make the report: {0}; please report this")]
    Render(#[from] askama::Error),
}

impl ReportError {
    /// What kind of "no" it is. Where it is a refusal, nothing was written.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NotEmpty { .. } | Self::DifferentPlans { .. } | Self::SameLabel { .. } => {
                ErrorKind::Usage
            }
            Self::Output(error) => error.kind(),
            Self::Write { source, .. } => ErrorKind::of_path(source),
            _ => ErrorKind::Failed,
        }
    }
}
