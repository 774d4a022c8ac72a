//! Bench: every result in one place, any drive against any other.
//!
//! Truth is the run directories, the published figures and the catalogue's file, all as they lie;
//! what is made of them here is a [`Bench`], which pages, tables and comparisons read.

mod export;
mod gather;
mod model;
mod pages;
mod server;

pub use gather::{Gather, NewPublished, NewRun};
pub use model::{
    Bench, Conditions, Drive, Kind, Metric, Picture, Pictures, Price, Private, Problem, Published,
    Run, Stretch, Value, slug,
};
pub use export::{ExportError, Exported, export};
pub use pages::{Audience, ReportsError, Site};
pub use server::{Server, ServerError, Source};
