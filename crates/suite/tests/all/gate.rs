//! The gate: limits at their bounds, and a run against an earlier one.
use std::ops::ControlFlow;

use writecliff_device::Nanos;
use writecliff_sim::{Ssd, load};
use writecliff_suite::consistency::WorstSecond;
use writecliff_suite::gate::{Check, GateError, Limits, Of, gate};
use writecliff_suite::{
    MethodWarning, Outcome, Plan, RunOptions, RunRecord, Status, Warning, WindowState, consistency,
    power, run,
};

fn record(plan: &Plan) -> RunRecord {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut ssd = Ssd::new(load("tiny").unwrap().into_ssd().unwrap(), "sim:tiny");
    let mut go_on = |_: &writecliff_suite::Progress<'_>| ControlFlow::Continue(());
    run(plan, &mut ssd, &path, RunOptions::default(), &mut go_on).unwrap()
}

/// A run that is steady, and so has the figures that most limits are about.
fn consistent() -> RunRecord {
    let run = lasting(300);
    assert!(run.warnings.iter().all(|doubt| doubt.window_state() == WindowState::Settled));
    run
}

fn lasting(seconds: u64) -> RunRecord {
    record(&Plan::Consistency(consistency::Plan::lasting(Nanos::from_secs(seconds))))
}

fn outcome(record: &mut RunRecord) -> &mut consistency::Outcome {
    match &mut record.outcome {
        Some(Outcome::Consistency(outcome)) => outcome,
        other => panic!("{other:?}"),
    }
}

fn failed(checks: &[Check]) -> Vec<&str> {
    checks.iter().filter(|check| !check.passes()).map(|check| check.figure.as_str()).collect()
}

/// A drive that fell further before its steady window than in it does not pass by its floor.
#[test]
fn the_worst_second_is_that_of_the_whole_run_and_the_floor_that_of_the_window() {
    let mut run = consistent();
    let outcome = outcome(&mut run);
    outcome.steady_iops.floor = 3536.0;
    outcome.worst = Some(WorstSecond { second: 702, iops: 2316.0 });
    let runs = [run];
    let floor = Limits { min_floor_iops: Some(3000.0), ..Limits::default() };
    assert_eq!(failed(&gate(&runs, &floor, None, 5.0).unwrap()), [""; 0]);
    let worst = Limits { min_worst_iops: Some(3000.0), ..floor };
    assert_eq!(failed(&gate(&runs, &worst, None, 5.0).unwrap()), ["worst second"]);
}

#[test]
fn what_is_equal_to_a_limit_passes_and_a_hair_beyond_does_not() {
    let mut run = consistent();
    let outcome = outcome(&mut run);
    (outcome.steady_iops.floor, outcome.floor_to_mean) = (5000.0, 0.5);
    outcome.steady_latency.p999_ns = Some(20_000_000);
    let runs = [run];
    let at = |floor, p999, share| Limits {
        min_floor_iops: Some(floor),
        max_p999: Some(p999),
        min_floor_to_mean: Some(share),
        ..Limits::default()
    };
    let exact = at(5000.0, Nanos::from_millis(20), 50.0);
    assert_eq!(failed(&gate(&runs, &exact, None, 5.0).unwrap()), [""; 0]);
    // Of a percentile it is a step.
    let beyond = at(5000.1, Nanos(19_840_000), 50.1);
    let names = ["steady floor", "steady floor / mean", "steady latency p99.9"];
    assert_eq!(failed(&gate(&runs, &beyond, None, 5.0).unwrap()), names);
}

