//! Suites: known answers of targets, FioSynth's files, and what a run that was cut short may say.
use std::ops::ControlFlow;
use std::path::Path;

use writecliff_device::scripted::Scripted;
use writecliff_device::{Bytes, Device, DeviceInfo, DeviceTime, Io, Mechanism, Nanos, Operation};
use writecliff_sim::{Ssd, load};
use writecliff_suite::gate::{GateError, Limits, gate};
use writecliff_suite::suite::{Judged, Outcome, Plan, Step, StepFigures, Unjudged, Variable};
use writecliff_suite::{JobWarning, Plan as AnyPlan, RunOptions, RunRecord, Warning, open, run};

/// Half a terabyte; a read takes 1 ms, and every hundredth 5; a write takes 2 ms, a trim 4.
fn drive() -> Scripted {
    let mut reads = 0;
    Scripted::new(Bytes(500_107_862_016), move |io: &Io, _: DeviceTime| {
        Nanos::from_millis(match io.operation {
            Operation::Read => {
                reads += 1;
                if reads % 100 == 0 { 5 } else { 1 }
            }
            Operation::Write => 2,
            _ => 4,
        })
    })
}

fn run_on(plan: Plan, path: &Path, seconds: u32) -> RunRecord {
    let plan = AnyPlan::Suite(plan);
    let mut watched = 0;
    let _ = run(&plan, &mut drive(), path, RunOptions::default(), &mut |_| {
        watched += 1;
        if watched > seconds { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    open(path).unwrap().0
}

fn steps(record: &RunRecord) -> &[StepFigures] {
    let Some(writecliff_suite::Outcome::Suite(Outcome { steps, .. })) = &record.outcome else {
        panic!("no outcome: {record:?}");
    };
    steps
}

fn targets(record: &RunRecord) -> Vec<Judged> {
    steps(record).iter().flat_map(|step| step.targets.clone()).collect()
}

/// 20 reads, 10 writes with 5 flushes, and 5 trims of 64 KiB a second each, for ten seconds behind a ramp of two.
const SUITE: &str = r#"
[[step]]
name = "prep"
prepares = true
fio = """
[fill]
rw=write
bs=64k
size=1m
"""

[[step]]
name = "load"
variables = { READS = { per_terabyte = 40 } }
fio = """
[global]
bs=64k
time_based
runtime=10
ramp_time=2
rw=randread
rate_iops=${READS}
[reads]
[writes]
rw=randwrite
rate_iops=10
fsync=2
[trims]
rw=randtrim
rate_iops=5
"""

[[step.target]]
of = "read"
figure = "iops"
limit = 39
per_terabyte = true
source = "a paper"

[[step.target]]
of = "read"
figure = "p50"
limit = "8ms"

[[step.target]]
of = "write"
figure = "MiB/s"
limit = 0.63

[[step.target]]
of = "trim"
figure = "MiB/s"
limit = 0.3

[[step.target]]
of = "trim"
figure = "longest"
limit = "3ms"
"#;

fn plan() -> Plan {
    toml::from_str(SUITE).unwrap()
}

#[test]
fn every_target_is_judged_by_what_the_drive_did() {
    let dir = tempfile::tempdir().unwrap();
    let record = run_on(plan(), &dir.path().join("run"), u32::MAX);
    let step = &steps(&record)[1];
    assert_eq!((step.name.as_str(), step.prepares), ("load", false));
    assert_eq!(step.from_s, 2, "behind its ramp");
    let figures = [step.reads, step.writes, step.trims].map(Option::unwrap);
    for (figures, iops) in figures.iter().zip([20.0, 10.0, 5.0]) {
        assert!((figures.iops - iops).abs() <= 0.2, "{figures:?}");
        assert!((figures.mebibytes_per_second * 16.0 - figures.iops).abs() < 1e-9, "{figures:?}");
    }
    let flushes = step.flushes.unwrap();
    assert!((flushes.iops - 5.0).abs() <= 0.2 && flushes.mebibytes_per_second == 0.0);
    // A twentieth of the reads waits for nothing else and takes 1 ms, another for a write or a trim.
    assert!((1_000_000..7_000_000).contains(&figures[0].latency.p50_ns));
    let targets = targets(&record);
    let verdicts: Vec<_> = targets.iter().map(|target| target.passes.unwrap()).collect();
    assert_eq!(verdicts, [true, true, false, true, false]);
    let first = &targets[0];
    assert_eq!(first.figure, "load reads, iops");
    assert_eq!(
        (first.bound, first.unit.as_str(), first.source.as_str()),
        (19.5, "IOPS", "a paper; 39 for each terabyte, of which 0.5 are counted")
    );
    assert_eq!((targets[4].bound, targets[4].unit.as_str()), (3.0, "ms"));
}

#[test]
fn a_target_is_of_the_time_in_which_its_own_jobs_ran_and_not_missed_by_chance() {
    let suite = |writes: &str, asked: u32| -> Plan {
        let text = format!(
            "[[step]]\nname = \"mixed\"\nfio = \"\"\"\n[global]\ntime_based\nruntime=6\n[reads]\nrw=randread\n\
             rate_iops=50\nramp_time=2\n[writes]\nrw=randwrite\n{writes}\n\"\"\"\n\
             [[step.target]]\nof = \"write\"\nfigure = \"iops\"\nlimit = {asked}\n\
             [[step.target]]\nof = \"trim\"\nfigure = \"longest\"\nlimit = \"3ms\"\n"
        );
        toml::from_str(&text).unwrap()
    };
    let dir = tempfile::tempdir().unwrap();
    let judged = |name: &str, plan| targets(&run_on(plan, &dir.path().join(name), u32::MAX));
    // The writes end after 6 s, the reads after 8.
    let even = judged("even", suite("rate_iops=300", 300));
    assert_eq!(even[0].passes, Some(true), "{:?}", even[0]);
    assert_eq!(even[1].unjudged, Some(Unjudged::NoIos), "there are none to be modelled");
    let drawn = judged("drawn", suite("rate_iops=100\nrate_process=poisson", 110));
    assert_eq!(drawn[0].unjudged, Some(Unjudged::Chance), "{:?}", drawn[0]);
    let far = judged("far", suite("rate_iops=100\nrate_process=poisson", 150));
    assert_eq!(far[0].passes, Some(false), "{:?}", far[0]);
}

/// Writes of 2 ms each, one at a time, are 500 a second at best; beside reads at a rate of their own.
#[test]
fn a_step_that_did_less_than_its_rate_is_doubted() {
    let behind = |name: &str, jobs: &str| {
        let text = format!(
            "[[step]]\nname = \"load\"\nfio = \"\"\"\n[global]\ntime_based\nruntime=6\n{jobs}\n\"\"\"\n"
        );
        let dir = tempfile::tempdir().unwrap();
        let record = run_on(toml::from_str(&text).unwrap(), &dir.path().join(name), u32::MAX);
        let behind = record.warnings.into_iter().filter_map(|warning| match warning {
            Warning::Job(JobWarning::Behind { whose, asked, .. }) => Some((whose, asked)),
            _ => None,
        });
        behind.collect::<Vec<_>>()
    };
    let reads = "[reads]\nrw=randread\nrate_iops=50\n";
    let writes = |how: &str| format!("{reads}[writes]\nrw=randwrite\n{how}");
    assert_eq!(behind("kept", &writes("rate_iops=100")), []);
    assert_eq!(behind("as fast as it can", &writes("")), []);
    let of_writes = ("the writes of the step 'load'".to_owned(), "4,000 IOPS".to_owned());
    assert_eq!(behind("two", &writes("rate_iops=2000\nnumjobs=2")), [of_writes]);
    let alone = "[writes]\nrw=randwrite\nrate=50m";
    let of_step = ("the step 'load'".to_owned(), "52.43 MB/s".to_owned());
    assert_eq!(behind("alone", alone), [of_step]);
    let mixed = "[mixed]\nrw=randrw\nrate=10m,50m";
    let of_writes = ("the writes of the step 'load'".to_owned(), "52.43 MB/s".to_owned());
    assert!(behind("each its own", mixed).contains(&of_writes));
}

/// A step that fell has an average that no second had; what prepares the drive has none that counts.
#[test]
fn a_step_whose_rate_fell_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let half = DeviceTime::default() + Nanos::from_secs(40);
    let step = |name: &str, more: &str| {
        format!(
            "[[step]]\nname = \"{name}\"\n{more}\nfio = \"\"\"\n[writes]\nrw=randwrite\ntime_based\n\
             runtime=80\n\"\"\"\n"
        )
    };
    let plan = toml::from_str(&[step("falls", ""), step("even", "")].concat()).unwrap();
    let takes = move |_: &Io, at: DeviceTime| Nanos::from_millis(if at < half { 1 } else { 8 });
    let mut drive = Scripted::new(Bytes(500_107_862_016), takes);
    let go_on = &mut |_: &writecliff_suite::Progress<'_>| ControlFlow::Continue(());
    let path = dir.path().join("run");
    run(&AnyPlan::Suite(plan), &mut drive, &path, RunOptions::default(), go_on).unwrap();
    let warnings = open(&path).unwrap().0.warnings;
    let told = warnings.iter().filter_map(|doubt| match doubt {
        Warning::Job(JobWarning::Uneven { job, is_step: true, of_tenths: false, first, last }) => {
            Some((job.as_str(), first.round(), last.round()))
        }
        _ => None,
    });
    assert_eq!(told.collect::<Vec<_>>(), [("falls", 1000.0, 125.0)]);
}

/// What began later and later says nothing of how late it was; what took too long did so all the same.
#[test]
fn short_times_of_a_step_that_fell_behind_are_not_judged() {
    let judged = |limit: &str, how: &str| {
        let text = format!(
            "[[step]]\nname = \"load\"\nfio = \"\"\"\n[writes]\nrw=randwrite\nrate_iops=4000\ntime_based\n\
             runtime=6\n{how}\n\"\"\"\n[[step.target]]\nof = \"write\"\nfigure = \"longest\"\nlimit = \"{limit}\"\n"
        );
        let dir = tempfile::tempdir().unwrap();
        let record = run_on(toml::from_str(&text).unwrap(), &dir.path().join("run"), u32::MAX);
        let target = targets(&record).remove(0);
        let gated = gate(&[record], &Limits::default(), None, 0.0);
        assert_eq!(gated.is_ok(), target.unjudged.is_none(), "{gated:?}");
        (target.passes, target.unjudged)
    };
    assert_eq!(judged("50ms", ""), (None, Some(Unjudged::Behind)));
    assert_eq!(judged("1ms", ""), (Some(false), None));
    assert_eq!(judged("50ms", "rate_process=poisson"), (Some(false), None));
}

#[test]
fn a_gate_holds_a_run_to_its_own_targets_without_being_asked() {
    let dir = tempfile::tempdir().unwrap();
    let record = run_on(plan(), &dir.path().join("run"), u32::MAX);
    let checks = gate(&[record], &Limits::default(), None, 0.0).unwrap();
    let passes: Vec<bool> = checks.iter().map(|check| check.passes()).collect();
    assert_eq!(passes, [true, true, false, true, false]);
    let said = "a paper; 39 for each terabyte, of which 0.5 are counted";
    assert_eq!((checks[0].test, checks[0].because.as_str()), ("suite", said));
}

/// A model whose trims take no time is no drive that trims a terabyte in it.
#[test]
fn what_a_model_does_not_have_is_not_judged() {
    let dir = tempfile::tempdir().unwrap();
    let mut ssd = Ssd::new(load("tiny").unwrap().into_ssd().unwrap(), "sim:tiny");
    let mut go_on = |_: &writecliff_suite::Progress<'_>| ControlFlow::Continue(());
    let plan = AnyPlan::Suite(plan());
    let path = dir.path().join("run");
    let record = run(&plan, &mut ssd, &path, RunOptions::default(), &mut go_on).unwrap();
    let step = &steps(&record)[1];
    assert!(step.trims.is_none() && step.reads.is_some(), "{step:?}");
    let unjudged: Vec<_> = targets(&record).into_iter().map(|target| target.unjudged).collect();
    let lacks = Some(Unjudged::NotModelled { mechanism: Mechanism::TrimTime });
    assert_eq!(unjudged, [None, None, None, lacks, lacks]);
    let doubt = Warning::Job(JobWarning::TrimsTakeNoTime);
    assert!(record.warnings.contains(&doubt), "{:?}", record.warnings);
}

#[test]
fn a_step_that_the_drive_is_too_small_for_is_left_out_and_said_to_be() {
    let dir = tempfile::tempdir().unwrap();
    let mut plan = plan();
    let Some(step) = plan.steps.last_mut() else { panic!("no steps") };
    step.needs = Some(Bytes(600_000_000_000));
    let left_out = JobWarning::StepLeftOut { step: step.name.clone(), needs: step.needs.unwrap() };
    let fits = Step { name: "fits".to_owned(), needs: None, ..step.clone() };
    // Nothing would be left but what prepares.
    let refused = AnyPlan::Suite(plan.clone()).check(drive().info()).unwrap_err().to_string();
    assert!(
        refused.contains("none of its steps has room") && refused.contains("600 GB"),
        "{refused}"
    );
    plan.steps.push(fits);
    let record = run_on(plan, &dir.path().join("run"), u32::MAX);
    assert!(record.warnings.contains(&Warning::Job(left_out)), "{:?}", record.warnings);
    let measured = steps(&record).iter().filter(|step| !step.prepares);
    assert!(measured.map(|step| &step.name).eq(["fits"]));
    let Some(writecliff_suite::Outcome::Suite(outcome)) = &record.outcome else { panic!("none") };
    assert_eq!(outcome.targets_left_out, 5);
}

/// What prepares a drive is told of nowhere, and what it trims is no load of trims.
#[test]
fn a_trim_that_prepares_is_no_doubt() {
    let dir = tempfile::tempdir().unwrap();
    let mut ssd = Ssd::new(load("tiny").unwrap().into_ssd().unwrap(), "sim:tiny");
    let text = SUITE.replace("[trims]\nrw=randtrim\nrate_iops=5\n", "");
    let mut suite: Plan = toml::from_str(&text).unwrap();
    suite.steps[0].trim_before = true;
    suite.steps[1].targets.retain(|target| target.of != Operation::Trim);
    let mut go_on = |_: &writecliff_suite::Progress<'_>| ControlFlow::Continue(());
    let path = dir.path().join("run");
    let plan = AnyPlan::Suite(suite);
    let record = run(&plan, &mut ssd, &path, RunOptions::default(), &mut go_on).unwrap();
    assert!(record.phases.iter().any(|phase| phase.name.starts_with("trim before")));
    let doubt = Warning::Job(JobWarning::TrimsTakeNoTime);
    assert!(!record.warnings.contains(&doubt), "{:?}", record.warnings);
}

#[test]
fn what_was_cut_short_is_shown_and_not_judged() {
    let dir = tempfile::tempdir().unwrap();
    let broken_off = run_on(plan(), &dir.path().join("broken off"), 12);
    let AnyPlan::Suite(quick) = AnyPlan::Suite(plan()).quick() else { panic!("another plan") };
    let quick = run_on(quick, &dir.path().join("quick"), u32::MAX);
    for record in [&broken_off, &quick] {
        let targets = targets(record);
        assert_eq!(targets.len(), 5);
        assert!(targets[0].got.is_some());
        assert!(targets.iter().all(|target| target.passes.is_none()), "{targets:?}");
    }
    // Of so few a percentile would be the longest of them.
    let far_out = SUITE.replace("\"longest\"", "\"p99.9999\"");
    let AnyPlan::Suite(far_out) = AnyPlan::Suite(toml::from_str(&far_out).unwrap()).quick() else {
        panic!("another plan")
    };
    let far_out = run_on(far_out, &dir.path().join("far out"), u32::MAX);
    let targets = targets(&far_out);
    let percentile = targets.iter().find(|target| target.figure.ends_with("p99.9999")).unwrap();
    assert_eq!((percentile.got, percentile.passes), (None, None));
    let error = gate(&[quick], &Limits::default(), None, 0.0).unwrap_err();
    assert!(error.to_string().contains("did not last as long as the suite asks"), "{error}");
    let error = gate(&[broken_off], &Limits::default(), None, 0.0).unwrap_err();
    assert!(matches!(error, GateError::Incomplete { .. }), "{error}");
}

const FIOSYNTH: &str = r#"{
 "pre": [{ "template": "p.fio", "alias": "pre", "values": { "DEPTH": 64, "TIME": "N/A" } }],
 "def": [{
   "template": "t.fio", "alias": "load",
   "values": { "DEPTH": 13, "W1THINK": 1000, "RRATE": 0, "OFFSET2": 100, "SIZE": "90%" },
   "targets": {
     "throughput": { "read": { "MIN": 68 }, "trim": { "MIN": 0 }, "scale_by_TB": { "value": true } },
     "iops": { "write": { "MIN": 420 } },
     "latency": { "read": { "P99.9999": 8000, "MAX": 10000 } } } }],
 "run_cycles": 2, "precondition_cycles": 1, "precondition_first_cycle_only": "Y",
 "devices_in_global": "N", "scale_by_capacity": "Y"
}"#;

const TEMPLATE: &str = "[global]\nrw=randrw\nioengine=${IOENGINE}\niodepth=${DEPTH}\nbs=4k
number_ios=10\nsize=${SIZE}\nfilename=${DEV}\n";

#[test]
fn a_suite_of_fiosynth_is_its_steps_variables_and_targets() {
    let mut suite = Plan::from_fiosynth("HE_Flash", FIOSYNTH).unwrap();
    assert_eq!((suite.cycles, suite.prepare_once, suite.steps.len()), (2, true, 2));
    let [pre, load] = &suite.steps[..] else { panic!("two steps") };
    assert!(pre.prepares && pre.trim_before && !load.prepares && !load.trim_before);
    let variable = |name: &str| load.variables[name].clone();
    assert_eq!(variable("DEPTH"), Variable::PerTerabyte { per_terabyte: 13.0 });
    assert_eq!(variable("W1THINK"), Variable::OverTerabytes { over_terabytes: 1000.0 });
    assert_eq!(variable("OFFSET2"), Variable::PerTerabyte { per_terabyte: 100.0 });
    assert_eq!(variable("SIZE"), Variable::Text("90%".to_owned()));
    let targets: Vec<_> =
        load.targets.iter().map(|t| (t.of, t.figure.to_string(), t.per_terabyte)).collect();
    assert_eq!(
        targets,
        [
            (Operation::Read, "MiB/s".to_owned(), true),
            (Operation::Write, "iops".to_owned(), false),
            (Operation::Read, "longest".to_owned(), false),
            (Operation::Read, "p99.9999".to_owned(), false),
        ]
    );
    let text = TEMPLATE.replace("${SIZE}", "50%");
    let read = |_: &Step, file: &str| -> Result<String, writecliff_suite::PlanError> {
        Ok(if file == "p.fio" { text.clone() } else { TEMPLATE.to_owned() })
    };
    suite.load(read).unwrap();
    // Half a terabyte.
    let jobs = suite.steps[1].jobs(Bytes(500_107_862_016)).unwrap();
    assert_eq!((jobs[0].queue_depth, jobs[0].name.as_str()), (6, "drive"));
    let dir = tempfile::tempdir().unwrap();
    let record = run_on(suite, &dir.path().join("run"), u32::MAX);
    let names: Vec<_> = steps(&record).iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["pre", "load", "load, cycle 2"]);
}

