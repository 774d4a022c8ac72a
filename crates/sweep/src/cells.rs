//! Columns with holes, as a Parquet file.

use std::io;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use writecliff_columns::write_error;
use writecliff_output::{Existing, OutputError, WholeFile};

/// A column's values, with a hole where a row has none.
#[derive(Debug)]
pub enum Column {
    /// Of any number.
    Number(Vec<Option<f64>>),
    /// Counts.
    Integer(Vec<Option<i64>>),
    /// Words.
    Text(Vec<Option<String>>),
}

/// Writes named columns of equal length in place of an earlier file.
///
/// # Errors
/// [`OutputError`]; the earlier file is kept then.
pub fn write_cells(path: &Path, columns: &[(String, Column)]) -> Result<(), OutputError> {
    let file = WholeFile::create(path, Existing::Replaced)?;
    let written = write_columns(file, columns).map_err(write_error);
    let failed = |source: io::Error| OutputError::Write { path: path.to_owned(), source };
    written.map_err(failed)?.finish()
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
    let schema = Arc::new(Type::group_type_builder("rows").with_fields(fields).build()?);
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
