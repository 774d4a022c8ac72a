//! Traces done again on a device whose every service time is known beforehand.
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use writecliff_device::scripted::Scripted;
use writecliff_device::{Bytes, DeviceTime, Io, Nanos, Operation, Telemetry};
use writecliff_measure::{
    Recorder, Recording, Replay, ReplayIo, RunDirectory, Sample, Timing, record,
};

const MS: u64 = 1_000_000;
const SERIES: [&str; 5] = ["reads", "writes", "others", "response", "lateness"];

/// Offset in MiB, begin and end of everything that the device did, in ms.
type Log = Arc<Mutex<Vec<(u64, f64, f64)>>>;

/// A device that serves all side by side, each in the ms that `takes` gives.
fn device(takes: impl Fn(&Io) -> u64 + Send + 'static) -> (Scripted, Log) {
    let log = Log::default();
    let kept = log.clone();
    let script = move |io: &Io, begins: DeviceTime| {
        let span = Nanos::from_millis(takes(io));
        let ms = |time: DeviceTime| time.0 as f64 / MS as f64;
        kept.lock().unwrap().push((io.offset.0 >> 20, ms(begins), ms(begins + span)));
        span
    };
    (Scripted::new(Bytes::from_gib(1), script).side_by_side(), log)
}

/// A read of 4 KiB of the MiB `place`.
fn read(place: u64, issued_ms: u64) -> ReplayIo {
    let io = Io::read(Bytes::from_mib(place), Bytes::from_kib(4));
    ReplayIo { io, issued: Nanos::from_millis(issued_ms), completed: None, queue_depth: None }
}

fn write(place: u64, issued_ms: u64) -> ReplayIo {
    let io = Io::write(Bytes::from_mib(place), Bytes::from_kib(4));
    ReplayIo { io, ..read(place, issued_ms) }
}

fn replay(device: &mut Scripted, ios: Vec<ReplayIo>, timing: Timing) -> Vec<Sample> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let directory = RunDirectory::create(&path, &serde_json::json!({}), false).unwrap();
    let mut recorder = Recorder::new(directory, DeviceTime(0), false);
    recorder.begin(&SERIES[..timing.series().len()], Telemetry::default());
    let replay = Replay::new(ios.into_iter(), timing);
    record(device, replay, None, &mut recorder, &mut |_, _| ControlFlow::Continue(())).unwrap();
    recorder.finish().close(&serde_json::json!({})).unwrap();
    Recording::open::<serde_json::Value>(&path).unwrap().1.samples
}

/// The one sample of a series that was over within a second.
fn only<'a>(samples: &'a [Sample], series: &str) -> &'a Sample {
    let mut of_series = samples.iter().filter(|sample| sample.series == series);
    let first = of_series.next().unwrap();
    assert_eq!(of_series.next(), None, "more than a second of {series}");
    first
}

#[test]
fn as_many_are_in_flight_as_were_at_each_issue() {
    let (mut device, log) = device(|_| 10);
    let depths = [1, 2, 3, 1, 2];
    let ios = depths
        .iter()
        .zip(0..)
        .map(|(depth, place)| ReplayIo { queue_depth: Some(*depth), ..read(place, place * 1000) });
    replay(&mut device, ios.collect(), Timing::IdleCut);
    // Idle time is cut: the fourth waits for the three before it, not for its second.
    let expected =
        [(0, 0.0, 10.0), (1, 0.0, 10.0), (2, 0.0, 10.0), (3, 10.0, 20.0), (4, 10.0, 20.0)];
    assert_eq!(*log.lock().unwrap(), expected);
}

#[test]
fn what_had_completed_before_an_issue_is_waited_for_and_nothing_else() {
    // Recorded: A from 0 to 100, B from 10 to 20, C from 30 to 40 after B, beside A.
    let (mut device, log) = device(|io| if io.offset.0 >> 20 == 1 { 50 } else { 5 });
    let recorded =
        |place, from, to| ReplayIo { completed: Some(Nanos::from_millis(to)), ..read(place, from) };
    let ios = vec![recorded(0, 0, 100), recorded(1, 10, 20), recorded(2, 30, 40)];
    replay(&mut device, ios, Timing::IdleCut);
    // Here A is done long before B; C still waits for B, whose completion it had seen.
    assert_eq!(*log.lock().unwrap(), [(0, 0.0, 5.0), (1, 0.0, 50.0), (2, 50.0, 55.0)]);
}

