//! Several runs on one drive: on all processors, within memory, on models of it, else one after the other.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use writecliff_suite::in_parallel;

use crate::drive::DriveName;
use crate::error::Error;
use crate::memory::{Budget, memory_here, memory_of};
use crate::progress::{Event, Watch};

/// How a review, or repeats, ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewEnd {
    /// All runs are there.
    Complete,
    /// Its watcher broke it off.
    Interrupted,
}

/// Does `work` for every job; it gets the watch that it is to show its run to. None begins after one
/// that failed, or after the watcher has broken off.
///
/// # Errors
/// The first error, in the jobs' order.
pub(crate) fn run_all<J: Sync>(
    drive: &DriveName,
    jobs: &[J],
    watch: Watch<'_>,
    work: impl Fn(&J, Watch<'_>) -> Result<(), Error> + Sync,
) -> Result<ReviewEnd, Error> {
    let (is_broken_off, has_failed) = (AtomicBool::new(false), AtomicBool::new(false));
    let watch_all = |event: Event<'_>| {
        let flow = watch(event);
        match is_broken_off.fetch_or(flow.is_break(), Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => flow,
        }
    };
    let work = |job: &J| {
        if is_broken_off.load(Ordering::Relaxed) || has_failed.load(Ordering::Relaxed) {
            return Ok(());
        }
        let done = work(job, &watch_all);
        has_failed.fetch_or(done.is_err(), Ordering::Relaxed);
        done
    };
    match drive.is_simulated() {
        true => {
            let (budget, need) = (Budget::new(memory_here()), memory_of(&drive.simulated()?));
            in_parallel(jobs, |job| {
                let _share = budget.take(need);
                work(job)
            })?;
        }
        false => jobs.iter().try_for_each(work)?,
    }
    Ok(if is_broken_off.into_inner() { ReviewEnd::Interrupted } else { ReviewEnd::Complete })
}
