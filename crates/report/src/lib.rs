//! Tests of drives as people read them: one HTML page over any number of drives, every picture of
//! it as a file, and a summary for the terminal.
//!
//! The page is one file that needs no network. Same runs in, same bytes out. What is simulated is
//! called simulated wherever its name stands.

mod figures;
mod headline;
mod number;
mod page;
mod picture;
mod run;
mod section;
mod sections;
mod subject;
mod summary;
mod verdict;

pub use page::{ReportError, write_page};
pub use run::Run;
pub use subject::Subject;
pub use summary::{summary, verdict as verdict_text};
