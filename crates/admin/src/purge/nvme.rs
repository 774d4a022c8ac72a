//! Format NVM (Base Specification 2.1, 5.1.10) and Sanitize (5.1.22).

use std::io;
use std::time::Duration;

use super::{PurgeError, PurgeHost, Sanitize, UnfinishedPurge, failed, follow_sanitize};
use crate::bytes::Fields;
use crate::nvme::{SanitizeState, SanitizeStatus, sanitize_status};
use crate::port::{AdminPort, Data, NvmeCommand};

const FORMAT: u8 = 0x80;
const SANITIZE: u8 = 0x84;

/// Secure erase settings of a format.
pub(super) const ERASE: u32 = 1;
pub(super) const NEW_KEY: u32 = 2;
/// Actions of a sanitize.
const LEAVE_FAILURE: u32 = 1;
pub(super) const BLOCK: u32 = 2;
pub(super) const OVERWRITE: u32 = 3;
pub(super) const CRYPTO: u32 = 4;
/// A failed sanitize may be left without another: a drive that is tested is not to be lost by it.
const MAY_LEAVE_FAILURE: u32 = 1 << 3;
/// One pass is enough for a drive that is to be used again.
const ONE_PASS: u32 = 1 << 4;

/// A format takes the command as long as the drive needs for it.
const FORMAT_PATIENCE: Duration = Duration::from_secs(4 * 3600);

/// Formats the namespace, which keeps its LBA size, metadata and protection.
pub(super) fn format(
    port: &mut dyn AdminPort,
    namespace: u32,
    setting: u32,
) -> Result<(), PurgeError> {
    let before = layout(port, namespace).map_err(failed("asking for the LBA format"))?;
    let command = NvmeCommand {
        namespace,
        dword_10: before.format_dword() | setting << 9,
        patience: FORMAT_PATIENCE,
        ..NvmeCommand::new(FORMAT)
    };
    port.nvme(command, Data::None).map_err(failed("the format"))?;
    let after = layout(port, namespace).map_err(failed("asking for the LBA format afterwards"))?;
    if after == before {
        return Ok(());
    }
    let source = io::Error::other("the drive has another LBA format than before");
    Err(PurgeError::Failed { doing: "the format", source })
}

/// How much of a format under way is done, from 0 to 1, by the format progress indicator of Identify
/// Namespace; `None` if the drive does not tell.
pub(super) fn format_progress(port: &mut dyn AdminPort, namespace: u32) -> Option<f64> {
    const IS_TOLD: u8 = 0x80;
    let mut page = [0; 4096];
    port.nvme(NvmeCommand::identify(0, namespace), Data::FromDrive(&mut page)).ok()?;
    let told = Fields(&page).byte(32);
    let left = f64::from(told & !IS_TOLD).min(100.0);
    (told & IS_TOLD != 0).then_some(1.0 - left / 100.0)
}

/// How the namespace's LBAs are laid out: FLBAS and DPS of Identify Namespace (NVM Command Set
/// Specification 1.1, figure 114).
#[derive(Clone, Copy, PartialEq, Eq)]
struct Layout {
    format: u8,
    protection: u8,
}

fn layout(port: &mut dyn AdminPort, namespace: u32) -> io::Result<Layout> {
    let mut page = [0; 4096];
    port.nvme(NvmeCommand::identify(0, namespace), Data::FromDrive(&mut page))?;
    let page = Fields(&page);
    Ok(Layout { format: page.byte(26), protection: page.byte(29) })
}

impl Layout {
    /// The same as dword 10 of Format NVM has it (figure 189).
    fn format_dword(self) -> u32 {
        let (format, protection) = (u32::from(self.format), u32::from(self.protection));
        let (number, number_above) = (format & 0x0F, format >> 5 & 3);
        let metadata_in_data = format >> 4 & 1;
        let (kind, is_first) = (protection & 7, protection >> 3 & 1);
        number | metadata_in_data << 4 | kind << 5 | is_first << 8 | number_above << 12
    }
}

/// Begins a sanitize and follows it to its end.
pub(super) fn sanitize(
    port: &mut dyn AdminPort,
    action: u32,
    host: &mut dyn PurgeHost,
) -> Result<(), PurgeError> {
    if let Some(SanitizeState::UnderWay { .. }) = sanitize_status(port).map(|status| status.state) {
        return Err(PurgeError::Hindered("a sanitize is under way".to_owned()));
    }
    let passes = if action == OVERWRITE { ONE_PASS } else { 0 };
    let dword_10 = action | MAY_LEAVE_FAILURE | passes;
    let command = NvmeCommand { dword_10, ..NvmeCommand::new(SANITIZE) };
    port.nvme(command, Data::None).map_err(failed("beginning the sanitize"))?;
    follow(port, host)
}

pub(super) fn follow(port: &mut dyn AdminPort, host: &mut dyn PurgeHost) -> Result<(), PurgeError> {
    let longest = sanitize_status(port).and_then(|status| status.longest());
    follow_sanitize(host, longest, || {
        let no_answer = || io::Error::other("the drive does not tell how far its sanitize is");
        let SanitizeStatus { state, .. } = sanitize_status(port).ok_or_else(no_answer)?;
        Ok(match state {
            SanitizeState::UnderWay { progress } => Sanitize::UnderWay(progress),
            SanitizeState::Failed => Sanitize::Failed,
            SanitizeState::Done | SanitizeState::Never => Sanitize::Done,
        })
    })
}

pub(super) fn unfinished(port: &mut dyn AdminPort) -> Option<UnfinishedPurge> {
    match sanitize_status(port)?.state {
        SanitizeState::UnderWay { progress } => {
            Some(UnfinishedPurge::Sanitizing { percent: u32::from(progress) * 100 / 65_536 })
        }
        SanitizeState::Failed => Some(UnfinishedPurge::SanitizeFailed),
        SanitizeState::Done | SanitizeState::Never => None,
    }
}

/// Lets the drive take I/O again after a sanitize that failed.
pub(super) fn leave_failure(port: &mut dyn AdminPort) -> Result<(), PurgeError> {
    let command = NvmeCommand { dword_10: LEAVE_FAILURE, ..NvmeCommand::new(SANITIZE) };
    port.nvme(command, Data::None).map_err(failed("leaving the failure of its sanitize"))?;
    Ok(())
}
