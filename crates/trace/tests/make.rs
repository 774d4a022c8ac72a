//! Made traces, counted independently: every published figure, and what must hold of any trace.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, VecDeque};

use writecliff_device::Operation;
use writecliff_trace::{Maker, Plan, TraceIo};

/// What the reviews print, in the order of this table's columns; `None` where they do not.
struct Published {
    plan: &'static str,
    reads: u64,
    writes: u64,
    read_gigabytes: Option<f64>,
    written_gigabytes: Option<f64>,
    /// Percent of all operations of 4, 16, 32 and 64 KiB.
    sizes: Option<[f64; 4]>,
    sequential_percent: Option<f64>,
    mean_queue_depth: Option<f64>,
    at_depth_1_percent: Option<f64>,
}

/// "AnandTech Storage Bench 2011" in the reviews since 2011: Heavy's and Light's operations and
/// sizes, Heavy's order and queue. "The Destroyer, Specs" in the review of the Crucial M500, 2013:
/// the Destroyer, and Heavy's bytes.
const PUBLISHED: [Published; 3] = [
    Published {
        plan: "heavy-2011",
        reads: 2_168_893,
        writes: 1_783_447,
        read_gigabytes: Some(48.63),
        written_gigabytes: Some(106.32),
        sizes: Some([28.0, 10.0, 10.0, 4.0]),
        sequential_percent: Some(42.0),
        mean_queue_depth: Some(4.625),
        at_depth_1_percent: Some(59.0),
    },
    Published {
        plan: "light-2011",
        reads: 372_630,
        writes: 459_709,
        read_gigabytes: None,
        written_gigabytes: None,
        sizes: Some([27.0, 8.0, 6.0, 5.0]),
        sequential_percent: None,
        mean_queue_depth: None,
        at_depth_1_percent: None,
    },
    Published {
        plan: "destroyer-2013",
        reads: 38_830_000,
        writes: 10_980_000,
        read_gigabytes: Some(1583.02),
        written_gigabytes: Some(875.62),
        sizes: None,
        sequential_percent: None,
        mean_queue_depth: Some(5.5),
        at_depth_1_percent: None,
    },
];

/// A trace, counted without any of the product's statistics.
#[derive(Default)]
struct Tally {
    ios: [u64; 2],
    bytes: [u64; 2],
    sizes: BTreeMap<u64, u64>,
    sequential: u64,
    depth_sum: u64,
    alone: u64,
    depth_max: u32,
    depth_before: u32,
    streams: BTreeMap<u16, u64>,
    /// Operations that follow one of another stream without the queue having emptied.
    beside: u64,
    last: Option<TraceIo>,
    /// For reads and writes, where runs ended: the one added to last in front.
    ends: [VecDeque<u64>; 2],
}

impl Tally {
    /// Counts a trace, and asserts what holds of every operation of a made one.
    fn of(maker: Maker, plan: &Plan) -> Self {
        let mut tally = Self::default();
        for io in maker {
            tally.check(&io, plan);
            tally.add(&io);
        }
        tally
    }

    fn check(&self, io: &TraceIo, plan: &Plan) {
        assert!(io.offset + io.length <= plan.device_size, "past the end: {io:?}");
        assert!(io.offset.is_multiple_of(plan.alignment), "{io:?}");
        assert!(io.length.is_multiple_of(plan.alignment) && io.length.0 > 0, "{io:?}");
        let depth = io.queue_depth.unwrap();
        let possible = 1..=(self.depth_before + 1).min(plan.target.queue_depth_max);
        assert!(possible.contains(&depth), "after depth {}: {io:?}", self.depth_before);
        assert_eq!(io.content.is_some(), io.operation == Operation::Write);
        assert_eq!(io.completed, None, "nobody knows when it completed");
        assert!(usize::from(io.stream) < plan.scenario.len());
        assert!(self.last.is_none_or(|last| last.issued <= io.issued), "{io:?}");
    }

