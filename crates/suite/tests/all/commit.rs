//! The test of commits on drives whose answer is known.

use std::ops::ControlFlow;

use writecliff_device::{Bytes, Durability, Layout, Nanos};
use writecliff_sim::{Build, Profile, SsdProfile, load, scaled};
use writecliff_suite::commit::{Instead, Outcome, Plan, Setting, Stage, Took};
use writecliff_suite::{
    HostWarning, MethodWarning, Outcome as AnyOutcome, Plan as AnyPlan, RunOptions, Warning, run,
};

const PAGE: Bytes = Bytes::from_kib(4);

fn tiny() -> SsdProfile {
    load("tiny").unwrap().into_ssd().unwrap()
}

fn on(profile: SsdProfile) -> (Outcome, Vec<Warning>) {
    let mut device = Profile::Ssd(Box::new(profile)).open("sim:tiny");
    let directory = tempfile::tempdir().unwrap();
    let plan = Plan { measurement: Nanos::from_secs(2), ..Plan::default() };
    let path = directory.path().join("run");
    let plan = AnyPlan::Commit(plan);
    let options = RunOptions::default();
    let record =
        run(&plan, device.as_mut(), &path, options, &mut |_| ControlFlow::Continue(())).unwrap();
    match record.outcome {
        Some(AnyOutcome::Commit(outcome)) => (outcome, record.warnings),
        other => panic!("{other:?}, {:?}", record.warnings),
    }
}

fn took(outcome: &Outcome, stage: Stage, durability: Durability, committers: usize) -> Took {
    outcome
        .find(stage, Setting { durability, size: PAGE, committers, log: Layout::Overwritten })
        .unwrap()
        .took
}

/// Within the width of a histogram's cell.
fn assert_near(nanos: u64, expected: Nanos) {
    let ratio = nanos as f64 / expected.0 as f64;
    assert!((0.992..1.009).contains(&ratio), "{nanos} ns, expected {expected}");
}

#[test]
fn a_commit_takes_its_write_a_program_and_the_flush() {
    let profile = tiny();
    let command = profile.firmware.write_time + profile.link.command_time;
    let write = command + profile.link.write_throughput.time_for(PAGE);
    let program = profile.nand.program_time.mean()
        + profile.nand.channel_throughput.time_for(profile.program_size());
    let (outcome, warnings) = on(profile);
    let fresh = |durability| took(&outcome, Stage::Fresh, durability, 1).latency.p50_ns;
    assert_near(fresh(Durability::Later), write);
    assert_near(fresh(Durability::Forced), write + program);
    assert_near(fresh(Durability::Flushed), write + program + command);
    let only_data = Warning::Method(MethodWarning::FlushOfDataOnly);
    assert!(warnings.contains(&only_data), "{warnings:?}");
    // Beside pages that fill the buffer a commit waits for all of it.
    let beside = outcome.beside.iter().find(|beside| beside.percent == 100).unwrap();
    assert!(beside.took.latency.p50_ns > 10 * fresh(Durability::Flushed));
    let half = outcome.beside.iter().find(|beside| beside.percent == 50).unwrap();
    assert!((half.pages.iops / beside.pages.iops - 0.5).abs() < 0.05, "{outcome:?}");
    let cliff = outcome.cliff.as_ref().unwrap();
    assert!((2..=300).contains(&cliff.course.len()) && cliff.seconds >= 600);
    let (first, last) = (cliff.course[0].pages, cliff.course.last().unwrap().pages);
    assert!(first > last && last > 0.0, "the pages meet the cliff: {first}, {last}");
    assert!(
        (beside.pages.iops / last - 1.0).abs() < 0.1,
        "the full speed is what it keeps: {beside:?}, {last}"
    );
}

#[test]
fn figures_are_those_that_were_foretold() {
    let plan = AnyPlan::Commit(Plan::default());
    let foretold = plan.figure_names().unwrap();
    let (outcome, _) = on(tiny());
    let found: Vec<String> =
        AnyOutcome::Commit(outcome).figures().into_iter().map(|figure| figure.name).collect();
    assert!(found.iter().all(|name| foretold.contains(name)), "{found:?}");
    let missing = foretold.iter().filter(|name| !found.contains(name));
    assert!(
        missing.clone().all(|name| plan.is_not_always(name)),
        "{:?}",
        missing.collect::<Vec<_>>()
    );
}

#[test]
fn capacitors_keep_commits_short_whatever_is_written_beside_them() {
    let mut protected = tiny();
    protected.write_buffer.protected = true;
    let (outcome, warnings) = on(protected);
    let fresh = took(&outcome, Stage::Fresh, Durability::Flushed, 1);
    let steady = took(&outcome, Stage::Steady, Durability::Flushed, 1);
    assert!(fresh.latency.p50_ns == steady.latency.p50_ns && fresh.latency.p50_ns < 30_000);
    let only_data = Warning::Method(MethodWarning::FlushOfDataOnly);
    assert!(!warnings.contains(&only_data), "{warnings:?}");
}

