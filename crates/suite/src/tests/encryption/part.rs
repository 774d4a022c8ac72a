//! What is measured, and at which settings.

use serde::{Deserialize, Serialize};

/// What a host does with data before the drive gets them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Setting {
    /// Nothing.
    Plain,
    /// It encrypts, and keeps trims to itself.
    Encrypted,
    /// It encrypts, and trims pass.
    EncryptedWithTrim,
}

impl Setting {
    /// In the order of the run.
    pub const ALL: [Self; 3] = [Self::Plain, Self::Encrypted, Self::EncryptedWithTrim];

    /// What its phases and figures are called by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Encrypted => "encrypted",
            Self::EncryptedWithTrim => "encrypted-with-trim",
        }
    }
}

/// What is measured at each setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Writes in order on the fresh drive.
    SequentialWrite,
    /// Writes at random places of the fresh drive.
    RandomWrite,
    /// Reads in order of the full drive.
    SequentialRead,
    /// Reads at random places of the full drive.
    RandomRead,
    /// Writes at random places of the drive that is full and written to for long.
    Used,
    /// The same after a TRIM of everything.
    AfterTrim,
}

impl Part {
    /// In the order of the run.
    pub const ALL: [Self; 6] = [
        Self::SequentialWrite,
        Self::RandomWrite,
        Self::SequentialRead,
        Self::RandomRead,
        Self::Used,
        Self::AfterTrim,
    ];

    /// What its phases and figures are called by.
    pub fn name(self) -> &'static str {
        match self {
            Self::SequentialWrite => "sequential-write",
            Self::RandomWrite => "random-write",
            Self::SequentialRead => "sequential-read",
            Self::RandomRead => "random-read",
            Self::Used => "used",
            Self::AfterTrim => "after-trim",
        }
    }

    /// Whether it is counted in I/Os; else in bytes.
    pub fn is_random(self) -> bool {
        !matches!(self, Self::SequentialWrite | Self::SequentialRead)
    }

    /// The phase that it is recorded as, at a setting: `encrypted/random-write`.
    pub fn phase(self, setting: Setting) -> String {
        phase(setting, self.name())
    }
}

pub(super) fn phase(setting: Setting, what: &str) -> String {
    format!("{}/{what}", setting.name())
}
