//! Whether a job can be carried out on a drive, and where on it.

use std::fmt;
use std::ops::Range;

use writecliff_device::{Bytes, Operation};

use super::{Amount, Distribution, Job, Mix, Order, Pace, RandomShare, Zone};

/// A job that cannot be carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("job '{job}': {key} {got} is not possible: {reason}")]
pub struct JobError {
    /// The job.
    pub job: String,
    /// What to change.
    pub key: &'static str,
    /// What it was.
    pub got: String,
    /// Why it cannot be, and what can.
    pub reason: String,
}

/// The part of the drive that a job is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u64,
    pub(crate) length: u64,
    pub(crate) capacity: u64,
}

type Verdict = Result<(), (&'static str, String, String)>;

fn check_iops(key: &'static str, iops: u64) -> Verdict {
    let reason = "between 1 and 1000000000 I/Os a second can be asked for";
    holds((1..=1_000_000_000).contains(&iops), key, iops, reason)
}

/// As many as fio has.
const ZONES_MAX: usize = 256;

/// What is wrong with zones in any span.
fn check_zones(key: &'static str, zones: &[Zone]) -> Verdict {
    let count = zones.len();
    holds((1..=ZONES_MAX).contains(&count), key, count, "there are 1 to 256 zones")?;
    let is_hit = zones.iter().any(|zone| zone.ios > 0);
    holds(is_hit, key, "without I/Os", "at least one zone needs a share of them")?;
    let percent = |zone: &Zone| match zone.span {
        Amount::Percent(percent) => u64::from(percent),
        Amount::Bytes(_) => 0,
    };
    let sum: u64 = zones.iter().map(percent).sum();
    holds(sum <= 100, key, format!("of {sum} percent"), "they lie in the span, one after the other")
}

/// As many as a group can have series.
const COPIES_MAX: u32 = 256;

impl Job {
    /// Checks the job against a drive, before anything is done to it.
    ///
    /// # Errors
    /// [`JobError`] with what to change.
    pub fn check(&self, lba_size: Bytes, capacity: Bytes) -> Result<(), JobError> {
        self.check_itself()
            .and_then(|()| self.check_blocks(lba_size))
            .and_then(|()| self.check_place(lba_size, capacity))
            .map_err(|(key, got, reason)| JobError { job: self.name.clone(), key, got, reason })
    }

    /// What is wrong on any drive.
    fn check_itself(&self) -> Verdict {
        let mix = self.mix;
        let sum = u32::from(mix.read) + u32::from(mix.write) + u32::from(mix.trim);
        let at_least_one = [
            ("loops", u64::from(self.loops)),
            ("copies", u64::from(self.copies)),
            ("queue_depth", self.queue_depth as u64),
            ("number_ios", self.number_ios.unwrap_or(1)),
            ("flush_every", u64::from(self.flush_every.unwrap_or(1))),
        ];
        let shares = [
            ("compressible_percent", self.compressible_percent),
            ("duplicate_percent", self.duplicate_percent),
        ];
        holds(!self.name.is_empty(), "name", "''", "every job has a name of its own")?;
        holds(sum == 100, "mix", format!("of {sum} percent"), "the shares add up to 100")?;
        let is_one_sided = !self.trim_first || mix.write == 100;
        holds(is_one_sided, "trim_first", "with reads or trims", "it goes with mix.write = 100")?;
        for (key, count) in at_least_one {
            holds(count > 0, key, count, "at least 1 is needed")?;
        }
        holds(self.copies <= COPIES_MAX, "copies", self.copies, "at most 256 run at once")?;
        let RandomShare { read, write, trim } = self.random_percent;
        let random = [read, write, trim].map(|share| ("random_percent", share));
        for (key, share) in shares.into_iter().chain(random) {
            holds(share <= 100, key, share, "a share is at most 100 percent")?;
        }
        self.check_time()?;
        self.check_pace()?;
        self.check_distribution()
    }

    fn check_time(&self) -> Verdict {
        let runtime = self.runtime.map_or(0, |runtime| runtime.0);
        let is_timed = runtime > 0 || !self.time_based;
        holds(
            is_timed,
            "time_based",
            "without a runtime",
            "give the job a runtime such as \"60s\"",
        )?;
        let lasts = self.runtime.is_none() || runtime > 0;
        holds(lasts, "runtime", "0s", "a job without a limit in time has no runtime at all")?;
        match self.steady.map(|steady| steady.check()) {
            Some(Err((key, got, reason))) => holds(false, key, got, reason),
            _ => Ok(()),
        }
    }

    fn check_pace(&self) -> Verdict {
        let reason = "nothing would ever be done; leave it out to go as fast as the drive";
        match self.pace {
            Pace::Closed | Pace::Muse { .. } => Ok(()),
            Pace::Think { every, .. } => holds(every > 0, "pace.think.every", every, reason),
            Pace::Rate(rate) => holds(rate.0 > 0, "pace.rate", rate.exact(), reason),
            Pace::Scatter(rate) => holds(rate.0 > 0, "pace.scatter", rate.exact(), reason),
            Pace::Bursts { rate, every, .. } => {
                holds(rate.0 > 0, "pace.bursts.rate", rate.exact(), reason)?;
                holds(every > 0, "pace.bursts.every", every, reason)
            }
            Pace::Iops(iops) => check_iops("pace.iops", iops),
            Pace::Arrivals { iops, .. } => check_iops("pace.arrivals.iops", iops),
            Pace::Rates { read, write } => {
                holds(read.0.min(write.0) > 0, "pace.rates", "of zero", reason)?;
                let Mix { read, write, trim } = self.mix;
                let is_both = read > 0 && write > 0 && trim == 0 && !self.trim_first;
                let reason = "rates of reads and of writes are for a job of both";
                holds(is_both, "pace.rates", "beside this mix", reason)?;
                let reason = "give the job a runtime and time_based: its bytes would be shared";
                holds(self.time_based, "pace.rates", "without time_based", reason)
            }
        }
    }

    fn check_distribution(&self) -> Verdict {
        let (is_good, got, reason) = match self.distribution {
            Distribution::Uniform => return Ok(()),
            Distribution::Zoned(ref zones) => return check_zones("distribution.zoned", zones),
            Distribution::Shuffled(ref zones) => {
                return check_zones("distribution.shuffled", zones);
            }
            Distribution::Zipf(theta) => {
                (theta > 0.0 && theta <= 100.0, theta, "zipf takes a number above 0 and up to 100")
            }
            Distribution::Pareto(h) => {
                (h > 0.0 && h < 1.0, h, "pareto takes a number between 0 and 1")
            }
            Distribution::Normal(percent) => {
                (percent > 0.0 && percent <= 100.0, percent, "normal takes percent of the span")
            }
        };
        holds(is_good, "distribution", got, reason)
    }

    fn check_blocks(&self, lba_size: Bytes) -> Verdict {
        for operation in self.mix.operations() {
            let shares = self.block.of(operation).shares();
            holds(!shares.is_empty(), "block", "without a size", "give it one such as \"4KiB\"")?;
            for share in shares {
                whole_lbas("block", share.size, lba_size)?;
                holds(share.size.0 > 0, "block", "0B", "an I/O has a length")?;
            }
        }
        for (key, align) in [("align", self.align), ("offset_align", self.offset_align)] {
            let align = align.unwrap_or(lba_size);
            holds(align.0 > 0, key, "0B", "leave it out to align to the block")?;
            whole_lbas(key, align, lba_size)?;
        }
        Ok(())
    }

    fn check_place(&self, lba_size: Bytes, capacity: Bytes) -> Verdict {
        if let Some(Amount::Bytes(size)) = self.size {
            holds(size.0 > 0, "size", "0B", "leave it out to use the drive to its end")?;
        }
        for copy in 0..u64::from(self.copies) {
            let Some(span) = self.copy_span(copy, capacity) else {
                let end = self.end.unwrap_or(capacity).min(capacity);
                let reason = format!("the drive ends at {}", end.exact());
                return Err(("offset", self.offset.to_string(), reason));
            };
            whole_lbas("offset", Bytes(span.start), lba_size)?;
            let reason = format!(
                "from {} on, {} are left",
                Bytes(span.start).exact(),
                Bytes(capacity.0 - span.start).exact()
            );
            let fits = span.length <= capacity.0 - span.start;
            holds(fits, "size", Bytes(span.length).exact(), reason)?;
            self.check_room(span)?;
        }
        Ok(())
    }

    /// Every operation must find a place for its largest block. In order, blocks of one size may
    /// reach past the span's end, as [`super::places::Places::fits`] says.
    fn check_room(&self, span: Span) -> Verdict {
        let largest = self.io_size_max();
        let is_random = self.order == Order::Random;
        let has_one_size = self.all_sizes().min() == Some(largest);
        let room = match !is_random && has_one_size {
            true => span.capacity - span.start,
            false => span.length,
        };
        let fits = largest.0 <= room && span.length > 0;
        let reason = format!("it must fit into the {} there", Bytes(room).exact());
        holds(fits, "block", largest.exact(), reason)?;
        let align = self.align.unwrap_or(Bytes(1));
        let reason = "no multiple of it is within the span";
        holds(!is_random || align.0 <= span.length, "align", align.exact(), reason)?;
        match &self.distribution {
            Distribution::Zoned(zones) if is_random => {
                self.check_zones_in("distribution.zoned", zones, span)
            }
            Distribution::Shuffled(zones) if is_random => {
                self.check_zones_in("distribution.shuffled", zones, span)
            }
            _ => Ok(()),
        }
    }

    /// Every zone that is hit must have a place for a block.
    fn check_zones_in(&self, key: &'static str, zones: &[Zone], span: Span) -> Verdict {
        let aligns = self.all_sizes().map(|size| self.align.unwrap_or(size).0.max(1));
        for align in aligns {
            let count = span.length / align;
            for (zone, places) in zones.iter().zip(places_of(zones, span.length, align, count)) {
                let reason = format!("it has no place for a block of {}", Bytes(align).exact());
                holds(zone.ios == 0 || !places.is_empty(), key, zone.span, reason)?;
            }
        }
        Ok(())
    }

    /// The span of a job that [`Self::check`] found good.
    pub(crate) fn span(&self, capacity: Bytes) -> Option<Span> {
        self.copy_span(0, capacity)
    }

    /// Percentages are of the whole drive: of the offset rounded up to whole blocks, of the size
    /// rounded down, as in fio. None if the span begins beyond the drive's end.
    fn copy_span(&self, copy: u64, capacity: Bytes) -> Option<Span> {
        let block = self.all_sizes().min()?.0.max(1);
        let increment = self.offset_increment.of(capacity).0.checked_mul(copy)?;
        let mut start = self.offset.of(capacity).0.checked_add(increment)?;
        if matches!(self.offset, Amount::Percent(_)) {
            let align = self.offset_align.or(self.align);
            start = start.checked_next_multiple_of(align.map_or(block, |align| align.0.max(1)))?;
        }
        let on_drive = capacity.0.checked_sub(start)?;
        let rest = self.end.map_or(Some(on_drive), |end| end.0.checked_sub(start))?;
        let length = match self.size {
            None => rest,
            Some(size @ Amount::Bytes(_)) => size.of(capacity).0,
            Some(percent) => percent.of(capacity).0.min(rest) / block * block,
        };
        Some(Span { start, length, capacity: capacity.0 })
    }

    /// This copy alone: its own name, place and random numbers.
    pub(crate) fn copy(&self, copy: u32, seed: u64, capacity: Bytes) -> Self {
        let increment = self.offset_increment.of(capacity).0.saturating_mul(u64::from(copy));
        let mut job = self.clone();
        if increment > 0
            && let Some(span) = self.copy_span(u64::from(copy), capacity)
        {
            job.offset = Amount::Bytes(Bytes(span.start));
            job.size = Some(Amount::Bytes(Bytes(span.length)));
        }
        job.name = self.name_of(copy);
        Self { copies: 1, offset_increment: Amount::ZERO, seed: Some(seed), ..job }
    }
}

fn holds(
    is_good: bool,
    key: &'static str,
    got: impl fmt::Display,
    reason: impl Into<String>,
) -> Verdict {
    match is_good {
        true => Ok(()),
        // Display is for texts that are made in passing, and most are never looked at.
        false => Err((key, format!("{got}"), reason.into())),
    }
}

fn whole_lbas(key: &'static str, got: Bytes, lba_size: Bytes) -> Verdict {
    let below = Bytes(got.0 / lba_size.0.max(1) * lba_size.0);
    let nearest = match below.0 {
        0 => lba_size.exact(),
        _ => format!("{} or {}", below.exact(), Bytes(below.0.saturating_add(lba_size.0)).exact()),
    };
    let reason = || format!("the drive's LBAs have {}; the nearest is {nearest}", lba_size.exact());
    holds(got.is_multiple_of(lba_size), key, got.exact(), reason())
}

/// The operations as indices of arrays by operation; flushes have no place.
pub(crate) const PLACED: usize = 3;

const _: () = assert!((Operation::Trim as usize) < PLACED);
/// The places of each of these zones in a span of which every `align` bytes begin one, `count` in all.
pub(super) fn places_of(zones: &[Zone], span: u64, align: u64, count: u64) -> Vec<Range<u64>> {
    let mut end = 0_u64;
    let place = |byte: u64| byte.div_ceil(align).min(count);
    let zone = |zone: &Zone| {
        let start = end;
        end = end.saturating_add(zone.span.of(Bytes(span)).0).min(span);
        place(start)..place(end)
    };
    zones.iter().map(zone).collect()
}
