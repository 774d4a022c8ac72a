//! NVMe drives.

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
/// Feature: volatile write cache.
const WRITE_CACHE: u8 = 0x06;

pub(crate) fn ask(port: &mut dyn AdminPort, namespace: u32) -> io::Result<Facts> {
    let mut page = [0; 4096];
    port.nvme(NvmeCommand::identify(CONTROLLER, 0), Data::FromDrive(&mut page))?;
    let controller = Controller::parse(Fields(&page));
    let mut page = [0; 4096];
    port.nvme(NvmeCommand::identify(NAMESPACE, namespace), Data::FromDrive(&mut page))?;
    let space = Namespace::parse(Fields(&page));
    let enabled = || {
        let value = port.nvme(NvmeCommand::feature(WRITE_CACHE), Data::None).ok()?;
        Some(value & 1 == 1)
    };
    let write_cache = controller.write_cache.then(enabled).map(|enabled| WriteCache { enabled });
    let spaces = active_namespaces(port);
    let status = controller.can_sanitize().then(|| sanitize_status(port)).flatten();
    Ok(Facts {
        speaks: controller.version(),
        capacity: space.capacity(),
        formats: space.formats.clone(),
        link: None,
        write_cache,
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
