//! Random small traces beside the same figures computed without a thought for memory or time.

use std::collections::HashSet;

use writecliff_device::{Bytes, Operation};

use super::*;

const BLOCK: u64 = 4096;
/// What offsets and lengths of the traces are multiples of.
const SECTOR: u64 = 512;

/// A small generator of numbers (xorshift), so that a seed is a trace.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Few places and times, so that ranges and spans overlap, and runs go on.
fn trace(seed: u64) -> Vec<TraceIo> {
    let mut random = Random(seed * 0x9e37_79b9 + 1);
    let mut ios: Vec<TraceIo> = Vec::new();
    let mut now = 0;
    let has_completions = seed.is_multiple_of(2);
    for _ in 0..random.below(400) {
        now += random.below(60);
        let kinds = [Operation::Read, Operation::Write, Operation::Trim, Operation::Flush];
        let operation = kinds[[0, 0, 0, 1, 1, 1, 2, 3][random.below(8) as usize]];
        let offset = match ios.last() {
            Some(last) if random.below(3) == 0 => last.end().0,
            _ => random.below(600) * SECTOR + random.below(2) * (9 << 20),
        };
        let length = random.below(40) * SECTOR;
        let mut io = TraceIo::new(Nanos(now), operation, Bytes(offset), Bytes(length));
        io.completed = has_completions.then(|| Nanos(now + random.below(200)));
        io.queue_depth = random.below(5).eq(&0).then(|| random.below(40) as u32 + 1);
        io.stream = random.below(4) as u16;
        ios.push(io);
    }
    ios
}

/// What is cut as time goes on is as if it had been cut so from the beginning.
#[test]
fn windows_that_double_are_those_of_a_known_duration() {
    for seed in 0..300 {
        // Traces that last from nanoseconds to hours.
        let stretch = |time: Nanos| Nanos(time.0 << (seed % 29));
        let ios: Vec<TraceIo> = trace(seed)
            .into_iter()
            .map(|io| TraceIo {
                issued: stretch(io.issued),
                completed: io.completed.map(stretch),
                ..io
            })
            .collect();
        let mut doubled = describe(ios.iter().copied().map(Ok), None::<Nanos>).unwrap();
        let width = doubled.window_ns;
        let is_narrowest = width == 1 || doubled.duration_ns / (width / 2) >= 200;
        let count = (doubled.duration_ns / width + 1) as usize;
        assert!(width.is_power_of_two() && is_narrowest, "seed {seed}: {width}");
        assert_eq!(doubled.windows.len(), count, "seed {seed}");
        // This duration is cut into windows of just this width.
        let known = describe(ios.iter().copied().map(Ok), Nanos(200 * width - 1)).unwrap();
        let empty = Window { touched_bytes: Some(0), ..Window::default() };
        doubled.windows.resize(known.windows.len().max(count), empty);
        assert_eq!(doubled, known, "seed {seed}");
    }
}

fn blocks(ios: &[&TraceIo]) -> u64 {
    let of_one = |io: &&TraceIo| (io.offset.0 / BLOCK)..io.end().0.div_ceil(BLOCK);
    let touched = ios.iter().filter(|io| io.length.0 > 0).flat_map(of_one);
    touched.collect::<HashSet<u64>>().len() as u64
}

/// Nanoseconds in which any of them was in flight, looked at one by one.
fn busy(ios: &[&TraceIo]) -> u64 {
    let end = ios.iter().filter_map(|io| io.completed).max().unwrap_or_default().0;
    let is_in_flight =
        |t: u64| move |io: &&TraceIo| io.issued.0 <= t && io.completed.is_some_and(|c| t < c.0);
    (0..end).filter(|&t| ios.iter().any(is_in_flight(t))).count() as u64
}

fn depth(ios: &[TraceIo], index: usize) -> Option<u64> {
    let this = &ios[index];
    if let Some(depth) = this.queue_depth {
        return Some(u64::from(depth));
    }
    this.completed?;
    let before = ios[..index].iter();
    Some(before.filter(|io| io.completed.is_some_and(|c| c > this.issued)).count() as u64 + 1)
}

