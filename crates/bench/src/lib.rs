//! Bench: every result in one place, any drive against any other.
//!
//! Truth is the run directories, the published figures and the catalogue's file, all as they lie;
//! what is made of them here is a [`Bench`], which pages, tables and comparisons read.

pub mod catalogue;
mod checked;
mod compare;
mod conditions;
mod error;
mod export;
mod gather;
mod home;
mod identity;
mod import;
mod index;
mod ingest;
mod library;
mod list;
mod live;
mod model;
mod pages;
mod pictures;
pub mod published;
mod scan;
mod select;
mod server;

pub use compare::{Apart, Better, Comparison, Number, Row, Side, Undecided};
pub use error::BenchError;
pub use export::{ExportError, ExportProgress, Exported, REPORTS, Reports, export, export_with};
pub use gather::{Gather, NewPublished, NewRun};
pub use home::{Home, OFF, SudoUser, VARIABLE, keep, sudo_user};
pub use import::{ImportError, Imported, Limits, import};
pub use library::{Added, Library, Watch};
pub use list::{
    Details, DriveDetails, DriveEntry, FigureEntry, Filter, PublishedEntry, RunDetails, RunEntry,
    ValueEntry, drive_table, run_table,
};
pub use live::Live;
pub use model::{
    Bench, Conditions, Drive, Kind, Metric, Picture, Pictures, Price, Private, Problem, Published,
    Run, Stretch, Value, slug,
};
pub use pages::{Audience, ReportsError, Site};
pub use pictures::pictures;
pub use select::Chosen;
pub use server::{Server, ServerError, Source};
