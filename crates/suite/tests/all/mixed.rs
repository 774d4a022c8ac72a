//! Loads of one's own on simulated drives: every job does what it says, and is told apart.
use std::ops::ControlFlow;
use std::path::Path;

use writecliff_device::scripted::Scripted;
use writecliff_device::{Bytes, Device, DeviceTime, Io, Nanos, Throughput};
use writecliff_measure::Recording;
use writecliff_sim::{Ssd, load};
use writecliff_suite::mixed::{self, JobFigures, Prepare};
use writecliff_suite::{
    JobWarning, MethodWarning, Outcome, Plan, RunOptions, RunRecord, Status, Warning, open, run,
};
use writecliff_workload::{Amount, Distribution, Job, JobList, Mix, Order, Pace, fio};

fn tiny() -> Ssd {
    Ssd::new(load("tiny").unwrap().into_ssd().unwrap(), "sim:tiny")
}

fn run_on_tiny(plan: mixed::Plan, path: &Path) -> (RunRecord, Recording) {
    let options = RunOptions { every_io: true, ..RunOptions::default() };
    let plan = Plan::Mixed(plan);
    run(&plan, &mut tiny(), path, options, &mut |_| ControlFlow::Continue(())).unwrap();
    open(path).unwrap()
}

fn jobs(record: &RunRecord) -> &[JobFigures] {
    let Some(Outcome::Mixed(outcome)) = &record.outcome else {
        panic!("no outcome: {record:?}");
    };
    &outcome.jobs
}

fn from_fio(text: &str) -> mixed::Plan {
    fio::read("jobs.fio", text, &|_| None).unwrap().into()
}

/// KDiskMark's RND4K Q32T16 on a drive that takes 32 at once.
#[test]
fn more_jobs_than_the_drive_s_queue_takes_wait_in_the_host() {
    let dir = tempfile::tempdir().unwrap();
    let text = "[rnd]\nioengine=libaio\nrw=randwrite\nbs=4k\niodepth=32\nnumjobs=16\nruntime=10\ntime_based=1\n";
    let (record, _) = run_on_tiny(from_fio(text), &dir.path().join("run"));
    let queued = Warning::Job(JobWarning::QueuedInHost { wanted: 512, taken: 32 });
    assert!(record.warnings.contains(&queued), "{:?}", record.warnings);
    let writes: Vec<_> = jobs(&record).iter().map(|job| job.writes.unwrap()).collect();
    assert_eq!(writes.len(), 16);
    // Little's law.
    let in_flight: f64 =
        writes.iter().map(|job| job.iops * job.mean_ns.unwrap() as f64 / 1e9).sum();
    assert!((in_flight / 512.0 - 1.0).abs() < 0.02, "{in_flight}");
}

/// Jobs at a rate have far fewer in flight than they may.
#[test]
fn what_could_be_in_flight_and_never_was_did_not_wait() {
    let dir = tempfile::tempdir().unwrap();
    let text = "[log]\nioengine=libaio\nrw=randwrite\nbs=4k\niodepth=32\nnumjobs=4\nrate_iops=100\nruntime=10\ntime_based=1\n";
    let (record, _) = run_on_tiny(from_fio(text), &dir.path().join("run"));
    let waited = |doubt: &Warning| matches!(doubt, Warning::Job(JobWarning::QueuedInHost { .. }));
    assert!(!record.warnings.iter().any(waited), "{:?}", record.warnings);
    // Nor did what is in no figure: a job that is over within its ramp.
    let deep = "[deep]\nioengine=libaio\nrw=randwrite\nbs=4k\niodepth=64\nsize=200m\n";
    for (ramp, is_told) in [("0", true), ("60", false)] {
        let text = format!("{text}{deep}ramp_time={ramp}\n");
        let (record, _) = run_on_tiny(from_fio(&text), &dir.path().join(ramp));
        assert_eq!(record.warnings.iter().any(waited), is_told, "{:?}", record.warnings);
    }
}

