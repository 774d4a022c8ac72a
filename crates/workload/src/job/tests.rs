use std::collections::BTreeMap;

use super::*;
use writecliff_device::Io;

const LBA: Bytes = Bytes(512);
const CAPACITY: Bytes = Bytes::from_mib(64);

fn job(order: Order, operation: Operation) -> Job {
    Job { name: "job".to_owned(), order, mix: Mix::only(operation), ..Job::default() }
}

fn random_reads() -> Job {
    job(Order::Random, Operation::Read)
}

fn amount(kib: u64) -> Amount {
    Amount::Bytes(Bytes::from_kib(kib))
}

fn ios(job: &Job) -> Vec<Io> {
    job.ios(LBA, CAPACITY).collect()
}

fn kib(ios: &[Io]) -> Vec<(Operation, u64, u64)> {
    ios.iter().map(|io| (io.operation, io.offset.0 >> 10, io.length.0 >> 10)).collect()
}

#[test]
fn a_job_that_says_nothing_reads_the_drive_once_in_order() {
    let ios = ios(&Job { name: "all".to_owned(), ..Job::default() });
    assert_eq!(ios.len() as u64, CAPACITY.0 / 4096);
    assert!(ios.windows(2).all(|pair| pair[1].offset == pair[0].offset + pair[0].length));
}

#[test]
fn random_places_come_once_before_any_comes_twice() {
    let twice = Job { loops: 2, size: Some(amount(400)), offset: amount(100), ..random_reads() };
    let ios = ios(&twice);
    let passes: Vec<Vec<u64>> =
        ios.chunks(100).map(|pass| pass.iter().map(|io| io.offset.0).collect()).collect();
    assert_eq!(passes.len(), 2);
    assert_ne!(passes[0], passes[1], "another order");
    let all: Vec<u64> = (0..100).map(|block| (100 << 10) + block * 4096).collect();
    for mut pass in passes {
        assert_ne!(pass, all);
        pass.sort_unstable();
        assert_eq!(pass, all);
    }
}

#[test]
fn without_the_map_places_repeat_and_stay_in_the_span() {
    let once_each = false;
    let size = Some(amount(400));
    let ios = ios(&Job { once_each, size, offset: amount(100), ..random_reads() });
    assert_eq!(ios.len(), 100);
    let mut places: Vec<u64> = ios.iter().map(|io| io.offset.0 >> 10).collect();
    assert!(places.iter().all(|place| (100..500).contains(place)));
    places.sort_unstable();
    places.dedup();
    // 1 - 1/e of the places are expected: 63 of 100.
    assert!((45..80).contains(&places.len()), "{}", places.len());
}

#[test]
fn a_mix_has_its_shares_and_each_operation_its_own_position() {
    let mix = Mix { read: 60, write: 30, trim: 10 };
    let ios = ios(&Job { mix, ..job(Order::Sequential, Operation::Read) });
    assert_eq!(ios.len(), 16_384);
    for (operation, expected) in
        [(Operation::Read, 9830), (Operation::Write, 4915), (Operation::Trim, 1638)]
    {
        let own: Vec<&Io> = ios.iter().filter(|io| io.operation == operation).collect();
        // Five standard deviations of at most 63.
        assert!(own.len().abs_diff(expected) < 320, "{operation:?}: {}", own.len());
        assert!(own.iter().enumerate().all(|(index, io)| io.offset.0 == index as u64 * 4096));
    }
}

#[test]
fn sizes_have_their_weights_and_fit() {
    let share = |kib, weight| Share { size: Bytes::from_kib(kib), weight };
    let block = Blocks::Same(Sizes::Split(vec![share(4, 60), share(64, 30), share(128, 10)]));
    for order in [Order::Sequential, Order::Random] {
        let ios = ios(&Job { block: block.clone(), ..job(order, Operation::Write) });
        let mut count = BTreeMap::<u64, usize>::new();
        for io in &ios {
            assert!(io.offset + io.length <= CAPACITY);
            *count.entry(io.length.0 >> 10).or_default() += 1;
        }
        let all = ios.len() as f64;
        for (kib, share) in [(4, 0.6), (64, 0.3), (128, 0.1)] {
            let got = count[&kib] as f64 / all;
            assert!((got - share).abs() < 0.05, "{order:?} {kib} KiB: {got}");
        }
    }
}

