//! One group of one variant: drives made and aged, requests served, all counted.

use serde::{Deserialize, Serialize};
use writecliff::memory_of;
use writecliff_device::{Bytes, Device};
use writecliff_sweep::GoOn;

use crate::aged::{Aged, aged};
use crate::error::FleetError;
use crate::group::{Group, Layout, Served};
use crate::plan::Fleet;
use crate::requests::{requests, stripe};
use crate::tally::{DriveRow, GroupRow, Tally};

/// A group that is to be run: all that makes its row, anywhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// The variant, by its place in the plan.
    pub variant: u32,
    /// The group's number, from 0.
    pub group: u32,
    /// The whole fleet of the variant.
    pub fleet: Fleet,
}

impl Task {
    /// Runs it; `None` if `go_on` broke it off.
    ///
    /// # Errors
    /// [`FleetError::Drive`], [`FleetError::Device`] and [`FleetError::Trace`] of drives and traces that
    /// cannot be or cannot go on.
    pub fn perform(&self, go_on: GoOn<'_>) -> Result<Option<GroupRow>, FleetError> {
        let (fleet, width) = (&self.fleet, self.fleet.width() as u64);
        let (mut drives, mut devices, mut span) = (Vec::new(), Vec::new(), Bytes(u64::MAX));
        for number in (0..width).map(|member| u64::from(self.group) * width + member) {
            let kind = fleet.kind(number);
            let Some(drive) = aged(fleet, number, go_on)? else { return Ok(None) };
            let Aged { device, data, full_percent, overwrites } = drive;
            drives.push(DriveRow { kind, full_percent, overwrites, ..DriveRow::default() });
            devices.push(device);
            span = span.min(data);
        }
        let place = (self.variant, self.group);
        let Some(mut row) = serve(fleet, place, devices, span, go_on)? else { return Ok(None) };
        for (drive, DriveRow { kind, full_percent, overwrites, .. }) in
            row.drives.iter_mut().zip(drives)
        {
            (drive.kind, drive.full_percent, drive.overwrites) = (kind, full_percent, overwrites);
        }
        Ok(Some(row))
    }

    /// What it takes in memory while it runs, with a drive of each kind from which others begin;
    /// nothing for a drive that there is not.
    pub fn memory(&self) -> Bytes {
        let width = self.fleet.width() as u64;
        let numbers = (0..width).map(|member| u64::from(self.group) * width + member);
        let own = numbers.map(|number| &self.fleet.drives[self.fleet.kind(number)]);
        let all = own.chain(&self.fleet.drives);
        all.map(|kind| kind.profile().map_or(Bytes::ZERO, |profile| memory_of(&profile.into())))
            .fold(Bytes::ZERO, |sum, bytes| sum + bytes)
    }
}

/// Serves the requests of a variant's group with these drives, each of which holds data in `span`;
/// `None` if `go_on` broke it off.
///
/// # Errors
/// [`FleetError::Device`] of a drive that cannot go on; [`FleetError::Trace`].
pub fn serve(
    fleet: &Fleet,
    place: (u32, u32),
    devices: Vec<Box<dyn Device>>,
    span: Bytes,
    go_on: GoOn<'_>,
) -> Result<Option<GroupRow>, FleetError> {
    let Some(first) = devices.first() else { return Ok(None) };
    let requests = requests(fleet, place.1, span, first.info())?;
    let (data, parity) = (fleet.data as usize, fleet.parity as usize);
    let layout = Layout { data, parity, hedge: fleet.hedge, stripe: stripe(&fleet.load) };
    let mut tally = Tally::new(fleet);
    let mut count = |served: Served| tally.count(&served);
    let mut group = Group::new(layout, devices, &mut count);
    if !group.run(requests, go_on)? {
        return Ok(None);
    }
    let drives = group.into_members().into_iter().map(|mut member| {
        let [before, after] = member.telemetry();
        let grown = |[before, after]: [Option<Bytes>; 2]| Some(after?.0 - before?.0);
        DriveRow {
            ios: member.ios,
            failed: member.failed,
            written: grown([before.host_written, after.host_written]).unwrap_or_default(),
            nand_written: grown([before.nand_written, after.nand_written]),
            ..DriveRow::default()
        }
    });
    let drives = drives.collect();
    Ok(Some(tally.row(place, drives)))
}