#[test]
fn verdicts_say_yes_and_no_by_the_limits_of_those_who_ask() {
    let slow = |flush_time| {
        let mut profile = tiny();
        profile.write_buffer.flush_time = flush_time;
        let (outcome, warnings) = on(profile);
        let only_data = Warning::Method(MethodWarning::FlushOfDataOnly);
        assert!(!warnings.contains(&only_data), "{warnings:?}");
        outcome
    };
    let holds = |outcome: &Outcome, who: &str| -> Vec<Option<bool>> {
        let verdicts = outcome.verdicts(&[]);
        let of = verdicts.iter().filter(|verdict| verdict.who == who);
        of.map(|verdict| verdict.fresh.unwrap().holds).collect()
    };
    assert_eq!(holds(&slow(Nanos::from_millis(8)), "etcd"), [Some(true), Some(true)]);
    let outcome = slow(Nanos::from_millis(12));
    assert_eq!(holds(&outcome, "etcd"), [Some(false), Some(true)]);
    assert_eq!(holds(&slow(Nanos::from_millis(120)), "etcd"), [Some(false), Some(false)]);
    // Each for itself, they wait for the same flushes and no longer than one alone.
    let one = took(&outcome, Stage::Fresh, Durability::Flushed, 1);
    let four = took(&outcome, Stage::Fresh, Durability::Flushed, 4);
    // What committers do who do nothing in between is their number over the mean (J. Little, 1961), but for those
    // that were under way at the end.
    assert!((one.per_second * one.mean_ns as f64 / 1e9 - 1.0).abs() < 0.02);
    assert!((four.per_second * four.mean_ns as f64 / 1e9 - 4.0).abs() < 0.08);
    let sqlite: Vec<f64> = outcome
        .verdicts(&[])
        .iter()
        .filter(|verdict| verdict.who.starts_with("SQLite"))
        .map(|verdict| verdict.fresh.unwrap().value)
        .collect();
    assert_eq!(sqlite, [one.per_second, one.per_second / 3.0]);
}

/// A limit that is broken beside fewer pages is not kept beside all of them, and what was measured while something was
/// wrong is said to be.
#[test]
fn a_limit_is_kept_beside_pages_only_where_it_is_beside_fewer_as_well() {
    let took = |longest_ms: u64| {
        serde_json::json!({
            "count": 1000, "per_second": 900.0, "mean_ns": 1,
            "latency": {
                "p50_ns": 1, "p99_ns": 2, "p999_ns": 3, "p9999_ns": null, "max_ns": longest_ms * 1_000_000,
            },
        })
    };
    let of = |value: serde_json::Value, more: serde_json::Value| {
        let mut value = value;
        value.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        value
    };
    let pages =
        serde_json::json!({ "iops": 1.0, "megabytes_per_second": 1.0, "mean_ns": 1, "max_ns": 1 });
    let setting = serde_json::json!({
        "stage": "steady", "durability": "flushed", "size": "4KiB", "committers": 1,
    });
    let verdict = |full: u64, half: u64, doubts: &[Warning]| {
        let beside = [(100, full), (50, half)].map(|(percent, longest)| {
            serde_json::json!({ "percent": percent, "pages": pages, "took": took(longest) })
        });
        let commits = [of(took(1), setting.clone())];
        let outcome = serde_json::json!({ "commits": commits, "beside": beside });
        let outcome: Outcome = serde_json::from_value(outcome).unwrap();
        let all = outcome.verdicts(doubts);
        let heartbeat = all.iter().find(|one| one.asks.contains("heartbeat")).unwrap();
        let beside = heartbeat.beside.unwrap();
        (beside.value, beside.holds, beside.in_doubt, heartbeat.steady.unwrap().in_doubt)
    };
    assert_eq!(verdict(93, 40, &[]), (93.0, Some(true), false, false));
    assert_eq!(verdict(93, 181, &[]), (181.0, Some(false), false, false));
    assert_eq!(verdict(141, 181, &[]), (141.0, Some(false), false, false));
    let held_up = |phase: &str| {
        Warning::from(HostWarning::HeldUp {
            span: Nanos::from_secs(1),
            phases: vec![phase.to_owned()],
        })
    };
    let beside = verdict(93, 40, &[held_up("beside-100%")]);
    assert_eq!(beside, (93.0, Some(true), true, false));
    let alone = verdict(93, 40, &[held_up("steady-flushed-4KiB")]);
    assert_eq!(alone, (93.0, Some(true), false, true));
}

