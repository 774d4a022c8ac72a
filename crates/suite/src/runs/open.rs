//! Reads runs back, whether they ended or were cut off.

use std::path::Path;

use writecliff_measure::{Liveness, Recording, RunDirectoryError, recover};

use crate::judge::doubts::broken_off;
use crate::list::RunRecord;
use crate::record::file::read_record;
use crate::record::run_record::Status;

/// Reads a run back, whether it ended or was cut off; the outcome of one that was cut off is
/// computed from what it recorded.
///
/// # Errors
/// [`RunDirectoryError`] with the file that is missing or damaged.
pub fn open(path: &Path) -> Result<(RunRecord, Recording), RunDirectoryError> {
    let alive = recover(path)? == Liveness::Alive;
    let (mut record, recording): (RunRecord, _) = (read_record(path)?, Recording::read(path)?);
    if record.status == Status::Running {
        let status = if alive { Status::Running } else { Status::CutOff };
        // Nobody was left to say how long the last phase was.
        let lasted = broken_off(&record, &recording);
        if let (Some(phase), Some((_, lasted))) = (record.phases.last_mut(), lasted) {
            phase.length = lasted;
        }
        record.conclude(&recording, status);
    }
    Ok((record, recording))
}

/// The record of a run alone, without its seconds: at once, where the run has ended.
///
/// # Errors
/// As [`open`].
pub fn open_record(path: &Path) -> Result<RunRecord, RunDirectoryError> {
    let record: RunRecord = read_record(path)?;
    match record.status {
        Status::Running => Ok(open(path)?.0),
        _ => Ok(record),
    }
}

/// Reads a run of somebody else's: its outcome is what its seconds give, whatever `run.json` says.
///
/// # Errors
/// As [`open`].
pub fn open_anew(path: &Path) -> Result<(RunRecord, Recording), RunDirectoryError> {
    let (mut record, recording) = open(path)?;
    record.conclude_anew(&recording);
    Ok((record, recording))
}
