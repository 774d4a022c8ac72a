//! `run commit --in DIRECTORY`: nothing destroyed, nothing left behind.

use std::fs;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::user::{User, errors};

/// As few commits as there can be.
const PLAN: &str = "sizes = [\"4KiB\"]\ncommitters = []\nmeasurement = \"1s\"\n";

/// A user with a directory in which he has a file of his own.
fn user() -> User {
    let user = User::new();
    fs::create_dir(user.path().join("data")).unwrap();
    fs::write(user.path().join("data/mine"), "mine").unwrap();
    fs::write(user.path().join("plan.toml"), PLAN).unwrap();
    user
}

const RUN: [&str; 8] = ["run", "commit", "--in", "data", "--plan", "plan.toml", "--out", "run"];

/// What is in the directory.
fn there(user: &User) -> Vec<String> {
    let entries = fs::read_dir(user.path().join("data")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A run that has begun to commit.
fn begun(user: &User) -> Child {
    let mut command = user.command(&RUN);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let since = Instant::now();
    let journal = user.path().join("run/journal.jsonl");
    while !fs::read_to_string(&journal).is_ok_and(|text| text.contains("as-it-is")) {
        assert!(since.elapsed() < Duration::from_secs(60), "nothing was committed");
        thread::sleep(Duration::from_millis(10));
    }
    child
}

#[test]
fn a_directory_is_committed_to_and_left_as_it_was() {
    let user = user();
    let run = user.command(&RUN).arg("--json").output().unwrap();
    assert!(run.status.success(), "{}", errors(&run));
    let record: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(record["drive"]["kind"], "directory");
    let commits = record["outcome"]["commits"].as_array().unwrap();
    assert!(
        commits.iter().all(|one| one["stage"] == "as-it-is" && one["count"].as_u64() > Some(0))
    );
    let logs: Vec<&Value> = commits.iter().map(|one| &one["log"]).collect();
    assert!(logs.iter().any(|log| *log == "appended") && logs.iter().any(|log| log.is_null()));
    let page = fs::read_to_string(user.path().join("run/report/index.html")).unwrap();
    assert!(page.contains("as it is: commits of 4 KiB, appended") && page.contains("etcd"));
    assert_eq!(there(&user), ["mine"]);
    assert!(user.runs().is_empty(), "a directory is no drive");
}

#[test]
fn an_interrupted_run_removes_its_file_and_a_killed_ones_is_named_by_the_next() {
    let user = user();
    let mut child = begun(&user);
    assert_eq!(there(&user), ["mine", "writecliff-commit.tmp"]);
    let second = user.run(&["run", "commit", "--in", "data"]);
    assert!(errors(&second).contains("another run commits in"), "{}", errors(&second));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(there(&user), ["mine"]);

    fs::remove_dir_all(user.path().join("run")).unwrap();
    let mut child = begun(&user);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(there(&user), ["mine", "writecliff-commit.tmp"]);
    let next = user.run(&["run", "commit", "--in", "data"]);
    assert_eq!(next.status.code(), Some(1));
    let said = errors(&next);
    assert!(said.contains("is left of a run that was killed; remove it (`rm "), "{said}");
    assert_eq!(there(&user), ["mine", "writecliff-commit.tmp"]);
}

/// The job that etcd's users are sent to, with fewer bytes.
const ETCD: &str =
    "[mytest]\nrw=write\nioengine=sync\nfdatasync=1\ndirectory=data\nsize=230000\nbs=2300\n";

#[test]
fn a_job_file_s_durable_writes_run_in_a_directory_byte_by_byte_and_nothing_else_does() {
    let user = user();
    let run = |job: &str| {
        fs::write(user.path().join("job.fio"), job).unwrap();
        let plan = ["run", "mixed", "--in", "data", "--plan", "job.fio", "--json"];
        user.command(&plan).output().unwrap()
    };
    let done = run(ETCD);
    assert!(done.status.success(), "{}", errors(&done));
    let record: Value = serde_json::from_slice(&done.stdout).unwrap();
    let jobs = record["outcome"]["jobs"].as_array().unwrap();
    let counted = |operation: &str| jobs[0][operation]["ios"].as_u64().unwrap();
    assert_eq!(
        (counted("writes"), &jobs[0]["writes"]["bytes"]),
        (100, &"230kB".into()),
        "{jobs:?}"
    );
    assert!(counted("flushes") >= 99, "{jobs:?}");
    for (job, word) in [
        (ETCD.replace("fdatasync=1\n", ""), "they would stay in memory"),
        (ETCD.replace("rw=write", "rw=randrw"), "they would be answered from memory"),
        (ETCD.replace("rw=write", "rw=randtrim"), "takes no TRIM"),
        (ETCD.replace("size=230000", "size=50t"), "are needed; make room there"),
        (ETCD.replace("size=230000", "size=50t\noverwrite=1"), "are needed; make room there"),
        (
            format!("{ETCD}fallocate=none\n[other]\noverwrite=1\n"),
            "all jobs of a run have one file",
        ),
        (ETCD.replace("fdatasync=1", "sync=1\nnumjobs=129"), "there are at most 128"),
    ] {
        let refused = run(&job);
        let expected = if word.contains("room") { 1 } else { 2 };
        assert_eq!(refused.status.code(), Some(expected), "{job}");
        assert!(errors(&refused).contains(word), "{}", errors(&refused));
    }
    for more in ["fallocate=none", "overwrite=1", "fallocate=posix"] {
        let larger = ETCD.replace("size=230000", "size=100m\nio_size=230000");
        let done = run(&larger.replace("fdatasync=1", &format!("fdatasync=1\n{more}")));
        assert!(done.status.success(), "{}", errors(&done));
        let record: Value = serde_json::from_slice(&done.stdout).unwrap();
        assert_eq!(record["drive"]["capacity"], "100MiB");
    }
    let forced = run(&ETCD.replace("fdatasync=1", "sync=dsync\nnumjobs=3\nrw=randwrite"));
    assert!(forced.status.success(), "{}", errors(&forced));
    assert_eq!(there(&user), ["mine"]);
    assert!(user.runs().is_empty(), "a directory is no drive");
}

#[test]
fn what_is_no_directory_and_what_is_no_commit_is_refused() {
    let user = user();
    for (arguments, word) in [
        (["run", "commit", "--in", "nowhere"], "No such file"),
        (["run", "commit", "--in", "data/mine"], "is no directory"),
        (["run", "consistency", "--in", "data"], "`writecliff run commit --in DIRECTORY`"),
    ] {
        let refused = user.run(&arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        assert!(errors(&refused).contains(word), "{}", errors(&refused));
    }
    assert_eq!(there(&user), ["mine"]);
    let both = user.run(&["run", "commit", "sim:tiny", "--in", "data"]);
    assert_eq!(both.status.code(), Some(2));
}
