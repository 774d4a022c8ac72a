//! Samples, latency counts and I/Os as Parquet files: written whole or not at all, and read with
//! distrust, because a run may have come from anywhere.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::record::RecordWriter;
use parquet_derive::ParquetRecordWriter;
use writecliff_columns::{ColumnError, ColumnFile, RowGroup, write_error};
use writecliff_output::{Existing, OutputError, WholeFile};

use crate::latency::LatencyCount;
use crate::sample::Sample;

/// Rows of a row group: bounds the memory of writer and reader.
const ROWS_PER_GROUP: usize = 1 << 17;

/// A row of `histograms.parquet`.
#[derive(Debug, Clone, PartialEq, Eq, Default, ParquetRecordWriter)]
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

/// How samples and latency counts are stored: few rows, many of them alike.
pub(crate) fn compressed() -> WriterProperties {
    WriterProperties::builder().set_compression(Compression::ZSTD(Default::default())).build()
}

/// How I/Os are stored, of which there are millions: each number as its step from the one before,
/// in as many bits as a block of steps takes. Of random I/Os that is as small as with values that
/// repeat looked up and all of it compressed, and made in a third of the time.
pub(crate) fn in_steps() -> WriterProperties {
    WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::DELTA_BINARY_PACKED)
        .set_compression(Compression::UNCOMPRESSED)
        .build()
}

/// Writes all rows as the file `path`, in place of an earlier one.
pub(crate) fn write<T>(
    path: &Path,
    properties: WriterProperties,
    rows: impl Iterator<Item = io::Result<T>>,
) -> Result<(), OutputError>
where
    for<'a> &'a [T]: RecordWriter<T>,
{
    let file = WholeFile::create(path, Existing::Replaced)?;
    let written = write_rows(file, properties, rows);
    written.map_err(|source| OutputError::Write { path: path.to_owned(), source })?.finish()
}

fn write_rows<T>(
    file: WholeFile,
    properties: WriterProperties,
    rows: impl Iterator<Item = io::Result<T>>,
) -> io::Result<WholeFile>
where
    for<'a> &'a [T]: RecordWriter<T>,
{
    let mut group: Vec<T> = Vec::new();
    let schema = group.as_slice().schema().map_err(write_error)?;
    let mut writer =
        SerializedFileWriter::new(file, schema, Arc::new(properties)).map_err(write_error)?;
    let mut rows = rows.peekable();
    while rows.peek().is_some() {
        group.clear();
        for row in rows.by_ref().take(ROWS_PER_GROUP) {
            group.push(row?);
        }
        write_group(&mut writer, &group).map_err(write_error)?;
    }
    writer.into_inner().map_err(write_error)
}

fn write_group<T>(
    writer: &mut SerializedFileWriter<WholeFile>,
    rows: &[T],
) -> Result<(), ParquetError>
where
    for<'a> &'a [T]: RecordWriter<T>,
{
    let mut group = writer.next_row_group()?;
    rows.write_to_row_group(&mut group)?;
    group.close().map(|_| ())
}

/// One long text may stand in every row and cost nothing in the file: so long they are on average at
/// most in a group, and together so much longer.
const TEXT_MEAN_MAX: usize = 128;
const TEXT_MORE_MAX: usize = 1 << 20;

/// What the first column of both files is called; version 1 of the schema said `phase`.
const SERIES: [&str; 2] = ["series", "phase"];

pub(crate) fn read_latencies(path: &Path) -> io::Result<Vec<LatencyRow>> {
    read(path, |mut rows: Rows<'_, LatencyRow>| {
        rows.text(&SERIES, |row, series| row.series = series)?;
        rows.small("second", |row, second| row.second = second)?;
        rows.number("latency_ns", |row, latency| row.latency_ns = latency)?;
        rows.number("count", |row, count| row.count = count)
    })
}

pub(crate) fn read_samples(path: &Path) -> io::Result<Vec<Sample>> {
    read(path, |mut rows: Rows<'_, Sample>| {
        rows.text(&SERIES, |row, series| row.series = series)?;
        rows.small("second", |row, second| row.second = second)?;
        rows.number("start_ns", |row, value| row.start_ns = value)?;
        rows.number("span_ns", |row, value| row.span_ns = value)?;
        rows.number("reads", |row, value| row.reads = value)?;
        rows.number("writes", |row, value| row.writes = value)?;
        rows.number("trims", |row, value| row.trims = value)?;
        rows.number("flushes", |row, value| row.flushes = value)?;
        rows.number("failed", |row, value| row.failed = value)?;
        rows.number("read_bytes", |row, value| row.read_bytes = value)?;
        rows.number("written_bytes", |row, value| row.written_bytes = value)?;
        rows.number("latency_mean_ns", |row, value| row.latency_mean_ns = value)?;
        rows.number("latency_p50_ns", |row, value| row.latency_p50_ns = value)?;
        rows.number("latency_p99_ns", |row, value| row.latency_p99_ns = value)?;
        rows.number("latency_p999_ns", |row, value| row.latency_p999_ns = value)?;
        rows.number("latency_p9999_ns", |row, value| row.latency_p9999_ns = value)?;
        rows.number("latency_max_ns", |row, value| row.latency_max_ns = value)?;
        rows.fraction("queue_depth", |row, value| row.queue_depth = value)?;
        what_drives_tell(&mut rows)
    })
}

