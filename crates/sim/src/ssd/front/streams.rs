//! The streams of pages to NAND, each with a write frontier of its own.

use std::ops::{Index, IndexMut};

use super::Frontier;

/// Pages that fill superblocks of their own, since they are of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// What the host writes; only what is cold of it, if hot pages are kept apart.
    Host,
    /// What the host is expected to overwrite soon.
    Hot,
    /// What garbage collection moves for the first time, where it has superblocks apart: out of those
    /// of hot pages, or of all of the host's.
    YoungCopies,
    /// What else garbage collection moves.
    Copies,
    /// What the host writes into the SLC buffer, as long as that has room.
    Slc,
}

impl Stream {
    pub(crate) const ALL: [Self; 5] =
        [Self::Host, Self::Hot, Self::YoungCopies, Self::Copies, Self::Slc];
    /// Those of the host's own pages.
    pub(crate) const OF_HOST: [Self; 3] = [Self::Host, Self::Hot, Self::Slc];
    /// Those of copies, where they have their own.
    pub(crate) const OF_COPIES: [Self; 2] = [Self::YoungCopies, Self::Copies];
}

/// The write frontier of every stream.
#[derive(Debug, Clone, Default)]
pub(crate) struct Streams([Frontier; Stream::ALL.len()]);

impl Index<Stream> for Streams {
    type Output = Frontier;

    fn index(&self, stream: Stream) -> &Frontier {
        &self.0[stream as usize]
    }
}

impl IndexMut<Stream> for Streams {
    fn index_mut(&mut self, stream: Stream) -> &mut Frontier {
        &mut self.0[stream as usize]
    }
}
