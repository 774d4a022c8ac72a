//! The storage bench with traces and drives whose figures are known.
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use writecliff_device::scripted::Scripted;
use writecliff_device::{Bytes, Content, Device, Io, Nanos, Operation, Status as Ended};
use writecliff_sim::{Build, load};
use writecliff_suite::gate::{self, GateError, Limits};
use writecliff_suite::storage_bench::{self, Moment, Outcome, Served};
use writecliff_suite::{
    DriveWarning, JobWarning, Outcome as AnyOutcome, Plan, RunError, RunOptions, RunRecord, Status,
    TraceWarning, Warning, run,
};
use writecliff_trace::make::{Maker, Plan as MakerPlan};
use writecliff_trace::{Existing, Header, Map, TraceIo, TraceWriter};

const MS: u64 = 1_000_000;
const KIB: u64 = 1024;

/// `operation` of `length` KiB at `offset` KiB, issued at so many ms.
fn io(operation: Operation, issued: u64, offset: u64, length: u64) -> TraceIo {
    let (offset, length) = (Bytes::from_kib(offset), Bytes::from_kib(length));
    TraceIo::new(Nanos::from_millis(issued), operation, offset, length)
}

fn trace(directory: &Path, name: &str, ios: &[TraceIo]) -> PathBuf {
    let path = directory.join(name);
    let mut writer = TraceWriter::create(&path, Existing::Replaced).unwrap();
    ios.iter().for_each(|io| writer.write(io).unwrap());
    writer.finish(&Header::default()).unwrap();
    path
}

fn plan(traces: &[&Path]) -> storage_bench::Plan {
    let traces = traces.iter().map(|path| path.to_str().unwrap().to_owned()).collect();
    storage_bench::Plan { traces, prepare: false, ..storage_bench::Plan::default() }
}

fn record_of(
    plan: storage_bench::Plan,
    device: &mut dyn Device,
    directory: &Path,
) -> Result<RunRecord, RunError> {
    let path = directory.join("run");
    let plan = Plan::StorageBench(plan);
    run(&plan, device, &path, RunOptions::default(), &mut |_| ControlFlow::Continue(()))
}

/// What is told of every trace that reads and is not prepared for.
fn on_empty_drive(trace: &str) -> Warning {
    TraceWarning::OnEmptyDrive { trace: trace.to_owned() }.into()
}

fn outcome(record: &RunRecord) -> &Outcome {
    match &record.outcome {
        Some(AnyOutcome::StorageBench(outcome)) => outcome,
        other => panic!("{other:?} {:?}", record.warnings),
    }
}

/// Reads take 2 ms and writes 5 ms, one after the other.
fn drive(capacity: Bytes) -> Scripted {
    Scripted::new(capacity, |io: &Io, _| match io.operation {
        Operation::Read => Nanos::from_millis(2),
        _ => Nanos::from_millis(5),
    })
}

/// Two reads of 100 KiB and two writes of 400 KiB one at a time, with hours between them.
fn four() -> Vec<TraceIo> {
    let hour = 3_600_000;
    let mut ios = vec![
        io(Operation::Read, 0, 0, 100),
        io(Operation::Write, hour, 1000, 400),
        io(Operation::Read, 2 * hour, 0, 100),
        io(Operation::Write, 3 * hour, 1000, 400),
    ];
    ios.iter_mut().for_each(|io| io.queue_depth = Some(1));
    ios
}

fn assert_share(share: &storage_bench::Share, operations: u64, kib: u64, busy_ms: u64) {
    assert_eq!((share.operations, share.bytes), (operations, Bytes::from_kib(kib)));
    assert_eq!(share.busy_ns, busy_ms * MS);
    let rate = (kib * KIB) as f64 / 1e6 / (busy_ms as f64 / 1e3);
    assert!((share.megabytes_per_second / rate - 1.0).abs() < 1e-9, "{share:?} is not {rate}");
}