#[test]
fn trims_come_before_the_writes_of_their_range() {
    let job = Job {
        trim_first: true,
        size: Some(amount(12)),
        flush_every: Some(2),
        ..job(Order::Sequential, Operation::Write)
    };
    let flush = (Operation::Flush, 0, 0);
    let pair = |at| [(Operation::Trim, at, 4), (Operation::Write, at, 4)];
    let expected = [&pair(0)[..], &pair(4), &[flush], &pair(8)].concat();
    assert_eq!(kib(&ios(&job)), expected);
}

#[test]
fn forced_writes_are_all_writes_and_nothing_else() {
    let mixed = Mix { read: 40, write: 60, trim: 0 };
    let forced =
        Job { durability: Durability::Forced, mix: mixed, ..job(Order::Random, Operation::Read) };
    let endless = Job { time_based: true, runtime: Some(Nanos::from_secs(1)), ..forced.clone() };
    let mut drawn = Vec::new();
    endless.ios(LBA, CAPACITY).append(&mut drawn, 1000);
    let trims = Job { trim_first: true, mix: Mix::only(Operation::Write), ..forced.clone() };
    for ios in [ios(&forced), drawn, ios(&trims)] {
        let is_write = |io: &Io| io.operation == Operation::Write;
        assert!(ios.iter().all(|io| io.durability.is_later() != is_write(io)));
        assert!(ios.iter().any(is_write));
    }
    let plain = ios(&job(Order::Random, Operation::Write));
    assert!(plain.iter().all(|io| io.durability.is_later()));
}

#[test]
fn flushes_come_between_writes_and_at_the_end_if_asked_for() {
    let writes = job(Order::Sequential, Operation::Write);
    let every = Job { flush_every: Some(2), size: Some(amount(16)), ..writes };
    let flushes = |job: &Job| -> Vec<usize> {
        let ios = ios(job);
        (0..ios.len()).filter(|index| ios[*index].operation == Operation::Flush).collect()
    };
    assert_eq!(flushes(&every), [2]);
    assert_eq!(flushes(&Job { flush_at_end: true, ..every }), [2, 5]);
}

#[test]
fn a_job_ends_by_bytes_by_number_or_never() {
    let reads = Job { size: Some(amount(64)), ..job(Order::Sequential, Operation::Read) };
    let count = |job: &Job| job.ios(LBA, CAPACITY).take(1000).count();
    assert_eq!(count(&reads), 16);
    assert_eq!(count(&Job { io_size: Some(amount(100)), ..reads.clone() }), 25);
    assert_eq!(count(&Job { io_size: Some(Amount::Percent(50)), ..reads.clone() }), 8);
    assert_eq!(count(&Job { number_ios: Some(5), loops: 2, ..reads.clone() }), 10);
    let runtime = Some(Nanos::from_secs(1));
    let timed = Job { time_based: true, runtime, ..reads };
    assert_eq!(count(&timed), 1000);
    assert_eq!(count(&Job { order: Order::Random, ..timed }), 1000);
    let mixed = Job { mix: Mix { read: 99, write: 1, trim: 0 }, ..random_reads() };
    assert_eq!(mixed.ios(LBA, CAPACITY).count(), 16_384);
}