/// Too few commits for a 99th percentile decide a limit that it must lie on one side of.
#[test]
fn of_few_commits_the_longest_keeps_a_limit_or_the_median_breaks_it() {
    let verdict = |p50_ms: u64, max_ms: u64| {
        let [p50_ns, max_ns] = [p50_ms, max_ms].map(|ms| ms * 1_000_000);
        let commits = serde_json::json!([{
            "stage": "steady", "durability": "flushed", "size": "4KiB", "committers": 1,
            "count": 50, "per_second": 900.0, "mean_ns": 1,
            "latency": {
                "p50_ns": p50_ns, "p99_ns": null, "p999_ns": null, "p9999_ns": null, "max_ns": max_ns,
            },
        }]);
        let outcome = serde_json::json!({ "commits": commits, "beside": [] });
        let outcome: Outcome = serde_json::from_value(outcome).unwrap();
        let all = outcome.verdicts(&[]);
        let p99 = all.iter().find(|one| one.asks.starts_with("99 %"));
        p99.and_then(|one| one.steady).map(|answer| (answer.value, answer.holds, answer.instead))
    };
    assert_eq!(verdict(2, 7), Some((7.0, Some(true), Some(Instead::Longest))));
    assert_eq!(verdict(185, 219), Some((185.0, Some(false), Some(Instead::Median))));
    assert_eq!(verdict(2, 219), None, "it may lie on either side");
}

/// A directory's logs are told apart, and who writes which is judged by it: by no other one where the run did not
/// come to it, and by the one that there is where the file system preallocates nothing.
#[test]
fn in_a_directory_each_is_judged_by_a_log_like_its_own() {
    let commits = |log: &str, per_second: f64| {
        serde_json::json!({
            "stage": "as-it-is",
            "durability": "flushed", "size": "4KiB", "committers": 1, "log": log,
            "count": 1000, "per_second": per_second, "mean_ns": 1,
            "latency": { "p50_ns": 1, "p99_ns": 2, "p999_ns": 3, "p9999_ns": null, "max_ns": 4 },
        })
    };
    let verdicts = |commits: &[serde_json::Value]| -> Vec<(&str, f64)> {
        let outcome = serde_json::json!({ "commits": commits, "beside": [] });
        let outcome: Outcome = serde_json::from_value(outcome).unwrap();
        let mut told: Vec<_> = outcome
            .verdicts(&[])
            .into_iter()
            .map(|one| (one.who, one.as_it_is.unwrap().value))
            .collect();
        told.dedup_by_key(|(who, _)| *who);
        told
    };
    let (wal, journal) = ("SQLite, WAL", "SQLite, rollback journal");
    let (overwritten, appended) = (commits("overwritten", 6000.0), commits("appended", 3000.0));
    let both = [overwritten.clone(), appended];
    let etcd = ("etcd", 2e-6);
    assert_eq!(verdicts(&both), [etcd, (wal, 6000.0), (journal, 1000.0)]);
    assert_eq!(verdicts(&[overwritten]), [(wal, 6000.0)]);
}

/// A log that is written in order gives a drive room: the pages' full speed is taken before, where the way
/// through the cliff has ended.
#[test]
fn pages_at_full_speed_go_on_where_the_cliff_has_ended() {
    let mut device = Profile::Ssd(Box::new(tiny())).open("sim:tiny");
    let directory = tempfile::tempdir().unwrap();
    let second = Nanos::from_secs(1);
    let plan = Plan { measurement: second, cliff: second, beside: second, ..Plan::default() };
    let (path, options) = (directory.path().join("run"), RunOptions::default());
    let go_on = &mut |_: &writecliff_suite::Progress<'_>| ControlFlow::Continue(());
    let record = run(&AnyPlan::Commit(plan), device.as_mut(), &path, options, go_on).unwrap();
    let phases: Vec<&str> = record.phases.iter().map(|phase| phase.name.as_str()).collect();
    let cliff = phases.iter().position(|name| *name == "cliff").unwrap();
    let next = ["cliff", "beside-100%", "beside-50%", "steady-flushed-4KiB"];
    assert_eq!(phases[cliff..cliff + 4], next);
}

/// Commits that use up a fast buffer while they are measured have two rates, whatever the drive's state.
#[test]
fn commits_of_two_rates_are_doubted() {
    let profile = scaled(&load("samsung-840-evo-250gb").unwrap(), 16).unwrap();
    // With its own flushes it commits too little for that.
    let mut profile = profile.into_ssd().unwrap();
    profile.write_buffer.flush_time = Nanos::ZERO;
    let profile = Profile::Ssd(Box::new(profile));
    let mut device = profile.open("sim:model@1/16");
    let directory = tempfile::tempdir().unwrap();
    let plan = Plan { sizes: vec![PAGE], committers: vec![4], ..Plan::default() };
    let (path, options) = (directory.path().join("run"), RunOptions::default());
    // The fresh drive will do.
    let until_full = &mut |progress: &writecliff_suite::Progress<'_>| match progress.step {
        "fill" => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let record = run(&AnyPlan::Commit(plan), device.as_mut(), &path, options, until_full).unwrap();
    let is_doubt = |doubt: &&Warning| {
        let Warning::Method(MethodWarning::Changed { parts, most, .. }) = doubt else {
            return false;
        };
        *parts >= 2 && most.starts_with("fresh-")
    };
    assert!(record.warnings.iter().any(|doubt| is_doubt(&doubt)), "{:?}", record.warnings);
}
