//! The array itself: requests in, pieces to members, completions out, on the members' clock.
//!
//! ```text
//! submit            a request for each I/O; what must wait for others claims its rows
//!  └ start          its plan: what is read and written now, what is written behind that
//! reap              all members to the next moment at which one of them has something
//!  └ take_back      a piece is done; the last one that was read starts what waited for it
//!     └ finish      all of them are; what waited for these rows starts
//! ```

use std::collections::VecDeque;
use std::ops::Range;

use slab::Slab;
use writecliff_device::{
    Bytes, Completion, Device, DeviceError, DeviceInfo, DeviceTime, Durability, Energy, Held, Io,
    Nanos, Operation, PrepareWatch, Purge, PurgeOutcome, Stamping, Status, Telemetry,
};
use writecliff_sim::{Contents, Forgets, Stamps};

use crate::claims::Claims;
use crate::layout::{Layout, Place};
use crate::member::{Member, Part};
use crate::past;
use crate::plan::{Lost, Piece, Plan, View, plan, rebuild, reconstruct};
use crate::rebuild::Rebuild;

/// What the system answers to a trim that a drive does not have: `EOPNOTSUPP` of Linux.
const NOT_SUPPORTED: i32 = 95;
/// What fails where too many members are missing: an input/output error.
const INPUT_OUTPUT: i32 = 5;
/// Rows that share parity are claimed in whole pages of this size.
const PAGE: u64 = 4096;

/// Drives as one.
#[derive(Clone)]
pub(crate) struct Array {
    info: DeviceInfo,
    layout: Layout,
    members: Vec<Member>,
    /// Bytes of a superblock of its members.
    superblock: Bytes,
    rebuild: Option<Rebuild>,
    now: DeviceTime,
    requests: Slab<Request>,
    claims: Claims,
    /// I/Os of the host under way.
    in_flight: usize,
    finished: VecDeque<Completion>,
    /// What members have completed, each with whose it is, and one member's; empty but in `advance`.
    reaped: (Vec<(usize, Completion)>, Vec<Completion>),
    host_written: Bytes,
    stamps: Option<Box<Stamps>>,
}

/// An I/O of the host, or a step of the rebuild.
#[derive(Clone)]
struct Request {
    io: Io,
    submitted: DeviceTime,
    /// The bytes that are made anew, of a step of the rebuild.
    step: Option<Range<u64>>,
    /// Claims that it waits for.
    waits_for: usize,
    reads_left: usize,
    pieces_left: usize,
    /// Writes that wait for the reads.
    after: Vec<Piece>,
    /// All members are flushed behind its writes.
    flushes: bool,
    status: Status,
}

/// How the members are, to whoever plans.
struct Members<'a> {
    all: &'a [Member],
    rebuild: Option<&'a Rebuild>,
}

impl View for Members<'_> {
    fn is_missing(&self, member: usize, at: u64) -> bool {
        let is_rebuilt_later = self.of(member).is_some_and(|rebuild| !rebuild.has(at));
        self.all[member].is_dead || is_rebuilt_later
    }

    fn end_of_present(&self, member: usize, range: &Range<u64>) -> u64 {
        match self.of(member) {
            _ if self.all[member].is_dead => range.start,
            Some(rebuild) if !rebuild.is_complete() => {
                rebuild.frontier().clamp(range.start, range.end)
            }
            _ => range.end,
        }
    }

    fn load(&self, member: usize) -> usize {
        self.all[member].load()
    }
}

impl Members<'_> {
    fn of(&self, member: usize) -> Option<&Rebuild> {
        self.rebuild.filter(|rebuild| rebuild.member == member)
    }
}

