//! What drives answer about themselves, on recorded and on damaged bytes.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod drives;
mod encryption;
mod purges;
