//! Things that do one thing at a time: a link, a processor, a channel, a die.

use std::collections::VecDeque;
use std::ops::Range;

use writecliff_device::{DeviceTime, Nanos};

/// A resource that serves requests strictly in the order they come: the firmware.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Fifo {
    free_at: DeviceTime,
}

impl Fifo {
    /// Serves `work` when the resource is free and the request is `ready`; returns its end.
    pub(crate) fn serve(&mut self, ready: DeviceTime, work: Nanos) -> DeviceTime {
        self.free_at = self.free_at.max(ready) + work;
        self.free_at
    }

    /// When it has served everything that came.
    pub(crate) fn free_at(&self) -> DeviceTime {
        self.free_at
    }
}

/// A shared bus that serves whatever is ready: a link, a channel.
///
/// Transfers are booked when their I/O is submitted, often long before their data are ready, and
/// a strict queue would let such a booking hold up others that could go first. So the bus only
/// sums up the work booked since it was last idle: nothing ends before all work booked ahead of it
/// could have been done, and an idle bus adds no wait.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Bus {
    booked_until: DeviceTime,
}

impl Bus {
    /// Books `work` at `now` for data that are ready at `ready`; returns its end.
    pub(crate) fn transfer(
        &mut self,
        now: DeviceTime,
        ready: DeviceTime,
        work: Nanos,
    ) -> DeviceTime {
        self.booked_until = self.booked_until.max(now) + work;
        self.booked_until.max(ready + work)
    }
}

/// How soon a read may interrupt what a die does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Suspension {
    /// The longest that it waits for what runs without pulses.
    pub(crate) wait: Nanos,
    /// What a program does at a stretch: a read waits for the end of it.
    pub(crate) program_pulse: Option<Nanos>,
    /// The same of an erase.
    pub(crate) erase_pulse: Option<Nanos>,
}

/// A NAND die: programs and erases in the order they come, reads ahead of those that still wait.
///
/// A read waits for the operation that runs when it comes, or until that is suspended, and for
/// reads before it; the programs it overtakes are delayed by it. Ends that were given out for them
/// before stay as they were: the delay falls on what comes later, so that no work is lost or done
/// twice.
///
/// Operations are booked when the work that they belong to is, often before their data are ready. What is
/// ready sooner goes into a gap before such bookings if it fits there.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub(crate) struct Die {
    busy_until: DeviceTime,
    /// When the first of `later` begins; never, if there is none.
    next: DeviceTime,
    /// When the last of them ends.
    last: DeviceTime,
    /// Bookings that begin later than `busy_until`, in order, with gaps between them.
    later: VecDeque<Range<DeviceTime>>,
    /// Where a search has found no gap between them.
    dense: Dense,
    reads_until: DeviceTime,
    /// Length of the program or erase queued last: those that wait are taken to be like it.
    operation: Nanos,
    /// When the erase booked last runs.
    erase: Range<DeviceTime>,
}

/// No gap in this time is long enough for this work. Bookings only make gaps shorter.
#[derive(Debug, Clone)]
struct Dense {
    times: Range<DeviceTime>,
    work: Nanos,
}

/// A search that passes so many bookings is worth being remembered.
const LONG_SEARCH: usize = 4;

impl Dense {
    /// Where to begin a search for a gap.
    fn pass(&self, begin: DeviceTime, work: Nanos) -> DeviceTime {
        if work >= self.work && self.times.contains(&begin) { self.times.end } else { begin }
    }

    /// A search for this work has passed so many bookings, and what it found is taken up to the end of `times`.
    fn searched(&mut self, times: Range<DeviceTime>, work: Nanos, passed: usize) {
        if work == self.work && self.times.contains(&times.start) {
            self.times.end = times.end;
        } else if passed >= LONG_SEARCH {
            *self = Self { times, work };
        }
    }
}

