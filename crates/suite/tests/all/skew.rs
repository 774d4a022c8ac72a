//! The test of skew on drives whose answer theory knows.

use std::ops::ControlFlow;

use writecliff_device::{Bytes, Device};
use writecliff_sim::{Build, Profile, Victim, load};
use writecliff_suite::skew::{LoadFigures, Outcome, Plan};
use writecliff_suite::{Outcome as AnyOutcome, Plan as AnyPlan, RunOptions, run};

/// `tiny`, four times as many smaller blocks, that chooses what to collect in this way.
fn drive(victim: Victim, separate_hot: bool) -> Box<dyn Device> {
    let mut tiny = load("tiny").unwrap().into_ssd().unwrap();
    (tiny.gc.victim, tiny.gc.separate_hot) = (victim, separate_hot);
    tiny.gc.separate_copies = separate_hot;
    tiny.nand.blocks_per_plane *= 4;
    tiny.nand.pages_per_block /= 4;
    Profile::Ssd(Box::new(tiny)).open("sim:tiny")
}

fn outcome_on(mut device: Box<dyn Device>) -> Outcome {
    let directory = tempfile::tempdir().unwrap();
    let plan = AnyPlan::Skew(Plan::default());
    let path = directory.path().join("run");
    let options = RunOptions::default();
    let record =
        run(&plan, device.as_mut(), &path, options, &mut |_| ControlFlow::Continue(())).unwrap();
    match record.outcome {
        Some(AnyOutcome::Skew(outcome)) => outcome,
        other => panic!("{other:?}, {:?}", record.warnings),
    }
}

fn of<'a>(outcome: &'a Outcome, name: &str) -> &'a LoadFigures {
    outcome.loads.iter().find(|load| load.name == name).unwrap()
}

#[test]
fn a_drive_that_collects_in_order_comes_to_what_theory_says_under_every_load() {
    let outcome = outcome_on(drive(Victim::Fifo, false));
    assert_eq!(outcome.loads.len(), 3);
    let mut names = AnyPlan::Skew(Plan::default()).figure_names().unwrap();
    let mut found: Vec<String> =
        AnyOutcome::Skew(outcome.clone()).figures().into_iter().map(|figure| figure.name).collect();
    names.sort();
    found.sort();
    // What is not steady has not settled.
    let plan = AnyPlan::Skew(Plan::default());
    let is_there = |name: &String| found.contains(name) || !plan.is_not_always(name);
    names.retain(is_there);
    assert_eq!(found, names);
    for load in &outcome.loads {
        let found = load.write_amplification.unwrap();
        let mixed = load.mixed_write_amplification.unwrap();
        // What is at rest is still being packed when the rates are steady.
        let near = if load.name == "at-rest" { 0.05 } else { 0.03 };
        assert!((found / mixed - 1.0).abs() < near, "{}: {found}, by theory {mixed}", load.name);
        assert!(load.best_write_amplification.unwrap() < found, "{}", load.name);
    }
}

#[test]
fn pages_that_are_kept_apart_gain_what_there_is_to_gain() {
    let apart = outcome_on(drive(Victim::CostBenefit, true));
    let greedy = outcome_on(drive(Victim::Greedy, false));
    for name in ["hot-and-cold", "at-rest"] {
        let (one, other) = (of(&apart, name), of(&greedy, name));
        let best = one.best_write_amplification.unwrap();
        let (found, without) =
            (one.write_amplification.unwrap(), other.write_amplification.unwrap());
        assert!(found > 0.97 * best && found < 1.5 * best, "{name}: {found}, at best {best}");
        assert!(found < 0.8 * without, "{name}: {found}, greedy {without}");
        assert!(one.times(&apart.uniform) > 1.2 * other.times(&greedy.uniform), "{name}");
    }
}

#[test]
fn a_hard_disk_has_nothing_that_skew_could_help() {
    let mut disk = load("wd-caviar-se16-640gb").unwrap().open("sim:disk");
    let directory = tempfile::tempdir().unwrap();
    let (plan, path) = (AnyPlan::Skew(Plan::default()), directory.path().join("run"));
    let options = RunOptions::default();
    let record =
        run(&plan, disk.as_mut(), &path, options, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!((record.outcome, record.phases), (None, Vec::new()));
    let doubts: Vec<String> = record.warnings.iter().map(ToString::to_string).collect();
    assert!(doubts.iter().any(|doubt| doubt.starts_with("A hard disk has no garbage collection")));
}

/// A drive that writes a load in a second has figures of it, and a doubt about each.
#[test]
fn loads_that_are_over_too_soon_are_told_with_a_doubt() {
    let mut device = load("tiny").unwrap().open("sim:tiny");
    let directory = tempfile::tempdir().unwrap();
    let plan = AnyPlan::Skew(Plan { span: Some(Bytes::from_mib(4)), ..Plan::default() });
    let (path, options) = (directory.path().join("run"), RunOptions::default());
    let record =
        run(&plan, device.as_mut(), &path, options, &mut |_| ControlFlow::Continue(())).unwrap();
    let Some(AnyOutcome::Skew(outcome)) = record.outcome else { panic!("{:?}", record.warnings) };
    let doubts: Vec<String> = record.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(outcome.loads.len(), 3);
    for load in outcome.loads {
        let doubt = format!("{}: not steady within", load.name);
        assert!(doubts.iter().any(|told| told.starts_with(&doubt)), "{doubts:?}");
        assert!(load.rate.iops > 0.0);
        assert_eq!(load.settled, None, "what is not steady has not settled");
    }
}

#[test]
fn what_cannot_be_asked_is_refused_by_its_name() {
    let refused = |plan: Plan| {
        let mut device = load("tiny").unwrap().open("sim:tiny");
        let directory = tempfile::tempdir().unwrap();
        let (plan, path) = (AnyPlan::Skew(plan), directory.path().join("run"));
        let options = RunOptions::default();
        run(&plan, device.as_mut(), &path, options, &mut |_| ControlFlow::Continue(()))
            .unwrap_err()
            .to_string()
    };
    let plan = Plan::default;
    let named = |name: &str| {
        let mut plan = plan();
        name.clone_into(&mut plan.loads[0].name);
        plan
    };
    for (plan, said) in [
        (Plan { loads: Vec::new(), ..plan() }, "at least one skewed load"),
        (Plan { drive_writes: f64::NAN, ..plan() }, "between 1 and 100"),
        (Plan { drive_writes: 0.5, ..plan() }, "0.5"),
        (named("uniform-2"), "'uniform-2'"),
        (named("at-rest"), "'at-rest'"),
        (Plan { block: Bytes(100), ..plan() }, "100"),
    ] {
        let words = refused(plan);
        assert!(words.contains(said), "{words}");
    }
}
