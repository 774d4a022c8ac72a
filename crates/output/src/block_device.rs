//! Block devices, which no output is ever written to.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use crate::OutputError;

/// Refuses a name that leads to a block device.
///
/// # Errors
/// [`OutputError::BlockDevice`].
pub fn check_file(path: &Path) -> Result<(), OutputError> {
    match fs::metadata(path) {
        Ok(there) if there.file_type().is_block_device() => refused(path),
        // What is not there, or cannot be looked at, is no device that would be opened: opening
        // looks again.
        _ => Ok(()),
    }
}

/// Refuses a directory that is a block device, or would be below one.
///
/// # Errors
/// [`OutputError::BlockDevice`].
pub fn check_directory(path: &Path) -> Result<(), OutputError> {
    path.ancestors().try_for_each(check_file)
}

pub(crate) fn refused(path: &Path) -> Result<(), OutputError> {
    Err(OutputError::BlockDevice { path: path.to_owned() })
}
