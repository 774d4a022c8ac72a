//! The firmware slot information log page: Base Specification 2.1, figure 208.

use crate::bytes::Fields;
use crate::port::{AdminPort, Data, NvmeCommand};
use crate::state::{FirmwareSlot, FirmwareSlots};

const FIRMWARE: u8 = 0x03;

pub(super) fn ask(port: &mut dyn AdminPort) -> Option<FirmwareSlots> {
    let mut page = [0; 512];
    let command = NvmeCommand::log_page(FIRMWARE, NvmeCommand::ALL_NAMESPACES, page.len());
    port.nvme(command, Data::FromDrive(&mut page)).ok()?;
    parse(Fields(&page))
}

/// `None` of a drive that does not say which slot runs.
fn parse(page: Fields<'_>) -> Option<FirmwareSlots> {
    let slot = |number: u8| {
        let revision = page.text(8 * usize::from(number), 8)?;
        Some(FirmwareSlot { number, revision })
    };
    let (active, next) = (page.byte(0) & 7, page.byte(0) >> 4 & 7);
    (active > 0).then(|| FirmwareSlots {
        active,
        next: (next > 0 && next != active).then_some(next),
        slots: (1..=7).filter_map(slot).collect(),
    })
}
