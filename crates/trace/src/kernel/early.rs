//! Completions that are known before their issue is.

use std::collections::{HashMap, VecDeque};

use super::event::Event;
use super::places::Place;

/// The last so many completions without an issue so far.
#[derive(Debug)]
pub(super) struct Early {
    max: usize,
    places: HashMap<Place, VecDeque<(u64, Event)>>,
    /// The number and the place of each, in the order that they came in; some may be gone.
    order: VecDeque<(u64, Place)>,
    count: u64,
}

impl Early {
    pub(super) fn new(max: usize) -> Self {
        Self { max, places: HashMap::new(), order: VecDeque::new(), count: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Keeps a completion, in place of the oldest if there are too many.
    pub(super) fn keep(&mut self, place: Place, completion: Event) {
        if self.max == 0 {
            return;
        }
        if self.order.len() == self.max
            && let Some((number, place)) = self.order.pop_front()
        {
            self.forget(number, place);
        }
        self.count += 1;
        self.order.push_back((self.count, place));
        self.places.entry(place).or_default().push_back((self.count, completion));
    }

    /// The oldest completion of all that was issued at this place, not done before it was issued.
    pub(super) fn take(&mut self, place: Place, issue: &Event) -> Option<Event> {
        let list = self.places.get_mut(&place)?;
        let is_its = |(_, completion): &(u64, Event)| {
            completion.time_ns >= issue.time_ns && completion.sectors == issue.sectors
        };
        let index = list.iter().position(is_its)?;
        let (_, completion) = list.remove(index)?;
        if list.is_empty() {
            self.places.remove(&place);
        }
        Some(completion)
    }

    fn forget(&mut self, number: u64, place: Place) {
        if let Some(list) = self.places.get_mut(&place) {
            if list.front().is_some_and(|(first, _)| *first == number) {
                list.pop_front();
            }
            if list.is_empty() {
                self.places.remove(&place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{DeviceNumber, What};
    use writecliff_device::Operation;

    fn at(sector: u64) -> Place {
        Place { device: DeviceNumber(0), operation: Operation::Read, sector, is_bio: false }
    }

    fn event(time_ns: u64, sector: u64) -> Event {
        let (what, operation) = (What::Completed, Operation::Read);
        Event { what, operation, sector, sectors: 8, ..Event::gap(time_ns) }
    }

    #[test]
    fn the_oldest_go_when_there_are_too_many() {
        let mut early = Early::new(3);
        for (time, sector) in [(1, 0), (2, 8), (3, 0)] {
            early.keep(at(sector), event(time, sector));
        }
        assert_eq!(early.take(at(0), &event(2, 0)), Some(event(3, 0)), "1 is before the issue");
        early.keep(at(16), event(4, 16));
        assert_eq!(early.take(at(0), &event(0, 0)), None, "it had to go");
        assert_eq!(early.take(at(8), &event(0, 8)), Some(event(2, 8)));
        for time in 5..9 {
            early.keep(at(24), event(time, 24));
        }
        assert_eq!(early.take(at(16), &event(0, 16)), None);
        let left: Vec<Event> = std::iter::from_fn(|| early.take(at(24), &event(0, 24))).collect();
        assert_eq!(left, [6, 7, 8].map(|time| event(time, 24)));
        assert!(early.is_empty());
    }
}
