//! NVMe drives.

mod errors;
mod features;
mod firmware;
mod health;
mod identify;
mod purges;

use std::io;

use crate::bytes::Fields;
use crate::facts::{Facts, WriteCache};
use crate::port::{AdminPort, Data, NvmeCommand};
use crate::trusted;
pub(crate) use health::ask as health;
use identify::{Controller, Namespace};
pub(crate) use purges::{SanitizeState, SanitizeStatus, sanitize_status};

/// Identify: the namespace (CNS 0), the controller (CNS 1), the namespaces that are active (CNS 2).
const NAMESPACE: u8 = 0x00;
const CONTROLLER: u8 = 0x01;
const ACTIVE_NAMESPACES: u8 = 0x02;

pub(crate) fn ask(port: &mut dyn AdminPort, namespace: u32) -> io::Result<Facts> {
    let mut page = [0; 4096];
    port.nvme(NvmeCommand::identify(CONTROLLER, 0), Data::FromDrive(&mut page))?;
    let controller = Controller::parse(Fields(&page));
    let mut page = [0; 4096];
    port.nvme(NvmeCommand::identify(NAMESPACE, namespace), Data::FromDrive(&mut page))?;
    let space = Namespace::parse(Fields(&page));
    let write_cache =
        controller.write_cache.then(|| WriteCache { enabled: features::write_cache(port) });
    let spaces = active_namespaces(port);
    let status = controller.can_sanitize().then(|| sanitize_status(port)).flatten();
    Ok(Facts {
        speaks: controller.version(),
        capacity: space.capacity(),
        namespaces: spaces,
        formats: space.formats.clone(),
        link: None,
        write_cache,
        power_state_now: features::power_state(port),
        power_transitions: features::power_transitions(port, &controller),
        power_mode: None,
        host_memory: features::host_memory(port, &controller),
        firmware_slots: firmware::ask(port),
        errors: errors::ask(port, controller.error_places),
        warning_c: controller.warning_c,
        critical_c: controller.critical_c,
        health: health::ask(port),
        security: None,
        encryption: controller.has_security.then(|| trusted::ask(port)).flatten(),
        purges: purges::offers(&controller, &space, spaces, status.as_ref()),
        model: controller.model,
        serial: controller.serial,
        firmware: controller.firmware,
        power_states: controller.power_states,
    })
}

/// How many namespaces the drive has; `None` if it does not tell.
fn active_namespaces(port: &mut dyn AdminPort) -> Option<usize> {
    let mut page = [0; 4096];
    port.nvme(NvmeCommand::identify(ACTIVE_NAMESPACES, 0), Data::FromDrive(&mut page)).ok()?;
    Some((0..1024).take_while(|index| Fields(&page).u32(4 * index) != 0).count())
}
