//! Who else uses a drive, without having asked to be the only one.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, getpgid, kill_process_group};
use writecliff_device::{Bytes, Device, DeviceError, DeviceTime, ErrorKind, Io, Nanos};
use writecliff_uring::{Holding, OpenError, Refusal, UringDevice};

use crate::machine::{
    Loop, assert_refused, eventually, needs, open_to_destroy, refusals, run, scratch, skip,
    sparse_file,
};

/// A process that has something, until it is dropped.
struct Other(Child);

impl Other {
    /// With a path opened by the shell: `<`, `>` (which truncates no device) or `<>`.
    fn opening(path: &Path, how: &str) -> Self {
        let script = format!("exec 7{how}\"$0\"; echo ready; exec sleep 600");
        Self::of(Command::new("sh").args(["-c", &script]).arg(path))
    }

    /// With a path mapped into its memory, and nothing of it open any more.
    fn mapping(path: &Path) -> Self {
        let script = "import mmap,os,sys,time\n\
            f=os.open(sys.argv[1],os.O_RDWR)\n\
            m=mmap.mmap(f,4096)\n\
            os.close(f)\n\
            [os.close(n) for n in range(3,64) if os.path.exists(f'/proc/self/fd/{n}')]\n\
            print('ready',flush=True)\n\
            time.sleep(600)";
        // mmap keeps a descriptor of its own, which the loop closes.
        Self::of(Command::new("python3").args(["-c", script]).arg(path))
    }

    fn of(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut ready = [0; 5];
        child.stdout.as_mut().unwrap().read_exact(&mut ready).unwrap();
        Self(child)
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program of the guest's cases that holds a drive in every way in which Linux lets a process.
fn holder() -> &'static Path {
    static BUILT: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, program) = BUILT.get_or_init(|| {
        let directory = tempfile::TempDir::new().unwrap();
        let program = directory.path().join("holder");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../xtask/guest/holder.c");
        run("cc", &["-O1", "-pthread", "-o", program.to_str().unwrap(), source]);
        (directory, program)
    });
    program
}

/// A process that holds something in a way, with all that it started, until it is dropped.
struct Held(Child);

impl Held {
    fn new(way: &str, path: &Path) -> Self {
        let mut command = Command::new(holder());
        command.arg(way).arg(path).process_group(0);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = [0; 4];
        child.stdout.as_mut().unwrap().read_exact(&mut said).unwrap_or_else(|_| panic!("{way}"));
        Self(child)
    }

    /// Has it write a block, and waits until it is on the device.
    fn write(&mut self) {
        self.0.stdin.as_mut().unwrap().write_all(b"write\n").unwrap();
        let mut said = [0; 9];
        self.0.stdout.as_mut().unwrap().read_exact(&mut said).unwrap();
        assert_eq!(&said, b"\nwritten\n");
    }

    /// Whether a process is this one or was started by it.
    fn is(&self, process: u32) -> bool {
        let group = Pid::from_raw(process as i32).and_then(|pid| getpgid(Some(pid)).ok());
        group.is_some_and(|group| group.as_raw_nonzero().get() as u32 == self.0.id())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let group = Pid::from_raw(self.0.id() as i32).unwrap();
        let _ = kill_process_group(group, Signal::KILL);
        let _ = self.0.wait();
    }
}

/// By a descriptor, of whatever thread, process and namespace, or a mapping.
const PLAIN: &[&str] = &[
    "reading",
    "writing",
    "writing-only",
    "direct",
    "thread",
    "leader-gone",
    "leader-gone-own-table",
    "leader-gone-mapped",
    "clone",
    "fork",
    "mapped",
    "mapped-reading",
    "mapped-executable",
    "mapped-nothing",
    "mapped-private",
    "pid-namespace",
    "mount-namespace",
    "user-namespace",
    "stopped",
];
/// Without one. What nobody can look at refuses every drive, those of the tests beside this one as well:
/// the guest has cases of it.
const HIDDEN: &[&str] = &[
    "registered",
    "registered-among-others",
    "registered-by-thread",
    "in-flight",
    "in-flight-reading",
    "in-flight-datagram",
    "in-flight-packet",
    "in-flight-in-flight",
];
/// By nodes of their own: of devices only.
const NODES: &[&str] = &["own-node", "own-node-removed", "registered-by-own-node"];

