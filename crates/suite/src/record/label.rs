//! What somebody calls a run, so that it can be told from others of the same drive.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use writecliff_device::printable;

/// A name of one's own for a run: one line of at most 80 characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Label(String);

/// The most characters of a label: it stands beside the drive's name in tables and pictures.
const CHARACTERS_MAX: usize = 80;

/// Why a text is no label.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LabelError {
    /// Nothing, or nothing but spaces.
    #[error("a label has at least one character")]
    Empty,
    /// Too long to stand beside a name.
    #[error("a label has at most 80 characters, and this has {got}")]
    TooLong {
        /// Its characters.
        got: usize,
    },
    /// Line ends, escape codes and what else cannot be shown.
    #[error("a label is one line of characters that can be printed")]
    Unprintable,
}

impl FromStr for Label {
    type Err = LabelError;

    fn from_str(text: &str) -> Result<Self, LabelError> {
        let text = text.trim();
        match text.chars().count() {
            0 => Err(LabelError::Empty),
            got if got > CHARACTERS_MAX => Err(LabelError::TooLong { got }),
            _ if printable(text) != text => Err(LabelError::Unprintable),
            _ => Ok(Self(text.to_owned())),
        }
    }
}

impl TryFrom<String> for Label {
    type Error = LabelError;

    fn try_from(text: String) -> Result<Self, LabelError> {
        text.parse()
    }
}

impl From<Label> for String {
    fn from(label: Label) -> Self {
        label.0
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_one_short_line() {
        let label = |text: &str| text.parse::<Label>();
        assert_eq!(label("  firmware 2, cool ").unwrap().to_string(), "firmware 2, cool");
        assert_eq!(label(&"ü".repeat(80)).unwrap().to_string(), "ü".repeat(80));
        assert_eq!(label(&"ü".repeat(81)), Err(LabelError::TooLong { got: 81 }));
        assert_eq!(label(" "), Err(LabelError::Empty));
        for text in ["two\nlines", "\u{1b}[2Jx", "\u{202e}txet"] {
            assert_eq!(label(text), Err(LabelError::Unprintable), "{text:?}");
        }
    }
}