#[test]
fn favourites_are_as_frequent_as_the_law_says_and_scattered() {
    let visits = |distribution| {
        let io_size = Some(amount(40_000 * 4));
        let job = Job { distribution, size: Some(amount(4000)), io_size, ..random_reads() };
        let mut count = BTreeMap::<u64, u64>::new();
        for io in job.ios(LBA, CAPACITY) {
            assert!(io.offset.0 < 4000 << 10);
            *count.entry(io.offset.0 / 4096).or_default() += 1;
        }
        let mut visits: Vec<(u64, u64)> = count.into_iter().map(|(at, n)| (n, at)).collect();
        visits.sort_unstable_by(|a, b| b.cmp(a));
        visits
    };
    let share = |visits: &[(u64, u64)], places: usize| {
        visits.iter().take(places).map(|(count, _)| count).sum::<u64>() as f64 / 40_000.0
    };
    let zipf = visits(Distribution::Zipf(1.2));
    // 1 / zeta over 1000 places of the exponent 1.2.
    let first = 1.0 / (1..=1000).map(|k| f64::from(k).powf(-1.2)).sum::<f64>();
    assert!((share(&zipf, 1) - first).abs() < 0.02, "{}", share(&zipf, 1));
    assert!(zipf[0].1.abs_diff(zipf[1].1) > 1 || zipf[1].1.abs_diff(zipf[2].1) > 1);
    let pareto = visits(Distribution::Pareto(0.2));
    assert!((share(&pareto, 200) - 0.8).abs() < 0.02, "{}", share(&pareto, 200));
    let normal = visits(Distribution::Normal(10.0));
    // Two standard deviations to either side are 400 of 1000 places.
    assert!((share(&normal, 400) - 0.954).abs() < 0.01, "{}", share(&normal, 400));
}

#[test]
fn the_seed_decides_everything_and_copies_differ() {
    let list = JobList { jobs: vec![Job { copies: 2, ..random_reads() }], title: None };
    let first = |seed| {
        let groups = list.groups(seed, CAPACITY);
        let [one, two] = &groups[0][..] else { panic!("{groups:?}") };
        assert_eq!((one.name.as_str(), two.name.as_str()), ("job 1", "job 2"));
        let [one, two] = [one, two].map(|job| kib(&ios(job)[..100]));
        assert_ne!(one, two);
        one
    };
    assert_eq!(first(1), first(1));
    assert_ne!(first(1), first(2));
}

#[test]
fn groups_run_by_number_and_copies_can_lie_apart() {
    let named = |name: &str, group| Job { name: name.to_owned(), group, ..random_reads() };
    let apart = Job {
        copies: 3,
        offset: amount(4),
        offset_increment: amount(100),
        size: Some(amount(8)),
        ..named("apart", 0)
    };
    let jobs = vec![named("last", 7), apart, named("beside", 0)];
    let groups = JobList { title: None, jobs }.groups(1, CAPACITY);
    let names: Vec<Vec<&str>> =
        groups.iter().map(|group| group.iter().map(|job| job.name.as_str()).collect()).collect();
    assert_eq!(names, [&["apart 1", "apart 2", "apart 3", "beside"][..], &["last"]]);
    let starts: Vec<u64> = groups[0][..3]
        .iter()
        .map(|job| kib(&ios(job)).iter().map(|io| io.1).min().unwrap())
        .collect();
    assert_eq!(starts, [4, 104, 204]);
}

