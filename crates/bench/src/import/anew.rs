//! What an unpacked run found, computed anew from its seconds.

use std::fs;
use std::path::Path;

use writecliff::measure::{Recording, amend};

use super::Limits;
use crate::checked::{self, Checked};
use crate::gather::NewRun;
use crate::scan::runs_at;

/// What there is in an unpacked archive.
#[derive(Debug, Default)]
pub(super) struct Anew {
    pub(super) runs: Vec<Run>,
    pub(super) refused: Vec<String>,
}

/// A run that can be read.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) id: String,
    /// Where it was in the archive.
    pub(super) name: String,
    /// Whether it said other figures than its seconds give.
    pub(super) corrected: bool,
}

/// Writes every run's record anew, and removes the runs that cannot be read.
pub(super) fn of(unpacked: &Path, limits: &Limits) -> Anew {
    let mut anew = Anew::default();
    for found in runs_at(unpacked) {
        let name = found.directory.strip_prefix(unpacked).unwrap_or(&found.directory);
        let name = name.display().to_string();
        match one(&found.directory, limits) {
            Ok((id, corrected)) => anew.runs.push(Run { id, name, corrected }),
            Err(reason) => {
                // Whatever cannot be removed is refused again by every look.
                let _ = fs::remove_dir_all(&found.directory);
                anew.refused.push(format!(
                    "{name}: {}",
                    reason.replace(&*unpacked.display().to_string(), "…")
                ));
            }
        }
    }
    anew
}

fn one(directory: &Path, limits: &Limits) -> Result<(String, bool), String> {
    let (samples, latencies) = Recording::rows(directory).map_err(|error| error.to_string())?;
    if samples > limits.samples || latencies > limits.latencies {
        return Err(format!(
            "it has {samples} seconds and {latencies} latencies, more than are taken"
        ));
    }
    let Checked { record, recording, is_contradicted } = checked::read(directory)?;
    let run = NewRun::of(&record).ok_or("it tested no drive, but a machine (null:)")?;
    amend(directory, &recording.samples, &record).map_err(|error| error.to_string())?;
    Ok((run.id, is_contradicted))
}
