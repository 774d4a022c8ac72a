//! The tests: what each asks of a drive, how, and what the answer is.
//!
//! Five floors, of which each knows only those below it, and one list between them:
//!
//! ```text
//! runs      directories: made, read back, done again, several of one drive or of one test
//! judge     what is concluded of any run: figures, doubts, gates; how far the models are off
//! list.rs   all tests; plans, outcomes and the table are made from it
//! tests     a file or a folder each
//! method    what every test is built on: session, loads, limits
//! record    what a run's directory says
//! ```
//!
//! [`run`] runs a test on any [`Device`](writecliff_device::Device) and keeps it in a run directory,
//! whose `run.json` is a [`RunRecord`]; a [`Review`] is a directory of such runs. What comes of a run
//! are its [`Figure`]s: [`gate`], tables and whatever compares drives read that one list. [`check`]
//! is no test of a drive but of the simulated ones: it holds them against published figures.

mod judge;
mod list;
mod method;
mod record;
mod runs;
mod tests;

pub use judge::cross_run::doubts_across;
pub use judge::figures::WithFigures;
pub use judge::shape::{Band, Shape};
pub use judge::{check, gate};
pub use list::{Outcome, Plan, RunRecord, TESTS, TestEntry};
pub use method::estimate::{Demands, Estimate, Rates, is_hard_disk, scale};
pub use method::fast_part::FastPart;
pub use method::levels::Level;
pub use method::limits::PlanError;
pub use method::loads;
pub use method::overrides::{Choice, Overrides};
pub use method::parallel::in_parallel;
pub use method::session::{PURGE, Progress, RunError, RunWatch};
pub use method::test::InReviews;
pub use method::traces::Resolved;
pub use record::drive_identity::DriveIdentity;
pub use record::efficiency::Efficiency;
pub use record::figure::{Figure, FigureOf, Good, Stage, are_apart};
pub use record::figure_statistics::{FigureStatistics, mean_and_deviation};
pub use record::host::Host;
pub use record::imported::ImportedFrom;
pub use record::label::{Label, LabelError};
pub use record::number::{beside_bound, in_words, thousands, to_the_hair};
pub use record::options::RunOptions;
pub use record::phase::Phase;
pub use record::power_source::PowerSource;
pub use record::rate::{LatencyFigures, Rate, ios_for};
pub use record::run_record::{Record, SCHEMA_VERSION, Status};
pub use record::served::{Floor, Served, too_late};
pub use record::thread_count::{ThreadCount, ThreadCountError};
pub use record::trace_facts::TraceFacts;
pub use record::unit::Unit;
pub use record::warning::{
    DataWarning, DriveWarning, Filled, HostWarning, JobWarning, MethodWarning, PreparationWarning,
    TraceWarning, Warning, WindowState,
};
pub use runs::meter::{AddMeterError, Metered, add_meter};
pub use runs::open::{open, open_anew, open_record};
pub use runs::repeats::{Repeated, Repeats, RepeatsError};
pub use runs::rerun::RerunError;
pub use runs::results::{Results, ResultsError};
pub use runs::review::{ALL_TESTS, Review, ReviewError, ReviewTest};
pub use runs::run::run;
pub use runs::served::{ServedEnd, ServedRun};
pub use tests::*;
