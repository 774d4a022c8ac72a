//! Issue and completion, told apart, become one operation.

use std::collections::HashMap;

use writecliff_device::Nanos;

use super::early::Early;
use super::event::{DeviceNumber, Event, What};
use super::places::{Fit, Place, Places, Waiting, Window};
use crate::TraceIo;

/// How many operations may be issued after one whose completion is waited for: a second of a fast
/// drive, and some 12 MB.
pub(crate) const WAITING_MAX: usize = 1 << 17;
/// How many devices are told apart.
const DEVICES_MAX: usize = 1 << 16;

/// Operations in order of issue, each until it is done and all before it are.
///
/// A completion belongs to the oldest in flight at its place with its operation and its length, else
/// to the oldest that it is a part of: the rest of that is waited for. One that is given back counts
/// from when it is issued again. On a device whose requests are seen, its bios do not count.
#[derive(Debug)]
pub(crate) struct Pairing {
    window: Window,
    places: Places,
    early: Early,
    in_flight: usize,
    /// Whether requests were seen of a device, or only bios.
    devices: HashMap<DeviceNumber, bool>,
    last_device: Option<(DeviceNumber, bool)>,
    is_ending: bool,
    unmatched: u64,
}

/// An operation, and what only the kernel's events tell of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paired {
    pub(crate) io: TraceIo,
    pub(crate) device: DeviceNumber,
    /// It has no completion then.
    pub(crate) is_failed: bool,
}

impl Pairing {
    /// Of events in order of time. Where a completion may come before its issue all the same, the
    /// last `early_max` of those without one are kept for it.
    pub(crate) fn new(early_max: usize) -> Self {
        Self {
            window: Window::default(),
            places: Places::default(),
            early: Early::new(early_max),
            in_flight: 0,
            devices: HashMap::new(),
            last_device: None,
            is_ending: false,
            unmatched: 0,
        }
    }

    /// Takes the next event.
    pub(crate) fn push(&mut self, event: Event) {
        if event.what == What::Gap {
            return self.give_up();
        }
        let has_requests = self.has_requests(&event);
        match event.what {
            What::Issued => self.issue(event),
            What::BioQueued if !has_requests => self.issue(event),
            What::Requeued => self.give_back(&event, |one| one.fit(event.sector, event.sectors)),
            What::TakenBack => self.give_back(&event, |one| {
                if one.sectors_left == one.event.sectors { Fit::Whole } else { Fit::No }
            }),
            What::BioCompleted if has_requests => {}
            What::BioQueued | What::Inserted | What::Gap => {}
            What::Completed | What::BioCompleted | What::AnyCompleted => {
                self.complete(&event, !has_requests);
            }
        }
    }

    /// The next operation whose end is known, or will never be; its times are the trace's.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Paired> {
        loop {
            let Window { waiting, first } = &self.window;
            let (front, number) = (waiting.front()?, *first);
            let is_void = front.is_void || self.is_bio_of_requests(&front.event);
            if front.is_in_flight {
                if !is_void && waiting.len() <= WAITING_MAX && !self.is_ending {
                    return None;
                }
                self.places.remove(number, &mut self.window);
                self.in_flight -= 1;
            }
            self.window.first += 1;
            let done = self.window.waiting.pop_front()?;
            if !is_void {
                return Some(done.paired());
            }
        }
    }

    /// Nothing more will come.
    pub(crate) fn end(&mut self) {
        self.is_ending = true;
    }

    /// Operations in flight.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Completions of what was not seen to be issued.
    pub(crate) fn unmatched(&self) -> u64 {
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
        let has_requests = || self.devices.get(&event.device).copied().unwrap_or_default();
        event.what == What::BioQueued && has_requests()
    }

    fn issue(&mut self, event: Event) {
        let number = self.window.first + self.window.waiting.len() as u64;
        let waiting = Waiting::new(event);
        let place = waiting.place();
        self.window.waiting.push_back(waiting);
        self.places.enter(number, &mut self.window);
        self.in_flight += 1;
        if !self.early.is_empty()
            && let Some(completion) = self.early.take(place, &event)
        {
            self.unmatched -= 1;
            self.places.remove(number, &mut self.window);
            self.is_done(number, &completion);
        }
    }

    fn complete(&mut self, event: &Event, is_bio: bool) {
        let place = Place { is_bio, ..place(event) };
        let fit = |one: &Waiting| one.fit(event.sector, event.sectors);
        match self.places.take(place, &mut self.window, fit) {
            Some(number) => self.is_done(number, event),
            None => {
                self.unmatched += 1;
                self.early.keep(place, *event);
            }
        }
    }

    /// Counts the part that an event says is done of one that was taken out; what is left of it
    /// waits on.
    #[inline]
    fn is_done(&mut self, number: u64, event: &Event) {
        let waiting = self.window.at(number);
        waiting.is_failed |= event.is_failed;
        waiting.sectors_left -= event.sectors;
        if waiting.sectors_left == 0 {
            waiting.completed = Some(Nanos(event.time_ns));
            self.in_flight -= 1;
            return;
        }
        if !waiting.is_bio() {
            waiting.sector += u64::from(event.sectors);
        }
        self.places.enter(number, &mut self.window);
    }

    /// The request was not done, and will be issued again.
    fn give_back(&mut self, event: &Event, fit: impl Fn(&Waiting) -> Fit) {
        if let Some(number) = self.places.take(place(event), &mut self.window, fit) {
            self.window.at(number).is_void = true;
            self.in_flight -= 1;
        }
    }

    /// Waits for nothing any longer.
    fn give_up(&mut self) {
        self.places.clear(&mut self.window);
        self.in_flight = 0;
    }
}

fn place(event: &Event) -> Place {
    let Event { device, operation, sector, .. } = *event;
    Place { device, operation, sector, is_bio: false }
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

#[cfg(test)]
#[path = "pairing_tests.rs"]
mod tests;
