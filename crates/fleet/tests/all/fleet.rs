//! Fleets on this machine: what they are made of, that nothing depends on who ran which group, and what
//! becomes of them when they are broken off.
use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use writecliff::suite::{Outcome, mixed};
use writecliff::{Plan, RunOptions, UNWATCHED, run};
use writecliff_columns::ColumnFile;
use writecliff_device::Bytes;
use writecliff_fleet::{DRIVES, Fleet, FleetError, FleetRun, GroupRow, MINUTES, Task, write_page};
use writecliff_sweep::{End, GoOn, Work};
use writecliff_workload::Job;

/// Two kinds of small drives in groups of three copies, with and without hedging.
const PLAN: &str = "\
groups = 4
parity = 2
duration = \"90s\"
warm_up = \"5s\"
limit = \"1ms\"
[[drives]]
drive = \"sim:tiny\"
overwrites = [0.0, 2.0]
[[drives]]
drive = \"sim:tiny\"
share = 2
full_percent = 75
profile = { \"gc.quantum\" = 4 }
[load]
iops = 800
read_percent = 50
[[variants]]
name = \"as it is\"
[[variants]]
name = \"hedged\"
hedge = \"300us\"
load.iops = 400
";

const ON: GoOn<'_> = &|| ControlFlow::Continue(());
const WATCH: writecliff_sweep::Watch<'_, GroupRow> = &|_| ControlFlow::Continue(());

fn fleet(text: &str) -> Result<Fleet, FleetError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fleet.toml");
    std::fs::write(&path, text).unwrap();
    Fleet::read(&path)
}

fn done(path: &Path) -> FleetRun {
    let run = FleetRun::begin(fleet(PLAN).unwrap(), path).unwrap();
    assert_eq!(run.run(None, WATCH).unwrap(), End::Complete);
    run
}

fn tables(path: &Path) -> [Vec<u8>; 2] {
    [MINUTES, DRIVES].map(|file| std::fs::read(path.join(file)).unwrap())
}

fn requests(row: &GroupRow) -> u64 {
    row.minutes.iter().map(writecliff_fleet::Minute::requests).sum()
}

#[test]
fn a_fleet_of_one_is_the_drive() {
    let text =
        "groups = 1\nduration = \"20s\"\n[[drives]]\ndrive = \"sim:tiny\"\n[load]\niops = 3000\n";
    let fleet = fleet(text).unwrap();
    let row = Task { variant: 0, group: 0, fleet: fleet.clone() }.perform(ON).unwrap().unwrap();

    let dir = tempfile::tempdir().unwrap();
    let job = Job { queue_depth: 32, ..fleet.job(0) };
    let plan = Plan::Mixed(mixed::Plan { jobs: vec![job], ..mixed::Plan::default() });
    let drive = "sim:tiny".parse().unwrap();
    let path = dir.path().join("run");
    let record = run(&plan, &drive, None, &path, RunOptions::default(), UNWATCHED).unwrap();
    let Some(Outcome::Mixed(outcome)) = record.outcome else { panic!("no outcome") };
    let of_run = [&outcome.jobs[0].reads, &outcome.jobs[0].writes].map(|figures| {
        let figures = figures.as_ref().unwrap();
        let latency = figures.latency;
        let of =
            [latency.p50_ns, latency.p99_ns, latency.p999_ns, latency.p9999_ns, latency.max_ns];
        (figures.ios, of.map(Option::unwrap))
    });
    let counts = [&row.minutes[0].reads, &row.minutes[0].writes];
    for ((ios, latencies), counts) in of_run.into_iter().zip(counts) {
        let all: u64 = counts.iter().map(|(_, count)| count).sum();
        assert_eq!(ios, all);
        let at = |percent: f64| {
            let rank = (all as f64 * percent / 100.0).ceil() as u64;
            let mut below = 0;
            counts
                .iter()
                .find(|(_, count)| {
                    below += count;
                    below >= rank
                })
                .unwrap()
                .0
        };
        assert_eq!(latencies[..4], [50.0, 99.0, 99.9, 99.99].map(at));
    }
    let longest = of_run.map(|(_, latencies)| latencies[4]);
    assert_eq!(row.minutes[0].longest_ns, longest[0].max(longest[1]));
}

