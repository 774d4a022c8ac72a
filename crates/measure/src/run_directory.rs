//! A run on disk: readable at any moment, whole after a kill.
//!
//! While a run goes on, every second is appended to `journal.jsonl` (a sample and its latency
//! counts, one line) and, on request, every I/O to `ios.journal`. At the end these become
//! `series.parquet`, `histograms.parquet` and `ios.parquet`, and the journals are deleted. Whoever
//! opens a directory finds either; a torn last line is the only thing that a kill can cost. The
//! journal is locked while its run goes on: one that is not locked was left by a kill.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use writecliff_device::{ErrorKind, Nanos};
use writecliff_output::{Existing, OutputError, WholeFile};

use crate::columns::{self, LatencyRow};
use crate::files::{HISTOGRAMS, IO_JOURNAL, IOS, JOURNAL, RECORD, ROOM, SERIES, foreign};
use crate::io_log::IoDecoder;
use crate::latency::{LatencyCount, LatencyHistogram};
use crate::sample::Sample;

/// Kept free from the beginning, so that a run that fills the disk can still say so.
const ROOM_BYTES: usize = 128 << 10;

/// A run's directory, open for recording.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    journal: File,
    io_journal: Option<File>,
    line: Vec<u8>,
}

/// Everything that was recorded of a run, second by second.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recording {
    /// One a second, in order.
    pub samples: Vec<Sample>,
    /// The latency counts of each sample.
    latencies: Vec<Vec<LatencyCount>>,
}

/// One line of the journal.
#[derive(Debug, Serialize, Deserialize)]
struct Entry<S, L> {
    sample: S,
    latencies: L,
}

/// What can go wrong with a run's directory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunDirectoryError {
    /// The directory cannot be made.
    #[error("cannot make the run directory {}: {source}; choose another", path.display())]
    Create {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// There is something in it already.
    #[error("{} is not empty; choose a new directory, nothing was changed in this one", path.display())]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
    /// The record or a sample cannot be written.
    #[error(
        "cannot write {}: {source}; what was recorded before is kept there, \
         and a report shows it",
        path.display()
    )]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// What is there keeps the record or a sample from being written.
    #[error(transparent)]
    Output(OutputError),
    /// It holds what no run puts there.
    #[error("{} holds {file}, which is no part of a run; move it away", path.display())]
    NotOurs {
        /// The run.
        path: PathBuf,
        /// What was found.
        file: String,
    },
    /// This is no run, or a file of it is damaged.
    #[error("cannot read {}: {source}; is {} the right directory?", path.display(), path.parent().unwrap_or(path).display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's or the parser's error.
        source: io::Error,
    },
}

impl RunDirectoryError {
    /// What it asks of whoever named the directory.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NotEmpty { .. } | Self::NotOurs { .. } => ErrorKind::Usage,
            Self::Output(error) => error.kind(),
            Self::Create { source, .. } | Self::Read { source, .. } => ErrorKind::of_path(source),
            Self::Write { .. } => ErrorKind::Failed,
        }
    }
}

impl From<OutputError> for RunDirectoryError {
    fn from(error: OutputError) -> Self {
        match error {
            OutputError::Write { path, source } => Self::Write { path, source },
            other => Self::Output(other),
        }
    }
}

impl RunDirectory {
    /// Where the record of the run in `path` is: `run.json`.
    pub fn record_of(path: &Path) -> PathBuf {
        path.join(RECORD)
    }

    /// Whether `path` is the directory of a run.
    pub fn is_at(path: &Path) -> bool {
        path.join(RECORD).exists()
    }

    /// Removes the run in `path`, with its report if that lies there.
    ///
    /// # Errors
    /// [`RunDirectoryError::NotOurs`] if there is anything that no run puts there; nothing is
    /// removed then. [`RunDirectoryError::Write`].
    pub fn remove(path: &Path) -> Result<(), RunDirectoryError> {
        let failed = |source| RunDirectoryError::Write { path: path.to_owned(), source };
        if let Some(file) = foreign(path).map_err(failed)? {
            return Err(RunDirectoryError::NotOurs { path: path.to_owned(), file });
        }
        fs::remove_dir_all(path).map_err(failed)
    }

    /// Whether a run can begin at `path`, as far as that shows by now: it is new or empty.
    ///
    /// # Errors
    /// [`RunDirectoryError::NotEmpty`]; [`RunDirectoryError::Create`] if it is no directory.
    pub fn check_place(path: &Path) -> Result<(), RunDirectoryError> {
        match fs::read_dir(path) {
            Ok(mut entries) => match entries.next() {
                Some(_) => Err(RunDirectoryError::NotEmpty { path: path.to_owned() }),
                None => Ok(()),
            },
            Err(source) if source.kind() == io::ErrorKind::NotADirectory => {
                Err(RunDirectoryError::Create { path: path.to_owned(), source })
            }
            Err(_) => Ok(()),
        }
    }

