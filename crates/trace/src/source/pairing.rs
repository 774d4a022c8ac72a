//! Issue and completion of a request, told apart in the trace, become one operation.

use std::collections::hash_map::{Entry, OccupiedEntry};
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

use writecliff_device::{Nanos, Operation};

use super::event::{DeviceNumber, Event, What};
use super::order::REACH;
use crate::TraceIo;

/// How many requests to the same place, in flight at once, are looked through for the one done.
const SAME_PLACE_MAX: usize = 64;
/// How many devices are told apart.
const DEVICES_MAX: usize = 1 << 16;

/// Requests in order of issue, each until it is done and all before it are; at most [`REACH`].
///
/// A completion belongs to the oldest request that is in flight at its sector with its operation and
/// its length, else to the oldest that is longer: then it is done in part, and its rest is waited
/// for. A request that is given back counts from when it is issued again. On a device whose requests
/// are seen, its bios do not count.
pub(super) struct Pairing {
    window: Window,
    places: Places,
    /// Whether requests were seen of a device, or only bios.
    devices: HashMap<DeviceNumber, bool>,
    last_device: Option<(DeviceNumber, bool)>,
    is_ending: bool,
    unmatched: u64,
}

/// An operation, and what only the kernel's events tell of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paired {
    pub(super) io: TraceIo,
    pub(super) device: DeviceNumber,
    /// It has no completion then.
    pub(super) is_failed: bool,
}

/// What is in flight at a place: a list through [`Waiting::next`].
type Places = HashMap<Place, List, BuildHasherDefault<PlaceHasher>>;

/// The oldest and the newest of a list, by their numbers.
#[derive(Debug, Clone, Copy)]
struct List {
    oldest: u64,
    newest: u64,
}

/// Requests by their numbers, which count all that were issued.
#[derive(Default)]
struct Window {
    waiting: VecDeque<Waiting>,
    /// The number of the front.
    first: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Place {
    device: DeviceNumber,
    operation: Operation,
    sector: u64,
    /// Bios are matched only with bios.
    is_bio: bool,
}

struct Waiting {
    event: Event,
    completed: Option<Nanos>,
    is_failed: bool,
    is_in_flight: bool,
    is_void: bool,
    /// What is left to do: begins after the event's range where a part is done.
    rest: Rest,
    /// Those that came to the same place before and after it.
    previous: Option<u64>,
    next: Option<u64>,
}

#[derive(Clone, Copy)]
struct Rest {
    sector: u64,
    sectors: u32,
}

impl Pairing {
    pub(super) fn new() -> Self {
        Self {
            window: Window::default(),
            places: Places::default(),
            devices: HashMap::new(),
            last_device: None,
            is_ending: false,
            unmatched: 0,
        }
    }

    /// Takes the next event, in order of time.
    pub(super) fn push(&mut self, event: Event) {
        let has_requests = self.has_requests(&event);
        match event.what {
            What::Issued => self.issue(event),
            What::Queued if !has_requests => self.issue(event),
            What::Requeued => {
                if let Some(number) = self.take(&event, false) {
                    self.window.at(number).is_void = true;
                }
            }
            What::BioCompleted if has_requests => {}
            What::Queued => {}
            What::Completed | What::BioCompleted | What::AnyCompleted => {
                self.complete(&event, !has_requests);
            }
        }
    }

    /// The next operation whose end is known, or will never be; its times are the trace's.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Paired> {
        loop {
            let Window { waiting, first } = &self.window;
            let (front, number) = (waiting.front()?, *first);
            let is_void = front.is_void || self.is_bio_of_requests(&front.event);
            if front.is_in_flight {
                if !is_void && waiting.len() <= REACH && !self.is_ending {
                    return None;
                }
                let place = place(&front.event, front.rest.sector);
                if let Entry::Occupied(list) = self.places.entry(place) {
                    self.window.unlink(list, number);
                }
            }
            self.window.first += 1;
            let done = self.window.waiting.pop_front()?;
            if !is_void {
                return Some(done.paired());
            }
        }
    }

    /// Nothing more will come.
    pub(super) fn end(&mut self) {
        self.is_ending = true;
    }

    /// Completions of what was not seen to be issued.
    pub(super) fn unmatched(&self) -> u64 {
        self.unmatched
    }

    /// Whether the event's device takes requests as far as known by now.
    fn has_requests(&mut self, event: &Event) -> bool {
        let is_request = matches!(event.what, What::Issued | What::Requeued | What::Completed);
        match self.last_device {
            Some((device, known)) if device == event.device && (known || !is_request) => {
                return known;
            }
            _ => {}
        }
        let is_known = self.devices.contains_key(&event.device);
        if !is_known && self.devices.len() == DEVICES_MAX {
            return is_request;
        }
        let known = self.devices.entry(event.device).or_default();
        *known |= is_request;
        self.last_device = Some((event.device, *known));
        *known
    }

