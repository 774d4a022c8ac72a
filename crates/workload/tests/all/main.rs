//! Access patterns and fio's job files.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod beside;
mod fio;
mod mutated;
