//! Where the next I/O goes.

use std::ops::Range;

use rand_distr::{Distribution as _, Normal, Zipf};
use rand_xoshiro::Xoshiro256PlusPlus;
use writecliff_device::Operation;

use super::check::{PLACED, Span, places_of};
use super::{Distribution, Job, Order, Zone};
use crate::permutation::Permutation;
use crate::random::{below, fraction, mixed};

/// The way through a span, for all operations of a job.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    span: Span,
    way: Way,
    passes: u64,
    seed: u64,
}

#[derive(Debug, Clone)]
enum Way {
    /// Each operation has a position of its own, relative to the span's start.
    Sequential([u64; PLACED]),
    /// Every block of the span once, in an order that all operations share.
    Once { order: Permutation, next: u64, block: u64 },
    /// Drawn anew each time, by operation.
    Drawn(Box<[Option<Drawn>; PLACED]>),
}

/// Random places of one operation: multiples of `align`, each with room for the smallest block. A
/// share of the I/Os goes on where the last one ended.
#[derive(Debug, Clone)]
struct Drawn {
    law: Law,
    align: u64,
    /// Which place is which favourite; the uniform law has none.
    scatter: Permutation,
    random_percent: u8,
    /// Where the last I/O ended.
    end: u64,
    /// The next I/O is at the span's beginning, as the one before it was to be behind its end.
    begins_anew: bool,
}

/// Each with its weight; none that is never hit.
type Zones = Vec<(u32, Range<u64>)>;

#[derive(Debug, Clone)]
enum Law {
    Uniform,
    Zipf(Zipf<f64>),
    /// The exponent of an even number between 0 and 1.
    Pareto(f64),
    Normal(Normal<f64>),
    /// Places of each zone, by weight.
    Zoned(Zones),
    /// Numbers of favourites of each zone, by weight.
    Shuffled(Zones),
}

impl Places {
    /// For a job that fits the span.
    pub(crate) fn new(job: &Job, span: Span, seed: u64) -> Self {
        let way = match job.order {
            Order::Sequential => Way::Sequential([0; PLACED]),
            Order::Random if job.visits_once() => {
                let block = job.io_size_max().0;
                Way::Once { order: Permutation::new(span.length / block, seed), next: 0, block }
            }
            Order::Random => Way::Drawn(Box::new(drawn(job, span, seed))),
        };
        Self { span, way, passes: 0, seed }
    }

    /// A place for an I/O of this operation, in bytes from the drive's beginning; None at the end
    /// of the span.
    #[inline]
    pub(crate) fn next(
        &mut self,
        operation: Operation,
        random: &mut Xoshiro256PlusPlus,
    ) -> Option<u64> {
        let relative = match &mut self.way {
            Way::Sequential(positions) => {
                let position = positions[operation as usize];
                (position < self.span.length).then_some(position)?
            }
            Way::Once { order, next, block } => {
                let index = (*next < order.count()).then_some(*next)?;
                *next += 1;
                order.at(index) * *block
            }
            Way::Drawn(drawn) => {
                drawn[operation as usize].as_mut()?.next(self.span.length, random)?
            }
        };
        Some(self.span.start + relative)
    }

    /// Takes note of how long the I/O became.
    #[inline]
    pub(crate) fn taken(&mut self, operation: Operation, offset: u64, length: u64) {
        let end = offset + length - self.span.start;
        match &mut self.way {
            Way::Sequential(positions) => positions[operation as usize] = end,
            Way::Once { .. } => {}
            Way::Drawn(drawn) => {
                drawn[operation as usize].iter_mut().for_each(|drawn| drawn.end = end);
            }
        }
    }

    /// Takes note that there was no room for an I/O: one that goes on where the last one ended
    /// begins anew.
    pub(crate) fn ran_out(&mut self, operation: Operation) {
        if let Way::Drawn(drawn) = &mut self.way
            && let Some(drawn) = &mut drawn[operation as usize]
        {
            drawn.begins_anew = drawn.random_percent < 100;
        }
    }

    /// Whether an I/O may be so long at this place. As in fio, blocks of one size may begin within
    /// the span and end beyond it, so that a span is covered whole; never beyond the drive.
    #[inline]
    pub(crate) fn fits(&self, offset: u64, length: u64, is_only_size: bool) -> bool {
        let is_sequential = matches!(self.way, Way::Sequential(_));
        let end = match is_only_size && is_sequential {
            true => self.span.capacity,
            false => self.span.start + self.span.length,
        };
        offset + length <= end
    }

