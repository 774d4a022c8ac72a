//! What a client asks for once it has chosen an export.

/// The length of a request without the data of a write.
pub const HEAD: usize = 28;
/// The most that is read or written at once. The protocol's default for clients that have not asked.
pub const PAYLOAD_MAX: u32 = 32 << 20;

const MAGIC: u32 = 0x2560_9513;

const FLAG_FUA: u16 = 1 << 0;
const FLAG_NO_HOLE: u16 = 1 << 1;
const FLAG_DF: u16 = 1 << 2;
const FLAG_REQ_ONE: u16 = 1 << 3;
const FLAG_FAST_ZERO: u16 = 1 << 4;

const READ: u16 = 0;
const WRITE: u16 = 1;
const DISC: u16 = 2;
const FLUSH: u16 = 3;
const TRIM: u16 = 4;
const CACHE: u16 = 5;
const WRITE_ZEROES: u16 = 6;
const BLOCK_STATUS: u16 = 7;

/// A request as it is sent; the data of a write follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Bits that say how.
    pub flags: u16,
    /// What to do, by its number.
    pub kind: u16,
    /// What the client knows its reply by.
    pub cookie: u64,
    /// The first byte of the export that it is about.
    pub offset: u64,
    /// How many bytes it is about.
    pub length: u32,
}

/// What a request that is in order asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Send data.
    Read {
        /// In one piece.
        unfragmented: bool,
    },
    /// Write the data that follow.
    Write {
        /// They are durable when the reply comes.
        forced: bool,
    },
    /// The client goes. There is no reply.
    Disconnect,
    /// All that was replied to on any connection is durable when the reply comes.
    Flush,
    /// The data are not needed any more.
    Trim {
        /// As of a write.
        forced: bool,
    },
    /// The data will be read.
    Cache,
    /// The range reads as zeros from now on.
    WriteZeroes {
        /// As of a write.
        forced: bool,
        /// The space may be given back.
        may_be_hole: bool,
        /// Only if that takes less than a write would.
        only_if_fast: bool,
    },
    /// Tell what is allocated, and what reads as zeros.
    BlockStatus {
        /// Of the first extent only.
        only_first: bool,
    },
}

/// The errors of the protocol, with its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Errno {
    /// `EPERM`: the drive takes no more writes.
    NotPermitted = 1,
    /// `EIO`: the drive cannot do it.
    InputOutput = 5,
    /// `EINVAL`: the request is not in order.
    Invalid = 22,
    /// `ENOSPC`: a write behind the end, or a store without room.
    NoSpace = 28,
    /// `ENOTSUP`: zeros that take as long as a write.
    NotSupported = 95,
    /// `ESHUTDOWN`: the server ends.
    Shutdown = 108,
}

/// What was agreed on with a client, and what the export has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Agreed {
    /// Bytes of the export.
    pub capacity: u64,
    /// Offsets and lengths are multiples of it.
    pub block_min: u32,
    /// Whether trims do anything.
    pub trims: bool,
    /// Whether replies come in chunks.
    pub structured: bool,
    /// Whether the client has chosen `base:allocation`.
    pub block_status: bool,
}

/// Why bytes are no request: where the next one would begin, nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoRequest;

impl Head {
    /// Reads a request.
    ///
    /// # Errors
    /// [`NoRequest`] if it does not begin as one.
    pub fn parse(bytes: &[u8; HEAD]) -> Result<Self, NoRequest> {
        let bytes = &mut &bytes[..];
        let numbers = (|| {
            let magic = super::take_u32(bytes)?;
            let (flags, kind) = (super::take_u16(bytes)?, super::take_u16(bytes)?);
            let [cookie, offset] =
                [super::take(bytes)?, super::take(bytes)?].map(|eight| u64::from_be_bytes(*eight));
            let length = super::take_u32(bytes)?;
            (magic == MAGIC).then_some(Self { flags, kind, cookie, offset, length })
        })();
        numbers.ok_or(NoRequest)
    }

    /// Bytes of data that follow it.
    pub fn payload(&self) -> u32 {
        if self.kind == WRITE { self.length } else { 0 }
    }

    /// What it asks for, of an export of which this was agreed on.
    ///
    /// # Errors
    /// What the client is told.
    pub fn command(&self, agreed: &Agreed) -> Result<Command, Errno> {
        let has = |flag| self.flags & flag != 0;
        let forced = has(FLAG_FUA);
        let (flags, command) = match self.kind {
            READ => (FLAG_DF, Command::Read { unfragmented: has(FLAG_DF) }),
            WRITE => (0, Command::Write { forced }),
            DISC => return Ok(Command::Disconnect),
            FLUSH => (0, Command::Flush),
            TRIM if agreed.trims => (0, Command::Trim { forced }),
            CACHE => (0, Command::Cache),
            WRITE_ZEROES => {
                let (may_be_hole, only_if_fast) = (!has(FLAG_NO_HOLE), has(FLAG_FAST_ZERO));
                let zeroes = Command::WriteZeroes { forced, may_be_hole, only_if_fast };
                (FLAG_NO_HOLE | FLAG_FAST_ZERO, zeroes)
            }
            BLOCK_STATUS if agreed.block_status => {
                (FLAG_REQ_ONE, Command::BlockStatus { only_first: has(FLAG_REQ_ONE) })
            }
            _ => return Err(Errno::Invalid),
        };
        // FUA may be on any command: clients are known to set it so.
        let is_unknown = self.flags & !(flags | FLAG_FUA) != 0;
        if is_unknown || (has(FLAG_DF) && !agreed.structured) {
            return Err(Errno::Invalid);
        }
        self.check_range(command, agreed)?;
        Ok(command)
    }

