//! What all work of many pieces is to whoever has it done, on the command line or from Python: a plan
//! that is read, a directory that is begun or gone on with, and pieces that are counted.

use std::path::Path;

use serde::de::DeserializeOwned;
use writecliff_device::Bytes;

use crate::here::{End, Watch};

/// What work comes to, roughly, before any of it is done.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Amount {
    /// Simulated drives.
    pub drives: u64,
    /// Seconds of these drives' time, all together.
    pub seconds: f64,
    /// Bytes written to all of them.
    pub written_bytes: f64,
}

/// Work of many pieces into one directory, which a kill interrupts and does not undo.
pub trait Work: Sized + Sync {
    /// What the user writes.
    type Plan: DeserializeOwned;
    /// What comes of a piece.
    type Row;
    /// Why there is no such work, or it stopped.
    type Error;

    /// What it is called, and the command that does it.
    const NAME: &'static str;
    /// What several of its pieces are called.
    const PIECES: &'static str;

    /// Reads a plan's file.
    ///
    /// # Errors
    /// If there is none, with the line that is none.
    fn read(plan: &Path) -> Result<Self::Plan, Self::Error>;

    /// A plan into the new directory `path`; nothing is written yet.
    ///
    /// # Errors
    /// If the plan makes no such work, or the directory holds anything.
    fn begin(plan: Self::Plan, path: &Path) -> Result<Self, Self::Error>;

    /// The work in the directory `path`, to go on with.
    ///
    /// # Errors
    /// If there is none, or another version of this tool began it, whose rows may not be comparable.
    fn resume(path: &Path) -> Result<Self, Self::Error>;

    /// Where its rows are.
    fn path(&self) -> &Path;

    /// How many of its pieces had their row before, and how many there are.
    fn pieces(&self) -> (usize, usize);

    /// What all of it comes to.
    fn amount(&self) -> Amount;

    /// Does what has no row yet, as many pieces at once as processors and `memory` allow (by default
    /// three quarters of what is free).
    ///
    /// # Errors
    /// What would stop every piece; what was finished before is kept.
    fn run(&self, memory: Option<Bytes>, watch: Watch<'_, Self::Row>) -> Result<End, Self::Error>;

    /// Whether a piece came to nothing.
    fn is_failed(_: &Self::Row) -> bool {
        false
    }
}
