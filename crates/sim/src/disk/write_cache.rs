//! The RAM that writes are complete in before they are on the platters.

use super::geometry::{Extent, Lba};

/// Ranges of written data, oldest first, each in a segment of its own.
#[derive(Debug, Clone)]
pub(super) struct WriteCache {
    dirty: Vec<Extent>,
    /// Being written to the platters; its segment is not free yet.
    destaging: Option<Extent>,
    segments: usize,
    segment_sectors: u64,
}

impl WriteCache {
    pub(super) fn new(segments: usize, segment_sectors: u64) -> Self {
        Self { dirty: Vec::new(), destaging: None, segments, segment_sectors }
    }

    /// Takes as much of a write as there is room for, from its start on, and returns the rest.
    pub(super) fn admit(&mut self, mut write: Extent) -> Extent {
        while !write.is_empty() {
            match self.place(&write) {
                Some(end) => write.start = end,
                None => break,
            }
        }
        write
    }

    /// Whether all of it is in one segment.
    pub(super) fn holds(&self, extent: &Extent) -> bool {
        self.dirty.iter().chain(&self.destaging).any(|held| held.contains(extent))
    }

    /// Whether any of it is here and not on the platters yet.
    pub(super) fn has_any_of(&self, extent: &Extent) -> bool {
        self.dirty.iter().chain(&self.destaging).any(|held| held.overlaps(extent))
    }

    /// Whether everything is on the platters.
    pub(super) fn is_clean(&self) -> bool {
        self.dirty.is_empty() && self.destaging.is_none()
    }

    /// What waits to be written to the platters, oldest first.
    pub(super) fn dirty(&self) -> &[Extent] {
        &self.dirty
    }

    /// Begins to write one of [`dirty`](Self::dirty) to the platters.
    pub(super) fn begin_destage(&mut self, index: usize) -> Extent {
        assert!(self.destaging.is_none(), "there is one arm");
        *self.destaging.insert(self.dirty.remove(index))
    }

    /// It is on the platters: its segment is free.
    pub(super) fn end_destage(&mut self) {
        assert!(self.destaging.take().is_some(), "nothing was being destaged");
    }

    /// Asserts what must hold between the segments.
    #[cfg(test)]
    pub(super) fn check(&self) {
        assert!(self.dirty.len() + usize::from(self.destaging.is_some()) <= self.segments);
        for (index, held) in self.dirty.iter().enumerate() {
            let length = held.end.0 - held.start.0;
            assert!((1..=self.segment_sectors).contains(&length), "{held:?}");
            let others = &self.dirty[index + 1..];
            assert!(!others.iter().any(|other| held.overlaps(other)), "{:?}", self.dirty);
        }
    }

    /// Takes a write's first part: into the segment that already holds it, behind the one that it
    /// continues, or into a free one. Returns the end of that part; `None` without room.
    fn place(&mut self, write: &Extent) -> Option<Lba> {
        let holds_start = |held: &&Extent| held.start <= write.start && write.start < held.end;
        if let Some(held) = self.dirty.iter().find(holds_start) {
            return Some(held.end.min(write.end));
        }
        let starts_ahead = self.dirty.iter().map(|held| held.start).filter(|s| *s > write.start);
        let end = starts_ahead.fold(write.end, Lba::min);
        let room = self.segment_sectors;
        let continued =
            self.dirty.iter_mut().find(|h| h.end == write.start && h.end.0 - h.start.0 < room);
        if let Some(held) = continued {
            held.end = end.min(Lba(held.start.0 + room));
            return Some(held.end);
        }
        if self.dirty.len() + usize::from(self.destaging.is_some()) == self.segments {
            return None;
        }
        let end = end.min(Lba(write.start.0 + room));
        self.dirty.push(Extent { start: write.start, end });
        Some(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(start: u64, end: u64) -> Extent {
        Extent { start: Lba(start), end: Lba(end) }
    }

    #[test]
    fn writes_in_order_share_a_segment_until_it_is_full() {
        let mut cache = WriteCache::new(3, 16);
        for start in [0, 8, 16] {
            assert!(cache.admit(extent(start, start + 8)).is_empty());
        }
        assert_eq!(cache.dirty(), [extent(0, 16), extent(16, 24)]);
    }

    #[test]
    fn an_overwrite_takes_no_segment_and_ranges_never_overlap() {
        let mut cache = WriteCache::new(3, 16);
        cache.admit(extent(8, 16));
        assert!(cache.admit(extent(10, 12)).is_empty());
        assert_eq!(cache.dirty(), [extent(8, 16)]);
        assert!(cache.admit(extent(4, 20)).is_empty());
        assert_eq!(cache.dirty(), [extent(8, 20), extent(4, 8)]);
        assert!(cache.holds(&extent(9, 20)) && !cache.holds(&extent(4, 20)));
    }

    #[test]
    fn a_segment_is_free_only_when_its_data_are_on_the_platters() {
        let mut cache = WriteCache::new(2, 8);
        assert_eq!(cache.admit(extent(0, 100)), extent(16, 100));
        assert_eq!(cache.begin_destage(0), extent(0, 8));
        assert_eq!(cache.admit(extent(16, 100)), extent(16, 100));
        // What is being written may already be written again: that needs a segment.
        assert_eq!(cache.admit(extent(0, 1)), extent(0, 1));
        assert!(cache.holds(&extent(0, 8)));
        cache.end_destage();
        assert_eq!(cache.admit(extent(16, 100)), extent(24, 100));
        assert!(!cache.is_clean() && !cache.holds(&extent(0, 8)));
    }
}
