//! Runs a job file with fio and with ours, and holds one against the other.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;
use std::thread;

use serde_json::Value;
use tempfile::TempDir;
use writecliff_device::{Bytes, Operation};
use writecliff_loop_device::LoopDevice;
use writecliff_workload::{Job, JobIos, JobList, fio};

const CAPACITY: Bytes = Bytes::from_mib(64);
const LBA: Bytes = Bytes(512);

/// How much alike the two must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alike {
    /// In counts, bytes, sizes, the span, and how many places are touched.
    Exactly,
    /// In counts, bytes and sizes, with places within the same bounds but for chance.
    InNumber,
    /// In all bytes, and in the share of each operation and size, and of the I/Os that go on where
    /// the last of their operation ended, but for chance.
    OnAverage,
    /// In number, and in the share of the most frequent places.
    InFavourites,
}

/// What one job did.
#[derive(Debug, Default)]
struct Tally {
    /// How often, by operation and length.
    ios: BTreeMap<(&'static str, u64), u64>,
    /// How often, by place; flushes have none.
    places: BTreeMap<u64, u64>,
    end: u64,
    /// I/Os that began where the last one of their operation ended, and where that is.
    going_on: u64,
    ends: BTreeMap<&'static str, u64>,
}

pub(crate) fn compare(file: &str, text: &str, alike: Alike) {
    if !has_fio() {
        return;
    }
    let directory = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    File::create(directory.path().join("drive")).unwrap().set_len(CAPACITY.0).unwrap();
    // Some file systems have no direct I/O; the I/Os are the same.
    compare_in(directory.path(), file, &text.replace("direct=1", "direct=0"), text, alike);
}

pub(crate) fn compare_on_a_loop_device(file: &str, text: &str) {
    if !has_fio() || !has_loop_devices() {
        return;
    }
    let directory = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let backing = directory.path().join("backing");
    File::create(&backing).unwrap().set_len(CAPACITY.0).unwrap();
    let device = LoopDevice::over(&backing, &[]).unwrap();
    let on_device = text.replace("filename=drive", &format!("filename={}", device.path()));
    compare_in(directory.path(), file, &on_device, text, Alike::Exactly);
}

fn compare_in(directory: &Path, file: &str, for_fio: &str, text: &str, alike: Alike) {
    let jobs = fio::read(file, text, &|_| None).unwrap();
    jobs.list.check(LBA, CAPACITY).unwrap();
    let fio = run_fio(directory, file, for_fio, &jobs.list);
    for job in &jobs.list.jobs {
        let copies = jobs.list.groups(7, CAPACITY).into_iter().flatten();
        let own = |name: &str| name == job.name || name.starts_with(&format!("{} ", job.name));
        let copies: Vec<_> = copies.filter(|copy| own(&copy.name)).collect();
        assert_eq!(copies.len(), job.copies as usize);
        let mut ours = Tally::default();
        for copy in &copies {
            ours.add(copy.ios(LBA, CAPACITY));
        }
        let theirs = &fio[&job.name];
        let what = format!("{file}, job {}", job.name);
        match alike {
            Alike::Exactly => {
                let theirs = theirs.in_places_of(&ours);
                assert_eq!(ours.exact(), theirs.exact(), "{what}");
            }
            Alike::InNumber => assert_in_number(&ours, theirs, &what),
            Alike::OnAverage => assert_on_average(&ours, theirs, &what),
            Alike::InFavourites => {
                assert_in_number(&ours, theirs, &what);
                assert_favourites(&ours, theirs, &what);
            }
        }
    }
}

fn assert_in_number(ours: &Tally, theirs: &Tally, what: &str) {
    assert_eq!(ours.ios, theirs.ios, "{what}");
    let near = ours.end.abs_diff(theirs.end) <= CAPACITY.0 / 50;
    assert!(near, "{what}: ends at {} and fio's at {}", ours.end, theirs.end);
}

fn assert_on_average(ours: &Tally, theirs: &Tally, what: &str) {
    let longest = ours.ios.keys().map(|(_, length)| *length).max().unwrap();
    let apart = ours.bytes().abs_diff(theirs.bytes());
    assert!(apart < longest, "{what}: {} bytes and fio's {}", ours.bytes(), theirs.bytes());
    let kinds: Vec<_> = ours.ios.keys().chain(theirs.ios.keys()).collect();
    for kind in kinds {
        let share = |tally: &Tally| {
            let all = tally.count() as f64;
            (tally.ios.get(kind).copied().unwrap_or(0) as f64 / all, all)
        };
        assert_near(share(ours), share(theirs), &format!("{what}: {kind:?}"));
    }
    let going_on =
        |tally: &Tally| (tally.going_on as f64 / tally.count() as f64, tally.count() as f64);
    assert_near(going_on(ours), going_on(theirs), &format!("{what}: going on"));
}

/// Two shares of so many are within five standard deviations of their difference.
fn assert_near((ours, our_count): (f64, f64), (theirs, their_count): (f64, f64), what: &str) {
    let deviation = |share: f64, count: f64| share * (1.0 - share) / count;
    let variance = deviation(ours, our_count) + deviation(theirs, their_count);
    let apart = (ours - theirs).abs();
    assert!(apart <= 5.0 * variance.sqrt(), "{what}: {ours} and fio's {theirs}");
}

/// The share of the I/Os that the most frequent places have: one, ten, a hundred of them.
fn assert_favourites(ours: &Tally, theirs: &Tally, what: &str) {
    for places in [1, 10, 100, 1000] {
        let (our_share, their_share) = (ours.favourites(places), theirs.favourites(places));
        let apart = (our_share - their_share).abs();
        assert!(apart < 0.05, "{what}: {places} places have {our_share}, with fio {their_share}");
    }
}

impl Tally {
    fn add(&mut self, ios: JobIos) {
        for io in ios {
            let operation = match io.operation {
                Operation::Read => "read",
                Operation::Write => "write",
                Operation::Trim => "trim",
                Operation::Flush => "sync",
            };
            self.add_one(operation, io.offset.0, io.length.0);
        }
    }

