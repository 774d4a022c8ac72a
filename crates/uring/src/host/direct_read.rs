//! Direct reads beside the ring: what is on a drive, not in a cache, before anything is written.

use std::fs::File;

use rustix::io::Errno;

/// Read at once: a multiple of every LBA size.
pub(crate) const CHUNK: usize = 64 << 10;

/// Memory that any drive can read into.
#[repr(align(4096))]
pub(crate) struct Chunk(pub(crate) [u8; CHUNK]);

impl Chunk {
    pub(crate) fn zeroed() -> Box<Self> {
        Box::new(Self([0; CHUNK]))
    }
}

/// Reads until the buffer is full or the drive ends; direct reads may come in parts.
pub(crate) fn read_at(drive: &File, buffer: &mut [u8], start: u64) -> Result<usize, Errno> {
    let mut length = 0;
    while length < buffer.len() {
        match rustix::io::pread(drive, &mut buffer[length..], start + length as u64) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(Errno::INTR) => {}
            // The rest of a file that ends within a sector cannot be asked for directly.
            Err(Errno::INVAL) if length > 0 => break,
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}