    /// Whether this is a bio of a device whose requests have been seen since, and counts no more.
    fn is_bio_of_requests(&self, event: &Event) -> bool {
        event.what == What::Queued && self.devices.get(&event.device).copied().unwrap_or_default()
    }

    fn issue(&mut self, event: Event) {
        let number = self.window.first + self.window.waiting.len() as u64;
        let rest = Rest { sector: event.sector, sectors: event.sectors };
        self.window.waiting.push_back(Waiting {
            event,
            completed: None,
            is_failed: false,
            is_in_flight: true,
            is_void: false,
            rest,
            previous: None,
            next: None,
        });
        self.enter(place(&event, event.sector), number);
    }

    /// Puts a request at the end of those at its place.
    fn enter(&mut self, place: Place, number: u64) {
        match self.places.entry(place) {
            Entry::Vacant(list) => {
                list.insert(List { oldest: number, newest: number });
            }
            Entry::Occupied(mut list) => {
                let before = std::mem::replace(&mut list.get_mut().newest, number);
                self.window.at(before).next = Some(number);
                self.window.at(number).previous = Some(before);
            }
        }
    }

    fn complete(&mut self, event: &Event, is_bio: bool) {
        let Some(number) = self.take(event, is_bio) else {
            self.unmatched += 1;
            return;
        };
        let waiting = self.window.at(number);
        waiting.completed = Some(Nanos(event.time_ns));
        waiting.is_failed |= event.is_failed;
        let rest = &mut waiting.rest;
        rest.sector += u64::from(event.sectors);
        rest.sectors -= event.sectors;
        if rest.sectors > 0 {
            let place = place(&waiting.event, waiting.rest.sector);
            waiting.is_in_flight = true;
            waiting.completed = None;
            self.enter(place, number);
        }
    }

    /// Takes the request that the event is about out of those in flight at its place.
    fn take(&mut self, event: &Event, is_bio: bool) -> Option<u64> {
        let place = Place { is_bio, ..place(event, event.sector) };
        let Entry::Occupied(list) = self.places.entry(place) else {
            return None;
        };
        let number = self.window.find(list.get().oldest, event.sectors)?;
        self.window.unlink(list, number);
        Some(number)
    }
}

impl Window {
    fn at(&mut self, number: u64) -> &mut Waiting {
        &mut self.waiting[(number - self.first) as usize]
    }

    /// The oldest of a list that has just so many sectors left, else the oldest that has more.
    fn find(&mut self, oldest: u64, sectors: u32) -> Option<u64> {
        let mut longer = None;
        let mut next = Some(oldest);
        for _ in 0..SAME_PLACE_MAX {
            let Some(number) = next else { break };
            let waiting = self.at(number);
            if waiting.rest.sectors == sectors {
                return Some(number);
            }
            if waiting.rest.sectors > sectors {
                longer = longer.or(Some(number));
            }
            next = waiting.next;
        }
        longer
    }

    /// Takes a request out of its list.
    fn unlink(&mut self, mut list: OccupiedEntry<'_, Place, List>, number: u64) {
        let waiting = self.at(number);
        waiting.is_in_flight = false;
        let (before, after) = (waiting.previous.take(), waiting.next.take());
        if let Some(before) = before {
            self.at(before).next = after;
        }
        if let Some(after) = after {
            self.at(after).previous = before;
        }
        let List { oldest, newest } = list.get_mut();
        match (before, after) {
            (None, None) => drop(list.remove()),
            (None, Some(after)) => *oldest = after,
            (Some(before), None) => *newest = before,
            (Some(_), Some(_)) => {}
        }
    }
}

/// Mixes the parts of a place; the library's hasher, which withstands an adversary, took a
/// fifth of the time that reading a line takes, and nobody gains by a slow trace.
#[derive(Default)]
struct PlaceHasher(u64);

impl Hasher for PlaceHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u32(&mut self, part: u32) {
        self.write_u64(u64::from(part));
    }

    fn write_u64(&mut self, part: u64) {
        // 2^64 divided by the golden ratio spreads what differs in low bits over high ones.
        let product = u128::from(self.0 ^ part) * 0x9e37_79b9_7f4a_7c15;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    fn write_u8(&mut self, part: u8) {
        self.write_u64(u64::from(part));
    }

    fn write_isize(&mut self, part: isize) {
        self.write_u64(part as u64);
    }
}

fn place(event: &Event, sector: u64) -> Place {
    let is_bio = event.what == What::Queued;
    Place { device: event.device, operation: event.operation, sector, is_bio }
}

impl Waiting {
    fn paired(&self) -> Paired {
        let event = &self.event;
        let io =
            TraceIo::new(Nanos(event.time_ns), event.operation, event.offset(), event.length());
        Paired {
            io: TraceIo {
                completed: self.completed.filter(|_| !self.is_failed),
                stream: event.stream,
                ..io
            },
            device: event.device,
            is_failed: self.is_failed,
        }
    }
}
