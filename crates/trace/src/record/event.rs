//! The block layer's events, from their records.

use super::format::{Field, Fields, event_number};
use super::page::Record;
use crate::kernel::{DeviceNumber, Event, What, operation, range};

/// One drive is recorded, whichever of its paths' disks an event names.
const DRIVE: DeviceNumber = DeviceNumber(0);

/// The name of a process, filled up with zeros.
pub(super) type Process = [u8; 16];

/// What a record tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// Something happened to an operation.
    Event {
        /// Its stream is told by the process.
        event: Event,
        /// The process at work; none at a completion.
        process: Process,
    },
    /// Something was issued that is none of ours: zeroing, zone management, a command passed
    /// through.
    Other {
        /// By the trace's clock.
        time_ns: u64,
    },
}

impl Told {
    /// That events of this processor were lost before.
    pub(super) fn gap(time_ns: u64) -> Self {
        Self::Event { event: Event::gap(time_ns), process: Process::default() }
    }

    /// By the trace's clock.
    pub(super) fn time_ns(&self) -> u64 {
        match self {
            Self::Event { event, .. } => event.time_ns,
            Self::Other { time_ns } => *time_ns,
        }
    }
}

/// Makes events of the records of some tracepoints.
#[derive(Debug)]
pub(super) struct Decoder {
    layouts: Vec<Layout>,
}

/// Where the records of one tracepoint have what.
#[derive(Debug)]
struct Layout {
    what: What,
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
    pub(super) fn new(descriptions: &[(What, String)]) -> Result<Self, usize> {
        let layouts = descriptions.iter().enumerate();
        let layouts = layouts.map(|(index, (what, text))| Layout::parse(*what, text, index));
        Ok(Self { layouts: layouts.collect::<Result<_, usize>>()? })
    }

    /// What a record tells; `None` if it is of no tracepoint known here, cut short, or the
    /// completion of what is none of ours.
    pub(super) fn told(&self, record: &Record<'_>) -> Option<Told> {
        let layout = self.layouts.iter().find(|layout| layout.is_of(record.data))?;
        layout.told(record)
    }
}

impl Layout {
    fn parse(what: What, description: &str, index: usize) -> Result<Self, usize> {
        let fields = Fields::parse(description);
        let needed = |name| fields.get(name).ok_or(index);
        let layout = Self {
            what,
            number: event_number(description).ok_or(index)?,
            common_type: needed("common_type")?,
            sector: needed("sector")?,
            sectors: needed("nr_sector")?,
            flags: needed("rwbs")?,
            process: fields.get("comm"),
            // Until Linux 4.14 it was `errors`.
            error: fields.get("error").or_else(|| fields.get("errors")),
        };
        let is_complete = match what {
            _ if what.is_issue() => layout.process.is_some(),
            _ if what.is_completion() => layout.error.is_some(),
            _ => true,
        };
        is_complete.then_some(layout).ok_or(index)
    }

    fn is_of(&self, data: &[u8]) -> bool {
        self.common_type.number(data) == Some(self.number)
    }

    fn told(&self, record: &Record<'_>) -> Option<Told> {
        let (time_ns, data) = (record.time, record.data);
        let sectors = self.sectors.number(data)?;
        let letters = self.flags.bytes(data)?;
        let (mut what, mut meant) = (self.what, operation(letters, sectors));
        // A completion of nothing.
        if what == What::Completed && meant.is_none() && sectors == 0 {
            (what, meant) = (What::TakenBack, operation(letters, 1));
        }
        let range = |operation| range(operation, self.sector.number(data)?, sectors).ok();
        let Some((operation, (sector, sectors))) =
            meant.and_then(|operation| Some((operation, range(operation)?)))
        else {
            return what.is_issue().then_some(Told::Other { time_ns });
        };
        let is_failed = what.is_completion() && self.error?.number(data)? != 0;
        let (device, stream) = (DRIVE, 0);
        let event = Event { time_ns, what, operation, device, stream, sector, sectors, is_failed };
        Some(Told::Event { event, process: self.process(data) })
    }

    fn process(&self, data: &[u8]) -> Process {
        let mut process = Process::default();
        if let Some(name) = self.process.and_then(|field| field.bytes(data)) {
            let letters = name.iter().take_while(|letter| **letter != 0);
            process.iter_mut().zip(letters).for_each(|(to, from)| *to = *from);
        }
        process
    }
}

#[cfg(test)]
#[path = "event_tests.rs"]
mod tests;
