//! A trace as a drive can do it again.

use writecliff_device::{Bytes, Operation};

use crate::{Mapping, ReadAhead, ReadError, TraceIo};

/// The operations of a trace at their places on a drive: at most so many of them, without trims if the drive takes
/// none, and without empty ranges, which are nothing that a drive could do. Ends before the first that cannot be
/// read.
///
/// One type, and no chain of closures: where it is used much is made quickly and little for speed.
#[derive(Debug)]
pub struct Onto {
    ios: ReadAhead,
    mapping: Mapping,
    left: u64,
    takes_trims: bool,
    trims_left_out: u64,
    unreadable: Option<ReadError>,
}

impl ReadAhead {
    /// The first `most` operations at their places.
    pub fn onto(self, mapping: Mapping, most: u64, takes_trims: bool) -> Onto {
        Onto { ios: self, mapping, left: most, takes_trims, trims_left_out: 0, unreadable: None }
    }
}

impl Onto {
    /// Takes no more, which lets the reading end: how many trims were left out, and what ended the reading before
    /// the trace did.
    pub fn end(self) -> (u64, Option<ReadError>) {
        (self.trims_left_out, self.unreadable)
    }

    fn next_readable(&mut self) -> Option<TraceIo> {
        if self.left == 0 || self.unreadable.is_some() {
            return None;
        }
        self.left -= 1;
        match self.ios.next()? {
            Ok(io) => Some(io),
            Err(error) => {
                self.unreadable = Some(error);
                None
            }
        }
    }
}

impl Iterator for Onto {
    type Item = TraceIo;

    fn next(&mut self) -> Option<TraceIo> {
        loop {
            let io = self.next_readable()?;
            if io.operation == Operation::Trim && !self.takes_trims {
                self.trims_left_out += 1;
                continue;
            }
            let io = self.mapping.place(io);
            if io.length > Bytes::ZERO || io.operation == Operation::Flush {
                return Some(io);
            }
        }
    }
}