#[test]
fn nothing_depends_on_who_ran_which_group() {
    let dir = tempfile::tempdir().unwrap();
    let here = done(&dir.path().join("here"));
    // Elsewhere: from the last group to the first, each by way of JSON, in two parts.
    let there = FleetRun::begin(fleet(PLAN).unwrap(), &dir.path().join("there")).unwrap();
    let row = |task: &Task| {
        let task: Task = serde_json::from_str(&serde_json::to_string(task).unwrap()).unwrap();
        let row = task.perform(ON).unwrap().unwrap();
        serde_json::from_str::<GroupRow>(&serde_json::to_string(&row).unwrap()).unwrap()
    };
    let mut rows: Vec<GroupRow> = there.tasks().iter().rev().map(row).collect();
    let rest = rows.split_off(3);
    there.keep(rows).unwrap();
    let there = FleetRun::resume(there.path()).unwrap();
    assert_eq!(there.done().len(), 3);
    there.keep(rest.clone()).unwrap();
    assert_eq!(tables(here.path()), tables(there.path()));
    assert!(here.services().unwrap() == there.services().unwrap());

    // A second row of a group is not counted; one of no group is refused.
    FleetRun::resume(there.path()).unwrap().keep(rest.clone()).unwrap();
    assert_eq!(tables(here.path()), tables(there.path()));
    let other = GroupRow { group: 4, ..rest[0].clone() };
    let refused = there.keep(vec![other]).unwrap_err().to_string();
    assert!(refused.contains("group 4 of variant"), "{refused}");
}

#[test]
fn a_broken_off_fleet_goes_on_where_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let (whole, broken) = (dir.path().join("whole"), dir.path().join("broken"));
    done(&whole);
    let ended = AtomicUsize::new(0);
    let run = FleetRun::begin(fleet(PLAN).unwrap(), &broken).unwrap();
    let watch = |row: Option<&GroupRow>| {
        if row.is_some() && ended.fetch_add(1, Ordering::Relaxed) == 1 {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    };
    assert_eq!(run.run(None, &watch).unwrap(), End::Interrupted);
    // As a kill leaves it: the last line cut short.
    let rows = broken.join("groups.jsonl");
    let mut text = std::fs::read_to_string(&rows).unwrap();
    text.truncate(text.len() - 20);
    std::fs::write(&rows, text).unwrap();
    let again = FleetRun::resume(&broken).unwrap();
    let before = again.done().len();
    assert!((1..8).contains(&before), "{before} groups");
    assert_eq!(again.run(None, WATCH).unwrap(), End::Complete);
    assert_eq!(tables(&whole), tables(&broken));
    let occupied = FleetRun::begin(fleet(PLAN).unwrap(), &broken).unwrap_err();
    assert!(matches!(occupied, FleetError::IsThere { .. }));
}

#[test]
fn a_fleet_has_its_kinds_of_drives_and_its_load() {
    let dir = tempfile::tempdir().unwrap();
    let run = done(dir.path());
    let services = run.services().unwrap();
    assert_eq!(
        services.iter().map(|(variant, _)| &*variant.name).collect::<Vec<_>>(),
        ["as it is", "hedged"]
    );
    for ((variant, service), iops) in services.iter().zip([800.0, 400.0]) {
        let (requests, late) = service.requests();
        // Poisson: the deviation is the root of the count.
        let due: f64 = iops * 90.0;
        assert!((requests as f64 - due).abs() < 5.0 * due.sqrt(), "{requests}, not {due}");
        assert_eq!(service.kinds.iter().map(|kind| kind.drives).collect::<Vec<_>>(), [4, 8]);
        assert_eq!(service.kinds.iter().map(|kind| kind.late).sum::<u64>(), late);
        let blamed: u64 = service.slowest.iter().map(|slow| slow.drive.late).sum();
        assert_eq!(blamed, late);
        // A write goes to three drives, a read to one, and to another where it is hedged.
        let ios: u64 = service.kinds.iter().map(|kind| kind.ios).sum();
        let [reads, writes] = service.responses().map(|responses| responses.count() as f64);
        let warm = 95.0 / 90.0;
        let known = (3.0 * writes + reads) * warm + service.hedged.unwrap_or(0) as f64;
        assert!((ios as f64 / known - 1.0).abs() < 0.02, "{ios}, not {known}");
        assert_eq!(service.hedged.map(|reads| reads > 0), variant.fleet.hedge.map(|_| true));
    }
    // More spare area: less is written again.
    let amplification = |kind: usize| {
        let kind = &services[0].1.kinds[kind];
        kind.nand_written.unwrap() as f64 / kind.written as f64
    };
    assert!(amplification(1) < 0.8 * amplification(0), "{} {}", amplification(1), amplification(0));
    // Hedging answers the late reads.
    let tail = |at: usize| services[at].1.responses()[0].percentile(99.9);
    assert!(tail(1) < tail(0), "{:?} {:?}", tail(1), tail(0));

    let drives = ColumnFile::open(File::open(dir.path().join(DRIVES)).unwrap()).unwrap();
    assert_eq!(drives.group(0, 1000).unwrap().rows(), 24);
    let page = write_page(run.fleet(), &services, &dir.path().join("report")).unwrap();
    let text = std::fs::read_to_string(page).unwrap();
    for word in ["hedged", "simulated", "late requests", "group ", "12 simulated drives"] {
        assert!(text.contains(word), "{word}");
    }
}

