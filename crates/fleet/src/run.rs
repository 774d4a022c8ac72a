//! A fleet on this machine: all processors, within its memory, into a directory that it goes on in.
//!
//! `fleet.json` says what is to be done and is written before anything is; `groups.jsonl` gets a line
//! for each group as it ends, in whatever order that is; `minutes.parquet` and `drives.parquet` are the
//! sums as columns, anew when it ends.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use writecliff_device::Bytes;
use writecliff_output::write_text;
use writecliff_sweep::{Amount, End, Journal, Watch, Work, all_here};

use crate::error::FleetError;
use crate::plan::Fleet;
use crate::service::Task;
use crate::table;
use crate::tally::GroupRow;
use crate::total::Service;
use crate::variants::Variant;

/// What a fleet's directory says of it.
pub const FLEET: &str = "fleet.json";
/// Every minute of every variant.
pub const MINUTES: &str = "minutes.parquet";
/// Every drive of every variant.
pub const DRIVES: &str = "drives.parquet";
const ROWS: &str = "groups.jsonl";

/// What `fleet.json` holds.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Begun {
    tool_version: String,
    fleet: Fleet,
}

/// A fleet that is about to begin, or to go on.
#[derive(Debug)]
pub struct FleetRun {
    fleet: Fleet,
    variants: Vec<Variant>,
    path: PathBuf,
    done: Vec<GroupRow>,
}

impl Work for FleetRun {
    type Plan = Fleet;
    type Row = GroupRow;
    type Error = FleetError;

    const NAME: &'static str = "fleet";
    const PIECES: &'static str = "groups";

    fn read(plan: &Path) -> Result<Fleet, FleetError> {
        Fleet::read(plan)
    }

    /// # Errors
    /// As [`Fleet::variants`]; [`FleetError::IsThere`], [`FleetError::NotEmpty`].
    fn begin(fleet: Fleet, path: &Path) -> Result<Self, FleetError> {
        let variants = fleet.variants()?;
        match fs::read_dir(path).map_or(true, |mut entries| entries.next().is_none()) {
            true => Ok(Self { fleet, variants, path: path.to_owned(), done: Vec::new() }),
            false if path.join(FLEET).is_file() => {
                Err(FleetError::IsThere { path: path.to_owned() })
            }
            false => Err(FleetError::NotEmpty { path: path.to_owned() }),
        }
    }

    /// # Errors
    /// [`FleetError::Directory`] if there is none; [`FleetError::Other`] if another version of this
    /// tool began it.
    fn resume(path: &Path) -> Result<Self, FleetError> {
        let file = path.join(FLEET);
        let unreadable = |source| FleetError::Directory { path: file.clone(), source };
        let text = fs::read(&file).map_err(unreadable)?;
        let begun: Begun =
            serde_json::from_slice(&text).map_err(|error| unreadable(error.into()))?;
        if begun.tool_version != env!("CARGO_PKG_VERSION") {
            let reason = format!("version {} began it", begun.tool_version);
            return Err(FleetError::Other { path: path.to_owned(), reason });
        }
        let done = read_rows(path)?;
        let variants = begun.fleet.variants()?;
        let run = Self { fleet: begun.fleet, variants, path: path.to_owned(), done };
        run.check_rows(&run.done)?;
        Ok(run)
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn pieces(&self) -> (usize, usize) {
        (self.done.len(), self.places().count())
    }

    fn amount(&self) -> Amount {
        let variants = self.variants.iter().map(|variant| variant.fleet.amount());
        variants.fold(Amount::default(), |sum, one| Amount {
            drives: sum.drives + one.drives,
            seconds: sum.seconds + one.seconds,
            written_bytes: sum.written_bytes + one.written_bytes,
        })
    }

    fn run(&self, memory: Option<Bytes>, watch: Watch<'_, GroupRow>) -> Result<End, FleetError> {
        let mut journal = self.open()?;
        let done: BTreeSet<(u32, u32)> = self.done.iter().map(place).collect();
        // Of many groups only the place in the plan; each has the whole fleet while it runs.
        let left: Vec<(u32, u32)> = self.places().filter(|place| !done.contains(place)).collect();
        let ended = all_here(
            &left,
            (memory, |place: &(u32, u32)| self.task(*place).memory()),
            watch,
            |place, go_on| self.task(*place).perform(go_on),
            |row| Ok(journal.add(&row)?),
        )?;
        self.write_tables()?;
        Ok(ended)
    }
}

impl FleetRun {
    /// What is to be done.
    pub fn fleet(&self) -> &Fleet {
        &self.fleet
    }

