//! Marks on sparse files: each at each of its places, and none on what is no mark.

use std::os::unix::fs::FileExt;

use writecliff_device::{Bytes, Io};

use super::*;

const CAPACITY: u64 = (80 << 20) + 512;

fn drive() -> File {
    let file = tempfile::tempfile().unwrap();
    file.set_len(CAPACITY).unwrap();
    file
}

/// A byte string and its offset in a sector that make a short mark's sector look right.
fn make_plausible(file: &File, signature: &Signature, offset: u64) {
    let sector = offset / SECTOR * SECTOR;
    let put = |at: u64, bytes: &[u8]| file.write_all_at(bytes, sector + at).unwrap();
    match (signature.what, signature.magic) {
        ("a NILFS2 filesystem", _) => put(0, &[2]),
        ("an HFS filesystem", _) => put(20, &[0, 0, 2, 0]),
        ("an HFS+ filesystem", _) => put(2, &[0, 4]),
        ("an HFSX filesystem", _) => put(40, &[0, 0, 0x10, 0]),
        ("a Sun disklabel", _) => put(0, &[0xDA, 0xBE]),
        ("an Ultrix disklabel", _) => put(444, &[1]),
        ("an Apple partition map", b"ER") => put(2, &[2, 0]),
        ("a FAT filesystem", [0x55, 0xAA]) => put(11, &[0, 2, 8, 1, 0, 2, 0, 0, 0, 0, 0xF8]),
        ("an Atari partition table", _) => {
            put(0x1C2, &[0, 1, 0, 0]);
            put(offset - sector - 1, &[1]);
            put(offset - sector + 3, &[0, 0, 0, 2, 0, 0, 1, 0]);
        }
        ("a Minix filesystem", [0x5A, 0x4D]) => put(0, &[64, 0, 0, 0, 0, 0, 1, 0, 1, 0]),
        ("a Minix filesystem", [0x4D, 0x5A]) => put(0, &[0, 0, 0, 64, 0, 0, 0, 1, 0, 1]),
        ("a Minix filesystem", [0x13 | 0x24, _]) => put(0, &[0, 64, 0, 0, 0, 1, 0, 1]),
        ("a Minix filesystem", _) => put(0, &[64, 0, 0, 0, 1, 0, 1, 0]),
        _ => {}
    }
}

/// Every signature with all its places on a drive; of a series the first and the last.
fn every_place() -> Vec<(&'static Signature, u64)> {
    let mut all = Vec::new();
    for signature in SIGNATURES {
        for place in signature.places {
            let offsets: Vec<u64> = place.offsets(CAPACITY).collect();
            let ends = [offsets.first(), offsets.last().filter(|_| offsets.len() > 1)];
            all.extend(ends.into_iter().flatten().map(|&offset| (signature, offset)));
        }
    }
    all
}

/// A file of zeros with a name; in memory where that is, since the advised commands sync it.
fn named() -> tempfile::NamedTempFile {
    let memory = std::path::Path::new("/dev/shm");
    let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let file = tempfile::NamedTempFile::new_in(place).unwrap();
    file.as_file().set_len(CAPACITY).unwrap();
    file
}

/// A file with just this mark.
fn marked(signature: &Signature, offset: u64) -> tempfile::NamedTempFile {
    let file = named();
    file.as_file().write_all_at(signature.magic, offset).unwrap();
    make_plausible(file.as_file(), signature, offset);
    file
}

#[test]
fn every_mark_is_found_at_every_place_where_it_may_be() {
    for (signature, offset) in every_place() {
        let file = marked(signature, offset);
        let marks = find(file.as_file(), CAPACITY).unwrap();
        let is_it = |found: &Found| found.what == signature.what && found.place.offset == offset;
        let found = marks.found.iter().any(is_it);
        assert!(found, "{} at {offset}: {:?}", signature.what, marks.found);
    }
}

#[test]
fn an_empty_drive_and_our_own_content_bear_no_mark() {
    let file = drive();
    assert_eq!(find(&file, CAPACITY).unwrap().found, []);
    let mut content = writecliff_content::ContentStream::new(5);
    let mut buffer = vec![0; 1 << 20];
    for offset in (0..CAPACITY - 512).step_by(buffer.len()) {
        let io = Io::write(Bytes(offset), Bytes(buffer.len() as u64));
        content.fill(&io, &mut buffer);
        file.write_all_at(&buffer, offset).unwrap();
    }
    assert_eq!(find(&file, CAPACITY).unwrap().found, []);
}

#[test]
fn short_marks_in_other_data_are_no_mark() {
    let file = drive();
    file.write_all_at(&[0xFF; 4096], 0).unwrap();
    file.write_all_at(&[0x55, 0xAA], 510).unwrap();
    file.write_all_at(&[0x53, 0xEF], 1080).unwrap();
    assert_eq!(find(&file, CAPACITY).unwrap().found, []);
}

#[test]
fn a_drive_that_ends_early_is_not_an_empty_drive() {
    let file = drive();
    file.set_len(1 << 20).unwrap();
    assert!(find(&file, CAPACITY).is_err());
}

