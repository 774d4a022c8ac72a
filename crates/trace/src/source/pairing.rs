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
}

struct Waiting {
    event: Event,
    completed: Option<Nanos>,
    is_in_flight: bool,
    is_void: bool,
    /// What is left to do: begins after the event's range where a part is done.
    rest: Rest,
    /// The next one issued to the same place.
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
                if let Some(number) = self.take(&event) {
                    self.window.at(number).is_void = true;
                }
            }
            What::BioCompleted if has_requests => {}
            What::Queued => {}
            What::Completed | What::BioCompleted | What::AnyCompleted => self.complete(&event),
        }
    }

    /// The next operation whose end is known, or will never be; its times are the trace's.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<TraceIo> {
        loop {
            let Window { waiting, first } = &self.window;
            let (front, number) = (waiting.front()?, *first);
            if front.is_in_flight {
                if waiting.len() <= REACH && !self.is_ending {
                    return None;
                }
                let place = place(&front.event, front.rest.sector);
                if let Entry::Occupied(list) = self.places.entry(place) {
                    self.window.unlink(list, number);
                }
            }
            self.window.first += 1;
            let done = self.window.waiting.pop_front()?;
            if !done.is_void {
                return Some(done.io());
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

    /// Whether the event's device takes requests as far as known by now; when that is found out,
    /// its bios become void.
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
        if is_request && !*known {
            *known = true;
            self.void_bios(event.device);
        }
        let known = self.devices.get(&event.device).copied().unwrap_or_default();
        self.last_device = Some((event.device, known));
        known
    }

    fn void_bios(&mut self, device: DeviceNumber) {
        self.places.retain(|place, _| place.device != device);
        for waiting in &mut self.window.waiting {
            if waiting.event.device == device && waiting.event.what == What::Queued {
                (waiting.is_void, waiting.is_in_flight) = (true, false);
            }
        }
    }

    fn issue(&mut self, event: Event) {
        let number = self.window.first + self.window.waiting.len() as u64;
        let rest = Rest { sector: event.sector, sectors: event.sectors };
        self.window.waiting.push_back(Waiting {
            event,
            completed: None,
            is_in_flight: true,
            is_void: false,
            rest,
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
            }
        }
    }

    fn complete(&mut self, event: &Event) {
        let Some(number) = self.take(event) else {
            self.unmatched += 1;
            return;
        };
        let waiting = self.window.at(number);
        waiting.completed = Some(Nanos(event.time_ns));
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
    fn take(&mut self, event: &Event) -> Option<u64> {
        let Entry::Occupied(list) = self.places.entry(place(event, event.sector)) else {
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
        let after = waiting.next.take();
        let List { oldest, newest } = *list.get();
        if oldest == number {
            match after {
                Some(after) => list.get_mut().oldest = after,
                None => drop(list.remove()),
            }
            return;
        }
        let mut before = oldest;
        while let Some(next) = self.at(before).next.filter(|next| *next != number) {
            before = next;
        }
        self.at(before).next = after;
        if newest == number {
            list.get_mut().newest = before;
        }
    }
}

/// Mixes the three parts of a place; the library's hasher, which withstands an adversary, took a
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

    fn write_isize(&mut self, part: isize) {
        self.write_u64(part as u64);
    }
}

fn place(event: &Event, sector: u64) -> Place {
    Place { device: event.device, operation: event.operation, sector }
}

impl Waiting {
    fn io(&self) -> TraceIo {
        let event = &self.event;
        TraceIo {
            completed: self.completed,
            stream: event.stream,
            ..TraceIo::new(Nanos(event.time_ns), event.operation, event.offset(), event.length())
        }
    }
}
