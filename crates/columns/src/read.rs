//! One group of rows after the other, column by column.

use std::fs::File;

use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::schema::types::ColumnDescPtr;

use crate::page::CheckedPages;
use crate::{ColumnError, Field};

/// A Parquet file, open to be read.
pub struct ColumnFile {
    reader: SerializedFileReader<File>,
    length: u64,
}

/// Some rows of a file, one after the other.
pub struct RowGroup<'a> {
    group: Box<dyn RowGroupReader + 'a>,
    rows: usize,
}

/// The values of a column.
pub struct Cells<T> {
    values: Vec<T>,
    /// Zero for each row that has no value; none if no value may be missing.
    levels: Option<Vec<i16>>,
}

/// What a column's values are in memory: `i32`, `i64`, `f64` or [`Text`](crate::Text). The library's
/// generic code is made here for these, once.
pub trait Readable: Clone {
    /// A column's values, and where they are missing.
    #[doc(hidden)]
    fn read(group: &RowGroup<'_>, column: usize) -> Result<Cells<Self>, ColumnError>;
}

macro_rules! readable {
    ($($value:ty as $physical:ty),*) => {$(
        impl Readable for $value {
            fn read(group: &RowGroup<'_>, column: usize) -> Result<Cells<Self>, ColumnError> {
                group.cells::<$physical>(column)
            }
        }
    )*};
}

readable!(i32 as Int32Type, i64 as Int64Type, f64 as DoubleType, ByteArray as ByteArrayType);

impl ColumnFile {
    /// Reads what the file says of itself.
    ///
    /// # Errors
    /// [`ColumnError`]: it cannot be read, or is no Parquet.
    pub fn open(file: File) -> Result<Self, ColumnError> {
        let length = file.metadata().map_err(ColumnError::Read)?.len();
        Ok(Self { reader: SerializedFileReader::new(file)?, length })
    }

    /// What its writer noted under this key.
    pub fn metadata(&self, key: &str) -> Option<&str> {
        let entries = self.reader.metadata().file_metadata().key_value_metadata()?;
        entries.iter().find(|entry| entry.key == key)?.value.as_deref()
    }

    /// Its columns.
    ///
    /// # Errors
    /// [`ColumnError::Damaged`] if one is of a kind that nobody here writes.
    pub fn fields(&self) -> Result<Vec<Field>, ColumnError> {
        self.columns().iter().map(|column| Field::of(column)).collect()
    }

    /// Whether it has just these columns: names, types, and whether a value may be missing.
    pub fn has_columns_of(&self, fields: &[Field]) -> bool {
        let columns = self.columns();
        let is_field = |(field, column): (&Field, &ColumnDescPtr)| field.is(column);
        columns.len() == fields.len() && fields.iter().zip(columns).all(is_field)
    }

    fn columns(&self) -> &[ColumnDescPtr] {
        self.reader.metadata().file_metadata().schema_descr().columns()
    }

    /// The number of the column that has one of these names.
    pub fn column(&self, names: &[&str]) -> Option<usize> {
        self.columns().iter().position(|column| names.contains(&column.name()))
    }

    /// Groups of rows.
    pub fn groups(&self) -> usize {
        self.reader.num_row_groups()
    }

    /// One of them, with no more than `rows_max` rows: so many are read into memory at once.
    ///
    /// # Errors
    /// [`ColumnError`], also if it has more, or cannot lie where it is said to.
    pub fn group(&self, index: usize, rows_max: usize) -> Result<RowGroup<'_>, ColumnError> {
        let group = self.reader.get_row_group(index)?;
        let rows = group.metadata().num_rows();
        let possible = usize::try_from(rows).ok().filter(|rows| *rows <= rows_max);
        let Some(rows) = possible else {
            return Err(ColumnError::damaged(format!("group {index} has {rows} rows")));
        };
        // The library takes the places of columns for granted.
        if !group.metadata().columns().iter().all(|column| self.is_inside(column)) {
            return Err(ColumnError::damaged(format!("a column of group {index} lies outside")));
        }
        Ok(RowGroup { group, rows })
    }