impl Array {
    /// Of drives that are as new, with their pasts before them.
    ///
    /// # Errors
    /// If a drive cannot go on.
    pub(crate) fn new(
        info: DeviceInfo,
        layout: Layout,
        members: Vec<Member>,
        superblock: Bytes,
        rebuild: Option<Rebuild>,
    ) -> Result<Self, DeviceError> {
        let mut array = Self {
            info,
            layout,
            members,
            superblock,
            rebuild,
            now: DeviceTime::default(),
            requests: Slab::default(),
            claims: Claims::default(),
            in_flight: 0,
            finished: VecDeque::new(),
            reaped: (Vec::new(), Vec::new()),
            host_written: Bytes::ZERO,
            stamps: None,
        };
        array.give_pasts()?;
        Ok(array)
    }

    /// Every drive but the first gets one, but for the one that is new; then they have one time again.
    fn give_pasts(&mut self) -> Result<(), DeviceError> {
        let all = self.members.len();
        let new = self.rebuild.as_ref().map(|rebuild| rebuild.member);
        for (number, member) in self.members.iter_mut().enumerate() {
            if Some(number) != new && !member.is_dead {
                past::give(&mut *member.model, self.superblock, (number, all))?;
            }
        }
        let times = self.members.iter().map(|member| member.model.now());
        self.now = times.max().unwrap_or_default();
        self.members.iter_mut().try_for_each(|member| member.idle_until(self.now))
    }

