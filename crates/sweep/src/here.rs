//! Many pieces of work on this machine: on all processors, within its memory.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use writecliff::suite::in_parallel;
use writecliff::{Budget, memory_here};
use writecliff_device::Bytes;

/// How work on many pieces ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Every piece has its row.
    Complete,
    /// Its watcher broke it off.
    Interrupted,
}

/// Is shown every row as it comes, and asked several times a second whether to go on.
pub type Watch<'a, R> = &'a (dyn Fn(Option<&R>) -> ControlFlow<()> + Sync);

/// Asked from within a piece of work whether to go on.
pub type GoOn<'a> = &'a (dyn Fn() -> ControlFlow<()> + Sync);

/// Does `work` for all `jobs`, as many at once as processors and `memory` allow (by default three
/// quarters of what is free) of which each takes `need`, and hands their rows to `keep`, one at a
/// time. Work that was broken off gives `None`.
///
/// # Errors
/// The first error of `work` or `keep`, in the jobs' order; no job begins after one.
pub fn all_here<J: Sync, R: Send, E: Send>(
    jobs: &[J],
    (memory, need): (Option<Bytes>, impl Fn(&J) -> Bytes + Sync),
    watch: Watch<'_, R>,
    work: impl Fn(&J, GoOn<'_>) -> Result<Option<R>, E> + Sync,
    keep: impl FnMut(R) -> Result<(), E> + Send,
) -> Result<End, E> {
    let budget = Budget::new(memory.unwrap_or_else(memory_here));
    let (keep, is_broken_off) = (Mutex::new(keep), AtomicBool::new(false));
    let asked = |row: Option<&R>| {
        let flow = watch(row);
        is_broken_off.fetch_or(flow.is_break(), Ordering::Relaxed);
        match is_broken_off.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => flow,
        }
    };
    in_parallel(jobs, |job| {
        // What a job needs takes a while to find out, and a million jobs may be left.
        if is_broken_off.load(Ordering::Relaxed) {
            return Ok(());
        }
        let _share = budget.take(need(job));
        if asked(None).is_break() {
            return Ok(());
        }
        let Some(row) = work(job, &|| asked(None))? else { return Ok(()) };
        let _ = asked(Some(&row));
        let mut keep = keep.lock().unwrap_or_else(PoisonError::into_inner);
        (*keep)(row)
    })?;
    Ok(if is_broken_off.into_inner() { End::Interrupted } else { End::Complete })
}
