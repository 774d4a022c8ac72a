//! Arrivals that know nothing of the drive, on devices whose answer to them is known.
use std::ops::ControlFlow;

use writecliff_device::scripted::Scripted;
use writecliff_device::{Bytes, Device, DeviceTime, Io, Nanos, Operation, Telemetry};
use writecliff_measure::{
    Recorder, Recording, RunDirectory, Sample, Stream, Streams, Totals, Waiting, record,
};
use writecliff_workload::{Gaps, Pace, RandomUniform};

const SPAN: Bytes = Bytes::from_gib(1);

/// Records arrivals for so long, of which so many may be in flight.
fn recorded(
    device: &mut Scripted,
    (iops, gaps): (u64, Gaps),
    seconds: u64,
    (queue_depth, seed): (usize, u64),
) -> Vec<Sample> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let directory = RunDirectory::create(&path, &serde_json::json!({}), false).unwrap();
    let mut recorder = Recorder::new(directory, device.now(), false);
    recorder.begin(&["arrivals"], Telemetry::default());
    let stream = Stream {
        ios: Box::new(RandomUniform::new(Operation::Read, SPAN, Bytes(4096), 1)),
        queue_depth,
        pace: Pace::Arrivals { iops, gaps },
        seed,
        duration: Some(Nanos::from_secs(seconds)),
        operations: Vec::new(),
    };
    let go_on = &mut |_: &Sample, _: Waiting| ControlFlow::Continue(());
    record(device, Streams::new([stream]), None, &mut recorder, go_on).unwrap();
    recorder.finish().close(&serde_json::json!({})).unwrap();
    Recording::open::<serde_json::Value>(&path).unwrap().1.samples
}

/// Serves one I/O after the other, each in this time.
fn constant(service: Nanos) -> Scripted {
    Scripted::new(SPAN, move |_, _| service)
}

/// One read in flight at most: whoever comes in a pause of a second has not even begun in it.
#[test]
fn what_comes_in_a_pause_has_waited_for_its_end() {
    let (begins, ends) = (2_000_000_000, 3_000_000_000);
    let millisecond = Nanos::from_millis(1);
    let script = move |_: &Io, now: DeviceTime| match (begins..ends).contains(&now.0) {
        true => Nanos(ends - now.0) + millisecond,
        false => millisecond,
    };
    let samples = recorded(&mut Scripted::new(SPAN, script), (100, Gaps::Steady), 5, (1, 1));
    let totals = Totals::of(&samples);
    // The k-th of the pause comes 10 k ms after its begin and is served k + 1 ms after its end,
    // until the queue is empty again: 1000 + 1 - 9 k ms, for as long as that is more than 1 ms.
    let late: u64 = (0..).map(|k| 1001_u64.saturating_sub(9 * k)).take_while(|ms| *ms > 1).sum();
    let late_ios = (0..).take_while(|k| 9 * k < 1000).count() as u64;
    assert_eq!(totals.ios, 500);
    assert_eq!(samples[3].latency_max_ns, 1_001_000_000);
    let nanos: u64 = samples.iter().map(|sample| sample.ios() * sample.latency_mean_ns).sum();
    let expected = (late + 500 - late_ios) * 1_000_000;
    assert!(nanos.abs_diff(expected) <= 500, "{nanos} instead of {expected}");
}

/// The mean response of one server with Poisson arrivals and a constant service time S at
/// utilisation u is S (1 + u / (2 (1 - u))); with steady arrivals nobody waits.
#[test]
fn poisson_arrivals_wait_as_queueing_theory_says() {
    for (iops, within) in [(1000, 0.005), (5000, 0.01), (8000, 0.02)] {
        let service = Nanos::from_micros(100);
        let all = |gaps| Totals::of(&recorded(&mut constant(service), (iops, gaps), 100, (8, 1)));
        let (poisson, steady) = (all(Gaps::Poisson), all(Gaps::Steady));
        assert_eq!((steady.ios, steady.longest), (iops * 100, service));
        let load = iops as f64 / 10_000.0;
        let expected = 100_000.0 * (1.0 + load / (2.0 * (1.0 - load)));
        let ratio = poisson.mean().0 as f64 / expected;
        assert!((ratio - 1.0).abs() < within, "at {iops} I/Os per second {ratio}");
        let count = poisson.ios as f64 / (iops * 100) as f64;
        assert!((count - 1.0).abs() < 0.01, "at {iops} I/Os per second {count} of them came");
    }
}

/// Counts of a Poisson process vary by as much as they are.
#[test]
fn the_seconds_of_poisson_arrivals_differ_as_they_should_and_as_the_seed_says() {
    let counts = |seed| -> Vec<u64> {
        let mut device = constant(Nanos(1));
        let samples = recorded(&mut device, (200, Gaps::Poisson), 1000, (1, seed));
        samples.iter().map(Sample::ios).collect()
    };
    let first = counts(1);
    let mean = first.iter().sum::<u64>() as f64 / first.len() as f64;
    let squares: f64 = first.iter().map(|count| (*count as f64 - mean).powi(2)).sum();
    let dispersion = squares / first.len() as f64 / mean;
    assert!((0.85..1.15).contains(&dispersion), "{dispersion}");
    assert_eq!(first, counts(1));
    assert_ne!(first, counts(2));
}

/// Twice as many as can be served: what has not begun after twice the time never does.
#[test]
fn overload_ends() {
    let device = &mut constant(Nanos::from_millis(1));
    let samples = recorded(device, (10_000, Gaps::Poisson), 5, (32, 1));
    let totals = Totals::of(&samples);
    assert!((9_900..=10_100).contains(&totals.ios), "{}", totals.ios);
    assert!(device.now() <= DeviceTime(10_100_000_000), "{:?}", device.now());
}
