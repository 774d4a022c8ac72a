use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

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