    /// Makes a new directory with `record` as its `run.json`, ready for samples.
    ///
    /// # Errors
    /// [`RunDirectoryError`], with nothing left behind if the directory was not empty.
    pub fn create(
        path: &Path,
        record: &impl Serialize,
        every_io: bool,
    ) -> Result<Self, RunDirectoryError> {
        let create = |source| RunDirectoryError::Create { path: path.to_owned(), source };
        fs::create_dir_all(path).map_err(create)?;
        Self::check_place(path)?;
        let journal = File::create_new(path.join(JOURNAL)).map_err(create)?;
        journal.lock().map_err(create)?;
        fs::write(path.join(ROOM), vec![0; ROOM_BYTES]).map_err(create)?;
        let io_journal = match every_io {
            true => Some(File::create_new(path.join(IO_JOURNAL)).map_err(create)?),
            false => None,
        };
        let directory = Self { path: path.to_owned(), journal, io_journal, line: Vec::new() };
        directory.write_record(record)?;
        Ok(directory)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces `run.json`, atomically.
    ///
    /// # Errors
    /// [`RunDirectoryError::Write`]; the old one is kept then.
    pub fn write_record(&self, record: &impl Serialize) -> Result<(), RunDirectoryError> {
        write_record(&self.path, record)
    }

    /// Appends one second in one write, so that a kill can tear at most the last line.
    pub(crate) fn append(
        &mut self,
        sample: &Sample,
        latencies: &LatencyHistogram,
        ios: &[u8],
    ) -> Result<(), RunDirectoryError> {
        let latencies: Vec<LatencyCount> = latencies.counts().collect();
        self.line.clear();
        serde_json::to_writer(&mut self.line, &Entry { sample, latencies })
            .expect("samples are plain numbers and always serialize");
        self.line.push(b'\n');
        let failed = |name| {
            let path = self.path.join(name);
            move |source| RunDirectoryError::Write { path, source }
        };
        if let Some(io_journal) = &mut self.io_journal {
            io_journal.write_all(ios).map_err(failed(IO_JOURNAL))?;
        }
        self.journal.write_all(&self.line).map_err(failed(JOURNAL))
    }

    /// Appends a second that somebody else has counted.
    ///
    /// # Errors
    /// [`RunDirectoryError::Write`].
    pub fn put(
        &mut self,
        sample: &Sample,
        latencies: &LatencyHistogram,
    ) -> Result<(), RunDirectoryError> {
        self.append(sample, latencies, &[])
    }

    /// What was recorded so far.
    ///
    /// # Errors
    /// [`RunDirectoryError::Read`].
    pub fn recording(&self) -> Result<Recording, RunDirectoryError> {
        Recording::read(&self.path)
    }

    /// Ends the run: its last record, for which room was kept, then the journals' final form.
    ///
    /// # Errors
    /// [`RunDirectoryError::Write`]; what could not take its final form is kept as it was.
    pub fn close(self, record: &impl Serialize) -> Result<(), RunDirectoryError> {
        // Only its absence matters, and a room that was not there is as good as one removed.
        let _ = fs::remove_file(self.path.join(ROOM));
        self.write_record(record)?;
        consolidate(&self.path)
    }
}

/// What became of a run whose record says that it is running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// Its process is there and recording.
    Alive,
    /// Its process is gone.
    CutOff,
}

/// Tells a run that goes on from one that was cut off, and gives what the latter recorded its
/// final form, where the directory can be written.
///
/// # Errors
/// [`RunDirectoryError::Read`] if the journal cannot be opened.
pub fn recover(path: &Path) -> Result<Liveness, RunDirectoryError> {
    let journal = path.join(JOURNAL);
    let file = match File::open(&journal) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Liveness::CutOff),
        Err(source) => return Err(RunDirectoryError::Read { path: journal, source }),
    };
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        return Ok(Liveness::Alive);
    }
    let _ = fs::remove_file(path.join(ROOM));
    // A directory that cannot be written is read from its journals.
    let _ = consolidate(path);
    Ok(Liveness::CutOff)
}

/// Replaces the samples of a run that has ended, and its record with what follows from them; each
/// atomically, the samples first. A failure in between is mended by doing it again.
///
/// # Errors
/// [`RunDirectoryError::Write`] with the file that could not be replaced.
pub fn amend(
    path: &Path,
    samples: &[Sample],
    record: &impl Serialize,
) -> Result<(), RunDirectoryError> {
    if path.join(JOURNAL).exists() {
        // Left by a kill in a directory that could not be written; it would hide the samples.
        consolidate(path)?;
    }
    let series = path.join(SERIES);
    columns::write(&series, samples.iter().cloned().map(Ok))?;
    write_record(path, record)
}