/// All at once hold it, and each of them is named.
fn everybody_is_named(path: &Path, watched: &Path, ways: &[&[&str]]) {
    let ways = ways.concat();
    let holders: Vec<Held> = ways.iter().map(|way| Held::new(way, path)).collect();
    let found = refusals(path, watched);
    for (way, holder) in ways.iter().zip(&holders) {
        let is_it =
            |refusal: &Refusal| matches!(refusal, Refusal::InUse(user) if holder.is(user.process));
        assert!(found.iter().any(is_it), "{way} is not among {found:#?}");
    }
    drop(holders);
    assert_free(path);
}

#[test]
fn whoever_holds_a_device_in_whatever_way() {
    needs!("cc");
    let device = Loop::new(32);
    everybody_is_named(&device.path, &device.backing, &[PLAIN, HIDDEN, NODES]);
}

#[test]
fn whoever_holds_a_file_in_whatever_way() {
    needs!("cc");
    let directory = scratch();
    let file = sparse_file(&directory.path().join("file"), 32);
    everybody_is_named(&file, &file, &[PLAIN, HIDDEN]);
}

/// The kernel counts who has a file open, whoever it is and whatever shows it.
#[test]
fn a_file_that_is_held_by_what_no_process_shows() {
    needs!("cc");
    let directory = scratch();
    let file = sparse_file(&directory.path().join("file"), 32);
    let holder = Held::new("registered-ring-closed", &file);
    assert_refused!(&refusals(&file, &file), Refusal::HeldUnseen { .. });
    drop(holder);
    assert_free(&file);
}

fn assert_free(path: &Path) {
    let opened = open_to_destroy(path);
    assert!(opened.is_ok(), "{}", opened.unwrap_err());
}

#[test]
fn a_device_that_another_process_merely_has_open() {
    needs!();
    let device = Loop::new(32);
    for (how, expected) in [("<", Holding::Reading), ("<>", Holding::Writing)] {
        let other = Other::opening(&device.path, how);
        let found = refusals(&device.path, &device.backing);
        assert_refused!(
            &found,
            Refusal::InUse(user) if (user.process, user.holding) == (other.0.id(), expected)
                && user.device == device.path
        );
        drop(other);
        assert_free(&device.path);
    }
}

#[test]
fn a_device_that_is_mapped_by_a_process_that_has_it_open_no_more() {
    needs!("python3");
    let device = Loop::new(32);
    let other = Other::mapping(&device.path);
    let found = refusals(&device.path, &device.backing);
    assert_refused!(&found, Refusal::InUse(user) if user.holding == Holding::Mapped);
    drop(other);
    assert_free(&device.path);
}

#[test]
fn a_device_that_is_open_by_another_node() {
    needs!();
    let device = Loop::new(32);
    let directory = tempfile::TempDir::new_in("/dev").unwrap();
    let node = directory.path().join("copy");
    let number = fs::metadata(&device.path).unwrap().rdev();
    mknodat(CWD, &node, FileType::BlockDevice, Mode::RUSR | Mode::WUSR, number).unwrap();
    let _other = Other::opening(&node, "<>");
    assert_refused!(
        &refusals(&device.path, &device.backing),
        Refusal::InUse(user) if user.device == node
    );
}

#[test]
fn a_disk_whose_partition_is_open_and_the_other_way_round() {
    needs!("sfdisk", "partx");
    let disk = Loop::new(96);
    let partitions = disk.partition("label: gpt\n,32M,L\n,,L\n", 2);
    let on_partition = Other::opening(&partitions[0], "<");
    let in_use = |path: &Path| {
        let found = refusals(path, &disk.backing);
        found.iter().any(|refusal| matches!(refusal, Refusal::InUse(_)))
    };
    assert!(in_use(&disk.path), "the disk of a partition that is open");
    assert!(in_use(&partitions[0]), "the partition itself");
    assert_free(&partitions[1]);
    drop(on_partition);
    let reader = Other::opening(&disk.path, "<");
    assert_free(&partitions[1]);
    drop(reader);
    let _writer = Other::opening(&disk.path, "<>");
    assert!(in_use(&partitions[1]), "a partition of a disk that is open for writing");
}

