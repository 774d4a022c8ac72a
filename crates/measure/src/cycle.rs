//! The loop that everything is measured by: supply I/Os, collect them, cut time into seconds.
//!
//! It waits for nothing but the device. A real device may never answer: what has been in flight for
//! too long has failed in the second in which its time was up, and ends the run when it is late by
//! as much again.

use writecliff_device::{
    Completion, Device, DeviceError, DeviceKind, DeviceTime, InFlight, Nanos, Status,
};

use crate::error::RecordError;
use crate::failures::{UNANSWERED, UnansweredIo, Waiting};
use crate::recorder::{Counter, Second};
use crate::supply::Supply;
use crate::writer::Seconds;

const SECOND: Nanos = Nanos::from_secs(1);
/// So long a load that is broken off waits for what is in flight.
const LAST_WAIT: Nanos = Nanos::from_secs(5);
/// For so many seconds after the planned end of a load, what is in flight may come back uncounted,
/// if something does in each of them.
const UNCOUNTED_SECONDS: u32 = 5;

/// One load, or a thread's part of it, from its beginning to its end.
pub(crate) struct Cycle<'a, S, K> {
    device: &'a mut dyn Device,
    supply: S,
    counter: &'a mut Counter,
    sink: &'a mut K,
    io_timeout: Nanos,
    second: Second,
    end: DeviceTime,
    /// Counted as failed, and still in flight.
    late: Vec<InFlight>,
    done: Vec<Completion>,
}

/// When a load begins and ends, and how long one of its I/Os may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// `None` for when the supply is ready.
    pub(crate) start: Option<DeviceTime>,
    /// `None` for when the supply ends.
    pub(crate) duration: Option<Nanos>,
    pub(crate) io_timeout: Nanos,
}

impl<'a, S: Supply, K: Seconds> Cycle<'a, S, K> {
    pub(crate) fn new(
        device: &'a mut dyn Device,
        mut supply: S,
        times: Times,
        (counter, sink): (&'a mut Counter, &'a mut K),
    ) -> Self {
        supply.begin(device);
        let start = times.start.unwrap_or_else(|| device.now());
        let end = times.duration.map_or(DeviceTime::MAX, |duration| start + duration);
        let second = Second { index: 0, start, end: end.min(start + SECOND) };
        let (late, done, io_timeout) = (Vec::new(), Vec::with_capacity(64), times.io_timeout);
        Self { device, supply, counter, sink, io_timeout, second, end, late, done }
    }

    /// Runs the load to its end, and waits for what is in flight then; for a short time only if
    /// that end is not the planned one.
    pub(crate) fn run(mut self) -> Result<(), RecordError> {
        let ended = self.go();
        if ended.is_err() && self.is_real() {
            self.give_up();
        }
        ended
    }

    fn is_real(&self) -> bool {
        match self.device.info().kind {
            DeviceKind::Simulated => false,
            DeviceKind::BlockDevice
            | DeviceKind::File
            | DeviceKind::Directory
            | DeviceKind::Null => true,
        }
    }

    fn go(&mut self) -> Result<(), RecordError> {
        while let Some(next) = self.supply.fill(self.device)? {
            self.turn(next)?;
            if self.device.now() >= self.end {
                break;
            }
        }
        // What completed in the very moment that a second began has that moment for a sample.
        let at_least = self.second.start + Nanos(u64::from(self.counter.is_open()));
        let stopped = self.device.now().min(self.end).max(at_least);
        if stopped > self.second.start {
            self.second.end = stopped;
            self.close()?;
        }
        match self.is_real() {
            false => Ok(drain(self.device, self.supply.in_flight())?),
            true => self.settle(),
        }
    }

    /// Waits for completions up to the second's end, or to `next`, and counts them.
    fn turn(&mut self, next: DeviceTime) -> Result<(), RecordError> {
        self.reap(next)?;
        for index in 0..self.done.len() {
            let completion = self.done[index];
            while completion.completed >= self.second.end && self.second.end < self.end {
                self.close()?;
            }
            if completion.completed < self.end {
                self.observe(&completion);
            }
            self.supply.completed(&completion);
        }
        while self.device.now() >= self.second.end && self.second.end < self.end {
            self.close()?;
        }
        Ok(())
    }

    fn reap(&mut self, next: DeviceTime) -> Result<(), RecordError> {
        if self.sink.is_stopped() {
            return Err(RecordError::Interrupted);
        }
        self.done.clear();
        Ok(self.device.reap(self.second.end.min(next), &mut self.done)?)
    }

    /// Counts a completion, unless it comes after it was counted as failed.
    fn observe(&mut self, completion: &Completion) {
        if !self.late.is_empty() && self.take_late(completion) {
            return;
        }
        self.supply.observe(completion, self.counter);
    }

