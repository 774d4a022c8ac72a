//! Work of many pieces on the command line: begun from a plan or gone on with, and counted as it goes.

use std::path::Path;
use std::time::Duration;

use writecliff_device::Bytes;
use writecliff_output::check_directory;
use writecliff_report::thousands;
use writecliff_sweep::{Amount, End, Work};

use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::output::say;
use crate::place::Place;
use crate::progress::{Counted, human};

/// What the user asked for.
pub(crate) struct Asked<'a> {
    pub(crate) plan: Option<&'a Path>,
    pub(crate) resume: Option<&'a Path>,
    pub(crate) out: Option<&'a Path>,
    pub(crate) memory: Option<Bytes>,
}

/// Does all of it, and gives it to be told of.
pub(crate) fn done<W: Work>(asked: &Asked<'_>) -> Result<W, CliError>
where
    CliError: From<W::Error>,
{
    let work = begun::<W>(asked)?;
    let (before, all) = work.pieces();
    if before < all {
        say(&announced(&work, before, all));
    }
    let interrupt = Interrupt::catch()?;
    let counted = Counted::begin(W::PIECES, all, before);
    let watch = |row: Option<&W::Row>| {
        if let Some(row) = row {
            counted.one(W::is_failed(row));
        }
        counted.show();
        interrupt.flow()
    };
    let ended = work.run(asked.memory, &watch)?;
    drop(counted);
    match ended {
        End::Complete => Ok(work),
        End::Interrupted => {
            Err(CliError::ToBeResumed { command: W::NAME, path: work.path().to_owned() })
        }
    }
}

/// What is about to be done: how many pieces, and what those that are left take together.
fn announced<W: Work>(work: &W, before: usize, all: usize) -> String {
    let Amount { drives, seconds, written_bytes } = work.amount();
    let left = (all - before) as f64 / all as f64;
    let time = Duration::try_from_secs_f64(seconds * left).unwrap_or(Duration::MAX);
    let done = match before {
        0 => String::new(),
        before => format!(", {} of them done", thousands(before as f64)),
    };
    format!(
        "{} of {} {}{done}:\n  {} simulated drives, roughly {} of their time together\n  roughly {} \
         to be written to them",
        W::NAME,
        thousands(all as f64),
        W::PIECES,
        thousands((drives as f64 * left).round()),
        human(time),
        Bytes((written_bytes * left) as u64)
    )
}

fn begun<W: Work>(asked: &Asked<'_>) -> Result<W, CliError>
where
    CliError: From<W::Error>,
{
    match (asked.plan, asked.resume) {
        (_, Some(path)) => Ok(W::resume(path)?),
        (Some(file), None) => {
            let plan = W::read(file)?;
            let place = Place::of_plan(W::NAME, file, asked.out);
            check_directory(&place).map_err(writecliff::Error::from)?;
            Ok(W::begin(plan, &place)?)
        }
        (None, None) => unreachable!("the command line has a plan or --resume"),
    }
}
