//! The files of runs, reviews and repeats: written whole, and read with distrust if their schema is
//! one that this version knows.

use std::fs;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use writecliff_measure::{Liveness, RunDirectory, RunDirectoryError, recover};
use writecliff_output::write_text;

use crate::record::printable::printable_record;
use crate::record::run_record::{Record, SCHEMA_VERSION, Status};

/// Makes the directory of several runs, with `plan` in its file `name`.
///
/// # Errors
/// [`RunDirectoryError::NotEmpty`], [`RunDirectoryError::Create`].
pub(crate) fn create(
    path: &Path,
    name: &str,
    plan: &impl Serialize,
) -> Result<(), RunDirectoryError> {
    let create = |source| RunDirectoryError::Create { path: path.to_owned(), source };
    fs::create_dir_all(path).map_err(create)?;
    RunDirectory::check_place(path)?;
    let text = serde_json::to_string_pretty(plan).map_err(|error| create(error.into()))?;
    Ok(write_text(&path.join(name), &(text + "\n"))?)
}

/// Reads a file, if this version knows its schema; `clean` sees its values first.
///
/// # Errors
/// [`RunDirectoryError::Read`].
pub(crate) fn read<T: DeserializeOwned>(
    file: &Path,
    clean: fn(Value) -> Value,
) -> Result<T, RunDirectoryError> {
    let read = |source| RunDirectoryError::Read { path: file.to_owned(), source };
    let text = fs::read(file).map_err(read)?;
    let value: Value = serde_json::from_slice(&text).map_err(|error| read(error.into()))?;
    check_version(&value).map_err(read)?;
    serde_json::from_value(clean(value)).map_err(|error| read(error.into()))
}

/// `run.json` as it stands.
pub(crate) fn read_record<P: DeserializeOwned, O: DeserializeOwned>(
    path: &Path,
) -> Result<Record<P, O>, RunDirectoryError> {
    read(&RunDirectory::record_of(path), printable_record)
}

/// The same with the state that a run is in that did not say how it ended; what comes of one that was
/// cut off is not concluded.
pub(crate) fn recover_record<P: DeserializeOwned, O: DeserializeOwned>(
    path: &Path,
) -> Result<Record<P, O>, RunDirectoryError> {
    let record = read_record(path)?;
    if record.status != Status::Running || recover(path)? == Liveness::Alive {
        return Ok(record);
    }
    Ok(Record { status: Status::CutOff, ..record })
}

/// Version 1 had the same values; `phase` was its name for the series of a sample or an I/O.
fn check_version(record: &serde_json::Value) -> std::io::Result<()> {
    let version = &record["schema_version"];
    let is_known = version.as_u64().is_some_and(|v| (1..=u64::from(SCHEMA_VERSION)).contains(&v));
    if !is_known {
        let message = format!(
            "schema_version is {version}, and this version of writecliff reads 1 to \
             {SCHEMA_VERSION}; use the version that wrote it"
        );
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, message));
    }
    Ok(())
}
