//! One page of the kernel's trace buffer, as `trace_pipe_raw` gives it.
//!
//! A page begins with the time of its first event and the length of what follows. An event begins
//! with a word of 32 bits: a kind in 5 bits and, in 27, the nanoseconds since the event before.
//! Kinds 1 to 28 are data of so many words; 0 is data whose length, itself included, is in the
//! next word; 29 is a hole, or with a time of zero the page's end; 30 and 31 only tell a time that
//! does not fit: 27 bits more of a difference, or all but the top 5 bits of an absolute one
//! (include/linux/ring_buffer.h). `events/header_page` tells the places of the header.

use super::format::{Field, Fields};

const TIME_BITS: u32 = 27;
/// The bits of an absolute time that its event has no room for.
const ABSOLUTE_TIME_TOP: u64 = 0xf8 << 56;

/// Set in a page's length if events are missing before it. Another bit says that their count lies
/// behind the last event; `stats` tells it as well.
const MISSED: u64 = 1 << 31;
/// The rest is the length.
const LENGTH: u64 = (1 << 27) - 1;

const LENGTH_IN_NEXT_WORD: u32 = 0;
const HOLE: u32 = 29;
const MORE_TIME: u32 = 30;
const ABSOLUTE_TIME: u32 = 31;

/// Where a page has its header and its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PageLayout {
    time: Field,
    length: Field,
    events: Field,
}

/// The events of a page.
#[derive(Debug)]
pub(super) struct Page<'a> {
    /// When its first event happened.
    pub(super) began: u64,
    /// Whether the kernel overwrote events before anybody read them, between the page before and
    /// this one.
    pub(super) is_behind_gap: bool,
    rest: &'a [u8],
    time: u64,
}

/// An event as it lies in its page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Record<'a> {
    /// Nanoseconds of the trace's clock.
    pub(super) time: u64,
    /// As the event's format describes it; may be a few bytes longer.
    pub(super) data: &'a [u8],
}

/// A page, or an event in it, is not as described above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Damaged;

impl PageLayout {
    /// From the kernel's own description; `None` if that lacks a field.
    pub(super) fn parse(description: &str) -> Option<Self> {
        let fields = Fields::parse(description);
        let (time, length) = (fields.get("timestamp")?, fields.get("commit")?);
        Some(Self { time, length, events: fields.get("data")? })
    }

    /// Bytes of a whole page.
    pub(super) fn size(&self) -> usize {
        self.events.offset.saturating_add(self.events.size)
    }

    pub(super) fn page<'a>(&self, bytes: &'a [u8]) -> Result<Page<'a>, Damaged> {
        let began = self.time.number(bytes).ok_or(Damaged)?;
        let length = self.length.number(bytes).ok_or(Damaged)?;
        let data = bytes.get(self.events.offset..).ok_or(Damaged)?;
        let rest = data.get(..(length & LENGTH) as usize).ok_or(Damaged)?;
        Ok(Page { began, is_behind_gap: length & MISSED != 0, rest, time: began })
    }
}

impl<'a> Page<'a> {
    fn word(&mut self) -> Result<u32, Damaged> {
        let (word, rest) = self.rest.split_first_chunk().ok_or(Damaged)?;
        self.rest = rest;
        Ok(u32::from_ne_bytes(*word))
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Damaged> {
        let (data, rest) = self.rest.split_at_checked(length).ok_or(Damaged)?;
        self.rest = rest;
        Ok(data)
    }

    /// The next event with data; `None` at the page's end.
    fn record(&mut self) -> Result<Option<Record<'a>>, Damaged> {
        while !self.rest.is_empty() {
            let (kind, time) = split(self.word()?);
            let length = match kind {
                HOLE if time == 0 => break,
                HOLE => {
                    let length = self.word()? as usize;
                    // Its length counts the word that it is in.
                    self.take(length.checked_sub(4).ok_or(Damaged)?)?;
                    self.time = self.time.saturating_add(time);
                    continue;
                }
                MORE_TIME => {
                    let more = u64::from(self.word()?) << TIME_BITS;
                    self.time = self.time.saturating_add(more + time);
                    continue;
                }
                ABSOLUTE_TIME => {
                    let absolute = (u64::from(self.word()?) << TIME_BITS) + time;
                    self.time = with_top_bits(absolute, self.time);
                    continue;
                }
                LENGTH_IN_NEXT_WORD => {
                    let length = self.word()?.checked_sub(4).ok_or(Damaged)?;
                    length.checked_next_multiple_of(4).ok_or(Damaged)? as usize
                }
                words => words as usize * 4,
            };
            self.time = self.time.saturating_add(time);
            return Ok(Some(Record { time: self.time, data: self.take(length)? }));
        }
        self.rest = &[];
        Ok(None)
    }
}

impl<'a> Iterator for Page<'a> {
    type Item = Result<Record<'a>, Damaged>;

    fn next(&mut self) -> Option<Self::Item> {
        let record = self.record();
        if record.is_err() {
            self.rest = &[];
        }
        record.transpose()
    }
}

/// Kind and time of an event's first word: C's bit fields begin at the machine's own end.
fn split(word: u32) -> (u32, u64) {
    match cfg!(target_endian = "big") {
        true => (word >> TIME_BITS, u64::from(word & ((1 << TIME_BITS) - 1))),
        false => (word & 31, u64::from(word >> 5)),
    }
}

/// A time with the top bits of the one before, which it follows by less than what they count.
fn with_top_bits(time: u64, before: u64) -> u64 {
    let time = time | (before & ABSOLUTE_TIME_TOP);
    if time < before { time.saturating_add(1 << 59) } else { time }
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