#[test]
fn volumes_make_some_groups_busier_than_others() {
    let text =
        PLAN.replace("iops = 800", "iops = 800\nvolumes = 10").replace("load.iops = 400", "");
    let dir = tempfile::tempdir().unwrap();
    let run = FleetRun::begin(fleet(&text).unwrap(), dir.path()).unwrap();
    let rows: Vec<GroupRow> =
        run.tasks().iter().take(4).map(|task| task.perform(ON).unwrap().unwrap()).collect();
    // Each volume has 80 a second of its own, 7,200 in all.
    let volumes: Vec<f64> = rows.iter().map(|row| requests(row) as f64 / 7200.0).collect();
    assert!(volumes.iter().all(|count| (count - count.round()).abs() < 0.15), "{volumes:?}");
    assert_eq!(volumes.iter().map(|count| count.round()).sum::<f64>(), 10.0, "{volumes:?}");
}

#[test]
fn a_trace_is_done_by_every_volume_from_a_moment_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("a.trace");
    let mut writer =
        writecliff_trace::TraceWriter::create(&trace, writecliff_trace::Existing::Replaced)
            .unwrap();
    // One write in every 10 ms over 20 s; the place tells the time.
    for index in 0..2000_u64 {
        let io = writecliff_trace::TraceIo::new(
            writecliff_device::Nanos(index * 10_000_000),
            writecliff_device::Operation::Write,
            Bytes(index * 4096),
            Bytes(4096),
        );
        writer.write(&io).unwrap();
    }
    writer.finish(&writecliff_trace::Header::default()).unwrap();
    let text = |more: &str| {
        format!(
            "groups = 2\nparity = 1\nduration = \"60s\"\n[[drives]]\ndrive = \"sim:tiny\"\n[load]\n\
             trace = {:?}\n{more}\n",
            trace.to_str().unwrap()
        )
    };
    let served = |more: &str| {
        let fleet = fleet(&text(more)).unwrap();
        let groups = 0..fleet.groups;
        let row =
            |group| Task { variant: 0, group, fleet: fleet.clone() }.perform(ON).unwrap().unwrap();
        groups.map(row).collect::<Vec<GroupRow>>()
    };
    // A volume for each group, three times the trace and 3 more, to two drives.
    let each = served("");
    for row in &each {
        assert!((6002..=6004).contains(&requests(row)), "{}", requests(row));
        let [a, b] = &row.drives[..] else { panic!() };
        assert_eq!((a.ios, a.written), (b.ios, b.written));
        assert_eq!(a.written, a.ios * 4096);
    }
    let fast = served("speed = 2.5\nvolumes = 8");
    let all: u64 = fast.iter().map(requests).sum();
    assert!((all as f64 / (8.0 * 15_000.0) - 1.0).abs() < 0.001, "{all}");

    let coded = text("").replace("parity = 1", "data = 2\nparity = 1");
    let refused = fleet(&coded).unwrap().variants().unwrap_err().to_string();
    assert!(refused.contains("whole stripes"), "{refused}");
    let nowhere = text("").replace("a.trace", "b.trace");
    let refused = fleet(&nowhere).unwrap().variants().unwrap_err().to_string();
    assert!(refused.contains("b.trace"), "{refused}");
}