#[test]
fn what_a_suite_cannot_mean_is_refused_with_its_step() {
    let drive = device_info();
    for (from, to, part) in [
        ("rw=randtrim", "rw=sideways", "'load' is not possible: load:14: rw=sideways"),
        ("[writes]\n", "[writes]\nstonewall\n", "several groups"),
        ("${READS}", "${READ}", "READ is not set"),
        ("limit = \"3ms\"", "limit = 3", "\"5ms\""),
        (
            "limit = 0.3",
            "limit = \"3ms\"",
            "MiB/s of trims with limit = \"3ms\" is not possible: it needs",
        ),
        (
            "limit = 39",
            "limit = 41",
            "that is 20.5 iops on this drive, and the jobs' own rates come to 20",
        ),
        ("name = \"load\"", "name = \"prep\"", "two steps have this name"),
        ("rate_iops=5", "rate_iops=5\nsize=600g", "size"),
        ("per_terabyte = 40", "per_petabyte = 40", "per_terabyte"),
    ] {
        let text = SUITE.replacen(from, to, 1);
        let refused = match toml::from_str::<Plan>(&text) {
            Ok(plan) => AnyPlan::Suite(plan).check(&drive).unwrap_err().to_string(),
            Err(error) => error.to_string(),
        };
        assert!(refused.contains(part), "{to}: {refused}");
    }
    for (from, to) in [("\"MAX\"", "\"MEDIAN\""), ("\"MIN\": 68", "\"MAX\": 68"), ("pre", "prä")] {
        Plan::from_fiosynth("x", &FIOSYNTH.replacen(from, to, 1)).unwrap_err();
    }
}

