//! A drive of an array, and what waits for it.

use std::collections::VecDeque;

use slab::Slab;
use writecliff_device::{Completion, DeviceError, DeviceTime, Io};
use writecliff_sim::Model;

/// A drive with the host's queue before it.
pub(crate) struct Member {
    pub(crate) model: Box<dyn Model>,
    /// It failed, or was taken out: nothing is asked of it any more.
    pub(crate) is_dead: bool,
    /// It was in order when the array began: what it counts is the array's.
    pub(crate) is_there: bool,
    /// What the drive has, by slots: whose it is.
    in_flight: Slab<Part>,
    /// What it has no room for.
    waiting: VecDeque<(Io, Part)>,
}

/// Whose an I/O of a member is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    pub(crate) request: usize,
    /// It is read because another member could not give it.
    pub(crate) is_instead: bool,
}

impl Clone for Member {
    fn clone(&self) -> Self {
        Self {
            model: self.model.duplicate(),
            is_dead: self.is_dead,
            is_there: self.is_there,
            in_flight: self.in_flight.clone(),
            waiting: self.waiting.clone(),
        }
    }
}

impl Member {
    pub(crate) fn new(model: Box<dyn Model>, is_dead: bool) -> Self {
        let is_there = !is_dead;
        Self { model, is_dead, is_there, in_flight: Slab::default(), waiting: VecDeque::new() }
    }

    /// I/Os that it has, or that wait for it.
    pub(crate) fn load(&self) -> usize {
        self.in_flight.len() + self.waiting.len()
    }

    /// Gives the drive an I/O, now or when it has room.
    pub(crate) fn submit(&mut self, io: Io, part: Part) -> Result<(), DeviceError> {
        self.waiting.push_back((io, part));
        self.hand_over()
    }

    fn hand_over(&mut self) -> Result<(), DeviceError> {
        while self.in_flight.len() < self.model.info().queue_depth_max
            && let Some((io, part)) = self.waiting.pop_front()
        {
            let slot = self.in_flight.insert(part) as u16;
            self.model.submit(&[Io { slot, ..io }])?;
        }
        Ok(())
    }

    /// An I/O of its drive is complete: whose it was.
    pub(crate) fn take_back(&mut self, done: &Completion) -> Result<Part, DeviceError> {
        let part = self.in_flight.remove(usize::from(done.io.slot));
        self.hand_over()?;
        Ok(part)
    }

    /// Moves its clock there, with nothing in flight.
    pub(crate) fn idle_until(&mut self, moment: DeviceTime) -> Result<(), DeviceError> {
        let mut done = Vec::new();
        while self.model.now() < moment {
            self.model.reap(moment, &mut done)?;
        }
        Ok(())
    }
}
