//! What to ask of a drive: access patterns as iterators of [`Io`].
//!
//! Same parameters, same seed: same I/Os, on every machine.

mod pattern;

pub use pattern::{RandomUniform, Sequential};
