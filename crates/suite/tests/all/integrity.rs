//! The test of a drive's data on simulated drives whose losses are known.
use std::ops::ControlFlow;

use tempfile::TempDir;
use writecliff_device::{
    Bytes, Completion, Device, DeviceError, DeviceInfo, DeviceTime, Held, Io, Nanos, Operation,
    PrepareWatch, Purge, PurgeOutcome, Stamping, Telemetry,
};
use writecliff_sim::{Disk, Profile, Ssd, SsdProfile, load};
use writecliff_suite::integrity::{FILL, Kind, Outcome, PROBES, READ_BACK, TORTURE};
use writecliff_suite::{
    DataWarning, DriveWarning, MethodWarning, Overrides, Plan, RunOptions, RunRecord, Status,
    Warning, integrity, open, run,
};

fn tiny() -> SsdProfile {
    load("tiny").unwrap().into_ssd().unwrap()
}

fn plan(seconds: u64) -> integrity::Plan {
    integrity::Plan { duration: Nanos::from_secs(seconds), ..integrity::Plan::default() }
}

fn on(device: &mut dyn Device, plan: integrity::Plan) -> (RunRecord, Outcome, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let (path, options) = (dir.path().join("run"), RunOptions::default());
    let plan = Plan::Integrity(plan);
    let record = run(&plan, device, &path, options, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(open(&path).unwrap().0.outcome, record.outcome, "as it is on disk");
    let Some(writecliff_suite::Outcome::Integrity(outcome)) = record.outcome.clone() else {
        panic!("{record:?}");
    };
    (record, outcome, dir)
}

fn on_ssd(profile: SsdProfile, plan: integrity::Plan) -> (RunRecord, Outcome, TempDir) {
    on(&mut Ssd::new(profile, "sim:tiny"), plan)
}

#[test]
fn a_drive_that_keeps_everything_has_every_block_compared_and_none_bad() {
    let (record, outcome, dir) = on_ssd(tiny(), plan(3));
    assert_eq!((outcome.bad(), outcome.not_flushed), (0, 0), "{:?}", outcome.first);
    let blocks = record.drive.capacity.0 / 4096;
    assert_eq!(outcome.blocks, blocks);
    let looked_at = outcome.checks + outcome.anything;
    assert!(looked_at > blocks + 3000, "{looked_at} of {blocks}");
    assert!(outcome.anything > 0 && outcome.anything < blocks / 2, "trimmed: {}", outcome.anything);
    assert!(outcome.finished && outcome.real_capacity.is_none() && outcome.first.is_empty());
    assert_eq!((&record.status, &record.warnings[..]), (&Status::Complete, &[][..]));
    let phases: Vec<&str> = record.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(phases, ["probes", "probes-read", "fill", "torture", "read-back"]);
    let torture = record.phases[3].length;
    assert!(torture < Nanos::from_millis(3200), "{torture}: a round is cut short");
    let recording = open(&dir.path().join("run")).unwrap().1;
    let sum = |series, field: fn(&writecliff_measure::Sample) -> u64| -> u64 {
        recording.series(series).map(field).sum()
    };
    assert_eq!(sum(FILL, |sample| sample.written_bytes), record.drive.capacity.0);
    assert_eq!(sum(READ_BACK, |sample| sample.read_bytes), record.drive.capacity.0);
    let [reads, writes, trims, flushes] = [
        sum(TORTURE, |s| s.reads),
        sum(TORTURE, |s| s.writes),
        sum(TORTURE, |s| s.trims),
        sum(TORTURE, |s| s.flushes),
    ];
    assert!(writes > reads && reads > 20 * trims && trims > 0 && flushes > 0);
    let share = reads as f64 / (reads + writes + trims) as f64;
    assert!((share - 0.3).abs() < 0.03, "{share}");
    assert!(!dir.path().join("run/stamps.json").exists(), "nothing is left of a simulated drive");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let again = || {
        let (record, outcome, dir) = on_ssd(tiny(), plan(2));
        let series = std::fs::read(dir.path().join("run/series.parquet")).unwrap();
        (record.phases, outcome, series)
    };
    assert_eq!(again(), again());
}

#[test]
fn the_pages_of_a_power_cut_are_found_as_many_as_the_model_lost_and_were_not_flushed() {
    // While the probes are written: what is lost there is overwritten only after it was looked at.
    for micros in [700, 1500, 3000, 9000] {
        let mut profile = tiny();
        profile.faults.power_cuts = vec![Nanos::from_micros(micros)];
        let (record, outcome, _dir) = on_ssd(profile, plan(1));
        let probes = record.phases.iter().find(|phase| phase.name == PROBES).unwrap();
        assert!(probes.length > Nanos::from_micros(micros), "the cut came too late");
        let lost = probes.after.lost_pages.unwrap();
        assert!(lost > 0, "the cut cost nothing");
        assert_eq!((outcome.bad(), outcome.not_flushed), (0, lost), "{:?}", outcome.first);
        assert!(outcome.real_capacity.is_none(), "an accident is no lie");
        let failed = record.warnings.iter().find_map(|doubt| match doubt {
            Warning::Drive(DriveWarning::FailedIos { power_cuts, .. }) => Some(*power_cuts),
            _ => None,
        });
        assert_eq!(failed, Some(1), "what was in flight failed, and why");
    }
}

#[test]
fn a_cut_in_the_torture_leaves_older_versions_which_may_be() {
    let mut profile = tiny();
    let fill = |profile: SsdProfile| on_ssd(profile, plan(1)).0.phases[3].start;
    let begins = fill(profile.clone());
    profile.faults.power_cuts = vec![begins + Nanos::from_millis(900)];
    let (_, outcome, _dir) = on_ssd(profile, plan(1));
    assert!(outcome.not_flushed > 0, "the cut cost nothing");
    assert_eq!(outcome.bad(), 0, "{:?}", outcome.first);
}

/// A drive that says that it has flushed, and has not; and when it said so.
struct Lying(Ssd, Vec<DeviceTime>);

impl Device for Lying {
    fn info(&self) -> &DeviceInfo {
        self.0.info()
    }
    fn now(&self) -> DeviceTime {
        self.0.now()
    }
    fn submit(&mut self, batch: &[Io]) -> Result<(), DeviceError> {
        // It reads a block instead, which nobody looks at.
        let instead = |io: &Io| Io { slot: io.slot, series: io.series, ..NOTHING };
        let done = |io: &Io| if io.operation == Operation::Flush { instead(io) } else { *io };
        self.0.submit(&batch.iter().map(done).collect::<Vec<_>>())
    }
    fn reap(&mut self, until: DeviceTime, done: &mut Vec<Completion>) -> Result<(), DeviceError> {
        let had = done.len();
        self.0.reap(until, done)?;
        for completion in &mut done[had..] {
            let Io { slot, series, .. } = completion.io;
            if completion.io == (Io { slot, series, ..NOTHING }) {
                completion.io = Io { slot, series, ..Io::flush() };
                self.1.push(completion.completed);
            }
        }
        Ok(())
    }
    fn purge(&mut self, how: Purge, watch: PrepareWatch<'_>) -> Result<PurgeOutcome, DeviceError> {
        self.0.purge(how, watch)
    }
    fn telemetry(&mut self) -> Telemetry {
        self.0.telemetry()
    }
    fn stamp(&mut self, stamping: Stamping) -> bool {
        self.0.stamp(stamping)
    }
    fn take_held(&mut self, held: &mut Vec<Held>) {
        self.0.take_held(held);
    }
}

const NOTHING: Io = Io::read(Bytes(0), Bytes(4096));

#[test]
fn what_was_flushed_and_is_gone_after_a_power_cut_is_bad() {
    let mut profile = tiny();
    let lying = |profile: &SsdProfile| {
        let mut drive = Lying(Ssd::new(profile.clone(), "sim:tiny"), Vec::new());
        let (_, outcome, _dir) = on(&mut drive, plan(1));
        (outcome, drive.1)
    };
    // While what the first round of the fill has written is still in RAM.
    let flushed = lying(&profile).1[1];
    profile.faults.power_cuts =
        vec![flushed.since(DeviceTime::default()) + Nanos::from_micros(100)];
    let honest = on_ssd(profile.clone(), plan(1)).1;
    assert_eq!(honest.bad(), 0, "{:?}", honest.first);
    let outcome = lying(&profile).0;
    assert!(outcome.lost > 0, "{outcome:?}");
    assert_eq!(outcome.bad(), outcome.old + outcome.lost, "{:?}", outcome.first);
    for bad in &outcome.first {
        match (bad.kind, bad.found) {
            (Kind::Lost, Some(found)) => assert_eq!(found, Held::Zeros),
            // Where a probe was.
            (Kind::Old, Some(Held::Stamped { offset, pass })) => {
                assert!(offset == bad.offset && pass.get() < bad.expected, "{bad:?}");
            }
            _ => panic!("{bad:?}"),
        }
        assert_eq!(bad.lba, bad.offset.0 / 512);
    }
}

#[test]
fn the_pages_of_a_die_without_parity_cannot_be_read() {
    let mut profile = tiny();
    profile.identity.capacity = Bytes::from_mib(64);
    let end = on_ssd(profile.clone(), plan(1)).0.phases[4].start;
    profile.faults.lost_die = Some(1);
    profile.faults.lost_die_at = end + Nanos::from_micros(200);
    let mut ssd = Ssd::new(profile, "sim:tiny");
    let (_, outcome, _dir) = on(&mut ssd, plan(1));
    let lost = ssd.telemetry().lost_pages.unwrap();
    assert!(lost > 1000, "{lost}");
    // What was read before the die failed was right.
    assert!(outcome.unreadable <= lost && outcome.unreadable > lost * 9 / 10, "{lost}");
    assert_eq!(outcome.bad(), outcome.unreadable);
}

#[test]
fn a_drive_that_claims_more_than_it_has_is_found_by_the_probes() {
    let claimed = tiny().identity.capacity;
    for real in [Bytes::from_mib(1), Bytes(claimed.0 / 3), Bytes(claimed.0 - (2 << 20))] {
        let real = Bytes(real.0 / 4096 * 4096);
        let mut profile = tiny();
        profile.faults.real_capacity = Some(real);
        let (record, outcome, _dir) = on_ssd(profile, plan(1));
        assert_eq!(outcome.real_capacity, Some(real), "{} misplaced", outcome.misplaced);
        assert!(outcome.misplaced > 0 && outcome.finished);
        let phases: Vec<&str> = record.phases.iter().map(|phase| phase.name.as_str()).collect();
        assert_eq!(phases, ["probes", "probes-read"], "nothing more is to be found out");
        assert!(record.figures().iter().any(|figure| figure.name == "real capacity"));
    }
}

#[test]
fn a_part_of_a_drive_is_all_that_is_touched() {
    let span = Some(Bytes::from_mib(16));
    let mut ssd = Ssd::new(tiny(), "sim:tiny");
    let (record, outcome, _dir) = on(&mut ssd, integrity::Plan { span, ..plan(1) });
    assert_eq!((outcome.blocks, outcome.bad()), (4096, 0));
    assert_eq!(record.drive.capacity, outcome.capacity);
    assert!(
        matches!(record.warnings[..], [Warning::Data(DataWarning::PartTested { .. })]),
        "{:?}",
        record.warnings
    );
}

#[test]
fn drives_of_every_kind_pass() {
    let quick = |name: &str| {
        let mut device: Box<dyn Device> = match load(name).unwrap() {
            Profile::Ssd(ssd) => Box::new(Ssd::new(*ssd, name)),
            Profile::Disk(disk) => Box::new(Disk::new(*disk, name)),
        };
        let span = Some(Bytes::from_mib(8));
        let (_, outcome, _dir) = on(device.as_mut(), integrity::Plan { span, ..plan(2) });
        assert_eq!((outcome.bad(), outcome.not_flushed), (0, 0), "{name}: {:?}", outcome.first);
        assert!(device.now() > DeviceTime::default());
    };
    for name in ["jmicron-jmf602b-128gb", "generic-dramless", "samsung-840-evo-250gb-rapid"] {
        quick(name);
    }
    let is_disk = |name: &&str| matches!(load(name), Ok(Profile::Disk(_)));
    quick(writecliff_sim::catalogue().into_iter().find(is_disk).unwrap());
}

#[test]
fn what_cannot_be_is_one_clear_message() {
    let ssd = Ssd::new(tiny(), "sim:tiny");
    let refused =
        |plan: integrity::Plan| Plan::Integrity(plan).check(ssd.info()).unwrap_err().to_string();
    assert!(refused(integrity::Plan { probes: 0, ..plan(1) }).contains("at least one probe"));
    assert!(refused(integrity::Plan { read_percent: 100, ..plan(1) }).contains("at most 99 %"));
    assert!(refused(integrity::Plan { queue_depth: 0, ..plan(1) }).contains("queue depth"));
    let (_, _, dir) = on_ssd(tiny(), plan(1));
    let reopen = Some(dir.path().join("run"));
    let again = Overrides { reopen, ..Overrides::default() };
    let refused = Plan::Integrity(plan(1)).with(&again).unwrap_err().to_string();
    assert!(refused.contains("of a simulated drive nothing is left"), "{refused}");
    let nowhere = Overrides { reopen: Some("nowhere".into()), ..Overrides::default() };
    let refused = Plan::Integrity(plan(1)).with(&nowhere).unwrap_err().to_string();
    assert!(refused.starts_with("reopen nowhere is not possible"), "{refused}");
}

#[test]
fn a_run_that_is_broken_off_keeps_what_it_found_and_says_that_it_is_not_all() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut ssd = Ssd::new(tiny(), "sim:tiny");
    let watch = &mut |progress: &writecliff_suite::Progress<'_>| match progress.step {
        TORTURE => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let plan = Plan::Integrity(plan(30));
    let record = run(&plan, &mut ssd, &path, RunOptions::default(), watch).unwrap();
    assert_eq!(record.status, Status::Interrupted);
    assert!(
        matches!(
            record.warnings[..],
            [
                Warning::Method(MethodWarning::Ended { .. }),
                Warning::Method(MethodWarning::BrokenOff { .. })
            ]
        ),
        "{:?}",
        record.warnings
    );
    let Some(writecliff_suite::Outcome::Integrity(outcome)) = &record.outcome else { panic!() };
    assert!(outcome.checks > 0 && !outcome.finished);
}
