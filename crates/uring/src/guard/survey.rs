//! How full a drive looks, from a few places: the guard's marks say nothing of content without
//! marks (encrypted volumes, raw databases).

use std::fmt;
use std::fs::File;
use std::time::{Duration, Instant};

use crate::host::direct_read::{CHUNK, Chunk, read_at};

const PLACES: u64 = 64;
/// A slow drive has fewer places looked at rather than making its user wait.
const PATIENCE: Duration = Duration::from_secs(3);

/// How many of some evenly spread places hold data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Survey {
    /// How many places were read.
    pub looked_at: u32,
    /// How many of them hold anything but zeros.
    pub with_data: u32,
}

/// Reads 64 KiB at 64 places from the first to the last byte, in at most a few seconds. What cannot
/// be read is left out.
pub(crate) fn survey(drive: &File, capacity: u64) -> Survey {
    let start = Instant::now();
    let mut survey = Survey::default();
    let mut chunk = Chunk::zeroed();
    for place in 0..PLACES {
        if start.elapsed() >= PATIENCE {
            break;
        }
        if let Ok(length @ 1..) = read_at(drive, &mut chunk.0, offset(place, capacity)) {
            survey.looked_at += 1;
            survey.with_data += u32::from(chunk.0[..length].iter().any(|&byte| byte != 0));
        }
    }
    survey
}

/// From the middle outwards, so that a survey cut short has seen more than the start.
fn offset(place: u64, capacity: u64) -> u64 {
    let spread = place.reverse_bits() >> (u64::BITS - PLACES.trailing_zeros());
    let last = capacity.saturating_sub(1);
    let offset = u128::from(last) * u128::from(spread) / u128::from(PLACES - 1);
    offset as u64 / CHUNK as u64 * CHUNK as u64
}

impl fmt::Display for Survey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} places hold data", self.with_data, self.looked_at)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::os::unix::fs::FileExt;

    use super::*;

    const CAPACITY: u64 = (32 << 20) + 512;

    #[test]
    fn the_places_are_all_different_and_reach_both_ends() {
        let offsets: BTreeSet<u64> = (0..PLACES).map(|place| offset(place, CAPACITY)).collect();
        assert_eq!(offsets.len(), 64);
        assert_eq!(offsets.first(), Some(&0));
        assert_eq!(offsets.last(), Some(&(32 << 20)));
        assert_eq!(offset(63, u64::MAX), (u64::MAX - 1) / CHUNK as u64 * CHUNK as u64);
    }

    #[test]
    fn data_is_told_from_zeros() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(CAPACITY).unwrap();
        assert_eq!(survey(&file, CAPACITY).to_string(), "0 of 64 places hold data");
        file.write_all_at(&[1], CAPACITY - 1).unwrap();
        file.write_all_at(&[1], 0).unwrap();
        assert_eq!(survey(&file, CAPACITY), Survey { looked_at: 64, with_data: 2 });
        file.write_all_at(&vec![7; CAPACITY as usize], 0).unwrap();
        assert_eq!(survey(&file, CAPACITY), Survey { looked_at: 64, with_data: 64 });
    }
}
