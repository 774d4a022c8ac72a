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

/// Every signature with all its places on a drive.
fn every_place() -> impl Iterator<Item = (&'static Signature, u64)> {
    SIGNATURES.iter().flat_map(|signature| {
        let places = signature.places.iter();
        places.flat_map(move |place| place.offsets(CAPACITY).map(move |at| (signature, at)))
    })
}

#[test]
fn every_mark_is_found_at_every_place_where_it_may_be() {
    for (signature, offset) in every_place() {
        let file = drive();
        file.write_all_at(signature.magic, offset).unwrap();
        make_plausible(&file, signature, offset);
        let marks = find(&file, CAPACITY).unwrap();
        let is_it = |found: &Found| found.what == signature.what && found.place.offset == offset;
        let found = marks.found.iter().any(is_it);
        assert!(found, "{} at {offset}: {:?}", signature.what, marks.found);
    }
}

#[test]
fn an_empty_drive_and_our_own_content_bear_no_mark() {
    let file = drive();
    assert_eq!(find(&file, CAPACITY).unwrap().found, []);
    let mut content = crate::ContentStream::new(5);
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
