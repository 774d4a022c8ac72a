//! Work without Python's lock, that Ctrl-C ends and progress is told of.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

/// Signals are looked for and progress is told so often.
const TICK: Duration = Duration::from_millis(50);

/// How far something is: what is under way, and the share done of it, from 0 to 1.
pub(crate) struct Told {
    pub(crate) step: String,
    pub(crate) fraction: f64,
}

/// Tells how far it is, and asks whether to go on.
pub(crate) type Watch<'a> = &'a (dyn Fn(Option<Told>) -> ControlFlow<()> + Sync);

/// Does `work` on another thread until it ends, or until Python has a signal or `progress` raises:
/// then it is told to break off, and the exception comes when it has.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(Watch<'_>) -> T + Send,
) -> PyResult<T> {
    let (is_stopped, latest) = (AtomicBool::new(false), Mutex::new(None));
    let watch = |told: Option<Told>| {
        if let Some(told) = told {
            *latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(told);
        }
        match is_stopped.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let main = thread::current();
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let done = work(&watch);
            main.unpark();
            done
        });
        let mut went = Ok(());
        while !worker.is_finished() {
            py.detach(|| thread::park_timeout(TICK));
            let told = latest.lock().unwrap_or_else(PoisonError::into_inner).take();
            if went.is_ok() {
                went = py.check_signals().and_then(|()| tell(progress, told));
                is_stopped.store(went.is_err(), Ordering::Relaxed);
            }
        }
        let done = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        went.map(|()| done)
    })
}

fn tell(progress: Option<&Bound<'_, PyAny>>, told: Option<Told>) -> PyResult<()> {
    let (Some(progress), Some(Told { step, fraction })) = (progress, told) else { return Ok(()) };
    progress.call1((step, fraction)).map(drop)
}
