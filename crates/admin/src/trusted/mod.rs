//! Self-encrypting drives: the security protocols of SPC-5 and SIIS, Level 0 Discovery of the TCG
//! Storage Architecture Core Specification 2.01 (3.3.6), and the revert by the number on a drive's
//! label.

mod discovery;
mod revert;
mod session;

use std::io;

use crate::bytes::Fields;
use crate::port::{AdminPort, AtaCommand, Data, NvmeCommand, Protocol};

pub use discovery::{LockingState, SelfEncryption, Subsystem};
pub use revert::{Psid, RevertError, psid_revert};

/// Security protocols.
const INFORMATION: u8 = 0x00;
const TCG: u8 = 0x01;
const IEEE_1667: u8 = 0xEE;
/// The ComID of Level 0 Discovery.
const DISCOVERY: u16 = 0x0001;

/// What the drive says of its own encryption; `None` if it has no such commands, or what is before it
/// does not pass them on.
pub(crate) fn ask(port: &mut dyn AdminPort) -> Option<SelfEncryption> {
    let mut page = [0; 512];
    receive(port, INFORMATION, 0, &mut page).ok()?;
    let protocols = protocols(Fields(&page));
    let has = |protocol| protocols.contains(&protocol);
    let discovered = has(TCG).then(|| discover(port)).flatten();
    Some(SelfEncryption { has_ieee_1667: has(IEEE_1667), ..discovered.unwrap_or_default() })
}

/// SPC-5, 7.7.1.3: how many there are, and then each in a byte.
fn protocols(page: Fields<'_>) -> Vec<u8> {
    let count = usize::from(page.u16(6).swap_bytes()).min(504);
    (0..count).map(|index| page.byte(8 + index)).collect()
}

fn discover(port: &mut dyn AdminPort) -> Option<SelfEncryption> {
    let mut page = [0; 2048];
    receive(port, TCG, DISCOVERY, &mut page).ok()?;
    discovery::parse(&page)
}

/// Security Receive (NVMe Base Specification 2.1, 5.1.23), or TRUSTED RECEIVE (ACS-4, 7.57).
fn receive(
    port: &mut dyn AdminPort,
    protocol: u8,
    specific: u16,
    data: &mut [u8],
) -> io::Result<()> {
    let length = data.len();
    command(port, [0x82, 0x5C], protocol, specific, length, Data::FromDrive(data))
}

/// Security Send (5.1.24), or TRUSTED SEND (7.59).
fn send(port: &mut dyn AdminPort, protocol: u8, specific: u16, data: &[u8]) -> io::Result<()> {
    command(port, [0x81, 0x5E], protocol, specific, data.len(), Data::ToDrive(data))
}

fn command(
    port: &mut dyn AdminPort,
    [nvme, ata]: [u8; 2],
    protocol: u8,
    specific: u16,
    length: usize,
    data: Data<'_>,
) -> io::Result<()> {
    match port.protocol() {
        Protocol::Nvme { .. } => {
            let dword_10 = u32::from(protocol) << 24 | u32::from(specific) << 8;
            let dword_11 = length as u32;
            port.nvme(NvmeCommand { dword_10, dword_11, ..NvmeCommand::new(nvme) }, data).map(drop)
        }
        Protocol::Ata => {
            let (feature, lba) = (u16::from(protocol), u64::from(specific) << 8);
            port.ata(AtaCommand { feature, lba, ..AtaCommand::new(ata) }, data).map(drop)
        }
        Protocol::Scsi => Err(io::ErrorKind::Unsupported.into()),
    }
}