impl Default for Die {
    fn default() -> Self {
        let start = DeviceTime::default();
        Self {
            busy_until: start,
            next: DeviceTime::MAX,
            last: start,
            later: VecDeque::new(),
            dense: Dense { times: start..start, work: Nanos::ZERO },
            reads_until: start,
            operation: Nanos::ZERO,
            erase: start..start,
        }
    }
}

impl Die {
    /// Programs; returns its end.
    pub(crate) fn serve(&mut self, now: DeviceTime, ready: DeviceTime, work: Nanos) -> DeviceTime {
        self.operation = work;
        self.book(now, ready, work)
    }

    /// Erases; returns its end.
    pub(crate) fn erase(&mut self, now: DeviceTime, ready: DeviceTime, work: Nanos) -> DeviceTime {
        let end = self.serve(now, ready, work);
        self.erase = DeviceTime(end.0 - work.0)..end;
        end
    }

    /// Takes the first gap, after what has begun by `now`, that is long enough for this work; returns its end. A
    /// read that does so goes ahead of nothing.
    pub(crate) fn book(&mut self, now: DeviceTime, ready: DeviceTime, work: Nanos) -> DeviceTime {
        self.come_to(now);
        let begin = self.busy_until.max(ready);
        let end = begin + work;
        if begin < self.last {
            return self.book_between(begin, work);
        }
        match self.later.back_mut() {
            None if begin == self.busy_until => self.busy_until = end,
            Some(last) if last.end == begin => last.end = end,
            other => {
                if other.is_none() {
                    self.next = begin;
                }
                self.later.push_back(begin..end);
            }
        }
        self.last = end;
        end
    }

    /// The same of work that is ready before the last booking ends.
    fn book_between(&mut self, ready: DeviceTime, work: Nanos) -> DeviceTime {
        let mut begin = self.dense.pass(ready, work);
        let mut place = self.later.len();
        while place > 0 && self.later[place - 1].end > begin {
            place -= 1;
        }
        let first = place;
        while let Some(booked) = self.later.get(place)
            && begin + work > booked.start
        {
            begin = begin.max(booked.end);
            place += 1;
        }
        let end = begin + work;
        self.dense.searched(ready..end, work, place - first);
        match place.checked_sub(1).map(|before| &mut self.later[before]) {
            Some(before) if before.end == begin => before.end = end,
            None if begin == self.busy_until => self.busy_until = end,
            _ => {
                self.later.insert(place, begin..end);
                if place == 0 {
                    self.next = begin;
                }
            }
        }
        self.last = self.last.max(end);
        end
    }

    /// What was booked for a time up to `time` has begun.
    fn come_to(&mut self, time: DeviceTime) {
        while self.next <= time
            && let Some(booked) = self.later.pop_front()
        {
            let begin = self.busy_until.max(booked.start);
            if begin > booked.start && booked.contains(&self.erase.start) {
                let late = begin.since(booked.start);
                self.erase = self.erase.start + late..self.erase.end + late;
            }
            self.busy_until = begin + booked.end.since(booked.start);
            self.next = self.later.front().map_or(DeviceTime::MAX, |booked| booked.start);
        }
    }

    /// Reads ahead of waiting operations, and when the running one is at its end or suspended; returns its end.
    pub(crate) fn read(
        &mut self,
        ready: DeviceTime,
        read: Nanos,
        suspension: Suspension,
    ) -> DeviceTime {
        let earliest = ready.max(self.reads_until);
        self.come_to(earliest);
        let left = self.busy_until.since(earliest);
        let follows_a_read = earliest > ready;
        let wait = if follows_a_read || left == Nanos::ZERO {
            Nanos::ZERO
        } else {
            self.left_at(earliest, left, suspension)
        };
        self.reads_until = earliest + wait + read;
        self.delay(earliest, read);
        self.busy_until = earliest + left + read;
        self.reads_until
    }