#[test]
fn a_run_is_no_worse_than_itself_and_worse_than_a_better_one() {
    let run = [consistent()];
    let mut better = run.clone();
    let none = Limits::default();
    let checks = gate(&run, &none, Some(&better), 0.0).unwrap();
    assert!(checks.len() >= 10 && failed(&checks).is_empty(), "{checks:?}");

    outcome(&mut better[0]).steady_iops.mean *= 1.06;
    let p99 = &mut outcome(&mut better[0]).steady_latency.p99_ns;
    *p99 = p99.map(|nanos| nanos / 2);
    let checks = gate(&run, &none, Some(&better), 5.0).unwrap();
    assert_eq!(failed(&checks), ["steady mean", "steady latency p99"]);
    // The other way round it is an improvement.
    assert!(failed(&gate(&better, &none, Some(&run), 5.0).unwrap()).is_empty());
}

/// The mean of repeats may hide that one of them misses what is asked.
#[test]
fn every_repeat_keeps_a_limit_and_their_mean_is_held_against_a_baseline() {
    let with = |floor: f64, p99_ns: Option<u64>| {
        let mut run = consistent();
        outcome(&mut run).steady_iops.floor = floor;
        outcome(&mut run).steady_latency.p99_ns = p99_ns;
        run
    };
    let runs = [with(5000.0, Some(1_000_000)), with(7000.0, Some(9_000_000))];
    let limits = Limits {
        min_floor_iops: Some(5500.0),
        max_p99: Some(Nanos::from_millis(6)),
        ..Limits::default()
    };
    let checks = gate(&runs, &limits, None, 0.0).unwrap();
    let said = checks.iter().map(|check| (check.got, check.of, check.runs, check.passes()));
    let worst = [(5000.0, Of::Worst, 2, false), (9.0, Of::Worst, 2, false)];
    assert_eq!(said.collect::<Vec<_>>(), worst);
    let baseline = [with(6000.0, Some(5_000_000))];
    let checks = gate(&runs, &Limits::default(), Some(&baseline), 0.0).unwrap();
    assert!(failed(&checks).is_empty() && checks.iter().all(|check| check.of == Of::Mean));
    // One that was too short for a percentile does not leave it to the others.
    let short = [runs[0].clone(), with(7000.0, None)];
    let refused = gate(&short, &limits, None, 0.0).unwrap_err().to_string();
    let said = "max_p99 is about the consistency test's 'steady latency p99', which 1 of 2 runs do not \
                have; it takes a longer run";
    assert_eq!(refused, said);
    let refused = gate(&short[1..], &limits, None, 0.0).unwrap_err().to_string();
    assert!(refused.contains("which this run does not have"), "{refused}");
}

/// Every doubt about the window, and every limit: those of the steady state cannot be asked, those of the
/// whole time can.
#[test]
fn a_run_that_is_not_steady_passes_no_limit_of_the_steady_state() {
    let some = || Some(Nanos::from_secs(1));
    let of_the_window: [(&str, Limits); 6] = [
        ("min_floor_iops", Limits { min_floor_iops: Some(1.0), ..Limits::default() }),
        ("min_mean_iops", Limits { min_mean_iops: Some(1.0), ..Limits::default() }),
        ("min_floor_to_mean", Limits { min_floor_to_mean: Some(1.0), ..Limits::default() }),
        ("max_p99", Limits { max_p99: some(), ..Limits::default() }),
        ("max_p999", Limits { max_p999: some(), ..Limits::default() }),
        ("max_p9999", Limits { max_p9999: some(), ..Limits::default() }),
    ];
    let whole = Limits { min_worst_iops: Some(1.0), max_latency: some(), ..Limits::default() };
    let doubts = [
        MethodWarning::TooShort { seconds: 100, window: 30 },
        MethodWarning::TooFewWrites { drive_writes: 0.5, went_on: false },
        MethodWarning::NotSteady { percent: 12.0 },
        MethodWarning::NotSteadyWithin { drive_writes: 9.0, most: 8.0, range: 30.0, percent: 12.0 },
    ];
    let steady = consistent();
    for doubt in doubts {
        let said = doubt.to_string();
        let mut run = steady.clone();
        run.warnings.push(Warning::Method(doubt));
        let runs = [steady.clone(), run];
        assert_eq!(gate(&runs, &whole, None, 5.0).unwrap().len(), 2);
        assert!(
            gate(&runs, &Limits::default(), Some(&runs), 5.0).is_ok(),
            "noted, with its plan's like"
        );
        for (limit, limits) in of_the_window {
            let refused = gate(&runs, &limits, None, 5.0).unwrap_err().to_string();
            assert!(refused.starts_with(limit) && refused.ends_with(&said), "{refused}");
            assert!(refused.contains("which 1 of 2 runs do not come to"), "{refused}");
        }
    }
    let short = gate(&[lasting(100)], &of_the_window[0].1, None, 5.0).unwrap_err();
    assert!(matches!(short, GateError::NotSteady { unsteady: 1, runs: 1, .. }), "{short}");
}

