//! Consent to lose a drive's data: as passed, or as typed at a prompt.

use std::ffi::OsStr;
use std::io::{BufRead, IsTerminal, Write};

use writecliff::{DestroyData, DriveName, Inspection};
use writecliff_device::printable_lines;

use crate::error::CliError;
use crate::output::say;

/// Consent for what `writes` to a drive; `None` where there are no data to lose, and where nobody can
/// be asked: the guard's own refusal says then what to pass.
pub(crate) fn consent(
    drive: &DriveName,
    writes: bool,
    passed: Option<&OsStr>,
) -> Result<Option<DestroyData>, CliError> {
    let inspection = if writes { drive.inspect()? } else { None };
    let Some(inspection) = inspection else {
        return Ok(None);
    };
    tell_what_was_not_seen(&inspection);
    match passed {
        Some(name) => Ok(Some(DestroyData::named(name))),
        None => ask(&inspection),
    }
}

/// Who may have the drive open and cannot be seen from here is told: there is nothing to ask.
fn tell_what_was_not_seen(inspection: &Inspection) {
    let Inspection { identity, unseen_processes: unseen @ 1.., .. } = inspection else {
        return;
    };
    let processes = if *unseen == 1 { "process" } else { "processes" };
    say(&format!(
        "note: {unseen} {processes} could not be looked into from here (of another user, or outside \
         of this container): make sure that none uses {}",
        identity.path.display()
    ));
}

/// Shows what would be destroyed and lets the user type its name.
fn ask(inspection: &Inspection) -> Result<Option<DestroyData>, CliError> {
    let interactive = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if !interactive || !inspection.refusals.is_empty() {
        return Ok(None);
    }
    let mut typed = String::new();
    let Inspection { identity, survey, consent, .. } = inspection;
    let survey = survey.map_or_else(String::new, |survey| format!(", {survey}"));
    let prompt = format!(
        "All data on {} will be destroyed:\n  {}, {}{survey}\nType {} to go on: ",
        identity.path.display(),
        identity.model.as_deref().unwrap_or("no model name"),
        identity.capacity,
        consent.name.display(),
    );
    let mut terminal = std::io::stderr();
    terminal
        .write_all(printable_lines(&prompt).as_bytes())
        .and_then(|()| std::io::stdin().lock().read_line(&mut typed))
        .map_err(|source| CliError::Prompt { source })?;
    Ok(Some(DestroyData::named(typed.trim_end_matches(['\n', '\r']))))
}
