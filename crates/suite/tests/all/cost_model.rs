//! The test of cost models, on drives whose answer is known.

use std::ops::ControlFlow;

use writecliff_device::Nanos;
use writecliff_sim::{Build, Profile, SsdProfile, load};
use writecliff_suite::cost_model::{Coefficient, Outcome, Plan};
use writecliff_suite::{Outcome as AnyOutcome, Plan as AnyPlan, RunOptions, Warning, open, run};

fn tiny() -> SsdProfile {
    load("tiny").unwrap().into_ssd().unwrap()
}

fn plan() -> Plan {
    Plan { measurement: Nanos::from_secs(5), settle: Nanos::from_secs(60), ..Plan::default() }
}

fn on(profile: SsdProfile) -> (Outcome, Vec<Warning>) {
    let mut device = Profile::Ssd(Box::new(profile)).open("sim:tiny");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run");
    let options = RunOptions::default();
    let plan = AnyPlan::CostModel(plan());
    let record =
        run(&plan, device.as_mut(), &path, options, &mut |_| ControlFlow::Continue(())).unwrap();
    match record.outcome {
        Some(AnyOutcome::CostModel(outcome)) => (outcome, record.warnings),
        other => panic!("{other:?}, {:?}", record.warnings),
    }
}

#[test]
fn the_steady_model_is_that_of_a_drive_past_its_cliff() {
    let (outcome, warnings) = on(tiny());
    let (fresh, steady) = (outcome.fresh.unwrap(), outcome.steady.unwrap());
    // Reads know no cliff.
    assert!((fresh.rrandiops / steady.rrandiops - 1.0).abs() < 0.2, "{outcome:#?}");
    let promise = outcome.promise.unwrap();
    assert!((promise.times - fresh.wrandiops / steady.wrandiops).abs() < 1e-9);
    assert!(promise.times > 1.2 && promise.drive_writes < 1.0, "{promise:?}");
    assert_eq!(outcome.worst_promise().map(|(one, _)| one.counts_bytes()), Some(false));
    let limits = outcome.limits.unwrap();
    assert_eq!(limits.percentile, 95.0);
    assert_eq!(limits.least_percent(), f64::from(limits.percent) * 0.6);
    assert_eq!(limits.hold(), Some(true), "{limits:?}, {warnings:?}");
    // Each arrives at half of the share of its own rate.
    for rung in &outcome.rungs {
        let share = f64::from(rung.percent) / 200.0;
        assert_eq!(rung.reads.asked_iops, (steady.rrandiops * share).round() as u64);
        assert_eq!(rung.writes.asked_iops, (steady.wrandiops * share).round() as u64);
    }
    let kept = outcome.rungs.iter().filter(|rung| rung.kept).count();
    assert_eq!(
        outcome.rungs[kept - 1].percent,
        limits.percent,
        "shares grow until one is not kept"
    );
    assert!(outcome.rungs.len() <= kept + 1);
    let highest = outcome.rungs[kept - 1].reads.at_percentile_ns.unwrap();
    assert_eq!(limits.read.0, (highest as f64 * 1.5).round() as u64);
}

/// What a drive keeps is known once it did not keep more, or all.
#[test]
fn a_run_that_ended_among_the_shares_says_of_none_that_it_is_the_most() {
    let (whole, _) = on(tiny());
    let last = whole.limits.unwrap().percent;
    for percent in [10, 25, last] {
        let mut device = Profile::Ssd(Box::new(tiny())).open("sim:tiny");
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run");
        let within = format!("mixed-{percent}%");
        let mut told = 0;
        let result = run(
            &AnyPlan::CostModel(plan()),
            device.as_mut(),
            &path,
            RunOptions::default(),
            &mut |progress| {
                told += u32::from(progress.step == within);
                if told > 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
        );
        let record = result.unwrap_or_else(|_| open(&path).unwrap().0);
        let Some(AnyOutcome::CostModel(outcome)) = record.outcome else { panic!("no outcome") };
        assert_eq!(outcome.limits, None, "{percent}: {outcome:?}");
        assert!(outcome.rungs.iter().all(|rung| rung.kept && rung.percent < percent));
    }
}

#[test]
fn figures_are_those_that_were_foretold() {
    let plan = AnyPlan::CostModel(plan());
    let foretold = plan.figure_names().unwrap();
    let (outcome, _) = on(tiny());
    let found: Vec<String> =
        AnyOutcome::CostModel(outcome).figures().into_iter().map(|figure| figure.name).collect();
    assert_eq!(found.len(), Coefficient::ALL.len() * 2 + 4);
    assert!(found.iter().all(|name| foretold.contains(name)), "{found:?} {foretold:?}");
    let missing = foretold.iter().filter(|name| !found.contains(name));
    assert!(missing.clone().all(|name| plan.is_not_always(name)));
}

#[test]
fn a_drive_that_has_no_cliff_promises_nothing_too_much() {
    let mut roomy = tiny();
    roomy.nand.blocks_per_plane *= 4;
    let (outcome, _) = on(roomy);
    let (fresh, steady) = (outcome.fresh.unwrap(), outcome.steady.unwrap());
    assert!(fresh.wrandiops / steady.wrandiops < 1.5, "{outcome:?}");
}
