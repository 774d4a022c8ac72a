//! What a user sees of a drive that hangs, of Ctrl-C, and of a machine that stands still.
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use writecliff_device::Nanos;
use writecliff_suite::{HostWarning, RunRecord, Status, Warning};

use writecliff_loop_device::{Freezable, Frozen};

use crate::user::command;

/// A run in a process of its own, whose standard error is read as it comes.
struct Running {
    child: Child,
    errors: PathBuf,
    run: PathBuf,
    _dir: TempDir,
}

impl Running {
    fn start(drive: &str, more: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (errors, run) = (dir.path().join("stderr"), dir.path().join("run"));
        let child = command()
            .args(["run", "consistency", drive, "--destroy-data-on", drive, "--out"])
            .arg(&run)
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(&errors).unwrap())
            .spawn()
            .unwrap();
        Self { child, errors, run, _dir: dir }
    }

    fn said(&self) -> String {
        fs::read_to_string(&self.errors).unwrap()
    }

    /// Waits until the run has said something, or until it has recorded so many seconds of torture.
    fn wait_for(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !is_so(self) {
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none() || is_so(self), "ended before {what}: {}", self.said());
            assert!(begun.elapsed() < Duration::from_secs(120), "no {what}: {}", self.said());
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn wait_for_text(&mut self, text: &str) {
        self.wait_for(text, |running| running.said().contains(text));
    }

    fn wait_for_torture(&mut self, seconds: usize) {
        let journal = self.run.join("journal.jsonl");
        self.wait_for("torture", |_| {
            let mut text = String::new();
            let read = fs::File::open(&journal).and_then(|mut file| file.read_to_string(&mut text));
            read.is_ok() && text.matches("\"series\":\"torture\"").count() >= seconds
        });
    }

    fn tell(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    fn end(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    fn record(&self) -> RunRecord {
        writecliff_suite::open(&self.run).unwrap().0
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `None`, said loudly, where there can be none.
fn freezable() -> Option<Freezable> {
    let made = Freezable::new();
    if let Err(error) = &made {
        println!(
            "SKIPPED: a drive that hangs needs root, loop devices, mkfs.ext4 and fsfreeze: {error}"
        );
    }
    made.ok()
}

#[test]
fn a_hang_is_told_while_it_lasts_and_ends_the_run_with_its_place() {
    let Some(drive) = freezable() else { return };
    let mut running = Running::start(
        drive.path().to_str().unwrap(),
        &["--duration", "600s", "--io-timeout", "3s"],
    );
    running.wait_for_torture(1);
    let frozen = drive.freeze().unwrap();
    running.wait_for_text("no I/O completed for");
    running.wait_for_text("this process can end when the kernel has that back");
    // The record is whole while the kernel still holds the process.
    let record = running.record();
    let Status::Failed { error } = &record.status else { panic!("{:?}", record.status) };
    assert!(error.contains("has not answered") && error.contains("LBA"), "{error}");
    assert!(record.failed_ios.iter().all(|io| io.error == "no answer within 3 s"));
    drop(frozen);
    assert_eq!(running.end().code(), Some(1));
    assert!(running.said().contains("--io-timeout"), "{}", running.said());
}

#[test]
fn ctrl_c_is_answered_while_the_drive_hangs_and_its_double_is_no_second() {
    let Some(drive) = freezable() else { return };
    let mut running = Running::start(drive.path().to_str().unwrap(), &["--duration", "600s"]);
    running.wait_for_torture(1);
    let frozen = drive.freeze().unwrap();
    running.wait_for_text("no I/O completed for");
    // As `timeout` does: the process, then its group.
    running.tell(Signal::TERM);
    running.tell(Signal::TERM);
    running.wait_for_text("Ctrl-C: ending when the I/Os in flight are back (5 s at most)");
    // No second Ctrl-C: the run ends in order, and long before the drive answers.
    running.wait_for("the end", |running| {
        let text = fs::read_to_string(running.run.join("run.json")).unwrap_or_default();
        text.contains("\"interrupted\"")
    });
    running.wait_for_text("this process can end when the kernel has that back");
    drop(frozen);
    assert_eq!(running.end().code(), Some(130));
    assert!(running.said().contains("interrupted; what was recorded"), "{}", running.said());
    assert!(running.run.join("report/index.html").exists());
}

/// A run on a drive that hangs, which waits for it after a Ctrl-C; thawed before the run is waited for.
fn asked_to_end(drive: &Freezable) -> (Frozen, Running) {
    let mut running = Running::start(drive.path().to_str().unwrap(), &["--duration", "600s"]);
    running.wait_for_torture(1);
    let frozen = drive.freeze().unwrap();
    running.tell(Signal::INT);
    running.wait_for_text("Ctrl-C: ending");
    (frozen, running)
}

/// Asks once more, and has the run end by that.
fn ends_at_once(frozen: Frozen, mut running: Running) {
    running.tell(Signal::INT);
    running.wait_for_text("Ctrl-C again: ended at once");
    drop(frozen);
    assert_eq!(running.end().code(), Some(130));
}

#[test]
fn a_second_ctrl_c_ends_at_once_and_says_so() {
    let Some(drive) = freezable() else { return };
    let (frozen, running) = asked_to_end(&drive);
    thread::sleep(Duration::from_millis(2500));
    ends_at_once(frozen, running);
}

#[test]
fn a_third_signal_in_quick_succession_ends_at_once() {
    let Some(drive) = freezable() else { return };
    let (frozen, running) = asked_to_end(&drive);
    running.tell(Signal::TERM);
    thread::sleep(Duration::from_millis(100));
    assert!(!running.said().contains("Ctrl-C again: ended"), "{}", running.said());
    ends_at_once(frozen, running);
}

/// A plain file in a directory of its own.
fn file() -> (TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().canonicalize().unwrap().join("drive.img");
    fs::File::create(&file).unwrap().set_len(32 << 20).unwrap();
    let name = file.to_str().unwrap().to_owned();
    (dir, name)
}

fn has_direct_io(file: &str) -> bool {
    let flags = rustix::fs::OFlags::DIRECT;
    let opened = rustix::fs::open(Path::new(file), flags, rustix::fs::Mode::empty());
    if opened.is_err() {
        println!("SKIPPED: the temporary directory has no direct I/O");
    }
    opened.is_ok()
}

#[test]
fn a_stopped_process_is_the_machine_s_pause_and_not_the_drive_s() {
    let (_dir, file) = file();
    if !has_direct_io(&file) {
        return;
    }
    let mut running = Running::start(&file, &["--duration", "8s"]);
    running.wait_for_torture(1);
    running.tell(Signal::STOP);
    thread::sleep(Duration::from_millis(2500));
    running.tell(Signal::CONT);
    assert_eq!(running.end().code(), Some(0), "{}", running.said());
    let record = running.record();
    let held_up = record.warnings.iter().find_map(|warning| match warning {
        Warning::Host(HostWarning::HeldUp { span, phases }) => Some((*span, phases.clone())),
        _ => None,
    });
    let (span, phases) = held_up.unwrap_or_else(|| panic!("{:?}", record.warnings));
    // The kernel may have been about to wake it when it was stopped.
    assert!(span >= Nanos::from_millis(2300), "{span}");
    assert!(phases.contains(&"torture".to_owned()), "{phases:?}");
}

/// The kernel gives a signal to any thread that takes it; one that waits in a call for a drive that hangs
/// takes it when it is back from there.
#[test]
fn signals_of_the_user_go_to_a_thread_that_waits_for_no_drive() {
    let (_dir, file) = file();
    if !has_direct_io(&file) {
        return;
    }
    let mut running = Running::start(&file, &["--duration", "60s"]);
    running.wait_for_torture(1);
    let tasks = fs::read_dir(format!("/proc/{}/task", running.child.id())).unwrap();
    let takes = |task: &Path, signal: u64| {
        let status = fs::read_to_string(task.join("status")).unwrap();
        let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:")).unwrap();
        let blocked = u64::from_str_radix(blocked.trim(), 16).unwrap();
        blocked & (1 << (signal - 1)) == 0
    };
    let tasks: Vec<PathBuf> = tasks.map(|task| task.unwrap().path()).collect();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let number = u64::try_from(signal.as_raw()).unwrap();
        let taking = tasks.iter().filter(|task| takes(task, number));
        let names = taking.map(|task| fs::read_to_string(task.join("comm")).unwrap());
        assert_eq!(names.collect::<Vec<_>>(), ["ctrl-c\n"], "{signal:?}");
    }
    running.tell(Signal::INT);
    assert_eq!(running.end().code(), Some(130), "{}", running.said());
}
