//! The state that a drive is in when it is first served, reached in virtual time.

use std::ops::ControlFlow;

use writecliff_device::{Bytes, DeviceError, DeviceTime, Io, Operation};
use writecliff_sim::Model;
use writecliff_workload::{RandomUniform, Sequential};

use crate::error::ExportError;
use crate::store::Store;

/// What a drive has behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Prepared {
    /// It is as new, but for what its store holds.
    #[default]
    Purged,
    /// All of it was written in order, once.
    Filled,
    /// Filled, and written over at random in 4 KiB, twice as much as it holds: garbage collection is where
    /// it stays.
    Steady,
}

impl Prepared {
    /// `as new`, `filled`, `filled and written over at random, seed 1`.
    pub(crate) fn in_words(self, seed: u64) -> String {
        match self {
            Self::Purged => "as new".to_owned(),
            Self::Filled => "filled in order".to_owned(),
            Self::Steady => {
                format!("filled, and written over {OVERWRITES} times at random, seed {seed}")
            }
        }
    }
}

const FILL_BLOCK: Bytes = Bytes::from_kib(128);
const PAGE: Bytes = Bytes::from_kib(4);
const QUEUE_DEPTH: usize = 32;
/// How often a steady drive was written over.
const OVERWRITES: u64 = 2;
/// Writes between two looks at whether to go on.
const STRIDE: u64 = 1 << 16;

/// Told the share done, from 0 to 1; says whether to go on.
pub type GoOn<'a> = &'a mut dyn FnMut(f64) -> ControlFlow<()>;

/// Brings a new drive there, with what its store holds written, and nothing volatile.
pub(crate) fn prepare(
    model: &mut dyn Model,
    store: &Store,
    prepared: Prepared,
    seed: u64,
    go_on: GoOn<'_>,
) -> Result<(), ExportError> {
    let capacity = model.info().capacity;
    let fill = Sequential::new(Operation::Write, capacity, FILL_BLOCK.min(capacity));
    match prepared {
        Prepared::Purged => {
            let held = held_by(store, model.unit())?;
            let all = held.iter().map(|io| io.length.0).sum();
            write(model, held.into_iter(), all, go_on)?;
        }
        Prepared::Filled => write(model, fill, capacity.0, go_on)?,
        Prepared::Steady => {
            let overwritten = capacity.0 * OVERWRITES;
            let count = (overwritten / PAGE.0) as usize;
            let over = RandomUniform::new(Operation::Write, capacity, PAGE, seed).take(count);
            write(model, fill.chain(over), capacity.0 + overwritten, go_on)?;
        }
    }
    model.submit(&[Io::flush()])?;
    let mut done = Vec::new();
    while done.is_empty() {
        model.reap(DeviceTime::MAX, &mut done)?;
    }
    Ok(())
}

/// Writes to all units of which a store has data.
fn held_by(store: &Store, unit: Bytes) -> Result<Vec<Io>, ExportError> {
    let mut ios = Vec::new();
    let mut at = 0;
    while let Some((begin, end)) = store.next_data(at)? {
        // Where the last stretch ended within a unit, that is written already.
        let begin = (begin / unit.0 * unit.0).max(at);
        at = end.next_multiple_of(unit.0);
        let block = FILL_BLOCK.0.max(unit.0);
        let starts = (begin..at).step_by(block as usize);
        ios.extend(starts.map(|start| Io::write(Bytes(start), Bytes(block.min(at - start)))));
    }
    Ok(ios)
}

/// Keeps a full queue of these on a drive until they are done.
fn write(
    model: &mut dyn Model,
    mut ios: impl Iterator<Item = Io>,
    all: u64,
    go_on: GoOn<'_>,
) -> Result<(), ExportError> {
    let depth = QUEUE_DEPTH.min(model.info().queue_depth_max);
    let (mut done, mut batch, mut in_flight) = (Vec::new(), Vec::new(), 0);
    let (mut written, mut turns) = (0, 0_u64);
    loop {
        batch.extend(ios.by_ref().take(depth - in_flight));
        written += batch.iter().map(|io| io.length.0).sum::<u64>();
        in_flight += batch.len();
        if in_flight == 0 {
            return Ok(());
        }
        submit(model, &batch)?;
        batch.clear();
        model.reap(DeviceTime::MAX, &mut done)?;
        in_flight -= done.len();
        done.clear();
        turns += 1;
        let is_time = turns.is_multiple_of(STRIDE);
        if is_time && go_on(written as f64 / all as f64) == ControlFlow::Break(()) {
            return Err(ExportError::Interrupted);
        }
    }
}

fn submit(model: &mut dyn Model, batch: &[Io]) -> Result<(), DeviceError> {
    model.announce(batch);
    model.submit(batch)
}