const TWO_GROUPS: &str = "
[global]
ioengine=io_uring
size=4m
[fill]
rw=write
bs=64k
[log]
rw=write
bs=4k
fsync=4
[mail]
stonewall
rw=randrw
rwmixread=75
bs=8k
iodepth=4
numjobs=2
";

#[test]
fn every_job_does_its_share_and_groups_follow_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let (record, recording) = run_on_tiny(from_fio(TWO_GROUPS), &dir.path().join("run"));
    assert_eq!(record.status, Status::Complete);
    // Of the fill's 64 I/Os, and of the job that flushes.
    let [Warning::Method(MethodWarning::Brief { part, .. }), of_flush] = &record.warnings[..]
    else {
        panic!("{:?}", record.warnings)
    };
    assert_eq!(part, "The job 'fill'");
    assert_eq!(*of_flush, Warning::Method(MethodWarning::FlushOfDataOnly));
    let phases: Vec<_> = record.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(phases, ["group 0", "group 1"]);
    let [fill, log, first, second] = jobs(&record) else { panic!("{record:?}") };
    let writes = fill.writes.unwrap();
    assert_eq!((writes.ios, writes.bytes, fill.reads), (64, Bytes::from_mib(4), None));
    assert_eq!(log.writes.unwrap().ios, 1024);
    assert_eq!(log.flushes.unwrap().ios, 255, "none behind the last write");
    for (job, name) in [(first, "mail 1"), (second, "mail 2")] {
        assert_eq!((job.name.as_str(), job.group), (name, 1));
        let (reads, writes) = (job.reads.unwrap(), job.writes.unwrap());
        assert_eq!(reads.ios + writes.ios, 512);
        assert_eq!(reads.bytes + writes.bytes, Bytes::from_mib(4));
        // 384 expected, standard deviation 10.
        assert!(reads.ios.abs_diff(384) < 50, "{reads:?}");
        let together = (reads.bytes.0 + writes.bytes.0) as f64 / 1e6 / job.seconds;
        assert!((reads.megabytes_per_second + writes.megabytes_per_second - together).abs() < 1e-6);
        assert!(reads.latency.p50_ns > Some(0) && reads.latency.p50_ns <= reads.latency.max_ns);
    }
    assert!(recording.series("mail 1 reads").all(|sample| sample.writes == 0));
    assert!(recording.series("mail 1 writes").all(|sample| sample.reads == 0));
}

fn timed(name: &str, mix: Mix) -> Job {
    let runtime = Some(Nanos::from_secs(3));
    Job { name: name.to_owned(), mix, runtime, time_based: true, ..Job::default() }
}

#[test]
fn a_job_that_does_less_than_its_rate_is_doubted() {
    let dir = tempfile::tempdir().unwrap();
    let write = Mix { write: 100, ..Mix::default() };
    let job =
        |name: &str, pace| Job { pace, runtime: Some(Nanos::from_secs(6)), ..timed(name, write) };
    let doubts = |pace| {
        let list = JobList { title: None, jobs: vec![job("one", pace)] };
        let path = dir.path().join(format!("{pace:?}").replace(' ', ""));
        run_on_tiny(list.into(), &path).0.warnings
    };
    let iops = |iops| writecliff_workload::Pace::Iops(iops);
    assert_eq!(doubts(iops(200)), []);
    let behind = doubts(iops(1_000_000));
    let [Warning::Job(JobWarning::Behind { whose, asked, counts_lateness: false, .. })] =
        &behind[..]
    else {
        panic!("{behind:?}")
    };
    assert_eq!((whose.as_str(), asked.as_str()), ("the job 'one'", "1,000,000 IOPS"));
}

