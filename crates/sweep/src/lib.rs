//! Sweeps: one test on many simulated drives, a grid or a sample over any keys of profile and plan.
//!
//! A [`Sweep`] is what the user writes; [`Sweep::points`] makes the [`Point`]s of it, always the same
//! ones; [`Point::perform`] runs one, wherever that is, and gives its [`Row`]. [`SweepRun`] does all
//! of them on this machine, on as many processors as their memory allows, into a directory that it
//! goes on in after it was broken off. Rows do not depend on where, when or beside what they were
//! made: each holds all that makes it again.
//!
//! Left out: real drives, of which there is one at a time.

mod budget;
mod error;
mod page;
mod plan;
mod point;
mod range;
mod row;
mod run;
mod sample;
mod table;

pub use error::SweepError;
pub use page::write_page;
pub use plan::{Sample, Sweep};
pub use point::Point;
pub use range::Range;
pub use row::{Row, RowFigure};
pub use run::{SWEEP, SweepEnd, SweepRun, TABLE, Watch};
