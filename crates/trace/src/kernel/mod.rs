//! What the kernel's block layer tells of requests and bios, and the operations that they are:
//! the same whether a recording reads it or it is imported (docs/formats.md, "Events of the
//! kernel").
//!
//! ```text
//! Event ──► Pairing::push ──► Pairing::pop ──► Paired: an operation, in order of issue
//!            ├ Places          what is in flight where
//!            └ Early           completions that came before their issue
//! ```
//!
//! Held true: work grows with the number of events and no faster, whatever they say, and memory is
//! bounded. Left out: whose clock and whose names these are; `source` and `record` know that.

mod early;
mod event;
mod pairing;
mod places;

pub(crate) use event::{DeviceNumber, Event, OVERSIZED, SECTOR, What, operation, range};
#[cfg(test)]
pub(crate) use pairing::WAITING_MAX;
pub(crate) use pairing::{Paired, Pairing};
