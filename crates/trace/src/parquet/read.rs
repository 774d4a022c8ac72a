//! A trace from disk, a group of rows at a time.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::parquet::basic::{Repetition, Type as PhysicalType};
use ::parquet::column::reader::ColumnReaderImpl;
use ::parquet::data_type::{DataType, Int32Type, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use ::parquet::schema::types::SchemaDescriptor;
use writecliff_device::{Bytes, Nanos, Operation};

use super::page::CheckedPages;
use super::{METADATA_KEY, Metadata, SCHEMA_VERSION, io_error, schema};
use crate::{Header, ReadError, Summary, TraceIo};

/// Rows of a group that are read into memory at once; other writers may make larger ones than
/// [`TraceWriter`](crate::TraceWriter).
const ROWS_PER_GROUP_MAX: i64 = 1 << 22;

/// A trace in the own format, open to be read, from its beginning.
pub struct TraceFile {
    path: PathBuf,
    metadata: Metadata,
    reader: Arc<SerializedFileReader<File>>,
    next_group: usize,
    /// The group being handed out, and how far.
    group: Vec<TraceIo>,
    next: usize,
    /// Of the groups before.
    last_issued: Nanos,
}

impl TraceFile {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// [`ReadError::Read`]; [`ReadError::Format`] if it is no trace, or of another version.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let opened = File::open(path).and_then(|file| Ok((file.metadata()?.len(), file)));
        let (length, file) =
            opened.map_err(|source| ReadError::Read { path: path.to_owned(), source })?;
        let not_a_trace = |reason: String| ReadError::Format { path: path.to_owned(), reason };
        let reader = SerializedFileReader::new(file).map_err(|error| {
            not_a_trace(format!(
                "{}; if another tool made it, `writecliff trace convert` makes one of it",
                io_error(error)
            ))
        })?;
        let metadata = metadata(&reader).map_err(not_a_trace)?;
        check_layout(&reader, length).map_err(not_a_trace)?;
        Ok(Self {
            path: path.to_owned(),
            metadata,
            reader: Arc::new(reader),
            next_group: 0,
            group: Vec::new(),
            next: 0,
            last_issued: Nanos::ZERO,
        })
    }

    /// Where it comes from.
    pub fn header(&self) -> &Header {
        &self.metadata.header
    }

    /// What it amounts to.
    pub fn summary(&self) -> &Summary {
        &self.metadata.summary
    }

    /// Reads the next group; `false` at the end.
    fn read_group(&mut self) -> Result<bool, ReadError> {
        self.group.clear();
        self.next = 0;
        if self.next_group == self.reader.num_row_groups() {
            return Ok(false);
        }
        let group = self.reader.get_row_group(self.next_group);
        let read = group
            .and_then(|group| read_group(group.as_ref(), &mut self.group))
            .and_then(|()| check_ios(&self.group, self.last_issued, &self.metadata.summary));
        self.next_group += 1;
        match read {
            Ok(()) => {
                self.last_issued = self.group.last().map_or(self.last_issued, |io| io.issued);
                Ok(true)
            }
            Err(error) => {
                self.next_group = self.reader.num_row_groups();
                self.group.clear();
                Err(self.damaged(error))
            }
        }
    }

    fn damaged(&self, error: ParquetError) -> ReadError {
        let path = self.path.clone();
        match error {
            ParquetError::External(source) if source.is::<io::Error>() => {
                ReadError::Read { path, source: io_error(ParquetError::External(source)) }
            }
            other => ReadError::Format { path, reason: format!("it is damaged: {other}") },
        }
    }
}

impl Iterator for TraceFile {
    type Item = Result<TraceIo, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.next == self.group.len() {
            match self.read_group() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
        self.next += 1;
        Some(Ok(self.group[self.next - 1]))
    }
}

fn metadata(reader: &SerializedFileReader<File>) -> Result<Metadata, String> {
    let file = reader.metadata().file_metadata();
    let entries = file.key_value_metadata().map_or(&[][..], Vec::as_slice);
    let text = entries
        .iter()
        .find(|entry| entry.key == METADATA_KEY)
        .and_then(|entry| entry.value.as_deref())
        .ok_or_else(|| format!("its metadata have no {METADATA_KEY}"))?;
    let version = serde_json::from_str::<serde_json::Value>(text)
        .map_err(|error| format!("its metadata cannot be read: {error}"))?["schema_version"]
        .clone();
    if version != SCHEMA_VERSION {
        return Err(format!(
            "its schema_version is {version}, and this version of writecliff reads \
             {SCHEMA_VERSION}; use the version that wrote it"
        ));
    }
    let expected = SchemaDescriptor::new(schema());
    if columns(file.schema_descr()).ne(columns(&expected)) {
        return Err("its columns are not those of a trace (docs/formats.md)".to_owned());
    }
    let metadata = serde_json::from_str::<Metadata>(text);
    let metadata = metadata.map_err(|error| format!("its metadata cannot be read: {error}"))?;
    Ok(Metadata { header: metadata.header.printable(), ..metadata })
}

/// Names, types and whether a value may be missing; what else writers note of a column differs.
fn columns(schema: &SchemaDescriptor) -> impl Iterator<Item = (&str, PhysicalType, Repetition)> {
    schema.columns().iter().map(|column| {
        let repetition = column.self_type().get_basic_info().repetition();
        (column.name(), column.physical_type(), repetition)
    })
}