    fn view(&self) -> Members<'_> {
        Members { all: &self.members, rebuild: self.rebuild.as_ref() }
    }

    fn is_rebuilding(&self) -> bool {
        self.rebuild.as_ref().is_some_and(|rebuild| !rebuild.is_complete())
    }

    /// Takes an I/O of the host.
    fn take(&mut self, io: Io) -> Result<(), DeviceError> {
        if io.operation == Operation::Write {
            self.host_written += io.length;
            self.clear_stamps_of_empty(&io);
        }
        self.in_flight += 1;
        let number = self.requests.insert(Request::new(io, self.now, None));
        if let Some((rows, changes)) = self.rows_claimed(&io) {
            self.requests[number].waits_for = self.claims.add(number, rows, changes);
        }
        self.start_if_free(number)
    }

    /// The rows that an I/O must have for itself, and whether it changes them: parity that is computed of
    /// them, and what is being rebuilt, must not change meanwhile.
    fn rows_claimed(&self, io: &Io) -> Option<(Range<u64>, bool)> {
        let (has_parity, changes) =
            (self.layout.parities > 0, matches!(io.operation, Operation::Write | Operation::Trim));
        let has_missing = self.is_rebuilding() || self.members.iter().any(|member| member.is_dead);
        let must_claim = match io.operation {
            Operation::Flush => false,
            Operation::Write => has_parity || self.is_rebuilding(),
            Operation::Trim => !has_parity && self.is_rebuilding(),
            Operation::Read => has_missing,
        };
        must_claim.then(|| {
            let rows = self.layout.rows(&(io.offset.0..io.offset.0 + io.length.0));
            (rows.start / PAGE * PAGE..rows.end.next_multiple_of(PAGE), changes)
        })
    }

    /// Begins as many steps of the rebuild as may be under way.
    fn feed_rebuild(&mut self) -> Result<(), DeviceError> {
        while let Some(step) = self.rebuild.as_mut().and_then(Rebuild::next_step) {
            let io = Io::write(Bytes(step.start), Bytes(step.end - step.start));
            let number = self.requests.insert(Request::new(io, self.now, Some(step.clone())));
            self.requests[number].waits_for = self.claims.add(number, step, true);
            self.start_if_free(number)?;
        }
        Ok(())
    }

    fn start_if_free(&mut self, number: usize) -> Result<(), DeviceError> {
        if self.requests[number].waits_for > 0 {
            return Ok(());
        }
        let plan = self.plan(number);
        let flushes_alone = !self.writes_reach_all();
        let request = &mut self.requests[number];
        let Ok(Plan { reads, at_once, after }) = plan else {
            request.status = Status::Failed(INPUT_OUTPUT);
            return self.finish(number);
        };
        if request.io.operation == Operation::Trim && self.layout.parities > 0 {
            request.status = Status::Failed(NOT_SUPPORTED);
        }
        request.flushes = request.io.durability == Durability::Flushed && flushes_alone;
        request.after = after;
        self.issue(number, &reads, false)?;
        self.issue(number, &at_once, false)?;
        self.go_on(number)
    }

    fn plan(&mut self, number: usize) -> Result<Plan, Lost> {
        let request = self.requests[number].clone();
        match (&request.step, request.io.operation) {
            (Some(step), _) => {
                let target = self.rebuild.as_ref().map_or(0, |rebuild| rebuild.member);
                rebuild(&self.layout, target, step, &self.view())
            }
            (None, Operation::Flush) => Ok(Plan { at_once: self.flushes(), ..Plan::default() }),
            (None, Operation::Trim) if self.layout.parities > 0 => Ok(Plan::default()),
            _ => plan(&self.layout, &request.io, &self.view()),
        }
    }

    /// Whether every member that there is has a part of every write.
    fn writes_reach_all(&self) -> bool {
        self.layout.copies == self.members.len()
    }

    fn flushes(&self) -> Vec<Piece> {
        let there = (0..self.members.len()).filter(|member| !self.members[*member].is_dead);
        let (operation, content) = (Operation::Flush, Io::flush().content);
        there.map(|member| Piece { member, operation, range: 0..0, content }).collect()
    }

    /// Hands pieces of a request to their members.
    fn issue(
        &mut self,
        number: usize,
        pieces: &[Piece],
        is_instead: bool,
    ) -> Result<(), DeviceError> {
        let request = &mut self.requests[number];
        let durability = match request.io.durability {
            Durability::Flushed if request.flushes => Durability::Later,
            other => other,
        };
        request.pieces_left += pieces.len();
        let is_read = |piece: &&Piece| piece.operation == Operation::Read;
        request.reads_left += pieces.iter().filter(is_read).count();
        for piece in pieces {
            let io = piece.io().with_durability(durability);
            self.members[piece.member].submit(io, Part { request: number, is_instead })?;
        }
        Ok(())
    }

    /// What a request can do now: write what it has read for, flush what it has written, or end.
    fn go_on(&mut self, number: usize) -> Result<(), DeviceError> {
        let request = &mut self.requests[number];
        if request.reads_left == 0 && !request.after.is_empty() {
            let after = std::mem::take(&mut request.after);
            return self.issue(number, &after, false);
        }
        if request.pieces_left > 0 {
            return Ok(());
        }
        if std::mem::take(&mut request.flushes) {
            return self.issue(number, &self.flushes(), false);
        }
        self.finish(number)
    }

    /// All of a request is done. What waited for its rows begins.
    fn finish(&mut self, number: usize) -> Result<(), DeviceError> {
        let request = self.requests.remove(number);
        match &request.step {
            Some(step) => {
                if let Some(rebuild) = &mut self.rebuild {
                    rebuild.finish(step, self.now);
                }
            }
            None => {
                self.in_flight -= 1;
                let Request { io, submitted, status, .. } = request;
                let completion = Completion { io, submitted, completed: self.now, status };
                self.note_stamps(&completion);
                self.finished.push_back(completion);
            }
        }
        for waiting in self.claims.release(number) {
            self.requests[waiting].waits_for -= 1;
            self.start_if_free(waiting)?;
        }
        match request.step {
            Some(_) => self.feed_rebuild(),
            None => Ok(()),
        }
    }

    /// A member has done a piece.
    fn take_back(&mut self, member: usize, done: &Completion) -> Result<(), DeviceError> {
        let Part { request: number, is_instead } = self.members[member].take_back(done)?;
        let is_read = done.io.operation == Operation::Read;
        if let Status::Failed(errno) = done.status
            && !self.makes_good(number, member, done, is_instead)?
        {
            self.requests[number].status = Status::Failed(errno);
        }
        let request = &mut self.requests[number];
        request.pieces_left -= 1;
        request.reads_left -= usize::from(is_read);
        self.go_on(number)
    }

    /// As md does: what a member cannot read is computed from the others, and a member that does not
    /// write is taken out, where there is enough without it. Whether that is so.
    fn makes_good(
        &mut self,
        number: usize,
        member: usize,
        done: &Completion,
        is_instead: bool,
    ) -> Result<bool, DeviceError> {
        let range = done.io.offset.0..done.io.offset.0 + done.io.length.0;
        match done.io.operation {
            Operation::Read if !is_instead => {
                let mut reads = Vec::new();
                let is_lost = reconstruct(&self.layout, member, &range, &self.view(), &mut reads);
                if is_lost.is_err() {
                    return Ok(false);
                }
                self.issue(number, &reads, true)?;
                Ok(true)
            }
            Operation::Write => {
                let is_enough = self.members[member].is_dead || self.can_do_without(member);
                self.members[member].is_dead |= is_enough;
                if let Some(rebuild) = self.rebuild.as_mut().filter(|new| new.member == member) {
                    rebuild.stop();
                }
                Ok(is_enough)
            }
            _ => Ok(false),
        }
    }

    /// Whether every byte is somewhere without this member.
    fn can_do_without(&self, member: usize) -> bool {
        let new = self.rebuild.as_ref().filter(|rebuild| !rebuild.is_complete());
        let new = new.map(|rebuild| rebuild.member);
        self.is_enough(|other| other == member || Some(other) == new || self.members[other].is_dead)
    }

    /// Whether every byte is somewhere without those that are missing.
    fn is_enough(&self, is_missing: impl Fn(usize) -> bool) -> bool {
        let all = 0..self.members.len();
        match self.layout.parities {
            0 => all
                .step_by(self.layout.copies)
                .all(|first| (first..first + self.layout.copies).any(|copy| !is_missing(copy))),
            parities => all.filter(|member| is_missing(*member)).count() <= parities,
        }
    }

    /// Units that hold nothing have no stamps of before, when only a part of them is written.
    fn clear_stamps_of_empty(&mut self, io: &Io) {
        let Some(mut stamps) = self.stamps.take() else { return };
        let unit = self.unit().0;
        let units = io.offset.0 / unit..(io.offset.0 + io.length.0).div_ceil(unit);
        units.map(|unit| unit as u32).filter(|unit| !self.holds(*unit)).for_each(|unit| {
            stamps.clear(unit);
        });
        self.stamps = Some(stamps);
    }

    /// Stamped blocks that were written are known, and those that were read are looked at.
    fn note_stamps(&mut self, done: &Completion) {
        let Completion { io, status: Status::Done, .. } = done else { return };
        let Some(mut stamps) = self.stamps.take() else { return };
        match io.operation {
            Operation::Write => stamps.write(io),
            Operation::Read if io.stamp.is_some() => {
                let unit = self.unit().0;
                stamps.look(io, |byte| self.holds((byte / unit) as u32));
            }
            _ => {}
        }
        self.stamps = Some(stamps);
    }

    /// Moves all members to the next moment at which one of them has something, and at most to `until`.
    fn advance(&mut self, until: DeviceTime) -> Result<(), DeviceError> {
        let next = self.members.iter().filter_map(|member| member.model.next_event()).min();
        let to = self.now.max(next.unwrap_or(DeviceTime::MAX).min(until));
        let (mut reaped, mut done) = std::mem::take(&mut self.reaped);
        for (number, member) in self.members.iter_mut().enumerate() {
            loop {
                member.model.reap(to, &mut done)?;
                reaped.extend(done.drain(..).map(|done| (number, done)));
                if member.model.now() >= to {
                    break;
                }
            }
        }
        self.now = to;
        reaped.sort_by_key(|(_, done)| done.completed);
        for (member, done) in &reaped {
            self.take_back(*member, done)?;
        }
        reaped.clear();
        self.reaped = (reaped, done);
        Ok(())
    }

    /// Waits for the steps of a rebuild that are under way; then it is where it was before its first.
    fn forget_rebuild(&mut self) -> Result<(), DeviceError> {
        let Some(rebuild) = &mut self.rebuild else { return Ok(()) };
        rebuild.stop();
        let anew = rebuild.anew();
        while !self.requests.is_empty() {
            self.advance(DeviceTime::MAX)?;
        }
        self.rebuild = Some(anew);
        Ok(())
    }

    /// Whether a member would give back a unit at this place of its own.
    fn member_holds(&self, member: usize, at: u64) -> bool {
        self.members[member].model.holds((at / self.unit().0) as u32)
    }
}

