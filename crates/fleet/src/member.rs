//! A drive of a group: its queue, and its clock against that of the service.

use std::collections::VecDeque;

use writecliff_device::{
    Completion, Device, DeviceError, DeviceTime, Io, Nanos, Status, Telemetry,
};

/// A drive with what waits for it.
pub(crate) struct Member {
    device: Box<dyn Device>,
    depth: usize,
    /// Its clock when the service began, and what it said of itself.
    begin: DeviceTime,
    before: Telemetry,
    /// What it has no room for, in order.
    waiting: VecDeque<(Io, u32)>,
    /// The request of each I/O that it has, by slot.
    requests: Vec<u32>,
    free: Vec<u16>,
    in_flight: usize,
    done: Vec<Completion>,
    /// I/Os that it has been given.
    pub(crate) ios: u64,
    /// I/Os that it could not do.
    pub(crate) failed: u64,
}

/// A drive has done its part of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer {
    pub(crate) request: u32,
    /// From the beginning of the service.
    pub(crate) at: Nanos,
}

impl Member {
    pub(crate) fn new(mut device: Box<dyn Device>) -> Self {
        let (begin, before) = (device.now(), device.telemetry());
        let depth = device.info().queue_depth_max;
        Self {
            device,
            depth,
            begin,
            before,
            waiting: VecDeque::new(),
            requests: Vec::new(),
            free: Vec::new(),
            in_flight: 0,
            done: Vec::new(),
            ios: 0,
            failed: 0,
        }
    }

    /// What it said of itself when the service began, and what it says now.
    pub(crate) fn telemetry(&mut self) -> [Telemetry; 2] {
        [self.before, self.device.telemetry()]
    }

    /// Gives it an I/O for a request, at the time that its clock shows.
    pub(crate) fn submit(&mut self, io: Io, request: u32) -> Result<(), DeviceError> {
        self.ios += 1;
        self.waiting.push_back((io, request));
        self.go_on()
    }

    /// Hands over what there is room for.
    fn go_on(&mut self) -> Result<(), DeviceError> {
        while self.in_flight < self.depth
            && let Some((io, request)) = self.waiting.pop_front()
        {
            let slot = self.free.pop().unwrap_or_else(|| {
                self.requests.push(request);
                (self.requests.len() - 1) as u16
            });
            self.requests[usize::from(slot)] = request;
            self.device.submit(&[Io { slot, ..io }])?;
            self.in_flight += 1;
        }
        Ok(())
    }

    /// Lets its time pass up to `until`, or until it has nothing more to do if that is the end of time,
    /// and appends its answers.
    pub(crate) fn advance(
        &mut self,
        until: Nanos,
        answers: &mut Vec<Answer>,
    ) -> Result<(), DeviceError> {
        let end = DeviceTime(self.begin.0.saturating_add(until.0));
        while self.in_flight > 0 && self.device.now() < end {
            self.device.reap(end, &mut self.done)?;
            for Completion { io, completed, status, .. } in self.done.drain(..) {
                let request = self.requests[usize::from(io.slot)];
                self.free.push(io.slot);
                self.in_flight -= 1;
                self.failed += u64::from(status != Status::Done);
                answers.push(Answer { request, at: completed - self.begin });
            }
            self.go_on()?;
        }
        // With nothing in flight this is how to idle.
        if self.device.now() < end && until.0 < u64::MAX {
            self.device.reap(end, &mut self.done)?;
        }
        Ok(())
    }
}
