//! Random events beside the same pairing by looking through all in flight, and what costs nothing.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use writecliff_device::Operation;

use super::*;

/// Takes requests; the other device takes bios.
const REQUESTS: DeviceNumber = DeviceNumber(1);
const BIOS: DeviceNumber = DeviceNumber(2);

/// What was issued, all of it.
#[derive(Default)]
struct Simple {
    all: Vec<One>,
    unmatched: u64,
}

struct One {
    event: Event,
    sector: u64,
    left: u32,
    is_in_flight: bool,
    is_void: bool,
    is_failed: bool,
    completed: Option<u64>,
}

impl One {
    fn fits(&self, event: &Event, is_whole: bool) -> bool {
        let Event { device, operation, sector, sectors, .. } = *event;
        let end = self.event.sector + u64::from(self.event.sectors);
        let is_part = match device {
            BIOS => self.sector <= sector && sector + u64::from(sectors) <= end,
            _ => self.sector == sector,
        };
        self.is_in_flight
            && (self.event.device, self.event.operation) == (device, operation)
            && match is_whole {
                true => self.sector == sector && self.left == sectors,
                false => is_part && self.left >= sectors,
            }
    }
}

impl Simple {
    fn push(&mut self, event: Event) {
        match event.what {
            What::Issued | What::BioQueued => self.all.push(One {
                event,
                sector: event.sector,
                left: event.sectors,
                is_in_flight: true,
                is_void: false,
                is_failed: false,
                completed: None,
            }),
            What::Gap => self.all.iter_mut().for_each(|one| one.is_in_flight = false),
            What::Requeued => {
                if let Some(one) = self.find(&event) {
                    (one.is_in_flight, one.is_void) = (false, true);
                }
            }
            _ => match self.find(&event) {
                None => self.unmatched += 1,
                Some(one) => {
                    one.left -= event.sectors;
                    one.sector += if event.device == BIOS { 0 } else { u64::from(event.sectors) };
                    one.is_failed |= event.is_failed;
                    if one.left == 0 {
                        (one.is_in_flight, one.completed) = (false, Some(event.time_ns));
                    }
                }
            },
        }
    }

    fn find(&mut self, event: &Event) -> Option<&mut One> {
        let of = |is_whole| self.all.iter().position(|one| one.fits(event, is_whole));
        let index = of(true).or_else(|| of(false))?;
        Some(&mut self.all[index])
    }

    /// A completion of something in flight, or of a part of it.
    fn completion(&self, below: &mut impl FnMut(u64) -> u64) -> Option<Event> {
        let all: Vec<&One> = self.all.iter().filter(|one| one.is_in_flight).collect();
        let one = all.get(below(all.len().max(1) as u64) as usize)?;
        let sectors = if below(3) == 0 { one.left.min(below(8) as u32 + 1) } else { one.left };
        let room = u64::from(one.event.sectors - sectors);
        let (what, sector) = match one.event.device {
            BIOS if sectors < one.event.sectors => {
                (What::BioCompleted, one.event.sector + below(room + 1))
            }
            BIOS => (What::BioCompleted, one.sector),
            _ => (What::Completed, one.sector),
        };
        Some(Event { what, sector, sectors, is_failed: below(9) == 0, ..one.event })
    }
}

fn issue(below: &mut impl FnMut(u64) -> u64) -> Event {
    let (what, device) = match below(2) {
        0 => (What::Issued, REQUESTS),
        _ => (What::BioQueued, BIOS),
    };
    let operation = [Operation::Read, Operation::Write, Operation::Flush][below(3) as usize];
    let (sector, sectors) = match operation {
        Operation::Flush => (0, 0),
        _ => (below(40), below(24) as u32 + 1),
    };
    Event { what, operation, device, sector, sectors, ..Event::gap(0) }
}

#[test]
fn operations_are_those_of_a_search_through_all_in_flight() {
    for seed in 0..300 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut below = |limit: u64| random.next_u64() % limit;
        let (mut pairing, mut simple) = (Pairing::new(0), Simple::default());
        let mut popped = Vec::new();
        for time_ns in 0..400 {
            let event = match below(20) {
                0 => Some(Event::gap(0)).filter(|_| below(10) == 0),
                1 => simple
                    .completion(&mut below)
                    .filter(|event| event.device == REQUESTS)
                    .map(|event| Event { what: What::Requeued, is_failed: false, ..event }),
                2 => Some(Event { what: What::Completed, ..issue(&mut below) }),
                3..=10 => Some(issue(&mut below)),
                _ => simple.completion(&mut below),
            };
            let Some(event) = event.map(|event| Event { time_ns, ..event }) else { continue };
            // A request there would make its bios count no more.
            if (event.device, event.what) == (BIOS, What::Completed) {
                continue;
            }
            pairing.push(event);
            simple.push(event);
            let in_flight = simple.all.iter().filter(|one| one.is_in_flight).count();
            assert_eq!(pairing.in_flight(), in_flight, "seed {seed}, {time_ns}");
            popped.extend(std::iter::from_fn(|| pairing.pop()));
        }
        pairing.end();
        popped.extend(std::iter::from_fn(|| pairing.pop()));
        let done = |one: &One| {
            let completed = one.completed.filter(|_| !one.is_failed);
            (one.event.time_ns, one.event.device, completed, one.is_failed)
        };
        let expected: Vec<_> = simple.all.iter().filter(|one| !one.is_void).map(done).collect();
        let got = popped.iter().map(|paired| {
            let Paired { io, device, is_failed } = *paired;
            (io.issued.0, device, io.completed.map(|time| time.0), is_failed)
        });
        assert_eq!(got.collect::<Vec<_>>(), expected, "seed {seed}");
        assert_eq!(pairing.unmatched(), simple.unmatched, "seed {seed}");
    }
}

#[test]
fn a_completion_before_its_issue_waits_for_it_where_that_can_be() {
    let read = |time_ns, what| {
        let (operation, device) = (Operation::Read, REQUESTS);
        Event { what, operation, device, sectors: 8, ..Event::gap(time_ns) }
    };
    for (early_max, completed, unmatched) in [(0, None, 1), (1, Some(Nanos(9)), 0)] {
        let mut pairing = Pairing::new(early_max);
        pairing.push(read(9, What::Completed));
        assert_eq!(pairing.unmatched(), 1);
        pairing.push(read(5, What::Issued));
        assert_eq!(
            (pairing.in_flight() == 0, pairing.unmatched()),
            (completed.is_some(), unmatched)
        );
        pairing.end();
        assert_eq!(pairing.pop().unwrap().io.completed, completed);
    }
}
