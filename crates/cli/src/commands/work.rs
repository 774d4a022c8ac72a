//! Work of many pieces on the command line: begun from a plan or gone on with, and counted as it goes.

use std::path::Path;

use writecliff_device::Bytes;
use writecliff_output::check_directory;
use writecliff_sweep::{End, Work};

use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::place::Place;
use crate::progress::Counted;

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
    let interrupt = Interrupt::catch()?;
    let (before, all) = work.pieces();
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
