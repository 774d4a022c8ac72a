//! Consent to lose a drive's data: as passed, or as typed at a prompt.

use std::io::{BufRead, IsTerminal, Write};

use writecliff::{DestroyData, DriveName, Inspection, Plan};
use writecliff_device::{Purge, printable_lines};
use writecliff_uring::PurgeOffer;

use crate::error::CliError;
use crate::options::ConsentOptions;
use crate::output::say;
use crate::progress::human;

/// What will be done to the drive before anything else.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ComesFirst {
    /// Nothing but the test.
    Nothing,
    /// It is purged: in this way, or in the best that it has.
    Purge(Option<Purge>),
    /// It is reverted to its factory state.
    Revert,
}

impl ComesFirst {
    /// What comes before a test.
    pub(crate) fn of(plan: &Plan, purge: Option<Purge>) -> Self {
        if plan.purges() { Self::Purge(purge) } else { Self::Nothing }
    }
}

/// Consent for what `writes` to a drive; `None` where there are no data to lose, and where nobody can
/// be asked: the guard's own refusal says then what to pass.
pub(crate) fn consent(
    drive: &DriveName,
    writes: bool,
    passed: &ConsentOptions,
    comes_first: ComesFirst,
) -> Result<Option<DestroyData>, CliError> {
    let inspection = if writes { drive.inspect()? } else { None };
    let Some(inspection) = inspection else {
        return Ok(None);
    };
    tell_what_was_not_seen(&inspection);
    if let (ComesFirst::Purge(how), true) = (comes_first, inspection.refusals.is_empty()) {
        tell_how_it_will_be_purged(&inspection, how);
    }
    match &passed.destroy_data_on {
        Some(name) => Ok(Some(passed.named(name))),
        None => ask(&inspection, passed),
    }
}

/// Who may have the drive open and cannot be seen from here is told: there is nothing to ask.
fn tell_what_was_not_seen(inspection: &Inspection) {
    let Inspection { identity, unseen, .. } = inspection;
    if !unseen.is_empty() {
        let path = identity.path.display();
        say(&format!(
            "note: not inspected from here: {unseen}. Make sure that nothing of it uses {path}"
        ));
    }
}

/// What comes first, and cannot be undone: which purge, how long it takes, what it is worth.
fn tell_how_it_will_be_purged(inspection: &Inspection, chosen: Option<Purge>) {
    let offers = match &inspection.own_words {
        Some(Ok(facts)) => &facts.purges[..],
        _ => &[],
    };
    let usable = |offer: &&PurgeOffer| {
        offer.kind.is_the_drives_own()
            && !offer.kind.is_by_name_only()
            && offer.hindrances.is_empty()
    };
    let offer = match chosen {
        Some(how) => offers.iter().find(|o| o.kind == how && o.hindrances.is_empty()),
        None => offers.iter().find(usable),
    };
    let Some(offer) = offer else { return };
    let time = offer.time.map(|time| format!(", {} by its own word", human(time)));
    let (path, how) = (inspection.identity.path.display(), offer.kind);
    say(&format!(
        "note: {path} is purged by {how}{} ({})",
        time.unwrap_or_default(),
        how.describe()
    ));
}

/// Shows what would be destroyed and lets the user type its name.
fn ask(inspection: &Inspection, passed: &ConsentOptions) -> Result<Option<DestroyData>, CliError> {
    let interactive = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let is_refused = !inspection.refusals.is_empty()
        || inspection.is_out_of_sight() && !passed.others_not_visible;
    if !interactive || is_refused {
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
    Ok(Some(passed.named(typed.trim_end_matches(['\n', '\r']))))
}
