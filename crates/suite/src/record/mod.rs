//! What the directory of a run says: the record in `run.json`, and the types that it is made of.
//!
//! The lowest floor: it knows no test. A record is one of any plan and any outcome
//! ([`Record`](run_record::Record)); which there are is known to `list.rs`.

pub(crate) mod drive_identity;
pub(crate) mod efficiency;
pub(crate) mod figure;
pub(crate) mod figure_statistics;
pub(crate) mod file;
pub(crate) mod host;
pub(crate) mod imported;
pub(crate) mod judged;
pub(crate) mod label;
pub(crate) mod number;
pub(crate) mod options;
pub(crate) mod phase;
pub(crate) mod power_source;
pub(crate) mod printable;
pub(crate) mod rate;
pub(crate) mod run_record;
pub(crate) mod served;
pub(crate) mod thread_count;
pub(crate) mod trace_facts;
pub(crate) mod unit;
pub(crate) mod warning;
