//! The computer that a published figure was measured with: no host asks for an I/O in no time.

use std::collections::VecDeque;

use serde::Deserialize;
use writecliff_device::{
    Completion, Device, DeviceError, DeviceInfo, DeviceTime, Io, Nanos, PrepareWatch, Purge,
    PurgeOutcome, Telemetry,
};

/// What a host adds to every I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HostCost {
    /// How long an I/O keeps its processor: one after the other.
    pub(super) time: Nanos,
    /// What it takes besides until the program knows that it is done: interrupt, scheduling.
    pub(super) latency: Nanos,
}

impl HostCost {
    /// Of a host that is never waited for.
    pub(super) const NONE: Self = Self { time: Nanos::ZERO, latency: Nanos::ZERO };
}

/// A desktop computer of the drives' time: system call and driver 5 us (fio's submission latency on
/// a SATA drive, <https://unix.stackexchange.com/questions/28358>); the AHCI command 6 us (Intel, in
/// <http://www.anandtech.com/show/7843>). With more, the fastest writes that were measured one at
/// a time (30,000 in a second) would leave the drive no time for its own part.
pub(super) const DESKTOP: HostCost =
    HostCost { time: Nanos::from_micros(5), latency: Nanos::from_micros(6) };

/// A drive in a computer that takes its time. I/Os in flight are those of the program: one that
/// the processor has not got to is not in the drive's queue yet.
pub(super) struct TestSystem<'a> {
    device: &'a mut dyn Device,
    cost: HostCost,
    processor_free: DeviceTime,
    /// I/Os on their way to the drive, each with when it gets there and when it was asked for.
    going: VecDeque<(DeviceTime, DeviceTime, Io)>,
    /// When those in the drive were asked for, and those on their way back.
    asked: Vec<(Io, DeviceTime)>,
    returning: VecDeque<Completion>,
    /// What the drive has just done.
    done: Vec<Completion>,
    now: DeviceTime,
}

impl<'a> TestSystem<'a> {
    pub(super) fn new(device: &'a mut dyn Device, cost: HostCost) -> Self {
        let now = device.now();
        Self {
            device,
            cost,
            processor_free: now,
            going: VecDeque::new(),
            asked: Vec::new(),
            returning: VecDeque::new(),
            done: Vec::new(),
            now,
        }
    }

    /// Hands what is due to the drive, which has been brought to this moment.
    fn hand_over(&mut self) -> Result<(), DeviceError> {
        while let Some((due, asked, io)) = self.going.front().copied() {
            if due > self.device.now() {
                break;
            }
            self.going.pop_front();
            self.asked.push((io, asked));
            self.device.submit(&[io])?;
        }
        Ok(())
    }

    /// Puts what the drive has done on its way back.
    fn take_back(&mut self) {
        for completion in &self.done {
            let place = self.asked.iter().position(|(io, _)| *io == completion.io);
            let asked = place.map_or(completion.submitted, |place| self.asked.swap_remove(place).1);
            let completed = completion.completed + self.cost.latency;
            self.returning.push_back(Completion { submitted: asked, completed, ..*completion });
        }
    }
}

impl Device for TestSystem<'_> {
    fn info(&self) -> &DeviceInfo {
        self.device.info()
    }

    fn now(&self) -> DeviceTime {
        self.now
    }

    fn announce(&mut self, upcoming: &[Io]) {
        self.device.announce(upcoming);
    }

    fn submit(&mut self, batch: &[Io]) -> Result<(), DeviceError> {
        for io in batch {
            self.device.info().check(io)?;
        }
        let depth = self.going.len() + self.asked.len() + self.returning.len() + batch.len();
        let most = self.device.info().queue_depth_max;
        assert!(depth <= most, "{depth} I/Os exceed the queue");
        for io in batch {
            self.processor_free = self.processor_free.max(self.now) + self.cost.time;
            self.going.push_back((self.processor_free, self.now, *io));
        }
        Ok(())
    }

    fn reap(&mut self, until: DeviceTime, done: &mut Vec<Completion>) -> Result<(), DeviceError> {
        loop {
            let back = self.returning.front().map(|completion| completion.completed);
            let due = self.going.front().map(|(due, ..)| *due);
            let next = [back, due].into_iter().flatten().min().unwrap_or(DeviceTime::MAX);
            if back == Some(next) && next <= until {
                self.now = next;
                while let Some(first) = self.returning.front().filter(|c| c.completed <= next) {
                    done.push(*first);
                    self.returning.pop_front();
                }
                return Ok(());
            }
            // The drive goes on to what comes next: an I/O that reaches it, or one that it completes.
            let to = next.min(until).max(self.device.now());
            self.done.clear();
            self.device.reap(to, &mut self.done)?;
            self.take_back();
            self.hand_over()?;
            if self.done.is_empty() && self.device.now() >= until {
                self.now = self.now.max(until);
                return Ok(());
            }
        }
    }

    fn purge(&mut self, how: Purge, watch: PrepareWatch<'_>) -> Result<PurgeOutcome, DeviceError> {
        let outcome = self.device.purge(how, watch)?;
        self.now = self.device.now();
        Ok(outcome)
    }

    fn telemetry(&mut self) -> Telemetry {
        self.device.telemetry()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use writecliff_device::{Bytes, conformance};
    use writecliff_sim::Build;

    fn tiny() -> Box<dyn Device> {
        writecliff_sim::load("tiny").unwrap().open("sim:tiny")
    }

    #[test]
    fn it_keeps_a_device_s_promises() {
        conformance::check(&mut TestSystem::new(tiny().as_mut(), DESKTOP));
    }

    /// How long each of `count` reads of an empty drive takes, all asked for at once.
    fn reads(device: &mut dyn Device, count: u64) -> Vec<Nanos> {
        let ios: Vec<Io> =
            (0..count).map(|nth| Io::read(Bytes::from_kib(4 * nth), Bytes::from_kib(4))).collect();
        device.submit(&ios).unwrap();
        let mut done = Vec::new();
        while done.len() < ios.len() {
            device.reap(DeviceTime::MAX, &mut done).unwrap();
        }
        done.iter().map(Completion::service_time).collect()
    }

    #[test]
    fn an_io_takes_the_host_s_time_and_latency_more_and_a_queue_no_more_than_its_time() {
        let alone = reads(tiny().as_mut(), 1)[0];
        let mut drive = tiny();
        let mut system = TestSystem::new(drive.as_mut(), DESKTOP);
        assert_eq!(reads(&mut system, 1), [alone + DESKTOP.time + DESKTOP.latency]);
        let slow = HostCost { time: Nanos::from_micros(100), ..DESKTOP };
        let mut drive = tiny();
        let queue = reads(&mut TestSystem::new(drive.as_mut(), slow), 8);
        assert_eq!(queue.last(), Some(&(slow.time * 8 + alone + slow.latency)));
    }
}
