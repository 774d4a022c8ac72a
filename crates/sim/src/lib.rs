//! Simulated drives: a [`Device`] whose inside is known.
//!
//! A profile says what a drive is built of; [`Ssd`] is a solid-state drive, [`Disk`] a magnetic
//! one, both on a virtual clock. The drives do no input or output and know no operating system's
//! clock, no thread and no randomness: the same I/Os at the same virtual times give the same
//! completions, bit for bit. The one thing read from outside is a profile of one's own, by
//! [`load_file`].
//!
//! What the model leaves out is listed in `docs/model.md`.

mod contents;
mod disk;
mod host;
mod ssd;
mod stamps;

use writecliff_device::Device;

pub use contents::{AtPowerCut, Contents, DieRefused, Forgets, LostUnit, PowerCut, Spare};
pub use disk::Disk;
use host::Host;
pub use ssd::Ssd;
pub use stamps::Stamps;
pub use writecliff_profile::*;

/// A simulated drive, of which there can be as many as one wants in the same state.
pub trait Model: Device + Contents + Send {
    /// Another drive in every state that this one is in.
    fn duplicate(&self) -> Box<dyn Model>;
}

impl<D: Device + Contents + Clone + Send + 'static> Model for Host<D> {
    fn duplicate(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }
}

/// What is made of models by others, in a host that takes no time unless it encrypts.
pub fn in_host(made: impl Device + Contents + Clone + Send + 'static) -> Box<dyn Model> {
    Box::new(Host::new(made))
}

/// What makes a drive of its description.
pub trait Build: Sized {
    /// The drive, as it leaves the factory, in a host that takes no time. `address` is how the user named it.
    fn open(self, address: &str) -> Box<dyn Device> {
        self.build(address)
    }

    /// The same as something that can be had twice.
    fn build(self, address: &str) -> Box<dyn Model>;
}

impl Build for Profile {
    fn build(self, address: &str) -> Box<dyn Model> {
        match self {
            Self::Ssd(ssd) => Box::new(Host::new(Ssd::new(*ssd, address))),
            Self::Disk(disk) => Box::new(Host::new(Disk::new(*disk, address))),
        }
    }
}
