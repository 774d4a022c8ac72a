//! SANITIZE DEVICE (ACS-4, 7.34 to 7.38) and the SECURITY feature set (4.18, 7.39 to 7.44).

use std::io;
use std::time::Duration;

use super::{PurgeError, PurgeHost, Sanitize, UnfinishedPurge, failed, follow_sanitize};
use crate::ata::{Identity, identify};
use crate::port::{AdminPort, AtaAbort, AtaCommand, AtaResult, Data};

/// The password that is set for an erase, filled up with zeros; always this one.
pub const PASSWORD: &str = "writecliff";

const SANITIZE_DEVICE: u8 = 0xB4;
const SET_PASSWORD: u8 = 0xF1;
const UNLOCK: u8 = 0xF2;
const ERASE_PREPARE: u8 = 0xF3;
const ERASE_UNIT: u8 = 0xF4;
const DISABLE_PASSWORD: u8 = 0xF6;

/// A drive that does not say how long its erase takes may take so long; one that does, three times
/// that.
const ERASE_PATIENCE: Duration = Duration::from_secs(12 * 3600);

/// A kind of sanitize: its feature, and the key that its LBA must be.
pub(super) struct Kind {
    feature: u16,
    lba: u64,
    count: u16,
}

/// The failure of a sanitize may be left by a question that says so.
const MAY_LEAVE_FAILURE: u16 = 1 << 4;
const LEAVE_FAILURE: u16 = 1;

pub(super) const BLOCK: Kind = Kind { feature: 0x0012, lba: 0x426B_4572, count: 0 };
pub(super) const CRYPTO: Kind = Kind { feature: 0x0011, lba: 0x4372_7970, count: 0 };
/// One pass of zeros.
pub(super) const OVERWRITE: Kind = Kind { feature: 0x0014, lba: 0x4F57_0000_0000, count: 1 };

/// Begins a sanitize and follows it to its end.
pub(super) fn sanitize(
    port: &mut dyn AdminPort,
    kind: &Kind,
    host: &mut dyn PurgeHost,
) -> Result<(), PurgeError> {
    let status =
        sanitize_status(port, 0).map_err(failed("asking for the state of its sanitize"))?;
    let hindrance = match status {
        Status { is_frozen: true, .. } => {
            "its sanitize is frozen: plug its power out and in again while the system runs"
        }
        Status { is_under_way: true, .. } => "a sanitize is under way",
        _ => {
            let count = kind.count | MAY_LEAVE_FAILURE;
            let command = sanitize_command(kind.feature, count, kind.lba);
            port.ata(command, Data::None).map_err(failed("beginning the sanitize"))?;
            return follow(port, host);
        }
    };
    Err(PurgeError::Hindered(hindrance.to_owned()))
}

pub(super) fn follow(port: &mut dyn AdminPort, host: &mut dyn PurgeHost) -> Result<(), PurgeError> {
    follow_sanitize(host, None, || {
        Ok(match sanitize_status(port, 0) {
            Ok(Status { is_under_way: true, progress, .. }) => Sanitize::UnderWay(progress),
            Ok(Status { has_succeeded: true, .. }) => Sanitize::Done,
            Ok(_) => Sanitize::Failed,
            Err(error) if is_of_failure(&error) => Sanitize::Failed,
            Err(error) => return Err(error),
        })
    })
}

/// Whether the drive aborts the question for its state because its last sanitize failed: the reason in
/// the LBA field (table 131). Any other error says nothing of the kind: there are bridges and
/// controllers that do not pass the registers on.
fn is_of_failure(error: &io::Error) -> bool {
    const OPERATION_FAILED: u64 = 1;
    let abort = error.get_ref().and_then(|inner| inner.downcast_ref::<AtaAbort>());
    abort.is_some_and(|abort| abort.result.lba & 0xFF == OPERATION_FAILED)
}

/// What SANITIZE STATUS EXT leaves in the registers: table 130.
struct Status {
    has_succeeded: bool,
    is_under_way: bool,
    is_frozen: bool,
    /// Of 65,536.
    progress: u16,
}

fn sanitize_status(port: &mut dyn AdminPort, count: u16) -> io::Result<Status> {
    let AtaResult { count, lba } = port.ata(sanitize_command(0, count, 0), Data::None)?;
    Ok(Status {
        has_succeeded: count >> 15 & 1 == 1,
        is_under_way: count >> 14 & 1 == 1,
        is_frozen: count >> 13 & 1 == 1,
        progress: lba as u16,
    })
}

fn sanitize_command(feature: u16, count: u16, lba: u64) -> AtaCommand {
    AtaCommand { feature, count, lba, is_extended: true, ..AtaCommand::new(SANITIZE_DEVICE) }
}

pub(super) fn leave_failure(port: &mut dyn AdminPort) -> Result<(), PurgeError> {
    sanitize_status(port, LEAVE_FAILURE).map_err(failed("leaving the failure of its sanitize"))?;
    Ok(())
}

