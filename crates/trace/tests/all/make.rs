//! Made traces, counted independently: every published figure, and what must hold of any trace.
use crate::published;

use std::collections::{BTreeMap, VecDeque};

use published::{PUBLISHED, Published};
use writecliff_device::{Bytes, Nanos, Operation};
use writecliff_trace::make::Comparison;
use writecliff_trace::{Maker, PLANS, Plan, TraceIo};

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
    /// Operations in a full queue that follow one of another stream.
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
fn assert_near(what: &str, got: f64, asked: Option<f64>, tolerance: f64) {
    if let Some(asked) = asked {
        let off = (got - asked).abs() / asked;
        assert!(off <= tolerance, "{what}: {got} instead of {asked}");
    }
}

/// Everything that is printed, of a whole trace; returns it for more.
fn assert_published(published: &Published, seed: u64) -> Tally {
    let plan = Plan::shipped(published.plan).unwrap();
    let maker = Maker::new(&plan, seed).unwrap();
    assert_eq!(maker.size_hint().0 as u64, published.reads + published.writes);
    let tally = Tally::of(maker, &plan);
    assert_eq!(tally.ios, [published.reads, published.writes], "counts, exactly");
    let gigabytes = tally.bytes.map(|bytes| bytes as f64 / 1e9);
    assert_near("GB read", gigabytes[0], published.read_gigabytes, 1e-6);
    assert_near("GB written", gigabytes[1], published.written_gigabytes, 1e-6);
    for (index, kib) in [4, 16, 32, 64].into_iter().enumerate() {
        let percent = published.sizes.map(|sizes| sizes[index]);
        assert_near(&format!("% of {kib} KiB"), tally.percent_of_size(kib), percent, 1e-5);
    }
    let (sequential, alone) = (tally.percent(tally.sequential), tally.percent(tally.alone));
    assert_near("% sequential", sequential, published.sequential_percent, 1e-5);
    assert_near("% alone", alone, published.at_depth_1_percent, 1e-3);
    assert_near("mean depth", tally.mean_depth(), published.mean_queue_depth, 1e-3);
    tally
}

/// The plan's own figures, published or not, as far as fewer operations allow.
fn assert_target(plan: &Plan, tolerance: f64) -> Tally {
    let tally = Tally::of(Maker::new(plan, 1).unwrap(), plan);
    let target = &plan.target;
    assert_eq!(tally.ios, [target.reads, target.writes]);
    assert_near("bytes read", tally.bytes[0] as f64, Some(target.read_bytes.0 as f64), tolerance);
    let written = Some(target.written_bytes.0 as f64);
    assert_near("bytes written", tally.bytes[1] as f64, written, tolerance);
    let (sequential, alone) = (tally.percent(tally.sequential), tally.percent(tally.alone));
    assert_near("% sequential", sequential, Some(target.sequential_percent), tolerance);
    assert_near("% alone", alone, Some(target.at_queue_depth_1_percent), tolerance);
    assert_near("mean depth", tally.mean_depth(), Some(target.mean_queue_depth), tolerance);
    tally
}

#[test]
fn heavy_has_every_published_figure() {
    let tally = assert_published(&PUBLISHED[0], 1);
    assert_eq!(tally.depth_max, 32);
    assert!(tally.percent(tally.beside) > 5.0, "applications overlap");
}

#[test]
fn light_has_every_published_figure_whatever_the_seed() {
    for seed in [0, 1, 2, u64::MAX] {
        assert_published(&PUBLISHED[1], seed);
    }
}

/// "Far fewer large IO transfers" than Heavy.
#[test]
fn light_has_far_fewer_large_transfers_than_heavy() {
    let [heavy, light] = ["heavy-2011", "light-2011"].map(|name| {
        let plan = Plan::shipped(name).unwrap();
        let large = Maker::new(&plan, 1).unwrap().filter(|io| io.length > Bytes::from_kib(64));
        large.count() as f64 / plan.target.ios() as f64
    });
    assert!(light < heavy / 2.0, "{light} of Light, {heavy} of Heavy");
}

