//! The test of a drive's data, as a user meets it: on a file or a loop device whose bytes somebody
//! changes behind the drive's back, and after the program was killed.
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use writecliff_loop_device::LoopDevice;

use crate::user::command;

const BLOCK: usize = 4096;

/// A file that stands in for a drive, and the runs on it.
struct Drive {
    path: PathBuf,
    directory: TempDir,
}

impl Drive {
    fn new(mebibytes: u64) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(directory.path()).unwrap().join("drive.img");
        File::create(&path).unwrap().set_len(mebibytes << 20).unwrap();
        Self { path, directory }
    }

    fn run(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn command(&self, out: &Path, more: &[&str]) -> Command {
        let mut command = command();
        command.args(["run", "integrity"]).arg(&self.path).args(["--json", "--no-bench", "--out"]);
        command.arg(out).args(more).stdin(Stdio::null());
        command
    }

    fn writing(&self, out: &Path, duration: &str) -> Command {
        let mut command = self.command(out, &["--duration", duration, "--destroy-data-on"]);
        command.arg(&self.path);
        command
    }

    /// What a look back at a run finds: the number of bad blocks, and the first of them by place.
    fn reopen(&self, run: &str, out: &str) -> (Value, BTreeMap<u64, String>) {
        let from = self.run(run);
        let output = self.command(&self.run(out), &["--reopen", from.to_str().unwrap()]).output();
        let output = output.unwrap();
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        let outcome = told["outcome"].clone();
        assert_eq!((&outcome["finished"], &outcome["reopened"]), (&true.into(), &true.into()));
        let place = |bad: &Value| {
            (bad["lba"].as_u64().unwrap() / 8, bad["kind"].as_str().unwrap().to_owned())
        };
        let bad: BTreeMap<_, _> = outcome["first"].as_array().unwrap().iter().map(place).collect();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(i32::from(!bad.is_empty())), "{errors}");
        assert_eq!(errors.contains("did not come back"), !bad.is_empty(), "{errors}");
        (outcome, bad)
    }

    fn block(&self, place: usize) -> Vec<u8> {
        let mut block = vec![0; BLOCK];
        File::open(&self.path).unwrap().read_exact_at(&mut block, (place * BLOCK) as u64).unwrap();
        block
    }

    fn write(&self, place: usize, block: &[u8]) {
        let file = File::options().write(true).open(&self.path).unwrap();
        file.write_all_at(block, (place * BLOCK) as u64).unwrap();
        file.sync_all().unwrap();
    }
}

