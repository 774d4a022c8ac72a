//! `writecliff trace convert` as a user meets it.
use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

use crate::user::command;

fn convert(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = command();
    command.current_dir(directory).args(["trace", "convert"]).args(arguments);
    command.stdin(Stdio::null()).output().unwrap()
}

fn told(output: &Output) -> (Option<i32>, String) {
    let text = [&output.stdout[..], &output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

const ALIBABA: &str = "419,W,8192,16384,1577808144360767\n\
                       725,R,0,4096,1577808144360813\n\
                       725,Q,0,4096,1577808144360814\n";

#[test]
fn a_trace_is_converted_and_its_problems_are_told() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    fs::write(directory.join("io.csv"), ALIBABA).unwrap();

    let (code, text) = told(&convert(directory, &["io.csv", "io.trace"]));
    assert_eq!(code, Some(1), "{text}");
    for part in ["io.csv:3: expected R or W, found '725,Q", "1 of 3 lines", "--bad-lines"] {
        assert!(text.contains(part), "no {part} in: {text}");
    }
    assert!(!directory.join("io.trace").exists());

    let some = ["io.csv", "io.trace", "--bad-lines", "40%"];
    let (code, text) = told(&convert(directory, &some));
    assert_eq!(code, Some(2), "{text}");
    for part in ["419 (1 operation), 725 (1 operation);", "--stream NAME", "--all-volumes"] {
        assert!(text.contains(part), "no {part} in: {text}");
    }
    assert!(!directory.join("io.trace").exists());

    let (code, text) = told(&convert(directory, &[&some[..], &["--all-volumes"]].concat()));
    assert_eq!(code, Some(0), "{text}");
    for part in [
        "io.trace: 2 operations (1 reads, 1 writes, 0 trims, 0 flushes), 4.10 kB read, 16.4 kB",
        "2 volumes",
        "--stream NAME",
        "1 broken line, which is left out",
    ] {
        assert!(text.contains(part), "no {part} in: {text}");
    }
    assert!(!text.contains("passed over"), "{text}");

    let (code, text) = told(&convert(directory, &["io.trace", "io.iolog", "--stream", "725"]));
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("iolog cannot carry, and so lacks: streams"), "{text}");
    let log = fs::read_to_string(directory.join("io.iolog")).unwrap();
    assert_eq!(
        log,
        "fio version 3 iolog\n0 trace add\n0 trace open\n46 trace read 0 4096\n46 trace close\n"
    );
}

#[test]
fn what_cannot_be_meant_is_refused_with_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    fs::write(directory.join("good"), "419,W,8192,16384,1577808144360767\n").unwrap();
    fs::write(directory.join("odd"), "what is this?\n").unwrap();
    fs::write(directory.join("there.csv"), "something of value").unwrap();
    for (arguments, expected, part) in [
        (&["absent", "a.trace"][..], 2, "no trace 'absent' here"),
        (&["odd", "a.trace"], 2, "name the format (--from FORMAT)"),
        (&["good", "a.parquet"], 2, "say --to"),
        (&["good", "there.csv"], 2, "--force"),
        (&["good", "odd", "a.trace"], 2, "convert good, odd one by one"),
        (&["good", "a.trace", "--stream", "7"], 2, "among its streams are: 419"),
        (&["good", "a.trace", "--from", "tape"], 2, "[possible values: trace, blkparse"),
        (&["good", "a.trace", "--from", "msr"], 1, "1 of 1 lines are broken"),
        (&["good"], 2, "name an output"),
        (&["good", "there.csv", "--force"], 0, "there.csv: 1 operations"),
        (&["good", "other", "--to", "csv"], 0, "other: 1 operations"),
    ] {
        let (code, text) = told(&convert(directory, arguments));
        assert!(code == Some(expected) && text.contains(part), "{arguments:?}: {code:?} {text}");
    }
    let mut left: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["good", "odd", "other", "there.csv"]);
}

#[test]
fn nothing_is_overwritten_by_mistake() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let line = "419,W,8192,16384,1577808144360767\n";
    fs::write(directory.join("io.csv.partial"), line).unwrap();
    let (code, text) = told(&convert(directory, &["io.csv.partial", "io.csv"]));
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(fs::read_to_string(directory.join("io.csv.partial")).unwrap(), line);

    std::os::unix::fs::symlink("victim", directory.join("to.csv.partial")).unwrap();
    std::os::unix::fs::symlink("io.csv", directory.join("link.csv")).unwrap();
    for (arguments, expected, part) in [
        (&["io.csv", "to.csv"][..], 0, "to.csv: 1 operations"),
        (&["io.csv", "io.csv", "--force"], 2, "io.csv is read itself"),
        (&["io.csv", "link.csv", "--force"], 2, "link.csv is read itself"),
        (&["io.csv", "/dev/null", "--to", "csv", "--force"], 2, "no regular file"),
        (&["to.csv", "link.csv"], 2, "--force"),
        (&["to.csv", "link.csv", "--force"], 2, "no regular file"),
    ] {
        let (code, text) = told(&convert(directory, arguments));
        assert!(code == Some(expected) && text.contains(part), "{arguments:?}: {code:?} {text}");
    }
    assert!(!directory.join("victim").exists());
}
