//! Work on all processors: the tests of models, which are any number of drives at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Does `work` for every one of `jobs`, as many at once as the machine has processors, begun in
/// their order. Returns the results in the jobs' order, however they took turns.
///
/// # Errors
/// The first error, in the jobs' order; no job begins after one.
///
/// # Panics
/// With the panic of a job.
pub fn in_parallel<J: Sync, R: Send, E: Send>(
    jobs: &[J],
    work: impl Fn(&J) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(index) else { return done };
            let result = work(job);
            if result.is_err() {
                next.store(jobs.len(), Ordering::Relaxed);
            }
            done.push((index, result));
        }
    };
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let mut all = thread::scope(|scope| {
        let workers: Vec<_> =
            (0..processors.min(jobs.len())).map(|_| scope.spawn(worker)).collect();
        let joined = workers.into_iter().flat_map(|worker| match worker.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.collect::<Vec<_>>()
    });
    all.sort_unstable_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_jobs_order() {
        let jobs: Vec<u64> = (0..1000).collect();
        let doubled = in_parallel(&jobs, |job| Ok::<_, ()>(job * 2)).unwrap();
        assert!(doubled.iter().zip(&jobs).all(|(got, job)| *got == job * 2));
        assert_eq!(doubled.len(), jobs.len());
        assert_eq!(in_parallel(&[0_u64; 0], |_| Ok::<(), ()>(())), Ok(Vec::new()));
    }

    #[test]
    fn the_first_error_is_returned_and_no_job_begins_after_it() {
        let begun = AtomicUsize::new(0);
        let jobs: Vec<u64> = (0..100_000).collect();
        let ended = in_parallel(&jobs, |job| {
            begun.fetch_add(1, Ordering::Relaxed);
            if *job < 3 { Ok(()) } else { Err(*job) }
        });
        assert_eq!(ended, Err(3));
        let processors = thread::available_parallelism().map_or(1, usize::from);
        assert!(begun.into_inner() <= 3 + processors);
    }
}