    /// Begins anew, in another order if there is one.
    pub(crate) fn restart(&mut self) {
        self.passes += 1;
        match &mut self.way {
            Way::Sequential(positions) => *positions = [0; PLACED],
            Way::Once { order, next, .. } => {
                *order = Permutation::new(order.count(), mixed(self.seed, self.passes));
                *next = 0;
            }
            Way::Drawn(_) => {}
        }
    }

    /// Begins anew for one operation where each has a position of its own.
    pub(crate) fn rewind(&mut self, operation: Operation) {
        match &mut self.way {
            Way::Sequential(positions) => positions[operation as usize] = 0,
            Way::Once { .. } | Way::Drawn(_) => self.restart(),
        }
    }
}

fn drawn(job: &Job, span: Span, seed: u64) -> [Option<Drawn>; PLACED] {
    let mut places = [const { None }; PLACED];
    for operation in job.mix.operations() {
        let sizes = job.block.of(operation).shares();
        let smallest = sizes.iter().map(|share| share.size.0).min().unwrap_or(1);
        let align = job.align.map_or(smallest, |align| align.0);
        let room = span.length - smallest.saturating_sub(align);
        // All operations have the same favourites, as far as their blocks are alike.
        let scatter = Permutation::new(room / align, seed);
        let by_weight = |zones: &[Zone]| -> Zones {
            let places = places_of(zones, span.length, align, scatter.count());
            let weights = zones.iter().map(|zone| zone.ios);
            weights.zip(places).filter(|(ios, _)| *ios > 0).collect()
        };
        let law = match &job.distribution {
            Distribution::Zoned(zones) => Law::Zoned(by_weight(zones)),
            Distribution::Shuffled(zones) => Law::Shuffled(by_weight(zones)),
            other => Law::new(other, scatter.count()),
        };
        let random_percent = job.random_percent.of(operation);
        let (end, begins_anew) = (0, false);
        places[operation as usize] =
            Some(Drawn { law, align, scatter, random_percent, end, begins_anew });
    }
    places
}

impl Law {
    /// # Panics
    /// If the job's distribution was not checked, or has zones.
    fn new(distribution: &Distribution, count: u64) -> Self {
        let count = count as f64;
        match *distribution {
            Distribution::Uniform => Self::Uniform,
            Distribution::Zoned(_) | Distribution::Shuffled(_) => {
                unreachable!("zones are places already")
            }
            Distribution::Zipf(theta) => {
                Self::Zipf(Zipf::new(count, theta).expect("the exponent was checked"))
            }
            // A number x between 0 and 1, to this power, is below h with probability 1 - h.
            Distribution::Pareto(h) => Self::Pareto(h.ln() / (1.0 - h).ln()),
            Distribution::Normal(percent) => {
                let deviation = count * percent / 100.0;
                Self::Normal(Normal::new(count / 2.0, deviation).expect("it was checked"))
            }
        }
    }

    /// How much of a favourite the drawn place is: the first is 0.
    fn draw(&self, count: u64, random: &mut Xoshiro256PlusPlus) -> u64 {
        let rank = match self {
            Self::Uniform => return below(random, count),
            Self::Zoned(zones) | Self::Shuffled(zones) => {
                let all: u64 = zones.iter().map(|(ios, _)| u64::from(*ios)).sum();
                let mut drawn = below(random, all);
                for (ios, places) in zones {
                    match drawn.checked_sub(u64::from(*ios)) {
                        Some(rest) => drawn = rest,
                        None => return places.start + below(random, places.end - places.start),
                    }
                }
                unreachable!("what was drawn is below the sum")
            }
            Self::Zipf(zipf) => zipf.sample(random) as u64 - 1,
            Self::Pareto(power) => (count as f64 * fraction(random).powf(*power)) as u64,
            Self::Normal(normal) => loop {
                let place = normal.sample(random);
                if (0.0..count as f64).contains(&place) {
                    break place as u64;
                }
            },
        };
        rank.min(count - 1)
    }
}

impl Drawn {
    /// None if the I/O was to begin behind the span's end.
    fn next(&mut self, span: u64, random: &mut Xoshiro256PlusPlus) -> Option<u64> {
        if std::mem::take(&mut self.begins_anew) {
            return Some(0);
        }
        let goes_on =
            self.random_percent < 100 && below(random, 100) >= u64::from(self.random_percent);
        match goes_on {
            true => (self.end < span).then_some(self.end),
            false => Some(self.draw(random)),
        }
    }

    fn draw(&self, random: &mut Xoshiro256PlusPlus) -> u64 {
        let rank = self.law.draw(self.scatter.count(), random);
        let place = match self.law {
            Law::Uniform | Law::Zoned(_) => rank,
            Law::Zipf(_) | Law::Pareto(_) | Law::Normal(_) | Law::Shuffled(_) => {
                self.scatter.at(rank)
            }
        };
        place * self.align
    }
}
