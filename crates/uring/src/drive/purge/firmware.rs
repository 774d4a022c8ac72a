//! Purges by a drive's own commands, in a thread of their own, and the note of a password that is set
//! for one.

use std::fs::{self, File};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use writecliff_admin::{
    Facts, PurgeError, PurgeHost, PurgeOffer, UnfinishedPurge, finish, format_progress, purge,
    unfinished,
};
use writecliff_device::{PrepareWatch, Purge};

use crate::drive::admin_port::KernelPort;
use crate::drive::purge::background::{Shared, StillRunning, Unfinished, in_background};

/// Where it is written down that a drive was given a password, by the drive's serial number: only
/// root may set one, and the next boot still finds it here.
const NOTES: &str = "/var/lib/writecliff/passwords";

/// The purge that `facts` offer as `how`, if nothing is in its way.
///
/// # Errors
/// Why it cannot be done.
pub(crate) fn offer(facts: &Facts, how: Purge) -> Result<PurgeOffer, String> {
    let offered = facts.purges.iter().find(|offer| offer.kind == how);
    let Some(offer) = offered else {
        let all: Vec<Purge> = facts.purges.iter().map(|offer| offer.kind).collect();
        return Err(format!("by its own word the drive has {}", Purge::names(&all)));
    };
    match &offer.hindrances[..] {
        [] => Ok(offer.clone()),
        hindrances => Err(hindrances.join("; ")),
    }
}

/// Erases by the drive's own command.
pub(crate) fn all(
    port: KernelPort,
    how: Purge,
    expected: Option<Duration>,
    running: &StillRunning,
    watch: PrepareWatch<'_>,
) -> Result<(), Unfinished> {
    let is_format = matches!(how, Purge::Format | Purge::FormatCrypto);
    let asking = is_format.then(|| port.again().ok()).flatten();
    let work = move |shared: &Shared| {
        let mut port = port;
        let ended = AtomicBool::new(false);
        thread::scope(|scope| {
            if let Some(asking) = asking {
                scope.spawn(|| show_format(asking, shared, &ended));
            }
            let purged = purge(&mut port, how, &mut Here::watched_by(shared));
            ended.store(true, Ordering::Relaxed);
            purged.map_err(Unfinished::from)
        })
    };
    in_background(work, expected, running, watch)
}

/// Shows how far a format is, until it has ended.
fn show_format(mut port: KernelPort, shared: &Shared, ended: &AtomicBool) {
    const STEP: Duration = Duration::from_millis(100);
    const STEPS: u32 = 10;
    for step in 1_u32.. {
        thread::sleep(STEP);
        if ended.load(Ordering::Relaxed) {
            return;
        }
        if step.is_multiple_of(STEPS) {
            let Some(share) = format_progress(&mut port) else { return };
            // Before it begins and after it has ended the drive says that nothing is left.
            shared.show(if share < 1.0 { share } else { 0.0 });
        }
    }
}

/// A purge that somebody began on this drive and that is not over.
pub(crate) fn left_on(port: &mut KernelPort) -> Option<UnfinishedPurge> {
    unfinished(port, &Here::watched_by(&Shared::default()))
}

/// Waits for the end of what [`left_on`] found, or undoes what it left.
pub(crate) fn end(
    port: KernelPort,
    left: UnfinishedPurge,
    watch: PrepareWatch<'_>,
) -> Result<(), Unfinished> {
    let work = move |shared: &Shared| {
        let mut port = port;
        finish(&mut port, left, &mut Here::watched_by(shared)).map_err(Unfinished::from)
    };
    in_background(work, None, &StillRunning::default(), watch)
}

/// This machine, for a purge.
struct Here<'a> {
    shared: &'a Shared,
    notes: PathBuf,
}

impl<'a> Here<'a> {
    fn watched_by(shared: &'a Shared) -> Self {
        Self { shared, notes: PathBuf::from(NOTES) }
    }

    /// Serial numbers are the makers' words: what is no letter or digit does not become a path.
    fn note_of(&self, serial: &str) -> PathBuf {
        let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        self.notes.join(serial.chars().map(safe).collect::<String>())
    }
}

impl PurgeHost for Here<'_> {
    fn wait(&mut self, time: Duration) {
        thread::sleep(time);
    }

    fn watch(&mut self, share: f64) -> ControlFlow<()> {
        self.shared.show(share);
        if self.shared.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn note_password(&mut self, serial: &str) -> io::Result<()> {
        fs::create_dir_all(&self.notes)?;
        let note = File::create(self.note_of(serial))?;
        note.sync_all()?;
        sync(&self.notes)
    }

    fn has_noted_password(&self, serial: &str) -> bool {
        self.note_of(serial).exists()
    }

    fn forget_password(&mut self, serial: &str) {
        // A note that stays says of a drive without a password that it may have ours, which is
        // looked at and found to be otherwise.
        let _ = fs::remove_file(self.note_of(serial));
    }
}

/// Puts a directory's names on disk, its own name too.
fn sync(directory: &Path) -> io::Result<()> {
    directory.ancestors().take(3).try_for_each(|above| File::open(above)?.sync_all())
}

impl From<PurgeError> for Unfinished {
    fn from(error: PurgeError) -> Self {
        match error {
            PurgeError::Unwatched => Self::Stopped { goes_on: true },
            PurgeError::Stalled { percent, since } => Self::Stalled { percent, since },
            PurgeError::PasswordLeft { source } => Self::PasswordLeft(source),
            PurgeError::Failed { doing, source } => {
                Self::Refused(io::Error::other(format!("{doing}: {source}")))
            }
            PurgeError::Hindered(why) => Self::Refused(io::Error::other(why)),
            other => Self::Refused(io::Error::other(format!("{other:?}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_found_by_its_serial_number_until_it_is_forgotten() {
        let directory = tempfile::tempdir().unwrap();
        let shared = Shared::default();
        let notes = directory.path().join("state/passwords");
        let mut here = Here { shared: &shared, notes: notes.clone() };
        assert!(!here.has_noted_password("S1/../x"));
        here.note_password("S1/../x").unwrap();
        assert!(here.has_noted_password("S1/../x") && notes.join("S1____x").exists());
        here.forget_password("S1/../x");
        assert!(!here.has_noted_password("S1/../x"));
        fs::remove_dir_all(&notes).unwrap();
        fs::write(&notes, "").unwrap();
        assert!(here.note_password("S2").is_err(), "where no note can be kept, no password is set");
    }
}
