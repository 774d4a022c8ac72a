//! The way back from a lost password: a self-encrypting drive reverts to its factory state for
//! whoever knows the PSID on its label. All data are lost, since its key is changed.

use std::fmt;
use std::io;
use std::str::FromStr;
use std::time::Duration;

use super::session::{Argument, Session, Uid, call};
use super::{SelfEncryption, ask};
use crate::port::AdminPort;

/// The number on a drive's label: 32 letters and digits.
#[derive(Clone, PartialEq, Eq)]
pub struct Psid(String);

impl FromStr for Psid {
    type Err = String;

    /// Blanks and dashes, which labels group it by, are left out.
    fn from_str(text: &str) -> Result<Self, String> {
        const LENGTH: usize = 32;
        let plain: String = text.chars().filter(|c| !c.is_whitespace() && *c != '-').collect();
        let is_right = plain.len() == LENGTH && plain.chars().all(|c| c.is_ascii_alphanumeric());
        is_right.then(|| Self(plain.to_ascii_uppercase())).ok_or_else(|| {
            format!(
                "a PSID has {LENGTH} letters and digits, and this has {}: it is printed on the \
                 drive's label, beside the word PSID",
                plain.chars().count()
            )
        })
    }
}

/// Not shown: whoever has it can erase the drive.
impl fmt::Debug for Psid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Psid(..)")
    }
}

/// Why a drive was not reverted; its data are as they were, unless it failed in the midst of it.
#[derive(Debug)]
#[non_exhaustive]
pub enum RevertError {
    /// It has no Opal or Pyrite, or the commands do not reach it.
    Unsupported,
    /// The PSID is not its own.
    WrongPsid,
    /// Too many wrong ones: power has to be switched off before the next.
    LockedOut,
    /// The drive answered a step with this status (Core Specification 2.01, table 166).
    Refused {
        /// The step.
        doing: &'static str,
        /// Its status.
        status: u8,
    },
    /// The commands failed.
    Failed(io::Error),
}

const SESSION_MANAGER: Uid = [0, 0, 0, 0, 0, 0, 0, 0xFF];
const START_SESSION: Uid = [0, 0, 0, 0, 0, 0, 0xFF, 0x02];
const ADMIN: Uid = [0, 0, 2, 5, 0, 0, 0, 1];
const PSID: Uid = [0, 0, 0, 9, 0, 1, 0xFF, 1];
const REVERT: Uid = [0, 0, 0, 6, 0, 0, 2, 2];

/// Names of StartSession's optional arguments.
const CHALLENGE: u8 = 0;
const AUTHORITY: u8 = 3;

/// Statuses.
const NOT_AUTHORIZED: u8 = 0x01;
const LOCKED_OUT: u8 = 0x12;

/// Any number but zero.
const HOST_SESSION: u8 = 1;

/// Reverts the drive to its factory state: no password, no lock, no data.
///
/// # Errors
/// [`RevertError`].
pub fn psid_revert(
    port: &mut dyn AdminPort,
    psid: &Psid,
    wait: &mut dyn FnMut(Duration),
) -> Result<(), RevertError> {
    let Some(SelfEncryption { com_id: Some(com_id), .. }) = ask(port) else {
        return Err(RevertError::Unsupported);
    };
    let arguments = [
        Argument::Number(HOST_SESSION),
        Argument::Bytes(&ADMIN),
        Argument::Number(1), // it is to be changed
        Argument::Named(CHALLENGE, psid.0.as_bytes()),
        Argument::Named(AUTHORITY, &PSID),
    ];
    let start = (SESSION_MANAGER, START_SESSION);
    let answer = call(port, com_id, Session::default(), start, &arguments, wait)
        .map_err(RevertError::Failed)?;
    let session = match (answer.status, &answer.numbers[..]) {
        (0, [.., host, drive]) => Session { host: *host as u32, drive: *drive as u32 },
        (0, _) => return Err(RevertError::Failed(io::ErrorKind::InvalidData.into())),
        (NOT_AUTHORIZED, _) => return Err(RevertError::WrongPsid),
        (LOCKED_OUT, _) => return Err(RevertError::LockedOut),
        (status, _) => return Err(RevertError::Refused { doing: "opening a session", status }),
    };
    // The drive ends the session by itself when it has reverted.
    let answer = call(port, com_id, session, (ADMIN, REVERT), &[], wait);
    match answer.map_err(RevertError::Failed)?.status {
        0 => Ok(()),
        status => Err(RevertError::Refused { doing: "the revert", status }),
    }
}
