//! `writecliff trace make` as a user meets it.
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use writecliff_trace::TraceFile;

use crate::user::command;

fn make(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = command();
    command.args(["trace", "make"]).args(arguments).current_dir(directory).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_trace_is_made_and_compared_with_its_plan() {
    let dir = tempfile::tempdir().unwrap();
    let output = make(dir.path(), &["light-2011", "--scale", "10%"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let summary = text(&output.stdout);
    for expected in ["light-2011.trace: 83234 operations", "not the original recording", "37263"] {
        assert!(summary.contains(expected), "no {expected} in: {summary}");
    }
    let trace = TraceFile::open(&dir.path().join("light-2011.trace")).unwrap();
    assert!(trace.header().synthetic);
    assert_eq!((trace.summary().reads, trace.summary().writes), (37_263, 45_971));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing else is left");
}

#[test]
fn figures_that_so_few_operations_cannot_have_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let output = make(dir.path(), &["light-2011", "--scale", "0.001%"]);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert!(errors.contains("more than 1 % off the plan: "), "{errors}");
    assert!(errors.contains("mean queue depth"), "{errors}");
    let whole = make(dir.path(), &["light-2011", "whole.trace"]);
    // On a slow machine it tells how far it is.
    let told = text(&whole.stderr);
    assert!(
        whole.status.success() && !told.contains("off the plan"),
        "the whole has them all: {told}"
    );
}

#[test]
fn a_seed_decides_the_file_and_another_makes_another() {
    let dir = tempfile::tempdir().unwrap();
    for (file, seed) in [("one", "1"), ("again", "1"), ("other", "2")] {
        let output = make(dir.path(), &["light-2011", file, "--scale", "1%", "--seed", seed]);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    let [one, again, other] =
        ["one", "again", "other"].map(|file| std::fs::read(dir.path().join(file)).unwrap());
    assert_eq!(one, again);
    assert_ne!(one, other);
}

#[test]
fn nothing_is_replaced_without_being_asked() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("light-2011.trace");
    std::fs::write(&path, "precious").unwrap();
    let arguments = ["light-2011", "--scale", "1%"];
    let refused = make(dir.path(), &arguments);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("--force"), "{}", text(&refused.stderr));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    assert!(make(dir.path(), &[&arguments[..], &["--force"]].concat()).status.success());
    assert!(TraceFile::open(&path).is_ok());
}

#[test]
fn a_shipped_plan_can_be_printed_changed_and_made() {
    let dir = tempfile::tempdir().unwrap();
    let plan = text(&make(dir.path(), &["light-2011", "--print-plan"]).stdout);
    let mine = plan.replace("name = \"light-2011\"", "name = \"mine\"");
    std::fs::write(dir.path().join("mine.toml"), &mine).unwrap();
    let output = make(dir.path(), &["mine.toml", "--scale", "1%"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(dir.path().join("mine.trace").exists());
    let broken = mine.replace("device_size", "devise_size");
    std::fs::write(dir.path().join("broken.toml"), broken).unwrap();
    let evil = mine.replace("name = \"mine\"", "name = \"../evil x\"");
    std::fs::write(dir.path().join("evil.toml"), evil).unwrap();
    for (plan, expected) in [
        ("broken.toml", "broken.toml:8: unknown field `devise_size`"),
        ("evil.toml", "the name \"../evil x\" cannot be a file's"),
        ("nothing", "no plan is called 'nothing'; there are heavy-2011"),
    ] {
        let refused = make(dir.path(), &[plan]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(text(&refused.stderr).contains(expected), "{}", text(&refused.stderr));
    }
}

#[test]
fn an_interrupt_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = command();
    command.args(["trace", "make", "destroyer-2013"]).current_dir(dir.path());
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    // The trace has no name yet, but it is open.
    let files = format!("/proc/{}/fd", child.id());
    let is_begun = || {
        let files = std::fs::read_dir(&files).unwrap().flatten();
        let mut open = files.filter_map(|file| std::fs::read_link(file.path()).ok());
        open.any(|path| path.starts_with(dir.path()))
    };
    while !is_begun() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("no trace was written"), "{}", text(&output.stderr));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}
