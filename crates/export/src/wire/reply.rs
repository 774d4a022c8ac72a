//! What a client is answered once it has chosen an export.

use std::ops::Range;

use super::request::Errno;

/// What stands before the data of a read, at most: kept free in front of them, so that nothing is
/// copied.
pub const HEADROOM: usize = CHUNK + 8;
/// What is told of an extent: nothing was written to it, or all was given back.
pub const STATE_HOLE: u32 = 1;
/// It reads as zeros.
pub const STATE_ZERO: u32 = 2;
/// The number of the context `base:allocation`.
pub const BASE_ALLOCATION: u32 = 1;

const SIMPLE_MAGIC: u32 = 0x6744_6698;
const CHUNK_MAGIC: u32 = 0x668e_33ef;
/// The length of a simple reply's head, and of a chunk's.
const SIMPLE: usize = 16;
const CHUNK: usize = 20;
const FLAG_DONE: u16 = 1;
const OFFSET_DATA: u16 = 1;
const OFFSET_HOLE: u16 = 2;
const TYPE_BLOCK_STATUS: u16 = 5;
const TYPE_ERROR: u16 = (1 << 15) + 1;
/// Zeros are looked for in blocks of this size: the protocol asks for multiples of 512.
const ZERO_BLOCK: usize = 4096;

/// A stretch of the export that is of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Its length in bytes, never zero.
    pub length: u32,
    /// [`STATE_HOLE`] and [`STATE_ZERO`].
    pub state: u32,
}

/// That something was done of which nothing is told.
pub fn done(cookie: u64) -> Vec<u8> {
    simple(cookie, 0).to_vec()
}

/// That something was not done; in chunks with a text for people.
pub fn failed(cookie: u64, errno: Errno, structured: bool, text: &str) -> Vec<u8> {
    if !structured {
        return simple(cookie, errno as u32).to_vec();
    }
    let mut reply = chunk(FLAG_DONE, TYPE_ERROR, cookie, 6 + text.len()).to_vec();
    reply.extend((errno as u32).to_be_bytes());
    reply.extend((text.len() as u16).to_be_bytes());
    reply.extend(text.as_bytes());
    reply
}

/// What was read at `offset`, for which `buffer` has [`HEADROOM`] free bytes before the data. What is
/// to be sent is a part of what comes back. Zeros are told, not sent, if replies come in chunks and may
/// be fragmented.
pub fn data(
    cookie: u64,
    offset: u64,
    mut buffer: Vec<u8>,
    structured: bool,
    unfragmented: bool,
) -> (Vec<u8>, Range<usize>) {
    let all = HEADROOM..buffer.len();
    if !structured {
        let begin = HEADROOM - SIMPLE;
        buffer[begin..HEADROOM].copy_from_slice(&simple(cookie, 0));
        return (buffer, begin..all.end);
    }
    let has_zeros = !unfragmented && buffer[all.clone()].chunks(ZERO_BLOCK).any(is_zero);
    if has_zeros {
        let fragments = fragments(cookie, offset, &buffer[all]);
        let end = fragments.len();
        return (fragments, 0..end);
    }
    let head = chunk(FLAG_DONE, OFFSET_DATA, cookie, 8 + all.len());
    buffer[..CHUNK].copy_from_slice(&head);
    buffer[CHUNK..HEADROOM].copy_from_slice(&offset.to_be_bytes());
    (buffer, 0..all.end)
}

/// The extents of a range, from its start on.
pub fn block_status(cookie: u64, extents: &[Extent]) -> Vec<u8> {
    let length = 4 + 8 * extents.len();
    let mut reply = chunk(FLAG_DONE, TYPE_BLOCK_STATUS, cookie, length).to_vec();
    reply.extend(BASE_ALLOCATION.to_be_bytes());
    for extent in extents {
        reply.extend(extent.length.to_be_bytes());
        reply.extend(extent.state.to_be_bytes());
    }
    reply
}

/// Whether there is nothing but zeros.
pub fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

