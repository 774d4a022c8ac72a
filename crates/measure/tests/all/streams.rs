//! When streams begin and end, and where they are recorded.
use std::ops::ControlFlow;

use writecliff_device::scripted::Scripted;
use writecliff_device::{Bytes, DeviceTime, Io, Nanos, Operation, Telemetry};
use writecliff_measure::{Recorder, Recording, RunDirectory, Sample, Stream, Streams, record};
use writecliff_workload::{By, Of, Pace, RandomUniform, Steady};

const MAX: Nanos = Nanos::from_secs(20);

fn stream(pace: Pace, operation: Operation) -> Stream<'static> {
    Stream {
        ios: Box::new(RandomUniform::new(operation, Bytes::from_gib(1), Bytes(4096), 1)),
        queue_depth: 1,
        pace,
        seed: 1,
        duration: Some(MAX),
        operations: vec![operation],
    }
}

/// What these streams came to on a device that takes a time for each I/O that depends on when.
fn record_on(
    service: impl Fn(DeviceTime) -> Nanos + Send + 'static,
    streams: Streams<'_>,
    series: &[&str],
) -> Vec<Sample> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let directory = RunDirectory::create(&path, &serde_json::json!({}), false).unwrap();
    let mut recorder = Recorder::new(directory, DeviceTime(0), false);
    recorder.begin(series, Telemetry::default());
    let mut device = Scripted::new(Bytes::from_gib(1), move |_: &Io, begins| service(begins));
    let go_on = &mut |_: &Sample, _| ControlFlow::Continue(());
    record(&mut device, streams, None, &mut recorder, go_on).unwrap();
    recorder.finish().close(&serde_json::json!({})).unwrap();
    Recording::open::<serde_json::Value>(&path).unwrap().1.samples
}

/// How many seconds of this series have I/Os.
fn seconds(samples: &[Sample], series: &str) -> usize {
    samples.iter().filter(|sample| sample.series == series && sample.ios() > 1).count()
}

fn steady(after: u64, together: bool) -> Option<Steady> {
    let (over, after) = (Nanos::from_secs(3), Nanos::from_secs(after));
    let (of, by) = (Of::Iops, By::Deviation);
    Some(Steady { of, by, limit_percent: 5.0, over, after, together })
}

/// 100, 50, 33, 25, 20 IOPS, and then always 100.
fn slower_and_then_constant(now: DeviceTime) -> Nanos {
    let second = now.0 / 1_000_000_000;
    Nanos::from_millis(if second < 5 { 10 * (second + 1) } else { 10 })
}

#[test]
fn a_stream_ends_with_the_first_seconds_that_are_steady() {
    // The seconds 5, 6 and 7 are alike; where those before the tenth count for nothing, 10 to 12.
    for (rule, ends) in [(steady(0, false), 8), (steady(10, false), 13), (None, 20)] {
        let streams = Streams::new([stream(Pace::Closed, Operation::Write)]);
        let samples = record_on(slower_and_then_constant, streams.until_steady([rule]), &["all"]);
        assert_eq!(seconds(&samples, "all"), ends, "{rule:?}");
    }
}

/// One is always at 100 IOPS, the other rests for 1.5 s after every 500 I/Os.
#[test]
fn streams_are_judged_each_by_itself_or_by_their_sum() {
    let restless = Pace::Think { rest: Nanos::from_millis(1500), every: 500 };
    for (together, ends) in [(false, 3), (true, 20)] {
        let both = [stream(Pace::Iops(100), Operation::Read), stream(restless, Operation::Write)];
        let streams = Streams::new(both).until_steady([steady(0, together); 2]);
        let samples = record_on(|_| Nanos::from_millis(1), streams, &["even", "restless"]);
        assert_eq!(seconds(&samples, "even"), ends, "together: {together}");
    }
}

#[test]
fn a_stream_begins_with_its_delay_and_keeps_its_pace_from_there() {
    let both = [stream(Pace::Iops(100), Operation::Read), stream(Pace::Closed, Operation::Write)];
    let delays = [Nanos::from_secs(4), Nanos::ZERO];
    let samples = record_on(
        |_| Nanos::from_millis(2),
        Streams::new(both).delayed(delays),
        &["late", "at once"],
    );
    let of = |series: &str| -> Vec<u64> {
        samples.iter().filter(|sample| sample.series == series).map(Sample::ios).collect()
    };
    assert_eq!(of("late")[..4], [0; 4]);
    assert!(of("late")[4..20].iter().all(|ios| ios.abs_diff(100) <= 1), "{:?}", of("late"));
    assert!(of("at once")[0] > 400, "{:?}", of("at once"));
}

#[test]
fn streams_can_share_a_series_of_each_operation() {
    let streams = Streams::new([
        stream(Pace::Iops(100), Operation::Write),
        stream(Pace::Iops(50), Operation::Trim),
        stream(Pace::Iops(10), Operation::Write),
    ])
    .by_operation();
    let samples = record_on(|_| Nanos::from_millis(1), streams, &["writes", "trims"]);
    let sum = |series: &str, of: fn(&Sample) -> u64| -> u64 {
        samples.iter().filter(|sample| sample.series == series).map(of).sum()
    };
    assert_eq!((sum("writes", |s| s.writes), sum("writes", |s| s.trims)), (2200, 0));
    assert_eq!((sum("trims", |s| s.trims), sum("trims", |s| s.writes)), (1000, 0));
    let trimmed = sum("trims", |s| s.trimmed_bytes.unwrap_or(0));
    assert_eq!(trimmed, 1000 * 4096);
    assert_eq!(sum("writes", |s| s.written_bytes), 2200 * 4096);
}

/// 16 in a second at 1 MiB/s, a rest, and then all that the rest made late at once: as fio does.
#[test]
fn what_a_rest_makes_late_of_a_rate_catches_up() {
    let (rate, rest) = (writecliff_device::Throughput(64 << 10), Nanos::from_millis(1500));
    let bursts = Pace::Bursts { rate, rest, every: 16 };
    let streams = Streams::new([stream(bursts, Operation::Read)]);
    let samples = record_on(|_| Nanos::from_micros(100), streams, &["all"]);
    let ios: Vec<u64> = samples.iter().map(Sample::ios).collect();
    // 937 ms for the first 16, then one burst every 1.5 s.
    assert_eq!(ios[..9], [16, 0, 16, 16, 0, 16, 16, 0, 16]);
}
