//! Simulated drives: a [`Device`](writecliff_device::Device) whose inside is known.
//!
//! A profile says what a drive is built of; [`Ssd`] is a solid-state drive, [`Disk`] a magnetic
//! one, both on a virtual clock. There is no input or output here, no operating system's clock, no thread and no randomness: the
//! same I/Os at the same virtual times give the same completions, bit for bit.
//!
//! What the model leaves out is listed in `docs/model.md`.

mod catalogue;
mod disk;
mod profile;
mod ssd;

pub use catalogue::{catalogue, load, load_file};
pub use disk::Disk;
pub use profile::*;
pub use ssd::Ssd;
