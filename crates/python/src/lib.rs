//! `writecliff._native`: what the Python package calls.
//!
//! Plans, records and rows cross as JSON, tables as Arrow streams; everything that a user sees is made
//! of them by the package in `python/writecliff`. Whatever takes longer than a moment runs on a thread
//! of its own without Python's lock ([`watched`]).

#![expect(clippy::needless_pass_by_value, reason = "what Python passes comes by value")]

mod batches;
mod device;
mod drive;
mod errors;
mod fleet;
mod json;
mod results;
mod sweep;
mod table;
mod watched;
mod work;

use pyo3::prelude::pymodule;

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::device::Device;
    #[pymodule_export]
    use crate::drive::{Drive, catalogue, plan, run, tests};
    #[pymodule_export]
    use crate::errors::{Error, FailedError, RefusedError, UsageError};
    #[pymodule_export]
    use crate::fleet::{fleet, fleet_keep, fleet_left, fleet_perform, fleet_told};
    #[pymodule_export]
    use crate::results::{bench_compare, cost_model, import_fio, open, report, review, trace_info};
    #[pymodule_export]
    use crate::sweep::{perform, point_memory, points, store, sweep};
    #[pymodule_export]
    use crate::table::Table;

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
