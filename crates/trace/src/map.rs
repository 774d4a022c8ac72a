//! A trace's places on a drive of another size.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, Operation};

use crate::{Header, Summary, TraceIo};

/// Where a trace's offsets lie on a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Map {
    /// Where they were: a trace that reaches past the drive's end does not fit.
    #[default]
    Exact,
    /// From the drive's beginning again whenever its end is reached.
    Wrap,
    /// Spread over the drive, or pressed together, as the recorded device is larger or smaller:
    /// every MiB stays whole, the distances between them change.
    Scale,
}

/// Why a trace does not fit a drive.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misfit {
    /// It reaches past the drive's end.
    #[error(
        "it reaches up to {end}, and the drive has {capacity}; `map = \"wrap\"` begins again \
         at the drive's start, `map = \"scale\"` presses it together"
    )]
    TooLarge {
        /// The first byte that no operation reaches.
        end: Bytes,
        /// What the drive has.
        capacity: Bytes,
    },
    /// Its ranges are no multiples of the drive's LBA.
    #[error(
        "its ranges are multiples of {}, and the drive's LBAs have {}; `align = true` widens \
         each range to whole LBAs", alignment.exact(), lba_size.exact()
    )]
    Misaligned {
        /// What its ranges are multiples of.
        alignment: Bytes,
        /// What the drive wants.
        lba_size: Bytes,
    },
    /// One operation is larger than the drive.
    #[error("its longest operation has {length}, and the drive only {capacity}")]
    TooLong {
        /// The longest.
        length: Bytes,
        /// What the drive has.
        capacity: Bytes,
    },
}

/// A trace's way onto one drive.
#[derive(Debug, Clone, Copy)]
pub struct Mapping {
    map: Map,
    capacity: Bytes,
    lba_size: Bytes,
    /// The chunks of the recorded device.
    chunks: u64,
}

/// What [`Map::Scale`] keeps together.
const CHUNK: u64 = 1 << 20;

impl Mapping {
    /// The way of a trace onto a drive with `capacity` and `lba_size`; with `align`, ranges are
    /// widened to whole LBAs.
    ///
    /// # Errors
    /// [`Misfit`] with what to do about it.
    pub fn new(
        map: Map,
        align: bool,
        (header, summary): (&Header, &Summary),
        capacity: Bytes,
        lba_size: Bytes,
    ) -> Result<Self, Misfit> {
        let alignment = summary.alignment;
        if !align && alignment > Bytes::ZERO && alignment < lba_size {
            return Err(Misfit::Misaligned { alignment, lba_size });
        }
        let capacity = Bytes(capacity.0 / lba_size.0 * lba_size.0);
        if map == Map::Exact && summary.end > capacity {
            return Err(Misfit::TooLarge { end: summary.end, capacity });
        }
        let length = Bytes(summary.length_max.0.saturating_add(2 * lba_size.0 * u64::from(align)));
        if length > capacity {
            return Err(Misfit::TooLong { length, capacity });
        }
        let recorded = header.device_size.unwrap_or_default().max(summary.end);
        Ok(Self { map, capacity, lba_size, chunks: recorded.0.div_ceil(CHUNK).max(1) })
    }

    /// The operation as this drive can do it; unchanged but for its range.
    pub fn place(&self, io: TraceIo) -> TraceIo {
        if io.operation == Operation::Flush {
            return io;
        }
        let offset = match self.map {
            Map::Exact => io.offset.0,
            Map::Wrap => io.offset.0 % self.capacity.0,
            Map::Scale => self.scaled(io.offset.0),
        };
        // A trim may be longer than the drive; everything else is not.
        let length = io.length.0.min(self.capacity.0);
        let begin = offset / self.lba_size.0 * self.lba_size.0;
        let end = (offset + length).next_multiple_of(self.lba_size.0);
        let length = (end - begin).min(self.capacity.0);
        let offset = begin.min(self.capacity.0 - length);
        TraceIo { offset: Bytes(offset), length: Bytes(length), ..io }
    }