fn write_record(path: &Path, record: &impl Serialize) -> Result<(), RunDirectoryError> {
    let path = path.join(RECORD);
    let failed = |source| RunDirectoryError::Write { path: path.clone(), source };
    let mut text = serde_json::to_vec_pretty(record).map_err(|error| failed(error.into()))?;
    text.push(b'\n');
    let mut file = WholeFile::create(&path, Existing::Replaced)?;
    file.write_all(&text).map_err(failed)?;
    Ok(file.finish()?)
}

impl Recording {
    /// What was recorded before a moment of the device's time.
    #[must_use]
    pub fn before(&self, moment: Nanos) -> Self {
        let both = self.samples.iter().zip(&self.latencies);
        let (samples, latencies) = both
            .filter(|(sample, _)| sample.start_ns < moment.0)
            .map(|(a, b)| (a.clone(), b.clone()))
            .unzip();
        Self { samples, latencies }
    }

    /// Reads a run's `run.json` and its samples, whether the run has ended or was cut off.
    ///
    /// # Errors
    /// [`RunDirectoryError::Read`] with the file that is missing or damaged.
    pub fn open<R: DeserializeOwned>(path: &Path) -> Result<(R, Self), RunDirectoryError> {
        let record = path.join(RECORD);
        let record: R = fs::read(&record)
            .and_then(|text| Ok(serde_json::from_slice(&text)?))
            .map_err(|source| RunDirectoryError::Read { path: record, source })?;
        Ok((record, Self::read(path)?))
    }

    /// Reads a run's samples, whether the run has ended or was cut off.
    ///
    /// # Errors
    /// [`RunDirectoryError::Read`] with the file that is missing or damaged.
    pub fn read(path: &Path) -> Result<Self, RunDirectoryError> {
        let journal = path.join(JOURNAL);
        if journal.exists() {
            return read_journal(&journal)
                .and_then(|recording| {
                    check(&recording.samples)?;
                    check_counts(&recording.latencies)?;
                    Ok(recording)
                })
                .map_err(|source| RunDirectoryError::Read { path: journal, source });
        }
        let read_error = |name| {
            let path = path.join(name);
            |source| RunDirectoryError::Read { path, source }
        };
        let samples = columns::read::<Sample>(&path.join(SERIES))
            .and_then(|samples| check(&samples).map(|()| samples))
            .map_err(read_error(SERIES))?;
        let rows =
            columns::read::<LatencyRow>(&path.join(HISTOGRAMS)).map_err(read_error(HISTOGRAMS))?;
        let latencies = by_sample(&samples, rows)
            .and_then(|latencies| check_counts(&latencies).map(|()| latencies))
            .map_err(read_error(HISTOGRAMS))?;
        Ok(Self { samples, latencies })
    }

    /// How many samples and latency counts a run's files say that they hold, so that a run from
    /// anywhere can be refused before it is read into memory.
    ///
    /// # Errors
    /// [`RunDirectoryError::Read`] with the file that is missing or damaged.
    pub fn rows(path: &Path) -> Result<(u64, u64), RunDirectoryError> {
        let rows = |name| {
            let path = path.join(name);
            columns::rows(&path).map_err(|source| RunDirectoryError::Read { path, source })
        };
        Ok((rows(SERIES)?, rows(HISTOGRAMS)?))
    }

    /// The samples of one series.
    pub fn series<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Sample> {
        self.samples.iter().filter(move |sample| sample.series == name)
    }

    /// The samples of one series, each with its latency counts.
    pub fn latency_counts<'a>(
        &'a self,
        series: &'a str,
    ) -> impl Iterator<Item = (&'a Sample, &'a [LatencyCount])> {
        let all = self.samples.iter().zip(&self.latencies);
        all.filter(move |(sample, _)| sample.series == series)
            .map(|(sample, counts)| (sample, counts.as_slice()))
    }

    /// All service times of a series between two of its seconds.
    pub fn latencies(&self, series: &str, seconds: std::ops::Range<u32>) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::default();
        for (sample, counts) in self.samples.iter().zip(&self.latencies) {
            if sample.series == series && seconds.contains(&sample.second) {
                counts.iter().for_each(|counted| histogram.add(*counted));
            }
        }
        histogram
    }
}

