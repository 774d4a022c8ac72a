//! What comes back when the power goes: of every unit that the model holds volatile, what it held
//! before each of the writes that may be lost.
//!
//! The model tells how many of a unit's last writes are lost ([`LostUnit::writes`]), so that what is kept
//! is counted from the newest one. What the model does not call volatile any more is dropped whenever
//! twice as much is kept as was needed the last time.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::iter::repeat;
use std::ops::Range;

use writecliff_device::split_mix;
use writecliff_sim::{LostUnit, Model};

use crate::store::Store;
use crate::wire::reply::is_zero;

/// So many versions are kept before anybody looks which of them are needed.
const KEPT_MIN: usize = 1024;

/// What is written of a unit at once.
const SECTOR: u64 = 512;

/// What a unit held; zeros if `None`.
type Version = Option<Box<[u8]>>;

/// The older versions of units, the newest at each one's end.
#[derive(Debug)]
pub(crate) struct Undo {
    unit: u64,
    versions: BTreeMap<u32, VecDeque<Version>>,
    kept: usize,
    look_at: usize,
    /// What was read last, for its room.
    read: Vec<u8>,
    /// Of a unit that is lost, its first sectors may stay as its newest write has them: *shorn writes*, which
    /// Zheng and others found of drives on sale ("Understanding the Robustness of SSDs under Power Fault",
    /// FAST 2013).
    shears: bool,
    /// Power cuts until now.
    cuts: u64,
}

impl Undo {
    pub(crate) fn new(unit: u64, shears: bool) -> Self {
        let (versions, kept, look_at) = (BTreeMap::new(), 0, KEPT_MIN);
        Self { unit, versions, kept, look_at, read: Vec::new(), shears, cuts: 0 }
    }

    /// How many bytes of a lost unit stay new; never all.
    fn shorn(&self, unit: u32) -> u64 {
        let chance = split_mix(self.cuts << 32 | u64::from(unit));
        if self.shears { chance % (self.unit / SECTOR) * SECTOR } else { 0 }
    }

    /// Keeps what these units hold before they are written. They are read together: that is one call of the
    /// system for a write, whatever its length, and none for a write to where nothing is.
    pub(crate) fn keep(
        &mut self,
        units: Range<u64>,
        store: &Store,
        model: &dyn Model,
    ) -> io::Result<()> {
        let size = self.unit as usize;
        self.read.clear();
        if units.clone().any(|unit| model.holds(unit as u32)) {
            self.read.resize((units.end - units.start) as usize * size, 0);
            store.read(units.start * self.unit, &mut self.read)?;
        }
        for (unit, data) in units.zip(self.read.chunks(size).map(Some).chain(repeat(None))) {
            let held = data.filter(|data| model.holds(unit as u32) && !is_zero(data));
            self.versions.entry(unit as u32).or_default().push_back(held.map(Box::from));
            self.kept += 1;
        }
        Ok(())
    }

    /// Drops what no power cut would bring back, if much is kept.
    pub(crate) fn drop_old(&mut self, model: &dyn Model) {
        if self.kept < self.look_at {
            return;
        }
        let volatile = model.volatile();
        let mut needed = BTreeMap::new();
        for LostUnit { unit, writes, .. } in volatile {
            if let Some(mut versions) = self.versions.remove(&unit) {
                let old = versions.len().saturating_sub(writes as usize);
                versions.drain(..old);
                needed.insert(unit, versions);
            }
        }
        self.kept = needed.values().map(VecDeque::len).sum();
        self.look_at = KEPT_MIN.max(2 * self.kept);
        self.versions = needed;
    }

    /// The power went, and this was lost: it holds again what it held before. Nothing is volatile now.
    pub(crate) fn bring_back(&mut self, lost: &[LostUnit], store: &Store) -> io::Result<()> {
        for LostUnit { unit, writes, held_before } in lost {
            let versions = self.versions.remove(unit).unwrap_or_default();
            let place = versions.len().checked_sub(*writes as usize);
            assert!(place.is_some(), "unit {unit} has lost {writes} writes of {}", versions.len());
            let before = place.and_then(|place| versions[place].as_deref());
            let offset = u64::from(*unit) * self.unit;
            if !held_before {
                store.discard(offset, self.unit)?;
                continue;
            }
            let mut new = vec![0; self.shorn(*unit) as usize];
            store.read(offset, &mut new)?;
            match before {
                Some(data) => store.write(offset, data)?,
                None => store.discard(offset, self.unit)?,
            }
            store.write(offset, &new)?;
        }
        self.cuts += 1;
        self.versions.clear();
        (self.kept, self.look_at) = (0, KEPT_MIN);
        Ok(())
    }

    /// Bytes that it takes.
    pub(crate) fn kept(&self) -> u64 {
        self.kept as u64 * self.unit
    }
}