    fn take_late(&mut self, completion: &Completion) -> bool {
        let Completion { io, submitted, .. } = *completion;
        let place = self.late.iter().position(|late| *late == InFlight { io, submitted });
        place.map(|place| self.late.swap_remove(place)).is_some()
    }

    /// Hands the second that is open to who writes and shows it, and begins the next.
    fn close(&mut self) -> Result<(), RecordError> {
        let telemetry = self.device.telemetry();
        let (waiting, given_up) = self.look_at_what_waits();
        self.supply.end_second(self.second.end, self.counter);
        self.counter.end_series(|series| self.supply.is_over(series));
        let (counter, second) = (&mut *self.counter, &self.second);
        self.sink.take(|finished| counter.end_second(second, telemetry, waiting, finished))?;
        if let Some(io) = given_up {
            return Err(RecordError::Unanswered { io });
        }
        self.begin_second(self.end);
        Ok(())
    }

    fn begin_second(&mut self, end: DeviceTime) {
        let (index, start) = (self.second.index + 1, self.second.end);
        self.second = Second { index, start, end: end.min(start + SECOND) };
    }

    /// What has been in flight for a second or longer; counts as failed what ran out of its time in
    /// the second that ends now, and gives what is late by as much again.
    fn look_at_what_waits(&mut self) -> (Waiting, Option<UnansweredIo>) {
        let now = self.second.end;
        let before = |span: Nanos| DeviceTime(now.0.saturating_sub(span.0));
        let waits = self.device.in_flight_since(before(SECOND));
        let longest = waits.first().map_or(Nanos::ZERO, |oldest| now.since(oldest.submitted));
        let timeout = self.io_timeout;
        for late in waits.iter().filter(|waits| waits.submitted < before(timeout)) {
            if !self.late.contains(late) {
                let &InFlight { io, submitted } = late;
                let (completed, status) = (submitted + timeout, Status::Failed(UNANSWERED));
                self.counter.observe(&Completion { io, submitted, completed, status });
                self.late.push(*late);
            }
        }
        let waiting = Waiting { ios: waits.len(), longest, late: self.late.len() };
        let given_up = waits.first().filter(|oldest| oldest.submitted < before(timeout * 2));
        let lba_size = self.counter.lba_size();
        (waiting, given_up.map(|oldest| UnansweredIo::new(oldest, lba_size, longest)))
    }

    /// Waits for what is in flight when the load's time is up. As long as it keeps coming back, it
    /// belongs to no second; a second in which nothing does is one of the load, and so are those
    /// after it, until all is back and counted.
    fn settle(&mut self) -> Result<(), RecordError> {
        self.second = Second { end: self.second.start + SECOND, ..self.second };
        self.end = DeviceTime::MAX;
        let mut uncounted = UNCOUNTED_SECONDS;
        while uncounted > 0 && self.supply.in_flight() > 0 {
            let mut came = false;
            while self.device.now() < self.second.end && self.supply.in_flight() > 0 {
                self.reap(DeviceTime::MAX)?;
                came |= !self.done.is_empty();
                self.done.iter().for_each(|completion| self.supply.completed(completion));
            }
            uncounted = if came { uncounted - 1 } else { 0 };
            if came && uncounted > 0 {
                self.second =
                    Second { start: self.second.end, end: self.second.end + SECOND, ..self.second };
            }
        }
        let is_over = self.supply.in_flight() == 0;
        while self.supply.in_flight() > 0 {
            self.turn(DeviceTime::MAX)?;
        }
        if !is_over && self.device.now() > self.second.start {
            self.second.end = self.device.now().min(self.second.end);
            self.close()?;
        }
        Ok(())
    }
}

impl<S: Supply, K> Cycle<'_, S, K> {
    /// Lets what is in flight come back, so that it is not the next one's; whoever asked for the end
    /// does not wait for a drive that hangs.
    fn give_up(&mut self) {
        let until = self.device.now() + LAST_WAIT;
        let mut in_flight = self.supply.in_flight();
        while in_flight > 0 && self.device.now() < until {
            self.done.clear();
            if self.device.reap(until, &mut self.done).is_err() {
                return;
            }
            in_flight = in_flight.saturating_sub(self.done.len());
        }
    }
}

/// Waits for what is still in flight; its completions belong to no second.
pub(crate) fn drain(device: &mut dyn Device, mut in_flight: usize) -> Result<(), DeviceError> {
    let mut done = Vec::new();
    while in_flight > 0 {
        let until = device.now() + SECOND;
        device.reap(until, &mut done)?;
        in_flight -= done.len();
        done.clear();
    }
    Ok(())
}
