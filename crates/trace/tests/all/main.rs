//! Traces: read from anywhere, made, described, written.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod blktrace;
mod convert;
mod described;
mod formats;
mod make;
mod mutated;
mod outcome;
mod plans;
mod problems;
mod published;
mod records;