#[test]
fn a_file_that_another_process_has_open() {
    let directory = scratch();
    let file = sparse_file(&directory.path().join("file"), 32);
    let other = Other::opening(&file, "<");
    assert_refused!(&refusals(&file, &file), Refusal::InUse(user) if user.process == other.0.id());
    drop(other);
    assert_free(&file);
}

#[test]
fn a_file_that_is_locked_by_ranges_as_virtual_machines_do() {
    needs!("python3");
    let directory = scratch();
    let file = sparse_file(&directory.path().join("file"), 32);
    let script = "import fcntl,sys,time\n\
        f=open(sys.argv[1],'r+b')\n\
        fcntl.lockf(f,fcntl.LOCK_SH|fcntl.LOCK_NB)\n\
        print('ready',flush=True)\n\
        time.sleep(600)";
    let holder = Other::of(Command::new("python3").args(["-c", script]).arg(&file));
    assert_refused!(&refusals(&file, &file), Refusal::InUse(user) if user.process == holder.0.id());
    drop(holder);
    assert_free(&file);
}

#[test]
fn a_file_seen_through_an_overlay_is_the_file_below_it() {
    needs!("mount");
    let directory = tempfile::TempDir::new_in("/dev/shm").unwrap();
    let place = |name: &str| {
        let path = directory.path().join(name);
        fs::create_dir(&path).unwrap();
        path
    };
    let (lower, upper, work, merged) =
        (place("lower"), place("upper"), place("work"), place("merged"));
    let file = sparse_file(&upper.join("image"), 32);
    let options = format!(
        "lowerdir={},upperdir={},workdir={}",
        lower.display(),
        upper.display(),
        work.display()
    );
    let target = merged.to_str().unwrap();
    let mount = ["-t", "overlay", "overlay", "-o", &options, target];
    if crate::machine::try_run("mount", &mount).is_err() {
        skip("a kernel with overlayfs");
        return;
    }
    struct Unmount(String);
    impl Drop for Unmount {
        fn drop(&mut self) {
            run("umount", &["--lazy", &self.0]);
        }
    }
    let _unmount = Unmount(target.to_owned());
    let device = Loop::on(&file, &[]);
    let seen = merged.join("image");
    let name = device.name();
    assert_refused!(
        &refusals(&seen, &file),
        Refusal::BacksLoop { loop_device, .. } if loop_device == name
    );
    drop(device);
    let _other = Other::opening(&file, "<>");
    assert_refused!(&refusals(&seen, &file), Refusal::InUse(_));
}

fn write_once(device: &mut UringDevice) -> Result<(), DeviceError> {
    let mut done = Vec::new();
    device.submit(&[Io::write(Bytes::ZERO, Bytes::from_kib(4))])?;
    while done.is_empty() {
        let until = device.now() + Nanos::from_millis(50);
        device.reap(until, &mut done)?;
    }
    Ok(())
}

#[test]
fn who_comes_between_the_judgment_and_the_first_write_is_seen_and_nothing_is_written() {
    needs!();
    let device = Loop::new(32);
    let mut opened = open_to_destroy(&device.path).unwrap();
    let other = Other::opening(&device.path, "<>");
    let before = fs::read(&device.backing).unwrap();
    let error = write_once(&mut opened).unwrap_err();
    assert!(
        error.kind() == ErrorKind::Refused && error.to_string().contains("nothing was written"),
        "{error}"
    );
    run("sync", &[]);
    assert!(before == fs::read(&device.backing).unwrap());
    drop((opened, other));
    write_once(&mut open_to_destroy(&device.path).unwrap()).unwrap();
}

