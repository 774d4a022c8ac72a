//! Pages made by hand, a word a line.

use super::*;

/// What Linux 6 tells in `events/header_page` on a 64-bit machine.
const HEADER_PAGE: &str = "\
\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;
";

/// A 32-bit machine's: the length takes four bytes less.
const HEADER_PAGE_32: &str = "\
\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;
\tfield: char data;\toffset:12;\tsize:4084;\tsigned:0;
";

/// When the pages here begin: all of its top bits, and few of the others.
const BEGAN: u64 = 0x0500_0000_0000_1000;

/// The first word of an event, on a machine with the small end first.
const fn word(kind: u32, time: u32) -> u32 {
    kind | time << 5
}

/// A page of these words, with flags beside its length.
fn page_of(words: &[u32], flags: u64) -> Vec<u8> {
    let mut page = BEGAN.to_ne_bytes().to_vec();
    page.extend(((words.len() as u64 * 4) | flags).to_ne_bytes());
    page.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
    page.resize(4096, 0xee);
    page
}

/// Times since the page's beginning, and the first word of the data.
fn records(bytes: &[u8]) -> Result<Vec<(u64, u32)>, Damaged> {
    let layout = PageLayout::parse(HEADER_PAGE).unwrap();
    let first = |data: &[u8]| u32::from_ne_bytes(*data.first_chunk().unwrap_or(&[0; 4]));
    let records = layout.page(bytes)?.map(|record| {
        let record = record?;
        Ok((record.time - BEGAN, first(record.data)))
    });
    records.collect()
}

#[test]
fn times_add_up_from_the_page_s_beginning() {
    let page = page_of(
        &[
            word(1, 0), // at the beginning: one word of data
            11,
            word(2, 100), // 100 ns later: two words
            22,
            0,
            word(0, 7), // 7 ns later, length in the next word: itself and two words, less 2 bytes
            10,
            33,
            0,
        ],
        0,
    );
    assert_eq!(records(&page), Ok(vec![(0, 11), (100, 22), (107, 33)]));
}

#[test]
fn a_long_pause_takes_a_word_more() {
    let page = page_of(
        &[
            word(30, 5), // 5 ns and 3 * 2^27 ns later: no data of its own
            3,
            word(1, 1), // and 1 ns
            44,
        ],
        0,
    );
    assert_eq!(records(&page), Ok(vec![((3 << 27) + 6, 44)]));
}

#[test]
fn an_absolute_time_has_its_top_bits_from_before() {
    // The low 59 bits of BEGAN + 2^30, of which the lowest 27 in the first word.
    let time = (BEGAN + (1 << 30)) & !ABSOLUTE_TIME_TOP;
    let absolute = [word(31, (time & 0x7ff_ffff) as u32), (time >> 27) as u32];
    let page = page_of(&[absolute[0], absolute[1], word(1, 9), 55], 0);
    assert_eq!(records(&page), Ok(vec![((1 << 30) + 9, 55)]));

    // Its low bits are less than BEGAN's: the top bits have gone on by one.
    assert_eq!(with_top_bits(0, BEGAN), 0x0800_0000_0000_0000);
}

#[test]
fn holes_are_passed_over_and_a_hole_without_time_is_the_end() {
    let page = page_of(
        &[
            word(29, 50), // a hole of two words, its length's included
            8,
            0xdead,
            word(1, 50),
            66,
            word(29, 0), // the end: what follows means nothing
            0xffff_ffff,
            word(1, 1),
        ],
        0,
    );
    assert_eq!(records(&page), Ok(vec![(100, 66)]));
}

#[test]
fn a_gap_is_told_whether_or_not_its_events_were_counted() {
    let layout = PageLayout::parse(HEADER_PAGE).unwrap();
    for (flags, expected) in [(0, false), (1 << 31, true), (3 << 30, true)] {
        let bytes = page_of(&[word(1, 1), 77], flags);
        let page = layout.page(&bytes).unwrap();
        assert_eq!((page.began, page.is_behind_gap), (BEGAN, expected));
        assert_eq!(records(&bytes), Ok(vec![(1, 77)]));
    }
}

#[test]
fn the_header_s_layout_is_the_machine_s() {
    let layout = PageLayout::parse(HEADER_PAGE_32).unwrap();
    assert_eq!(layout.size(), 4096);
    let mut bytes = BEGAN.to_ne_bytes().to_vec();
    bytes.extend(8_u32.to_ne_bytes());
    bytes.extend([word(1, 3), 88].iter().flat_map(|word| word.to_ne_bytes()));
    let found: Vec<_> = layout.page(&bytes).unwrap().collect();
    assert_eq!(found, [Ok(Record { time: BEGAN + 3, data: &88_u32.to_ne_bytes() })]);
    assert_eq!(PageLayout::parse("field: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;"), None);
}

#[test]
fn an_event_that_does_not_fit_is_told_once() {
    for cut_short in [&[word(2, 0), 1][..], &[word(30, 1)], &[word(0, 1), 3], &[word(29, 1), 400]] {
        let bytes = page_of(cut_short, 0);
        let layout = PageLayout::parse(HEADER_PAGE).unwrap();
        let found: Vec<_> = layout.page(&bytes).unwrap().collect();
        assert_eq!(found, [Err(Damaged)], "{cut_short:?}");
    }
    let too_long = page_of(&[], 4081);
    assert_eq!(records(&too_long), Err(Damaged));
    assert_eq!(records(&too_long[..15]), Err(Damaged));
}

#[test]
fn no_bytes_at_all_break_it() {
    let good =
        page_of(&[word(0, 7), 10, 33, 0, word(30, 5), 3, word(29, 5), 8, 0, word(1, 1), 9], 0);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut damaged = 0;
    for _ in 0..20_000 {
        let mut bytes = good.clone();
        for _ in 0..=random() % 4 {
            bytes[(random() % 64) as usize] = random() as u8;
        }
        bytes.truncate((random() % 4097) as usize);
        let layout = PageLayout::parse(HEADER_PAGE).unwrap();
        let read = layout.page(&bytes).map(|page| page.filter(Result::is_err).count());
        damaged += read.unwrap_or(1);
    }
    assert!((1000..20_000).contains(&damaged), "{damaged}");
}
