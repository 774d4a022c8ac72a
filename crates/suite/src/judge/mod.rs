//! What is concluded of runs, whatever their test: figures, doubts, gates; and of the simulated drives,
//! how far their model is off.

pub mod check;
pub(crate) mod conclude;
pub(crate) mod cross_run;
pub(crate) mod doubts;
pub(crate) mod figures;
pub mod gate;
pub(crate) mod odd;
pub(crate) mod shape;