/// Data and zeros in turn, a chunk each.
fn fragments(cookie: u64, offset: u64, data: &[u8]) -> Vec<u8> {
    let mut reply = Vec::new();
    let mut at = 0;
    while at < data.len() {
        let hole = is_zero(first_block(&data[at..]));
        let mut end = at;
        while end < data.len() && is_zero(first_block(&data[end..])) == hole {
            end += first_block(&data[end..]).len();
        }
        let flags = if end == data.len() { FLAG_DONE } else { 0 };
        let place = (offset + at as u64).to_be_bytes();
        if hole {
            reply.extend(chunk(flags, OFFSET_HOLE, cookie, 12));
            reply.extend(place);
            reply.extend(((end - at) as u32).to_be_bytes());
        } else {
            reply.extend(chunk(flags, OFFSET_DATA, cookie, 8 + end - at));
            reply.extend(place);
            reply.extend(&data[at..end]);
        }
        at = end;
    }
    reply
}

fn first_block(data: &[u8]) -> &[u8] {
    &data[..data.len().min(ZERO_BLOCK)]
}

fn simple(cookie: u64, error: u32) -> [u8; SIMPLE] {
    let mut head = [0; SIMPLE];
    head[..4].copy_from_slice(&SIMPLE_MAGIC.to_be_bytes());
    head[4..8].copy_from_slice(&error.to_be_bytes());
    head[8..].copy_from_slice(&cookie.to_be_bytes());
    head
}

fn chunk(flags: u16, kind: u16, cookie: u64, length: usize) -> [u8; CHUNK] {
    let mut head = [0; CHUNK];
    head[..4].copy_from_slice(&CHUNK_MAGIC.to_be_bytes());
    head[4..6].copy_from_slice(&flags.to_be_bytes());
    head[6..8].copy_from_slice(&kind.to_be_bytes());
    head[8..16].copy_from_slice(&cookie.to_be_bytes());
    head[16..].copy_from_slice(&(length as u32).to_be_bytes());
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(data: &[u8], structured: bool, unfragmented: bool) -> Vec<u8> {
        let buffer = [&[0xee; HEADROOM], data].concat();
        let (bytes, part) = super::data(7, 0x1000, buffer, structured, unfragmented);
        bytes[part].to_vec()
    }

    #[test]
    fn simple_replies_are_as_described() {
        let head = |error: u8| vec![0x67, 0x44, 0x66, 0x98, 0, 0, 0, error, 0, 0, 0, 0, 0, 0, 0, 7];
        assert_eq!(done(7), head(0));
        assert_eq!(failed(7, Errno::NoSpace, false, "not sent"), head(28));
        assert_eq!(read(&[1, 2, 3], false, false), [head(0), vec![1, 2, 3]].concat());
    }

    #[test]
    fn an_error_in_chunks_has_a_text() {
        let expected = [
            [0x66, 0x8e, 0x33, 0xef, 0, 1, 0x80, 1].as_slice(),
            &[0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 8],
            &[0, 0, 0, 22, 0, 2, b'n', b'o'],
        ];
        assert_eq!(failed(7, Errno::Invalid, true, "no"), expected.concat());
    }

    #[test]
    fn zeros_are_told_and_data_are_sent() {
        let data = [vec![0; 8192], vec![5; 4096], vec![0; 512]].concat();
        let reply = read(&data, true, false);
        let (hole, rest) = reply.split_at(32);
        assert_eq!(hole[4..8], [0, 0, 0, 2], "a hole, and more to come");
        assert_eq!(hole[20..], [0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0x20, 0]);
        let (content, last) = rest.split_at(28 + 4096);
        assert_eq!(content[4..8], [0, 0, 0, 1]);
        assert_eq!(content[16..28], [0, 0, 0x10, 8, 0, 0, 0, 0, 0, 0, 0x30, 0]);
        assert_eq!(last[4..8], [0, 1, 0, 2], "a hole, and the last");
        assert_eq!(last[28..], [0, 0, 2, 0]);
    }

    #[test]
    fn what_may_not_be_fragmented_is_one_chunk_with_its_zeros() {
        let data = [vec![0; 8192], vec![5; 4096]].concat();
        let reply = read(&data, true, true);
        assert_eq!(reply.len(), 28 + data.len());
        assert_eq!(reply[4..8], [0, 1, 0, 1]);
        assert_eq!(reply[28..], data);
    }

    #[test]
    fn extents_follow_the_number_of_their_context() {
        let reply = block_status(7, &[Extent { length: 4096, state: STATE_HOLE | STATE_ZERO }]);
        assert_eq!(reply[4..8], [0, 1, 0, 5]);
        assert_eq!(reply[16..], [0, 0, 0, 12, 0, 0, 0, 1, 0, 0, 0x10, 0, 0, 0, 0, 3]);
    }
}