    /// Whole chunks move; a drive of less than one has but one place.
    fn scaled(&self, offset: u64) -> u64 {
        let chunks = self.capacity.0 / CHUNK;
        let chunk = u128::from(offset / CHUNK) * u128::from(chunks) / u128::from(self.chunks);
        (chunk as u64).min(chunks) * CHUNK + offset % CHUNK
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use writecliff_device::Nanos;

    const MIB: u64 = 1 << 20;

    fn read(offset: u64, length: u64) -> TraceIo {
        TraceIo::new(Nanos::ZERO, Operation::Read, Bytes(offset), Bytes(length))
    }

    /// A trace on a device of `size` that uses its last block.
    fn trace(size: u64, block: u64) -> (Header, Summary) {
        let mut summary = Summary::new();
        summary.add(&read(size - block, block));
        (Header { device_size: Some(Bytes(size)), ..Header::default() }, summary)
    }

    fn placed(map: Map, capacity: u64, offset: u64, length: u64) -> (u64, u64) {
        let (header, summary) = trace(8 * MIB, 4096);
        let mapping =
            Mapping::new(map, false, (&header, &summary), Bytes(capacity), Bytes(512)).unwrap();
        let io = mapping.place(read(offset, length));
        (io.offset.0, io.length.0)
    }

    #[test]
    fn a_range_goes_where_the_map_says() {
        assert_eq!(placed(Map::Exact, 8 * MIB, 4096, 8192), (4096, 8192));
        assert_eq!(placed(Map::Wrap, 4 * MIB, 5 * MIB + 512, 4096), (MIB + 512, 4096));
        // What would cross the end is moved back before it.
        assert_eq!(placed(Map::Wrap, 4 * MIB, 4 * MIB - 512, 4096), (4 * MIB - 4096, 4096));
        // Half the size: two neighbouring MiB share a place; twice: there is a gap between them.
        assert_eq!(placed(Map::Scale, 4 * MIB, 5 * MIB + 512, 4096), (2 * MIB + 512, 4096));
        assert_eq!(placed(Map::Scale, 16 * MIB, 5 * MIB + 512, 4096), (10 * MIB + 512, 4096));
    }

    #[test]
    fn whatever_is_mapped_lies_on_the_drive() {
        let (header, summary) = trace(8 * MIB, 512);
        for map in [Map::Wrap, Map::Scale] {
            for capacity in [5 * 512, MIB - 512, MIB, 3 * MIB + 4096, 64 * MIB] {
                let mapping =
                    Mapping::new(map, true, (&header, &summary), Bytes(capacity), Bytes(512));
                let mapping = mapping.unwrap();
                for offset in (0..8 * MIB).step_by(4096 - 512) {
                    let io = mapping.place(read(offset, 512));
                    assert!(io.length == Bytes(512) && io.end().0 <= capacity, "{map:?} {io:?}");
                }
                let io = mapping.place(read(7, 20 * MIB));
                assert!(io.end().0 <= capacity, "{map:?} {io:?}");
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_the_way_out() {
        let (header, summary) = trace(8 * MIB, 512);
        let new = |map, align, capacity| {
            let trace = (&header, &summary);
            Mapping::new(map, align, trace, Bytes(capacity), Bytes(4096)).map(|_| ())
        };
        let error = new(Map::Exact, true, 4 * MIB).unwrap_err();
        assert_eq!(error, Misfit::TooLarge { end: Bytes(8 * MIB), capacity: Bytes(4 * MIB) });
        let error = new(Map::Wrap, false, 4 * MIB).unwrap_err();
        assert_eq!(error, Misfit::Misaligned { alignment: Bytes(512), lba_size: Bytes(4096) });
        assert!(matches!(new(Map::Wrap, true, 4096), Err(Misfit::TooLong { .. })));
        assert_eq!(new(Map::Wrap, true, 16384), Ok(()));
        assert_eq!(new(Map::Exact, true, 8 * MIB), Ok(()));
    }

    #[test]
    fn an_aligned_range_holds_the_recorded_one() {
        let (header, summary) = trace(8 * MIB, 512);
        let trace = (&header, &summary);
        let mapping = Mapping::new(Map::Exact, true, trace, Bytes(8 * MIB), Bytes(4096)).unwrap();
        let io = mapping.place(read(4096 + 512, 4096));
        assert_eq!((io.offset, io.length), (Bytes(4096), Bytes(8192)));
        let last = mapping.place(read(8 * MIB - 512, 512));
        assert_eq!((last.offset, last.length), (Bytes(8 * MIB - 4096), Bytes(4096)));
    }
}
