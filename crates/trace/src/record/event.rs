//! The block layer's events, from their records.

use writecliff_device::Operation;

use super::format::{Field, Fields, event_number};
use super::page::Record;
use crate::source::operation;

/// Something that happened to an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Event {
    /// Nanoseconds of the trace's clock.
    pub(super) time: u64,
    pub(super) what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// It waits for its turn in the block layer.
    Queued(Request),
    /// It was given to the drive.
    Issued(Request),
    /// The drive had no place for it; it will be issued again, and counts from then.
    PutBack(Request),
    /// Nothing of it is done: its bios were taken back, to go by another path.
    TakenBack(Request),
    /// The drive has done it, or a part of it.
    Completed { request: Request, failed: bool },
    /// Before this, events of this processor were lost.
    Gap,
}

/// An operation, as far as an event tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Request {
    /// `None` for what is none of ours: zeroing, zone management, commands passed through.
    pub(super) operation: Option<Operation>,
    /// Of 512 bytes, whatever the drive's own are.
    pub(super) sector: u64,
    pub(super) sectors: u64,
    /// The name of the process at work, filled up with zeros; none at a completion.
    pub(super) process: [u8; 16],
}

/// What an event means; the tracepoints are named where they are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    Queued,
    Issued,
    PutBack,
    Completed,
}

/// Makes events of the records of some tracepoints.
#[derive(Debug)]
pub(super) struct Decoder {
    layouts: Vec<Layout>,
}

/// Where the records of one tracepoint have what.
#[derive(Debug)]
struct Layout {
    meaning: Meaning,
    number: u64,
    common_type: Field,
    sector: Field,
    sectors: Field,
    flags: Field,
    process: Option<Field>,
    error: Option<Field>,
}

impl Decoder {
    /// From what the kernel tells of each tracepoint; `Err` holds the index of one whose
    /// description lacks a field.
    pub(super) fn new(descriptions: &[(Meaning, String)]) -> Result<Self, usize> {
        let layouts = descriptions.iter().enumerate();
        let layouts = layouts.map(|(index, (meaning, text))| Layout::parse(*meaning, text, index));
        Ok(Self { layouts: layouts.collect::<Result<_, usize>>()? })
    }

    /// The event of a record; `None` if it is of no tracepoint known here, or cut short.
    pub(super) fn event(&self, record: &Record<'_>) -> Option<Event> {
        let layout = self.layouts.iter().find(|layout| layout.is_of(record.data))?;
        Some(Event { time: record.time, what: layout.what(record.data)? })
    }
}

impl Layout {
    fn parse(meaning: Meaning, description: &str, index: usize) -> Result<Self, usize> {
        let fields = Fields::parse(description);
        let needed = |name| fields.get(name).ok_or(index);
        let layout = Self {
            meaning,
            number: event_number(description).ok_or(index)?,
            common_type: needed("common_type")?,
            sector: needed("sector")?,
            sectors: needed("nr_sector")?,
            flags: needed("rwbs")?,
            process: fields.get("comm"),
            // Until Linux 4.14 it was `errors`.
            error: fields.get("error").or_else(|| fields.get("errors")),
        };
        match meaning {
            Meaning::Issued => needed("comm").map(|_| layout),
            Meaning::Completed => layout.error.is_some().then_some(layout).ok_or(index),
            Meaning::Queued | Meaning::PutBack => Ok(layout),
        }
    }

    fn is_of(&self, data: &[u8]) -> bool {
        self.common_type.number(data) == Some(self.number)
    }

    fn what(&self, data: &[u8]) -> Option<What> {
        let sectors = self.sectors.number(data)?;
        let mut process = [0; 16];
        if let Some(name) = self.process.and_then(|field| field.bytes(data)) {
            let letters = name.iter().take_while(|letter| **letter != 0);
            process.iter_mut().zip(letters).for_each(|(to, from)| *to = *from);
        }
        let letters = self.flags.bytes(data)?;
        let request = Request {
            operation: operation(letters, sectors),
            sector: self.sector.number(data)?,
            sectors,
            process,
        };
        Some(match self.meaning {
            Meaning::Queued => What::Queued(request),
            Meaning::Issued => What::Issued(request),
            Meaning::PutBack => What::PutBack(request),
            // A completion of nothing.
            Meaning::Completed if request.operation.is_none() && sectors == 0 => {
                What::TakenBack(Request { operation: operation(letters, 1), ..request })
            }
            Meaning::Completed => {
                What::Completed { request, failed: self.error?.number(data)? != 0 }
            }
        })
    }
}

#[cfg(test)]
#[path = "event_tests.rs"]
mod tests;