#[test]
fn impossible_jobs_are_refused_at_their_key() {
    let good = Job { runtime: Some(Nanos::from_secs(1)), ..random_reads() };
    good.check(LBA, CAPACITY).unwrap();
    let one = |size| Blocks::Same(Sizes::One(size));
    for (bad, key) in [
        (Job { name: String::new(), ..good.clone() }, "name"),
        (Job { mix: Mix { read: 60, write: 30, trim: 0 }, ..good.clone() }, "mix"),
        (Job { trim_first: true, ..good.clone() }, "trim_first"),
        (Job { loops: 0, ..good.clone() }, "loops"),
        (Job { copies: 0, ..good.clone() }, "copies"),
        (Job { copies: u32::MAX, ..good.clone() }, "copies"),
        (Job { queue_depth: 0, ..good.clone() }, "queue_depth"),
        (Job { number_ios: Some(0), ..good.clone() }, "number_ios"),
        (Job { flush_every: Some(0), ..good.clone() }, "flush_every"),
        (Job { compressible_percent: 101, ..good.clone() }, "compressible_percent"),
        (Job { time_based: true, runtime: None, ..good.clone() }, "time_based"),
        (Job { runtime: Some(Nanos::ZERO), ..good.clone() }, "runtime"),
        (
            Job { pace: Pace::Think { rest: Nanos(1), every: 0 }, ..good.clone() },
            "pace.think.every",
        ),
        (Job { pace: Pace::Rate(Throughput(0)), ..good.clone() }, "pace.rate"),
        (Job { pace: Pace::Iops(0), ..good.clone() }, "pace.iops"),
        (
            Job { pace: Pace::Arrivals { iops: 0, gaps: Gaps::Poisson }, ..good.clone() },
            "pace.arrivals.iops",
        ),
        (Job { distribution: Distribution::Zipf(0.0), ..good.clone() }, "distribution"),
        (Job { distribution: Distribution::Pareto(1.0), ..good.clone() }, "distribution"),
        (Job { distribution: Distribution::Normal(f64::NAN), ..good.clone() }, "distribution"),
        (Job { block: one(Bytes(1000)), ..good.clone() }, "block"),
        (Job { block: one(Bytes::ZERO), ..good.clone() }, "block"),
        (Job { block: one(Bytes::from_mib(65)), ..good.clone() }, "block"),
        (Job { block: Blocks::Same(Sizes::Split(Vec::new())), ..good.clone() }, "block"),
        (Job { align: Some(Bytes(100)), ..good.clone() }, "align"),
        (Job { align: Some(Bytes::from_mib(65)), ..good.clone() }, "align"),
        (Job { offset: Amount::Bytes(Bytes(100)), ..good.clone() }, "offset"),
        (Job { offset: amount(65 << 10), ..good.clone() }, "offset"),
        (Job { size: Some(Amount::ZERO), ..good.clone() }, "size"),
        (Job { size: Some(amount(65 << 10)), ..good.clone() }, "size"),
        (Job { copies: 3, offset_increment: amount(40 << 10), ..good.clone() }, "offset"),
        (Job { end: Some(Bytes::from_mib(65)), ..good.clone() }, "size"),
        (Job { end: Some(Bytes::from_mib(1)), offset: amount(2 << 10), ..good.clone() }, "offset"),
        (
            Job { end: Some(Bytes::from_mib(99)), offset: amount(80 << 10), ..good.clone() },
            "offset",
        ),
    ] {
        let error = bad.check(LBA, CAPACITY).expect_err(key);
        assert_eq!(error.key, key, "{error}");
        assert!(error.to_string().starts_with("job '"), "{error}");
    }
    let two = JobList { title: None, jobs: vec![good.clone(), good] };
    assert_eq!(two.check(LBA, CAPACITY).unwrap_err().key, "name");
    assert_eq!(JobList::default().check(LBA, CAPACITY).unwrap_err().key, "job");
}

