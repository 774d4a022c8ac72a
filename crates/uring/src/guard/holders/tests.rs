use std::fs::File;
use std::io::{BufRead, BufReader, IoSlice, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use super::*;
use crate::eventually::eventually;

/// A process that holds a file until it is dropped.
struct Other(Child);

impl Other {
    fn with(file: File) -> Self {
        let mut command = Command::new("sleep");
        Self(command.arg("600").stdin(Stdio::from(file)).spawn().unwrap())
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The process, if it has the file.
fn held_by(path: &Path, process: &Other) -> Option<User> {
    let files = vec![FileId::of(&fs::metadata(path).unwrap())];
    let sought = Sought { files, ..Sought::default() };
    let found = sought.users(&Host::this_machine()).unwrap().found;
    assert!(found.iter().all(|user| user.process != std::process::id()));
    found.into_iter().find(|user| user.process == process.0.id())
}

#[test]
fn another_process_is_found_by_what_it_holds_and_this_one_is_not() {
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("file");
    let ours = File::create(&path).unwrap();
    let elsewhere = File::create(directory.path().join("another")).unwrap();
    assert_eq!(held_by(&path, &Other::with(elsewhere)), None);
    let other = Other::with(File::open(&path).unwrap());
    let link = directory.path().join("other name");
    fs::hard_link(&path, &link).unwrap();
    let user = held_by(&link, &other).unwrap();
    assert_eq!(user.holding, Holding::Reading);
    assert_eq!((&*user.program, &*user.device), ("sleep", &*path));
    drop(other);
    let other = Other::with(ours);
    assert_eq!(held_by(&path, &other).unwrap().holding, Holding::Writing);
}

/// Two messages, each with a descriptor: only the first of them can be looked at.
fn send_two(through: &UnixStream) {
    let null = File::open("/dev/null").unwrap();
    for _ in 0..2 {
        let descriptors = [null.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        assert!(control.push(SendAncillaryMessage::ScmRights(&descriptors)));
        sendmsg(through, &[IoSlice::new(b"a")], &mut control, SendFlags::empty()).unwrap();
    }
}

#[test]
fn descriptors_that_stay_on_their_way_may_be_of_it_and_those_that_are_received_are_not() {
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("file");
    fs::write(&path, "").unwrap();
    let (sender, mut receiver) = UnixStream::pair().unwrap();
    let other = Other::with(File::from(OwnedFd::from(receiver.try_clone().unwrap())));
    send_two(&sender);
    let user = held_by(&path, &other).unwrap();
    assert_eq!(user.holding, Holding::Unknown { descriptors: 1 });
    assert!(user.to_string().starts_with("sleep has a descriptor waiting in a socket"), "{user}");

    // A plain read takes the byte, and drops the descriptor that came with it.
    let mut receives = move || receiver.read_exact(&mut [0]).unwrap();
    (0..2).for_each(|_| receives());
    let is_over = &AtomicBool::new(false);
    let found = thread::scope(|scope| {
        scope.spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                send_two(&sender);
                thread::sleep(Duration::from_millis(3));
                (0..2).for_each(|_| receives());
                thread::sleep(Duration::from_millis(1));
            }
        });
        let found = (0..20).filter(|_| held_by(&path, &other).is_some()).count();
        is_over.store(true, Ordering::Relaxed);
        found
    });
    // Looked at once, it is found three times in four.
    assert!(found < 7, "found {found} times");
}

#[test]
fn udev_what_it_runs_and_this_program_look_for_a_moment() {
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("file");
    fs::write(&path, "").unwrap();
    let [worker, own] = ["(udev-worker)", "writecliff"].map(|name| directory.path().join(name));
    for link in [&worker, &own] {
        std::os::unix::fs::symlink("/bin/sh", link).unwrap();
    }
    let start = |shell: &Path| {
        let script = "sleep 600 & echo $!; read -r _; kill $!";
        let mut command = Command::new(shell);
        command.args(["-c", script]).stdout(Stdio::piped()).stdin(Stdio::piped());
        command.stderr(File::open(&path).unwrap()).spawn().unwrap()
    };
    let shells = [
        (worker.as_path(), [true, true]),
        (own.as_path(), [true, false]),
        (Path::new("/bin/sh"), [false, false]),
    ];
    for (shell, expected) in shells {
        let mut shell = start(shell);
        let itself = shell.id();
        let mut number = String::new();
        BufReader::new(shell.stdout.take().unwrap()).read_line(&mut number).unwrap();
        let number: u32 = number.trim().parse().unwrap();
        let name = format!("/proc/{number}/comm");
        assert!(eventually(|| fs::read_to_string(&name).unwrap().trim() == "sleep"));
        let files = vec![FileId::of(&fs::metadata(&path).unwrap())];
        let sought = Sought { files, ..Sought::default() };
        let found = sought.users(&Host::this_machine()).unwrap().found;
        drop(shell.stdin.take());
        shell.wait().unwrap();
        let looks = [itself, number].map(|process| {
            found.iter().find(|user| user.process == process).unwrap().is_a_passing_look()
        });
        assert_eq!(looks, expected, "{found:?}");
    }
}

#[test]
fn reading_below_is_no_use_and_writing_is() {
    let number: DeviceNumber = "8:0".parse().unwrap();
    let below = Sought { unwritten_devices: vec![number], ..Sought::default() };
    assert!(!below.matches(&Held::Block(number), Holding::Reading));
    assert!(below.matches(&Held::Block(number), Holding::Writing));
    assert!(below.matches(&Held::Block(number), Holding::Mapped));
    let itself = Sought { devices: vec![number], ..Sought::default() };
    assert!(itself.matches(&Held::Block(number), Holding::Reading));
    assert!(!itself.matches(&Held::Character(number), Holding::Writing));
}
