//! All rows as one Parquet file, for pandas, polars, DuckDB and the report.

use std::io;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use serde_json::Value;
use writecliff_columns::write_error;
use writecliff_output::{Existing, OutputError, WholeFile};

use crate::Row;

/// A column's values, with a hole where a row has none.
enum Column {
    Number(Vec<Option<f64>>),
    Integer(Vec<Option<i64>>),
    Text(Vec<Option<String>>),
}

/// Writes the rows, in the order of their points, in place of an earlier file: a column for the
/// point, the drive, each of the `varied` keys, the seed, each figure, and what went wrong.
pub(crate) fn write(path: &Path, varied: &[String], rows: &[Row]) -> Result<(), OutputError> {
    let file = WholeFile::create(path, Existing::Replaced)?;
    let written = write_columns(file, &columns(varied, rows)).map_err(write_error);
    let failed = |source: io::Error| OutputError::Write { path: path.to_owned(), source };
    written.map_err(failed)?.finish()
}

fn columns(varied: &[String], rows: &[Row]) -> Vec<(String, Column)> {
    let integers = |of: fn(&Row) -> u64| {
        Column::Integer(rows.iter().map(|row| i64::try_from(of(row)).ok()).collect())
    };
    let texts = |of: fn(&Row) -> Option<String>| Column::Text(rows.iter().map(of).collect());
    let mut columns = vec![
        ("point".to_owned(), integers(|row| u64::from(row.point.point))),
        ("drive".to_owned(), texts(|row| Some(row.point.drive.clone()))),
    ];
    let own = varied.iter().filter(|key| *key != crate::plan::DRIVE);
    columns.extend(own.map(|key| (key.clone(), values(key, rows))));
    columns.push(("seed".to_owned(), integers(|row| row.point.seed)));
    columns.extend(figures(rows).into_iter().map(|name| {
        let values = rows.iter().map(|row| row.figure(&name)).collect();
        (name, Column::Number(values))
    }));
    columns.push(("error".to_owned(), texts(|row| row.error.clone())));
    columns.push(("profile_sha256".to_owned(), texts(|row| row.profile_sha256.clone())));
    columns
}

/// All figures' names, in the order in which they first occur.
pub(crate) fn figures(rows: &[Row]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for figure in rows.iter().flat_map(|row| &row.figures) {
        if !names.contains(&figure.name) {
            names.push(figure.name.clone());
        }
    }
    names
}

/// Numbers if all of them are.
fn values(key: &str, rows: &[Row]) -> Column {
    let values: Vec<Option<Value>> = rows.iter().map(|row| row.point.value(key)).collect();
    let is_number = |value: &Option<Value>| value.as_ref().is_none_or(Value::is_number);
    match values.iter().all(is_number) {
        true => Column::Number(values.into_iter().map(|value| value?.as_f64()).collect()),
        false => Column::Text(values.into_iter().map(|value| value.map(text)).collect()),
    }
}

/// A value without quotes.
pub(crate) fn text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn write_columns(file: WholeFile, columns: &[(String, Column)]) -> Result<WholeFile, ParquetError> {
    let fields = columns.iter().map(|(name, column)| {
        let (physical, converted) = match column {
            Column::Number(_) => (PhysicalType::DOUBLE, ConvertedType::NONE),
            Column::Integer(_) => (PhysicalType::INT64, ConvertedType::NONE),
            Column::Text(_) => (PhysicalType::BYTE_ARRAY, ConvertedType::UTF8),
        };
        let field = Type::primitive_type_builder(name, physical).with_converted_type(converted);
        Ok(Arc::new(field.with_repetition(Repetition::OPTIONAL).build()?))
    });
    let fields = fields.collect::<Result<Vec<_>, ParquetError>>()?;
    let schema = Arc::new(Type::group_type_builder("sweep").with_fields(fields).build()?);
    let properties =
        WriterProperties::builder().set_compression(Compression::ZSTD(Default::default()));
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties.build()))?;
    let mut group = writer.next_row_group()?;
    for (_, column) in columns {
        match column {
            Column::Number(values) => put::<DoubleType, _>(&mut group, values, |value| *value)?,
            Column::Integer(values) => put::<Int64Type, _>(&mut group, values, |value| *value)?,
            Column::Text(values) => {
                put::<ByteArrayType, _>(&mut group, values, |text: &String| {
                    ByteArray::from(text.as_str())
                })?;
            }
        }
    }
    group.close()?;
    writer.into_inner()
}

fn put<D: DataType, T>(
    group: &mut SerializedRowGroupWriter<'_, WholeFile>,
    values: &[Option<T>],
    of: impl Fn(&T) -> D::T,
) -> Result<(), ParquetError> {
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<D::T> = values.iter().flatten().map(of).collect();
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    column.typed::<D>().write_batch(&values, Some(&levels), None)?;
    column.close()
}
