//! Fleets of simulated drives, against closed forms and against themselves.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod closed_forms;
mod fleet;
