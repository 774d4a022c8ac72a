//! The index: what directories hold, in SQLite, so that they need not be read again.
//!
//! Nothing is in it that is not made from results; whoever doubts it deletes it. Tables are plain
//! enough for other tools (docs/formats.md): `run`, `metric`, `figure`, `problem`, `picture`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{
    Connection, ErrorCode, OptionalExtension, Transaction, TransactionBehavior, params,
};
use writecliff::suite::{Good, Status};

use crate::gather::NewRun;
use crate::ingest::Taken;
use crate::model::{Metric, Picture, Problem};
use crate::scan::Found;

/// Raised with every change of the tables, and of what entries mean.
pub(crate) const VERSION: i64 = 3;

/// So long one process waits for another that writes.
const PATIENCE: Duration = Duration::from_secs(20);

const TABLES: &str = "
CREATE TABLE run (
    number INTEGER PRIMARY KEY,
    directory TEXT NOT NULL UNIQUE,
    stamp TEXT NOT NULL,
    id TEXT NOT NULL,
    drive TEXT NOT NULL,
    test TEXT NOT NULL,
    kind TEXT NOT NULL,
    conditions TEXT NOT NULL,
    state TEXT NOT NULL,
    started TEXT NOT NULL,
    label TEXT,
    entry TEXT NOT NULL
);
CREATE TABLE metric (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    test TEXT NOT NULL,
    name TEXT NOT NULL,
    of TEXT,
    unit TEXT NOT NULL,
    good TEXT NOT NULL,
    judged INTEGER NOT NULL
);
CREATE TABLE figure (
    run INTEGER NOT NULL REFERENCES run,
    place INTEGER NOT NULL,
    metric INTEGER NOT NULL REFERENCES metric,
    value REAL NOT NULL,
    PRIMARY KEY (run, place)
) WITHOUT ROWID;
CREATE TABLE problem (directory TEXT PRIMARY KEY, stamp TEXT NOT NULL, message TEXT NOT NULL);
CREATE TABLE picture (run TEXT PRIMARY KEY, stamp TEXT NOT NULL, pictures TEXT NOT NULL);
";

/// An open index.
#[derive(Debug)]
pub(crate) struct Index {
    connection: Connection,
}

/// What an index knows of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) stamp: String,
    /// Whether it has to be looked at again although its record is the same: a run under way may
    /// be cut off by now.
    pub(crate) is_running: bool,
}

/// What became of reading a directory.
pub(crate) type Read = (Found, Result<Taken, String>);

/// Why an index is not used.
#[derive(Debug)]
pub(crate) enum Unusable {
    /// It was written by a version of Writecliff that this one does not know.
    Newer,
    /// Damaged, or not to be opened.
    Failed(rusqlite::Error),
}

impl From<rusqlite::Error> for Unusable {
    fn from(error: rusqlite::Error) -> Self {
        Self::Failed(error)
    }
}

impl Index {
    /// One that nothing is left of.
    pub(crate) fn in_memory() -> rusqlite::Result<Self> {
        let mut index = Self { connection: Connection::open_in_memory()? };
        index.create()?;
        Ok(index)
    }

