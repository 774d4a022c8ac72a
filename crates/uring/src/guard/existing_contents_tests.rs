//! Files as applications write them, and as tests leave them.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags};
use tempfile::TempDir;
use writecliff_device::{Bytes, Io};

use super::*;

const SIZE: u64 = 4 << 20;

/// As the way in opens it.
fn open(path: &Path) -> File {
    let flags = OFlags::RDWR | OFlags::DIRECT | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).unwrap().into()
}

fn held(path: &Path) -> Contents {
    contents_of(&open(path), 0).unwrap()
}

fn file(directory: &TempDir, content: &[(u64, &[u8])]) -> std::path::PathBuf {
    let path = directory.path().join("file");
    let file = File::create(&path).unwrap();
    file.set_len(SIZE).unwrap();
    content.iter().for_each(|(offset, bytes)| file.write_all_at(bytes, *offset).unwrap());
    path
}

/// What a test leaves.
fn our_own() -> Vec<u8> {
    let mut content = vec![0; SIZE as usize];
    writecliff_content::ContentStream::new(7).fill(&Io::write(Bytes(0), Bytes(SIZE)), &mut content);
    content
}

#[test]
fn holes_and_zeros_are_nothing_and_a_single_byte_is_data() {
    let directory = TempDir::new().unwrap();
    assert_eq!(held(&file(&directory, &[])), Contents::Nothing);
    assert_eq!(held(&file(&directory, &[(0, &[0; 1 << 20])])), Contents::Nothing);
    assert_eq!(held(&file(&directory, &[(SIZE - 1, &[1])])), Contents::Data(UNKNOWN));
    assert_eq!(held(&file(&directory, &[((1 << 20) + 4095, &[1])])), Contents::Data(UNKNOWN));
}

#[test]
fn a_file_of_our_own_is_known_by_its_mark_and_not_by_its_content() {
    let directory = TempDir::new().unwrap();
    let path = file(&directory, &[(0, &our_own())]);
    assert_eq!(held(&path), Contents::Data(UNKNOWN));
    if test_file::mark(&open(&path)) {
        assert_eq!(held(&path), Contents::OwnTestFile);
    }
}

#[test]
fn what_was_copied_over_a_test_file_is_data() {
    let directory = TempDir::new().unwrap();
    let path = file(&directory, &[(0, &our_own())]);
    test_file::mark(&open(&path));
    let over_it = File::options().write(true).open(&path).unwrap();
    over_it.write_all_at(b"SQLite format 3\0", 0).unwrap();
    assert_eq!(held(&path), Contents::Data("SQLite database"));
}

#[test]
fn files_that_programs_of_this_machine_make() {
    let directory = TempDir::new().unwrap();
    let place = directory.path();
    fs::write(place.join("text"), "Dear diary\n".repeat(1000)).unwrap();
    let cases: [(&str, &[&str], &str); 6] = [
        ("made.tar", &["tar", "-cf", "made.tar", "text"], "tar archive"),
        ("text.gz", &["gzip", "-k", "text"], "gzip archive"),
        ("text.xz", &["xz", "-k", "text"], "xz archive"),
        ("text.bz2", &["bzip2", "-k", "text"], "bzip2 archive"),
        ("text.zst", &["zstd", "-q", "text"], "zstd archive"),
        ("app.db", &["sqlite3", "app.db", "create table t (a)"], "SQLite database"),
    ];
    for (made, command, kind) in cases {
        let mut program = Command::new(command[0]);
        program.args(&command[1..]).current_dir(place).stdin(Stdio::null());
        if program.status().is_ok_and(|status| status.success()) {
            assert_eq!(held(&place.join(made)), Contents::Data(kind));
        }
    }
    assert_eq!(held(&place.join("text")), Contents::Data("text"));
    fs::copy(std::env::current_exe().unwrap(), place.join("program")).unwrap();
    assert_eq!(held(&place.join("program")), Contents::Data("program or library"));
}
