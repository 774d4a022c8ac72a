//! Work of many pieces, on this machine.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::prelude::*;
use writecliff::device::Bytes;
use writecliff_sweep::{End, Work};

use crate::errors::{FailedError, Raised};
use crate::json;
use crate::watched::{Told, watched};

/// The work in a directory, or a new one there.
pub(crate) fn begun<W: Work<Error: Raised>>(plan: Option<&str>, path: &Path) -> PyResult<W> {
    let work = match plan {
        Some(plan) => W::begin(json::read(&format!("the {}", W::NAME), plan)?, path),
        None => W::resume(path),
    };
    work.map_err(|error| error.raised())
}

/// Does all of it; `memory` in bytes.
pub(crate) fn done<W: Work<Error: Raised + Send>>(
    py: Python<'_>,
    work: &W,
    memory: Option<u64>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let (before, all) = work.pieces();
    let done = AtomicUsize::new(before);
    let ended = watched(py, progress, |watch| {
        work.run(memory.map(Bytes), &|row| match row {
            Some(_) => {
                let done = 1 + done.fetch_add(1, Ordering::Relaxed);
                let step = format!("{done} of {all} {}", W::PIECES);
                watch(Some(Told { step, fraction: done as f64 / all.max(1) as f64 }))
            }
            None => watch(None),
        })
    })?;
    match ended.map_err(|error| error.raised())? {
        End::Complete => Ok(()),
        End::Interrupted => Err(FailedError::new_err(format!("the {} was broken off", W::NAME))),
    }
}
