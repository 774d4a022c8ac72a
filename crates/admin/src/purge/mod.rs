//! Purges by a drive's own commands, from the first to the last; and the end of those that were
//! broken off.
//!
//! Held true throughout: nothing is sent that erases before everything was asked that could speak
//! against it; a password that is set is written down first and is always [`PASSWORD`]; a drive that
//! goes on by itself is followed, and never given a second command.

mod ata;
mod nvme;

use std::io;
use std::ops::ControlFlow;
use std::time::Duration;

use writecliff_device::Purge;

use crate::port::{AdminPort, Protocol};

pub use ata::PASSWORD;

/// What a purge needs of the machine that it is run from.
pub trait PurgeHost {
    /// Lets time pass.
    fn wait(&mut self, time: Duration);

    /// Shows how much is done, from 0 to 1, and tells whether to go on waiting for it.
    fn watch(&mut self, share: f64) -> ControlFlow<()>;

    /// Writes down, so that it outlives this process and the machine's power, that the drive of this
    /// serial number is about to get [`PASSWORD`].
    ///
    /// # Errors
    /// If that cannot be kept; the password is not set then.
    fn note_password(&mut self, serial: &str) -> io::Result<()>;

    /// Whether that was written down.
    fn has_noted_password(&self, serial: &str) -> bool;

    /// Forgets it: the drive has no password of ours any more.
    fn forget_password(&mut self, serial: &str);
}

/// Why a purge did not come to its end.
#[derive(Debug)]
#[non_exhaustive]
pub enum PurgeError {
    /// It was not begun: what is in its way.
    Hindered(String),
    /// The watcher does not want to wait any longer. The drive goes on by itself.
    Unwatched,
    /// The drive refused or failed a step.
    Failed {
        /// The step.
        doing: &'static str,
        /// What the kernel or the drive said.
        source: io::Error,
    },
    /// It is under way by the drive's word, and does not get on.
    Stalled {
        /// How far it is, of 100.
        percent: u32,
        /// For so long.
        since: Duration,
    },
    /// It failed, and the password that it needed is still set.
    PasswordLeft {
        /// What the drive said to taking it away.
        source: io::Error,
    },
}

/// A purge that somebody began and that is not over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnfinishedPurge {
    /// The drive erases, at so many of 100, and nothing stops it.
    Sanitizing {
        /// How far it is.
        percent: u32,
    },
    /// The drive failed to erase, and refuses I/O.
    SanitizeFailed,
    /// The drive has [`PASSWORD`], which was set for an erase.
    OwnPassword,
}

/// Erases everything on a drive in the way `how`, and returns when the drive says that it has.
///
/// # Errors
/// [`PurgeError`]. `Hindered` too if the drive has no such way.
pub fn purge(
    port: &mut dyn AdminPort,
    how: Purge,
    host: &mut dyn PurgeHost,
) -> Result<(), PurgeError> {
    match (port.protocol(), how) {
        (Protocol::Nvme { namespace }, Purge::Format) => nvme::format(port, namespace, nvme::ERASE),
        (Protocol::Nvme { namespace }, Purge::FormatCrypto) => {
            nvme::format(port, namespace, nvme::NEW_KEY)
        }
        (Protocol::Nvme { .. }, Purge::SanitizeBlock) => nvme::sanitize(port, nvme::BLOCK, host),
        (Protocol::Nvme { .. }, Purge::SanitizeCrypto) => nvme::sanitize(port, nvme::CRYPTO, host),
        (Protocol::Nvme { .. }, Purge::SanitizeOverwrite) => {
            nvme::sanitize(port, nvme::OVERWRITE, host)
        }
        (Protocol::Ata, Purge::AtaSanitizeBlock) => ata::sanitize(port, &ata::BLOCK, host),
        (Protocol::Ata, Purge::AtaSanitizeCrypto) => ata::sanitize(port, &ata::CRYPTO, host),
        (Protocol::Ata, Purge::AtaSanitizeOverwrite) => ata::sanitize(port, &ata::OVERWRITE, host),
        (Protocol::Ata, Purge::AtaSecureErase) => ata::secure_erase(port, false, host),
        (Protocol::Ata, Purge::AtaSecureEraseEnhanced) => ata::secure_erase(port, true, host),
        (_, how) => Err(PurgeError::Hindered(format!("the drive has no purge called {how}"))),
    }
}