/// The library takes the places of columns for granted.
fn check_layout(reader: &SerializedFileReader<File>, length: u64) -> Result<(), String> {
    for (index, group) in reader.metadata().row_groups().iter().enumerate() {
        if !(0..=ROWS_PER_GROUP_MAX).contains(&group.num_rows()) {
            return Err(format!("it is damaged: group {index} has {} rows", group.num_rows()));
        }
        for column in group.columns() {
            let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
            let end = start.checked_add(column.compressed_size());
            let is_inside = start >= 0
                && column.compressed_size() >= 0
                && end.is_some_and(|end| end.unsigned_abs() <= length);
            if !is_inside {
                return Err(format!("it is damaged: a column of group {index} lies outside"));
            }
        }
    }
    Ok(())
}

fn read_group(group: &dyn RowGroupReader, ios: &mut Vec<TraceIo>) -> Result<(), ParquetError> {
    let rows = group.metadata().num_rows() as usize;
    let blank = TraceIo::new(Nanos::ZERO, Operation::Read, Bytes::ZERO, Bytes::ZERO);
    ios.resize(rows, blank);
    let ios = ios.as_mut_slice();
    required::<Int64Type>(group, 0, ios, |io, value| io.issued = Nanos(value as u64))?;
    optional::<Int64Type>(group, 1, ios, |io, value| io.completed = Some(Nanos(value as u64)))?;
    let mut unknown = None;
    required::<Int32Type>(group, 2, ios, |io, value| match operation(value) {
        Some(operation) => io.operation = operation,
        None => unknown = Some(value),
    })?;
    if let Some(value) = unknown {
        return Err(ParquetError::General(format!("operation {value} is none of 0 to 3")));
    }
    required::<Int64Type>(group, 3, ios, |io, value| io.offset = Bytes(value as u64))?;
    required::<Int64Type>(group, 4, ios, |io, value| io.length = Bytes(value as u64))?;
    optional::<Int32Type>(group, 5, ios, |io, value| io.queue_depth = Some(value as u32))?;
    let share = |value: i32| value.clamp(0, 100) as u8;
    optional::<Int32Type>(group, 6, ios, |io, value| {
        io.content.get_or_insert_default().compressible_percent = share(value);
    })?;
    optional::<Int32Type>(group, 7, ios, |io, value| {
        io.content.get_or_insert_default().duplicate_percent = share(value);
    })?;
    required::<Int32Type>(group, 8, ios, |io, value| io.stream = value as u16)
}

/// What every reader of a trace relies on; whether a trace fits a drive was judged by its summary.
fn check_ios(
    ios: &[TraceIo],
    mut last_issued: Nanos,
    summary: &Summary,
) -> Result<(), ParquetError> {
    for (index, io) in ios.iter().enumerate() {
        let Nanos(issued) = io.issued;
        if io.issued < last_issued {
            let reason = format!("operation {index} of a group, at {issued} ns, is out of order");
            return Err(ParquetError::General(reason));
        }
        let is_beyond = io.offset.0.checked_add(io.length.0).is_none();
        if is_beyond || io.is_oversized() || io.queue_depth == Some(0) {
            let reason = format!("operation {index} of a group, at {issued} ns, cannot be");
            return Err(ParquetError::General(reason));
        }
        if !summary.allows(io) {
            let reason =
                format!("operation {index} of a group, at {issued} ns, is not as its summary says");
            return Err(ParquetError::General(reason));
        }
        last_issued = io.issued;
    }
    Ok(())
}

fn operation(number: i32) -> Option<Operation> {
    let all = [Operation::Read, Operation::Write, Operation::Trim, Operation::Flush];
    usize::try_from(number).ok().and_then(|number| all.get(number).copied())
}

fn required<T: DataType>(
    group: &dyn RowGroupReader,
    index: usize,
    ios: &mut [TraceIo],
    mut put: impl FnMut(&mut TraceIo, T::T),
) -> Result<(), ParquetError>
where
    T::T: Copy,
{
    let mut column = column::<T>(group, index)?;
    let mut values = Vec::with_capacity(ios.len());
    column.read_records(ios.len(), None, None, &mut values)?;
    check_count(values.len(), ios.len(), index)?;
    ios.iter_mut().zip(values).for_each(|(io, value)| put(io, value));
    Ok(())
}

fn optional<T: DataType>(
    group: &dyn RowGroupReader,
    index: usize,
    ios: &mut [TraceIo],
    mut put: impl FnMut(&mut TraceIo, T::T),
) -> Result<(), ParquetError>
where
    T::T: Copy,
{
    let mut column = column::<T>(group, index)?;
    let (mut values, mut levels) = (Vec::new(), Vec::with_capacity(ios.len()));
    column.read_records(ios.len(), Some(&mut levels), None, &mut values)?;
    check_count(levels.len(), ios.len(), index)?;
    let mut values = values.into_iter();
    for (io, level) in ios.iter_mut().zip(levels) {
        if level > 0
            && let Some(value) = values.next()
        {
            put(io, value);
        }
    }
    Ok(())
}

fn column<T: DataType>(
    group: &dyn RowGroupReader,
    index: usize,
) -> Result<ColumnReaderImpl<T>, ParquetError> {
    let descriptor = group.metadata().column(index).column_descr_ptr();
    let is_optional = descriptor.max_def_level() > 0;
    let pages = CheckedPages::new(group.get_column_page_reader(index)?, is_optional);
    Ok(ColumnReaderImpl::new(descriptor, Box::new(pages)))
}

fn check_count(got: usize, expected: usize, index: usize) -> Result<(), ParquetError> {
    if got == expected {
        return Ok(());
    }
    Err(ParquetError::General(format!("column {index} has {got} of {expected} values")))
}

impl std::fmt::Debug for TraceFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TraceFile").field("path", &self.path).finish_non_exhaustive()
    }
}