fn rewritten(writes: &[&TraceIo]) -> u64 {
    let mut written = HashSet::new();
    let mut again = 0;
    for io in writes {
        let blocks = || (io.offset.0..io.end().0).step_by(SECTOR as usize).map(|at| at / BLOCK);
        again += blocks().filter(|block| written.contains(block)).count() as u64 * SECTOR;
        written.extend(blocks());
    }
    again
}

/// The last 32 runs, as a list that is looked through.
fn sequential(ios: &[&TraceIo]) -> u64 {
    let mut ends: Vec<u64> = Vec::new();
    let mut count = 0;
    for io in ios {
        match ends.iter().rposition(|end| *end == io.offset.0) {
            Some(run) => {
                ends.remove(run);
                count += 1;
            }
            None if ends.len() == 32 => {
                ends.remove(0);
            }
            None => {}
        }
        ends.push(io.end().0);
    }
    count
}

fn assert_transfers(found: &Transfers, ios: &[&TraceIo]) {
    assert_eq!(found.count, ios.len() as u64);
    assert_eq!(found.bytes, ios.iter().map(|io| io.length.0).sum::<u64>());
    assert_eq!(found.footprint_bytes, Some(blocks(ios) * BLOCK));
    let exactly = |length| ios.iter().filter(|io| io.length.0 == length).count() as u64;
    assert_eq!(found.sizes.kb4.count, exactly(4096));
    assert_eq!(found.sizes.kb16.count, exactly(16384));
    for class in &found.size_classes {
        let within = ios.iter().filter(|io| (class.from..=class.to).contains(&io.length.0));
        assert_eq!(class.count, within.count() as u64);
    }
}

#[test]
fn figures_are_those_of_a_simple_mind() {
    for seed in 0..300 {
        let ios = trace(seed);
        let end = |io: &TraceIo| io.issued.max(io.completed.unwrap_or_default());
        let duration = ios.iter().map(end).max().unwrap_or_default();
        let info = describe(ios.iter().copied().map(Ok), duration).unwrap();
        let of = |kind: Operation| ios.iter().filter(|io| io.operation == kind).collect::<Vec<_>>();
        let (reads, writes) = (of(Operation::Read), of(Operation::Write));
        let is_transfer =
            |io: &&TraceIo| matches!(io.operation, Operation::Read | Operation::Write);
        let transfers: Vec<&TraceIo> = ios.iter().filter(is_transfer).collect();
        assert_transfers(&info.reads, &reads);
        assert_transfers(&info.writes, &writes);
        assert_transfers(&info.transfers, &transfers);
        assert_eq!(info.reads.sequential.count, sequential(&reads), "seed {seed}");
        assert_eq!(info.writes.sequential.count, sequential(&writes), "seed {seed}");
        assert_eq!(info.rewritten.unwrap().count, rewritten(&writes), "seed {seed}");
        let spans = info.busy.map_or((0, 0, 0), |b| (b.all_ns, b.reads_ns, b.writes_ns));
        let all: Vec<&TraceIo> = ios.iter().collect();
        assert_eq!(spans, (busy(&all), busy(&reads), busy(&writes)), "seed {seed}");
        let is_known = |index: &usize| is_transfer(&&ios[*index]);
        let depths: Vec<u64> =
            (0..ios.len()).filter(is_known).filter_map(|index| depth(&ios, index)).collect();
        let sum = info.queue_depths.map_or(0.0, |depths| depths.mean * depths.known as f64);
        assert_eq!(sum.round() as u64, depths.iter().sum::<u64>(), "seed {seed}");
        for (index, window) in info.windows.iter().enumerate() {
            let within = |io: &&&TraceIo| (io.issued.0 / info.window_ns) as usize == index;
            let touched: Vec<&TraceIo> = transfers.iter().filter(within).copied().collect();
            let touched_bytes = Some(blocks(&touched) * BLOCK);
            assert_eq!(window.touched_bytes, touched_bytes, "seed {seed}: {index}");
            assert_eq!(window.reads + window.writes, touched.len() as u64);
        }
        let cells = info.read_offsets.cells.iter().map(|cell| cell.2).sum::<u64>();
        assert_eq!(cells, reads.len() as u64);
    }
}
