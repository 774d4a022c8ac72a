//! What is in flight where, found by a completion without a search through all.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, VecDeque, btree_map};
use std::hash::{BuildHasherDefault, Hasher};

use writecliff_device::{Nanos, Operation};

use super::event::{DeviceNumber, Event, What};

/// How many in flight at one place, and at how many places before it, are looked through for the
/// one that a completion is of.
const LOOKED_THROUGH: usize = 64;

/// Where a request or a bio begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) device: DeviceNumber,
    pub(super) operation: Operation,
    pub(super) sector: u64,
    /// Bios are matched only with bios.
    pub(super) is_bio: bool,
}

/// Whether an event is about one in flight, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// About all that is left of it.
    Whole,
    /// About a part of it.
    Part,
    No,
}

/// Everything in flight, by place: at each a list through [`Waiting::next`].
///
/// A request is done from its beginning on: what is left of it waits at the sector where that
/// begins, so that a completion finds it by its sector. A bio that was split has parts that are
/// done in any order: it waits where it began, and a completion finds it in order of place.
#[derive(Debug, Default)]
pub(super) struct Places {
    requests: HashMap<Place, List, BuildHasherDefault<PlaceHasher>>,
    bios: BTreeMap<Key, List>,
}

/// A place of a bio, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    device: DeviceNumber,
    operation: u8,
    sector: u64,
}

/// The ends of a list, by their numbers.
#[derive(Debug, Clone, Copy)]
struct List {
    first: u64,
    last: u64,
}

/// Requests and bios in order of issue, by their numbers, which count all that were issued.
#[derive(Debug, Default)]
pub(super) struct Window {
    pub(super) waiting: VecDeque<Waiting>,
    /// The number of the front.
    pub(super) first: u64,
}

/// One that was issued, until it is done and all before it are.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) event: Event,
    pub(super) completed: Option<Nanos>,
    pub(super) is_failed: bool,
    pub(super) is_in_flight: bool,
    /// No operation: it was not done, or is a bio of a device that takes requests.
    pub(super) is_void: bool,
    /// Where it waits.
    pub(super) sector: u64,
    /// What is left to do.
    pub(super) sectors_left: u32,
    /// Those that came to the same place before and after it.
    previous: Option<u64>,
    next: Option<u64>,
}

impl Waiting {
    pub(super) fn new(event: Event) -> Self {
        Self {
            event,
            completed: None,
            is_failed: false,
            is_in_flight: true,
            is_void: false,
            sector: event.sector,
            sectors_left: event.sectors,
            previous: None,
            next: None,
        }
    }

    pub(super) fn place(&self) -> Place {
        let Event { device, operation, .. } = self.event;
        Place { device, operation, sector: self.sector, is_bio: self.is_bio() }
    }

    pub(super) fn is_bio(&self) -> bool {
        self.event.what == What::BioQueued
    }

    /// Whether so many sectors from `sector` on are what is left of it, or a part.
    #[inline]
    pub(super) fn fit(&self, sector: u64, sectors: u32) -> Fit {
        if self.sectors_left == sectors && self.sector == sector {
            return Fit::Whole;
        }
        let end = self.event.sector + u64::from(self.event.sectors);
        let is_inside = self.sector <= sector && sector + u64::from(sectors) <= end;
        if is_inside && sectors <= self.sectors_left { Fit::Part } else { Fit::No }
    }
}

impl Window {
    #[inline]
    pub(super) fn at(&mut self, number: u64) -> &mut Waiting {
        &mut self.waiting[(number - self.first) as usize]
    }

    /// Of a list, the oldest that fits whole, else the oldest that fits in part. One of which a
    /// part is done came to its place late, so that the list is not in order of issue.
    #[inline]
    fn find(&self, list: List, fit: impl Fn(&Waiting) -> Fit) -> Option<(Fit, u64)> {
        let mut found = None;
        let mut next = Some(list.first);
        for _ in 0..LOOKED_THROUGH {
            let Some(number) = next else { break };
            let waiting = &self.waiting[(number - self.first) as usize];
            found = better(found, Some((fit(waiting), number)));
            next = waiting.next;
        }
        found
    }

