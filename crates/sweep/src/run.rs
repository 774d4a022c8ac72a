//! A sweep on this machine: all processors, within its memory, into a directory that it goes on in.
//!
//! `sweep.json` says what is to be done and is written before anything is; `rows.jsonl` gets a line
//! for each point as it ends, in whatever order that is; `figures.parquet` is the same as columns, in
//! the points' order, anew every few seconds and at the end. What a broken-off sweep left half
//! written is removed when it goes on.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use writecliff::suite::Estimate;
use writecliff_device::Bytes;
use writecliff_output::write_text;

use crate::error::SweepError;
use crate::figures;
use crate::here::{End, Watch, all_here};
use crate::journal::Journal;
use crate::plan::Sweep;
use crate::point::Point;
use crate::row::Row;
use crate::table;
use crate::work::{Amount, Work};

/// What a sweep's directory says of it.
pub const SWEEP: &str = "sweep.json";
/// All rows as columns.
pub const TABLE: &str = "figures.parquet";
const ROWS: &str = "rows.jsonl";
/// Where points record while they run.
const UNDER_WAY: &str = "under-way";
/// If so many points cannot be, the plan is wrong rather than a drive.
const CHECKED: usize = 50;
/// The table is written anew no sooner than so long after the last time.
const REST: Duration = Duration::from_secs(10);

/// What `sweep.json` holds.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Begun {
    tool_version: String,
    sweep: Sweep,
}

/// A sweep that is about to begin, or to go on.
#[derive(Debug)]
pub struct SweepRun {
    sweep: Sweep,
    points: Vec<Point>,
    path: PathBuf,
    done: Vec<Row>,
}

/// What all points write to.
struct Results<'a> {
    run: &'a SweepRun,
    journal: Journal,
    rows: Vec<Row>,
    written: Instant,
}

impl Work for SweepRun {
    type Plan = Sweep;
    type Row = Row;
    type Error = SweepError;

    const NAME: &'static str = "sweep";
    const PIECES: &'static str = "points";

    fn read(plan: &Path) -> Result<Sweep, SweepError> {
        Sweep::read(plan)
    }

    /// # Errors
    /// [`SweepError::Impossible`]; [`SweepError::NoPoint`] if the first of them cannot be run;
    /// [`SweepError::IsThere`], [`SweepError::NotEmpty`].
    fn begin(sweep: Sweep, path: &Path) -> Result<Self, SweepError> {
        let run = Self::of(sweep, path)?;
        let is_empty = fs::read_dir(path).map_or(true, |mut entries| entries.next().is_none());
        match is_empty {
            true => Ok(run),
            false if path.join(SWEEP).is_file() => {
                Err(SweepError::IsThere { path: path.to_owned() })
            }
            false => Err(SweepError::NotEmpty { path: path.to_owned() }),
        }
    }

    /// # Errors
    /// [`SweepError::Directory`] if there is none; [`SweepError::Other`] if another version of this
    /// tool began it.
    fn resume(path: &Path) -> Result<Self, SweepError> {
        let file = path.join(SWEEP);
        let unreadable = |source| SweepError::Directory { path: file.clone(), source };
        let text = fs::read(&file).map_err(unreadable)?;
        let begun: Begun =
            serde_json::from_slice(&text).map_err(|error| unreadable(error.into()))?;
        let other = |reason: String| SweepError::Other { path: path.to_owned(), reason };
        if begun.tool_version != env!("CARGO_PKG_VERSION") {
            return Err(other(format!("version {} began it", begun.tool_version)));
        }
        let mut run = Self::of(begun.sweep, path)?;
        run.done = Self::rows(path)?;
        let is_of_it = |row: &Row| run.points.get(row.point.point as usize) == Some(&row.point);
        if let Some(row) = run.done.iter().find(|row| !is_of_it(row)) {
            return Err(other(format!("its point {} is another one", row.point.point)));
        }
        Ok(run)
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn pieces(&self) -> (usize, usize) {
        (self.done.len(), self.points.len())
    }

    /// As the first point that can be says for all.
    fn amount(&self) -> Amount {
        let drives = self.points.len() as u64;
        let estimate = self.points.iter().take(CHECKED).find_map(|point| {
            let (drive, plan) = (point.simulated().ok()?, point.plan().ok()?);
            Some(plan.estimate(&drive.info(&point.drive)))
        });
        let Some(Estimate { time, written, .. }) = estimate else {
            return Amount { drives, ..Amount::default() };
        };
        let times = |one: f64| one * drives as f64;
        let (seconds, written_bytes) = (times(time.as_secs_f64()), times(written.0 as f64));
        Amount { drives, seconds, written_bytes }
    }

    /// A point that fails is a row that says why.
    ///
    /// # Errors
    /// [`SweepError::Output`], [`SweepError::Directory`], or [`SweepError::Run`] of what stopped a
    /// point and would stop the others.
    fn run(&self, memory: Option<Bytes>, watch: Watch<'_, Row>) -> Result<End, SweepError> {
        let mut results = Results::open(self)?;
        let done: BTreeSet<u32> = self.done.iter().map(|row| row.point.point).collect();
        let left: Vec<&Point> =
            self.points.iter().filter(|point| !done.contains(&point.point)).collect();
        let ended = all_here(
            &left,
            (memory, |point: &&Point| point.memory()),
            watch,
            |point, go_on| self.perform(point, &|_| go_on()),
            |row| results.add(row),
        );
        let written = results.close();
        let ended = ended?;
        written.map(|()| ended)
    }

    fn is_failed(row: &Row) -> bool {
        row.error.is_some()
    }
}

impl SweepRun {
    fn of(sweep: Sweep, path: &Path) -> Result<Self, SweepError> {
        let points = sweep.points()?;
        let check = |point: &Point| {
            let (drive, plan) = (point.simulated()?, point.plan()?);
            Ok(plan.check(&drive.info(&point.drive))?)
        };
        let mut checked = points.iter().take(CHECKED).map(check);
        if let Some(Err(error)) = checked.next()
            && checked.all(|point| point.is_err())
        {
            return Err(SweepError::NoPoint(Box::new(error)));
        }
        figures::check(&sweep, &points)?;
        Ok(Self { sweep, points, path: path.to_owned(), done: Vec::new() })
    }

