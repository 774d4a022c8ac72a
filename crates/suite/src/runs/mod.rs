//! Runs in directories: made, read back, made again, with a meter's log, several of one drive
//! or of one test.

pub(crate) mod meter;
pub(crate) mod open;
pub(crate) mod repeats;
pub(crate) mod rerun;
pub(crate) mod results;
pub(crate) mod review;
pub(crate) mod run;
pub(crate) mod served;
