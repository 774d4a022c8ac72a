//! Columns that anything takes which speaks Arrow's C stream interface.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::ArrowError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::batches::Batches;
use crate::errors::FailedError;

/// A table: of a Parquet file, read whenever it is asked for, or of what is in memory.
#[pyclass(frozen, module = "writecliff._native")]
pub(crate) struct Table(Columns);

enum Columns {
    File(PathBuf),
    Batch(RecordBatch),
}

impl Table {
    pub(crate) fn of_batch(batch: RecordBatch) -> Self {
        Self(Columns::Batch(batch))
    }

    fn reader(&self) -> PyResult<Box<dyn RecordBatchReader + Send>> {
        match &self.0 {
            Columns::Batch(batch) => {
                let batches = std::iter::once(Ok(batch.clone()));
                Ok(Box::new(RecordBatchIterator::new(batches, batch.schema())))
            }
            Columns::File(path) => {
                let failed = |why: String| {
                    FailedError::new_err(format!("cannot read {}: {why}", path.display()))
                };
                let file = File::open(path).map_err(|error| failed(error.to_string()))?;
                Ok(Box::new(Batches::of(file).map_err(|error| failed(error.to_string()))?))
            }
        }
    }
}

#[pymethods]
impl Table {
    /// The table of a Parquet file.
    #[staticmethod]
    pub(crate) fn of_file(path: PathBuf) -> Self {
        Self(Columns::File(path))
    }

    /// Its columns' names.
    #[getter]
    fn columns(&self) -> PyResult<Vec<String>> {
        let schema = self.reader()?.schema();
        Ok(schema.fields().iter().map(|field| field.name().clone()).collect())
    }

    fn __len__(&self) -> PyResult<usize> {
        let rows = |batch: Result<RecordBatch, _>| batch.map(|batch| batch.num_rows());
        let sum = self.reader()?.map(rows).sum::<Result<usize, ArrowError>>();
        sum.map_err(|error| FailedError::new_err(error.to_string()))
    }

    /// Arrow's PyCapsule interface: the schema asked for is a wish that no reader here has to grant.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let stream = FFI_ArrowArrayStream::new(self.reader()?);
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

/// Columns of whole numbers, as a table.
pub(crate) fn of_numbers(columns: Vec<(&str, Vec<u64>)>) -> PyResult<Table> {
    let arrays = columns.into_iter().map(|(name, values)| {
        let array: arrow_array::ArrayRef = Arc::new(arrow_array::UInt64Array::from(values));
        (name, array)
    });
    let batch = RecordBatch::try_from_iter(arrays);
    Ok(Table::of_batch(batch.map_err(|error| FailedError::new_err(error.to_string()))?))
}
