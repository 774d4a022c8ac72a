//! Arrays of simulated drives: a [`Device`](writecliff_device::Device) made of several, as Linux' md
//! makes one.
//!
//! [`ArrayName`] is what a user writes, [`Simulated`] what such a name or a run's record stands for: one
//! drive, or a [`Shape`] of several. Its members share one virtual clock. An I/O of the host becomes
//! pieces for members by a plan that knows no drive (`plan`), over a layout that is arithmetic alone
//! (`layout`); `array` carries plans out, with what must wait for something else (`claims`), a member's
//! queue (`member`), and the rebuild of a member beside the load (`rebuild`).
//!
//! What a stripe, a partial write and a rebuild do, and what is left out, is in `docs/arrays.md`.

mod array;
mod claims;
mod error;
mod layout;
mod level;
mod member;
mod name;
mod past;
mod plan;
mod rebuild;
mod shape;
mod simulated;

pub use error::ArrayError;
pub use level::{Level, LevelError};
pub use name::{ARRAY, ArrayName};
pub use shape::Shape;
pub use simulated::Simulated;
