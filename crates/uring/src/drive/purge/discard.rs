//! A discard of a whole device.

use rustix::fs::{FallocateFlags, fallocate, fdatasync};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use writecliff_device::{Bytes, DeviceKind, PrepareWatch};

use crate::drive::purge::background::{Shared, StillRunning, Unfinished, in_background};
use crate::host::ioctl;

/// A discard goes out in parts of this size, so that breaking it off does not wait for all of it.
/// The kernel cuts them further, into what the drive takes at a time.
const PART: u64 = 4 << 30;

/// Discards `[0, capacity)` and flushes. `running` tells, also afterwards, whether that is still
/// going on.
///
/// # Errors
/// [`Unfinished`].
pub(crate) fn all(
    file: &File,
    kind: DeviceKind,
    capacity: Bytes,
    running: &StillRunning,
    watch: PrepareWatch<'_>,
) -> Result<(), Unfinished> {
    let file = file.try_clone().map_err(|error| Unfinished::Failed(Bytes::ZERO, error))?;
    let work = move |shared: &Shared| parts(&file, kind, capacity, shared);
    in_background(work, None, running, watch)
}

fn parts(
    file: &File,
    kind: DeviceKind,
    capacity: Bytes,
    shared: &Shared,
) -> Result<(), Unfinished> {
    let mut start = 0;
    while start < capacity.0 {
        if shared.is_stopped() {
            return Err(Unfinished::Stopped { goes_on: false });
        }
        let length = (capacity.0 - start).min(PART);
        range(file, kind, start, length).map_err(|e| Unfinished::Failed(Bytes(start), e))?;
        start += length;
        shared.show(start as f64 / capacity.0.max(1) as f64);
    }
    fdatasync(file).map_err(|errno| Unfinished::FlushFailed(errno.into()))
}

/// Tells the drive, or the filesystem below a file, that a range is no longer needed.
pub(crate) fn range(file: &File, kind: DeviceKind, offset: u64, length: u64) -> io::Result<()> {
    if kind == DeviceKind::File {
        return Ok(punch_hole(file, offset, length)?);
    }
    let end = offset + length;
    let mut start = offset;
    while start < end {
        let part = (end - start).min(PART);
        ioctl::discard(file, start, part)?;
        start += part;
    }
    Ok(())
}

pub(crate) fn punch_hole(file: &File, offset: u64, length: u64) -> Result<(), Errno> {
    let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    fallocate(file, how, offset, length)
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;

    #[test]
    fn what_fails_is_told_with_its_place() {
        let file = tempfile::tempfile().unwrap();
        // A file takes no discard.
        let (running, kind) = (StillRunning::default(), DeviceKind::BlockDevice);
        let go_on = &mut |_| ControlFlow::Continue(());
        let ended = all(&file, kind, Bytes(4096), &running, go_on);
        assert!(matches!(ended, Err(Unfinished::Failed(Bytes(0), _))), "{ended:?}");
    }
}
