//! Services whose answers are known: the slowest and the k-th of independent drives, queues of two
//! copies, and hedged reads.
use std::ops::ControlFlow;

use rand_distr::{Distribution, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use writecliff_device::scripted::Scripted;
use writecliff_device::{Bytes, Device, DeviceTime, Io, Nanos};
use writecliff_fleet::{Fleet, GroupRow, serve};
use writecliff_sweep::GoOn;

/// Takes an exponential time with a mean of 1 ms for each I/O.
fn exponential(seed: u64) -> Scripted {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let script = move |_: &Io, _: DeviceTime| {
        let time: f64 = Exp1.sample(&mut random);
        Nanos((time * 1e6) as u64)
    };
    Scripted::new(Bytes::from_gib(1), script)
}

/// A group of such drives that serve all I/Os side by side.
fn side_by_side(keys: &str, load: &str) -> GroupRow {
    served(keys, load, |seed| Box::new(exponential(seed).side_by_side()))
}

/// The same, but each of them serves one I/O after the other.
fn queues(keys: &str, load: &str) -> GroupRow {
    served(keys, load, |seed| Box::new(exponential(seed)))
}

fn served(keys: &str, load: &str, drive: impl Fn(u64) -> Box<dyn Device>) -> GroupRow {
    let fleet = fleet(&format!("duration = \"300s\"\n{keys}"), load);
    let devices = (0..fleet.width() as u64).map(drive).collect();
    serve(&fleet, (0, 0), devices, Bytes::from_mib(64), ON).unwrap().unwrap()
}

fn fleet(keys: &str, load: &str) -> Fleet {
    let drives = "[[drives]]\ndrive = \"sim:tiny\"\n";
    toml::from_str(&format!("groups = 1\n{keys}\n{drives}[load]\n{load}\n")).unwrap()
}

const ON: GoOn<'_> = &|| ControlFlow::Continue(());

/// All response times, as a histogram's counts.
fn responses(row: &GroupRow) -> Vec<(u64, u64)> {
    row.minutes
        .iter()
        .flat_map(|minute| minute.reads.iter().chain(&minute.writes))
        .copied()
        .collect()
}

fn mean_ms(row: &GroupRow) -> f64 {
    let all = responses(row);
    let count: u64 = all.iter().map(|(_, count)| count).sum();
    assert!(count > 80_000, "{count} requests");
    all.iter().map(|(nanos, count)| *nanos as f64 * *count as f64).sum::<f64>() / count as f64 / 1e6
}

/// The share that takes longer.
fn longer(row: &GroupRow, ms: f64) -> f64 {
    let all = responses(row);
    let count = |from: f64| {
        let above = all.iter().filter(|(nanos, _)| *nanos as f64 > from * 1e6);
        above.map(|(_, count)| *count as f64).sum::<f64>()
    };
    count(ms) / count(-1.0)
}

fn hedged(row: &GroupRow) -> f64 {
    row.hedged as f64 / responses(row).iter().map(|(_, count)| count).sum::<u64>() as f64
}

fn assert_near(found: f64, known: f64, tolerance: f64) {
    assert!((found / known - 1.0).abs() < tolerance, "{found}, not {known}");
}

const HALF: &str = "iops = 500\nread_percent = 100";
const READS: &str = "iops = 1000\nread_percent = 100";
const WRITES: &str = "iops = 1000\nread_percent = 0";

#[test]
fn a_write_waits_for_the_slowest_of_its_copies() {
    // The mean of the largest of n exponential times is the n-th harmonic number.
    for (parity, harmonic) in [(0, 1.0), (1, 1.5), (2, 11.0 / 6.0), (4, 137.0 / 60.0)] {
        let row = side_by_side(&format!("parity = {parity}"), WRITES);
        assert_near(mean_ms(&row), harmonic, 0.01);
        let times = f64::from(parity) + 1.0;
        assert_near(longer(&row, 2.0), 1.0 - (1.0 - (-2.0_f64).exp()).powf(times), 0.02);
    }
}

#[test]
fn drives_that_answer_at_the_same_moment_are_waited_for_in_turn() {
    let row = served("parity = 2", WRITES, |_| {
        Box::new(Scripted::new(Bytes::from_gib(1), |_, _| Nanos::from_micros(100)))
    });
    let waited: Vec<u64> = row.drives.iter().map(|drive| drive.waited_for).collect();
    let all: u64 = waited.iter().sum();
    for waited in &waited {
        assert_near(*waited as f64 / all as f64, 1.0 / 3.0, 0.02);
    }
}

#[test]
fn a_late_read_waited_for_the_drive_that_did_not_answer_and_not_for_its_stand_in() {
    // The first takes longer than the limit, always, and the second is asked after it.
    let slow_first = |drive| {
        let time = if drive == 0 { Nanos::from_millis(20) } else { Nanos::from_micros(100) };
        Box::new(Scripted::new(Bytes::from_gib(1), move |_, _| time).side_by_side())
            as Box<dyn Device>
    };
    let row = served("parity = 1\nlimit = \"2ms\"\nhedge = \"5ms\"", READS, slow_first);
    let late: Vec<u64> = row.drives.iter().map(|drive| drive.late).collect();
    assert!(late[0] > 0 && late[1] == 0, "{late:?}");
    assert_near(longer(&row, 2.0), 0.5, 0.02);
}

#[test]
fn a_read_of_all_fragments_waits_for_as_many_as_hold_the_data() {
    // The k-th smallest of n exponential times: k terms of 1/n + 1/(n-1) + ...; all n are asked.
    for (data, parity) in [(1, 1), (2, 2), (4, 1), (4, 2)] {
        let keys = format!("data = {data}\nparity = {parity}\nhedge = \"0s\"");
        let row = side_by_side(&keys, &format!("{READS}\nblock = \"16KiB\""));
        let mean: f64 = (0..data).map(|term| 1.0 / f64::from(data + parity - term)).sum();
        assert_near(mean_ms(&row), mean, 0.01);
        assert_near(hedged(&row), 1.0, 1e-9);
    }
}

#[test]
fn a_hedged_read_takes_the_first_answer_of_two() {
    for after in [0.5_f64, 1.0, 3.0] {
        let keys = format!("parity = 1\nhedge = \"{}us\"", after * 1000.0);
        let row = side_by_side(&keys, READS);
        assert_near(hedged(&row), (-after).exp(), 0.03);
        // Up to the hedging time one drive answers, at twice the rate from then on.
        assert_near(mean_ms(&row), 1.0 - (-after).exp() / 2.0, 0.01);
        assert_near(longer(&row, after + 0.5), (-after - 1.0).exp(), 0.08);
    }
}

#[test]
fn two_queues_that_get_the_same_requests_are_those_of_flatto_and_hahn() {
    // M/M/1 with 1000 a second at most; a write waits for both: (12 - load) / 8 of one queue's time
    // (Flatto and Hahn 1984, Nelson and Tantawi 1988); a read that asks both at once for the sooner.
    for load in [0.3, 0.6] {
        let (iops, one) = (load * 1000.0, 1.0 / (1.0 - load));
        let both = (12.0 - load) / 8.0 * one;
        let row = queues("parity = 1", &format!("iops = {iops:.0}\nread_percent = 0"));
        assert_near(mean_ms(&row), both, 0.03);
        let reads = format!("iops = {iops:.0}\nread_percent = 100");
        let row = queues("parity = 1\nhedge = \"0s\"", &reads);
        assert_near(mean_ms(&row), 2.0 * one - both, 0.03);
    }
}

#[test]
fn late_reads_of_an_m_m_1_queue_are_cut_by_a_second_drive() {
    // Of a single block the first drive gets all reads, one after the other: response times are
    // exponential. The second, which has no queue, gets those that wait for too long.
    let (load, after) = (0.5_f64, 3.0_f64);
    let fleet = fleet(&format!("parity = 1\nhedge = \"{after}ms\"\nduration = \"600s\""), HALF);
    let devices: Vec<Box<dyn Device>> =
        vec![Box::new(exponential(1)), Box::new(exponential(2).side_by_side())];
    let row = serve(&fleet, (0, 0), devices, Bytes::from_kib(4), ON).unwrap().unwrap();
    let (rate, of_both) = (1.0 - load, 2.0 - load);
    let waits = (-rate * after).exp();
    assert_near(hedged(&row), waits, 0.05);
    assert_near(mean_ms(&row), (1.0 - waits) / rate + waits / of_both, 0.02);
    for ms in [0.5, 1.5] {
        assert_near(longer(&row, after + ms), waits * (-of_both * ms).exp(), 0.1);
    }
}
