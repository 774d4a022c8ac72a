//! Rows on disk as they come: a line of JSON for each, so that a kill costs the last one at most.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use writecliff_output::{OutputError, write_text};

/// A file of rows that is added to.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// A file that holds these rows, in place of an earlier one, whose last line a kill may have cut
    /// short.
    ///
    /// # Errors
    /// [`OutputError`]; the earlier file is kept then.
    pub fn open<R: Serialize>(path: &Path, rows: &[R]) -> Result<Self, OutputError> {
        let failed = |source| OutputError::Write { path: path.to_owned(), source };
        let lines = rows.iter().map(line).collect::<io::Result<String>>().map_err(failed)?;
        write_text(path, &lines)?;
        let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// [`OutputError::Write`].
    pub fn add<R: Serialize>(&mut self, row: &R) -> Result<(), OutputError> {
        let written = line(row).and_then(|line| self.file.write_all(line.as_bytes()));
        written.map_err(|source| OutputError::Write { path: self.path.clone(), source })
    }

    /// The rows of a file, in the order in which they came; none of a file that is not there. A last
    /// line that was cut short is left out.
    ///
    /// # Errors
    /// If it cannot be read, or holds something else.
    pub fn read<R: DeserializeOwned>(path: &Path) -> io::Result<Vec<R>> {
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            other => other?,
        };
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        Ok(whole.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
    }
}

fn line<R: Serialize>(row: &R) -> io::Result<String> {
    Ok(serde_json::to_string(row)? + "\n")
}
