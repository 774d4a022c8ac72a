//! Real devices: loop devices made for each test, as root; skipped loudly where there are none.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod data_safety;
mod encryption;
mod io;
mod machine;
mod marks;
mod refusals;
mod telemetry;
mod trouble;
mod users;
