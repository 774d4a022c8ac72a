//! What is recorded of a device, and what becomes of it in trouble.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod damaged;
mod lanes;
mod meter;
mod open_loop;
mod record;
mod replay;
mod streams;
mod trouble;
