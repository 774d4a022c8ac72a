//! A placement group: the drives that hold the fragments of the same data, and the requests to them, in
//! exact order of time.
//!
//! A request is due at a time of its own, whatever the drives do. A read asks the drives that hold the
//! data of its place, and after the hedging time as many further ones as answers are missing; it is
//! served when it has as many answers as it takes to have the data. A write asks all drives and is
//! served when all have answered. A drive advances only when it is asked something or when somebody has
//! to know whether it has answered: what it does between is its own affair. Different groups have no
//! drive in common and never exchange anything, so that any number of them can run anywhere.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use writecliff_device::{Bytes, Device, DeviceError, Io, Nanos, Operation};
use writecliff_sweep::GoOn;

use crate::error::FleetError;
use crate::member::{Answer, Member};
use crate::requests::Due;

/// How a group keeps its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Fragments that hold the data; a request's bytes are divided among so many drives.
    pub(crate) data: usize,
    /// Further fragments; with one of data they are copies.
    pub(crate) parity: usize,
    /// After so long without enough answers a read asks further drives; `None` for never.
    pub(crate) hedge: Option<Nanos>,
    /// A part of the data that keeps its drives in the order of their turns.
    pub(crate) stripe: Bytes,
}

impl Layout {
    pub(crate) fn width(self) -> usize {
        self.data + self.parity
    }
}

/// A request that has been served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Served {
    pub(crate) operation: Operation,
    /// From the beginning of the service.
    pub(crate) due: Nanos,
    pub(crate) response: Nanos,
    /// The drive that it waited for.
    pub(crate) last: usize,
    pub(crate) hedged: bool,
}

/// A request that waits for answers.
#[derive(Debug)]
struct Request {
    io: Io,
    due: Nanos,
    /// Answers that it takes.
    needed: usize,
    /// The first of the drives that it asks; the others follow in turn.
    first: usize,
    /// Drives asked.
    asked: usize,
    answers: Vec<(Nanos, usize)>,
    hedged: bool,
}

impl Request {
    /// The drive that a request waited for which was served at this moment: of those that it asked at
    /// first the one that answered then, or the next to, where further ones were asked in its place. Of
    /// several that answered at one moment each is the one in turn.
    fn waited_for(&self, at: Nanos, width: usize) -> usize {
        let is_of_the_first = |drive: usize| (drive + width - self.first) % width < self.needed;
        let missing =
            |(answered, drive): &&(Nanos, usize)| *answered >= at && is_of_the_first(*drive);
        let moment = self.answers.iter().find(missing).map_or(at, |(answered, _)| *answered);
        let tied = self.answers.iter().filter(missing).filter(|(answered, _)| *answered == moment);
        let tied: Vec<usize> = tied.map(|(_, drive)| *drive).collect();
        tied[self.due.0 as usize % tied.len()]
    }
}

/// The drives of a group, and what is asked of them.
pub(crate) struct Group<'a> {
    layout: Layout,
    members: Vec<Member>,
    requests: Vec<Option<Request>>,
    free: Vec<u32>,
    /// Reads in the order of their hedging times, by their places and due times.
    hedges: VecDeque<(Nanos, u32, Nanos)>,
    answers: Vec<Answer>,
    serve: &'a mut dyn FnMut(Served),
}

impl<'a> Group<'a> {
    /// A group of these drives, whose service begins now by the clock of each.
    pub(crate) fn new(
        layout: Layout,
        devices: Vec<Box<dyn Device>>,
        serve: &'a mut dyn FnMut(Served),
    ) -> Self {
        let members = devices.into_iter().map(Member::new).collect();
        let (requests, free) = (Vec::new(), Vec::new());
        Self {
            layout,
            members,
            requests,
            free,
            hedges: VecDeque::new(),
            answers: Vec::new(),
            serve,
        }
    }

    /// Serves all of these, which come in the order of their due times, to the last answer; `false` if
    /// `go_on`, which is asked now and then, broke it off.
    pub(crate) fn run(
        &mut self,
        requests: impl Iterator<Item = Result<Due, FleetError>>,
        go_on: GoOn<'_>,
    ) -> Result<bool, FleetError> {
        const STRIDE: usize = 1 << 14;
        for (count, request) in requests.enumerate() {
            if count % STRIDE == 0 && go_on() == ControlFlow::Break(()) {
                return Ok(false);
            }
            let (due, io) = request?;
            self.hedge_until(due)?;
            self.begin(due, io)?;
        }
        self.hedge_until(Nanos(u64::MAX))?;
        for member in 0..self.members.len() {
            self.advance(member, Nanos(u64::MAX))?;
        }
        Ok(true)
    }

