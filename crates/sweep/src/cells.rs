//! Columns with holes, as a Parquet file.

use std::io;
use std::path::Path;

use writecliff_columns::{ColumnFileWriter, Field, Kind, Storage, Text};
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
    let written = write_columns(file, columns);
    let failed = |source: io::Error| OutputError::Write { path: path.to_owned(), source };
    written.map_err(failed)?.finish()
}

fn write_columns(file: WholeFile, columns: &[(String, Column)]) -> io::Result<WholeFile> {
    let fields = columns.iter().map(|(name, column)| {
        let kind = match column {
            Column::Number(_) => Kind::F64,
            Column::Integer(_) => Kind::I64,
            Column::Text(_) => Kind::Text,
        };
        Field::optional(name, kind)
    });
    let fields: Vec<Field> = fields.collect();
    let storage = Storage { is_compressed: true, has_page_index: true };
    let mut writer = ColumnFileWriter::new(file, &fields, storage)?;
    writer.group(|group| {
        columns.iter().try_for_each(|(_, column)| match column {
            Column::Number(values) => group.optional(values.iter().copied()),
            Column::Integer(values) => group.optional(values.iter().copied()),
            Column::Text(values) => {
                let text = |value: &Option<String>| value.as_deref().map(Text::from);
                group.optional(values.iter().map(text))
            }
        })
    })?;
    writer.finish()
}
