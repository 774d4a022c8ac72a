//! Purges on drives that are made of rules: what they send, in which order, and what is left when the
//! one who sends is killed at any step.
use std::collections::HashSet;
use std::io;
use std::ops::ControlFlow;
use std::time::Duration;

use writecliff_admin::{
    AdminPort, AtaAbort, AtaCommand, AtaResult, Data, NvmeCommand, PASSWORD, Protocol, PurgeError,
    PurgeHost, UnfinishedPurge, finish, format_progress, purge, unfinished,
};
use writecliff_device::Purge;

/// The machine, in as much time as it likes; its notes outlive whoever writes them.
#[derive(Default)]
struct Machine {
    notes: HashSet<String>,
    waited: Duration,
    patience: Option<Duration>,
    shares: Vec<f64>,
    has_full_disk: bool,
}

impl PurgeHost for Machine {
    fn wait(&mut self, time: Duration) {
        self.waited += time;
    }

    fn watch(&mut self, share: f64) -> ControlFlow<()> {
        self.shares.push(share);
        match self.patience {
            Some(patience) if self.waited > patience => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }

    fn note_password(&mut self, serial: &str) -> io::Result<()> {
        if self.has_full_disk {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.notes.insert(serial.to_owned());
        Ok(())
    }

    fn has_noted_password(&self, serial: &str) -> bool {
        self.notes.contains(serial)
    }

    fn forget_password(&mut self, serial: &str) {
        self.notes.remove(serial);
    }
}

fn aborted() -> io::Error {
    io::Error::other("aborted")
}

/// An ATA drive by the rules of ACS-4: its SECURITY feature set and its sanitize.
#[derive(Clone, Default)]
struct Ata {
    password: Option<[u8; 32]>,
    locked: bool,
    frozen: bool,
    prepared: bool,
    holds_data: bool,
    /// Fails its erase.
    is_broken: bool,
    /// Unlocks for nobody before it is erased.
    stays_locked: bool,
    /// Answers so many commands more: whoever sends them is killed then.
    lives: Option<u32>,
    sanitize: SanitizeState,
    log: Vec<u8>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
enum SanitizeState {
    #[default]
    Never,
    /// Steps done, of how many; at which it stays.
    UnderWay(u32, u32, u32),
    Done,
    Failed,
    Frozen,
    /// The question is refused, by whatever is before the drive.
    Silent,
}

impl SanitizeState {
    /// A question moves it on.
    fn asked(&mut self) -> Self {
        if let Self::UnderWay(done, all, stays) = self {
            *done = (*done + 1).min(*stays);
            if done == all {
                *self = Self::Done;
            }
        }
        *self
    }
}

impl Ata {
    fn with_data() -> Self {
        Self { holds_data: true, ..Self::default() }
    }

    fn identity(&self) -> [u8; 512] {
        let mut page = [0; 512];
        let mut word = |at: usize, value: u16| {
            page[2 * at..2 * at + 2].copy_from_slice(&value.to_le_bytes());
        };
        for at in 10..20 {
            word(at, u16::from_be_bytes(*b"  "));
        }
        word(10, u16::from_be_bytes(*b"S1"));
        word(59, 1 << 12 | 1 << 13 | 1 << 15);
        word(89, 1);
        let bits = [true, self.password.is_some(), self.locked, self.frozen, false, true];
        let security = bits.iter().enumerate().map(|(bit, set)| u16::from(*set) << bit).sum();
        word(128, security);
        page
    }

    /// What power that goes and comes does.
    fn power_cycle(&mut self) {
        self.locked = self.password.is_some();
        (self.prepared, self.frozen) = (false, false);
    }

    fn with_password(&mut self, command: u8, sector: &[u8]) -> io::Result<()> {
        let given: [u8; 32] = sector[2..34].try_into().unwrap();
        let is_right = self.password == Some(given);
        let prepared = std::mem::take(&mut self.prepared);
        match command {
            _ if self.frozen => return Err(aborted()),
            0xF1 if !self.locked => self.password = Some(given),
            0xF2 if is_right && !self.stays_locked => self.locked = false,
            0xF4 if is_right && prepared && !self.is_broken => {
                (self.holds_data, self.password, self.locked) = (false, None, false);
            }
            0xF6 if is_right && !self.locked => self.password = None,
            _ => return Err(aborted()),
        }
        Ok(())
    }

    fn without_data(&mut self, command: AtaCommand) -> io::Result<AtaResult> {
        match (command.command, command.feature) {
            (0xF3, _) if !self.frozen => {
                self.prepared = true;
                Ok(AtaResult::default())
            }
            (0xB4, 0) => {
                if command.count & 1 == 1 && self.sanitize == SanitizeState::Failed {
                    self.sanitize = SanitizeState::Never;
                }
                match self.sanitize.asked() {
                    SanitizeState::Failed => {
                        let result = AtaResult { count: 0, lba: 1 };
                        Err(AtaAbort { error: 4, result }.into())
                    }
                    SanitizeState::Silent => Err(aborted()),
                    SanitizeState::Frozen => Ok(AtaResult { count: 1 << 13, lba: 0xFFFF }),
                    SanitizeState::UnderWay(done, all, _) => {
                        let lba = u64::from(done) * 65_536 / u64::from(all);
                        Ok(AtaResult { count: 1 << 14, lba })
                    }
                    SanitizeState::Done => {
                        self.holds_data = false;
                        Ok(AtaResult { count: 1 << 15, lba: 0xFFFF })
                    }
                    SanitizeState::Never => Ok(AtaResult { count: 0, lba: 0xFFFF }),
                }
            }
            (0xB4, 0x0012) if command.lba == 0x426B_4572 => {
                self.sanitize = SanitizeState::UnderWay(0, 10, 10);
                Ok(AtaResult::default())
            }
            (0xB4, 0x0011) if command.lba == 0x4372_7970 => {
                self.sanitize = SanitizeState::Done;
                Ok(AtaResult::default())
            }
            _ => Err(aborted()),
        }
    }
}

impl AdminPort for Ata {
    fn protocol(&self) -> Protocol {
        Protocol::Ata
    }

    fn nvme(&mut self, _: NvmeCommand, _: Data<'_>) -> io::Result<u32> {
        Err(aborted())
    }

    fn ata(&mut self, command: AtaCommand, data: Data<'_>) -> io::Result<AtaResult> {
        match &mut self.lives {
            Some(0) => return Err(io::Error::other("killed")),
            Some(lives) => *lives -= 1,
            None => {}
        }
        self.log.push(command.command);
        match data {
            Data::FromDrive(page) if command.command == 0xEC => {
                page.copy_from_slice(&self.identity());
                Ok(AtaResult::default())
            }
            Data::ToDrive(sector) => {
                self.with_password(command.command, sector).map(|()| AtaResult::default())
            }
            Data::None => self.without_data(command),
            Data::FromDrive(_) => Err(aborted()),
        }
    }
}

#[test]
fn a_secure_erase_sets_its_password_uses_it_and_leaves_none() {
    for how in [Purge::AtaSecureErase, Purge::AtaSecureEraseEnhanced] {
        let (mut drive, mut machine) = (Ata::with_data(), Machine::default());
        purge(&mut drive, how, &mut machine).unwrap();
        assert!(!drive.holds_data && drive.password.is_none() && machine.notes.is_empty());
        assert_eq!(drive.log, [0xEC, 0xF1, 0xF3, 0xF4, 0xEC, 0xEC], "{how}");
    }
}

/// After every number of commands the one who sends them is killed, the drive's power goes or stays,
/// and somebody starts again.
#[test]
fn killed_at_any_step_the_next_start_leaves_no_password_and_no_note() {
    let mut found = HashSet::new();
    for loses_power in [false, true] {
        for lives in 0..8 {
            let (mut drive, mut machine) = (Ata::with_data(), Machine::default());
            drive.lives = Some(lives);
            let killed = purge(&mut drive, Purge::AtaSecureErase, &mut machine);
            drive.lives = None;
            if loses_power {
                drive.power_cycle();
            }
            assert!(killed.is_ok() == (lives >= 6), "{lives}: {killed:?}");
            let left = unfinished(&mut drive, &machine);
            let has_password = drive.password.is_some();
            assert_eq!(left.is_some(), has_password, "{lives} {loses_power}: {left:?}");
            if let Some(left) = left {
                found.insert((lives, loses_power));
                assert_eq!(left, UnfinishedPurge::OwnPassword);
                let mut expected = [0; 32];
                expected[..PASSWORD.len()].copy_from_slice(PASSWORD.as_bytes());
                assert_eq!(drive.password, Some(expected), "always the documented one");
                finish(&mut drive, left, &mut machine).unwrap();
            }
            assert!(drive.password.is_none() && !drive.locked, "{lives} {loses_power}");
            purge(&mut drive, Purge::AtaSecureErase, &mut machine).unwrap();
            assert!(!drive.holds_data && machine.notes.is_empty(), "{lives} {loses_power}");
        }
    }
    assert_eq!(found.len(), 4, "killed with the password set: {found:?}");
}

#[test]
fn a_drive_that_stays_locked_after_a_power_cut_is_erased() {
    let (mut drive, mut machine) = (Ata::with_data(), Machine::default());
    (drive.lives, drive.stays_locked) = (Some(3), true);
    purge(&mut drive, Purge::AtaSecureErase, &mut machine).unwrap_err();
    drive.lives = None;
    drive.power_cycle();
    let left = unfinished(&mut drive, &machine).unwrap();
    finish(&mut drive, left, &mut machine).unwrap();
    assert!(drive.password.is_none() && !drive.locked && !drive.holds_data);
    assert!(machine.notes.is_empty());
}

#[test]
fn an_erase_that_the_drive_fails_leaves_no_password() {
    let (mut drive, mut machine) = (Ata::with_data(), Machine::default());
    drive.is_broken = true;
    let failed = purge(&mut drive, Purge::AtaSecureErase, &mut machine);
    assert!(
        matches!(failed, Err(PurgeError::Failed { doing: "the secure erase", .. })),
        "{failed:?}"
    );
    assert!(drive.password.is_none() && machine.notes.is_empty() && drive.holds_data);
}

#[test]
fn a_drive_that_cannot_be_erased_now_gets_no_command_that_changes_it() {
    let mut frozen = Ata::with_data();
    frozen.frozen = true;
    let mut taken = Ata::with_data();
    taken.password = Some([7; 32]);
    let mut full_disk = Machine { has_full_disk: true, ..Machine::default() };
    for (mut drive, machine, why) in [
        (frozen, &mut Machine::default(), "frozen"),
        (taken, &mut Machine::default(), "a password is set"),
        (Ata::with_data(), &mut full_disk, "writing down"),
    ] {
        let refused = purge(&mut drive, Purge::AtaSecureErase, machine).unwrap_err();
        assert!(format!("{refused:?}").contains(why), "{refused:?}");
        assert_eq!(drive.log, [0xEC], "{why}");
        assert!(unfinished(&mut drive, machine).is_none(), "nobody else's password is ours");
    }
}

#[test]
fn an_ata_sanitize_is_followed_to_its_end() {
    let (mut drive, mut machine) = (Ata::with_data(), Machine::default());
    purge(&mut drive, Purge::AtaSanitizeBlock, &mut machine).unwrap();
    assert!(!drive.holds_data);
    assert!(machine.shares.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", machine.shares);
    purge(&mut drive, Purge::AtaSanitizeCrypto, &mut machine).unwrap();
    drive.sanitize = SanitizeState::Frozen;
    let refused = purge(&mut drive, Purge::AtaSanitizeBlock, &mut machine).unwrap_err();
    assert!(matches!(refused, PurgeError::Hindered(ref why) if why.contains("frozen")));
}

#[test]
fn whoever_stops_waiting_finds_the_sanitize_later() {
    let patience = Some(Duration::from_secs(3));
    let (mut drive, mut machine) = (Ata::with_data(), Machine { patience, ..Machine::default() });
    let stopped = purge(&mut drive, Purge::AtaSanitizeBlock, &mut machine);
    assert!(matches!(stopped, Err(PurgeError::Unwatched)), "{stopped:?}");
    let left = unfinished(&mut drive, &machine).unwrap();
    assert!(matches!(left, UnfinishedPurge::Sanitizing { percent: 40..=70 }), "{left:?}");
    machine.patience = None;
    finish(&mut drive, left, &mut machine).unwrap();
    assert_eq!(unfinished(&mut drive, &machine), None);

    // A controller that passes no registers on says nothing of a failure.
    drive.sanitize = SanitizeState::Silent;
    assert_eq!(unfinished(&mut drive, &machine), None);

    drive.sanitize = SanitizeState::Failed;
    let left = unfinished(&mut drive, &machine).unwrap();
    assert_eq!(left, UnfinishedPurge::SanitizeFailed);
    finish(&mut drive, left, &mut machine).unwrap();
    assert_eq!(unfinished(&mut drive, &machine), None);
}

/// An NVMe drive with format and sanitize.
#[derive(Clone, Default)]
struct Nvme {
    holds_data: bool,
    sanitize: SanitizeState,
    /// Takes another LBA format whatever it is told.
    forgets_its_format: bool,
    format: u8,
    /// FPI.
    progress: u8,
    formats: Vec<u32>,
    sanitizes: Vec<u32>,
    stays_at: Option<u32>,
}

impl AdminPort for Nvme {
    fn protocol(&self) -> Protocol {
        Protocol::Nvme { namespace: 3 }
    }

    fn nvme(&mut self, command: NvmeCommand, data: Data<'_>) -> io::Result<u32> {
        match (command.opcode, data) {
            (0x06, Data::FromDrive(page)) => {
                page.fill(0);
                (page[26], page[29]) = (self.format, 0b1001);
                page[32] = self.progress;
            }
            (0x02, Data::FromDrive(page)) => {
                page.fill(0);
                let (state, progress) = match self.sanitize.asked() {
                    SanitizeState::Never | SanitizeState::Frozen | SanitizeState::Silent => (0, 0),
                    SanitizeState::Done => {
                        self.holds_data = false;
                        (1, u16::MAX)
                    }
                    SanitizeState::UnderWay(done, all, _) => {
                        (2, (u64::from(done) * 65_536 / u64::from(all)) as u16)
                    }
                    SanitizeState::Failed => (3, 0),
                };
                page[..2].copy_from_slice(&progress.to_le_bytes());
                page[2] = state;
            }
            (0x80, Data::None) if command.namespace == 3 => {
                self.formats.push(command.dword_10);
                self.holds_data = false;
                self.format = if self.forgets_its_format { 0 } else { self.format };
            }
            (0x84, Data::None) => {
                self.sanitizes.push(command.dword_10);
                let stays = self.stays_at.unwrap_or(10);
                self.sanitize = match command.dword_10 & 7 {
                    1 => SanitizeState::Never,
                    _ => SanitizeState::UnderWay(0, 10, stays),
                };
            }
            _ => return Err(aborted()),
        }
        Ok(0)
    }

    fn ata(&mut self, _: AtaCommand, _: Data<'_>) -> io::Result<AtaResult> {
        Err(aborted())
    }
}

#[test]
fn a_format_keeps_lba_size_metadata_and_protection() {
    let mut machine = Machine::default();
    // LBA format 18 (2 and, above, 1), metadata within the data, protection of type 1 at its front
    let mut drive = Nvme { holds_data: true, format: 0b011_0010, ..Nvme::default() };
    purge(&mut drive, Purge::Format, &mut machine).unwrap();
    purge(&mut drive, Purge::FormatCrypto, &mut machine).unwrap();
    assert_eq!(drive.formats, [0b01_0011_0011_0010, 0b01_0101_0011_0010]);
    assert!(!drive.holds_data);
    drive.forgets_its_format = true;
    let failed = purge(&mut drive, Purge::Format, &mut machine).unwrap_err();
    assert!(format!("{failed:?}").contains("another LBA format"), "{failed:?}");
}

#[test]
fn a_format_tells_how_far_it_is_if_it_can() {
    for (told, expected) in
        [(0x80 | 75, Some(0.25)), (0x80, Some(1.0)), (0xFF, Some(0.0)), (75, None)]
    {
        let mut drive = Nvme { progress: told, ..Nvme::default() };
        assert_eq!(format_progress(&mut drive), expected, "{told:#x}");
    }
}

#[test]
fn an_nvme_sanitize_is_followed_and_may_fail_without_losing_the_drive() {
    let mut machine = Machine::default();
    let mut drive = Nvme { holds_data: true, ..Nvme::default() };
    for (how, action) in
        [(Purge::SanitizeBlock, 2), (Purge::SanitizeCrypto, 4), (Purge::SanitizeOverwrite, 3)]
    {
        purge(&mut drive, how, &mut machine).unwrap();
        let sent = drive.sanitizes.pop().unwrap();
        assert_eq!((sent & 7, sent >> 3 & 1), (action, 1), "{how} may leave its failure");
        assert_eq!(sent >> 4 & 0xF, u32::from(action == 3), "one pass of an overwrite");
    }
    drive.sanitize = SanitizeState::Failed;
    let left = unfinished(&mut drive, &machine).unwrap();
    finish(&mut drive, left, &mut machine).unwrap();
    assert_eq!(unfinished(&mut drive, &machine), None);
}

#[test]
fn a_sanitize_that_stands_still_is_told_after_a_time() {
    let mut machine = Machine::default();
    let mut drive = Nvme { stays_at: Some(1), ..Nvme::default() };
    let stalled = purge(&mut drive, Purge::SanitizeBlock, &mut machine).unwrap_err();
    assert!(matches!(stalled, PurgeError::Stalled { percent: 9..=10, .. }), "{stalled:?}");
    assert!(machine.waited > Duration::from_secs(1200), "{:?}", machine.waited);
    let again = purge(&mut drive, Purge::SanitizeBlock, &mut machine).unwrap_err();
    assert!(matches!(again, PurgeError::Hindered(_)), "{again:?}");
    assert_eq!(drive.sanitizes.len(), 1, "no second one");
}

#[test]
fn a_purge_of_another_language_is_none() {
    let mut machine = Machine::default();
    for how in [Purge::AtaSecureErase, Purge::AtaSanitizeBlock, Purge::Discard] {
        let refused = purge(&mut Nvme::default(), how, &mut machine).unwrap_err();
        assert!(matches!(refused, PurgeError::Hindered(_)), "{how}");
    }
    let refused = purge(&mut Ata::default(), Purge::Format, &mut machine).unwrap_err();
    assert!(matches!(refused, PurgeError::Hindered(_)));
}
