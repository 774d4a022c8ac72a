//! The ways to empty a drive: the system's (`discard`) and its own (`firmware`), each as a background
//! task that its caller can break off.

pub(crate) mod background;
pub(crate) mod discard;
pub(crate) mod firmware;
