//! A trace onto disk, a group of rows at a time.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::parquet::basic::{Compression, Encoding, ZstdLevel};
use ::parquet::data_type::{DataType, Int32Type, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::ColumnPath;

use writecliff_columns::write_error;
use writecliff_output::WholeFile;

use super::room::Room;
use super::{METADATA_KEY, Metadata, ROWS_PER_GROUP, SCHEMA_VERSION, schema};
use crate::{Existing, Header, Summary, TraceIo, WriteError};

/// Writes a trace in the own format, at constant memory. The file has no name until it is finished.
pub struct TraceWriter {
    path: PathBuf,
    writer: SerializedFileWriter<WholeFile>,
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
        let begun = Room::behind(file.file()).and_then(|room| {
            let writer = SerializedFileWriter::new(file, schema(), Arc::new(properties()));
            Ok((writer.map_err(write_error)?, room))
        });
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
        let groups = self.writer.flushed_row_groups().len() as u64;
        let reserved = self.room.reserve(self.writer.bytes_written() as u64, groups);
        reserved.map_err(|source| WriteError::Write { path: self.path.clone(), source })
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        if self.group.is_empty() {
            return Ok(());
        }
        let written = write_group(&mut self.writer, &self.group).map_err(write_error);
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
fn close(
    mut writer: SerializedFileWriter<WholeFile>,
    metadata: &Metadata,
    room: &Room,
) -> io::Result<WholeFile> {
    let text = serde_json::to_string(metadata)?;
    writer.append_key_value_metadata(KeyValue::new(METADATA_KEY.to_owned(), text));
    let file = writer.into_inner().map_err(write_error)?;
    room.release()?;
    Ok(file)
}

/// Times grow by little: their differences are small. All other columns have few values, or are
/// better compressed whole.
fn properties() -> WriterProperties {
    let column = |name: &str| ColumnPath::from(name);
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_statistics_enabled(EnabledStatistics::Chunk);
    for name in ["issued_ns", "completed_ns", "offset"] {
        properties = properties
            .set_column_dictionary_enabled(column(name), false)
            .set_column_encoding(column(name), Encoding::DELTA_BINARY_PACKED);
    }
    properties.build()
}

fn write_group(
    writer: &mut SerializedFileWriter<WholeFile>,
    ios: &[TraceIo],
) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    required::<Int64Type>(&mut group, ios, |io| io.issued.0 as i64)?;
    optional::<Int64Type>(&mut group, ios, |io| io.completed.map(|time| time.0 as i64))?;
    required::<Int32Type>(&mut group, ios, |io| io.operation as i32)?;
    required::<Int64Type>(&mut group, ios, |io| io.offset.0 as i64)?;
    required::<Int64Type>(&mut group, ios, |io| io.length.0 as i64)?;
    optional::<Int32Type>(&mut group, ios, |io| io.queue_depth.map(|depth| depth as i32))?;
    let content = |io: &TraceIo| io.content;
    optional::<Int32Type>(&mut group, ios, |io| {
        content(io).map(|content| i32::from(content.compressible_percent))
    })?;
    optional::<Int32Type>(&mut group, ios, |io| {
        content(io).map(|content| i32::from(content.duplicate_percent))
    })?;
    required::<Int32Type>(&mut group, ios, |io| i32::from(io.stream))?;
    group.close()?;
    Ok(())
}

fn required<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, WholeFile>,
    ios: &[TraceIo],
    value: impl Fn(&TraceIo) -> T::T,
) -> Result<(), ParquetError> {
    let values: Vec<T::T> = ios.iter().map(value).collect();
    column::<T>(group, &values, None)
}

fn optional<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, WholeFile>,
    ios: &[TraceIo],
    value: impl Fn(&TraceIo) -> Option<T::T>,
) -> Result<(), ParquetError> {
    let values: Vec<Option<T::T>> = ios.iter().map(value).collect();
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<T::T> = values.into_iter().flatten().collect();
    column::<T>(group, &values, Some(&levels))
}

fn column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, WholeFile>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        unreachable!("the schema has a column for each call");
    };
    column.typed::<T>().write_batch(values, levels, None)?;
    column.close()
}

impl std::fmt::Debug for TraceWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TraceWriter").field("path", &self.path).finish_non_exhaustive()
    }
}
