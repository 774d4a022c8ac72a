//! A client that reads and writes, and nothing else: what an export is measured with.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use writecliff_device::{Io, Operation};

use crate::client::Stream;

const GREETING: usize = 18;
/// The size, and the flags of the export.
const CHOSEN: usize = 10;
const CLIENT_FLAGS: u32 = 3;
const EXPORT_NAME: u32 = 1;
const REQUEST_MAGIC: u32 = 0x2560_9513;
const REPLY_MAGIC: u32 = 0x6744_6698;
const REPLY: usize = 16;

/// A client of one export, with simple replies.
#[derive(Debug)]
pub struct Caller {
    stream: Stream,
    /// What is sent together.
    out: Vec<u8>,
    /// Room for answers, of which so much is filled.
    came: Vec<u8>,
    filled: usize,
}

impl Caller {
    /// Connects to the export of this name at a unix socket.
    ///
    /// # Errors
    /// If nobody answers there, or has no such export.
    pub fn connect(socket: &Path, export: &str) -> io::Result<Self> {
        Self::over(Stream::Unix(UnixStream::connect(socket)?), export)
    }

    pub(crate) fn over(stream: Stream, export: &str) -> io::Result<Self> {
        let mut out = CLIENT_FLAGS.to_be_bytes().to_vec();
        out.extend(b"IHAVEOPT");
        out.extend(EXPORT_NAME.to_be_bytes());
        out.extend((export.len() as u32).to_be_bytes());
        out.extend(export.as_bytes());
        (&stream).read_exact(&mut [0; GREETING])?;
        (&stream).write_all(&out)?;
        (&stream).read_exact(&mut [0; CHOSEN])?;
        out.clear();
        Ok(Self { stream, out, came: Vec::new(), filled: 0 })
    }

    /// Does these reads and writes, with so many under way; gives how many there were. Answers are of one
    /// length as long as there are only reads, or only writes, of one length.
    ///
    /// # Errors
    /// If the connection ends, or a request fails.
    pub fn run(&mut self, mut ios: impl Iterator<Item = Io>, depth: usize) -> io::Result<u64> {
        let (mut under_way, mut done, mut answer) = (0, 0, REPLY);
        loop {
            for io in ios.by_ref().take(depth - under_way) {
                answer =
                    REPLY + if io.operation == Operation::Read { io.length.0 as usize } else { 0 };
                self.ask(&io);
                under_way += 1;
            }
            if under_way == 0 {
                return Ok(done);
            }
            (&self.stream).write_all(&self.out)?;
            self.out.clear();
            let answered = self.take(answer)?;
            under_way -= answered;
            done += answered as u64;
        }
    }

    fn ask(&mut self, io: &Io) {
        const READ: u16 = 0;
        const WRITE: u16 = 1;
        let is_read = io.operation == Operation::Read;
        self.out.extend(REQUEST_MAGIC.to_be_bytes());
        self.out.extend(0_u16.to_be_bytes());
        self.out.extend((if is_read { READ } else { WRITE }).to_be_bytes());
        self.out.extend(0_u64.to_be_bytes());
        self.out.extend(io.offset.0.to_be_bytes());
        self.out.extend((io.length.0 as u32).to_be_bytes());
        if !is_read {
            self.out.resize(self.out.len() + io.length.0 as usize, 7);
        }
    }

    /// Waits for answers of this length; gives how many have come.
    fn take(&mut self, length: usize) -> io::Result<usize> {
        const ROOM: usize = 64 << 10;
        self.came.resize(self.came.len().max(ROOM.max(2 * length)), 0);
        while self.filled < length {
            let count = (&self.stream).read(&mut self.came[self.filled..])?;
            self.filled += count;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let is_good =
            |answer: &[u8]| answer[..4] == REPLY_MAGIC.to_be_bytes() && answer[4..8] == [0; 4];
        let whole = self.came[..self.filled].chunks_exact(length);
        let count = whole.len();
        if !{ whole }.all(is_good) {
            return Err(io::Error::other("a request has failed"));
        }
        self.came.copy_within(count * length..self.filled, 0);
        self.filled -= count * length;
        Ok(count)
    }
}
