//! Features whose values say how a drive is set up now: Base Specification 2.1, 5.1.25.1 and
//! 5.1.25.2.

use std::time::Duration;

use writecliff_device::Bytes;

use super::identify::Controller;
use crate::bytes::Fields;
use crate::port::{AdminPort, Data, NvmeCommand};
use crate::state::{HostMemory, PowerTransition, PowerTransitions};

const POWER: u8 = 0x02;
const WRITE_CACHE: u8 = 0x06;
const POWER_TRANSITIONS: u8 = 0x0C;
const HOST_MEMORY: u8 = 0x0D;
/// Linux gives the controller pages of this size, whatever the machine's own are.
const PAGE: u64 = 4096;

/// Whether the volatile write cache is on (5.1.25.1.4).
pub(super) fn write_cache(port: &mut dyn AdminPort) -> Option<bool> {
    Some(port.nvme(NvmeCommand::feature(WRITE_CACHE), Data::None).ok()? & 1 == 1)
}

/// The power state (5.1.25.1.2). The question itself may have woken the drive.
pub(super) fn power_state(port: &mut dyn AdminPort) -> Option<u8> {
    let value = port.nvme(NvmeCommand::feature(POWER), Data::None).ok()?;
    Some((value & 0b1_1111) as u8)
}

/// Autonomous power state transitions (5.1.25.1.6): an entry of eight bytes a state.
pub(super) fn power_transitions(
    port: &mut dyn AdminPort,
    controller: &Controller,
) -> Option<PowerTransitions> {
    if !controller.can_change_power_state {
        return None;
    }
    let mut page = [0; 256];
    let command = NvmeCommand::feature(POWER_TRANSITIONS);
    let value = port.nvme(command, Data::FromDrive(&mut page)).ok()?;
    let step = |state: &crate::PowerState| {
        let entry = Fields(&page).u32(8 * usize::from(state.number));
        let after = Duration::from_millis((entry >> 8).into());
        let to = (entry >> 3 & 0b1_1111) as u8;
        (!after.is_zero()).then_some(PowerTransition { from: state.number, after, to })
    };
    let steps = controller.power_states.iter().filter_map(step).collect();
    Some(PowerTransitions { enabled: value & 1 == 1, steps })
}

/// The host memory buffer (5.1.25.2.4), if the drive wants one.
pub(super) fn host_memory(port: &mut dyn AdminPort, controller: &Controller) -> Option<HostMemory> {
    let (preferred, least) = controller.host_memory?;
    let mut page = [0; 4096];
    let value = port.nvme(NvmeCommand::feature(HOST_MEMORY), Data::FromDrive(&mut page));
    let lent = value.ok().map(|value| match value & 1 {
        0 => Bytes::ZERO,
        _ => Bytes(u64::from(Fields(&page).u32(0)) * PAGE),
    });
    Some(HostMemory { preferred, least, lent })
}
