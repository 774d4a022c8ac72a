//! A run held against itself: what its record says was found, and what its recording gives.

use std::path::Path;
use std::thread;

use writecliff::RunRecord;
use writecliff::measure::{Recording, RunDirectory};
use writecliff::suite::{Figure, Status, open_anew, open_record};

/// A run that came to an end, its figures computed anew.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) record: RunRecord,
    pub(crate) recording: Recording,
    /// Whether its record said other figures than its recording gives. What an older version did not
    /// compute at all is no other figure.
    pub(crate) is_contradicted: bool,
}

/// Reads a run with its recording, and computes anew what it found.
///
/// # Errors
/// What is wrong, in a sentence: a file that is missing or damaged, a record that goes with no such
/// recording, a run that is still under way.
pub(crate) fn read(directory: &Path) -> Result<Checked, String> {
    // A record that no run wrote may ask for the impossible; that is the record's fault.
    let concluded = thread::scope(|scope| scope.spawn(|| conclude(directory)).join());
    let (record, recording, said) =
        concluded.map_err(|_| "its plan and its seconds do not belong together".to_owned())??;
    let figures = record.figures();
    let is_contradicted = said.iter().any(|figure| !figures.contains(figure));
    Ok(Checked { record, recording, is_contradicted })
}

fn conclude(directory: &Path) -> Result<(RunRecord, Recording, Vec<Figure>), String> {
    let said = open_record(directory).map_err(|error| error.to_string())?;
    if said.status == Status::Running {
        let file = RunDirectory::record_of(directory);
        return Err(format!("{} says that it is still running", file.display()));
    }
    let (record, recording) = open_anew(directory).map_err(|error| error.to_string())?;
    Ok((record, recording, said.figures()))
}
