//! One group of rows after the other, column by column.

use std::io;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::ColumnPath;
use writecliff_output::WholeFile;

use crate::field::schema;
use crate::{Field, write_error};

/// How a file is stored.
#[derive(Debug, Clone, Copy)]
pub struct Storage {
    /// Every page is compressed with Zstandard.
    pub is_compressed: bool,
    /// Least and greatest values stand at the file's end for every page, and not for every group
    /// alone; the end grows with the file then.
    pub has_page_index: bool,
}

/// A Parquet file that is written.
pub struct ColumnFileWriter {
    writer: SerializedFileWriter<WholeFile>,
}

/// A group of rows that is written, column after column in the order of the file's.
pub struct RowGroupWriter<'a> {
    group: SerializedRowGroupWriter<'a, WholeFile>,
}

/// What a column's values are in memory: `i32`, `i64`, `f64` or [`Text`](crate::Text). The library's
/// generic code is made here for these, once.
pub trait Writable: Sized {
    /// Writes the next column; `levels` has 1 for each row with a value, if any may be missing.
    #[doc(hidden)]
    fn write(
        group: &mut RowGroupWriter<'_>,
        values: &[Self],
        levels: Option<&[i16]>,
    ) -> Result<(), ParquetError>;
}

macro_rules! writable {
    ($($value:ty as $physical:ty),*) => {$(
        impl Writable for $value {
            fn write(
                group: &mut RowGroupWriter<'_>,
                values: &[Self],
                levels: Option<&[i16]>,
            ) -> Result<(), ParquetError> {
                group.column::<$physical>(values, levels)
            }
        }
    )*};
}

writable!(i32 as Int32Type, i64 as Int64Type, f64 as DoubleType, ByteArray as ByteArrayType);

impl ColumnFileWriter {
    /// Begins a file of these columns.
    ///
    /// # Errors
    /// What the system says, as of all that writes.
    pub fn new(file: WholeFile, fields: &[Field], storage: Storage) -> io::Result<Self> {
        let properties = Arc::new(properties(fields, storage));
        let writer = schema(fields)
            .and_then(|schema| SerializedFileWriter::new(file, schema, properties))
            .map_err(write_error)?;
        Ok(Self { writer })
    }

    /// Writes one more group of rows.
    ///
    /// # Errors
    /// What the system says.
    ///
    /// # Panics
    /// If `write` does not write each column once, with the values of its kind.
    pub fn group(
        &mut self,
        write: impl FnOnce(&mut RowGroupWriter<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut group = self.begin()?;
        write(&mut group)?;
        group.close()
    }

    fn begin(&mut self) -> io::Result<RowGroupWriter<'_>> {
        Ok(RowGroupWriter { group: self.writer.next_row_group().map_err(write_error)? })
    }

    /// Groups that were written.
    pub fn groups(&self) -> usize {
        self.writer.flushed_row_groups().len()
    }

    /// Bytes that they take.
    pub fn bytes_written(&self) -> u64 {
        self.writer.bytes_written() as u64
    }

    /// Notes a text for the file's end, which [`metadata`](crate::ColumnFile::metadata) finds.
    pub fn note(&mut self, key: &str, text: String) {
        self.writer.append_key_value_metadata(KeyValue::new(key.to_owned(), text));
    }

    /// Writes the file's end.
    ///
    /// # Errors
    /// What the system says.
    pub fn finish(self) -> io::Result<WholeFile> {
        self.writer.into_inner().map_err(write_error)
    }
}

impl RowGroupWriter<'_> {
    /// Writes the next column, which has a value in each row.
    ///
    /// # Errors
    /// What the system says.
    pub fn required<T: Writable>(&mut self, values: impl Iterator<Item = T>) -> io::Result<()> {
        let values: Vec<T> = values.collect();
        T::write(self, &values, None).map_err(write_error)
    }

    /// Writes the next column, whose values may be missing.
    ///
    /// # Errors
    /// What the system says.
    pub fn optional<T: Writable>(
        &mut self,
        values: impl Iterator<Item = Option<T>>,
    ) -> io::Result<()> {
        let mut levels = Vec::with_capacity(values.size_hint().0);
        let values = values.inspect(|value| levels.push(i16::from(value.is_some())));
        let values: Vec<T> = values.flatten().collect();
        T::write(self, &values, Some(&levels)).map_err(write_error)
    }

    fn column<D: DataType>(
        &mut self,
        values: &[D::T],
        levels: Option<&[i16]>,
    ) -> Result<(), ParquetError> {
        let mut column = self.group.next_column()?.expect("a column of the file for each call");
        column.typed::<D>().write_batch(values, levels, None)?;
        column.close()
    }

    fn close(self) -> io::Result<()> {
        self.group.close().map(|_| ()).map_err(write_error)
    }
}

fn properties(fields: &[Field], storage: Storage) -> WriterProperties {
    let compression = match storage.is_compressed {
        true => Compression::ZSTD(Default::default()),
        false => Compression::UNCOMPRESSED,
    };
    let statistics = match storage.has_page_index {
        true => EnabledStatistics::Page,
        false => EnabledStatistics::Chunk,
    };
    let mut properties =
        WriterProperties::builder().set_compression(compression).set_statistics_enabled(statistics);
    for field in fields.iter().filter(|field| field.is_in_steps) {
        let column = ColumnPath::from(&field.name[..]);
        properties = properties
            .set_column_dictionary_enabled(column.clone(), false)
            .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
    }
    properties.build()
}

impl std::fmt::Debug for ColumnFileWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ColumnFileWriter").field("groups", &self.groups()).finish_non_exhaustive()
    }
}
