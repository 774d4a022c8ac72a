//! Samples, latency counts and I/Os as Parquet files: written whole or not at all, and read with
//! distrust, because a run may have come from anywhere.

use std::fs::File;
use std::io;
use std::path::Path;

use writecliff_columns::{
    ColumnError, ColumnFile, ColumnFileWriter, Field, Kind, RowGroup, RowGroupWriter, Storage, Text,
};
use writecliff_output::{Existing, OutputError, WholeFile};

use crate::latency::LatencyCount;

/// Rows of a row group: bounds the memory of writer and reader.
const ROWS_PER_GROUP: usize = 1 << 17;

/// One long text may stand in every row and cost nothing in the file: so long they are on average at
/// most in a group, and together so much longer.
const TEXT_MEAN_MAX: usize = 128;
const TEXT_MORE_MAX: usize = 1 << 20;

/// What the first column of samples and latencies is called.
pub(crate) const SERIES: &str = "series";
/// What version 1 of the schema called it.
const SERIES_BEFORE: &str = "phase";

/// A row of a file.
pub(crate) trait Row: Default + Clone + 'static {
    /// How files of it are stored.
    const STORAGE: Storage;
    /// Whether each number is stored as its step from the one before.
    const IS_IN_STEPS: bool = false;
    /// In the order of the file.
    const COLUMNS: &'static [Column<Self>];
}

/// A column of a file: what it is called, and which part of a row it is.
pub(crate) struct Column<R> {
    name: &'static str,
    part: Part<R>,
}

/// A part of a row.
enum Part<R> {
    Text(fn(&mut R) -> &mut String),
    Byte(fn(&mut R) -> &mut u8),
    Small(fn(&mut R) -> &mut u32),
    Number(fn(&mut R) -> &mut u64),
    Fraction(fn(&mut R) -> &mut f64),
    /// A row may lack it, and older files have no such column.
    Known(fn(&mut R) -> &mut Option<u64>),
}

/// A row of `histograms.parquet`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct LatencyRow {
    /// The series it belongs to.
    pub(crate) series: String,
    /// Seconds since the series began.
    pub(crate) second: u32,
    /// The longest latency of the bucket.
    pub(crate) latency_ns: u64,
    /// The I/Os in it.
    pub(crate) count: u64,
}

impl LatencyRow {
    pub(crate) fn counted(&self) -> LatencyCount {
        LatencyCount { latency: self.latency_ns, count: self.count }
    }
}

impl Row for LatencyRow {
    const STORAGE: Storage = FEW_ROWS;
    const COLUMNS: &'static [Column<Self>] = &[
        Column::text(SERIES, |row| &mut row.series),
        Column::small("second", |row| &mut row.second),
        Column::number("latency_ns", |row| &mut row.latency_ns),
        Column::number("count", |row| &mut row.count),
    ];
}

/// How samples and latency counts are stored: few rows, many of them alike.
pub(crate) const FEW_ROWS: Storage = Storage { is_compressed: true, has_page_index: true };

/// How I/Os are stored, of which there are millions, in steps: random ones are as small then as
/// with values that repeat looked up and all of it compressed, and made in a third of the time.
pub(crate) const MILLIONS_OF_ROWS: Storage = Storage { is_compressed: false, ..FEW_ROWS };

/// Writes all rows as the file `path`, in place of an earlier one.
pub(crate) fn write<R: Row>(
    path: &Path,
    rows: impl Iterator<Item = io::Result<R>>,
) -> Result<(), OutputError> {
    let file = WholeFile::create(path, Existing::Replaced)?;
    let written = write_rows(file, rows);
    written.map_err(|source| OutputError::Write { path: path.to_owned(), source })?.finish()
}

fn write_rows<R: Row>(
    file: WholeFile,
    rows: impl Iterator<Item = io::Result<R>>,
) -> io::Result<WholeFile> {
    let fields: Vec<Field> = R::COLUMNS.iter().map(Column::field).collect();
    let mut writer = ColumnFileWriter::new(file, &fields, R::STORAGE)?;
    let mut group: Vec<R> = Vec::new();
    let mut rows = rows.peekable();
    while rows.peek().is_some() {
        group.clear();
        for row in rows.by_ref().take(ROWS_PER_GROUP) {
            group.push(row?);
        }
        writer.group(|to| R::COLUMNS.iter().try_for_each(|column| column.write(to, &mut group)))?;
    }
    writer.finish()
}

/// All rows of the file `path`.
pub(crate) fn read<R: Row>(path: &Path) -> io::Result<Vec<R>> {
    let file = ColumnFile::open(File::open(path)?)?;
    let mut all = Vec::new();
    for index in 0..file.groups() {
        let group = file.group(index, ROWS_PER_GROUP)?;
        let begin = all.len();
        all.resize(begin + group.rows(), R::default());
        let rows = &mut all[begin..];
        R::COLUMNS.iter().try_for_each(|column| column.read(&file, &group, rows))?;
    }
    Ok(all)
}

/// How many rows a file says that it has; no more are ever read from it.
pub(crate) fn rows(path: &Path) -> io::Result<u64> {
    let file = ColumnFile::open(File::open(path)?)?;
    let groups =
        (0..file.groups()).map(|index| Ok(file.group(index, ROWS_PER_GROUP)?.rows() as u64));
    groups.sum()
}

impl<R: Row> Column<R> {
    pub(crate) const fn text(name: &'static str, part: fn(&mut R) -> &mut String) -> Self {
        Self { name, part: Part::Text(part) }
    }

