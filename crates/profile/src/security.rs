//! What a drive does for the secrecy of its data: encryption of its own, and how it is locked.

use serde::{Deserialize, Serialize};
use writecliff_device::Nanos;

use crate::Impossibility;

/// Characters of a PSID, as it is printed on a label.
const PSID_LENGTH: usize = 32;

/// Encryption by the drive itself. It is for all data and always, whether the drive can be locked or
/// not: nothing follows from it for speed but by `page_time`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Security {
    /// Whether what is written is encrypted.
    #[serde(default)]
    pub engine: Engine,
    /// By what: AES-256, say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cipher: Option<String>,
    /// How long a page of the host (a mapping unit) keeps the engine, on its way in or out. Zero: it
    /// is never the limit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub page_time: Nanos,
    /// Whether the key can be changed: all data are forgotten in no time, and blocks are erased when
    /// they are needed.
    #[serde(default)]
    pub crypto_erase: bool,
    /// The rules of the Trusted Computing Group that it can be locked by.
    #[serde(default)]
    pub opal: Opal,
    /// Whether Windows can lock it as an eDrive (IEEE 1667).
    #[serde(default)]
    pub edrive: bool,
    /// The number on its label by which whoever holds it can have it forget all, locked or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub psid: Option<String>,
}

/// Whether a drive encrypts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// Nothing.
    #[default]
    None,
    /// All that is written, always.
    Always,
}

/// Ways to lock a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Opal {
    /// None, but perhaps an ATA password.
    #[default]
    None,
    /// Opal 1.0.
    #[serde(rename = "opal-1")]
    Opal1,
    /// Opal 2.0.
    #[serde(rename = "opal-2")]
    Opal2,
    /// As Opal, without encryption.
    Pyrite,
}

fn is_zero(time: &Nanos) -> bool {
    *time == Nanos::ZERO
}

impl Security {
    /// Whether nothing is said of it.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// What the drive encrypts by itself, and how it is locked: `AES-256, TCG Opal 2.0, eDrive`.
    /// `None` if it does not encrypt.
    pub fn in_words(&self) -> Option<String> {
        if self.engine == Engine::None {
            return None;
        }
        let cipher = self.cipher.as_deref().unwrap_or("of a kind that is not told");
        let opal = match self.opal {
            Opal::None => None,
            Opal::Opal1 => Some("TCG Opal 1.0"),
            Opal::Opal2 => Some("TCG Opal 2.0"),
            Opal::Pyrite => Some("TCG Pyrite"),
        };
        let edrive = self.edrive.then_some("eDrive");
        Some(std::iter::once(cipher).chain(opal).chain(edrive).collect::<Vec<_>>().join(", "))
    }

    pub(crate) fn impossibility(&self) -> Option<Impossibility> {
        let encrypts = self.engine == Engine::Always;
        let is_psid = |psid: &String| {
            psid.len() == PSID_LENGTH
                && psid.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase())
        };
        let wrong = [
            (
                self.cipher.is_some() && !encrypts,
                "security.cipher",
                "it encrypts nothing; say engine = \"always\"",
            ),
            (
                self.page_time > Nanos::ZERO && !encrypts,
                "security.page_time",
                "there is no engine; say engine = \"always\"",
            ),
            (self.page_time > Nanos::from_secs(10), "security.page_time", "longer than 10 s"),
            (
                self.crypto_erase && !encrypts,
                "security.crypto_erase",
                "there is no key; say engine = \"always\"",
            ),
            (
                self.edrive && (self.opal != Opal::Opal2 || !encrypts),
                "security.edrive",
                "an eDrive encrypts and has opal = \"opal-2\"",
            ),
            (
                self.psid.as_ref().is_some_and(|psid| !is_psid(psid)),
                "security.psid",
                "it has 32 characters, digits and capital letters",
            ),
            (
                self.psid.is_some() && self.opal == Opal::None,
                "security.psid",
                "without Opal or Pyrite there is none",
            ),
        ];
        let found = wrong.into_iter().find(|(is_wrong, ..)| *is_wrong);
        found.map(|(_, key, reason)| (vec![key], reason.to_owned()))
    }
}
