//! Drives with their data and their past.
//!
//! Drives of a kind that hold equally much share the greater part of their past: it is simulated once,
//! and each drive goes on from there with overwriting of its own.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use writecliff::sim::{Build, Model};
use writecliff_device::{Bytes, Device, DeviceError, DeviceTime, Io, Operation};
use writecliff_sweep::GoOn;
use writecliff_workload::{RandomUniform, Sequential};

use crate::error::FleetError;
use crate::plan::{FILL_BLOCK, Fleet, Kind, Spread, data_of};
use crate::requests::mixed;

/// A drive as the service finds it.
pub(crate) struct Aged {
    pub(crate) device: Box<dyn Device>,
    /// How much of it, from its start, holds data.
    pub(crate) data: Bytes,
    pub(crate) full_percent: f64,
    pub(crate) overwrites: f64,
}

/// In flight while drives are filled and aged.
const QUEUE_DEPTH: usize = 32;
/// What data are overwritten in.
const PAGE: Bytes = Bytes::from_kib(4);
/// What every drive overwrites of its data on its own, if they were overwritten at all: hundreds of
/// superblocks, so that no two drives have the same pages to copy. Those that overwrote as much begin new
/// superblocks, and collect, at the same moments all the same.
const OWN: f64 = 0.1;

/// The fleet's drive of this number: its data written in order, then overwritten at random. The number
/// decides where, and where between its kind's limits its fill and its age are. `None` if `go_on` broke
/// it off.
pub(crate) fn aged(
    fleet: &Fleet,
    number: u64,
    go_on: GoOn<'_>,
) -> Result<Option<Aged>, FleetError> {
    let kind = &fleet.drives[fleet.kind(number)];
    let seed = mixed(fleet.seed, number);
    let full_percent = kind.full_percent.at(part(mixed(seed, 1)));
    let overwrites = kind.overwrites.at(part(mixed(seed, 2)));
    let past = Past { full_percent, overwrites: (kind.overwrites.at(0.0) - OWN).max(0.0) };
    let begun = match kind.full_percent {
        Spread::Same(_) => shared(fleet, kind, past, go_on)?,
        Spread::Between(..) => past.of(kind, mixed(seed, 3), go_on)?,
    };
    let Some(mut device) = begun else { return Ok(None) };
    let data = data_of(&kind.profile()?, full_percent);
    let own = overwriting(data, overwrites - past.overwrites, mixed(seed, 4));
    let is_done = closed(device.as_mut(), own, go_on)?;
    Ok(is_done.then_some(Aged { device, data, full_percent, overwrites }))
}

/// What is done to a drive before it is in service.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Past {
    full_percent: f64,
    overwrites: f64,
}

impl Past {
    fn of(
        self,
        kind: &Kind,
        seed: u64,
        go_on: GoOn<'_>,
    ) -> Result<Option<Box<dyn Model>>, FleetError> {
        let profile = kind.profile()?;
        let data = data_of(&profile, self.full_percent);
        let mut device = profile.build(&kind.drive);
        let fill = Sequential::new(Operation::Write, data, FILL_BLOCK);
        let past = overwriting(data, self.overwrites, seed);
        let is_done =
            closed(device.as_mut(), fill, go_on)? && closed(device.as_mut(), past, go_on)?;
        Ok(is_done.then_some(device))
    }
}

/// A kind of drives whose past is known, and a drive that has it as soon as one was asked for.
type Known = (Kind, Past, u64, Arc<Mutex<Option<Box<dyn Model>>>>);

/// The kinds that were asked for last. A drive with a past is what it is whoever made it, so that all
/// fleets of this process can begin from the same.
static STOCK: Mutex<VecDeque<Known>> = Mutex::new(VecDeque::new());

/// A drive with this past, copied from one that was made once.
fn shared(
    fleet: &Fleet,
    kind: &Kind,
    past: Past,
    go_on: GoOn<'_>,
) -> Result<Option<Box<dyn Model>>, FleetError> {
    let kept = in_stock(kind, past, fleet.seed, fleet.drives.len());
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.is_none() {
        *kept = past.of(kind, mixed(fleet.seed, u64::MAX), go_on)?;
    }
    Ok(kept.as_ref().map(|device| device.duplicate()))
}

/// The place of a kind with a past; of older ones no more than `most` are kept.
fn in_stock(kind: &Kind, past: Past, seed: u64, most: usize) -> Arc<Mutex<Option<Box<dyn Model>>>> {
    // Shares make no difference to a drive.
    let kind = Kind { share: 1, ..kind.clone() };
    let mut stock = STOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let is_it = |known: &Known| known.0 == kind && known.1 == past && known.2 == seed;
    let known = match stock.iter().position(is_it).and_then(|place| stock.remove(place)) {
        Some(known) => known,
        None => (kind, past, seed, Arc::default()),
    };
    let drive = known.3.clone();
    stock.push_front(known);
    stock.truncate(most.max(1));
    drive
}

fn overwriting(data: Bytes, times: f64, seed: u64) -> impl Iterator<Item = Io> {
    let count = (data.0 as f64 * times / PAGE.0 as f64) as usize;
    RandomUniform::new(Operation::Write, data, PAGE, seed).take(count)
}

/// From 0 to 1.
fn part(random: u64) -> f64 {
    (random >> 11) as f64 / (1_u64 << 53) as f64
}

/// Keeps a full queue of these on a drive until they are done; `false` if that was broken off.
fn closed(
    device: &mut dyn Device,
    mut ios: impl Iterator<Item = Io>,
    go_on: GoOn<'_>,
) -> Result<bool, DeviceError> {
    const STRIDE: u64 = 1 << 14;
    let depth = QUEUE_DEPTH.min(device.info().queue_depth_max);
    let (mut done, mut batch, mut in_flight, mut turns) = (Vec::new(), Vec::new(), 0, 0);
    loop {
        batch.extend(ios.by_ref().take(depth - in_flight));
        in_flight += batch.len();
        if in_flight == 0 {
            return Ok(true);
        }
        device.submit(&batch)?;
        batch.clear();
        device.reap(DeviceTime::MAX, &mut done)?;
        in_flight -= done.len();
        done.clear();
        turns += 1;
        if turns % STRIDE == 0 && go_on() == ControlFlow::Break(()) {
            return Ok(false);
        }
    }
}