    fn is_inside(&self, column: &ColumnChunkMetaData) -> bool {
        let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
        let end = start.checked_add(column.compressed_size());
        start >= 0
            && column.compressed_size() >= 0
            && end.is_some_and(|end| end.unsigned_abs() <= self.length)
    }
}

impl RowGroup<'_> {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Puts each value of a column into its row.
    ///
    /// # Errors
    /// [`ColumnError`] if it has another type, or not a value for each row.
    ///
    /// # Panics
    /// If `rows` are not as many as the group's.
    pub fn required<T: Readable, R>(
        &self,
        column: usize,
        rows: &mut [R],
        mut put: impl FnMut(&mut R, T),
    ) -> Result<(), ColumnError> {
        assert_eq!(rows.len(), self.rows, "a row for each of the group's");
        let Cells { values, levels: None } = T::read(self, column)? else {
            return Err(ColumnError::damaged(format!("column {column} may lack values")));
        };
        rows.iter_mut().zip(values).for_each(|(row, value)| put(row, value));
        Ok(())
    }

    /// Puts each value of a column that may lack some into its row.
    ///
    /// # Errors
    /// [`ColumnError`] if it has another type, or does not say of each row whether it has a value.
    ///
    /// # Panics
    /// If `rows` are not as many as the group's.
    pub fn optional<T: Readable, R>(
        &self,
        column: usize,
        rows: &mut [R],
        mut put: impl FnMut(&mut R, T),
    ) -> Result<(), ColumnError> {
        assert_eq!(rows.len(), self.rows, "a row for each of the group's");
        let Cells { values, levels } = T::read(self, column)?;
        let levels = levels.unwrap_or_else(|| vec![1; self.rows]);
        let with_value = rows.iter_mut().zip(levels).filter(|(_, level)| *level > 0);
        with_value.zip(values).for_each(|((row, _), value)| put(row, value));
        Ok(())
    }

    /// Reads a column whole.
    fn cells<T: DataType>(&self, column: usize) -> Result<Cells<T::T>, ColumnError> {
        let (mut reader, is_optional) = self.reader::<T>(column)?;
        let mut values = Vec::with_capacity(if is_optional { 0 } else { self.rows });
        let mut levels = is_optional.then(|| Vec::with_capacity(self.rows));
        reader.read_records(self.rows, levels.as_mut(), None, &mut values)?;
        let got = levels.as_ref().map_or(values.len(), Vec::len);
        if got != self.rows {
            let how = format!("column {column} has {got} of {} values", self.rows);
            return Err(ColumnError::damaged(how));
        }
        Ok(Cells { values, levels })
    }

    /// Reads a column; also says whether its values may be missing.
    fn reader<T: DataType>(
        &self,
        column: usize,
    ) -> Result<(ColumnReaderImpl<T>, bool), ColumnError> {
        let metadata = self.group.metadata();
        if column >= metadata.num_columns() {
            return Err(ColumnError::damaged(format!("column {column} is not there")));
        }
        let descriptor = metadata.column(column).column_descr_ptr();
        let (physical, levels) = (descriptor.physical_type(), descriptor.max_def_level());
        if physical != T::get_physical_type() || levels > 1 || descriptor.max_rep_level() > 0 {
            return Err(ColumnError::damaged(format!("column {column} is of another type")));
        }
        let pages = self.group.get_column_page_reader(column)?;
        let pages = CheckedPages::new(pages, physical, levels > 0);
        Ok((ColumnReaderImpl::new(descriptor, Box::new(pages)), levels > 0))
    }
}

impl std::fmt::Debug for ColumnFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ColumnFile").field("groups", &self.groups()).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for RowGroup<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowGroup").field("rows", &self.rows).finish_non_exhaustive()
    }
}
