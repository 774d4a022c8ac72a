//! What other systems want to know of a drive, from a run that measured it.

use std::fs;
use std::path::{Path, PathBuf};

use writecliff_device::{DeviceInfo, DeviceKind};
use writecliff_report::{ModelFormat, ModelOptions};
use writecliff_suite::{
    DriveIdentity, Plan, Results, ResultsError, Review, ReviewTest, RunRecord, open_record,
};

use crate::drive::DriveName;
use crate::error::Error;

/// The cost model that the run of `cost-model` in the directory `path`, or in the review there, measured,
/// in the form that another system wants. The kernel's numbers of a real drive are found if the drive is
/// still where it was.
///
/// # Errors
/// [`Error::Model`] if no cost model comes of it; what keeps the run from being read.
pub fn cost_model(
    path: &Path,
    format: &ModelFormat,
    options: ModelOptions,
) -> Result<String, Error> {
    let record = open_record(&run_at(path)?)?;
    cost_model_of(&record, format, options)
}

/// The same of a run whose record is there.
///
/// # Errors
/// [`Error::Model`] if no cost model comes of it.
pub fn cost_model_of(
    record: &RunRecord,
    format: &ModelFormat,
    mut options: ModelOptions,
) -> Result<String, Error> {
    options.device_number = options.device_number.or_else(|| device_number(&record.drive));
    Ok(format.write(record, &options)?)
}

/// Where in a directory the run is that may have measured one.
fn run_at(path: &Path) -> Result<PathBuf, Error> {
    let of_review = |test: &ReviewTest| {
        matches!(test.plan, Plan::CostModel(_)).then(|| path.join(&test.directory))
    };
    match Results::at(path)? {
        Results::Run => Ok(path.to_owned()),
        Results::Repeats(_) => Err(ResultsError::no_run(path).into()),
        Results::Review(Review { tests, .. }) => {
            let found = tests.iter().find_map(of_review);
            found.ok_or_else(|| Error::NoCostModel { path: path.to_owned() })
        }
    }
}

/// The kernel's numbers of a drive, if it is the same drive still that is found there, and all of it.
fn device_number(drive: &DeviceInfo) -> Option<(u32, u32)> {
    if drive.kind != DeviceKind::BlockDevice {
        return None;
    }
    let node = fs::canonicalize(&drive.address).ok()?;
    let known = Path::new("/sys/class/block").join(node.file_name()?);
    let number = fs::read_to_string(known.join("dev")).ok()?;
    let (major, minor) = number.trim().split_once(':')?;
    let number = major.parse().ok().zip(minor.parse().ok())?;
    let is_part = known.join("partition").exists();
    let there = DriveName::Real(PathBuf::from(&drive.address)).look().ok()?;
    let is_same = DriveIdentity::of(&there).is_same_drive(&DriveIdentity::of(drive));
    (is_same && !is_part).then_some(number)
}
