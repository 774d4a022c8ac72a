//! Sweeps: one test on many simulated drives, a grid or a sample over any keys of profile and plan.
//!
//! A [`Sweep`] is what the user writes; [`Sweep::points`] makes the [`Point`]s of it, always the same
//! ones; [`Point::perform`] runs one, wherever that is, and gives its [`Row`]. [`SweepRun`] does all
//! of them on this machine, on as many processors as their memory allows, into a directory that it
//! goes on in after it was broken off. Rows do not depend on where, when or beside what they were
//! made: each holds all that makes it again.
//!
//! What any [`Work`] of many pieces takes is here too: [`all_here`] shares out processors and memory,
//! [`Journal`] keeps rows, [`write_cells`] makes columns a Parquet file.
//!
//! Left out: real drives, of which there is one at a time.

mod cells;
mod error;
mod figures;
mod here;
mod journal;
mod page;
mod perform;
mod plan;
mod point;
mod points;
mod range;
mod row;
mod run;
mod sample;
mod table;
mod work;

pub use cells::{Column, write_cells};
pub use error::SweepError;
pub use here::{End, GoOn, Watch, all_here};
pub use journal::Journal;
pub use page::write_page;
pub use plan::{Sample, Sweep};
pub use point::Point;
pub use range::Range;
pub use row::{Row, RowFigure};
pub use run::{SWEEP, SweepRun, TABLE};
pub use work::{Amount, Work};