/// Turns the journals into Parquet files, at constant memory.
fn consolidate(path: &Path) -> Result<(), RunDirectoryError> {
    let at = |name| path.join(name);
    let write_error = |name| move |source| RunDirectoryError::Write { path: at(name), source };
    let entries = || Journal::open(&at(JOURNAL));
    let unreadable = write_error(JOURNAL);
    let samples = entries().map_err(&unreadable)?.map(|entry| Ok(entry?.sample));
    columns::write(&at(SERIES), samples)?;
    let latencies = entries().map_err(&unreadable)?.flat_map(latency_rows);
    columns::write(&at(HISTOGRAMS), latencies)?;
    if at(IO_JOURNAL).exists() {
        let ios = File::open(at(IO_JOURNAL)).map_err(write_error(IO_JOURNAL))?;
        columns::write(&at(IOS), IoDecoder::new(ios))?;
        fs::remove_file(at(IO_JOURNAL)).map_err(write_error(IO_JOURNAL))?;
    }
    fs::remove_file(at(JOURNAL)).map_err(write_error(JOURNAL))
}

/// The rows of `histograms.parquet` that one line of the journal becomes.
fn latency_rows(entry: io::Result<ReadEntry>) -> Vec<io::Result<LatencyRow>> {
    let Entry { sample, latencies } = match entry {
        Ok(entry) => entry,
        Err(error) => return vec![Err(error)],
    };
    let row = |counted: LatencyCount| LatencyRow {
        series: sample.series.clone(),
        second: sample.second,
        latency_ns: counted.latency,
        count: counted.count,
    };
    latencies.into_iter().map(|counted| Ok(row(counted))).collect()
}

/// Gives each sample its counts; the rows stand in the order of the samples.
fn by_sample(samples: &[Sample], rows: Vec<LatencyRow>) -> io::Result<Vec<Vec<LatencyCount>>> {
    let mut latencies = vec![Vec::new(); samples.len()];
    let mut index = 0;
    for row in rows {
        let belongs = |sample: &Sample| sample.second == row.second && sample.series == row.series;
        while samples.get(index).is_some_and(|sample| !belongs(sample)) {
            index += 1;
        }
        let counts = latencies.get_mut(index).ok_or_else(|| {
            let (series, second) = (&row.series, row.second);
            let message = format!("second {second} of {series} is not in {SERIES}");
            io::Error::new(io::ErrorKind::InvalidData, message)
        })?;
        counts.push(row.counted());
    }
    Ok(latencies)
}

/// What everybody relies on who adds samples up: that sums of them are numbers, and that seconds
/// follow one another.
fn check(samples: &[Sample]) -> io::Result<()> {
    let damaged = |index: usize| {
        let Sample { series, second, .. } = &samples[index];
        let message = format!("second {second} of {series} cannot be; the file is damaged");
        io::Error::new(io::ErrorKind::InvalidData, message)
    };
    let mut all = 0_u64;
    for (index, sample) in samples.iter().enumerate() {
        let sum = sample.amounts().into_iter().try_fold(all, u64::checked_add);
        let is_in_time = sample.start_ns.checked_add(sample.span_ns).is_some();
        let is_in_order = sample.second as usize <= index;
        match sum {
            Some(sum) if is_in_time && is_in_order && sample.queue_depth.is_finite() => all = sum,
            _ => return Err(damaged(index)),
        }
    }
    Ok(())
}

/// Latencies of any samples can be counted together.
fn check_counts(latencies: &[Vec<LatencyCount>]) -> io::Result<()> {
    let mut counts = latencies.iter().flatten().map(|counted| counted.count);
    match counts.try_fold(0_u64, u64::checked_add) {
        Some(_) => Ok(()),
        None => {
            let message = "it counts more I/Os than can be; the file is damaged";
            Err(io::Error::new(io::ErrorKind::InvalidData, message))
        }
    }
}

fn read_journal(path: &Path) -> io::Result<Recording> {
    let mut recording = Recording::default();
    for entry in Journal::open(path)? {
        let Entry { sample, latencies } = entry?;
        recording.samples.push(sample);
        recording.latencies.push(latencies);
    }
    Ok(recording)
}

type ReadEntry = Entry<Sample, Vec<LatencyCount>>;

/// The whole lines of a journal; the last line may be torn and is left out.
struct Journal {
    lines: BufReader<File>,
    line: Vec<u8>,
}

impl Journal {
    fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { lines: BufReader::new(File::open(path)?), line: Vec::new() })
    }
}

impl Iterator for Journal {
    type Item = io::Result<ReadEntry>;

    fn next(&mut self) -> Option<Self::Item> {
        self.line.clear();
        match self.lines.read_until(b'\n', &mut self.line) {
            Ok(_) if self.line.ends_with(b"\n") => {
                Some(serde_json::from_slice(&self.line).map_err(io::Error::from))
            }
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        }
    }
}
