//! Simulated drives: the model's mechanisms, against theory, and against what is physically so.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod conformance;
mod disk;
mod mechanisms;
mod physical;
mod theory;
