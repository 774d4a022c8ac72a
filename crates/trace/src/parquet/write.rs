//! A trace onto disk, a group of rows at a time.

use std::io;
use std::path::{Path, PathBuf};
use writecliff_columns::{ColumnFileWriter, RowGroupWriter, Storage};
use writecliff_output::WholeFile;

use super::room::Room;
use super::{METADATA_KEY, Metadata, ROWS_PER_GROUP, SCHEMA_VERSION, fields};
use crate::{Existing, Header, Summary, TraceIo, WriteError};

/// Compressed; nothing grows at the file's end but by the group, for which room is kept.
const STORAGE: Storage = Storage { is_compressed: true, has_page_index: false };

/// Writes a trace in the own format, at constant memory. The file has no name until it is finished.
pub struct TraceWriter {
    path: PathBuf,
    writer: ColumnFileWriter,
    room: Room,
    group: Vec<TraceIo>,
    summary: Summary,
}

impl TraceWriter {
    /// Begins the file that will be called `path`; `existing` says what becomes of one that is there.
    /// Room for its end is kept free on the disk from the beginning.
    ///
    /// # Errors
    /// [`WriteError::Output`] if it cannot be made; [`WriteError::Write`] if a full disk has no room
    /// for it.
    pub fn create(path: &Path, existing: Existing) -> Result<Self, WriteError> {
        let file = WholeFile::create(path, existing)?;
        let begun = Room::behind(file.file())
            .and_then(|room| Ok((ColumnFileWriter::new(file, &fields(), STORAGE)?, room)));
        let (writer, room) =
            begun.map_err(|source| WriteError::Write { path: path.to_owned(), source })?;
        let trace = Self {
            path: path.to_owned(),
            writer,
            room,
            group: Vec::with_capacity(ROWS_PER_GROUP),
            summary: Summary::new(),
        };
        trace.reserve()?;
        Ok(trace)
    }

    /// Adds the next operation.
    ///
    /// # Errors
    /// [`WriteError::Unsorted`] if it was issued before the last one; [`WriteError::Oversized`] for
    /// a read or write above 4 GiB, which no reader takes; [`WriteError::Write`]. When the disk is
    /// full, [`finish`](Self::finish) still makes a whole file of all operations
    /// before this one, where the filesystem can reserve space.
    pub fn write(&mut self, io: &TraceIo) -> Result<(), WriteError> {
        if io.issued < self.summary.last_issued {
            return Err(WriteError::Unsorted {
                path: self.path.clone(),
                index: self.summary.ios(),
                issued_ns: io.issued.0,
                before_ns: self.summary.last_issued.0,
            });
        }
        if io.is_oversized() {
            let (index, offset, length) = (self.summary.ios(), io.offset.0, io.length.0);
            return Err(WriteError::Oversized { index, offset, length });
        }
        if self.group.is_empty() {
            self.reserve()?;
        }
        self.summary.add(io);
        self.group.push(*io);
        if self.group.len() == ROWS_PER_GROUP { self.flush() } else { Ok(()) }
    }

    /// Keeps room on the disk for a header whose streams' names take so many bytes in JSON.
    ///
    /// # Errors
    /// [`WriteError::Write`], most likely that the disk is full; what was kept before stays.
    pub(crate) fn expect_names(&mut self, bytes: u64) -> Result<(), WriteError> {
        if self.room.expect_names(bytes) { self.reserve() } else { Ok(()) }
    }

    /// What was written so far.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Ends the file and gives it its name.
    ///
    /// # Errors
    /// [`WriteError::Write`]; [`WriteError::Output`] if something has come there that was to
    /// stay. Nothing is left behind then.
    pub fn finish(mut self, header: &Header) -> Result<Summary, WriteError> {
        self.flush()?;
        let metadata = Metadata {
            schema_version: SCHEMA_VERSION,
            header: header.clone(),
            summary: self.summary,
        };
        let closed = close(self.writer, &metadata, &self.room);
        closed.map_err(|source| WriteError::Write { path: self.path, source })?.finish()?;
        Ok(self.summary)
    }

    fn reserve(&self) -> Result<(), WriteError> {
        let groups = self.writer.groups() as u64;
        let reserved = self.room.reserve(self.writer.bytes_written(), groups);
        reserved.map_err(|source| WriteError::Write { path: self.path.clone(), source })
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        if self.group.is_empty() {
            return Ok(());
        }
        let written = self.writer.group(|group| write_group(group, &self.group));
        self.group.clear();
        written.map_err(|source| WriteError::Write { path: self.path.clone(), source })
    }
}

#[cfg(test)]
impl TraceWriter {
    pub(super) fn room_needed(&self) -> u64 {
        self.room.needed(0)
    }
}

/// Writes the end of the file, which is not on disk yet.
fn close(mut writer: ColumnFileWriter, metadata: &Metadata, room: &Room) -> io::Result<WholeFile> {
    let text = serde_json::to_string(metadata)?;
    writer.note(METADATA_KEY, text);
    let file = writer.finish()?;
    room.release()?;
    Ok(file)
}

fn write_group(group: &mut RowGroupWriter<'_>, ios: &[TraceIo]) -> io::Result<()> {
    let ios = ios.iter();
    let long = |value: u64| value.cast_signed();
    let compressible = |io: &TraceIo| Some(i32::from(io.content?.compressible_percent));
    let duplicate = |io: &TraceIo| Some(i32::from(io.content?.duplicate_percent));
    group.required(ios.clone().map(|io| long(io.issued.0)))?;
    group.optional(ios.clone().map(|io| io.completed.map(|time| long(time.0))))?;
    group.required(ios.clone().map(|io| io.operation as i32))?;
    group.required(ios.clone().map(|io| long(io.offset.0)))?;
    group.required(ios.clone().map(|io| long(io.length.0)))?;
    group.optional(ios.clone().map(|io| io.queue_depth.map(u32::cast_signed)))?;
    group.optional(ios.clone().map(compressible))?;
    group.optional(ios.clone().map(duplicate))?;
    group.required(ios.map(|io| i32::from(io.stream)))
}

impl std::fmt::Debug for TraceWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TraceWriter").field("path", &self.path).finish_non_exhaustive()
    }
}
