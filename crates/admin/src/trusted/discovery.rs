//! Level 0 Discovery: TCG Storage Architecture Core Specification 2.01, 3.3.6, and the feature
//! descriptors of the subsystem classes' own specifications.

use serde::Serialize;

/// What a drive says of its own encryption.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SelfEncryption {
    /// The subsystem classes that it follows.
    pub subsystems: Vec<Subsystem>,
    /// Its locking, where it has any.
    pub locking: Option<LockingState>,
    /// Whether a range may have a single user.
    pub has_single_user_mode: bool,
    /// Whether its owner's authority is blocked until power goes, as many BIOSes arrange it.
    pub is_owner_blocked: Option<bool>,
    /// Whether its owner has set a password in place of the one on the drive.
    pub is_owned: Option<bool>,
    /// IEEE 1667, which Microsoft's eDrive needs.
    pub has_ieee_1667: bool,
    /// Where sessions are opened.
    #[serde(skip)]
    pub(crate) com_id: Option<u16>,
}

/// The lock of a self-encrypting drive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LockingState {
    /// Whether it encrypts what it stores, always.
    pub encrypts: bool,
    /// Whether somebody has switched locking on.
    pub enabled: bool,
    /// Whether a range is locked now.
    pub locked: bool,
    /// Whether it shows a shadow MBR, to ask for a password before the system starts...
    pub shadow_mbr_enabled: bool,
    /// ... and whether that is over.
    pub shadow_mbr_done: bool,
}

/// A subsystem class: what the drive promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Subsystem {
    /// For data centres, of 2009.
    Enterprise,
    /// Opal 1.
    Opal1,
    /// Opal 2.
    Opal2,
    /// A smaller Opal.
    Opalite,
    /// Locking without encryption.
    Pyrite1,
    /// The same, second edition.
    Pyrite2,
    /// For data centres.
    Ruby,
    /// A key for every I/O.
    KeyPerIo,
}

impl Subsystem {
    fn of(code: u16) -> Option<Self> {
        Some(match code {
            0x0100 => Self::Enterprise,
            0x0200 => Self::Opal1,
            0x0203 => Self::Opal2,
            0x0301 => Self::Opalite,
            0x0302 => Self::Pyrite1,
            0x0303 => Self::Pyrite2,
            0x0304 => Self::Ruby,
            0x0305 => Self::KeyPerIo,
            _ => return None,
        })
    }

    /// As its specification is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Enterprise => "Enterprise",
            Self::Opal1 => "Opal 1",
            Self::Opal2 => "Opal 2",
            Self::Opalite => "Opalite",
            Self::Pyrite1 => "Pyrite 1",
            Self::Pyrite2 => "Pyrite 2",
            Self::Ruby => "Ruby",
            Self::KeyPerIo => "Key per I/O",
        }
    }
}

const HEADER: usize = 48;
const LOCKING: u16 = 0x0002;
const SINGLE_USER: u16 = 0x0201;
const BLOCK_SID: u16 = 0x0402;

/// `None` of what is no discovery. Numbers have their highest byte first.
pub(super) fn parse(page: &[u8]) -> Option<SelfEncryption> {
    let length = u32::from_be_bytes(page.get(..4)?.try_into().ok()?) as usize;
    let mut rest = page.get(HEADER..(length + 4).min(page.len()))?;
    let mut found = SelfEncryption::default();
    while let [high, low, _, length, after @ ..] = rest {
        let length = usize::from(*length).min(after.len());
        let (data, next) = after.split_at(length);
        found.take(u16::from_be_bytes([*high, *low]), data);
        rest = next;
    }
    Some(found)
}

impl SelfEncryption {
    fn take(&mut self, code: u16, data: &[u8]) {
        let first = data.first().copied().unwrap_or_default();
        let bit = |bit: u8| first >> bit & 1 == 1;
        match code {
            LOCKING => {
                self.locking = Some(LockingState {
                    enabled: bit(1),
                    locked: bit(2),
                    encrypts: bit(3),
                    shadow_mbr_enabled: bit(4),
                    shadow_mbr_done: bit(5),
                });
            }
            SINGLE_USER => self.has_single_user_mode = true,
            BLOCK_SID => {
                (self.is_owned, self.is_owner_blocked) = (Some(bit(0)), Some(bit(1)));
            }
            code => {
                let Some(subsystem) = Subsystem::of(code) else { return };
                self.subsystems.push(subsystem);
                if let [high, low, ..] = data {
                    self.com_id = self.com_id.or(Some(u16::from_be_bytes([*high, *low])));
                }
            }
        }
    }
}
