//! Tests of drives, and traces, as people read them: one HTML page over any number of drives or of traces,
//! every picture of it as a file, and a summary for the terminal.
//!
//! The page is one file that needs no network. Same runs in, same bytes out. What is simulated is
//! called simulated wherever its name stands.

mod buffer;
mod cost_model;
mod differences;
mod drives;
mod finish;
mod fleet;

pub mod look;
mod model;
mod number;
mod page;
mod picture;
mod run;
mod section;
mod sections;
mod subject;
mod subjects;
mod summary;
mod sweep;
mod text_table;
mod top;
mod torture;
mod trace;
mod verdict;
mod writes;

pub use cost_model::{MODEL_FORMATS, ModelError, ModelFormat, ModelOptions};
pub use drives::{different_plans, write_page, write_report, write_report_for};
pub use fleet::{
    FleetDoubt, FleetDrive, FleetFigure, FleetKind, FleetPage, FleetPart, fleet_summary,
    write_fleet_page,
};
pub use model::{course_pictures, model_picture};
pub use number::{seconds, thousands};
pub use page::error::ReportError;
pub use page::{Format, PAGE, Written};
pub use run::Run;
pub use subject::{Source, Subject};
pub use summary::{summary, verdict as verdict_text};
pub use sweep::{KeyValues, SweepFigure, SweepKey, SweepTable, write_sweep_page};
pub use text_table::{TextTable, cut};
pub use trace::{trace_summary, write_trace_page};