    /// The one in a file, made if there is none; that of an older version is made anew.
    pub(crate) fn open(path: &Path) -> Result<Self, Unusable> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(PATIENCE)?;
        let mut index = Self { connection };
        match index.version()? {
            VERSION => {}
            newer if newer > VERSION => return Err(Unusable::Newer),
            _ => index.create()?,
        }
        Ok(index)
    }

    fn version(&self) -> rusqlite::Result<i64> {
        self.connection.query_row("PRAGMA user_version", [], |row| row.get(0))
    }

    /// Tables with nothing in them, in place of all that was there.
    fn create(&mut self) -> rusqlite::Result<()> {
        let change = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have been quicker.
        let version: i64 = change.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if version == VERSION {
            return Ok(());
        }
        for table in names(&change)? {
            change.execute_batch(&format!("DROP TABLE \"{}\"", table.replace('"', "\"\"")))?;
        }
        change.execute_batch(TABLES)?;
        change.pragma_update(None, "user_version", VERSION)?;
        change.commit()
    }

    /// What is known, by directory.
    pub(crate) fn known(&self) -> rusqlite::Result<HashMap<PathBuf, Known>> {
        let mut known = HashMap::new();
        let sql = "SELECT directory, stamp, state = 'running' FROM run
                   UNION ALL SELECT directory, stamp, 0 FROM problem";
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let directory: String = row.get(0)?;
            let entry = Known { stamp: row.get(1)?, is_running: row.get(2)? };
            known.insert(PathBuf::from(directory), entry);
        }
        Ok(known)
    }

    /// Forgets some directories and takes others in; all of it or nothing.
    pub(crate) fn change(&mut self, gone: &[PathBuf], read: &[Read]) -> rusqlite::Result<()> {
        let change = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for directory in gone.iter().chain(read.iter().map(|(found, _)| &found.directory)) {
            forget(&change, directory)?;
        }
        let mut metrics = MetricNumbers::of(&change)?;
        for (found, taken) in read {
            match taken {
                Ok(Taken { run, pictures }) => {
                    insert(&change, &mut metrics, found, run)?;
                    if !pictures.is_empty() {
                        insert_pictures(&change, &run.id, &found.stamp, pictures)?;
                    }
                }
                Err(message) => insert_problem(&change, found, message)?,
            }
        }
        change.commit()
    }

    /// Every run with its figures.
    pub(crate) fn runs(&self) -> rusqlite::Result<Vec<NewRun>> {
        let metrics = self.metrics()?;
        let (mut runs, mut places) = (Vec::new(), HashMap::new());
        let mut statement =
            self.connection.prepare("SELECT number, entry FROM run ORDER BY number")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (number, entry): (i64, String) = (row.get(0)?, row.get(1)?);
            // What another hand has changed is no entry, and is read from its directory at a rebuild.
            let Ok(run) = serde_json::from_str::<NewRun>(&entry) else { continue };
            places.insert(number, runs.len());
            runs.push(run);
        }
        let sql = "SELECT run, metric, value FROM figure ORDER BY run, place";
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (run, metric, value): (i64, i64, f64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            if let (Some(place), Some(metric)) = (places.get(&run), metrics.get(&metric)) {
                runs[*place].figures.push((metric.clone(), value));
            }
        }
        Ok(runs)
    }

    fn metrics(&self) -> rusqlite::Result<HashMap<i64, Metric>> {
        let sql = "SELECT number, id, test, name, of, unit, good, judged FROM metric";
        let mut statement = self.connection.prepare(sql)?;
        let metrics = statement.query_map([], |row| {
            let good: String = row.get(6)?;
            let good = if good == AT_MOST { Good::AtMost } else { Good::AtLeast };
            let metric = Metric {
                id: row.get(1)?,
                test: row.get(2)?,
                name: row.get(3)?,
                of: row.get(4)?,
                unit: row.get(5)?,
                good,
                judged: row.get(7)?,
            };
            Ok((row.get(0)?, metric))
        })?;
        metrics.collect()
    }

    /// What could not be read.
    pub(crate) fn problems(&self) -> rusqlite::Result<Vec<Problem>> {
        let sql = "SELECT directory, message FROM problem ORDER BY directory";
        let mut statement = self.connection.prepare(sql)?;
        let problems = statement.query_map([], |row| {
            let directory: String = row.get(0)?;
            Ok(Problem { path: PathBuf::from(directory), message: row.get(1)? })
        })?;
        problems.collect()
    }

    /// The directory and the stamp of the run of this id.
    pub(crate) fn directory_of(&self, run: &str) -> rusqlite::Result<Option<(PathBuf, String)>> {
        let sql = "SELECT directory, stamp FROM run WHERE id = ?1 ORDER BY number LIMIT 1";
        let row = |row: &rusqlite::Row<'_>| {
            let directory: String = row.get(0)?;
            Ok((PathBuf::from(directory), row.get(1)?))
        };
        self.connection.query_row(sql, [run], row).optional()
    }

    /// The pictures of a run, if they were made of the record that it has now.
    pub(crate) fn pictures(
        &self,
        run: &str,
        stamp: &str,
    ) -> rusqlite::Result<Option<Vec<Picture>>> {
        let sql = "SELECT pictures FROM picture WHERE run = ?1 AND stamp = ?2";
        let text: Option<String> =
            self.connection.query_row(sql, [run, stamp], |row| row.get(0)).optional()?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// Keeps the pictures of a run.
    pub(crate) fn keep_pictures(
        &self,
        run: &str,
        stamp: &str,
        pictures: &[Picture],
    ) -> rusqlite::Result<()> {
        insert_pictures(&self.connection, run, stamp, pictures)
    }
}