#[test]
fn who_comes_later_for_writing_ends_the_use_and_a_reader_does_not() {
    needs!();
    let device = Loop::new(32);
    let mut opened = open_to_destroy(&device.path).unwrap();
    write_once(&mut opened).unwrap();
    let _reader = Other::opening(&device.path, "<");
    thread::sleep(Duration::from_millis(300));
    write_once(&mut opened).unwrap();
    let writer = Other::opening(&device.path, "<>");
    let error = eventually("the end", || write_once(&mut opened).err());
    let text = error.to_string();
    assert!(matches!(error, DeviceError::InUse { wrote: true, .. }), "{text}");
    assert!(text.contains(&writer.0.id().to_string()), "{text}");
}

/// Nobody is told of an opening by another node: what is written by it shows in the kernel's count.
#[test]
fn who_writes_by_a_node_of_his_own_ends_the_use_by_what_he_writes() {
    needs!("cc");
    let device = Loop::new(32);
    let mut opened = open_to_destroy(&device.path).unwrap();
    write_once(&mut opened).unwrap();
    let mut writer = Held::new("own-node-removed", &device.path);
    let second = |opened: &mut UringDevice| {
        opened.telemetry();
        write_once(opened)
    };
    second(&mut opened).unwrap();
    writer.write();
    let text = second(&mut opened).unwrap_err().to_string();
    assert!(text.contains("4KiB") && text.contains("somebody else"), "{text}");
    assert!(text.contains(&format!("process {}", writer.0.id())), "{text}");
}

/// Nobody is let in by the second that is waited for writes of others.
#[test]
fn who_opens_it_in_the_quiet_second_is_seen_and_nothing_is_written() {
    needs!();
    let device = Loop::new(32);
    let mut opened = open_to_destroy(&device.path).unwrap();
    let before = fs::read(&device.backing).unwrap();
    let path = device.path.clone();
    let opener = thread::spawn(move || {
        thread::sleep(Duration::from_millis(200));
        (Other::opening(&path, "<>"), Instant::now())
    });
    let wrote = write_once(&mut opened);
    let written = Instant::now();
    let (_other, came) = opener.join().unwrap();
    match wrote {
        Err(error) => {
            assert!(error.to_string().contains("nothing was written"), "{error}");
            assert!(before == fs::read(&device.backing).unwrap());
        }
        // On a busy machine the second may be over before he comes.
        Ok(()) => assert!(came > written, "it was written although he had it open"),
    }
}

#[test]
fn who_writes_right_before_the_first_write_is_seen_by_what_he_writes() {
    needs!("cc");
    let device = Loop::new(32);
    let mut opened = open_to_destroy(&device.path).unwrap();
    let mut writer = Held::new("own-node-removed", &device.path);
    writer.write();
    drop(writer);
    let before = fs::read(&device.backing).unwrap();
    let error = write_once(&mut opened).unwrap_err();
    assert!(error.to_string().contains("nothing was written"), "{error}");
    assert!(before == fs::read(&device.backing).unwrap());
}

/// An opener comes at any moment around the judgment: either it is seen, or it came after the first
/// write and then ends the use. At no time do both go on.
#[test]
fn of_an_opener_and_a_run_never_both_go_on() {
    needs!();
    let tries = if std::env::var_os("WRITECLIFF_NIGHTLY").is_some() { 200 } else { 8 };
    let device = Loop::new(32);
    for attempt in 0..tries {
        let path = device.path.clone();
        let delay = Duration::from_micros(attempt * 7919 % 80_000);
        let opener = thread::spawn(move || {
            thread::sleep(delay);
            Other::opening(&path, "<>")
        });
        let used = open_to_destroy(&device.path).map(|mut opened| {
            let wrote = write_once(&mut opened);
            (opened, wrote)
        });
        let other = opener.join().unwrap();
        match used {
            Err(OpenError::Refused { .. }) => {}
            Err(other) => panic!("{other}"),
            Ok((_, Err(DeviceError::InUse { .. }))) => {}
            Ok((_, Err(other))) => panic!("{other}"),
            Ok((mut opened, Ok(()))) => {
                let error =
                    eventually("the end", || opened.reap(DeviceTime(0), &mut Vec::new()).err());
                assert!(matches!(error, DeviceError::InUse { .. }), "{error}");
            }
        }
        drop(other);
    }
}
