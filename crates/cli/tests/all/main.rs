//! The program, as a user types it.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod bench;
mod cli;
mod commit;
mod export;
mod faces;
mod guard;
mod info;
mod integrity;
mod make;
mod memory;
mod model;
mod outputs;
mod record;
mod replay;
mod review;
mod trace_convert;
mod trouble;
mod user;