    pub(crate) const fn byte(name: &'static str, part: fn(&mut R) -> &mut u8) -> Self {
        Self { name, part: Part::Byte(part) }
    }

    pub(crate) const fn small(name: &'static str, part: fn(&mut R) -> &mut u32) -> Self {
        Self { name, part: Part::Small(part) }
    }

    pub(crate) const fn number(name: &'static str, part: fn(&mut R) -> &mut u64) -> Self {
        Self { name, part: Part::Number(part) }
    }

    pub(crate) const fn fraction(name: &'static str, part: fn(&mut R) -> &mut f64) -> Self {
        Self { name, part: Part::Fraction(part) }
    }

    pub(crate) const fn known(name: &'static str, part: fn(&mut R) -> &mut Option<u64>) -> Self {
        Self { name, part: Part::Known(part) }
    }

    fn field(&self) -> Field {
        let kind = match self.part {
            Part::Text(_) => Kind::Text,
            Part::Byte(_) => Kind::U8,
            Part::Small(_) => Kind::U32,
            Part::Number(_) | Part::Known(_) => Kind::U64,
            Part::Fraction(_) => Kind::F64,
        };
        let is_optional = matches!(self.part, Part::Known(_));
        Field { is_optional, is_in_steps: R::IS_IN_STEPS, ..Field::required(self.name, kind) }
    }

    fn write(&self, group: &mut RowGroupWriter<'_>, rows: &mut [R]) -> io::Result<()> {
        let rows = rows.iter_mut();
        match self.part {
            Part::Text(of) => group.required(rows.map(|row| Text::from(&of(row)[..]))),
            Part::Byte(of) => group.required(rows.map(|row| i32::from(*of(row)))),
            Part::Small(of) => group.required(rows.map(|row| of(row).cast_signed())),
            Part::Number(of) => group.required(rows.map(|row| of(row).cast_signed())),
            Part::Fraction(of) => group.required(rows.map(|row| *of(row))),
            Part::Known(of) => group.optional(rows.map(|row| of(row).map(u64::cast_signed))),
        }
    }

    /// Fills this part of the rows of a group.
    fn read(
        &self,
        file: &ColumnFile,
        group: &RowGroup<'_>,
        rows: &mut [R],
    ) -> Result<(), ColumnError> {
        let names = [self.name, if self.name == SERIES { SERIES_BEFORE } else { self.name }];
        let Some(column) = file.column(&names) else {
            return match self.part {
                Part::Known(_) => Ok(()),
                _ => Err(ColumnError::damaged(format!("it has no column {}", self.name))),
            };
        };
        match self.part {
            Part::Text(of) => self.read_text(group, column, rows, of),
            Part::Byte(of) => group.required(column, rows, |row, to: i32| *of(row) = to as u8),
            Part::Small(of) => {
                group.required(column, rows, |row, to: i32| *of(row) = to.cast_unsigned())
            }
            Part::Number(of) => {
                group.required(column, rows, |row, to: i64| *of(row) = to.cast_unsigned())
            }
            Part::Fraction(of) => group.required(column, rows, |row, to| *of(row) = to),
            Part::Known(of) => {
                group.optional(column, rows, |row, to: i64| *of(row) = Some(to.cast_unsigned()))
            }
        }
    }

    fn read_text(
        &self,
        group: &RowGroup<'_>,
        column: usize,
        rows: &mut [R],
        of: fn(&mut R) -> &mut String,
    ) -> Result<(), ColumnError> {
        let mut is_text = true;
        let mut left = rows.len() * TEXT_MEAN_MAX + TEXT_MORE_MAX;
        group.required(column, rows, |row, value: Text| match value.as_utf8() {
            Ok(text) if text.len() <= left => {
                left -= text.len();
                text.clone_into(of(row));
            }
            _ => is_text = false,
        })?;
        let damaged = || ColumnError::damaged(format!("column {} is no text", self.name));
        is_text.then_some(()).ok_or_else(damaged)
    }
}

#[cfg(test)]
mod tests {
    use writecliff_device::{Bytes, Completion, DeviceTime, Io, Status, split_mix};

    use super::*;
    use crate::io_log::{IoDecoder, IoEncoder, IoRow};

    /// More than a row group of them, and more than is read at once.
    const IOS: u64 = 200_000;

    /// Writes and reads at random places, of several lengths, that overtake one another.
    fn completions() -> impl Iterator<Item = Completion> {
        (0..IOS).map(|number| {
            let random = split_mix(number);
            let offset = Bytes(random % (1 << 30) * 4096);
            let io = match number % 3 {
                0 => Io::write(offset, Bytes(4096 << (random % 4))),
                _ => Io::read(offset, Bytes(512)),
            };
            let completed = DeviceTime((number + 50) * 1000);
            let submitted = DeviceTime(completed.0 - random % 50_000);
            Completion { io, submitted, completed, status: Status::Done }
        })
    }

    #[test]
    fn every_io_stands_in_the_file_as_it_was_recorded() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ios.parquet");
        let (mut encoder, mut journal) = (IoEncoder::new(DeviceTime(0)), Vec::new());
        completions().for_each(|completion| encoder.encode(&completion, &mut journal));
        write(&path, IoDecoder::new(&journal[..])).unwrap();
        let expected = completions().map(|completion| IoRow {
            submitted_ns: completion.submitted.0,
            service_ns: completion.service_time().0,
            operation: completion.io.operation as u8,
            offset: completion.io.offset.0,
            length: completion.io.length.0,
        });
        assert!(read::<IoRow>(&path).unwrap().into_iter().eq(expected));
    }
}