#[test]
fn the_documents_examples_are_fleets() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fleets");
    for (plan, variants) in [("spare-area", 4), ("layouts", 5)] {
        let fleet = Fleet::read(&docs.join(format!("{plan}.toml"))).unwrap();
        assert_eq!(fleet.variants().unwrap().len(), variants, "{plan}");
    }
}

#[test]
fn what_makes_no_fleet_is_told_with_the_key() {
    let whole = fleet(PLAN).unwrap().variants().unwrap();
    assert_eq!(whole.len(), 2);
    for (from, to, word) in [
        ("groups = 4", "groups = 0", "groups: there is"),
        ("groups = 4", "groops = 4", ":1: unknown field `groops`"),
        ("groups = 4", "groups = 400000", "at most 1000000"),
        ("parity = 2", "parity = 99", "groups of 64"),
        ("parity = 2", "", "nobody else to ask"),
        ("duration = \"90s\"", "duration = \"0s\"", "it is zero"),
        ("sim:tiny", "/dev/null", "say sim:NAME"),
        ("sim:tiny", "sim:tinny", "tiny"),
        ("gc.quantum", "gc.quantumm", "quantum"),
        ("full_percent = 75", "full_percent = 0", "1 to 100"),
        ("overwrites = [0.0, 2.0]", "overwrites = [2.0, 0.0]", "no part of"),
        (
            "overwrites = [0.0, 2.0]",
            "overwrites = \"old\"",
            ":8: expected a number, or [low, high]",
        ),
        ("iops = 800", "", "either iops or a trace"),
        ("iops = 800", "iops = 800\nblock = \"1KiB\"", "1,024 B are no multiple of 4 KiB"),
        (
            "load.iops = 400",
            "load.iops = 0",
            "makes no fleet: variants 'hedged', load.iops: it is zero",
        ),
        ("read_percent = 50", "read_percent = 101", "more than all"),
        ("name = \"hedged\"", "name = \"as it is\"", "two are called"),
        ("hedge = \"300us\"", "hege = \"300us\"", "hege"),
    ] {
        assert!(PLAN.contains(from), "{from}");
        let error = fleet(&PLAN.replace(from, to)).and_then(|fleet| fleet.variants()).unwrap_err();
        assert!(error.to_string().contains(word), "{to}: {error}");
        assert_eq!(error.kind(), writecliff::ErrorKind::Usage, "{error}");
    }
}

#[test]
fn what_never_ends_is_refused_and_the_rest_counted_beforehand() {
    let dir = tempfile::tempdir().unwrap();
    for (from, to, word) in [
        ("groups = 4\n", "groups = 4000000\n", "12000000 drives"),
        ("groups = 4\n", "groups = 300000\n", "1800000 drives together"),
        ("duration = \"90s\"", "duration = \"10000h\"", "more than a year"),
        ("iops = 800", "iops = 1000000000000", "1e13 are the most"),
    ] {
        let wrong = fleet(&PLAN.replace(from, to)).unwrap();
        let refused = FleetRun::begin(wrong, &dir.path().join("none")).unwrap_err().to_string();
        assert!(refused.contains(word), "{refused}");
    }
    let run = FleetRun::begin(fleet(PLAN).unwrap(), &dir.path().join("none")).unwrap();
    let amount = run.amount();
    assert_eq!((amount.drives, amount.seconds), (24, 24.0 * 95.0));
    assert_eq!(run.pieces(), (0, 8));
}

/// Three copies: what the users wrote is a third of what the drives were given.
#[test]
fn copies_and_parity_are_part_of_what_a_byte_of_data_costs() {
    let dir = tempfile::tempdir().unwrap();
    let run = done(dir.path());
    for (_, service) in run.services().unwrap() {
        let given: u64 = service.kinds.iter().map(|kind| kind.written).sum();
        assert_eq!(service.data_written, given / 3);
        let (of_drives, of_data) = (
            service.write_amplification().unwrap(),
            service.write_amplification_of_data().unwrap(),
        );
        assert!((of_data / of_drives - 3.0).abs() < 1e-6, "{of_data} {of_drives}");
        let figures = service.figures();
        assert!(figures.iter().any(|figure| figure.name == "NAND writes for a byte of data"));
    }
    let again = FleetRun::begin(fleet(PLAN).unwrap(), dir.path()).unwrap_err();
    assert!(matches!(again, FleetError::IsThere { .. }), "{again}");
}