/// How much of a format under way is done, from 0 to 1: the command itself only returns at its end, so
/// this is asked by another way to the same drive. `None` if the drive does not tell.
pub fn format_progress(port: &mut dyn AdminPort) -> Option<f64> {
    match port.protocol() {
        Protocol::Nvme { namespace } => nvme::format_progress(port, namespace),
        _ => None,
    }
}

/// The purge that the drive is in the midst of, or that left it unusable.
pub fn unfinished(port: &mut dyn AdminPort, host: &dyn PurgeHost) -> Option<UnfinishedPurge> {
    match port.protocol() {
        Protocol::Nvme { .. } => nvme::unfinished(port),
        Protocol::Ata => ata::unfinished(port, host),
        Protocol::Scsi => None,
    }
}

/// Brings what [`unfinished`] found to an end: waits for it, or undoes what it left.
///
/// # Errors
/// [`PurgeError`].
pub fn finish(
    port: &mut dyn AdminPort,
    unfinished: UnfinishedPurge,
    host: &mut dyn PurgeHost,
) -> Result<(), PurgeError> {
    match (port.protocol(), unfinished) {
        (Protocol::Nvme { .. }, UnfinishedPurge::Sanitizing { .. }) => nvme::follow(port, host),
        (Protocol::Nvme { .. }, _) => nvme::leave_failure(port),
        (Protocol::Ata, UnfinishedPurge::Sanitizing { .. }) => ata::follow(port, host),
        (Protocol::Ata, UnfinishedPurge::SanitizeFailed) => ata::leave_failure(port),
        (Protocol::Ata, UnfinishedPurge::OwnPassword) => ata::finish_erase(port, host),
        (Protocol::Scsi, _) => Err(PurgeError::Hindered(
            "a SCSI drive is not purged by commands of its own".to_owned(),
        )),
    }
}

/// Between two questions how far a drive is.
const PERIOD: Duration = Duration::from_secs(1);
/// A drive whose progress stands still for longer than this, and than twice the time that it says
/// it needs, is not waited for any more. There are drives that stay at 1 % for a week.
const STALL: Duration = Duration::from_secs(20 * 60);
/// A drive that is busy erasing may leave a question unanswered, but not so many in a row.
const SILENCES_MAX: u32 = 30;

/// What a drive says of its sanitize.
enum Sanitize {
    Done,
    Failed,
    /// At so many of 65,536.
    UnderWay(u16),
}

/// Asks `status` again and again until the drive is done.
fn follow_sanitize(
    host: &mut dyn PurgeHost,
    own_word: Option<Duration>,
    mut status: impl FnMut() -> io::Result<Sanitize>,
) -> Result<(), PurgeError> {
    let stall = STALL.max(own_word.unwrap_or_default() * 2);
    let (mut last, mut unmoved, mut silences) = (None, Duration::ZERO, 0);
    loop {
        let progress = match status() {
            Ok(Sanitize::Done) => return Ok(()),
            Ok(Sanitize::Failed) => {
                let source = io::Error::other("the drive says that its sanitize failed");
                return Err(PurgeError::Failed { doing: "the sanitize", source });
            }
            Ok(Sanitize::UnderWay(progress)) => Some(progress),
            Err(source) if silences >= SILENCES_MAX => {
                return Err(PurgeError::Failed { doing: "asking how far the sanitize is", source });
            }
            Err(_) => None,
        };
        silences = if progress.is_some() { 0 } else { silences + 1 };
        unmoved = if progress.is_some() && progress != last { Duration::ZERO } else { unmoved };
        last = progress.or(last);
        let share = f64::from(last.unwrap_or(0)) / 65_536.0;
        if unmoved > stall {
            return Err(PurgeError::Stalled { percent: (share * 100.0) as u32, since: unmoved });
        }
        if host.watch(share).is_break() {
            return Err(PurgeError::Unwatched);
        }
        host.wait(PERIOD);
        unmoved += PERIOD;
    }
}

fn failed(doing: &'static str) -> impl FnOnce(io::Error) -> PurgeError {
    move |source| PurgeError::Failed { doing, source }
}
