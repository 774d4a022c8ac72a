//! What every test is built on: what a test is, the session that it runs in, the loads and states of
//! a drive that several share, and what a plan may ask.
//!
//! Nothing here names a test.

pub(crate) mod change;
pub(crate) mod estimate;
pub(crate) mod fast_part;
pub(crate) mod faults;
pub(crate) mod fill;
pub(crate) mod ladder;
pub(crate) mod levels;
pub(crate) mod limits;
pub mod loads;
pub(crate) mod overrides;
pub(crate) mod parallel;
pub(crate) mod quick;
pub(crate) mod seed;
pub(crate) mod separation;
pub(crate) mod session;
pub(crate) mod settling;
pub(crate) mod test;
pub(crate) mod threads;
pub(crate) mod traces;
pub(crate) mod underway;
pub(crate) mod window;
