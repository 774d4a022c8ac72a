//! What a regular file holds: content that is no disk needs more than its path as consent.

use std::fs::File;
use std::io;
use std::time::{Duration, Instant};

use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;

use crate::guard::test_file;
use crate::host::direct_read::{CHUNK, Chunk, read_at};

mod kinds;
mod magic;
mod structures;

/// How long zeros are read before the rest is taken for data.
const PATIENCE: Duration = Duration::from_secs(10);
/// Zeros without an end in sight: what comes after them may be anything.
const NOT_READ_TO_THE_END: &str = "zeros as far as it was read";
const UNKNOWN: &str = "data of unknown kind";

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contents {
    /// Nothing but zeros, or holes.
    Nothing,
    /// What an earlier test has left in it.
    OwnTestFile,
    /// Data, of a kind in a few plain words.
    Data(&'static str),
}

/// Looks at a file of `capacity` bytes. A file that is marked as one for tests and yet starts as
/// an application's file does was replaced: then it is data.
///
/// # Errors
/// If the file cannot be read.
pub(crate) fn contents_of(file: &File, capacity: u64) -> io::Result<Contents> {
    let size = file.metadata()?.len().max(capacity);
    let (start, end) = both_ends(file, size)?;
    if let Some(kind) = kinds::kind_of(&start, &end) {
        return Ok(Contents::Data(kind));
    }
    match zeros(file, size)? {
        Zeros::Only => Ok(Contents::Nothing),
        _ if test_file::is_marked(file) => Ok(Contents::OwnTestFile),
        Zeros::NotRead => Ok(Contents::Data(NOT_READ_TO_THE_END)),
        Zeros::DataBehind => Ok(Contents::Data(UNKNOWN)),
    }
}

/// The first 64 KiB, and what the last chunk has.
fn both_ends(file: &File, size: u64) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let mut chunk = Chunk::zeroed();
    let length = read_at(file, &mut chunk.0, 0)?;
    let start = chunk.0[..length].to_vec();
    let last = size.saturating_sub(1) / CHUNK as u64 * CHUNK as u64;
    let length = read_at(file, &mut chunk.0, last)?;
    Ok((start, chunk.0[..length].to_vec()))
}

#[derive(Debug, PartialEq, Eq)]
enum Zeros {
    Only,
    DataBehind,
    NotRead,
}

/// Whether a file is all zeros; holes are passed over.
fn zeros(file: &File, size: u64) -> io::Result<Zeros> {
    let start = Instant::now();
    let mut chunk = Chunk::zeroed();
    let mut at = 0;
    while let Some(data) = next_data(file, at)?.filter(|&data| data < size) {
        if start.elapsed() >= PATIENCE {
            return Ok(Zeros::NotRead);
        }
        let from = data / CHUNK as u64 * CHUNK as u64;
        let length = read_at(file, &mut chunk.0, from)?;
        if chunk.0[..length].iter().any(|&byte| byte != 0) {
            return Ok(Zeros::DataBehind);
        }
        at = from + CHUNK as u64;
    }
    Ok(Zeros::Only)
}

/// The next place that is no hole; every place where the filesystem does not tell.
fn next_data(file: &File, at: u64) -> io::Result<Option<u64>> {
    match seek(file, SeekFrom::Data(at)) {
        Ok(offset) => Ok(Some(offset)),
        Err(Errno::NXIO) => Ok(None),
        Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok(Some(at)),
        Err(error) => Err(error.into()),
    }
}

/// Everything that a file may be told to hold, for the documentation.
#[cfg(test)]
pub(crate) fn every_kind() -> impl Iterator<Item = &'static str> {
    kinds::every_kind()
}

#[cfg(test)]
#[path = "existing_contents_tests.rs"]
mod tests;