#[test]
fn nothing_overtakes_a_write_to_the_same_place() {
    let deep = |io: ReplayIo| ReplayIo { queue_depth: Some(8), ..io };
    let (mut device, log) = device(|_| 10);
    let ios = vec![write(0, 0), read(1, 0), read(0, 0), read(1, 0), write(1, 0)];
    replay(&mut device, ios.into_iter().map(deep).collect(), Timing::IdleCut);
    // The read of what is being written waits, and so does all behind it; reads share a place.
    let expected =
        [(0, 0.0, 10.0), (1, 0.0, 10.0), (0, 10.0, 20.0), (1, 10.0, 20.0), (1, 20.0, 30.0)];
    assert_eq!(*log.lock().unwrap(), expected);
}

#[test]
fn without_any_knowledge_one_follows_the_other() {
    let (mut device, log) = device(|_| 10);
    replay(&mut device, (0..3).map(|place| read(place, 0)).collect(), Timing::IdleCut);
    assert_eq!(*log.lock().unwrap(), [(0, 0.0, 10.0), (1, 10.0, 20.0), (2, 20.0, 30.0)]);
}

#[test]
fn the_drives_queue_bounds_what_was_in_flight() {
    let (mut device, log) = device(|_| 10);
    let ios = (0..40).map(|place| ReplayIo { queue_depth: Some(40), ..read(place, 0) });
    replay(&mut device, ios.collect(), Timing::IdleCut);
    let at = |ms: f64| log.lock().unwrap().iter().filter(|(_, begin, _)| *begin == ms).count();
    assert_eq!((at(0.0), at(10.0)), (32, 8));
}

#[test]
fn by_the_clock_no_late_one_moves_anothers_due_time() {
    // One at a time: the first takes 30 ms, all others 1 ms; one is due every 5 ms.
    let script = |io: &Io, _| Nanos::from_millis(if io.offset == Bytes::ZERO { 30 } else { 1 });
    let mut device = Scripted::new(Bytes::from_gib(1), script);
    let ios = (0..20).map(|place| read(place, place * 5)).collect();
    let samples = replay(&mut device, ios, Timing::Recorded { speed: 1.0 });
    // 30, then 26, 22, 18, 14, 10 and 6 while it catches up by 4 ms each time, then 2 and 1.
    let late: u64 = [30, 26, 22, 18, 14, 10, 6, 2].iter().sum();
    let response = only(&samples, "response");
    assert_eq!((response.reads, response.read_bytes), (20, 0));
    assert_eq!(response.latency_mean_ns, (late + 12) * MS / 20);
    assert_eq!(response.latency_max_ns, 30 * MS);
    // The queue took them all when they were due: nothing was late on this side.
    assert_eq!(only(&samples, "lateness").latency_max_ns, 0);
    let reads = only(&samples, "reads");
    assert_eq!((reads.read_bytes, reads.latency_mean_ns), (20 * 4096, response.latency_mean_ns));
    // Mean 7; the mean of the squares of 30, 26, 22, 18, 14, 10, 6, 2 and twelve times 1 is 136.6.
    let variance = 136.6f64 - 49.0;
    assert_eq!(reads.latency_deviation_ns.unwrap() / 1000, (variance.sqrt() * 1e3) as u64);
}

#[test]
fn speed_divides_every_time() {
    for (speed, expected) in [(1.0, [0.0, 100.0, 250.0]), (2.0, [0.0, 50.0, 125.0])] {
        let (mut device, log) = device(|_| 1);
        let ios = vec![read(0, 0), read(1, 100), read(2, 250)];
        replay(&mut device, ios, Timing::Recorded { speed });
        let begins: Vec<f64> = log.lock().unwrap().iter().map(|(_, begin, _)| *begin).collect();
        assert_eq!(begins, expected);
    }
}

#[test]
fn a_full_queue_makes_ios_late_and_that_is_told_apart() {
    // 33 due at once: the last one waits until the others' 10 ms are over.
    let (mut device, _) = device(|_| 10);
    let ios = (0..33).map(|place| read(place, 0)).collect();
    let samples = replay(&mut device, ios, Timing::Recorded { speed: 1.0 });
    assert_eq!(only(&samples, "lateness").latency_max_ns, 10 * MS);
    assert_eq!(only(&samples, "response").latency_max_ns, 20 * MS);
    assert_eq!(only(&samples, "reads").latency_max_ns, 10 * MS);
}

