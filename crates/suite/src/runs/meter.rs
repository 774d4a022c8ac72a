//! Adds a power meter's log to a run that has ended.

use std::io::Read;
use std::path::{Path, PathBuf};

use writecliff_device::{DeviceKind, ErrorKind};
use writecliff_measure::{MeterError, MeterOptions, PowerSeries, RunDirectoryError, amend};

use crate::list::RunRecord;
use crate::record::power_source::PowerSource;
use crate::record::run_record::{SCHEMA_VERSION, Status};
use crate::runs::open::open;

/// A run after a meter's log was added to it.
#[derive(Debug)]
pub struct Metered {
    /// Its new record.
    pub record: RunRecord,
    /// Samples of the run.
    pub samples: usize,
    /// Of these, how many the log covers.
    pub with_power: usize,
}

/// Why a meter's log was not added. The run is as it was then, unless writing it failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AddMeterError {
    /// The log does not do.
    #[error(transparent)]
    Meter(#[from] MeterError),
    /// The run cannot be read or written.
    #[error(transparent)]
    RunDirectory(#[from] RunDirectoryError),
    /// A meter cannot have measured this.
    #[error(
        "{address} is a simulated drive, whose power comes from its profile; add the meter's log \
         to a run on a real drive"
    )]
    Simulated {
        /// The drive.
        address: String,
    },
    /// The run has not ended.
    #[error("the run in {} goes on; add the meter's log when it has ended", path.display())]
    GoesOn {
        /// The run.
        path: PathBuf,
    },
}

impl AddMeterError {
    /// What kind of "no" it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Meter(_) | Self::Simulated { .. } => ErrorKind::Usage,
            Self::RunDirectory(error) => error.kind(),
            Self::GoesOn { .. } => ErrorKind::Failed,
        }
    }
}

/// Adds a meter's `log` to the run in `path`: fills its samples' power, draws the conclusion again
/// and keeps both. A log that was added before is replaced.
///
/// # Errors
/// [`AddMeterError`].
pub fn add_meter(
    path: &Path,
    log: impl Read,
    options: &MeterOptions,
) -> Result<Metered, AddMeterError> {
    let (mut record, recording) = open(path)?;
    if record.status == Status::Running {
        return Err(AddMeterError::GoesOn { path: path.to_owned() });
    }
    if record.drive.kind == DeviceKind::Simulated {
        return Err(AddMeterError::Simulated { address: record.drive.address });
    }
    let series = PowerSeries::read(log, record.started_unix_ns, options)?;
    let mut metered = recording.clone();
    let with_power = series.attach(&mut metered.samples)?;
    record.conclude_again(&recording, &metered);
    record.schema_version = SCHEMA_VERSION;
    record.power_source = PowerSource::Meter(*options);
    amend(path, &metered.samples, &record)?;
    Ok(Metered { record, samples: metered.samples.len(), with_power })
}