    fn add(&mut self, io: &TraceIo) {
        let kind = match io.operation {
            Operation::Read => 0,
            Operation::Write => 1,
            other => panic!("{other:?}"),
        };
        let depth = io.queue_depth.unwrap();
        let ends = &mut self.ends[kind];
        match ends.iter().position(|end| *end == io.offset.0) {
            Some(index) => {
                self.sequential += 1;
                ends.remove(index);
            }
            None if ends.len() == 32 => drop(ends.pop_back()),
            None => {}
        }
        ends.push_front(io.end().0);
        self.ios[kind] += 1;
        self.bytes[kind] += io.length.0;
        *self.sizes.entry(io.length.0).or_default() += 1;
        self.depth_sum += u64::from(depth);
        self.alone += u64::from(depth == 1);
        self.depth_max = self.depth_max.max(depth);
        self.depth_before = depth;
        *self.streams.entry(io.stream).or_default() += 1;
        self.beside += u64::from(depth > 1 && self.last.is_some_and(|l| l.stream != io.stream));
        self.last = Some(*io);
    }

    fn count(&self) -> u64 {
        self.ios[0] + self.ios[1]
    }

    fn percent(&self, part: u64) -> f64 {
        part as f64 / self.count() as f64 * 100.0
    }

    fn percent_of_size(&self, kib: u64) -> f64 {
        self.percent(self.sizes.get(&(kib * 1024)).copied().unwrap_or(0))
    }

    fn mean_depth(&self) -> f64 {
        self.depth_sum as f64 / self.count() as f64
    }
}

#[track_caller]
fn assert_near(what: &str, got: f64, published: Option<f64>, tolerance: f64) {
    if let Some(published) = published {
        let off = (got - published).abs() / published;
        assert!(off <= tolerance, "{what}: {got} instead of {published}");
    }
}

fn published(plan: &str) -> &'static Published {
    PUBLISHED.iter().find(|published| published.plan == plan).unwrap()
}

/// Everything that is printed, of a whole trace.
fn assert_published(name: &str) -> Tally {
    let plan = Plan::shipped(name).unwrap();
    let maker = Maker::new(&plan, 1).unwrap();
    let published = published(name);
    assert_eq!(maker.size_hint().0 as u64, published.reads + published.writes);
    let tally = Tally::of(maker, &plan);
    eprintln!(
        "{name}: {:?} {:?} {:?} seq {} depth {} alone {} max {} beside {} streams {:?} last {:?}",
        tally.ios,
        tally.bytes,
        tally.sizes,
        tally.percent(tally.sequential),
        tally.mean_depth(),
        tally.percent(tally.alone),
        tally.depth_max,
        tally.percent(tally.beside),
        tally.streams,
        tally.last.unwrap().issued
    );
    assert_eq!(tally.ios, [published.reads, published.writes]);
    assert_near("GB read", tally.bytes[0] as f64 / 1e9, published.read_gigabytes, 1e-6);
    assert_near("GB written", tally.bytes[1] as f64 / 1e9, published.written_gigabytes, 1e-6);
    for (index, kib) in [4, 16, 32, 64].into_iter().enumerate() {
        let percent = published.sizes.map(|sizes| sizes[index]);
        assert_near(&format!("{kib} KiB"), tally.percent_of_size(kib), percent, 1e-4);
    }
    let sequential = tally.percent(tally.sequential);
    assert_near("sequential", sequential, published.sequential_percent, 1e-6);
    assert_near("depth", tally.mean_depth(), published.mean_queue_depth, 1e-3);
    assert_near("alone", tally.percent(tally.alone), published.at_depth_1_percent, 1e-3);
    tally
}

#[test]
fn light_has_every_published_figure() {
    assert_published("light-2011");
}

#[test]
fn heavy_has_every_published_figure() {
    assert_published("heavy-2011");
}
