//! The I/Os of a job, one after the other.

use rand_xoshiro::Xoshiro256PlusPlus;
use writecliff_device::{Bytes, Content, Durability, Io, Operation};

use super::check::PLACED;
use super::places::Places;
use super::{Job, Mix};
use crate::random::{below, mixed, seeded};

/// A job's I/Os; made by [`Job::ios`].
#[derive(Debug, Clone)]
pub struct JobIos {
    mix: Mix,
    trim_first: bool,
    sizes: [SizeDraw; PLACED],
    content: Content,
    durability: Durability,
    places: Places,
    random: Xoshiro256PlusPlus,
    limits: Limits,
    done: Done,
    flushes: Flushes,
    /// The write that the trim before it has made room for.
    trimmed: Option<Io>,
    /// An I/O of each operation, but for its place, if that is all that is to be drawn: each has one
    /// size, and nothing has to be counted.
    plain: Option<[Io; PLACED]>,
    is_over: bool,
}

/// When a pass ends, and when the whole job does.
#[derive(Debug, Clone)]
struct Limits {
    /// A pass ends after this; then the job begins anew at its span's start, or ends.
    pass: u64,
    /// What `loops` is a multiple of.
    bytes: u64,
    /// Less than this is not worth another pass.
    io_size_max: u64,
    number_ios: Option<u64>,
    loops: u64,
    time_based: bool,
    /// Whether there are further passes while bytes that were asked for are missing.
    makes_up: bool,
}

/// What was done so far, in bytes as they count towards the limits.
#[derive(Debug, Clone, Default)]
struct Done {
    pass_bytes: u64,
    bytes: u64,
    ios: u64,
    passes: u64,
}

#[derive(Debug, Clone)]
struct Flushes {
    every: Option<u64>,
    at_end: bool,
    writes: u64,
    is_due: bool,
}

/// Sizes by their share of the 64-bit numbers.
#[derive(Debug, Clone, Default)]
struct SizeDraw {
    shares: Vec<(u64, u64)>,
    weights: u64,
}

impl Job {
    /// The I/Os, in order, on a drive of this capacity. Without a limit in bytes or number, as for
    /// a time-based job, they have no end.
    ///
    /// # Panics
    /// If the job is not possible on this drive: see [`Job::check`].
    pub fn ios(&self, lba_size: Bytes, capacity: Bytes) -> JobIos {
        if let Err(error) = self.check(lba_size, capacity) {
            panic!("{error}");
        }
        let span = self.span(capacity).expect("the job was checked");
        let seed = self.seed.unwrap_or(0);
        let mut sizes = [const { SizeDraw { shares: Vec::new(), weights: 0 } }; PLACED];
        for operation in self.mix.operations() {
            sizes[operation as usize] = SizeDraw::new(self, operation);
        }
        JobIos {
            mix: self.mix,
            trim_first: self.trim_first,
            sizes,
            content: self.content(),
            durability: self.durability,
            places: Places::new(self, span, mixed(seed, 0)),
            random: seeded(mixed(seed, 1)),
            limits: Limits::new(self, span.length),
            done: Done::default(),
            flushes: Flushes {
                every: self.flush_every.map(u64::from),
                at_end: self.flush_at_end && self.flushes(),
                writes: 0,
                is_due: false,
            },
            trimmed: None,
            plain: self
                .is_plain()
                .then(|| PLACED_OPERATIONS.map(|operation| self.unplaced(operation))),
            is_over: false,
        }
    }

    /// Whether nothing but time ends it, and its I/Os differ in operation and place only.
    fn is_plain(&self) -> bool {
        let has_one_size = |operation| self.block.of(operation).shares().len() == 1;
        let ends_by_time = self.time_based && self.number_ios.is_none();
        let is_alone = !self.trim_first && self.flush_every.is_none();
        ends_by_time && is_alone && self.mix.operations().all(has_one_size)
    }

    /// An I/O of this operation and of its first size, at no place yet.
    fn unplaced(&self, operation: Operation) -> Io {
        let length =
            self.block.of(operation).shares().first().map_or(Bytes::ZERO, |share| share.size);
        Io::new(operation, Bytes::ZERO, length)
            .with_content(self.content())
            .with_durability(self.durability)
    }
}

/// In the order of their numbers.
const PLACED_OPERATIONS: [Operation; PLACED] = [Operation::Read, Operation::Write, Operation::Trim];

impl Iterator for JobIos {
    type Item = Io;

    fn next(&mut self) -> Option<Io> {
        if self.is_over {
            return None;
        }
        if let Some(write) = self.trimmed.take_if(|_| !self.limits.ios_reached(&self.done)) {
            return Some(self.counted(write));
        }
        if self.limits.reached(&self.done) {
            return self.end();
        }
        if self.limits.pass_is_over(&self.done) && !self.begin_pass() {
            return self.end();
        }
        if std::mem::take(&mut self.flushes.is_due) {
            return Some(Io::flush());
        }
        match self.draw() {
            Some(io) => Some(self.counted(io)),
            None => self.end(),
        }
    }
}

impl JobIos {
    /// Appends the next `most` I/Os to `to`, fewer where the job ends: the same that they are one by
    /// one, at a third of the cost where nothing but operations and places differs.
    pub fn append(&mut self, to: &mut Vec<Io>, most: usize) {
        let Some(ios) = &self.plain else {
            return to.extend(self.take(most));
        };
        for _ in 0..most {
            let (operation, offset) =
                place_plain(self.mix, ios, &mut self.places, &mut self.random);
            to.push(Io { offset: Bytes(offset), ..ios[operation as usize] });
        }
    }

