//! A Parquet file as Arrow's record batches, a batch for each group of rows.
//!
//! The file is read with the library's own distrust ([`ColumnFile`]), as everything is that people
//! send each other: damage is an error of the stream.

use std::collections::HashMap;
use std::fs::File;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, ArrowPrimitiveType, PrimitiveArray, RecordBatch, RecordBatchReader, StringArray,
    types,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use writecliff_columns::{
    ColumnError, ColumnFile, Field as Column, Kind, Readable, RowGroup, Text,
};

/// A group is in memory whole: so many rows at most. A fleet's minutes are one group.
const ROWS_MAX: usize = 1 << 24;

/// What the ends of columns' names mean: the `unit` in their fields' metadata.
const UNITS: [(&str, &str); 4] =
    [("_ns", "ns"), ("_bytes", "B"), ("_microwatts", "uW"), ("_millicelsius", "mC")];

/// The batches of a file, one after the other.
pub(crate) struct Batches {
    file: ColumnFile,
    schema: SchemaRef,
    next: usize,
}

impl Batches {
    pub(crate) fn of(file: File) -> Result<Self, ColumnError> {
        let file = ColumnFile::open(file)?;
        let fields: Vec<Field> = file.fields()?.into_iter().map(field).collect();
        let schema = Arc::new(Schema::new(fields));
        Ok(Self { file, schema, next: 0 })
    }

    fn batch(&self, group: usize) -> Result<RecordBatch, ArrowError> {
        let failed = |error: ColumnError| ArrowError::ExternalError(Box::new(error));
        let group = self.file.group(group, ROWS_MAX).map_err(failed)?;
        let fields = self.schema.fields().iter().enumerate();
        let arrays = fields.map(|(column, field)| array(&group, column, field.data_type()));
        let arrays = arrays.collect::<Result<_, _>>().map_err(failed)?;
        RecordBatch::try_new(Arc::clone(&self.schema), arrays)
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let group = self.next;
        self.next += 1;
        (group < self.file.groups()).then(|| self.batch(group))
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// A column's name, its type, and its unit if it has one.
fn field(column: Column) -> Field {
    let kind = match column.kind {
        Kind::U8 | Kind::U16 | Kind::I32 => DataType::Int32,
        Kind::U32 => DataType::UInt32,
        Kind::I64 => DataType::Int64,
        Kind::U64 => DataType::UInt64,
        Kind::F64 => DataType::Float64,
        Kind::Text => DataType::Utf8,
    };
    let unit = UNITS.iter().find(|(end, _)| column.name.ends_with(end));
    let unit = unit.map(|(_, unit)| ("unit".to_owned(), (*unit).to_owned()));
    let metadata: HashMap<_, _> = unit.into_iter().collect();
    Field::new(column.name, kind, column.is_optional).with_metadata(metadata)
}

fn array(group: &RowGroup<'_>, column: usize, kind: &DataType) -> Result<ArrayRef, ColumnError> {
    match kind {
        DataType::Int32 => numbers::<i32, types::Int32Type>(group, column, |value| value),
        DataType::UInt32 => numbers::<i32, types::UInt32Type>(group, column, i32::cast_unsigned),
        DataType::Int64 => numbers::<i64, types::Int64Type>(group, column, |value| value),
        DataType::UInt64 => numbers::<i64, types::UInt64Type>(group, column, i64::cast_unsigned),
        DataType::Float64 => numbers::<f64, types::Float64Type>(group, column, |value| value),
        _ => Ok(Arc::new(texts(&values::<Text>(group, column)?)?)),
    }
}

/// A column of numbers, each as what `of` makes of it.
fn numbers<T: Readable, A: ArrowPrimitiveType>(
    group: &RowGroup<'_>,
    column: usize,
    of: impl Fn(T) -> A::Native,
) -> Result<ArrayRef, ColumnError> {
    let values = values::<T>(group, column)?.into_iter();
    Ok(Arc::new(values.map(|value| value.map(&of)).collect::<PrimitiveArray<A>>()))
}

/// A column's values, `None` where a row has none.
fn values<T: Readable>(group: &RowGroup<'_>, column: usize) -> Result<Vec<Option<T>>, ColumnError> {
    let mut values = vec![None; group.rows()];
    group.optional(column, &mut values, |row, value| *row = Some(value))?;
    Ok(values)
}

/// Texts, which Arrow's type counts in 31 bits: a long one may stand in every row of a small file.
fn texts(values: &[Option<Text>]) -> Result<StringArray, ColumnError> {
    let bytes: usize = values.iter().flatten().map(Text::len).sum();
    if i32::try_from(bytes).is_err() {
        return Err(ColumnError::damaged(format!("a column has texts of {bytes} bytes")));
    }
    let text = |value: &Text| {
        std::str::from_utf8(value.data())
            .map(str::to_owned)
            .map_err(|_| ColumnError::damaged("a text is not UTF-8"))
    };
    values.iter().map(|value| value.as_ref().map(text).transpose()).collect()
}
