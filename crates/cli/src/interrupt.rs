//! Ctrl-C: asked to stop once, everything ends in order; asked again, at once.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::CliError;

/// A flag that the first Ctrl-C raises; the second ends the program on the spot, which a run
/// directory survives.
pub(crate) struct Interrupt {
    raised: Arc<AtomicBool>,
}

impl Interrupt {
    pub(crate) fn catch() -> Result<Self, CliError> {
        let raised = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&raised);
        ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::Relaxed) {
                std::process::exit(1);
            }
        })?;
        Ok(Self { raised })
    }

    /// Ends all that watches it, as if the user had asked.
    pub(crate) fn raise(&self) {
        self.raised.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_raised(&self) -> bool {
        self.raised.load(Ordering::Relaxed)
    }

    /// What a watcher of a run says to go on or not.
    pub(crate) fn flow(&self) -> ControlFlow<()> {
        if self.is_raised() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
