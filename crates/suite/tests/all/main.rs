//! The tests of drives, on simulated ones.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod commit;
mod consistency;
mod cost_model;
mod documented;
mod encryption;
mod fio_jobs;
mod gate;
mod integrity;
mod known_answers;
mod meter;
mod mixed;
mod older;
mod review;
mod scale;
mod skew;
mod storage_bench;
mod suite;
mod trouble;