/// Sanitizes that are not over, and our own password.
pub(super) fn unfinished(
    port: &mut dyn AdminPort,
    host: &dyn PurgeHost,
) -> Option<UnfinishedPurge> {
    let drive = identify(port).ok()?;
    let serial = drive.serial.as_deref().unwrap_or_default();
    if has_password(&drive) && host.has_noted_password(serial) {
        return Some(UnfinishedPurge::OwnPassword);
    }
    if !drive.can_sanitize() {
        return None;
    }
    match sanitize_status(port, 0) {
        Ok(Status { is_under_way: true, progress, .. }) => {
            Some(UnfinishedPurge::Sanitizing { percent: u32::from(progress) * 100 / 65_536 })
        }
        Err(error) if is_of_failure(&error) => Some(UnfinishedPurge::SanitizeFailed),
        Ok(_) | Err(_) => None,
    }
}

/// Erases by the SECURITY feature set, which needs a password: it is noted, set, used, and taken
/// away, whatever happened in between.
pub(super) fn secure_erase(
    port: &mut dyn AdminPort,
    is_enhanced: bool,
    host: &mut dyn PurgeHost,
) -> Result<(), PurgeError> {
    let drive = identify(port).map_err(failed("identifying it"))?;
    let Some(serial) = drive.serial.clone() else {
        return Err(PurgeError::Hindered(
            "the drive tells no serial number, by which its password would be found again".into(),
        ));
    };
    if let Some(hindrance) = hindrance(&drive, is_enhanced) {
        return Err(PurgeError::Hindered(hindrance));
    }
    host.note_password(&serial).map_err(failed("writing down that a password will be set"))?;
    let erased = set_password(port).and_then(|()| erase(port, &drive, is_enhanced));
    take_away(port, &serial, host)?;
    erased
}

/// What keeps the drive from taking an erase now.
fn hindrance(drive: &Identity, is_enhanced: bool) -> Option<String> {
    let words = match drive.security {
        None => "the drive has no ATA security",
        Some(security) if security.frozen => {
            "its security is frozen: plug its power out and in again while the system runs, or send \
             the system to sleep and wake it"
        }
        Some(security) if security.enabled || security.locked => {
            "a password is set: take it away first (`hdparm --security-disable PASSWORD DEVICE`)"
        }
        Some(security) if security.count_expired => {
            "too many wrong passwords were tried: switch its power off and on"
        }
        Some(_) if is_enhanced && !drive.can_erase_enhanced => {
            "the drive has no enhanced secure erase"
        }
        Some(_) => return None,
    };
    Some(words.to_owned())
}

fn set_password(port: &mut dyn AdminPort) -> Result<(), PurgeError> {
    send_password(port, SET_PASSWORD, 0).map_err(failed("setting the password for the erase"))
}

fn erase(port: &mut dyn AdminPort, drive: &Identity, is_enhanced: bool) -> Result<(), PurgeError> {
    const ENHANCED: u16 = 1 << 1;
    let own_word = if is_enhanced { drive.enhanced_erase_time } else { drive.erase_time };
    let patience = own_word.map_or(ERASE_PATIENCE, |time| (time * 3).max(ERASE_PATIENCE / 12));
    port.ata(AtaCommand::new(ERASE_PREPARE), Data::None)
        .map_err(failed("preparing the secure erase"))?;
    let command = AtaCommand { patience, ..AtaCommand::new(ERASE_UNIT) };
    let sector = password_sector(if is_enhanced { ENHANCED } else { 0 });
    port.ata(command, Data::ToDrive(&sector)).map_err(failed("the secure erase"))?;
    Ok(())
}

/// Sees to it that the drive has no password of ours. An erase that was done has taken it away
/// already.
fn take_away(
    port: &mut dyn AdminPort,
    serial: &str,
    host: &mut dyn PurgeHost,
) -> Result<(), PurgeError> {
    let left = |source| PurgeError::PasswordLeft { source };
    let drive = identify(port).map_err(left)?;
    if drive.security.is_some_and(|security| security.locked) {
        send_password(port, UNLOCK, 0).map_err(left)?;
    }
    if has_password(&drive) {
        send_password(port, DISABLE_PASSWORD, 0).map_err(left)?;
    }
    if has_password(&identify(port).map_err(left)?) {
        return Err(left(io::Error::other("the drive says that it has a password still")));
    }
    host.forget_password(serial);
    Ok(())
}

/// After an erase that was broken off: the password is taken away; a drive that does not let go of
/// it before it is erased, as the standard wants after a loss of power, is erased.
pub(super) fn finish_erase(
    port: &mut dyn AdminPort,
    host: &mut dyn PurgeHost,
) -> Result<(), PurgeError> {
    let drive = identify(port).map_err(failed("identifying it"))?;
    let serial = drive.serial.clone().unwrap_or_default();
    if take_away(port, &serial, host).is_ok() {
        return Ok(());
    }
    erase(port, &drive, false)?;
    take_away(port, &serial, host)
}

fn has_password(drive: &Identity) -> bool {
    drive.security.is_some_and(|security| security.enabled)
}

fn send_password(port: &mut dyn AdminPort, command: u8, control: u16) -> io::Result<()> {
    port.ata(AtaCommand::new(command), Data::ToDrive(&password_sector(control)))?;
    Ok(())
}

/// What the commands of the SECURITY feature set are given: a control word, whose lowest bit is zero
/// for the user's password, and the password. A password is set at the security level "high", at
/// which the drive's master password could take it away as well.
fn password_sector(control: u16) -> [u8; 512] {
    let mut sector = [0; 512];
    sector[..2].copy_from_slice(&control.to_le_bytes());
    sector[2..2 + PASSWORD.len()].copy_from_slice(PASSWORD.as_bytes());
    sector
}