#[test]
fn fewer_arrivals_by_chance_are_no_lateness_and_a_rest_is_part_of_a_job_s_time() {
    use writecliff_workload::{Gaps, Pace};
    let dir = tempfile::tempdir().unwrap();
    let write = Mix { write: 100, ..Mix::default() };
    let done = |pace, seed| {
        let job = Job { pace, runtime: Some(Nanos::from_secs(10)), ..timed("one", write) };
        let plan = mixed::Plan { seed, ..JobList { title: None, jobs: vec![job] }.into() };
        let path = dir.path().join(format!("{pace:?} {seed}").replace(' ', ""));
        let (record, _) = run_on_tiny(plan, &path);
        let writes = jobs(&record)[0].writes.unwrap();
        (record.warnings, writes)
    };
    let drawn = (1..=8).map(|seed| done(Pace::Arrivals { iops: 100, gaps: Gaps::Poisson }, seed));
    let drawn: Vec<_> = drawn.collect();
    assert!(drawn.iter().all(|(warnings, _)| warnings.is_empty()), "{drawn:?}");
    let fewest = drawn.iter().map(|(_, writes)| writes.ios).min();
    assert!(fewest < Some(970), "{fewest:?}: chance was to be seen");
    let rest = Nanos::from_secs(20);
    let (_, burst) = done(Pace::Think { rest, every: 16 }, 1);
    assert_eq!((burst.ios, burst.iops), (16, 1.6));
}

#[test]
fn rates_rests_and_ramps_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let read = Mix { read: 100, ..Mix::default() };
    let write = Mix { write: 100, ..Mix::default() };
    let list: JobList = JobList {
        title: None,
        jobs: vec![
            Job { pace: writecliff_workload::Pace::Iops(200), ..timed("rate", read) },
            Job {
                pace: writecliff_workload::Pace::Think { rest: Nanos::from_millis(10), every: 2 },
                ramp: Nanos::from_secs(1),
                ..timed("think", write)
            },
        ],
    };
    let (record, recording) = run_on_tiny(list.into(), &dir.path().join("run"));
    assert_eq!(
        record.warnings,
        [Warning::Job(JobWarning::ReadsNothing)],
        "a simulated drive is empty"
    );
    let [rate, think] = jobs(&record) else { panic!("{record:?}") };
    assert_eq!(rate.reads.unwrap().ios, 600);
    assert_eq!(rate.held.as_deref(), Some("200 IOPS asked for"));
    assert_eq!(think.held.as_deref(), Some("with 10.0 ms of rest after every 2"));
    assert_eq!(recording.series("think writes").count(), 4, "a second of ramp, and three");
    let writes = think.writes.unwrap();
    // Two writes every 10 ms and what they take: at most 600 in three seconds.
    assert!((400..=602).contains(&writes.ios), "{writes:?}");
    assert!((2.9..=3.1).contains(&think.seconds), "{think:?}");
}

#[test]
fn the_seed_decides_everything() {
    let dir = tempfile::tempdir().unwrap();
    let run = |name: &str, seed| {
        let path = dir.path().join(name);
        run_on_tiny(mixed::Plan { seed, ..from_fio(TWO_GROUPS) }, &path);
        std::fs::read(path.join("ios.parquet")).unwrap()
    };
    let first = run("one", 1);
    assert!(first == run("two", 1));
    assert!(first != run("other", 2));
}

#[test]
fn a_cap_ends_jobs_that_would_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let plan = mixed::Plan { duration: Some(Nanos::from_secs(2)), ..mixed::Plan::default() };
    let (record, _) = run_on_tiny(plan, &dir.path().join("run"));
    assert_eq!(record.warnings, []);
    assert_eq!(record.phases.len(), 2, "the fill and the group");
    assert!((1.9..=2.1).contains(&jobs(&record)[0].seconds), "{record:?}");
}