#[test]
fn with_idle_time_cut_the_figures_are_those_of_the_work() {
    let dir = tempfile::tempdir().unwrap();
    let path = trace(dir.path(), "four.trace", &four());
    let record = record_of(plan(&[&path]), &mut drive(Bytes::from_mib(2)), dir.path()).unwrap();
    let Outcome { traces } = outcome(&record);
    let served = &traces[0];
    assert_eq!((traces.len(), served.trace.as_str()), (1, "four"));
    assert_share(&served.all, 4, 1000, 14);
    assert_share(&served.reads, 2, 200, 4);
    assert_share(&served.writes, 2, 800, 10);
    // 2, 2, 5 and 5 ms: mean 3.5, standard deviation 1.5.
    assert_eq!(served.all.service.mean_ns, 3_500_000);
    assert_eq!(served.all.service.deviation_ns, 1_500_000);
    assert_eq!(served.all.service.percentiles.max_ns, 5 * MS);
    assert_eq!(served.reads.service.percentiles.max_ns, 2 * MS);
    assert_eq!((served.response, served.lateness), (None, None));
    // One a second: a read and a write share the only one.
    let slowest = Moment { second: 0, operation: Operation::Write, length_ns: 5 * MS };
    assert_eq!(served.slowest, [slowest]);
    assert_eq!(record.warnings, [on_empty_drive("four")]);
}

#[test]
fn by_the_clock_idle_time_stays_and_is_not_busy() {
    let dir = tempfile::tempdir().unwrap();
    // The second read is due 1 ms after the first, which takes 2; then nothing for a second.
    let ios = [
        io(Operation::Read, 0, 0, 4),
        io(Operation::Read, 1, 8, 4),
        io(Operation::Read, 1000, 0, 4),
    ];
    let path = trace(dir.path(), "clock.trace", &ios);
    let plan = storage_bench::Plan { speed: Some(1.0), ..plan(&[&path]) };
    let record = record_of(plan, &mut drive(Bytes::from_mib(2)), dir.path()).unwrap();
    let Served { all, response, lateness, .. } = &outcome(&record).traces[0];
    assert_share(all, 3, 12, 6);
    // 2, 4 - 1 and 2 ms.
    assert_eq!(response.unwrap().mean_ns, 7 * MS / 3);
    assert_eq!(response.unwrap().percentiles.max_ns, 3 * MS);
    assert_eq!(lateness.unwrap().percentiles.max_ns, 0);
    assert_eq!(record.phases[0].length, Nanos::from_millis(1002));
}

#[test]
fn each_trace_begins_on_a_purged_and_filled_drive() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (trace(dir.path(), "one.trace", &four()), dir.path().join("two.trace"));
    std::fs::copy(&one, &two).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = seen.clone();
    let mut drive = Scripted::new(Bytes::from_mib(2), move |io: &Io, _| {
        kept.lock().unwrap().push((io.operation, io.offset, io.content));
        Nanos::from_millis(1)
    });
    let plan = storage_bench::Plan { prepare: true, ..plan(&[&one, &two]) };
    let record = record_of(plan, &mut drive, dir.path()).unwrap();
    let phases: Vec<&str> = record.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(phases, ["one/fill", "one", "two/fill", "two"]);
    assert!(record.purge.is_some());
    let seen = seen.lock().unwrap();
    // 16 blocks of 128 KiB, in order, incompressible; then the trace; then all again.
    for (index, (operation, offset, content)) in seen[..16].iter().enumerate() {
        let expected = (Operation::Write, Bytes::from_kib(128 * index as u64));
        assert_eq!(((*operation, *offset), *content), (expected, Content::INCOMPRESSIBLE));
    }
    assert_eq!(seen.len(), 2 * (16 + 4));
    assert_eq!(seen[..20], seen[20..]);
}