    /// Takes one out of its list; gives what is left of that.
    #[inline]
    fn unlink(&mut self, list: List, number: u64) -> Option<List> {
        let waiting = self.at(number);
        waiting.is_in_flight = false;
        let (before, after) = (waiting.previous.take(), waiting.next.take());
        if let Some(before) = before {
            self.at(before).next = after;
        }
        if let Some(after) = after {
            self.at(after).previous = before;
        }
        let (first, last) = match (before, after) {
            (None, None) => return None,
            (None, Some(after)) => (after, list.last),
            (Some(before), None) => (list.first, before),
            (Some(_), Some(_)) => (list.first, list.last),
        };
        Some(List { first, last })
    }

    /// Puts one at the end of a list.
    #[inline]
    fn link(&mut self, list: &mut List, number: u64) {
        let before = std::mem::replace(&mut list.last, number);
        self.at(before).next = Some(number);
        self.at(number).previous = Some(before);
    }
}

impl Places {
    /// Notes that one is in flight, the last at its place.
    #[inline]
    pub(super) fn enter(&mut self, number: u64, window: &mut Window) {
        let waiting = window.at(number);
        waiting.is_in_flight = true;
        let place = waiting.place();
        let alone = List { first: number, last: number };
        if place.is_bio {
            match self.bios.entry(place.key()) {
                btree_map::Entry::Vacant(entry) => drop(entry.insert(alone)),
                btree_map::Entry::Occupied(mut entry) => window.link(entry.get_mut(), number),
            }
        } else {
            match self.requests.entry(place) {
                Entry::Vacant(entry) => drop(entry.insert(alone)),
                Entry::Occupied(mut entry) => window.link(entry.get_mut(), number),
            }
        }
    }

    /// Takes out the one that an event at `place` is about: the oldest that fits whole, else the
    /// oldest that fits in part.
    #[inline]
    pub(super) fn take(
        &mut self,
        place: Place,
        window: &mut Window,
        fit: impl Fn(&Waiting) -> Fit,
    ) -> Option<u64> {
        if place.is_bio {
            let number = self.find_bio(place.key(), window, fit)?;
            self.remove(number, window);
            return Some(number);
        }
        let Entry::Occupied(mut entry) = self.requests.entry(place) else { return None };
        let (_, number) = window.find(*entry.get(), fit)?;
        match window.unlink(*entry.get(), number) {
            Some(list) => *entry.get_mut() = list,
            None => drop(entry.remove()),
        }
        Some(number)
    }

    /// Takes out one that is in flight.
    pub(super) fn remove(&mut self, number: u64, window: &mut Window) {
        let place = window.at(number).place();
        if place.is_bio {
            if let btree_map::Entry::Occupied(mut entry) = self.bios.entry(place.key()) {
                match window.unlink(*entry.get(), number) {
                    Some(list) => *entry.get_mut() = list,
                    None => drop(entry.remove()),
                }
            }
        } else if let Entry::Occupied(mut entry) = self.requests.entry(place) {
            match window.unlink(*entry.get(), number) {
                Some(list) => *entry.get_mut() = list,
                None => drop(entry.remove()),
            }
        }
    }

    /// Takes out all.
    pub(super) fn clear(&mut self, window: &mut Window) {
        self.requests.clear();
        self.bios.clear();
        for waiting in &mut window.waiting {
            waiting.is_in_flight = false;
            (waiting.previous, waiting.next) = (None, None);
        }
    }

    /// A bio may begin before the part that was done of it.
    fn find_bio(&self, key: Key, window: &Window, fit: impl Fn(&Waiting) -> Fit) -> Option<u64> {
        let before = self.bios.range(Key { sector: 0, ..key }..=key).rev();
        let found = before.take(LOOKED_THROUGH).fold(None, |found, (_, list)| match found {
            Some((Fit::Whole, _)) => found,
            _ => better(found, window.find(*list, &fit)),
        });
        found.map(|(_, number)| number)
    }
}

/// What fits better, or as well and is older; nothing that does not fit.
#[inline]
fn better(one: Option<(Fit, u64)>, other: Option<(Fit, u64)>) -> Option<(Fit, u64)> {
    match (one, other.filter(|(fit, _)| *fit != Fit::No)) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

impl Place {
    fn key(self) -> Key {
        Key { device: self.device, operation: self.operation as u8, sector: self.sector }
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