    /// What is left of the operation that runs at `time`, or of it before a suspension.
    fn left_at(&self, time: DeviceTime, left: Nanos, suspension: Suspension) -> Nanos {
        let (left, pulse) = match self.erase.contains(&time) {
            true if suspension.erase_pulse.is_some() => {
                (self.erase.end.since(time), suspension.erase_pulse)
            }
            is_erase => {
                let pulse = suspension.program_pulse.filter(|_| !is_erase);
                (Nanos(left.0 % self.operation.0.max(1)), pulse)
            }
        };
        pulse.map_or(left.min(suspension.wait), |pulse| Nanos(left.0 % pulse.0.max(1)))
    }

    /// The erase booked last ends later, and begins later if it has not yet, for a read from `time` on.
    fn delay(&mut self, time: DeviceTime, read: Nanos) {
        if self.erase.end > time && self.erase.end <= self.busy_until {
            self.erase.end = self.erase.end + read;
            if self.erase.start > time {
                self.erase.start = self.erase.start + read;
            }
        }
    }

    /// The power went: whatever it was doing, it does no longer.
    pub(crate) fn stop(&mut self) {
        *self = Self::default();
    }
}

/// Reads of a die whose planes sense by themselves.
///
/// The die as a whole goes from programs to reads and back: what runs is waited for, or suspended,
/// by the first of the reads that overlap, and goes on after the last of them.
#[derive(Debug, Clone)]
pub(crate) struct PlaneReads {
    /// Since when planes of the die have been reading without a gap.
    since: DeviceTime,
    /// Until when each plane reads.
    until: Vec<DeviceTime>,
}

impl PlaneReads {
    pub(crate) fn new(planes: u32) -> Self {
        Self { since: DeviceTime::default(), until: vec![DeviceTime::default(); planes as usize] }
    }

    /// As [`Die::read`], on each of these planes when that is free; returns the last end.
    pub(crate) fn read(
        &mut self,
        die: &mut Die,
        planes: Range<u32>,
        ready: DeviceTime,
        read: Nanos,
        suspension: Suspension,
    ) -> DeviceTime {
        planes.fold(ready, |end, plane| {
            end.max(self.read_one(die, plane as usize, ready, read, suspension))
        })
    }

    fn read_one(
        &mut self,
        die: &mut Die,
        plane: usize,
        ready: DeviceTime,
        read: Nanos,
        suspension: Suspension,
    ) -> DeviceTime {
        let earliest = ready.max(self.until[plane]);
        let end = if earliest < die.reads_until {
            // Other planes read then: nothing else is in the way.
            let end = earliest.max(self.since) + read;
            let more = end.since(die.reads_until);
            die.delay(earliest, more);
            die.busy_until = die.busy_until + more;
            die.reads_until = die.reads_until.max(end);
            end
        } else {
            let end = die.read(ready, read, suspension);
            if earliest == ready {
                self.since = DeviceTime(end.0 - read.0);
            }
            end
        };
        self.until[plane] = end;
        end
    }

