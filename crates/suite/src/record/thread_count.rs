//! How many threads keep a real drive busy.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// More than any drive has queues that one machine's processors could fill.
pub(crate) const MOST: usize = 256;
/// How many threads a run may use for a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ThreadCount {
    /// As many as the drive has hardware queues and the machine processors but one, each with at least
    /// 32 I/Os in flight: one wherever that is enough.
    #[default]
    Auto,
    /// So many, or as many as there are I/Os in flight.
    Exactly(usize),
}

/// What is no number of threads.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{got}' is no number of threads: write 1 to {MOST}, or auto")]
pub struct ThreadCountError {
    /// What was given.
    pub got: String,
}

impl ThreadCount {
    /// Whether it is left to the drive and the machine.
    pub fn is_auto(&self) -> bool {
        *self == Self::Auto
    }
}

impl fmt::Display for ThreadCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Exactly(count) => write!(f, "{count}"),
        }
    }
}

impl FromStr for ThreadCount {
    type Err = ThreadCountError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.parse() {
            Ok(count @ 1..=MOST) => Ok(Self::Exactly(count)),
            _ if text == "auto" => Ok(Self::Auto),
            _ => Err(ThreadCountError { got: text.to_owned() }),
        }
    }
}

impl TryFrom<String> for ThreadCount {
    type Error = ThreadCountError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<ThreadCount> for String {
    fn from(count: ThreadCount) -> Self {
        count.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_a_number_or_left_to_the_drive() {
        for text in ["auto", "1", "4", "256"] {
            assert_eq!(text.parse::<ThreadCount>().map(String::from), Ok(text.to_owned()));
        }
        for text in ["0", "257", "-1", "two", "Auto", ""] {
            assert_eq!(text.parse::<ThreadCount>(), Err(ThreadCountError { got: text.to_owned() }));
        }
    }
}