impl Request {
    fn new(io: Io, submitted: DeviceTime, step: Option<Range<u64>>) -> Self {
        Self {
            io,
            submitted,
            step,
            waits_for: 0,
            reads_left: 0,
            pieces_left: 0,
            after: Vec::new(),
            flushes: false,
            status: Status::Done,
        }
    }
}

impl Device for Array {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> DeviceTime {
        self.now
    }

    fn announce(&mut self, upcoming: &[Io]) {
        for io in upcoming {
            let Place { stripe, column, row } = self.layout.place(io.offset.0);
            let member = self.layout.member_of(stripe, column);
            let offset = Bytes(stripe * self.layout.chunk + row);
            self.members[member].model.announce(&[Io { offset, ..*io }]);
        }
    }

    fn submit(&mut self, batch: &[Io]) -> Result<(), DeviceError> {
        batch.iter().try_for_each(|io| self.info.check(io))?;
        let depth = self.in_flight + batch.len();
        assert!(depth <= self.info.queue_depth_max, "{depth} I/Os exceed the queue");
        batch.iter().try_for_each(|io| self.take(*io))?;
        if self.is_rebuilding() && !batch.is_empty() {
            let now = self.now;
            self.rebuild.iter_mut().for_each(|rebuild| rebuild.begin(now));
            self.feed_rebuild()?;
        }
        Ok(())
    }

