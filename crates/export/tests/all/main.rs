//! Exported drives, as their clients see them.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod clients;
mod damaged;
mod power;
mod raw;
mod record;
mod served;
