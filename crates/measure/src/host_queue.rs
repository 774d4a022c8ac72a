//! The host's part of a queue: I/Os that the drive has no room for wait here, as they do in the
//! kernel, and go to it in their order as soon as it has completed others.
//!
//! Their latency counts from when they came here, as that of every program does that hands its I/Os
//! to the kernel. What a real drive cannot take waits in the kernel itself, up to what a ring holds.

use std::collections::VecDeque;

use writecliff_device::{Completion, Device, DeviceError, DeviceTime, Io};

/// A queue of any length before that of a drive.
#[derive(Debug)]
pub(crate) struct HostQueue {
    /// I/Os that the drive takes at once.
    drive_takes: usize,
    /// Those that it has.
    in_flight: usize,
    waiting: VecDeque<Queued>,
    /// Those that it has and that have waited here before.
    waited: Vec<Queued>,
}

#[derive(Debug, Clone, Copy)]
struct Queued {
    io: Io,
    since: DeviceTime,
}

impl HostQueue {
    /// Nothing in flight. Until [`begin`](Self::begin) everything waits.
    pub(crate) fn new() -> Self {
        Self { drive_takes: 0, in_flight: 0, waiting: VecDeque::new(), waited: Vec::new() }
    }

    /// Learns how much the drive takes.
    pub(crate) fn begin(&mut self, device: &dyn Device) {
        self.drive_takes = device.info().queue_depth_max;
    }

    /// I/Os that the drive has.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Hands the drive what it has room for; the rest waits.
    pub(crate) fn submit(
        &mut self,
        ios: &[Io],
        device: &mut dyn Device,
    ) -> Result<(), DeviceError> {
        let room = match self.waiting.is_empty() {
            true => self.drive_takes - self.in_flight,
            false => 0,
        };
        let (now, later) = ios.split_at(room.min(ios.len()));
        if !now.is_empty() {
            device.submit(now)?;
            self.in_flight += now.len();
        }
        if !later.is_empty() {
            let since = device.now();
            self.waiting.extend(later.iter().map(|&io| Queued { io, since }));
        }
        Ok(())
    }

    /// Hands the drive what has waited longest, as far as there is room by now. One at a time: a real
    /// drive does a trim while it is handed over.
    pub(crate) fn go_on(&mut self, device: &mut dyn Device) -> Result<(), DeviceError> {
        while self.in_flight < self.drive_takes
            && let Some(queued) = self.waiting.pop_front()
        {
            device.submit(&[queued.io])?;
            self.in_flight += 1;
            self.waited.push(queued);
        }
        Ok(())
    }

    /// When an I/O that the drive has completed came here. Of several equal I/Os in flight the one
    /// that came first counts as the first that is done.
    pub(crate) fn submitted(&self, completion: &Completion) -> DeviceTime {
        let queued = self.waited.iter().find(|queued| queued.io == completion.io);
        queued.map_or(completion.submitted, |queued| queued.since)
    }

    /// Takes note that the drive has completed it.
    pub(crate) fn completed(&mut self, completion: &Completion) {
        self.in_flight -= 1;
        let place = self.waited.iter().position(|queued| queued.io == completion.io);
        if let Some(place) = place {
            self.waited.remove(place);
        }
    }
}
