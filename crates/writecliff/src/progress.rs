//! What runs tell while they go on.

use std::ops::ControlFlow;

use writecliff_device::DeviceInfo;
use writecliff_suite::Progress;

/// Something that is worth showing about a test under way.
#[derive(Debug)]
pub enum Event<'a> {
    /// The test of this name begins.
    Begins(&'static str),
    /// A second of it has passed, or a step without samples has begun.
    Progress(&'static str, &'a Progress<'a>),
    /// It has ended, well or not.
    Ended(&'static str),
    /// Another run of the test of this name has, which went on beside the one that is shown.
    EndedUnseen(&'static str),
    /// The drive has not answered this, and the process cannot end before the kernel has it back.
    Held(&'a DeviceInfo, &'a str),
}

/// Sees how runs go on, and breaks them off. Tests of a review on models call it at the same time;
/// one on a real drive calls it from another thread than the one that measures.
pub type Watch<'a> = &'a (dyn Fn(Event<'_>) -> ControlFlow<()> + Sync);

/// Watches nothing and lets everything go on.
pub const UNWATCHED: Watch<'static> = &|_| ControlFlow::Continue(());
