//! Samples, latency counts and I/Os as Parquet files, written whole and atomically.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::{RecordWriter, Row, RowAccessor};
use parquet_derive::ParquetRecordWriter;

use crate::latency::LatencyCount;
use crate::sample::Sample;

/// Rows of a row group: bounds the memory of writer and reader.
const ROWS_PER_GROUP: usize = 1 << 17;

/// A row of `histograms.parquet`.
#[derive(Debug, Clone, PartialEq, Eq, ParquetRecordWriter)]
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

/// Writes all rows to a temporary file beside `path` and renames it: the file is whole or absent.
pub(crate) fn write<T>(path: &Path, rows: impl Iterator<Item = io::Result<T>>) -> io::Result<()>
where
    for<'a> &'a [T]: RecordWriter<T>,
{
    let partial = path.with_extension("parquet.partial");
    // In a directory from elsewhere it could be a link, to a device even.
    let _ = std::fs::remove_file(&partial);
    let written = write_rows(&partial, rows).and_then(|()| std::fs::rename(&partial, path));
    if written.is_err() {
        // What is left of a failed attempt only takes space; the journal has the data.
        let _ = std::fs::remove_file(&partial);
    }
    written
}

fn write_rows<T>(path: &Path, rows: impl Iterator<Item = io::Result<T>>) -> io::Result<()>
where
    for<'a> &'a [T]: RecordWriter<T>,
{
    let properties =
        WriterProperties::builder().set_compression(Compression::ZSTD(Default::default())).build();
    let mut group: Vec<T> = Vec::new();
    let schema = group.as_slice().schema().map_err(io_error)?;
    let mut writer =
        SerializedFileWriter::new(File::create_new(path)?, schema, Arc::new(properties))
            .map_err(io_error)?;
    let mut rows = rows.peekable();
    while rows.peek().is_some() {
        group.clear();
        for row in rows.by_ref().take(ROWS_PER_GROUP) {
            group.push(row?);
        }
        let mut row_group = writer.next_row_group().map_err(io_error)?;
        group.as_slice().write_to_row_group(&mut row_group).map_err(io_error)?;
        row_group.close().map_err(io_error)?;
    }
    writer.into_inner().map_err(io_error)?.sync_all()
}

pub(crate) fn read_samples(path: &Path) -> io::Result<Vec<Sample>> {
    read(path, sample)
}

pub(crate) fn read_latencies(path: &Path) -> io::Result<Vec<LatencyRow>> {
    read(path, |row| {
        Ok(LatencyRow {
            series: row.get_string(0)?.clone(),
            second: row.get_uint(1)?,
            latency_ns: row.get_ulong(2)?,
            count: row.get_ulong(3)?,
        })
    })
}

fn read<T>(path: &Path, convert: impl Fn(&Row) -> Result<T, ParquetError>) -> io::Result<Vec<T>> {
    let reader = SerializedFileReader::new(File::open(path)?).map_err(io_error)?;
    let rows = reader.get_row_iter(None).map_err(io_error)?;
    rows.map(|row| row.and_then(|row| convert(&row)).map_err(io_error)).collect()
}

/// In the order of [`Sample`]'s fields, as the derived writer puts them.
fn sample(row: &Row) -> Result<Sample, ParquetError> {
    Ok(Sample {
        series: row.get_string(0)?.clone(),
        second: row.get_uint(1)?,
        start_ns: row.get_ulong(2)?,
        span_ns: row.get_ulong(3)?,
        reads: row.get_ulong(4)?,
        writes: row.get_ulong(5)?,
        trims: row.get_ulong(6)?,
        flushes: row.get_ulong(7)?,
        failed: row.get_ulong(8)?,
        read_bytes: row.get_ulong(9)?,
        written_bytes: row.get_ulong(10)?,
        latency_mean_ns: row.get_ulong(11)?,
        latency_p50_ns: row.get_ulong(12)?,
        latency_p99_ns: row.get_ulong(13)?,
        latency_p999_ns: row.get_ulong(14)?,
        latency_p9999_ns: row.get_ulong(15)?,
        latency_max_ns: row.get_ulong(16)?,
        queue_depth: row.get_double(17)?,
        // The accessor's only error in a column of its own type is that the value is null.
        nand_written_bytes: row.get_ulong(18).ok(),
        free_blocks: row.get_ulong(19).ok(),
        // Recordings of before these columns were made have none.
        power_microwatts: row.get_ulong(20).ok(),
        temperature_millicelsius: row.get_ulong(21).ok(),
        latency_deviation_ns: row.get_ulong(22).ok(),
        busy_ns: row.get_ulong(23).ok(),
        drive_busy_ns: row.get_ulong(24).ok(),
    })
}

fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(source) => *source,
            Err(source) => io::Error::other(source),
        },
        other => io::Error::other(other),
    }
}