    fn add_one(&mut self, operation: &'static str, offset: u64, length: u64) {
        *self.ios.entry((operation, length)).or_default() += 1;
        if operation != "sync" {
            *self.places.entry(offset).or_default() += 1;
            let last = self.ends.insert(operation, offset + length);
            self.going_on += u64::from(last == Some(offset));
            self.end = self.end.max(offset + length);
        }
    }

    /// As it is, but for places whose number of visits is chance when a random order ends before
    /// all were visited equally often.
    fn in_places_of(&self, other: &Self) -> Self {
        let same = self.places.keys().eq(other.places.keys());
        let total = |tally: &Self| tally.places.values().sum::<u64>();
        let places = if same && total(self) == total(other) { &other.places } else { &self.places };
        Self { ios: self.ios.clone(), places: places.clone(), end: self.end, ..Self::default() }
    }

    /// What is no matter of chance in any order.
    fn exact(&self) -> impl PartialEq + std::fmt::Debug + '_ {
        (&self.ios, &self.places, self.end)
    }

    fn count(&self) -> u64 {
        self.ios.values().sum()
    }

    fn bytes(&self) -> u64 {
        self.ios.iter().map(|((_, length), count)| length * count).sum()
    }

    fn favourites(&self, places: usize) -> f64 {
        let mut visits: Vec<u64> = self.places.values().copied().collect();
        visits.sort_unstable_by(|a, b| b.cmp(a));
        visits.iter().take(places).sum::<u64>() as f64 / self.count() as f64
    }
}

/// Runs fio with a log of every I/O; checks the log against fio's own counts.
fn run_fio(directory: &Path, file: &str, text: &str, list: &JobList) -> BTreeMap<String, Tally> {
    let with_logs: String = text.lines().map(|line| with_log(line, list)).collect();
    fs::write(directory.join(file), with_logs).unwrap();
    let output = Command::new("fio")
        .args(["--output-format=json", file])
        .current_dir(directory)
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_str(&printed[printed.find('{').unwrap()..]).unwrap();
    let reported = report["jobs"].as_array().unwrap();
    let mut tallies = BTreeMap::new();
    for job in &list.jobs {
        let tally = read_logs(directory, job);
        let own = reported.iter().filter(|reported| reported["jobname"] == *job.name);
        let counted: u64 = own
            .flat_map(|job| ["read", "write", "trim"].map(|direction| &job[direction]["total_ios"]))
            .map(|count| count.as_u64().unwrap())
            .sum();
        assert_eq!(
            counted,
            tally.places.values().sum::<u64>(),
            "{file}: fio's log of {}",
            job.name
        );
        tallies.insert(job.name.clone(), tally);
    }
    tallies
}

/// A section's first line, and where its log goes. Copies would write over each other's log of
/// I/Os, but have their own of latencies, which is without flushes.
fn with_log(line: &str, list: &JobList) -> String {
    let name = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    match name.and_then(|name| list.jobs.iter().find(|job| job.name == name)) {
        None => format!("{line}\n"),
        Some(Job { name, copies: 1, .. }) => format!("{line}\nwrite_iolog={name}.log\n"),
        Some(Job { name, .. }) => {
            format!("{line}\nwrite_lat_log={name}\nlog_offset=1\nper_job_logs=1\n")
        }
    }
}

fn read_logs(directory: &Path, job: &Job) -> Tally {
    let mut tally = Tally::default();
    if job.copies == 1 {
        read_io_log(&directory.join(format!("{}.log", job.name)), &mut tally);
        return tally;
    }
    let start = format!("{}_clat.", job.name);
    for file in fs::read_dir(directory).unwrap().map(|file| file.unwrap()) {
        if file.file_name().to_str().unwrap().starts_with(&start) {
            read_latency_log(&file.path(), &mut tally);
        }
    }
    tally
}

/// Lines such as `12 drive read 4096 512`, with a time before them since version 3.
fn read_io_log(path: &Path, tally: &mut Tally) {
    for line in fs::read_to_string(path).unwrap().lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let known = ["read", "write", "trim", "sync"];
        let Some(at) = fields.iter().position(|field| known.contains(field)) else { continue };
        let operation = known.into_iter().find(|known| *known == fields[at]).unwrap();
        let number = |field: usize| fields.get(at + field).map_or(0, |text| text.parse().unwrap());
        tally.add_one(operation, number(1), number(2));
    }
}

/// Lines of time, latency, direction, length, offset.
fn read_latency_log(path: &Path, tally: &mut Tally) {
    for line in fs::read_to_string(path).unwrap().lines() {
        let fields: Vec<u64> =
            line.split(',').take(5).map(|field| field.trim().parse().unwrap()).collect();
        let [_, _, direction, length, offset] = fields[..] else { panic!("{line}") };
        tally.add_one(["read", "write", "trim"][direction as usize], offset, length);
    }
}

pub(crate) fn has_fio() -> bool {
    let found = Command::new("fio").arg("--version").output().is_ok();
    found || skip("the program fio")
}

fn has_loop_devices() -> bool {
    let root = rustix::process::getuid().is_root() && Path::new("/dev/loop-control").exists();
    root || skip("root and loop devices")
}

/// Says on the real standard error, which the test harness does not capture, what was skipped.
fn skip(lacks: &str) -> bool {
    let name = thread::current().name().unwrap_or("a test").to_owned();
    let _ = writeln!(io::stderr(), "SKIPPED {name}: it needs {lacks}");
    false
}
