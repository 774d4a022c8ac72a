//! The NBD protocol as bytes: what is read from a client, and what is written to one. Pure functions
//! without input or output; whatever the bytes are, they give a value or say what is wrong with them.
//!
//! Names and numbers are those of the protocol's description, `doc/proto.md` of
//! <https://github.com/NetworkBlockDevice/nbd>. All numbers are big-endian.

pub mod option;
pub mod reply;
pub mod request;

/// Takes the first `COUNT` bytes; `None` if there are fewer.
fn take<'a, const COUNT: usize>(bytes: &mut &'a [u8]) -> Option<&'a [u8; COUNT]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(first)
}

fn take_u16(bytes: &mut &[u8]) -> Option<u16> {
    take(bytes).map(|first| u16::from_be_bytes(*first))
}

fn take_u32(bytes: &mut &[u8]) -> Option<u32> {
    take(bytes).map(|first| u32::from_be_bytes(*first))
}

/// Takes as many bytes as the number before them says.
fn take_string<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = take_u32(bytes)? as usize;
    let (string, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(string)
}
