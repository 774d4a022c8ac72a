//! What the tools print, and stand-ins for tools that misbehave.

use std::io::Write;
use std::os::unix::fs::{FileExt, PermissionsExt};

use tempfile::TempDir;

use super::*;
use crate::guard::drive_marks;
use crate::guard::erasing::advice;
use crate::guard::refusal::Refusal;

const CAPACITY: u64 = 80 << 20;

fn recognised(tool: &'static str, what: &str, place: Option<Extent>, table: bool) -> Answer {
    Answer::Recognised(Recognised { tool, what: what.to_owned(), place, table })
}

/// A program that answers in the place of a tool.
fn stand_in(script: &str) -> (TempDir, PathBuf) {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("tool");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    (directory, path)
}

fn drive() -> File {
    let file = tempfile::tempfile().unwrap();
    file.set_len(1 << 20).unwrap();
    file
}

#[test]
fn lines_of_wipefs_are_places_and_names() {
    let (_directory, tool) = stand_in(
        "printf '# offset,length,usage,type\\n0x438,2,filesystem,ext4\\n0x1fe,2,partition-table,dos\\n'",
    );
    let ext = Extent { offset: 0x438, length: 2 };
    let dos = Extent { offset: 510, length: 2 };
    let expected = [
        recognised("wipefs", "ext4", Some(ext), false),
        recognised("wipefs", "dos", Some(dos), true),
    ];
    assert_eq!(by_wipefs(&tool, &drive(), PATIENCE), expected);
}

#[test]
fn blkid_tells_kinds_or_that_there_are_several() {
    let (_directory, tool) =
        stand_in("printf 'DEVNAME=x\\nTYPE=xfs\\nPTTYPE=gpt\\nLABEL=TYPE=no\\n'");
    let expected =
        [recognised("blkid", "xfs", None, false), recognised("blkid", "gpt", None, true)];
    assert_eq!(by_blkid(&tool, &drive(), PATIENCE), expected);
    let (_directory, several) = stand_in("exit 8");
    assert!(matches!(
        by_blkid(&several, &drive(), PATIENCE).as_slice(),
        [Answer::Recognised(Recognised { what, .. })] if what.contains("ambivalent")
    ));
    let (_directory, nothing) = stand_in("exit 2");
    assert_eq!(by_blkid(&nothing, &drive(), PATIENCE), []);
}

#[test]
fn an_answer_that_means_nothing_is_a_doubt() {
    let scripts = [
        "exit 1",
        "echo cannot open >&2; exit 2",
        "kill -9 $$",
        "echo '0x438,2,filesystem'",
        "echo 'zero,2,filesystem,ext4'",
        "echo '0xffffffffffffffff,2,filesystem,ext4'",
    ];
    for script in scripts {
        let (_directory, tool) = stand_in(script);
        let answers = by_wipefs(&tool, &drive(), PATIENCE);
        assert!(matches!(answers.as_slice(), [Answer::Failed { .. }]), "{script}: {answers:?}");
    }
    let (_directory, tool) = stand_in("echo cannot open >&2; exit 2");
    let answers = by_blkid(&tool, &drive(), PATIENCE);
    let expected = Answer::Failed { tool: "blkid", problem: "cannot open".to_owned() };
    assert_eq!(answers, [expected]);
    assert!(matches!(
        by_wipefs(Path::new("/nowhere/tool"), &drive(), PATIENCE).as_slice(),
        [Answer::Failed { .. }]
    ));
}

#[test]
fn a_tool_that_does_not_answer_is_killed_and_is_a_doubt() {
    let (_directory, tool) = stand_in("exec sleep 600");
    let answers = by_wipefs(&tool, &drive(), Duration::from_millis(100));
    assert!(
        matches!(answers.as_slice(), [Answer::Failed { problem, .. }] if problem.contains("no answer"))
    );
}

#[test]
fn control_characters_and_long_names_are_not_passed_on() {
    let (_directory, tool) = stand_in("printf '0x0,4,other,\\033[2J%0100d\\n' 7");
    let answers = by_wipefs(&tool, &drive(), PATIENCE);
    let [Answer::Recognised(Recognised { what, .. })] = answers.as_slice() else {
        panic!("{answers:?}");
    };
    assert!(what.starts_with("?[2J000") && what.len() == NAME_MAX, "{what}");
}

#[test]
fn the_tool_sees_the_drive_that_was_judged_and_cannot_write_it() {
    let file = drive();
    file.write_all_at(b"judged", 0).unwrap();
    let script = "printf '0x0,4,other,%s\\n' \"$(head -c 6 \"$5\")\"; echo no >&0; exit 0";
    let (_directory, tool) = stand_in(script);
    let answers = by_wipefs(&tool, &file, PATIENCE);
    let place = Some(Extent { offset: 0, length: 4 });
    assert_eq!(answers.first(), Some(&recognised("wipefs", "judged", place, false)));
    let mut start = [0; 6];
    file.read_exact_at(&mut start, 0).unwrap();
    assert_eq!(&start, b"judged");
}

/// An Atari table whose one partition is of a kind that the guard's own marks do not list.
fn only_the_tools_know() -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(CAPACITY).unwrap();
    let put = |bytes: &[u8], at| file.as_file().write_all_at(bytes, at).unwrap();
    put(&[0, 1, 0, 0], 0x1C2);
    put(&[1, b'A', b'B', b'C', 0, 0, 0, 2, 0, 0, 1, 0], 0x1C6);
    file
}

#[test]
fn what_only_the_tools_recognise_refuses_and_is_said_once() {
    if installed("wipefs").is_none() {
        let _ = writeln!(io::stderr(), "SKIPPED: asking wipefs, which is not installed");
        return;
    }
    let file = only_the_tools_know();
    let name = file.path().to_str().unwrap();
    let look = || drive_marks::refusals(name, file.as_file(), CAPACITY).unwrap();
    let refusals = look();
    let [Refusal::OtherTool { tool: "wipefs", what, offset: Some(0x1C6), .. }] =
        refusals.as_slice()
    else {
        panic!("{refusals:#?}");
    };
    assert_eq!(what, "atari");
    let advice = advice(&refusals).unwrap();
    let command = advice.lines().nth(1).unwrap();
    assert!(Command::new("sh").args(["-c", command]).output().unwrap().status.success());
    assert_eq!(look(), []);
}

#[test]
fn blkid_alone_still_recognises_and_says_nothing_twice() {
    let Some(blkid) = installed("blkid") else {
        let _ = writeln!(io::stderr(), "SKIPPED: asking blkid, which is not installed");
        return;
    };
    let answers = by_blkid(&blkid, only_the_tools_know().as_file(), PATIENCE);
    assert_eq!(answers, [recognised("blkid", "atari", None, true)]);
    assert!(is_first_of_its_sort(&answers[0], &[], &[]));
    assert!(!is_first_of_its_sort(&answers[0], &[], &answers));
}