    /// All points, those that are done included.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The rows that were there before.
    pub fn done(&self) -> &[Row] {
        &self.done
    }

    /// The rows in a sweep's directory, in the order of their points.
    ///
    /// # Errors
    /// [`SweepError::Directory`].
    pub fn rows(path: &Path) -> Result<Vec<Row>, SweepError> {
        let path = path.join(ROWS);
        let mut rows: Vec<Row> = Journal::read(&path)
            .map_err(|source| SweepError::Directory { path: path.clone(), source })?;
        rows.sort_by_key(|row| row.point.point);
        Ok(rows)
    }

    /// What is to be done.
    pub fn sweep(&self) -> &Sweep {
        &self.sweep
    }

    /// Keeps rows of this sweep's points that were made elsewhere, beside those that are done, and
    /// gives all of them in order. Of two rows of a point the first is kept.
    ///
    /// # Errors
    /// [`SweepError::Other`] if a row is of no point of it; [`SweepError::Output`],
    /// [`SweepError::Directory`].
    pub fn keep(&self, rows: Vec<Row>) -> Result<Vec<Row>, SweepError> {
        let is_of_it = |row: &Row| self.points.get(row.point.point as usize) == Some(&row.point);
        if let Some(row) = rows.iter().find(|row| !is_of_it(row)) {
            let reason = format!("a row's point {} is another one", row.point.point);
            return Err(SweepError::Other { path: self.path.clone(), reason });
        }
        let mut results = Results::open(self)?;
        for row in rows {
            if results.rows.iter().all(|kept| kept.point.point != row.point.point) {
                results.add(row)?;
            }
        }
        results.close()?;
        Self::rows(&self.path)
    }

    /// One point, recorded where nobody looks.
    fn perform(
        &self,
        point: &Point,
        watch: writecliff::Watch<'_>,
    ) -> Result<Option<Row>, SweepError> {
        let place = self.path.join(UNDER_WAY).join(point.point.to_string());
        let row = point.perform(&self.sweep.figures, &place, watch);
        // A point whose drive cannot be has recorded nothing.
        match fs::remove_dir_all(&place) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(SweepError::Directory { path: place, source });
            }
            _ => {}
        }
        row.map_err(|error| SweepError::Run(Box::new(error)))
    }
}

impl<'a> Results<'a> {
    fn open(run: &'a SweepRun) -> Result<Self, SweepError> {
        let (path, under_way) = (&run.path, run.path.join(UNDER_WAY));
        let directory = |source| SweepError::Directory { path: path.clone(), source };
        // What a killed sweep left.
        if under_way.exists() {
            fs::remove_dir_all(&under_way).map_err(directory)?;
        }
        fs::create_dir_all(&under_way).map_err(directory)?;
        let tool_version = env!("CARGO_PKG_VERSION").to_owned();
        let begun = Begun { tool_version, sweep: run.sweep.clone() };
        let text = serde_json::to_string_pretty(&begun).map_err(|e| directory(e.into()))?;
        write_text(&path.join(SWEEP), &(text + "\n"))?;
        let journal = Journal::open(&path.join(ROWS), &run.done)?;
        Ok(Self { run, journal, rows: run.done.clone(), written: Instant::now() })
    }

    fn add(&mut self, row: Row) -> Result<(), SweepError> {
        figures::check_first(&self.run.sweep, &self.rows, &row)?;
        self.journal.add(&row)?;
        self.rows.push(row);
        if self.written.elapsed() > REST {
            self.write_table()?;
        }
        Ok(())
    }

    fn write_table(&mut self) -> Result<(), SweepError> {
        self.rows.sort_by_key(|row| row.point.point);
        self.written = Instant::now();
        Ok(table::write(&self.run.path.join(TABLE), &self.run.sweep.varied(), &self.rows)?)
    }

    fn close(mut self) -> Result<(), SweepError> {
        let under_way = self.run.path.join(UNDER_WAY);
        self.write_table()?;
        fs::remove_dir_all(&under_way)
            .map_err(|source| SweepError::Directory { path: under_way, source })
    }
}