#[test]
fn data_are_as_compressible_as_the_trace_says() {
    let dir = tempfile::tempdir().unwrap();
    let content = Content { compressible_percent: 60, duplicate_percent: 10 };
    let ios = [TraceIo { content: Some(content), ..io(Operation::Write, 0, 0, 4) }];
    let path = trace(dir.path(), "content.trace", &ios);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = seen.clone();
    let mut drive = Scripted::new(Bytes::from_mib(2), move |io: &Io, _| {
        kept.lock().unwrap().push(io.content);
        Nanos::from_millis(1)
    });
    let record = record_of(plan(&[&path]), &mut drive, dir.path()).unwrap();
    assert_eq!(*seen.lock().unwrap(), [content]);
    let expected = Warning::Trace(TraceWarning::OrderUnknown { trace: "content".to_owned() });
    assert_eq!(record.warnings, [expected], "one operation has neither depth nor completion");
}

#[test]
fn a_trace_that_does_not_fit_is_refused_before_anything_is_done() {
    let dir = tempfile::tempdir().unwrap();
    let path = trace(dir.path(), "four.trace", &four());
    let small = Bytes::from_mib(1);
    let refused = record_of(plan(&[&path]), &mut drive(small), dir.path()).unwrap_err();
    let text = refused.to_string();
    assert!(text.contains("it reaches up to") && text.contains("`map = \"wrap\"`"), "{text}");
    assert!(!dir.path().join("run").exists());

    let wrapped = storage_bench::Plan { map: Map::Wrap, ..plan(&[&path]) };
    let record = record_of(wrapped, &mut drive(small), dir.path()).unwrap();
    assert_eq!(outcome(&record).traces[0].all.operations, 4);
    let end = Bytes::from_kib(1400);
    let trace = "four".to_owned();
    let expected = Warning::Trace(TraceWarning::Mapped { trace, end, span: small, map: Map::Wrap });
    assert!(expected.to_string().contains("of the drive, beginning again at its start:"));
    assert_eq!(record.warnings, [on_empty_drive("four"), expected]);
}

#[test]
fn what_cannot_be_a_plan_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = trace(dir.path(), "four.trace", &four());
    let other = dir.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let same_name = trace(&other, "four.trace", &four());
    let absent = dir.path().join("absent.trace");
    let text = dir.path().join("text.trace");
    std::fs::write(&text, "hello").unwrap();
    let plan = |plan| {
        let device = drive(Bytes::from_mib(2));
        Plan::StorageBench(plan).check(device.info()).unwrap_err().to_string()
    };
    let at = |speed| storage_bench::Plan { speed: Some(speed), ..self::plan(&[&path]) };
    for (refused, expected) in [
        (plan(self::plan(&[])), "traces"),
        (plan(self::plan(&[&path, &same_name])), "four"),
        (plan(self::plan(&[&absent])), "cannot read"),
        (plan(self::plan(&[&text])), "no trace of Writecliff"),
        (plan(at(0.0)), "speed"),
        (plan(at(f64::NAN)), "speed"),
    ] {
        assert!(refused.contains(expected), "{refused}");
    }
}

#[test]
fn trims_are_left_out_where_the_drive_takes_none() {
    let dir = tempfile::tempdir().unwrap();
    let mut ios = four();
    ios.insert(2, TraceIo { queue_depth: Some(1), ..io(Operation::Trim, 3_600_000, 0, 4) });
    let path = trace(dir.path(), "trims.trace", &ios);
    let mut disk = load("wd-velociraptor-300gb").unwrap().open("disk");
    assert!(!disk.info().trim);
    let record = record_of(plan(&[&path]), &mut *disk, dir.path()).unwrap();
    let expected =
        Warning::Trace(TraceWarning::TrimsLeftOut { trace: "trims".to_owned(), count: 1 });
    assert_eq!(record.warnings, [on_empty_drive("trims"), expected]);
    assert_eq!(outcome(&record).traces[0].all.operations, 4);
    // Where it takes them, they are done in the time of their commands.
    let dir = tempfile::tempdir().unwrap();
    let mut tiny = load("tiny").unwrap().open("tiny");
    let record = record_of(plan(&[&path]), &mut *tiny, dir.path()).unwrap();
    let expected = Warning::from(JobWarning::TrimsTakeNoTime);
    assert_eq!(record.warnings, [on_empty_drive("trims"), expected]);
    assert_eq!(outcome(&record).traces[0].all.operations, 5);
}