fn succeeded(output: &Output) -> Value {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn refused(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Whether a block holds something that was written to this place.
fn is_stamped(block: &[u8], place: usize) -> bool {
    block.starts_with(b"WRTCLIF1") && block[16..24] == ((place * BLOCK) as u64).to_le_bytes()
}

/// Blocks that were read: compared, or such that may hold anything since they were trimmed.
fn looked_at(outcome: &Value) -> u64 {
    outcome["checks"].as_u64().unwrap() + outcome["anything"].as_u64().unwrap_or(0)
}

/// The state that a run keeps; `None` while there is none.
fn kept(run: &Path) -> Option<(u64, u64)> {
    let kept: Value = serde_json::from_slice(&fs::read(run.join("stamps.json")).ok()?).unwrap();
    Some((kept["flushed"].as_u64()?, kept["begun"].as_u64()?))
}

/// Waits until a run has flushed so many rounds.
fn wait_for_rounds(child: &mut Child, run: &Path, rounds: u64) {
    let begun = Instant::now();
    while kept(run).is_none_or(|(flushed, _)| flushed < rounds) {
        assert_eq!(child.try_wait().unwrap(), None, "ended before round {rounds}");
        assert!(begun.elapsed() < Duration::from_secs(120), "no round {rounds}");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_is_changed_behind_the_drive_s_back_is_found_block_by_block() {
    let drive = Drive::new(32);
    let run = drive.run("run");
    let mut child = drive.writing(&run, "6s").stdout(Stdio::piped()).spawn().unwrap();
    wait_for_rounds(&mut child, &run, 2);
    let before = fs::read(&drive.path).unwrap();
    let record = succeeded(&child.wait_with_output().unwrap());
    for figure in record["figures"].as_array().unwrap() {
        let is_count = !["blocks compared", "blocks that may hold anything"]
            .contains(&figure["name"].as_str().unwrap());
        assert!(!is_count || figure["value"] == 0.0, "{figure}");
    }
    assert_eq!(record["warnings"][0]["kind"], "file-not-drive");
    let (outcome, bad) = drive.reopen("run", "at-once");
    assert_eq!(bad, BTreeMap::new(), "{outcome}");
    assert_eq!(looked_at(&outcome), 8192);

    let older = |place: usize| &before[place * BLOCK..(place + 1) * BLOCK];
    let is_changed = |place: &usize| {
        let now = drive.block(*place);
        is_stamped(&now, *place) && is_stamped(older(*place), *place) && now != older(*place)
    };
    let places: Vec<usize> = (0..8192).filter(is_changed).take(7).collect();
    let [damaged, source, misplaced, old, lost, torn, unstamped] = places[..] else {
        panic!("only {places:?} were written twice");
    };
    let originals: Vec<Vec<u8>> = places.iter().map(|place| drive.block(*place)).collect();
    let mut flipped = drive.block(damaged);
    flipped[1000] ^= 1;
    drive.write(damaged, &flipped);
    drive.write(misplaced, &drive.block(source));
    drive.write(old, older(old));
    drive.write(lost, &[0; BLOCK]);
    drive.write(torn, &[&drive.block(torn)[..2048], &older(torn)[2048..]].concat());
    drive.write(unstamped, &[7; BLOCK]);
    let (outcome, bad) = drive.reopen("run", "changed");
    let expected = [
        (damaged, "damaged"),
        (misplaced, "misplaced"),
        (old, "old"),
        (lost, "lost"),
        (torn, "torn"),
        (unstamped, "lost"),
    ];
    let expected = expected.map(|(place, kind)| (place as u64, kind.to_owned()));
    assert_eq!(bad, BTreeMap::from(expected));
    assert_eq!((&outcome["lost"], &outcome["torn"]), (&2.into(), &1.into()));
    let page = fs::read_to_string(drive.run("changed").join("report/index.html")).unwrap();
    for expected in ["6 of 8,192 blocks did not come back", "Bad blocks", "integrity-map", "zeros"]
    {
        assert!(page.contains(expected), "no {expected}");
    }

    places.iter().zip(&originals).for_each(|(place, block)| drive.write(*place, block));
    assert_eq!(drive.reopen("run", "restored").1, BTreeMap::new());
}

#[test]
fn a_run_that_was_killed_is_no_false_alarm() {
    // While it fills, right at the torture's beginning, and later.
    for (rounds, later) in [(1, 0), (2, 10), (3, 700), (4, 100)] {
        let drive = Drive::new(96);
        let run = drive.run("run");
        let mut child = drive.writing(&run, "60s").stdout(Stdio::null()).spawn().unwrap();
        wait_for_rounds(&mut child, &run, rounds);
        thread::sleep(Duration::from_millis(later));
        child.kill().unwrap();
        child.wait().unwrap();
        let (flushed, begun) = kept(&run).unwrap();
        assert!(flushed >= rounds && begun - flushed <= 1);
        let (outcome, bad) = drive.reopen("run", "after");
        assert_eq!(bad, BTreeMap::new(), "killed after {flushed} rounds: {}", outcome["first"]);
        assert!(outcome["checks"].as_u64().unwrap() > 0);
    }
}

#[test]
fn a_loop_device_passes_and_is_read_again() {
    let Some(device) = LoopDevice::in_memory(64 << 20).ok() else {
        println!("SKIPPED: a loop device needs root");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let out = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let run = |more: &[&str]| {
        let mut command = command();
        command.args(["run", "integrity", device.path(), "--json", "--no-bench"]).args(more);
        succeeded(&command.stdin(Stdio::null()).output().unwrap())
    };
    let consent = ["--destroy-data-on", device.path(), "--duration", "2s", "--out", &out("run")];
    let bad = |record: &Value| record["figures"][0]["value"].clone();
    let record = run(&consent);
    assert_eq!((bad(&record), &record["outcome"]["finished"]), (0.0.into(), &true.into()));
    let trims = record["plan"]["read_percent"].as_u64().unwrap();
    assert_eq!(trims, 30);
    let again = run(&["--reopen", &out("run"), "--out", &out("again")]);
    assert_eq!((bad(&again), looked_at(&again["outcome"])), (0.0.into(), 16384));
}

#[test]
fn what_cannot_be_read_again_is_one_clear_message() {
    let drive = Drive::new(16);
    let run = drive.run("run");
    succeeded(&drive.writing(&run, "1s").output().unwrap());
    let from = run.to_str().unwrap();
    let other = Drive::new(24);
    let message = refused(&mut other.command(&other.run("out"), &["--reopen", from]));
    assert!(message.contains("not to this drive"), "{message}");
    let message = refused(&mut drive.command(&drive.run("out"), &["--reopen", "/nowhere"]));
    assert!(message.contains("--reopen /nowhere is not possible"), "{message}");
    fs::write(run.join("stamps.json"), "{}").unwrap();
    let message = refused(&mut drive.command(&drive.run("out"), &["--reopen", from]));
    assert!(message.contains("what it wrote is not known"), "{message}");
    let mut null = command();
    null.args(["run", "integrity", "null:", "--out"]).arg(drive.run("null"));
    let message = refused(null.stdin(Stdio::null()));
    assert!(message.contains("keeps none that could be compared"), "{message}");
    let mut wrong = command();
    wrong.args(["run", "consistency", "sim:tiny", "--reopen", from, "--out"]).arg(drive.run("c"));
    let message = refused(wrong.stdin(Stdio::null()));
    assert!(message.contains("consistency has no such option"), "{message}");
}
