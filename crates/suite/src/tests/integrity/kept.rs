//! What a run keeps beside its record, so that a later one can read its blocks again: how many rounds
//! were flushed, which one was begun, and what is in doubt. The order of the plan says the rest.

use std::fs;
use std::io::{Error, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use writecliff_device::Bytes;
use writecliff_measure::{RunDirectoryError, STAMPS};
use writecliff_output::{Existing, WholeFile};

use super::ledger::InDoubt;

const VERSION: u32 = 1;

/// The state of a drive's stamped blocks, as `stamps.json` has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kept {
    version: u32,
    /// What the run calls its blocks, in hexadecimal digits.
    run: String,
    pub(crate) block: Bytes,
    pub(crate) blocks: u64,
    /// Whether the torture trims.
    pub(crate) trims: bool,
    /// Rounds that are complete and flushed.
    pub(crate) flushed: u32,
    /// The last round of which anything may have been written.
    pub(crate) begun: u32,
    /// I/Os of the last round that was begun; all that there are, unless time was up.
    pub(crate) last_ios: u64,
    /// Whether no round follows the last one that was flushed, so that it may be cut short.
    pub(crate) is_cut: bool,
    /// Writes that the drive failed before that.
    pub(crate) in_doubt: Vec<InDoubt>,
}

impl Kept {
    /// Of a run that has written nothing yet.
    pub(crate) fn new(run: u64, block: Bytes, blocks: u64, trims: bool) -> Self {
        Self {
            version: VERSION,
            run: format!("{run:016x}"),
            block,
            blocks,
            trims,
            flushed: 0,
            begun: 0,
            last_ios: 0,
            is_cut: false,
            in_doubt: Vec::new(),
        }
    }

    /// What the run calls its blocks.
    pub(crate) fn run(&self) -> u64 {
        u64::from_str_radix(&self.run, 16).unwrap_or(0)
    }

    /// How many I/Os of a round that was flushed were done.
    pub(crate) fn ios_of(&self, round: u32) -> usize {
        match self.is_cut && round == self.flushed {
            true => usize::try_from(self.last_ios).unwrap_or(usize::MAX),
            false => usize::MAX,
        }
    }

    /// Puts it on disk, in place of what was there; it is there when this returns.
    pub(crate) fn write(&self, directory: &Path) -> Result<(), RunDirectoryError> {
        let path = directory.join(STAMPS);
        let failed = |source| RunDirectoryError::Write { path: path.clone(), source };
        let mut text = serde_json::to_vec(self).map_err(|error| failed(error.into()))?;
        text.push(b'\n');
        let mut file = WholeFile::create(&path, Existing::Replaced)?;
        file.write_all(&text).map_err(failed)?;
        Ok(file.finish()?)
    }

    /// Reads what a run has kept.
    pub(crate) fn read(directory: &Path) -> Result<Self, Error> {
        let kept: Self = serde_json::from_slice(&fs::read(directory.join(STAMPS))?)?;
        let is_sound = kept.version == VERSION
            && kept.begun.wrapping_sub(kept.flushed) <= 1
            && u64::from_str_radix(&kept.run, 16).is_ok();
        if !is_sound {
            return Err(Error::other(format!("{STAMPS} is damaged, or of another version")));
        }
        Ok(kept)
    }
}