#[test]
fn the_slowest_moments_are_of_different_seconds() {
    let dir = tempfile::tempdir().unwrap();
    let ios = [
        io(Operation::Read, 0, 0, 4),
        io(Operation::Write, 100, 0, 4),
        io(Operation::Write, 1500, 0, 4),
        io(Operation::Flush, 2500, 0, 0),
    ];
    let path = trace(dir.path(), "moments.trace", &ios);
    let plan = storage_bench::Plan { speed: Some(1.0), ..plan(&[&path]) };
    let mut drive = Scripted::new(Bytes::from_mib(2), |io: &Io, begins| match io.operation {
        Operation::Read => Nanos::from_millis(7),
        Operation::Flush => Nanos::from_millis(9),
        _ if begins.0 < 1_000 * MS => Nanos::from_millis(8),
        _ => Nanos::from_millis(5),
    });
    let record = record_of(plan, &mut drive, dir.path()).unwrap();
    let moment = |second, operation, ms| Moment { second, operation, length_ns: ms * MS };
    let expected = [
        moment(2, Operation::Flush, 9),
        moment(0, Operation::Write, 8),
        moment(1, Operation::Write, 5),
    ];
    assert_eq!(outcome(&record).traces[0].slowest, expected);
}

/// An operation that the device failed was done, and is a doubt of its own.
#[test]
fn a_failed_operation_is_no_end_of_a_trace() {
    let dir = tempfile::tempdir().unwrap();
    let ios: Vec<TraceIo> = (0..200).map(|at| io(Operation::Write, at, at, 4)).collect();
    let path = trace(dir.path(), "app.trace", &ios);
    let mut done = 0;
    let mut drive = drive(Bytes::from_mib(2)).ending_by(move |_, _| {
        done += 1;
        if done == 100 { Ended::Failed(5) } else { Ended::Done }
    });
    let record = record_of(plan(&[&path]), &mut drive, dir.path()).unwrap();
    assert_eq!(outcome(&record).traces[0].all.operations, 199);
    let failed =
        |doubt: &Warning| matches!(doubt, Warning::Drive(DriveWarning::FailedIos { count: 1, .. }));
    let cut_short =
        |doubt: &Warning| matches!(doubt, Warning::Trace(TraceWarning::TraceCutShort { .. }));
    let doubts = &record.warnings;
    assert!(doubts.iter().any(failed) && !doubts.iter().any(cut_short), "{doubts:?}");
}

#[test]
fn runs_of_one_name_are_compared_by_what_the_trace_was() {
    let dir = tempfile::tempdir().unwrap();
    let other_place = dir.path().join("elsewhere");
    std::fs::create_dir(&other_place).unwrap();
    let path = trace(dir.path(), "app.trace", &four());
    let copy = other_place.join("app.trace");
    std::fs::copy(&path, &copy).unwrap();
    let run = |path: &Path, directory: &str| {
        let place = dir.path().join(directory);
        record_of(plan(&[path]), &mut drive(Bytes::from_mib(2)), &place).unwrap()
    };
    let (one, two) = (run(&path, "one"), run(&copy, "two"));
    let mut others = four();
    others[3].length = Bytes::from_kib(200);
    trace(dir.path(), "app.trace", &others);
    let three = run(&path, "three");

    let gate = |now: &RunRecord, before: &RunRecord| {
        let (now, before) = (std::slice::from_ref(now), std::slice::from_ref(before));
        gate::gate(now, &Limits::default(), Some(before), 5.0)
    };
    assert!(gate(&two, &one).unwrap().iter().all(gate::Check::passes));
    let refused = gate(&three, &one).unwrap_err();
    assert!(matches!(refused, GateError::OtherTrace { .. }), "{refused}");
}