    fn reap(&mut self, until: DeviceTime, done: &mut Vec<Completion>) -> Result<(), DeviceError> {
        while self.finished.is_empty() {
            self.advance(until)?;
            if self.now >= until {
                break;
            }
        }
        done.extend(self.finished.drain(..));
        Ok(())
    }

    fn purge(&mut self, how: Purge, watch: PrepareWatch<'_>) -> Result<PurgeOutcome, DeviceError> {
        assert!(self.in_flight == 0, "purged with I/Os in flight");
        if !self.info.purges.contains(&how) {
            return Err(DeviceError::PurgeUnsupported {
                address: self.info.address.clone(),
                how,
                supported: self.info.purges.clone(),
            });
        }
        self.forget_rebuild()?;
        for member in &mut self.members {
            member.model.purge(how, watch)?;
        }
        self.give_pasts()?;
        Ok(PurgeOutcome { how, sampled: 0, still_readable: 0 })
    }

    fn telemetry(&mut self) -> Telemetry {
        let there = self.members.iter_mut().filter(|member| member.is_there);
        let told: Vec<Telemetry> = there.map(|member| member.model.telemetry()).collect();
        let sum = |of: fn(&Telemetry) -> Option<u64>| told.iter().map(of).sum::<Option<u64>>();
        let most = |of: fn(&Telemetry) -> Option<u64>| told.iter().filter_map(of).max();
        Telemetry {
            host_written: Some(self.host_written),
            nand_written: sum(|told| told.nand_written.map(|bytes| bytes.0)).map(Bytes),
            free_blocks: sum(|told| told.free_blocks),
            erases: sum(|told| told.erases),
            energy: sum(|told| told.energy.map(|energy| energy.0)).map(Energy),
            temperature: told.iter().filter_map(|told| told.temperature).max(),
            throttled: most(|told| told.throttled.map(|time| time.0)).map(Nanos),
            wear_permille: most(|told| told.wear_permille),
            retired_blocks: sum(|told| told.retired_blocks),
            lost_pages: sum(|told| told.lost_pages),
            lost_dies: told.iter().filter_map(|told| told.lost_dies).reduce(|all, one| all + one),
            rebuild: self.rebuild.as_ref().map(|rebuild| rebuild.progress(self.now)),
            ..Telemetry::default()
        }
    }

