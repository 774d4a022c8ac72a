//! Methods on a drive's security provider: packets (Core Specification 2.01, 3.2.3), tokens (3.2.2) and
//! their answers, as far as a revert needs them.

use std::io;
use std::time::Duration;

use super::{TCG, receive, send};
use crate::port::AdminPort;

/// Tokens.
const START_LIST: u8 = 0xF0;
const END_LIST: u8 = 0xF1;
const START_NAME: u8 = 0xF2;
const END_NAME: u8 = 0xF3;
const CALL: u8 = 0xF8;
const END_OF_DATA: u8 = 0xF9;

const COM_PACKET: usize = 20;
const PACKET: usize = 24;
const SUB_PACKET: usize = 12;
/// More than any answer here.
const LENGTH: usize = 2048;

/// Between two questions whether an answer is there, and how often.
const PERIOD: Duration = Duration::from_millis(25);
const TRIES: u32 = 2400;

/// A name of eight bytes.
pub(super) type Uid = [u8; 8];

/// An argument of a method.
pub(super) enum Argument<'a> {
    Number(u8),
    Bytes(&'a [u8]),
    Named(u8, &'a [u8]),
}

/// The two numbers of a session; zeros before there is one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Session {
    pub(super) drive: u32,
    pub(super) host: u32,
}

/// A method's answer: its numbers before the end of data, and its status, zero if it is done.
pub(super) struct Answer {
    pub(super) numbers: Vec<u64>,
    pub(super) status: u8,
}

/// Calls a method of an object, and waits for its answer.
///
/// # Errors
/// What the kernel or the drive says of the packets; `InvalidData` if the answer is none; `TimedOut`
/// if there is none.
pub(super) fn call(
    port: &mut dyn AdminPort,
    com_id: u16,
    session: Session,
    (object, method): (Uid, Uid),
    arguments: &[Argument<'_>],
    wait: &mut dyn FnMut(Duration),
) -> io::Result<Answer> {
    let packet = packet(com_id, session, &tokens(object, method, arguments));
    send(port, TCG, com_id, &packet)?;
    for _ in 0..TRIES {
        let mut answer = [0; LENGTH];
        receive(port, TCG, com_id, &mut answer)?;
        match payload(&answer)? {
            [] => wait(PERIOD),
            payload => return parse(payload),
        }
    }
    Err(io::ErrorKind::TimedOut.into())
}

fn tokens(object: Uid, method: Uid, arguments: &[Argument<'_>]) -> Vec<u8> {
    let mut tokens = vec![CALL];
    atom(&mut tokens, &object);
    atom(&mut tokens, &method);
    tokens.push(START_LIST);
    for argument in arguments {
        match argument {
            Argument::Number(number) => tokens.push(tiny(*number)),
            Argument::Bytes(bytes) => atom(&mut tokens, bytes),
            Argument::Named(name, bytes) => {
                tokens.extend([START_NAME, tiny(*name)]);
                atom(&mut tokens, bytes);
                tokens.push(END_NAME);
            }
        }
    }
    tokens.extend([END_LIST, END_OF_DATA, START_LIST, 0, 0, 0, END_LIST]);
    tokens
}

/// A number below 64 is its own token.
fn tiny(number: u8) -> u8 {
    number & 0x3F
}

/// Bytes, fifteen at most as a short atom, else as a medium one.
fn atom(tokens: &mut Vec<u8>, bytes: &[u8]) {
    match bytes.len() {
        short @ 0..16 => tokens.push(0xA0 | short as u8),
        long => tokens.extend([0xD0 | (long >> 8) as u8 & 7, long as u8]),
    }
    tokens.extend(bytes);
}

fn packet(com_id: u16, session: Session, tokens: &[u8]) -> Vec<u8> {
    let padded = tokens.len().next_multiple_of(4);
    let mut packet = vec![0; LENGTH.max(512)];
    packet[4..6].copy_from_slice(&com_id.to_be_bytes());
    let mut number = |at: usize, value: usize| {
        packet[at..at + 4].copy_from_slice(&(value as u32).to_be_bytes());
    };
    number(16, PACKET + SUB_PACKET + padded);
    number(COM_PACKET, session.drive as usize);
    number(COM_PACKET + 4, session.host as usize);
    number(COM_PACKET + 20, SUB_PACKET + padded);
    number(COM_PACKET + PACKET + 8, tokens.len());
    let at = COM_PACKET + PACKET + SUB_PACKET;
    packet[at..at + tokens.len()].copy_from_slice(tokens);
    packet
}

/// The tokens of an answer; none as long as the drive is still at it.
fn payload(answer: &[u8]) -> io::Result<&[u8]> {
    let number = |at: usize| {
        let bytes = answer.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map(|bytes| u32::from_be_bytes(bytes) as usize).ok_or_else(invalid)
    };
    if number(16)? == 0 {
        return Ok(&[]);
    }
    let at = COM_PACKET + PACKET + SUB_PACKET;
    let length = number(COM_PACKET + PACKET + 8)?;
    answer.get(at..at + length).filter(|tokens| !tokens.is_empty()).ok_or_else(invalid)
}

fn invalid() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the drive's answer is no answer")
}

/// Reads the numbers of an answer, and the first of the status list that follows the end of data.
fn parse(mut tokens: &[u8]) -> io::Result<Answer> {
    let mut answer = Answer { numbers: Vec::new(), status: u8::MAX };
    let mut ended = false;
    while let [token, rest @ ..] = tokens {
        let (value, after) = match token {
            0x00..0x40 => (Some(u64::from(*token)), rest),
            0x80..0xC0 => {
                let (bytes, after) =
                    rest.split_at_checked(usize::from(token & 0x0F)).ok_or_else(invalid)?;
                (number_of(*token, bytes), after)
            }
            0xD0..0xE0 => {
                let (low, rest) = rest.split_first().ok_or_else(invalid)?;
                let length = usize::from(token & 7) << 8 | usize::from(*low);
                (None, rest.split_at_checked(length).ok_or_else(invalid)?.1)
            }
            _ => (None, rest),
        };
        match value {
            Some(status) if ended => {
                answer.status = u8::try_from(status).unwrap_or(u8::MAX);
                return Ok(answer);
            }
            value => answer.numbers.extend(value),
        }
        ended |= *token == END_OF_DATA;
        tokens = after;
    }
    Err(invalid())
}

/// A short atom is a number if its fifth bit says that it is no string of bytes.
fn number_of(token: u8, bytes: &[u8]) -> Option<u64> {
    const IS_BYTES: u8 = 0x20;
    let fits = token & IS_BYTES == 0 && bytes.len() <= 8;
    fits.then(|| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}