#[test]
fn a_run_keeps_the_identity_of_its_trace_whatever_lies_there_later() {
    let dir = tempfile::tempdir().unwrap();
    let path = trace(dir.path(), "app.trace", &four());
    let whole = record_of(plan(&[&path]), &mut drive(Bytes::from_mib(2)), dir.path()).unwrap();
    let identity = outcome(&whole).traces[0].identity.clone();
    assert!(identity.is_some());

    // As a kill right before its end leaves it, and then another trace in the first one's place.
    let file = dir.path().join("run").join("run.json");
    let cut = RunRecord { status: Status::Running, outcome: None, ..whole.clone() };
    std::fs::write(&file, serde_json::to_string(&cut).unwrap()).unwrap();
    let mut others = four();
    others[3].length = Bytes::from_kib(200);
    others.push(io(Operation::Read, 20_000_000, 0, 4));
    trace(dir.path(), "app.trace", &others);

    let (concluded, _) = writecliff_suite::open(&dir.path().join("run")).unwrap();
    assert_eq!(concluded.status, Status::CutOff);
    assert_eq!(outcome(&concluded).traces[0].identity, identity);
    assert_eq!(concluded.warnings, whole.warnings, "all four operations were done");
}

#[test]
fn a_trace_that_is_replaced_after_it_was_judged_is_not_done() {
    let dir = tempfile::tempdir().unwrap();
    let path = trace(dir.path(), "app.trace", &four());
    let plan = plan(&[&path]);
    let mut drive = drive(Bytes::from_mib(2));
    Plan::StorageBench(plan.clone()).check(drive.info()).unwrap();
    let mut others = four();
    others[3].length = Bytes::from_kib(200);
    trace(dir.path(), "app.trace", &others);
    let refused = record_of(plan.clone(), &mut drive, dir.path()).unwrap_err();
    assert!(refused.to_string().contains("not the trace that it was"), "{refused}");
    let again = storage_bench::Plan { resolved: Default::default(), ..plan };
    let elsewhere = dir.path().join("again");
    assert!(record_of(again, &mut drive, &elsewhere).is_ok());
}

#[test]
fn a_clock_that_would_run_for_ages_and_a_trace_of_nothing_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let century = 100 * 365 * 86_400_000;
    let ios = [io(Operation::Read, 0, 0, 4), io(Operation::Read, century, 0, 4)];
    let (long, empty) =
        (trace(dir.path(), "long.trace", &ios), trace(dir.path(), "empty.trace", &[]));
    let refused = |plan| {
        let device = drive(Bytes::from_mib(2));
        Plan::StorageBench(plan).check(device.info()).unwrap_err().to_string()
    };
    let timed = storage_bench::Plan { speed: Some(1.0), ..plan(&[&long]) };
    assert!(refused(timed.clone()).contains("36500 days"), "{}", refused(timed));
    assert!(refused(plan(&[&empty])).contains("no operation"));
    let cut = storage_bench::Plan { operations: Some(0), ..plan(&[&long]) };
    assert!(refused(cut).contains("no operation"));
    // With idle time cut a century is nothing.
    let record = record_of(plan(&[&long]), &mut drive(Bytes::from_mib(2)), dir.path()).unwrap();
    assert_eq!(outcome(&record).traces[0].all.operations, 2);
}

