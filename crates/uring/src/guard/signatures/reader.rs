//! Direct reads of the places that are looked at, each once, with what cannot be read set apart.

use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use super::{SECTOR, Signature};
use crate::host::direct_read::{CHUNK, Chunk};

/// A chunk that cannot be read whole is read in pieces of this size, and only those that matter.
const PIECE: usize = 4096;
/// A failing read may take a drive half a minute: when so much is spent, nothing more is tried.
const PATIENCE: Duration = Duration::from_secs(20);

/// What the drive says of a block that it cannot read: any of these is about the block, anything
/// else about the drive, the path to it or the way in which it was asked.
const BAD_BLOCK: &[Errno] = &[
    Errno::IO,
    Errno::NODATA,
    Errno::ILSEQ,
    Errno::REMOTEIO,
    Errno::BADMSG,
    Errno::TIMEDOUT,
    Errno::UCLEAN,
];

/// Fills a buffer from an offset on; tells how much of it the drive has.
pub(super) type ReadAt<'a> = dyn Fn(&mut [u8], u64) -> Result<usize, Errno> + 'a;

/// A part of the drive, and which of it could be read.
struct Part {
    bytes: Box<Chunk>,
    /// As many as the drive has here.
    length: usize,
    pieces: [Piece; CHUNK / PIECE],
}

#[derive(Clone, Copy)]
enum Piece {
    Untried,
    Read,
    Bad(Errno),
}

/// Looks at a drive by direct reads, each chunk once: what is on the drive, not in a cache.
pub(super) struct Reader<'a> {
    read_at: &'a ReadAt<'a>,
    capacity: u64,
    parts: BTreeMap<u64, Part>,
    spent_on_failures: Duration,
}

/// A piece that would have to be read to know what is at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BadPiece {
    pub(super) offset: u64,
    pub(super) length: u64,
    pub(super) error: Errno,
}

/// What was looked for, or why nobody can tell; any other failure is not about a place.
type Looked<T> = io::Result<Result<T, BadPiece>>;

impl<'a> Reader<'a> {
    pub(super) fn new(read_at: &'a ReadAt<'a>, capacity: u64) -> Self {
        Self { read_at, capacity, parts: BTreeMap::new(), spent_on_failures: Duration::ZERO }
    }

    /// Whether a mark is at an offset.
    pub(super) fn has(&mut self, offset: u64, signature: &Signature) -> Looked<bool> {
        match self.bytes(offset, signature.magic.len())? {
            Ok(bytes) if bytes == signature.magic => {}
            Ok(_) => return Ok(Ok(false)),
            Err(bad) => return Ok(Err(bad)),
        }
        let Some(plausible) = signature.plausible else {
            return Ok(Ok(true));
        };
        let sector = self.bytes(offset / SECTOR * SECTOR, SECTOR as usize)?;
        Ok(sector.map(|sector| sector.len() == SECTOR as usize && plausible(&sector)))
    }

    /// The bytes at an offset, fewer at the drive's end.
    fn bytes(&mut self, offset: u64, length: usize) -> Looked<Vec<u8>> {
        let mut bytes = Vec::with_capacity(length);
        let mut at = offset;
        while bytes.len() < length && at < self.capacity {
            let piece = match self.piece(at)? {
                Ok(piece) => piece,
                Err(bad) => return Ok(Err(bad)),
            };
            let rest = &piece[(at % PIECE as u64) as usize..];
            let taken = rest.len().min(length - bytes.len());
            bytes.extend_from_slice(&rest[..taken]);
            at += taken as u64;
        }
        Ok(Ok(bytes))
    }

    /// The piece around an offset below the capacity.
    fn piece(&mut self, offset: u64) -> Looked<&[u8]> {
        let start = offset / CHUNK as u64 * CHUNK as u64;
        let index = (offset - start) as usize / PIECE;
        if !self.parts.contains_key(&start) {
            let part = self.read_whole(start)?;
            self.parts.insert(start, part);
        }
        if matches!(self.parts[&start].pieces[index], Piece::Untried) {
            self.read_piece(start, index)?;
        }
        let part = &self.parts[&start];
        let first = index * PIECE;
        let last = part.length.min(first + PIECE);
        Ok(match part.pieces[index] {
            Piece::Bad(error) => {
                let (offset, length) = (start + first as u64, (last - first) as u64);
                Err(BadPiece { offset, length, error })
            }
            Piece::Untried | Piece::Read => Ok(&part.bytes.0[first..last]),
        })
    }

    fn read_whole(&mut self, start: u64) -> io::Result<Part> {
        let length = (self.capacity - start).min(CHUNK as u64) as usize;
        let mut bytes = Chunk::zeroed();
        let piece = match self.read(&mut bytes.0, start, length)? {
            Ok(()) => Piece::Read,
            Err(_) => Piece::Untried,
        };
        Ok(Part { bytes, length, pieces: [piece; CHUNK / PIECE] })
    }

    fn read_piece(&mut self, start: u64, index: usize) -> io::Result<()> {
        let Some(mut part) = self.parts.remove(&start) else {
            return Ok(());
        };
        let first = index * PIECE;
        let buffer = &mut part.bytes.0[first..first + PIECE];
        let expected = part.length.min(first + PIECE) - first;
        let read = self.read(buffer, start + first as u64, expected)?;
        part.pieces[index] = read.map_or_else(Piece::Bad, |()| Piece::Read);
        self.parts.insert(start, part);
        Ok(())
    }

    /// Fills a buffer, of which only the drive's end may leave something out.
    fn read(
        &mut self,
        buffer: &mut [u8],
        start: u64,
        expected: usize,
    ) -> io::Result<Result<(), Errno>> {
        if self.spent_on_failures >= PATIENCE {
            return Ok(Err(Errno::IO));
        }
        let asked = Instant::now();
        match (self.read_at)(buffer, start) {
            Ok(length) if length < expected => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => Ok(Ok(())),
            Err(error) if BAD_BLOCK.contains(&error) => {
                self.spent_on_failures += asked.elapsed();
                Ok(Err(error))
            }
            Err(error) => Err(error.into()),
        }
    }
}