#[test]
fn an_interrupted_job_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let plan = mixed::Plan { prepare: Prepare::Nothing, ..mixed::Plan::default() };
    let mut left = 4;
    let mut watch = |_: &writecliff_suite::Progress<'_>| {
        left -= 1;
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let plan = Plan::Mixed(plan);
    let record = run(&plan, &mut tiny(), &path, RunOptions::default(), &mut watch).unwrap();
    assert_eq!(record.status, Status::Interrupted);
    let cut = |warning: &&Warning| matches!(warning, Warning::Job(JobWarning::JobCutShort { .. }));
    assert!(record.warnings.iter().any(|warning| cut(&warning)), "{:?}", record.warnings);
    let of_nothing = Warning::Job(JobWarning::ReadsNothing);
    assert!(record.warnings.contains(&of_nothing), "{:?}", record.warnings);
}

#[test]
fn only_what_writes_needs_consent_and_impossible_jobs_are_refused() {
    let reads = from_fio("[a]\nrw=randread\nsize=1m\n");
    assert!(!Plan::Mixed(reads.clone()).writes());
    assert!(Plan::Mixed(mixed::Plan { prepare: Prepare::Purge, ..reads.clone() }).writes());
    assert!(Plan::Mixed(from_fio("[a]\nrw=randtrim\nsize=1m\n")).writes());
    let ssd = tiny();
    Plan::Mixed(reads).check(ssd.info()).unwrap();
    for (text, part) in [
        ("[a]\nsize=100t\n", "size 100TiB is not possible: job 'a': from 0B on"),
        ("[a]\nsize=1m\nioengine=libaio\niodepth=100000\n", "at most 65536"),
        ("[a]\nsize=1m\nnumjobs=300\n", "at most 256"),
    ] {
        let error = Plan::Mixed(from_fio(text)).check(ssd.info()).expect_err(text);
        assert!(error.to_string().contains(part), "{error}");
    }
}

/// What is written at most is what the drive does, however many jobs share it.
#[test]
fn jobs_that_are_as_fast_as_they_can_share_what_is_estimated() {
    let drive = tiny().info().clone();
    let estimate =
        |jobs: Vec<Job>| Plan::Mixed(JobList { title: None, jobs }.into()).estimate(&drive);
    let write = Mix { write: 100, ..Mix::default() };
    let one = Job { order: Order::Random, ..timed("one", write) };
    let four = Job { copies: 4, ..one.clone() };
    assert_eq!(estimate(vec![four]).written, estimate(vec![one]).written);
    let counted =
        Job { mix: write, number_ios: Some(1000), name: "counted".to_owned(), ..Job::default() };
    let written = estimate(vec![counted]).written;
    assert!(written.0.abs_diff(4_096_000) < 4096, "{written:?}");
}

/// A rate that the drive keeps for half of the time is no rate of all of it; what chance draws of one is.
#[test]
fn a_job_that_kept_its_rate_for_a_while_is_told() {
    let told = |how: &str, slow: u64| {
        let dir = tempfile::tempdir().unwrap();
        let text = format!("[log]\nrw=randwrite\nbs=4k\n{how}\nruntime=40\ntime_based=1\n");
        let half = DeviceTime::default() + Nanos::from_secs(20);
        let takes =
            move |_: &Io, at: DeviceTime| Nanos::from_millis(if at < half { 1 } else { slow });
        let mut drive = Scripted::new(Bytes::from_mib(64), takes);
        let (plan, path) = (Plan::Mixed(from_fio(&text)), dir.path().join("run"));
        let go_on = &mut |_: &writecliff_suite::Progress<'_>| ControlFlow::Continue(());
        run(&plan, &mut drive, &path, RunOptions::default(), go_on).unwrap();
        let warnings = open(&path).unwrap().0.warnings;
        warnings.iter().any(|doubt| matches!(doubt, Warning::Job(JobWarning::Uneven { .. })))
    };
    assert!(told("rate_iops=500", 10));
    assert!(!told("rate_iops=50", 10));
    assert!(told("thinktime=1ms", 10));
    assert!(!told("rate_iops=2\nrate_process=poisson", 1));
}