    fn end(&mut self) -> Option<Io> {
        self.is_over = true;
        self.flushes.at_end.then(Io::flush)
    }

    /// The next I/O, of a further pass if there is one; none at the job's end.
    fn draw(&mut self) -> Option<Io> {
        let operation = drawn_of(self.mix, &mut self.random);
        loop {
            if let Some(io) = self.place(operation) {
                let io = io.with_content(self.content).with_durability(self.durability);
                return Some(self.trim_before(io));
            }
            self.places.ran_out(operation);
            if self.limits.time_based {
                self.places.rewind(operation);
            } else if !self.begin_pass() {
                return None;
            }
        }
    }

    /// Where and how long; none where the span ends.
    fn place(&mut self, operation: Operation) -> Option<Io> {
        let sizes = &self.sizes[operation as usize];
        let offset = self.places.next(operation, &mut self.random)?;
        let is_only_size = sizes.shares.len() == 1;
        let fits = |length| self.places.fits(offset, length, is_only_size);
        let length = sizes.draw(fits, &mut self.random)?;
        self.places.taken(operation, offset, length);
        Some(Io::new(operation, Bytes(offset), Bytes(length)))
    }

    fn trim_before(&mut self, io: Io) -> Io {
        if !self.trim_first {
            return io;
        }
        self.trimmed = Some(io);
        Io::trim(io.offset, io.length)
    }

    /// Whether there is another pass. As in fio: so many as asked for, and then until the bytes
    /// asked for are done but for less than a block.
    fn begin_pass(&mut self) -> bool {
        self.done.passes += 1;
        self.done.pass_bytes = 0;
        self.places.restart();
        let missing = self.limits.bytes.saturating_sub(self.done.bytes);
        let makes_up = self.limits.makes_up && missing >= self.limits.io_size_max;
        self.done.passes < self.limits.loops || makes_up
    }

    /// A trim that precedes a write is not counted in bytes: both are the same block's.
    fn counted(&mut self, io: Io) -> Io {
        self.done.ios += 1;
        if !(self.trim_first && io.operation == Operation::Trim) {
            self.done.bytes += io.length.0;
            self.done.pass_bytes += io.length.0;
        }
        if io.operation == Operation::Write {
            self.flushes.writes += 1;
            let every = self.flushes.every;
            self.flushes.is_due = every.is_some_and(|n| self.flushes.writes.is_multiple_of(n));
        }
        io
    }
}

/// An operation by its share.
fn drawn_of(mix: Mix, random: &mut Xoshiro256PlusPlus) -> Operation {
    let number = below(random, 100) as u8;
    let is_no_read = usize::from(number >= mix.read);
    let is_trim = usize::from(number >= mix.read + mix.write);
    PLACED_OPERATIONS[is_no_read + is_trim]
}

/// The next operation and where, in a job that has no end and of which nothing else is drawn.
fn place_plain(
    mix: Mix,
    ios: &[Io; PLACED],
    places: &mut Places,
    random: &mut Xoshiro256PlusPlus,
) -> (Operation, u64) {
    let operation = drawn_of(mix, random);
    let length = ios[operation as usize].length.0;
    loop {
        if let Some(offset) = places.next(operation, random)
            && places.fits(offset, length, true)
        {
            places.taken(operation, offset, length);
            return (operation, offset);
        }
        places.ran_out(operation);
        places.rewind(operation);
    }
}

impl Limits {
    fn new(job: &Job, span: u64) -> Self {
        // As in fio: a pass that is random in part ends where it runs out of the span, not by its
        // bytes.
        let is_partly_random = job.is_partly_random();
        Self {
            pass: if is_partly_random { u64::MAX } else { span },
            bytes: job.io_size.map_or(span, |amount| amount.of(Bytes(span)).0),
            io_size_max: job.io_size_max().0,
            number_ios: job.number_ios.map(|ios| ios.saturating_mul(u64::from(job.loops))),
            loops: u64::from(job.loops),
            time_based: job.time_based,
            makes_up: !is_partly_random || job.io_size.is_some(),
        }
    }

    fn reached(&self, done: &Done) -> bool {
        let bytes = self.bytes.saturating_mul(self.loops);
        self.ios_reached(done) || (!self.time_based && done.bytes >= bytes)
    }

    fn ios_reached(&self, done: &Done) -> bool {
        self.number_ios.is_some_and(|ios| done.ios >= ios)
    }

    fn pass_is_over(&self, done: &Done) -> bool {
        !self.time_based && done.pass_bytes >= self.pass
    }
}

impl SizeDraw {
    fn new(job: &Job, operation: Operation) -> Self {
        let shares = job.block.of(operation).shares();
        let shares: Vec<_> = shares.iter().map(|s| (s.size.0, u64::from(s.weight))).collect();
        Self { weights: shares.iter().map(|(_, weight)| weight).sum(), shares }
    }

    /// A size by its weight among those that fit; none if none does.
    fn draw(&self, fits: impl Fn(u64) -> bool, random: &mut Xoshiro256PlusPlus) -> Option<u64> {
        if let [(size, _)] = self.shares[..] {
            return fits(size).then_some(size);
        }
        if !self.shares.iter().any(|(size, _)| fits(*size)) {
            return None;
        }
        loop {
            let size = self.pick(below(random, self.weights));
            if fits(size) {
                return Some(size);
            }
        }
    }

    fn pick(&self, mut number: u64) -> u64 {
        for (size, weight) in &self.shares {
            if number < *weight {
                return *size;
            }
            number -= weight;
        }
        unreachable!("the number is below the sum of the weights")
    }
}