    fn check_range(&self, command: Command, agreed: &Agreed) -> Result<(), Errno> {
        if command == Command::Flush {
            let is_empty = self.offset == 0 && self.length == 0;
            return if is_empty { Ok(()) } else { Err(Errno::Invalid) };
        }
        let block = u64::from(agreed.block_min);
        let is_aligned =
            self.offset.is_multiple_of(block) && u64::from(self.length).is_multiple_of(block);
        let moves_data = matches!(command, Command::Read { .. } | Command::Write { .. });
        let is_too_long = moves_data && self.length > PAYLOAD_MAX;
        if self.length == 0 || !is_aligned || is_too_long {
            return Err(Errno::Invalid);
        }
        let end = self.offset.checked_add(u64::from(self.length));
        match (end, command) {
            (Some(end), _) if end <= agreed.capacity => Ok(()),
            (_, Command::Write { .. } | Command::WriteZeroes { .. }) => Err(Errno::NoSpace),
            _ => Err(Errno::Invalid),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGREED: Agreed = Agreed {
        capacity: 1 << 30,
        block_min: 512,
        trims: true,
        structured: true,
        block_status: true,
    };

    fn head(kind: u16, flags: u16, offset: u64, length: u32) -> Head {
        Head { flags, kind, cookie: 1, offset, length }
    }

    /// Laid out by hand as the description has it.
    #[test]
    fn a_request_is_read_as_it_is_described() {
        let bytes = [
            [0x25, 0x60, 0x95, 0x13, 0x00, 0x01, 0x00, 0x06].as_slice(),
            &[1, 2, 3, 4, 5, 6, 7, 8],
            &[0, 0, 0, 1, 0, 0, 0x10, 0],
            &[0, 0, 0x20, 0],
        ];
        let bytes: [u8; HEAD] = bytes.concat().try_into().unwrap();
        let expected = Head {
            flags: 1,
            kind: 6,
            cookie: 0x0102_0304_0506_0708,
            offset: 0x1_0000_1000,
            length: 0x2000,
        };
        assert_eq!(Head::parse(&bytes), Ok(expected));
        let mut wrong = bytes;
        wrong[0] ^= 1;
        assert_eq!(Head::parse(&wrong), Err(NoRequest));
    }

    #[test]
    fn every_command_is_known_with_its_flags() {
        let (read, write) = (Command::Read { unfragmented: true }, Command::Write { forced: true });
        let zeroes = Command::WriteZeroes { forced: true, may_be_hole: false, only_if_fast: true };
        let cases = [
            (READ, FLAG_DF | FLAG_FUA, read),
            (WRITE, FLAG_FUA, write),
            (TRIM, 0, Command::Trim { forced: false }),
            (CACHE, FLAG_FUA, Command::Cache),
            (WRITE_ZEROES, FLAG_FUA | FLAG_NO_HOLE | FLAG_FAST_ZERO, zeroes),
            (BLOCK_STATUS, FLAG_REQ_ONE, Command::BlockStatus { only_first: true }),
        ];
        for (kind, flags, expected) in cases {
            assert_eq!(head(kind, flags, 512, 1024).command(&AGREED), Ok(expected));
        }
        assert_eq!(head(FLUSH, FLAG_FUA, 0, 0).command(&AGREED), Ok(Command::Flush));
    }

    #[test]
    fn what_is_not_in_order_gets_the_error_of_the_description() {
        use Errno::{Invalid, NoSpace};
        let end = AGREED.capacity;
        let cases = [
            (head(9, 0, 0, 512), Invalid),
            (head(READ, 1 << 9, 0, 512), Invalid),
            (head(READ, FLAG_NO_HOLE, 0, 512), Invalid),
            (head(WRITE, FLAG_DF, 0, 512), Invalid),
            (head(TRIM, FLAG_FAST_ZERO, 0, 512), Invalid),
            (head(READ, 0, 0, 0), Invalid),
            (head(READ, 0, 1, 512), Invalid),
            (head(WRITE, 0, 512, 513), Invalid),
            (head(READ, 0, 0, PAYLOAD_MAX + 512), Invalid),
            (head(READ, 0, end - 512, 1024), Invalid),
            (head(WRITE, 0, end, 512), NoSpace),
            (head(WRITE_ZEROES, 0, end - 512, 1024), NoSpace),
            (head(WRITE, 0, u64::MAX - 511, 1024), NoSpace),
            (head(TRIM, 0, end, 512), Invalid),
            (head(CACHE, 0, end, 512), Invalid),
            (head(BLOCK_STATUS, 0, end, 512), Invalid),
            (head(FLUSH, 0, 512, 0), Invalid),
            (head(FLUSH, 0, 0, 512), Invalid),
        ];
        for (head, expected) in cases {
            assert_eq!(head.command(&AGREED), Err(expected), "{head:?}");
        }
        // A trim may be longer than any data: up to 4 GiB.
        let large = Agreed { capacity: 1 << 40, ..AGREED };
        assert!(head(TRIM, 0, 0, u32::MAX - 511).command(&large).is_ok());
        let plain = Agreed { trims: false, structured: false, block_status: false, ..AGREED };
        for refused in [head(TRIM, 0, 0, 512), head(BLOCK_STATUS, 0, 0, 512)] {
            assert_eq!(refused.command(&plain), Err(Invalid));
        }
        assert_eq!(head(READ, FLAG_DF, 0, 512).command(&plain), Err(Invalid));
    }
}
