//! The time that a page takes to program, which differs between the pages of a cell.

use std::fmt;

use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use writecliff_device::Nanos;

/// Program times of a cell's pages in turn: one for all, or lower (middle) and upper.
///
/// Written as `"1300us"` or as `["500us", "2100us"]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramTime(pub Vec<Nanos>);

impl ProgramTime {
    /// The mean over a block's pages, rounded down.
    pub fn mean(&self) -> Nanos {
        let sum: u64 = self.0.iter().map(|time| time.0).sum();
        Nanos(sum / (self.0.len() as u64).max(1))
    }
}

impl From<Nanos> for ProgramTime {
    fn from(time: Nanos) -> Self {
        Self(vec![time])
    }
}

impl Serialize for ProgramTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [one] => one.serialize(serializer),
            several => several.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ProgramTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrSeveral;

        impl<'de> Visitor<'de> for OneOrSeveral {
            type Value = ProgramTime;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time, or a list of times for lower, middle and upper pages")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<ProgramTime, E> {
                text.parse::<Nanos>().map(ProgramTime::from).map_err(E::custom)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut times: A) -> Result<ProgramTime, A::Error> {
                let mut all = Vec::new();
                while let Some(time) = times.next_element()? {
                    all.push(time);
                }
                Ok(ProgramTime(all))
            }
        }

        deserializer.deserialize_any(OneOrSeveral)
    }
}