#[test]
fn a_trace_that_is_damaged_is_found_before_anything_is_done_to_the_drive() {
    let dir = tempfile::tempdir().unwrap();
    let mut ios: Vec<TraceIo> = Vec::new();
    for index in 0..200_000 {
        ios.push(TraceIo { queue_depth: Some(1), ..io(Operation::Read, index, index % 900, 4) });
    }
    let path = trace(dir.path(), "long.trace", &ios);
    let mut bytes = std::fs::read(&path).unwrap();
    // Somewhere in a group behind the first; the end of the file has the columns' places.
    let middle = bytes.len() / 2;
    bytes[middle..middle + 200].fill(0x55);
    std::fs::write(&path, bytes).unwrap();
    let plan = storage_bench::Plan { prepare: true, ..plan(&[&path]) };
    let touched = Arc::new(Mutex::new(0));
    let count = touched.clone();
    let mut drive = Scripted::new(Bytes::from_mib(2), move |_: &Io, _| {
        *count.lock().unwrap() += 1;
        Nanos::from_millis(1)
    });
    let error = record_of(plan, &mut drive, dir.path()).unwrap_err();
    assert!(matches!(error, RunError::Trace(_)), "{error}");
    assert_eq!(*touched.lock().unwrap(), 0);
    let (record, _) = writecliff_suite::open(&dir.path().join("run")).unwrap();
    assert!(record.purge.is_none() && record.phases.is_empty());
}

/// How a simulated drive serves a trace after a purge and a fill.
fn on(name: &str, plan: &storage_bench::Plan) -> Served {
    let dir = tempfile::tempdir().unwrap();
    let mut drive = load(name).unwrap().open(name);
    let plan = storage_bench::Plan { prepare: true, ..plan.clone() };
    let record = record_of(plan, &mut *drive, dir.path()).unwrap();
    outcome(&record).traces[0].clone()
}

/// seeds: the SandForce drive gains where parts of the load can be compressed, other drives do not.
#[test]
fn a_compressing_drive_gains_on_compressible_parts_and_no_other_drive_does() {
    const OPERATIONS: usize = 250_000;
    let dir = tempfile::tempdir().unwrap();
    let heavy = MakerPlan::shipped("heavy-2011").unwrap();
    let made = Maker::new(&heavy, 1).unwrap().take(OPERATIONS).collect::<Vec<TraceIo>>();
    assert!(made.iter().any(|io| io.content.is_some_and(|c| c.compressible_percent > 30)));
    let as_made = trace(dir.path(), "as-made.trace", &made);
    let plain = |io: &TraceIo| TraceIo { content: None, ..*io };
    let incompressible: Vec<TraceIo> = made.iter().map(plain).collect();
    let incompressible = trace(dir.path(), "incompressible.trace", &incompressible);
    let gain = |drive: &str| {
        let [with, without] = [&as_made, &incompressible].map(|path| on(drive, &plan(&[path])));
        with.all.megabytes_per_second / without.all.megabytes_per_second
    };
    let (sandforce, other) = (gain("ocz-vertex-3-240gb"), gain("corsair-neutron-240gb"));
    assert!(sandforce > 1.1, "{sandforce}");
    assert!((other - 1.0).abs() < 1e-9, "{other}");
}

/// seeds: the 840 Pro falls into holes without more spare area, the Neutron hardly does. Bursts
/// that meet a hole weigh in the average service time by their depth, in the data rate by nothing.
#[test]
fn a_drive_with_deep_holes_loses_more_in_service_time_than_in_data_rate() {
    let traces = vec!["heavy-2011".to_owned()];
    let plan = storage_bench::Plan { traces, ..storage_bench::Plan::default() };
    let [holes, steady] = ["samsung-840-pro-256gb", "corsair-neutron-240gb"].map(|d| on(d, &plan));
    let slower = steady.all.megabytes_per_second / holes.all.megabytes_per_second;
    let later = holes.all.service.mean_ns as f64 / steady.all.service.mean_ns as f64;
    let less_even = holes.all.service.deviation_ns as f64 / steady.all.service.deviation_ns as f64;
    assert!(later > slower * 1.1, "{later} times the service time, {slower} of the data rate");
    assert!(less_even > 2.0 * later, "{less_even} times the standard deviation");
}
