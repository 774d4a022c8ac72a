//! Values that cross as JSON.

use pyo3::PyResult;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::errors::UsageError;

/// Reads what the package passes; `what` it is, for whoever passed something else.
pub(crate) fn read<T: DeserializeOwned>(what: &str, text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| {
        // Nobody sees the text, so its lines mean nothing.
        let (line, told) = (error.line(), error.to_string());
        let told =
            told.split(&format!(" at line {line} column")).next().unwrap_or(&told).to_owned();
        UsageError::new_err(format!("{what}: {told}"))
    })
}

pub(crate) fn text(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| UsageError::new_err(error.to_string()))
}