/// Whether an error says that the file is damaged or is no index.
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
        || matches!(error, rusqlite::Error::SqlInputError { .. })
}

const AT_LEAST: &str = "at-least";
const AT_MOST: &str = "at-most";

fn names(change: &Transaction<'_>) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
               ORDER BY rootpage DESC";
    let mut statement = change.prepare(sql)?;
    let names = statement.query_map([], |row| row.get(0))?;
    names.collect()
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn forget(change: &Transaction<'_>, directory: &Path) -> rusqlite::Result<()> {
    let directory = text(directory);
    let of = "DELETE FROM figure WHERE run IN (SELECT number FROM run WHERE directory = ?1)";
    change.prepare_cached(of)?.execute([&directory])?;
    change.prepare_cached("DELETE FROM run WHERE directory = ?1")?.execute([&directory])?;
    change.prepare_cached("DELETE FROM problem WHERE directory = ?1")?.execute([&directory])?;
    Ok(())
}

/// The numbers of metrics, given out as they come.
struct MetricNumbers(HashMap<String, i64>);

impl MetricNumbers {
    fn of(change: &Transaction<'_>) -> rusqlite::Result<Self> {
        let mut statement = change.prepare("SELECT id, number FROM metric")?;
        let numbers = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(Self(numbers.collect::<rusqlite::Result<_>>()?))
    }

    fn get(&mut self, change: &Transaction<'_>, metric: &Metric) -> rusqlite::Result<i64> {
        if let Some(number) = self.0.get(&metric.id) {
            return Ok(*number);
        }
        let good = if metric.good == Good::AtLeast { AT_LEAST } else { AT_MOST };
        let Metric { id, test, name, of, unit, judged, .. } = metric;
        change.execute(
            "INSERT INTO metric (id, test, name, of, unit, good, judged)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![id, test, name, of, unit, good, judged],
        )?;
        let number = change.last_insert_rowid();
        self.0.insert(id.clone(), number);
        Ok(number)
    }
}

fn insert(
    change: &Transaction<'_>,
    metrics: &mut MetricNumbers,
    found: &Found,
    run: &NewRun,
) -> rusqlite::Result<()> {
    let entry = serde_json::to_string(run).unwrap_or_default();
    let kind = serde_json::to_value(run.conditions.kind).unwrap_or_default();
    let sql =
        "INSERT INTO run (directory, stamp, id, drive, test, kind, conditions, state, started,
                   label, entry)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    change.prepare_cached(sql)?.execute(params![
        text(&found.directory),
        found.stamp,
        run.id,
        run.drive.id,
        run.conditions.test,
        kind.as_str(),
        run.conditions.id,
        state(&run.status),
        run.started,
        run.label,
        entry
    ])?;
    let number = change.last_insert_rowid();
    let sql = "INSERT INTO figure (run, place, metric, value) VALUES (?1, ?2, ?3, ?4)";
    let mut figure = change.prepare_cached(sql)?;
    for (place, (metric, value)) in run.figures.iter().enumerate() {
        // SQLite keeps no NaN, and no figure is one.
        if value.is_finite() {
            figure.execute(params![number, place as i64, metrics.get(change, metric)?, value])?;
        }
    }
    Ok(())
}

fn insert_pictures(
    connection: &Connection,
    run: &str,
    stamp: &str,
    pictures: &[Picture],
) -> rusqlite::Result<()> {
    let text = serde_json::to_string(pictures).unwrap_or_default();
    let sql = "INSERT OR REPLACE INTO picture (run, stamp, pictures) VALUES (?1, ?2, ?3)";
    connection.prepare_cached(sql)?.execute([run, stamp, &text]).map(drop)
}

fn insert_problem(change: &Transaction<'_>, found: &Found, message: &str) -> rusqlite::Result<()> {
    let sql = "INSERT INTO problem (directory, stamp, message) VALUES (?1, ?2, ?3)";
    change.execute(sql, params![text(&found.directory), found.stamp, message]).map(drop)
}

fn state(status: &Status) -> &'static str {
    match status {
        Status::Running => "running",
        Status::Complete => "complete",
        Status::Interrupted => "interrupted",
        Status::Failed { .. } => "failed",
        Status::CutOff => "cut-off",
    }
}
