//! How applications' files begin, from their formats' own documentation. A kind is told by at least
//! four bytes, or by fields that fit together: what our own tests write must not look like one.

use super::magic::{BEFORE_END, FROM_START, Kind};
use super::structures::BY_STRUCTURE;

const TEXT: &str = "text";

/// What a file is by its first 64 KiB and its last bytes, if an application's or text.
pub(super) fn kind_of(start: &[u8], end: &[u8]) -> Option<&'static str> {
    by_magic(FROM_START, |offset| start.get(offset..))
        .or_else(|| BY_STRUCTURE.iter().find_map(|(recognise, _)| recognise(start)))
        .or_else(|| by_magic(BEFORE_END, |offset| end.get(end.len().checked_sub(offset)?..)))
        .or_else(|| is_text(start).then_some(TEXT))
}

/// The first kind whose bytes are where they belong.
fn by_magic<'a>(kinds: &[Kind], at: impl Fn(usize) -> Option<&'a [u8]>) -> Option<&'static str> {
    let is_it = |(_, offset, magics): &&Kind| {
        at(*offset).is_some_and(|rest| magics.iter().any(|magic| rest.starts_with(magic)))
    };
    kinds.iter().find(is_it).map(|(what, ..)| *what)
}

#[cfg(test)]
pub(super) fn every_kind() -> impl Iterator<Item = &'static str> {
    let by_bytes = FROM_START.iter().chain(BEFORE_END).map(|(what, ..)| *what);
    let by_structure = BY_STRUCTURE.iter().flat_map(|(_, kinds)| kinds.iter().copied());
    by_bytes.chain(by_structure).chain([TEXT])
}

/// Characters only, of UTF-8 (which ASCII is) or of UTF-16 with its mark, before any zeros that
/// fill the rest.
fn is_text(start: &[u8]) -> bool {
    let start = &start[..start.len().min(4096)];
    if let [0xFF, 0xFE, rest @ ..] | [0xFE, 0xFF, rest @ ..] = start {
        let zeros = rest.iter().filter(|&&byte| byte == 0).count();
        return rest.len() >= 8 && zeros * 3 >= rest.len() && zeros * 3 <= rest.len() * 2;
    }
    let length = start.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    let text = match str::from_utf8(&start[..length]) {
        Ok(text) => text,
        // Cut within a character.
        Err(error) if error.error_len().is_none() => {
            str::from_utf8(&start[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    let is_printed = |c: char| !c.is_control() || matches!(c, '\t' | '\n' | '\r' | '\x0C' | '\x1B');
    text.len() >= 4 && text.chars().all(is_printed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_told_by_its_mark_and_by_no_less() {
        let pairs = |kinds: &'static [Kind]| {
            kinds
                .iter()
                .flat_map(|(what, offset, magics)| magics.iter().map(move |m| (what, offset, m)))
        };
        for (what, offset, magic) in pairs(FROM_START) {
            let mut start = vec![0; 4096];
            start[*offset..][..magic.len()].copy_from_slice(magic);
            assert_eq!(kind_of(&start, &[]), Some(*what));
            assert!(magic.len() >= 4, "{what}");
        }
        for (what, offset, magic) in pairs(BEFORE_END) {
            let mut end = vec![0; 512];
            end[512 - offset..][..magic.len()].copy_from_slice(magic);
            assert_eq!(kind_of(&[0; 4096], &end), Some(*what));
        }
    }

    /// Bytes at an offset.
    type Part<'a> = (usize, &'a [u8]);

    /// Some bytes at their offsets, zeros between.
    fn with(parts: &[Part<'_>]) -> Vec<u8> {
        let mut start = vec![0; 64 << 10];
        for (offset, bytes) in parts {
            start[*offset..][..bytes.len()].copy_from_slice(bytes);
        }
        start
    }

    #[test]
    fn kinds_that_take_more_than_one_look() {
        let page: &[u8] = &[24, 0, 0, 0x20, 0, 0x20, 4, 0x20];
        let cases: &[(&str, &[Part<'_>])] = &[
            ("core dump", &[(0, b"\x7FELF\x02\x01"), (16, &[4])]),
            ("program or library", &[(0, b"\x7FELF\x02\x01"), (16, &[3])]),
            ("Windows program or library", &[(0, b"MZ"), (0x3C, &[0x80]), (0x80, b"PE\0\0")]),
            ("tar archive", &[(0, b"name"), (148, b"001241\0 ")]),
            ("gzip archive", &[(0, &[0x1F, 0x8B, 8, 8])]),
            ("bzip2 archive", &[(0, b"BZh91AY&SY")]),
            ("JPEG picture", &[(0, &[0xFF, 0xD8, 0xFF, 0xE1])]),
            ("WAV sound", &[(0, b"RIFF\0\0\0\0WAVE")]),
            ("MP4 or MOV film, or HEIF picture", &[(0, b"\0\0\0\x20ftypisom")]),
            ("MP3 sound", &[(0, b"ID3\x04\0\0\0\0\x10\0")]),
            ("Java class", &[(0, &[0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 61])]),
            ("macOS program", &[(0, &[0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 2])]),
            ("git pack", &[(0, b"PACK\0\0\0\x02")]),
            ("PostgreSQL table or index", &[(12, page), (8192 + 12, page)]),
            ("PostgreSQL log", &[(0, &[0x0D, 0xD1, 2]), (35, &[1]), (36, &[0, 0x20])]),
            ("InnoDB tablespace", &[(25, &[8]), (34, &[0, 0, 0, 7, 0, 0, 0, 7])]),
            ("Berkeley DB database", &[(12, &[0x62, 0x31, 5, 0])]),
            ("Berkeley DB database", &[(12, &[0, 6, 0x15, 0x61])]),
            ("text", &[(0, "Grüße\n".as_bytes())]),
        ];
        for (what, parts) in cases {
            assert_eq!(kind_of(&with(parts), &[]), Some(*what));
            assert!(every_kind().any(|kind| kind == *what), "{what} is not listed");
        }
        let packets: Vec<Part<'_>> =
            (0..16).map(|packet| (188 * packet, b"\x47".as_slice())).collect();
        assert_eq!(kind_of(&with(&packets), &[]), Some("MPEG film"));
    }

    #[test]
    fn zeros_and_what_our_own_tests_write_are_of_no_kind() {
        assert_eq!(kind_of(&[], &[]), None);
        assert_eq!(kind_of(&[0; 64 << 10], &[0; 512]), None);
        let mut start = vec![0; 64 << 10];
        for seed in 0..2000 {
            let io = writecliff_device::Io::write(
                writecliff_device::Bytes(0),
                writecliff_device::Bytes(start.len() as u64),
            );
            writecliff_content::ContentStream::new(seed).fill(&io, &mut start);
            assert_eq!(kind_of(&start, &start), None, "seed {seed}");
        }
    }

    #[test]
    fn text_may_be_cut_within_a_character_and_has_no_control_characters() {
        let long = "ü".repeat(3000);
        assert!(is_text(&long.as_bytes()[..4096]));
        assert!(is_text(&[b"a".as_slice(), &long.as_bytes()[..4095]].concat()));
        assert!(is_text(b"\xFF\xFEa\0b\0c\0d\0e\0f\0"));
        assert!(!is_text(b"abc\x01def"));
        assert!(!is_text(b"abcd\0efgh"));
        assert!(!is_text(b"ab"));
    }
}