    /// The rows that were there before.
    pub fn done(&self) -> &[GroupRow] {
        &self.done
    }

    /// All that is to be run, what is done included.
    pub fn tasks(&self) -> Vec<Task> {
        self.places().map(|place| self.task(place)).collect()
    }

    /// Variant and group of all that is to be run.
    fn places(&self) -> impl Iterator<Item = (u32, u32)> {
        let variants = (0..).zip(&self.variants);
        variants.flat_map(|(variant, Variant { fleet, .. })| {
            (0..fleet.groups).map(move |group| (variant, group))
        })
    }

    fn task(&self, (variant, group): (u32, u32)) -> Task {
        Task { variant, group, fleet: self.variants[variant as usize].fleet.clone() }
    }

    /// Keeps rows that were made elsewhere, beside those that are done. Of two rows of a group the
    /// first is kept.
    ///
    /// # Errors
    /// [`FleetError::Other`] if a row is of no group of it; [`FleetError::Output`],
    /// [`FleetError::Directory`].
    pub fn keep(&self, rows: Vec<GroupRow>) -> Result<(), FleetError> {
        self.check_rows(&rows)?;
        let mut journal = self.open()?;
        let mut has: BTreeSet<(u32, u32)> = self.done.iter().map(place).collect();
        for row in rows {
            if has.insert(place(&row)) {
                journal.add(&row)?;
            }
        }
        self.write_tables()
    }

    /// What came of each variant so far.
    ///
    /// # Errors
    /// [`FleetError::Directory`].
    pub fn services(&self) -> Result<Vec<(&Variant, Service)>, FleetError> {
        let rows = read_rows(&self.path)?;
        let service = |(index, variant): (u32, _)| {
            let own: Vec<&GroupRow> = rows.iter().filter(|row| row.variant == index).collect();
            Ok((variant, Service::of(variant, &own)?))
        };
        (0..).zip(&self.variants).map(service).collect()
    }

    fn check_rows(&self, rows: &[GroupRow]) -> Result<(), FleetError> {
        let is_of_it = |row: &GroupRow| {
            let variant = self.variants.get(row.variant as usize);
            variant.is_some_and(|Variant { fleet, .. }| {
                row.group < fleet.groups
                    && row.drives.len() == fleet.width()
                    && row.drives.iter().all(|drive| drive.kind < fleet.drives.len())
            })
        };
        match rows.iter().find(|row| !is_of_it(row)) {
            None => Ok(()),
            Some(row) => {
                let reason =
                    format!("its group {} of variant {} is another one", row.group, row.variant);
                Err(FleetError::Other { path: self.path.clone(), reason })
            }
        }
    }

    /// Writes what is to be done, and the rows that there are.
    fn open(&self) -> Result<Journal, FleetError> {
        let directory = |source| FleetError::Directory { path: self.path.clone(), source };
        fs::create_dir_all(&self.path).map_err(directory)?;
        let tool_version = env!("CARGO_PKG_VERSION").to_owned();
        let begun = Begun { tool_version, fleet: self.fleet.clone() };
        let text = serde_json::to_string_pretty(&begun).map_err(|error| directory(error.into()))?;
        write_text(&self.path.join(FLEET), &(text + "\n"))?;
        Ok(Journal::open(&self.path.join(ROWS), &self.done)?)
    }

    fn write_tables(&self) -> Result<(), FleetError> {
        let rows = read_rows(&self.path)?;
        table::write_minutes(&self.path.join(MINUTES), &self.services()?)?;
        table::write_drives(&self.path.join(DRIVES), &self.variants, &rows)?;
        Ok(())
    }
}

fn place(row: &GroupRow) -> (u32, u32) {
    (row.variant, row.group)
}

/// In the order of variants and groups.
fn read_rows(path: &Path) -> Result<Vec<GroupRow>, FleetError> {
    let path = path.join(ROWS);
    let rows: Result<Vec<GroupRow>, _> = Journal::read(&path);
    let mut rows = rows.map_err(|source| FleetError::Directory { path: path.clone(), source })?;
    rows.sort_by_key(place);
    Ok(rows)
}
