//! A trace from disk, a group of rows at a time.

use std::fs::File;
use std::path::{Path, PathBuf};

use writecliff_columns::{ColumnError, ColumnFile, RowGroup};
use writecliff_device::{Bytes, Nanos, Operation};

use super::{METADATA_KEY, Metadata, SCHEMA_VERSION, fields};
use crate::{Header, ReadError, Summary, TraceIo};

/// Rows of a group that are read into memory at once; other writers may make larger ones than
/// [`TraceWriter`](crate::TraceWriter).
const ROWS_PER_GROUP_MAX: usize = 1 << 22;

/// A trace in the own format, open to be read, from its beginning.
pub struct TraceFile {
    path: PathBuf,
    metadata: Metadata,
    file: ColumnFile,
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
        let file =
            File::open(path).map_err(|source| ReadError::Read { path: path.to_owned(), source })?;
        let not_a_trace = |reason: String| ReadError::Format { path: path.to_owned(), reason };
        let file = ColumnFile::open(file).map_err(|error| {
            not_a_trace(format!(
                "{error}; if another tool made it, `writecliff trace convert` makes one of it"
            ))
        })?;
        let metadata = metadata(&file).map_err(not_a_trace)?;
        Ok(Self {
            path: path.to_owned(),
            metadata,
            file,
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
        if self.next_group == self.file.groups() {
            return Ok(false);
        }
        let group = self.file.group(self.next_group, ROWS_PER_GROUP_MAX);
        let read = group
            .and_then(|group| read_group(&group, &mut self.group))
            .and_then(|()| check_ios(&self.group, self.last_issued, &self.metadata.summary));
        self.next_group += 1;
        match read {
            Ok(()) => {
                self.last_issued = self.group.last().map_or(self.last_issued, |io| io.issued);
                Ok(true)
            }
            Err(error) => {
                self.next_group = self.file.groups();
                self.group.clear();
                Err(self.damaged(error))
            }
        }
    }

    fn damaged(&self, error: ColumnError) -> ReadError {
        let path = self.path.clone();
        match error {
            ColumnError::Read(source) => ReadError::Read { path, source },
            ColumnError::Damaged(how) => {
                ReadError::Format { path, reason: format!("it is damaged: {how}") }
            }
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

fn metadata(file: &ColumnFile) -> Result<Metadata, String> {
    let text = file
        .metadata(METADATA_KEY)
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
    if !file.has_columns_of(&fields()) {
        return Err("its columns are not those of a trace (docs/formats.md)".to_owned());
    }
    let metadata = serde_json::from_str::<Metadata>(text);
    let metadata = metadata.map_err(|error| format!("its metadata cannot be read: {error}"))?;
    Ok(Metadata { header: metadata.header.printable(), ..metadata })
}

fn read_group(group: &RowGroup<'_>, ios: &mut Vec<TraceIo>) -> Result<(), ColumnError> {
    let blank = TraceIo::new(Nanos::ZERO, Operation::Read, Bytes::ZERO, Bytes::ZERO);
    ios.resize(group.rows(), blank);
    let ios = ios.as_mut_slice();
    group.required(0, ios, |io, value: i64| io.issued = Nanos(value as u64))?;
    group.optional(1, ios, |io, value: i64| io.completed = Some(Nanos(value as u64)))?;
    let mut unknown = None;
    group.required(2, ios, |io, value: i32| match operation(value) {
        Some(operation) => io.operation = operation,
        None => unknown = Some(value),
    })?;
    if let Some(value) = unknown {
        return Err(ColumnError::Damaged(format!("operation {value} is none of 0 to 3")));
    }
    group.required(3, ios, |io, value: i64| io.offset = Bytes(value as u64))?;
    group.required(4, ios, |io, value: i64| io.length = Bytes(value as u64))?;
    group.optional(5, ios, |io, value: i32| io.queue_depth = Some(value as u32))?;
    let share = |value: i32| value.clamp(0, 100) as u8;
    group.optional(6, ios, |io, value: i32| {
        io.content.get_or_insert_default().compressible_percent = share(value);
    })?;
    group.optional(7, ios, |io, value: i32| {
        io.content.get_or_insert_default().duplicate_percent = share(value);
    })?;
    group.required(8, ios, |io, value: i32| io.stream = value as u16)
}

/// What every reader of a trace relies on; whether a trace fits a drive was judged by its summary.
fn check_ios(
    ios: &[TraceIo],
    mut last_issued: Nanos,
    summary: &Summary,
) -> Result<(), ColumnError> {
    for (index, io) in ios.iter().enumerate() {
        let Nanos(issued) = io.issued;
        if io.issued < last_issued {
            let reason = format!("operation {index} of a group, at {issued} ns, is out of order");
            return Err(ColumnError::Damaged(reason));
        }
        let is_beyond = io.offset.0.checked_add(io.length.0).is_none();
        if is_beyond || io.is_oversized() || io.queue_depth == Some(0) {
            let reason = format!("operation {index} of a group, at {issued} ns, cannot be");
            return Err(ColumnError::Damaged(reason));
        }
        if !summary.allows(io) {
            let reason =
                format!("operation {index} of a group, at {issued} ns, is not as its summary says");
            return Err(ColumnError::Damaged(reason));
        }
        last_issued = io.issued;
    }
    Ok(())
}

fn operation(number: i32) -> Option<Operation> {
    let all = [Operation::Read, Operation::Write, Operation::Trim, Operation::Flush];
    usize::try_from(number).ok().and_then(|number| all.get(number).copied())
}

impl std::fmt::Debug for TraceFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TraceFile").field("path", &self.path).finish_non_exhaustive()
    }
}