    /// All planes read together until `end`.
    pub(crate) fn read_together(&mut self, end: DeviceTime) {
        self.until.fill(end);
        self.since = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEVER: Suspension =
        Suspension { wait: Nanos(u64::MAX), program_pulse: None, erase_pulse: None };

    fn after(wait: u64) -> Suspension {
        Suspension { wait: Nanos(wait), ..NEVER }
    }

    #[test]
    fn a_fifo_serves_in_order_and_idles_until_work_is_ready() {
        let mut die = Fifo::default();
        assert_eq!(die.serve(DeviceTime(10), Nanos(5)), DeviceTime(15));
        assert_eq!(die.serve(DeviceTime(10), Nanos(5)), DeviceTime(20));
        assert_eq!(die.serve(DeviceTime(100), Nanos(5)), DeviceTime(105));
    }

    #[test]
    fn a_read_overtakes_waiting_programs_and_delays_them() {
        let (read, program) = (Nanos(50), Nanos(600));
        let mut die = Die::default();
        assert_eq!(die.read(DeviceTime(10), read, NEVER), DeviceTime(60));
        assert_eq!(die.read(DeviceTime(10), read, NEVER), DeviceTime(110));
        for end in [800, 1400, 2000] {
            assert_eq!(die.serve(DeviceTime(200), DeviceTime(200), program), DeviceTime(end));
        }
        // At 300 the first program runs until 800; two more wait.
        assert_eq!(die.read(DeviceTime(300), read, NEVER), DeviceTime(850));
        assert_eq!(die.read(DeviceTime(300), read, NEVER), DeviceTime(900));
        assert_eq!(die.serve(DeviceTime(300), DeviceTime(300), program), DeviceTime(2700));
    }

    #[test]
    fn what_is_booked_for_later_leaves_the_die_to_others_until_then() {
        let work = Nanos(100);
        let mut die = Die::default();
        let serve =
            |die: &mut Die, now, ready, work| die.serve(DeviceTime(now), DeviceTime(ready), work);
        assert_eq!(serve(&mut die, 0, 1000, work), DeviceTime(1100));
        assert_eq!(serve(&mut die, 0, 5000, work), DeviceTime(5100));
        assert_eq!(serve(&mut die, 0, 0, Nanos(900)), DeviceTime(900), "into the first gap");
        assert_eq!(serve(&mut die, 0, 0, work), DeviceTime(1000), "and fills it");
        assert_eq!(serve(&mut die, 0, 0, Nanos(4000)), DeviceTime(9100), "too long for any");
        assert_eq!(serve(&mut die, 0, 0, work), DeviceTime(1200), "into the second");
        // A read at 1500 finds nothing under way, one at 5010 the operation that runs until 5100.
        assert_eq!(die.read(DeviceTime(1500), Nanos(50), NEVER), DeviceTime(1550));
        assert_eq!(die.read(DeviceTime(5010), Nanos(50), after(20)), DeviceTime(5080));
    }

    #[test]
    fn what_a_search_remembers_changes_no_booking() {
        let works = [[300; 15].as_slice(), &[50, 700, 3000]].concat();
        let (mut die, mut forgetful, mut now, mut remembered) =
            (Die::default(), Die::default(), 0, 0);
        for step in 0..20_000 {
            let dice = writecliff_device::split_mix(step);
            let (ready, work) =
                (now + dice % 200_000, Nanos(works[(dice >> 32) as usize % works.len()]));
            forgetful.dense.times.end = forgetful.dense.times.start;
            remembered += u32::from(die.dense.times.contains(&DeviceTime(ready)));
            let book = |die: &mut Die| die.book(DeviceTime(now), DeviceTime(ready), work);
            assert_eq!(book(&mut die), book(&mut forgetful), "{step}");
            now += (dice >> 48) % 900;
        }
        assert!(remembered > 1000, "{remembered}");
    }

    #[test]
    fn a_read_waits_for_an_operation_as_long_as_the_one_queued_last() {
        let now = DeviceTime(0);
        let mut die = Die::default();
        die.serve(now, now, Nanos(4000));
        die.serve(now, now, Nanos(600));
        die.book(now, now, Nanos(50));
        // At 4,100 of 4,650: 550 are left, less than a program.
        assert_eq!(die.read(DeviceTime(4100), Nanos(50), NEVER), DeviceTime(4700));
        // Programs queued after an erase are waited for one at a time.
        for _ in 0..4 {
            die.serve(DeviceTime(4700), DeviceTime(4700), Nanos(600));
        }
        assert_eq!(die.read(DeviceTime(4800), Nanos(50), NEVER), DeviceTime(5350));
    }

    #[test]
    fn a_suspended_program_lets_a_read_in_and_ends_later() {
        let mut die = Die::default();
        assert_eq!(die.serve(DeviceTime(0), DeviceTime(0), Nanos(600)), DeviceTime(600));
        assert_eq!(die.read(DeviceTime(100), Nanos(50), after(20)), DeviceTime(170));
        assert_eq!(die.serve(DeviceTime(100), DeviceTime(100), Nanos(600)), DeviceTime(1250));
    }

    #[test]
    fn a_read_waits_for_the_pulse_of_a_program_and_not_of_an_erase() {
        let (now, read) = (DeviceTime(0), Nanos(50));
        let pulses = Suspension { program_pulse: Some(Nanos(200)), ..after(20) };
        let mut die = Die::default();
        die.serve(now, now, Nanos(600));
        assert_eq!(
            die.read(DeviceTime(130), read, pulses),
            DeviceTime(250),
            "the first ends at 200"
        );
        // 470 are left from 130 on, and 50 later: 370 from 280.
        assert_eq!(die.read(DeviceTime(280), read, pulses), DeviceTime(500));
        assert_eq!(die.serve(now, now, Nanos(600)), DeviceTime(1300), "and take no longer");
        let mut die = Die::default();
        die.erase(now, now, Nanos(4000));
        assert_eq!(die.read(DeviceTime(100), read, pulses), DeviceTime(170), "as soon as may be");
    }

    #[test]
    fn a_read_waits_for_the_pulse_of_an_erase_wherever_reads_have_moved_it() {
        let (now, read, program) = (DeviceTime(0), Nanos(50), Nanos(600));
        let pulses = Suspension { erase_pulse: Some(Nanos(1000)), ..after(20) };
        let mut die = Die::default();
        die.serve(now, now, program);
        assert_eq!(die.erase(now, now, Nanos(4000)), DeviceTime(4600));
        die.serve(now, now, program);
        assert_eq!(die.read(DeviceTime(100), read, pulses), DeviceTime(170), "the program");
        // The erase runs from 650 to 4,650: pulses end at 1,650, 2,650 and so on.
        assert_eq!(die.read(DeviceTime(1000), read, pulses), DeviceTime(1700));
        // And is resumed for as long.
        assert_eq!(die.read(DeviceTime(4400), read, pulses), DeviceTime(4750));
        assert_eq!(
            die.read(DeviceTime(4800), read, pulses),
            DeviceTime(4870),
            "the program behind it"
        );
        // Booked for later, and late.
        let mut die = Die::default();
        die.serve(now, now, Nanos(900));
        die.erase(now, DeviceTime(1000), Nanos(4000));
        for _ in 0..4 {
            die.read(DeviceTime(500), read, pulses);
        }
        // It begins at 1,100 in place of 1,000.
        assert_eq!(die.read(DeviceTime(1200), read, pulses), DeviceTime(2150));
    }

    #[test]
    fn planes_that_read_by_themselves_hold_a_program_up_together() {
        let (read, program, suspend) = (Nanos(50), Nanos(600), after(20));
        let (mut die, mut planes) = (Die::default(), PlaneReads::new(2));
        assert_eq!(die.serve(DeviceTime(0), DeviceTime(0), program), DeviceTime(600));
        let mut reads = |die: &mut Die, plane: u32, ready| {
            planes.read(die, plane..plane + 1, DeviceTime(ready), read, suspend)
        };
        // The program stands still from 120 to 220: for two reads on plane 0 and, from 140 to 190,
        // one on plane 1.
        assert_eq!(reads(&mut die, 0, 100), DeviceTime(170));
        assert_eq!(reads(&mut die, 0, 100), DeviceTime(220));
        assert_eq!(reads(&mut die, 1, 110), DeviceTime(170));
        assert_eq!(reads(&mut die, 1, 140), DeviceTime(220));
        assert_eq!(die.serve(DeviceTime(0), DeviceTime(0), program), DeviceTime(1300));
    }

    #[test]
    fn a_bus_lets_ready_data_pass_a_booking_far_ahead_but_never_exceeds_its_rate() {
        let mut bus = Bus::default();
        assert_eq!(bus.transfer(DeviceTime(0), DeviceTime(1000), Nanos(10)), DeviceTime(1010));
        assert_eq!(bus.transfer(DeviceTime(0), DeviceTime(50), Nanos(10)), DeviceTime(60));
        let last = (0..100).map(|_| bus.transfer(DeviceTime(0), DeviceTime(0), Nanos(10))).last();
        assert_eq!(last, Some(DeviceTime(1020)));
    }
}
