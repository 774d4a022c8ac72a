//! The RAM in which a write is complete before it is in NAND.

use std::collections::VecDeque;

use writecliff_device::DeviceTime;

/// Slots of one mapping unit each. A slot is taken when a write is admitted and given back when
/// the NAND program that carries it has ended; a full buffer makes writes wait for that.
#[derive(Debug, Clone)]
pub(crate) struct BufferSlots {
    slots: u32,
    taken: u32,
    /// Writes are admitted in the order they come.
    last_admitted: DeviceTime,
    /// When each program under way will have ended, the first in front, and its slots.
    programs: VecDeque<(DeviceTime, u32)>,
}

impl BufferSlots {
    pub(crate) fn new(slots: u32) -> Self {
        Self { slots, taken: 0, last_admitted: DeviceTime::default(), programs: VecDeque::new() }
    }

    /// Takes `count` slots, each as soon as it is free, at `arrived` or later and not before the
    /// writes that came earlier; returns when the last of them was taken.
    ///
    /// # Panics
    /// If they can never be free: a program that is under way, or the write that asks, must
    /// account for all the others.
    pub(crate) fn admit(&mut self, arrived: DeviceTime, count: u32) -> DeviceTime {
        let mut admitted = arrived.max(self.last_admitted);
        while let Some(&(finished, slots)) = self.programs.front() {
            if finished > admitted && self.taken + count <= self.slots {
                break;
            }
            admitted = admitted.max(finished);
            self.taken -= slots;
            self.programs.pop_front();
        }
        self.taken += count;
        assert!(self.taken <= self.slots, "a full buffer with no program under way");
        self.last_admitted = admitted;
        admitted
    }

    /// Gives `slots` back at `finished`, when the program that carries them has ended.
    pub(crate) fn hold(&mut self, slots: u32, finished: DeviceTime) {
        // Programs end nearly in the order they were begun: the place is near the end.
        let mut place = self.programs.len();
        while place > 0 && self.programs[place - 1].0 > finished {
            place -= 1;
        }
        self.programs.insert(place, (finished, slots));
    }

    /// When everything that is being programmed at `now` will be in NAND.
    pub(crate) fn drained_at(&self, now: DeviceTime) -> DeviceTime {
        self.programs.back().map_or(now, |(finished, _)| now.max(*finished))
    }

    /// Forgets everything: the drive was erased, or its power went.
    pub(crate) fn clear(&mut self) {
        self.taken = 0;
        self.last_admitted = DeviceTime::default();
        self.programs.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_slot_admits_at_once_and_a_full_buffer_waits_for_the_oldest_program() {
        let mut buffer = BufferSlots::new(4);
        assert_eq!(buffer.admit(DeviceTime(10), 3), DeviceTime(10));
        assert_eq!(buffer.admit(DeviceTime(10), 1), DeviceTime(10));
        buffer.hold(2, DeviceTime(200));
        buffer.hold(2, DeviceTime(100));
        assert_eq!(buffer.admit(DeviceTime(20), 1), DeviceTime(100));
        assert_eq!(buffer.admit(DeviceTime(20), 1), DeviceTime(100), "not before the one ahead");
        assert_eq!(buffer.drained_at(DeviceTime(20)), DeviceTime(200));
        assert_eq!(buffer.admit(DeviceTime(300), 2), DeviceTime(300));
    }
}