    pub(crate) fn into_members(self) -> Vec<Member> {
        self.members
    }

    fn begin(&mut self, due: Nanos, io: Io) -> Result<(), DeviceError> {
        let (width, data) = (self.layout.width(), self.layout.data);
        // Stripes take turns among the drives, as those of an array do.
        let first = (io.offset.0 / self.layout.stripe.0) as usize % width;
        let is_read = io.operation == Operation::Read;
        let asked = if is_read { data } else { width };
        let request = Request {
            io,
            due,
            needed: asked,
            first,
            asked,
            answers: Vec::with_capacity(width),
            hedged: false,
        };
        let place = self.put(request);
        for turn in 0..asked {
            self.ask((first + turn) % width, due, place)?;
        }
        if let Some(hedge) = self.layout.hedge.filter(|_| is_read && self.layout.parity > 0) {
            self.hedges.push_back((due + hedge, place, due));
        }
        Ok(())
    }

    /// Asks further drives for every read that has too few answers at its hedging time, up to `until`.
    fn hedge_until(&mut self, until: Nanos) -> Result<(), DeviceError> {
        while let Some(&(at, place, due)) = self.hedges.front()
            && at <= until
        {
            self.hedges.pop_front();
            let Some((first, asked)) = self.waiting(place, due) else { continue };
            let width = self.layout.width();
            for turn in 0..asked {
                self.advance((first + turn) % width, at)?;
            }
            // Its last answer may have come by now.
            let Some(request) = self.requests[place as usize].as_mut().filter(|r| r.due == due)
            else {
                continue;
            };
            let missing = request.needed.saturating_sub(request.answers.len());
            let further = missing.min(width - request.asked);
            request.asked += further;
            request.hedged = further > 0;
            for turn in asked..asked + further {
                self.ask((first + turn) % width, at, place)?;
            }
        }
        Ok(())
    }

    /// The drives that a request has asked, if it is still this one and waits.
    fn waiting(&self, place: u32, due: Nanos) -> Option<(usize, usize)> {
        let request = self.requests[place as usize].as_ref().filter(|r| r.due == due)?;
        Some((request.first, request.asked))
    }

    fn ask(&mut self, member: usize, at: Nanos, place: u32) -> Result<(), DeviceError> {
        self.advance(member, at)?;
        let Some(request) = &self.requests[place as usize] else { return Ok(()) };
        let data = self.layout.data as u64;
        let Io { offset, length, .. } = request.io;
        let (offset, length) = (Bytes(offset.0 / data), Bytes(length.0 / data));
        let io = Io { offset, length, ..request.io };
        self.members[member].submit(io, place)
    }

    /// Lets a drive's time pass up to `until`, and gives its answers to those who wait for them.
    fn advance(&mut self, member: usize, until: Nanos) -> Result<(), DeviceError> {
        let mut answers = std::mem::take(&mut self.answers);
        self.members[member].advance(until, &mut answers)?;
        for answer in answers.drain(..) {
            self.answered(member, answer);
        }
        self.answers = answers;
        Ok(())
    }

    fn answered(&mut self, member: usize, Answer { request: place, at }: Answer) {
        let Some(request) = self.requests[place as usize].as_mut() else { return };
        request.answers.push((at, member));
        if request.answers.len() < request.asked {
            return;
        }
        // Drives advance when they are asked, so that answers come in no order.
        request.answers.sort_unstable();
        let (at, _) = request.answers[request.needed - 1];
        let served = Served {
            operation: request.io.operation,
            due: request.due,
            response: Nanos(at.0 - request.due.0),
            last: request.waited_for(at, self.layout.width()),
            hedged: request.hedged,
        };
        (self.serve)(served);
        self.requests[place as usize] = None;
        self.free.push(place);
    }

    fn put(&mut self, request: Request) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.requests[place as usize] = Some(request);
                place
            }
            None => {
                self.requests.push(Some(request));
                (self.requests.len() - 1) as u32
            }
        }
    }
}