#[test]
fn many_at_once_are_those_that_come_one_by_one() {
    let mixed = Mix { read: 60, write: 30, trim: 10 };
    let runtime = Some(Nanos::from_secs(60));
    let endless = Job { mix: mixed, time_based: true, runtime, ..random_reads() };
    let partly = RandomShare { read: 70, write: 70, trim: 70 };
    let jobs = [
        endless.clone(),
        Job { once_each: false, compressible_percent: 40, ..endless.clone() },
        Job { once_each: false, distribution: Distribution::Zipf(1.2), ..endless.clone() },
        Job { once_each: false, random_percent: partly, ..endless.clone() },
        Job { order: Order::Sequential, size: Some(amount(402)), ..endless.clone() },
        Job { number_ios: Some(900), ..endless.clone() },
        Job { flush_every: Some(3), ..endless.clone() },
        Job { trim_first: true, mix: Mix::only(Operation::Write), ..endless.clone() },
        Job { time_based: false, runtime: None, size: Some(amount(1600)), ..endless },
    ];
    for job in jobs {
        let mut at_once = Vec::new();
        let mut source = job.ios(LBA, CAPACITY);
        for most in [1, 64, 300, 64, 20_000, 7, 4000] {
            source.append(&mut at_once, most);
        }
        let one_by_one: Vec<Io> = job.ios(LBA, CAPACITY).take(24_436).collect();
        assert_eq!(at_once, one_by_one, "{job:?}");
    }
}

#[test]
fn zones_have_their_shares_where_they_lie() {
    let zone = |ios, percent| Zone { ios, span: Amount::Percent(percent) };
    let zones = vec![zone(50, 5), zone(30, 15), zone(0, 10), zone(20, 70)];
    let zoned = Job {
        distribution: Distribution::Zoned(zones),
        offset: amount(4096),
        size: Some(amount(40_000)),
        io_size: Some(amount(400_000)),
        ..random_reads()
    };
    zoned.check(LBA, CAPACITY).unwrap();
    let all = ios(&zoned);
    let share = |from: u64, to: u64| {
        let is_in = |io: &&Io| ((4096 + from)..(4096 + to)).contains(&(io.offset.0 >> 10));
        all.iter().filter(is_in).count() as f64 / all.len() as f64
    };
    for (from, to, expected) in
        [(0, 2000, 0.5), (2000, 8000, 0.3), (8000, 12_000, 0.0), (12_000, 40_000, 0.2)]
    {
        assert!((share(from, to) - expected).abs() < 0.01, "{from}: {}", share(from, to));
    }
    // Shuffled, the hot twentieth lies everywhere, and is as small.
    let Distribution::Zoned(zones) = zoned.distribution.clone() else { unreachable!() };
    let shuffled = Job {
        distribution: Distribution::Shuffled(zones),
        io_size: Some(amount(4_000_000)),
        ..zoned.clone()
    };
    shuffled.check(LBA, CAPACITY).unwrap();
    let ios = ios(&shuffled);
    let mut hits = std::collections::BTreeMap::new();
    ios.iter().for_each(|io| *hits.entry(io.offset.0).or_insert(0_usize) += 1);
    let in_first_half = ios.iter().filter(|io| io.offset.0 < (4096 + 20_000) << 10).count() as f64;
    assert!((in_first_half / ios.len() as f64 - 0.5).abs() < 0.1, "{in_first_half}");
    let mut hits: Vec<usize> = hits.into_values().collect();
    hits.sort_unstable_by(|a, b| b.cmp(a));
    let places = 40_000 * 1024 / ios[0].length.0 as usize;
    let hottest = hits[..places / 20].iter().sum::<usize>() as f64 / ios.len() as f64;
    assert!((0.48..0.56).contains(&hottest), "{hottest}");
    for (zones, word) in [
        (vec![], "1 to 256"),
        (vec![zone(0, 10)], "a share of them"),
        (vec![zone(50, 60), zone(50, 60)], "120 percent"),
        (vec![Zone { ios: 1, span: Amount::Bytes(Bytes(1)) }; 3], "no place"),
    ] {
        let wrong = Job { distribution: Distribution::Zoned(zones), ..zoned.clone() };
        let error = wrong.check(LBA, CAPACITY).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn a_block_that_is_no_whole_lbas_is_told_the_nearest_that_are() {
    let uneven = Job { block: Blocks::Same(Sizes::One(Bytes(2300))), ..random_reads() };
    let error = uneven.check(LBA, CAPACITY).unwrap_err().to_string();
    assert!(error.contains("2048B or 2560B") || error.contains("2KiB or 2560B"), "{error}");
}