/// Whole by night, 2 % of it by day.
#[test]
fn the_destroyer_has_every_published_figure() {
    if std::env::var_os("WRITECLIFF_NIGHTLY").is_some() {
        let tally = assert_published(&PUBLISHED[2], 1);
        assert!(tally.depth_max > 32, "at times the queue is very deep: {}", tally.depth_max);
        return;
    }
    let plan = Plan::shipped("destroyer-2013").unwrap();
    let target = &plan.target;
    assert_eq!((target.reads, target.writes), (PUBLISHED[2].reads, PUBLISHED[2].writes));
    assert_eq!(Some(target.read_bytes.0 as f64 / 1e9), PUBLISHED[2].read_gigabytes);
    assert_eq!(Some(target.written_bytes.0 as f64 / 1e9), PUBLISHED[2].written_gigabytes);
    assert_eq!(Some(target.mean_queue_depth), PUBLISHED[2].mean_queue_depth);
    let tally = assert_target(&plan.scaled(0.02), 2e-3);
    assert!(tally.depth_max > 32, "at times the queue is very deep: {}", tally.depth_max);
}

#[test]
fn a_scaled_plan_keeps_its_shares() {
    for shipped in &PLANS {
        let plan = Plan::shipped(shipped.name).unwrap();
        let scaled = plan.scaled(0.01);
        let tally = assert_target(&scaled, 1e-2);
        let of_the_whole = plan.target.ios() as f64 / 100.0;
        assert!((tally.count() as f64 - of_the_whole).abs() < 2.0);
        assert!(tally.last.unwrap().issued < Nanos(plan.duration.0 / 90));
        let header = Maker::new(&scaled, 1).unwrap().header().clone();
        assert!(header.source.contains("1 % of it"), "{}", header.source);
    }
}

#[test]
fn offsets_fit_the_drives_that_the_plans_are_for() {
    let limits = [("light-2011", 60), ("heavy-2011", 100), ("destroyer-2013", 220)];
    for (name, gigabytes) in limits {
        let plan = Plan::shipped(name).unwrap();
        assert!(plan.device_size.0 <= gigabytes * 1_000_000_000, "{name}");
        assert_eq!(plan.alignment, Bytes::from_kib(4), "{name}: a 4Kn drive must take it");
    }
}

/// FNV-1a over everything that an operation says.
fn hash(maker: Maker) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |number: u64| {
        for byte in number.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for io in maker.take(100_000) {
        let content = io.content.map_or(999, |content| {
            u64::from(content.compressible_percent) * 1000 + u64::from(content.duplicate_percent)
        });
        let depth = u64::from(io.queue_depth.unwrap());
        let numbers = [io.issued.0, io.operation as u64, io.offset.0, io.length.0, depth];
        numbers.into_iter().chain([content, u64::from(io.stream)]).for_each(&mut add);
    }
    hash
}

/// A changed number here is a changed trace: results on it compare with older ones no more.
#[test]
fn a_seed_decides_a_trace_on_every_machine() {
    let hashes = |seed| {
        PLANS.map(|shipped| hash(Maker::new(&Plan::shipped(shipped.name).unwrap(), seed).unwrap()))
    };
    assert_eq!(hashes(1), hashes(1));
    assert!(hashes(1).iter().zip(hashes(2)).all(|(one, other)| *one != other));
    let golden = hashes(1).map(|hash| format!("{hash:016x}"));
    assert_eq!(golden, ["ba50290acd711eea", "ef9f29e126901a9c", "b6502d0357ba6ce7"]);
}

