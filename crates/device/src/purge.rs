//! Ways to bring a drive to its fresh state.

use std::fmt;
use std::ops::ControlFlow;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::did_you_mean;

/// Sees how far a purge is, or another preparation of a drive, from 0 to 1, and may break it off.
pub type PrepareWatch<'a> = &'a mut dyn FnMut(f64) -> ControlFlow<()>;

/// A way to bring a drive to its fresh state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Purge {
    /// A simulated drive's erase of every block, spare area included.
    SecureErase,
    /// NVMe sanitize: every block is erased, those that the host cannot reach too.
    SanitizeBlock,
    /// NVMe sanitize: the key of the data is changed.
    SanitizeCrypto,
    /// NVMe sanitize: everything is written over.
    SanitizeOverwrite,
    /// NVMe format with erasure of the user's data.
    Format,
    /// NVMe format with a new key.
    FormatCrypto,
    /// ATA sanitize: block erase.
    AtaSanitizeBlock,
    /// ATA sanitize: crypto scramble.
    AtaSanitizeCrypto,
    /// ATA sanitize: overwrite.
    AtaSanitizeOverwrite,
    /// ATA security: erase unit.
    AtaSecureErase,
    /// ATA security: enhanced erase unit.
    AtaSecureEraseEnhanced,
    /// A discard (TRIM) of every LBA: as good as the drive's TRIM, which may be deferred or
    /// partial.
    Discard,
    /// Deallocating a file's blocks: the drive below may or may not be told.
    HolePunch,
}

impl Purge {
    /// All that there are.
    pub const ALL: [Self; 13] = [
        Self::SecureErase,
        Self::SanitizeBlock,
        Self::SanitizeCrypto,
        Self::SanitizeOverwrite,
        Self::Format,
        Self::FormatCrypto,
        Self::AtaSanitizeBlock,
        Self::AtaSanitizeCrypto,
        Self::AtaSanitizeOverwrite,
        Self::AtaSecureErase,
        Self::AtaSecureEraseEnhanced,
        Self::Discard,
        Self::HolePunch,
    ];

    /// What it is called on the command line and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SecureErase => "secure-erase",
            Self::SanitizeBlock => "sanitize-block",
            Self::SanitizeCrypto => "sanitize-crypto",
            Self::SanitizeOverwrite => "sanitize-overwrite",
            Self::Format => "format",
            Self::FormatCrypto => "format-crypto",
            Self::AtaSanitizeBlock => "ata-sanitize-block",
            Self::AtaSanitizeCrypto => "ata-sanitize-crypto",
            Self::AtaSanitizeOverwrite => "ata-sanitize-overwrite",
            Self::AtaSecureErase => "ata-secure-erase",
            Self::AtaSecureEraseEnhanced => "ata-secure-erase-enhanced",
            Self::Discard => "discard",
            Self::HolePunch => "hole-punch",
        }
    }

    /// What the purge is and what it is worth, for a person.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::SecureErase => "secure erase: every block is erased, the drive is as new",
            Self::SanitizeBlock | Self::AtaSanitizeBlock => {
                "sanitize: every block is erased, spare area included; the drive is as new"
            }
            Self::SanitizeCrypto | Self::AtaSanitizeCrypto => {
                "sanitize by a new key: nothing can be read any more, and the drive forgets what it \
                 holds; whether blocks are erased is its own matter"
            }
            Self::SanitizeOverwrite | Self::AtaSanitizeOverwrite => {
                "sanitize by overwriting: nothing can be read any more, and the drive is full, not \
                 fresh"
            }
            Self::Format => {
                "format with erasure: the drive forgets what it holds, and most erase every block"
            }
            Self::FormatCrypto => {
                "format with a new key: nothing can be read any more, and the drive forgets what it \
                 holds"
            }
            Self::AtaSecureErase => "ATA secure erase: every LBA is erased; the drive is as new",
            Self::AtaSecureEraseEnhanced => {
                "ATA enhanced secure erase: every block is erased, or the key changed, spare area \
                 included"
            }
            Self::Discard => {
                "whole-device discard: every LBA is trimmed; as fresh as the drive's TRIM makes it"
            }
            Self::HolePunch => {
                "hole punching: the file's blocks are deallocated; the drive below may not be told"
            }
        }
    }

    /// Whether the drive's own firmware erases, which leaves it as new as it can be: not by a
    /// trim, which may be deferred or partial.
    pub const fn is_firmware_erase(self) -> bool {
        !matches!(
            self,
            Self::Discard | Self::HolePunch | Self::SanitizeOverwrite | Self::AtaSanitizeOverwrite
        )
    }

    /// Whether it is a command of the drive's own, and not a trim by the system or a model's.
    pub const fn is_the_drives_own(self) -> bool {
        !matches!(self, Self::SecureErase | Self::Discard | Self::HolePunch)
    }

    /// Whether it is only done when it was asked for by its name. A sanitize goes on through power
    /// cycles and nothing ends it; ATA security sets a password, and a drive that loses its power
    /// then is locked; neither is to happen to anybody who asked for a test.
    pub const fn is_by_name_only(self) -> bool {
        !matches!(
            self,
            Self::SecureErase | Self::Format | Self::FormatCrypto | Self::Discard | Self::HolePunch
        )
    }

    /// Several by their names, for a message; `none` if there are none.
    pub fn names(purges: &[Self]) -> String {
        match purges {
            [] => "none".to_owned(),
            all => all.iter().map(|purge| purge.name()).collect::<Vec<_>>().join(", "),
        }
    }
}

impl fmt::Display for Purge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Purge {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = if text == "ata-sanitize" { Self::AtaSanitizeBlock.name() } else { text };
        let found = Self::ALL.into_iter().find(|purge| purge.name() == text);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name);
            let near = did_you_mean(text, names);
            format!("there is no purge called '{text}'{near} (there are {})", names.join(", "))
        })
    }
}

/// What a purge did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PurgeOutcome {
    /// How it was done.
    pub how: Purge,
    /// Places read back afterwards.
    pub sampled: u32,
    /// Of these, how many still returned data: what they had held before, if it was known.
    pub still_readable: u32,
}