/// Runs what a refusal advises, as its user would.
fn run_advised(refusals: &[crate::guard::refusal::Refusal]) -> String {
    let advice = crate::guard::erasing::advice(refusals)
        .unwrap_or_else(|| panic!("no advice for {refusals:?}"));
    for command in advice.lines().skip(1) {
        let output = std::process::Command::new("sh").args(["-c", command]).output().unwrap();
        assert!(output.status.success(), "{command}: {output:?}");
    }
    advice
}

#[test]
fn the_commands_that_are_advised_for_a_mark_leave_a_drive_without_marks() {
    for (signature, offset) in every_place() {
        let file = marked(signature, offset);
        let name = file.path().to_str().unwrap();
        let look = || crate::guard::drive_marks::refusals(name, file.as_file(), CAPACITY).unwrap();
        let advice = run_advised(&look());
        assert_eq!(look(), [], "{} at {offset}, after {advice}", signature.what);
        assert_eq!(file.as_file().metadata().unwrap().len(), CAPACITY);
    }
}

#[test]
fn marks_of_all_kinds_at_once_are_erased_by_few_commands() {
    let file = named();
    for (signature, offset) in every_place() {
        file.as_file().write_all_at(signature.magic, offset).unwrap();
    }
    let name = file.path().to_str().unwrap();
    let look = || crate::guard::drive_marks::refusals(name, file.as_file(), CAPACITY).unwrap();
    let advice = run_advised(&look());
    assert!(advice.lines().count() <= 12, "{advice}");
    assert_eq!(look(), []);
}

/// A drive with an ext filesystem on which some bytes cannot be read, and how often it was tried.
fn with_bad_bytes(
    bad: std::ops::Range<u64>,
    error: rustix::io::Errno,
) -> (io::Result<Marks>, usize) {
    let file = drive();
    file.write_all_at(&[0x53, 0xEF], 1080).unwrap();
    let failures = std::cell::Cell::new(0);
    let read = |buffer: &mut [u8], start: u64| {
        let end = start + buffer.len() as u64;
        if start < bad.end && bad.start < end {
            failures.set(failures.get() + 1);
            return Err(error);
        }
        read_at(&file, buffer, start)
    };
    (find_by(&read, CAPACITY), failures.get())
}

#[test]
fn a_bad_sector_is_told_by_its_bytes_and_hides_no_mark_elsewhere() {
    let (marks, _) = with_bad_bytes(8192..8704, rustix::io::Errno::IO);
    let marks = marks.unwrap();
    let kinds: Vec<&str> = marks.found.iter().map(|found| found.what).collect();
    assert_eq!(kinds, ["an ext2/3/4 filesystem"]);
    let bad: Vec<Extent> = marks.bad_blocks.iter().map(|bad| bad.place).collect();
    assert_eq!(bad, [Extent { offset: 8192, length: 4096 }]);
}

#[test]
fn a_bad_sector_where_no_mark_can_be_is_no_objection() {
    let (marks, _) = with_bad_bytes((40 << 20)..(40 << 20) + 512, rustix::io::Errno::IO);
    let marks = marks.unwrap();
    assert_eq!((marks.found.len(), marks.bad_blocks), (1, vec![]));
}

#[test]
fn a_drive_that_reads_nothing_is_told_and_not_asked_forever() {
    let (marks, failures) = with_bad_bytes(0..CAPACITY, rustix::io::Errno::NODATA);
    assert!(!marks.unwrap().bad_blocks.is_empty());
    assert!(failures < 1000, "{failures}");
}

#[test]
fn a_drive_that_has_gone_is_no_bad_sector() {
    let (marks, _) = with_bad_bytes(0..512, rustix::io::Errno::NXIO);
    assert!(marks.is_err());
}

/// The part of the documentation between two comments, as items.
fn documented(section: &str) -> std::collections::BTreeSet<String> {
    let page = include_str!("../../../../docs/safety.md");
    let (_, rest) = page.split_once(&format!("<!-- {section} -->")).unwrap();
    let (list, _) = rest.split_once(&format!("<!-- /{section} -->")).unwrap();
    let words = list.split_whitespace().collect::<Vec<_>>().join(" ");
    words.trim_end_matches('.').split("; ").map(str::to_owned).collect()
}

fn listed<'a>(all: impl Iterator<Item = &'a str>) -> std::collections::BTreeSet<String> {
    let without_article =
        |what: &'a str| what.strip_prefix("a ").or(what.strip_prefix("an ")).unwrap_or(what);
    all.map(|what| without_article(what).to_owned()).collect()
}

#[test]
fn the_documentation_lists_every_mark_and_every_kind_of_file() {
    let marks = listed(SIGNATURES.iter().map(|signature| signature.what));
    let kinds = listed(crate::guard::existing_contents::every_kind());
    for (section, expected) in [("marks", marks), ("files", kinds)] {
        let text: Vec<&str> = expected.iter().map(String::as_str).collect();
        let message = format!("docs/safety.md, {section}: {}.", text.join("; "));
        assert_eq!(documented(section), expected, "{message}");
    }
}