#[test]
fn scenarios_run_in_their_time_and_beside_each_other() {
    let plan = Plan::shipped("destroyer-2013").unwrap().scaled(0.01);
    let mut together = BTreeMap::<(u16, u16), u64>::new();
    let mut before: Option<TraceIo> = None;
    for io in Maker::new(&plan, 3).unwrap() {
        let percent = io.issued.0 as f64 / plan.duration.0 as f64 * 100.0;
        let active = &plan.scenario[usize::from(io.stream)].active;
        let is_in_time =
            |&[from, to]: &[u32; 2]| (f64::from(from)..f64::from(to) + 0.5).contains(&percent);
        assert!(active.iter().any(is_in_time), "at {percent} %: {io:?}");
        if let Some(before) = before.filter(|_| io.queue_depth > Some(1)) {
            let pair = (before.stream.min(io.stream), before.stream.max(io.stream));
            *together.entry(pair).or_default() += 1;
        }
        before = Some(io);
    }
    let stream = |name: &str| plan.scenario.iter().position(|s| s.name == name).unwrap() as u16;
    let pairs = [
        ("virtual-machine", "virus-scan"),
        ("virtual-machine", "web"),
        ("photo-import-and-edit", "backup"),
        ("backup", "compile"),
        ("photo-sync", "game-install"),
    ];
    for (one, other) in pairs {
        let pair = (stream(one).min(stream(other)), stream(one).max(stream(other)));
        assert!(together.get(&pair).is_some_and(|count| *count > 100), "{one} beside {other}");
    }
}

#[test]
fn heavy_writes_much_of_what_it_wrote_before_and_reads_it_back() {
    let plan = Plan::shipped("heavy-2011").unwrap();
    let mut written = vec![false; (plan.device_size.0 / 4096) as usize];
    let (mut fresh, mut read_back) = (0, 0);
    for io in Maker::new(&plan, 1).unwrap() {
        for page in io.offset.0 / 4096..io.end().0 / 4096 {
            let page = &mut written[page as usize];
            match io.operation {
                Operation::Write => fresh += u64::from(!std::mem::replace(page, true)),
                _ => read_back += u64::from(*page),
            }
        }
    }
    let gigabytes = |pages: u64| pages * 4096 / 1_000_000_000;
    assert!((50..=60).contains(&gigabytes(fresh)), "footprint of {} GB", gigabytes(fresh));
    assert!(gigabytes(read_back) > 10, "{} GB read back", gigabytes(read_back));
}

#[test]
fn what_is_known_beforehand_is_what_comes() {
    fn assert_send<T: Send>(_: &T) {}
    let plan = Plan::shipped("light-2011").unwrap();
    let maker = Maker::new(&plan, 1).unwrap();
    assert_send(&maker);
    let (known, header) = (*maker.summary(), maker.header().clone());
    assert!(header.synthetic && header.recorded_by.contains("trace make"));
    assert!(header.source.contains("not the original recording"), "{}", header.source);
    assert_eq!(header.device_size, Some(plan.device_size));
    assert_eq!(header.streams.len(), plan.scenario.len());
    let (mut summary, mut comparison) = (writecliff_trace::Summary::new(), Comparison::new(&plan));
    for io in maker {
        summary.add(&io);
        comparison.add(&io);
    }
    assert_eq!((summary.reads, summary.writes), (known.reads, known.writes));
    assert_eq!(summary.read_bytes, known.read_bytes);
    assert_eq!(summary.written_bytes, known.written_bytes);
    assert_eq!(summary.length_max, known.length_max);
    assert!(summary.end <= known.end && summary.queue_depth_max <= known.queue_depth_max);
    assert!(summary.alignment.is_multiple_of(known.alignment));
    assert_near("end", summary.last_issued.0 as f64, Some(known.last_issued.0 as f64), 1e-3);
    assert_eq!((summary.has_completions, summary.has_queue_depths), (false, true));
    let figures = comparison.figures();
    assert_eq!(figures.len(), 4 + 4 + 3);
    for figure in figures {
        assert_near(&figure.name, figure.made, Some(figure.asked), 1e-3);
    }
}