#[test]
fn a_target_of_fiosynth_that_is_no_number_is_named_with_its_unit() {
    for (from, to, words) in [
        ("8000", "\"8ms\"", ["P99.9999 = \"8ms\"", "'load'", "microseconds"]),
        ("68", "\"68 MiB/s\"", ["MIN = \"68 MiB/s\"", "'load'", "MiB/s, such as"]),
        ("420", "null", ["MIN = null", "'load'", "I/Os a second"]),
    ] {
        let refused = Plan::from_fiosynth("x", &FIOSYNTH.replacen(from, to, 1)).unwrap_err();
        for word in words {
            assert!(refused.to_string().contains(word), "{word}: {refused}");
        }
    }
}

fn doubts(record: &RunRecord) -> Vec<String> {
    record.warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn a_step_that_reads_what_was_never_written_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let of = |text: &str, path: &str| {
        doubts(&run_on(toml::from_str(text).unwrap(), &dir.path().join(path), u32::MAX))
    };
    let is_it = |doubt: &String| doubt.contains("'load' read much that was never written");
    assert!(of(SUITE, "hardly").iter().any(is_it), "a MiB of the drive was written");
    let filled = SUITE.replacen("size=1m", "size=100%", 1);
    assert!(!of(&filled, "filled").iter().any(is_it));
    let by_four = "size=25%\nnumjobs=4\noffset_increment=25%";
    let filled = SUITE.replacen("size=1m", by_four, 1);
    assert!(!of(&filled, "by-four").iter().any(is_it), "each writes a quarter");
    let empty = SUITE.replacen("rw=write", "rw=read", 1);
    assert!(of(&empty, "empty").iter().any(is_it));
    let trimmed = SUITE.replacen("name = \"load\"", "name = \"load\"\ntrim_before = true", 1);
    let said = of(&trimmed, "trimmed").into_iter().find(is_it).unwrap();
    assert!(
        said.contains("since the trim before it") && said.contains("between the two"),
        "{said}"
    );
}

