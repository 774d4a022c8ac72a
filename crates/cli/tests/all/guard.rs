//! The guard as a user meets it: what it asks for, and what it does not stand in the way of.
use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use writecliff_loop_device::LoopDevice;

use crate::user::command;

const WRITECLIFF: &str = env!("CARGO_BIN_EXE_writecliff");
/// Debian's `nobody`.
const NOBODY: u32 = 65534;

fn run_on(program: &Path, file: &Path, consent: &OsStr, user: Option<u32>) -> Output {
    let mut command = Command::new(program);
    command.args(["run", "consistency"]).arg(file).arg("--destroy-data-on").arg(consent);
    command.args(["--quick", "--duration", "1s", "--out"]).arg(file.with_extension("run"));
    if let Some(user) = user {
        command.uid(user).gid(user);
    }
    command.stdin(Stdio::null()).output().unwrap()
}

fn drive(directory: &Path, name: &OsStr) -> PathBuf {
    let path = fs::canonicalize(directory).unwrap().join(name);
    File::create(&path).unwrap().set_len(32 << 20).unwrap();
    path
}

#[test]
fn a_plain_user_tests_a_file_of_his_own_beside_loop_devices_of_root() {
    let Some(_attached) = LoopDevice::in_memory(32 << 20).ok() else {
        println!("SKIPPED: becoming another user needs root, and loop devices");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), Permissions::from_mode(0o777)).unwrap();
    // The build's directory may not be everybody's.
    let program = directory.path().join("writecliff");
    fs::copy(WRITECLIFF, &program).unwrap();
    let file = drive(directory.path(), OsStr::new("drive.img"));
    std::os::unix::fs::chown(&file, Some(NOBODY), Some(NOBODY)).unwrap();
    let output = run_on(&program, &file, file.as_os_str(), Some(NOBODY));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert!(errors.contains("may not be looked into"), "{errors}");
}

#[test]
fn a_path_that_is_not_utf8_can_be_named_and_agreed_to() {
    let directory = tempfile::tempdir().unwrap();
    let file = drive(directory.path(), OsStr::from_bytes(b"drive-\xFF.img"));
    let refused = run_on(Path::new(WRITECLIFF), &file, OsStr::new("drive.img"), None);
    assert_eq!(refused.status.code(), Some(3));
    let output = run_on(Path::new(WRITECLIFF), &file, file.as_os_str(), None);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn everything_is_shown_of_a_drive_that_is_named_and_its_consent_can_be_pasted() {
    let Some(attached) = LoopDevice::in_memory(32 << 20).ok() else {
        println!("SKIPPED: showing a loop device needs root");
        return;
    };
    let output = command().args(["drives", attached.path()]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let consent = format!("may be tested: --destroy-data-on '{}'", attached.path());
    for expected in
        ["33554432 bytes", "stands on", "the file /dev/shm/", "places hold data", &consent]
    {
        assert!(text.contains(expected), "no '{expected}' in:\n{text}");
    }
    let mut command = command();
    let output = command.args(["drives", attached.path(), "--json"]).output().unwrap();
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let drive = &told["devices"][0];
    for (words, key) in [("scheduler", "scheduler"), ("write cache", "write_cache")] {
        let row = text.lines().find(|line| line.trim_start().starts_with(words)).unwrap();
        let value = drive[key].as_str().unwrap();
        assert!(row.contains(value), "{key} is '{value}', and '{row}'");
    }
    assert!(text.contains(&format!("(physical {})", drive["physical_block_bytes"])), "{text}");
}

#[test]
fn a_purge_by_itself_needs_the_drives_name_and_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let file = drive(directory.path(), OsStr::new("drive.img"));
    let holds_data = || fs::read(&file).unwrap().iter().any(|byte| *byte != 0);
    let purge = |consent: &str, how: &[&str]| {
        let mut command = command();
        command.arg("purge").arg(&file).args(["--destroy-data-on", consent]).args(how);
        command.stdin(Stdio::null()).output().unwrap()
    };
    fs::write(&file, vec![0xA5; 32 << 20]).unwrap();
    let path = file.to_str().unwrap();
    assert_eq!(purge("drive.img", &[]).status.code(), Some(3));
    let name = format!("{path}: data of unknown kind");
    let refused = purge(&name, &["--purge", "format"]);
    assert_eq!(refused.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(errors.contains("cannot be purged by format"), "{errors}");
    assert!(holds_data(), "nothing was done");
    // What the file held was given up with the first consent.
    let purged = purge(path, &["--json"]);
    assert_eq!(purged.status.code(), Some(0), "{}", String::from_utf8_lossy(&purged.stderr));
    let told: serde_json::Value = serde_json::from_slice(&purged.stdout).unwrap();
    assert_eq!((&told["how"], &told["still_readable"]), (&"hole-punch".into(), &0.into()));
    assert!(!holds_data());
}
