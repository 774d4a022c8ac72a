//! The streams of pages to NAND, each with a write frontier of its own.

use std::ops::{Index, IndexMut};

use super::Frontier;

/// Pages that fill superblocks of their own, since they are of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// What the host writes.
    Host,
    /// What garbage collection moves.
    Copies,
}

impl Stream {
    pub(crate) const ALL: [Self; 2] = [Self::Host, Self::Copies];
}

/// The write frontier of every stream.
#[derive(Debug, Default)]
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