/// What only prepares the drive has no figures that could include a wait.
#[test]
fn what_waits_in_the_host_while_the_drive_is_prepared_is_no_doubt() {
    let dir = tempfile::tempdir().unwrap();
    let of = |text: &str, path: &str| {
        let record = run_on(toml::from_str(text).unwrap(), &dir.path().join(path), u32::MAX);
        doubts(&record).iter().any(|doubt| doubt.contains("waited in the host"))
    };
    let deep = "size=100%\ntime_based\nruntime=5\nioengine=libaio\niodepth=64";
    let deep = SUITE.replacen("size=1m", deep, 1);
    assert!(!of(&deep, "prepares"));
    assert!(of(&deep.replacen("prepares = true", "prepares = false", 1), "counts"));
    // Over before the ramp is, which is the longest of the step's jobs.
    let at_first = "[deep]\nrw=randwrite\ntime_based=0\nioengine=libaio\niodepth=64\nrate_iops=100000\nsize=128m\n[trims]";
    let at_first = SUITE.replacen("[trims]", at_first, 1);
    assert!(of(&at_first.replacen("ramp_time=2", "ramp_time=0", 1), "no-ramp"));
    assert!(!of(&at_first.replacen("ramp_time=2", "ramp_time=9", 1), "ramp"));
}

fn device_info() -> DeviceInfo {
    use writecliff_device::Device;
    drive().info().clone()
}

/// The suite that ships is one, on drives of the sizes that it is for.
#[test]
fn the_suite_that_ships_is_possible_on_drives_of_its_class() {
    for capacity in [Bytes(960_197_124_096), Bytes(7_681_501_126_656)] {
        let drive = DeviceInfo { capacity, queue_depth_max: 1024, ..device_info() };
        AnyPlan::Suite(Plan::default()).check(&drive).unwrap();
    }
    let targets = Plan::default().steps.iter().map(|step| step.targets.len()).sum::<usize>();
    assert_eq!(targets, 4 * 10 + 9 + 4);
}
