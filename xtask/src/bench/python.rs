//! The Python package beside the command line, and Dask beside one process.

use std::path::Path;
use std::process::Command;

use crate::{python, run};

const SCRIPT: &str = "xtask/src/bench/python.py";

/// Prints times and ratios; says so where there is no Python.
pub(super) fn beside_the_program(target: &Path) -> Result<(), String> {
    let Some(python) = python::installed("release", &["distributed"])? else { return Ok(()) };
    let mut script = Command::new(python);
    script.arg(SCRIPT).arg(target.join("release/writecliff"));
    run(script.env("WRITECLIFF_BENCH", "off").env("PYTHONDONTWRITEBYTECODE", "1"))
}