/// Reads and writes of a job fall together, on a drive that is five times as slow after half of the time.
#[test]
fn a_job_that_changes_is_told_with_all_that_it_does() {
    let dir = tempfile::tempdir().unwrap();
    let text = "[oltp]\nrw=randrw\nrwmixread=50\nbs=4k\niodepth=4\nruntime=40\ntime_based=1\n";
    let half = DeviceTime::default() + Nanos::from_secs(20);
    let takes = move |_: &Io, at: DeviceTime| Nanos::from_millis(if at < half { 1 } else { 5 });
    let mut drive = Scripted::new(Bytes::from_mib(64), takes).side_by_side();
    let (plan, path) = (Plan::Mixed(from_fio(text)), dir.path().join("run"));
    let go_on = &mut |_: &writecliff_suite::Progress<'_>| ControlFlow::Continue(());
    run(&plan, &mut drive, &path, RunOptions::default(), go_on).unwrap();
    let (record, recording) = open(&path).unwrap();
    let told = record.warnings.iter().find_map(|doubt| match doubt {
        Warning::Job(JobWarning::Uneven { first, last, .. }) => Some((*first, *last)),
        _ => None,
    });
    let (first, last) = told.expect("it falls");
    let ios = |name: &str| -> Vec<f64> {
        let whole = recording.series(name).filter(|sample| sample.is_whole());
        whole.map(|sample| sample.ios() as f64).collect()
    };
    let (reads, writes) = (ios("oltp reads"), ios("oltp writes"));
    let third = reads.len() / 3;
    let mean = |from: usize| {
        let both = |at: usize| reads[at] + writes[at];
        (from..from + third).map(both).sum::<f64>() / third as f64
    };
    assert!((first - mean(0)).abs() < 1.0 && (last - mean(reads.len() - third)).abs() < 1.0);
}

const MAIL: &str = r#"
title = "a mail server"

[[job]]
name = "mail"
mix = { read = 60, write = 35, trim = 5 }
order = "random"
block = { read = "4KiB", write = [{ size = "4KiB", weight = 80 }, { size = "64KiB", weight = 20 }] }
size = "50%"
distribution = { zipf = 1.1 }
queue_depth = 8
pace = { think = { rest = "1ms", every = 16 } }
runtime = "60s"
time_based = true
flush_every = 32

[[job]]
name = "backup"
block = "1MiB"
pace = { rate = "50MB/s" }
group = 1
"#;

#[test]
fn a_plan_is_a_small_file_and_reads_back() {
    let plan = toml::from_str::<mixed::Plan>(MAIL).unwrap();
    let list = JobList { title: None, jobs: plan.jobs.clone() };
    list.check(Bytes(512), Bytes::from_mib(64)).unwrap();
    assert_eq!(plan.jobs[0].distribution, Distribution::Zipf(1.1));
    assert_eq!(plan.jobs[1].pace, Pace::Rate(Throughput(50_000_000)));
    assert_eq!(plan.jobs[0].size, Some(Amount::Percent(50)));
    let written = toml::to_string(&plan).unwrap();
    assert_eq!(toml::from_str(&written), Ok(plan), "{written}");
}

#[test]
fn a_mistake_in_a_plan_is_told_with_its_line() {
    for (wrong, right, line, part) in [
        ("queue_dept = 8", "queue_depth = 8", 11, "queue_depth"),
        ("order = \"sideways\"", "order = \"random\"", 7, "sequential"),
        ("size = \"half\"", "size = \"50%\"", 9, "25%"),
        ("mix = { raed = 60 }", "mix = { read = 60, write = 35, trim = 5 }", 6, "read"),
        ("block = \"4 potatoes\"", "block = \"1MiB\"", 19, "weight"),
    ] {
        let text = MAIL.replace(right, wrong);
        let error = toml::from_str::<mixed::Plan>(&text).unwrap_err();
        assert_eq!(text[..error.span().unwrap().start].matches('\n').count() + 1, line, "{error}");
        assert!(error.message().contains(part), "{error}");
    }
}
