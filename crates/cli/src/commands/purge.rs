//! `writecliff purge`: a drive brought to its fresh state, or out of a purge that was broken off.

use std::ops::ControlFlow;

use clap::Args;
use serde::Serialize;
use writecliff::{DriveName, Purged, UnfinishedPurge, purge};
use writecliff_device::{Nanos, Purge, PurgeOutcome};
use writecliff_measure::Waiting;
use writecliff_suite::{PURGE, Progress};

use crate::consent::{ComesFirst, consent};
use crate::error::CliError;
use crate::interrupt::{Awaited, Interrupt};
use crate::live::{Live, Total};
use crate::options::{ConsentOptions, purge_name};
use crate::output::{Loudness, print, print_json};

#[derive(Debug, Args)]
pub(crate) struct PurgeArguments {
    /// The drive
    pub(crate) drive: DriveName,
    /// How [default: the drive's own format, if it has one; else a discard of everything]
    #[arg(long, value_name = "HOW", value_parser = purge_name)]
    pub(crate) purge: Option<Purge>,
    #[command(flatten)]
    pub(crate) consent: ConsentOptions,
    /// Print what was done as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Serialize)]
struct Told {
    finished_first: Option<&'static str>,
    #[serde(flatten)]
    outcome: PurgeOutcome,
}

/// Asks for consent, purges, and says what was done.
pub(crate) fn run(arguments: &PurgeArguments) -> Result<(), CliError> {
    let PurgeArguments { drive, purge: how, consent: passed, json } = arguments;
    let consent = consent(drive, true, passed, ComesFirst::Purge(*how))?;
    let interrupt = Interrupt::catch()?;
    let total = Total::of([(PURGE, Nanos::ZERO)], 0, false);
    let live = Live::begin(&format!("purge of {drive}"), total, &interrupt, Loudness::Usual);
    interrupt.awaits(Awaited::Discard);
    let purged = purge(drive, *how, consent.as_ref(), &mut |fraction| {
        let waiting = Waiting::default();
        live.show(PURGE, &Progress { sample: None, step: PURGE, fraction, length: None, waiting });
        if interrupt.is_raised() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    live.end();
    tell(&purged?, *json)
}

fn tell(purged: &Purged, json: bool) -> Result<(), CliError> {
    let finished_first = purged.finished.map(in_words);
    if json {
        return print_json(&Told { finished_first, outcome: purged.outcome });
    }
    let first = finished_first.map_or_else(String::new, |words| format!("{words}\n"));
    let PurgeOutcome { how, sampled, still_readable } = purged.outcome;
    let read_back = match still_readable {
        0 => format!("{sampled} places were read back: none held what it had held before"),
        some => format!(
            "WARNING: {some} of {sampled} places that were read back still hold what they held before"
        ),
    };
    print(&format!("{first}Purged by {}.\n{read_back}\n", how.describe()))
}

const fn in_words(finished: UnfinishedPurge) -> &'static str {
    match finished {
        UnfinishedPurge::Sanitizing { .. } => "A sanitize was under way and has ended.",
        UnfinishedPurge::SanitizeFailed => "A sanitize had failed; the drive takes I/O again.",
        UnfinishedPurge::OwnPassword => {
            "A secure erase had been broken off; its password is taken away."
        }
        _ => "A purge that was not over has ended.",
    }
}