    fn stamp(&mut self, stamping: Stamping) -> bool {
        self.stamps = Some(Box::new(Stamps::new(stamping, self.unit(), self.info.capacity)));
        true
    }

    fn take_held(&mut self, held: &mut Vec<Held>) {
        if let Some(stamps) = &mut self.stamps {
            stamps.take(held);
        }
    }
}

impl Contents for Array {
    fn unit(&self) -> Bytes {
        self.members[0].model.unit()
    }

    fn real_capacity(&self) -> Bytes {
        self.info.capacity
    }

    fn forgets(&self) -> Forgets {
        match self.layout.parities {
            0 => self.members[0].model.forgets(),
            _ => Forgets::Nothing,
        }
    }

    fn compresses(&self) -> bool {
        self.members[0].model.compresses()
    }

    /// What a missing member had counts as held where its stripe's parity is, of which it can be computed;
    /// what is being written counts from the moment at which the host asked for it.
    fn holds(&self, unit: u32) -> bool {
        let address = u64::from(unit) * self.unit().0;
        let is_written = |request: &Request| {
            let Io { operation, offset, length, .. } = request.io;
            let is_write = operation == Operation::Write && request.step.is_none();
            is_write && offset.0 < address + self.unit().0 && address < offset.0 + length.0
        };
        if self.requests.iter().any(|(_, request)| is_written(request)) {
            return true;
        }
        let Place { stripe, column, row } = self.layout.place(address);
        let at = stripe * self.layout.chunk + row;
        let view = self.view();
        let has_it = |member: &usize| !view.is_missing(*member, at);
        let first = self.layout.member_of(stripe, column);
        let copies = (first..first + self.layout.copies).filter(has_it);
        // One that was rebuilt holds what nobody wrote, or what was trimmed before, as zeros.
        let is_rebuilt = |member: &usize| view.of(*member).is_some();
        if let Some(copy) = copies.min_by_key(is_rebuilt) {
            return self.member_holds(copy, at);
        }
        let parities = (0..self.layout.parities).map(|nth| self.layout.parity_of(stripe, nth));
        parities.filter(has_it).any(|member| self.member_holds(member, at))
    }

    /// Where no copy of it can be read, and so many others of its stripe cannot that it cannot be computed.
    fn has_lost(&self, unit: u32) -> bool {
        let Place { stripe, column, row } = self.layout.place(u64::from(unit) * self.unit().0);
        let at = stripe * self.layout.chunk + row;
        let view = self.view();
        let number = (at / self.unit().0) as u32;
        let cannot = |member: &usize| {
            view.is_missing(*member, at) || self.members[*member].model.has_lost(number)
        };
        let first = self.layout.member_of(stripe, column);
        let is_lost = (first..first + self.layout.copies).all(|copy| cannot(&copy));
        let of_stripe = || (0..self.members.len()).filter(cannot).count();
        match self.layout.parities {
            0 => is_lost,
            parities => is_lost && of_stripe() > parities,
        }
    }

    fn takes_writes(&self) -> bool {
        self.is_enough(|member| {
            let Member { model, is_dead, .. } = &self.members[member];
            *is_dead || !model.takes_writes()
        })
    }

    fn next_event(&self) -> Option<DeviceTime> {
        if !self.finished.is_empty() {
            return Some(self.now);
        }
        self.members.iter().filter_map(|member| member.model.next_event()).min()
    }
}

#[cfg(test)]
#[path = "array_tests.rs"]
mod tests;
