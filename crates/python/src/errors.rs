//! The library's errors as exceptions: a class for each kind, the same texts.

use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use writecliff::ErrorKind;
use writecliff_bench::BenchError;
use writecliff_fleet::FleetError;
use writecliff_sweep::SweepError;

create_exception!(
    writecliff,
    Error,
    PyException,
    "Something was not done; the text says why and what to do."
);
create_exception!(
    writecliff,
    UsageError,
    Error,
    "What was asked for is not possible: ask differently."
);
create_exception!(
    writecliff,
    RefusedError,
    Error,
    "Refused for safety: something could be destroyed."
);
create_exception!(
    writecliff,
    FailedError,
    Error,
    "The drive, the disk or the machine did not do its part."
);

/// An error of the library.
pub(crate) trait Raised: std::fmt::Display {
    fn kind(&self) -> ErrorKind;

    fn raised(&self) -> PyErr {
        raised(self.kind(), self.to_string())
    }
}

/// The exception of this kind. What a user broke off is told by Python itself.
pub(crate) fn raised(kind: ErrorKind, text: String) -> PyErr {
    match kind {
        ErrorKind::Usage => UsageError::new_err(text),
        ErrorKind::Refused => RefusedError::new_err(text),
        _ => FailedError::new_err(text),
    }
}

macro_rules! raised {
    ($($error:ty)*) => {
        $(impl Raised for $error {
            fn kind(&self) -> ErrorKind {
                self.kind()
            }
        })*
    };
}

raised! { writecliff::Error writecliff::ImportError BenchError FleetError SweepError }
