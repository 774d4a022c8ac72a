//! One file per command.

pub(crate) mod again;
pub(crate) mod bench;
pub(crate) mod check;
pub(crate) mod cipher;
pub(crate) mod drives;
pub(crate) mod export;
pub(crate) mod fleet;
pub(crate) mod gate;
pub(crate) mod import;
pub(crate) mod manual;
pub(crate) mod meter;
pub(crate) mod model;
pub(crate) mod purge;
pub(crate) mod report;
pub(crate) mod review;
pub(crate) mod run;
pub(crate) mod run_plan;
pub(crate) mod security;
pub(crate) mod sweep;
pub(crate) mod trace;
pub(crate) mod work;
