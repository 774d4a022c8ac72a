//! What to ask of a drive: access patterns as iterators of [`Io`](writecliff_device::Io).
//!
//! [`Sequential`] and [`RandomUniform`] are what the tests of the documents are made of; a [`Job`]
//! is any mix of them, from a plan of our own or from [`fio`]'s job files. Same parameters, same
//! seed: same I/Os, on every machine.

pub mod fio;
mod job;
mod pattern;
mod permutation;
mod random;

pub use job::{
    Amount, Blocks, By, Distribution, DueTimes, Gaps, Job, JobError, JobIos, JobList, Mix, Of,
    Order, Pace, RandomShare, Share, Sizes, SizesByOperation, Steady, Zone,
};
pub use pattern::{RandomUniform, Sequential};