#[test]
fn what_cannot_be_decided_is_an_error_and_no_pass() {
    let run = [consistent()];
    let none = Limits::default();
    let refused = |runs: &[RunRecord], limits, baseline: Option<&[RunRecord]>| {
        gate(runs, limits, baseline, 5.0).unwrap_err()
    };
    assert_eq!(refused(&run, &none, None), GateError::NothingAsked);
    let mut cut = run.clone();
    cut[0].status = Status::Interrupted;
    let floor = Limits { min_floor_iops: Some(1.0), ..Limits::default() };
    let incomplete = GateError::Incomplete { test: "consistency" };
    assert_eq!(refused(&cut, &floor, None), incomplete);
    let short = Nanos::from_secs(2);
    let plan = power::Plan { idle: short, load: short, settle: short, ..Default::default() };
    let power = [record(&Plan::Power(plan))];
    let absent = GateError::NoConsistency { limit: "min_floor_iops" };
    assert_eq!(refused(&power, &floor, None), absent);
    assert_eq!(refused(&power, &none, Some(&run)), GateError::NothingInCommon);
    let both = [power[0].clone(), run[0].clone()];
    let missing = GateError::Missing { test: "consistency", figure: None };
    let stutter = RunRecord { plan: Plan::Stutter(Default::default()), ..power[0].clone() };
    assert_eq!(refused(&[power[0].clone(), stutter], &none, Some(&both)), missing);
    // Tiny tells no power: nothing to compare there, and that is no failure.
    assert!(gate(&both, &none, Some(&both), 0.0).unwrap().iter().all(Check::passes));
    // A percentile is told as the end of its step; what has none is exact.
    let mut stepped = run.clone();
    outcome(&mut stepped[0]).steady_latency.p99_ns = Some(2_007_000);
    outcome(&mut stepped[0]).longest_ns = 2_007_000;
    let p99 = |nanos| Limits { max_p99: Some(Nanos(nanos)), ..Limits::default() };
    let two = p99(2_000_000);
    let within = refused(&stepped, &two, None);
    assert!(matches!(within, GateError::WithinStep { limit: "max_p99", .. }), "{within}");
    assert!(within.to_string().contains("2 ms at most"), "{within}");
    assert!(!gate(&stepped, &p99(1_990_000), None, 5.0).unwrap()[0].passes());
    assert!(gate(&stepped, &p99(2_007_000), None, 5.0).unwrap()[0].passes());
    let longest = Limits { max_latency: Some(Nanos(2_000_000)), ..Limits::default() };
    assert!(!gate(&stepped, &longest, None, 5.0).unwrap()[0].passes());
    let mut gone = run.clone();
    outcome(&mut gone[0]).steady_write_amplification = None;
    let figure = Some("write amplification".to_owned());
    let missing = GateError::Missing { test: "consistency", figure };
    assert_eq!(refused(&gone, &none, Some(&run)), missing);
    let mut other = run.clone();
    other[0].plan = Plan::Consistency(consistency::Plan { seed: 2, ..Default::default() });
    let different = GateError::OtherPlan { test: "consistency" };
    assert_eq!(refused(&run, &none, Some(&other)), different);
}