#[test]
fn busy_time_is_the_union_of_what_is_in_flight_second_by_second() {
    // Reads of 300 ms at 0, 200 and 2,900; a write of 1,500 ms at 400; nothing from 1,900 on.
    let (mut device, _) = device(|io| match io.operation {
        Operation::Write => 1500,
        _ => 300,
    });
    let ios = vec![read(0, 0), read(1, 200), write(2, 400), read(3, 2900)];
    let samples = replay(&mut device, ios, Timing::Recorded { speed: 1.0 });
    let busy = |series: &str, busy: fn(&Sample) -> Option<u64>| -> Vec<u64> {
        let of_series = samples.iter().filter(|sample| sample.series == series);
        of_series.filter_map(busy).map(|ns| ns / MS).collect()
    };
    assert_eq!(busy("reads", |s| s.busy_ns), [500, 0, 100, 200]);
    assert_eq!(busy("writes", |s| s.busy_ns), [600, 900, 0, 0]);
    assert_eq!(busy("reads", |s| s.drive_busy_ns), [1000, 900, 100, 200]);
    assert_eq!(busy("writes", |s| s.drive_busy_ns), [0; 0]);
    let spans: Vec<u64> =
        samples.iter().filter(|s| s.series == "reads").map(|s| s.span_ns / MS).collect();
    assert_eq!(spans, [1000, 1000, 1000, 200]);
}

#[test]
fn flushes_and_trims_are_a_series_of_their_own() {
    let (mut device, log) = device(|_| 10);
    let trim = Io::trim(Bytes::ZERO, Bytes::from_gib(1));
    let ios = vec![
        write(0, 0),
        ReplayIo { io: Io::flush(), queue_depth: Some(1), ..read(0, 0) },
        ReplayIo { io: trim, queue_depth: Some(2), ..read(0, 0) },
        ReplayIo { queue_depth: Some(3), ..read(700, 0) },
    ];
    let samples = replay(&mut device, ios, Timing::IdleCut);
    let others = only(&samples, "others");
    assert_eq!((others.trims, others.flushes), (1, 1));
    // The read waits for the trim of its place; the trim does not wait for the flush.
    let begins: Vec<f64> = log.lock().unwrap().iter().map(|(_, begin, _)| *begin).collect();
    assert_eq!(begins, [0.0, 10.0, 10.0, 20.0]);
}

/// A small generator of its own: the same numbers everywhere.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

#[test]
fn whatever_was_recorded_every_operation_is_done_once_in_order_and_none_before_its_time() {
    for seed in 0..200 {
        let mut state = seed;
        let mut issued = 0;
        let mut recorded = Vec::new();
        for _ in 0..100 {
            issued += next(&mut state) % 20;
            let place = next(&mut state) % 30;
            let io = if next(&mut state).is_multiple_of(3) {
                write(place, issued)
            } else {
                read(place, issued)
            };
            let completed = Some(Nanos::from_millis(issued + 1 + next(&mut state) % 60));
            recorded.push(ReplayIo { completed, ..io });
        }
        let takes = move |io: &Io| 1 + (io.offset.0 >> 20) * (seed + 3) % 47;
        let (mut device, log) = device(takes);
        let samples = replay(&mut device, recorded.clone(), Timing::IdleCut);
        let done: u64 = samples.iter().map(Sample::ios).sum();
        assert_eq!(done, 100, "seed {seed}");
        let log = log.lock().unwrap();
        for (later, (place, begin, _)) in log.iter().enumerate() {
            assert_eq!(*place, recorded[later].io.offset.0 >> 20, "seed {seed}: in order");
            for (earlier, (other, _, end)) in log[..later].iter().enumerate() {
                let had_seen = recorded[earlier].completed.unwrap() <= recorded[later].issued;
                let changes = |index: usize| recorded[index].io.operation == Operation::Write;
                let collides = other == place && (changes(earlier) || changes(later));
                let must_wait = had_seen || collides;
                assert!(!must_wait || begin >= end, "seed {seed}: {earlier} before {later}");
            }
        }
    }
}
