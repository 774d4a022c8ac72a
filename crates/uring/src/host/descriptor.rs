//! The way back to what a descriptor has hold of.

use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// The path by which what a descriptor leads to is opened anew, or watched, whatever its name leads to
/// by now.
pub(crate) fn path_of_descriptor(descriptor: &impl AsRawFd) -> PathBuf {
    Path::new("/proc/self/fd").join(descriptor.as_raw_fd().to_string())
}