/// Recordings of before these columns were made have none.
fn what_drives_tell(rows: &mut Rows<'_, Sample>) -> Result<(), ColumnError> {
    rows.known("nand_written_bytes", |row, value| row.nand_written_bytes = Some(value))?;
    rows.known("free_blocks", |row, value| row.free_blocks = Some(value))?;
    rows.known("power_microwatts", |row, value| row.power_microwatts = Some(value))?;
    rows.known("temperature_millicelsius", |row, value| {
        row.temperature_millicelsius = Some(value);
    })?;
    rows.known("latency_deviation_ns", |row, value| row.latency_deviation_ns = Some(value))?;
    rows.known("busy_ns", |row, value| row.busy_ns = Some(value))?;
    rows.known("drive_busy_ns", |row, value| row.drive_busy_ns = Some(value))?;
    rows.known("trimmed_bytes", |row, value| row.trimmed_bytes = Some(value))
}

/// How many rows a file says that it has; no more are ever read from it.
pub(crate) fn rows(path: &Path) -> io::Result<u64> {
    let file = ColumnFile::open(File::open(path)?)?;
    let groups =
        (0..file.groups()).map(|index| Ok(file.group(index, ROWS_PER_GROUP)?.rows() as u64));
    groups.sum()
}

fn read<R: Default + Clone>(
    path: &Path,
    fill: impl Fn(Rows<'_, R>) -> Result<(), ColumnError>,
) -> io::Result<Vec<R>> {
    let file = ColumnFile::open(File::open(path)?)?;
    let mut all = Vec::new();
    for index in 0..file.groups() {
        let group = file.group(index, ROWS_PER_GROUP)?;
        let begin = all.len();
        all.resize(begin + group.rows(), R::default());
        fill(Rows { file: &file, group: &group, rows: &mut all[begin..] })?;
    }
    Ok(all)
}

/// The rows of a group, to be filled from its columns by their names.
struct Rows<'a, R> {
    file: &'a ColumnFile,
    group: &'a RowGroup<'a>,
    rows: &'a mut [R],
}

impl<R> Rows<'_, R> {
    /// The column that has one of these names.
    fn column(&self, names: &[&str]) -> Result<usize, ColumnError> {
        let missing = || ColumnError::damaged(format!("it has no column {}", names[0]));
        self.file.column(names).ok_or_else(missing)
    }

    fn text(&mut self, names: &[&str], put: fn(&mut R, String)) -> Result<(), ColumnError> {
        let column = self.column(names)?;
        let mut is_text = true;
        let mut left = self.rows.len() * TEXT_MEAN_MAX + TEXT_MORE_MAX;
        self.group.required::<ByteArrayType, R>(column, self.rows, |row, value: ByteArray| {
            match value.as_utf8() {
                Ok(text) if text.len() <= left => {
                    left -= text.len();
                    put(row, text.to_owned());
                }
                _ => is_text = false,
            }
        })?;
        let damaged = || ColumnError::damaged(format!("column {} is no text", names[0]));
        is_text.then_some(()).ok_or_else(damaged)
    }

    fn small(&mut self, name: &str, put: fn(&mut R, u32)) -> Result<(), ColumnError> {
        let column = self.column(&[name])?;
        self.group.required::<Int32Type, R>(column, self.rows, |row, value| put(row, value as u32))
    }

    fn number(&mut self, name: &str, put: fn(&mut R, u64)) -> Result<(), ColumnError> {
        let column = self.column(&[name])?;
        self.group.required::<Int64Type, R>(column, self.rows, |row, value| put(row, value as u64))
    }

    fn fraction(&mut self, name: &str, put: fn(&mut R, f64)) -> Result<(), ColumnError> {
        let column = self.column(&[name])?;
        self.group.required::<DoubleType, R>(column, self.rows, put)
    }

    /// A column that may lack values, and may not be there at all.
    fn known(&mut self, name: &str, put: fn(&mut R, u64)) -> Result<(), ColumnError> {
        let Some(column) = self.file.column(&[name]) else { return Ok(()) };
        self.group.optional::<Int64Type, R>(column, self.rows, |row, value| put(row, value as u64))
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

    fn read_ios(path: &Path) -> Vec<IoRow> {
        let rows = read(path, |mut rows: Rows<'_, IoRow>| {
            rows.number("submitted_ns", |row, value| row.submitted_ns = value)?;
            rows.number("service_ns", |row, value| row.service_ns = value)?;
            rows.small("operation", |row, value| row.operation = value as u8)?;
            rows.number("offset", |row, value| row.offset = value)?;
            rows.number("length", |row, value| row.length = value)
        });
        rows.unwrap()
    }

    #[test]
    fn every_io_stands_in_the_file_as_it_was_recorded() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ios.parquet");
        let (mut encoder, mut journal) = (IoEncoder::new(DeviceTime(0)), Vec::new());
        completions().for_each(|completion| encoder.encode(&completion, &mut journal));
        write::<IoRow>(&path, in_steps(), IoDecoder::new(&journal[..])).unwrap();
        let expected = completions().map(|completion| IoRow {
            submitted_ns: completion.submitted.0,
            service_ns: completion.service_time().0,
            operation: completion.io.operation as u8,
            offset: completion.io.offset.0,
            length: completion.io.length.0,
        });
        assert!(read_ios(&path).into_iter().eq(expected));
    }
}
