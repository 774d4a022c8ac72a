//! What an unpacked run found, computed anew from its seconds.

use std::fs;
use std::path::Path;
use std::thread;

use writecliff::RunRecord;
use writecliff::measure::{Recording, RunDirectory, amend};
use writecliff::suite::{Status, open_anew, open_record};

use super::Limits;
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
    // A record that no run wrote may ask for the impossible; that is the record's fault.
    let concluded = thread::scope(|scope| scope.spawn(|| conclude(directory)).join());
    let (record, recording, said) =
        concluded.map_err(|_| "its plan and its seconds do not belong together".to_owned())??;
    let run = NewRun::of(&record).ok_or("it tested no drive, but a machine (null:)")?;
    amend(directory, &recording.samples, &record).map_err(|error| error.to_string())?;
    // An older version may not have computed all that this one does.
    let figures = record.figures();
    Ok((run.id, said.iter().any(|figure| !figures.contains(figure))))
}

type Concluded = (RunRecord, Recording, Vec<writecliff::suite::Figure>);

fn conclude(directory: &Path) -> Result<Concluded, String> {
    let said = open_record(directory).map_err(|error| error.to_string())?;
    if said.status == Status::Running {
        let file = RunDirectory::record_of(directory);
        return Err(format!("{} says that it is still running", file.display()));
    }
    let (record, recording) = open_anew(directory).map_err(|error| error.to_string())?;
    Ok((record, recording, said.figures()))
}
