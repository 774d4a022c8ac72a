//! Pages of a column, checked before the library decodes them: it takes encodings and lengths for
//! granted and panics over some that cannot be. Every number that says how long something is, is
//! followed here once; what the values are does not matter.

use parquet::basic::{Encoding, Type as PhysicalType};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};

/// Hands out the pages of a column one by one, each checked.
pub(crate) struct CheckedPages {
    pages: Box<dyn PageReader>,
    physical: PhysicalType,
    is_optional: bool,
    has_dictionary: bool,
}

impl CheckedPages {
    /// The pages of a column of such values, which may be missing if it `is_optional`.
    pub(crate) fn new(
        pages: Box<dyn PageReader>,
        physical: PhysicalType,
        is_optional: bool,
    ) -> Self {
        Self { pages, physical, is_optional, has_dictionary: false }
    }

    fn check(&mut self, page: &Page) -> Result<()> {
        let is_sound = match page {
            Page::DictionaryPage { buf, num_values, encoding, .. } => {
                self.has_dictionary = true;
                let is_plain = matches!(encoding, Encoding::PLAIN | Encoding::PLAIN_DICTIONARY);
                is_plain && are_plain(buf, *num_values, self.physical).is_some()
            }
            Page::DataPage { buf, encoding, def_level_encoding, num_values, .. } => {
                let parts =
                    if self.is_optional { behind_length(buf) } else { Some((&[][..], &buf[..])) };
                (*def_level_encoding == Encoding::RLE || !self.is_optional)
                    && parts.is_some_and(|(levels, values)| {
                        self.can_decode(levels, values, *encoding, *num_values)
                    })
            }
            Page::DataPageV2 {
                buf,
                encoding,
                num_values,
                def_levels_byte_len,
                rep_levels_byte_len,
                ..
            } => {
                let parts = buf.split_at_checked(*def_levels_byte_len as usize);
                *rep_levels_byte_len == 0
                    && parts.is_some_and(|(levels, values)| {
                        self.can_decode(levels, values, *encoding, *num_values)
                    })
            }
        };
        if is_sound {
            return Ok(());
        }
        let encoding = page.encoding();
        Err(ParquetError::General(format!("a page, with encoding {encoding}, cannot be")))
    }

    /// Whether levels and values are of an encoding that suits them, and as long as they say.
    fn can_decode(&self, levels: &[u8], values: &[u8], encoding: Encoding, count: u32) -> bool {
        let known = if self.is_optional { ones(levels, count) } else { Some(count) };
        let Some(known) = known else { return false };
        match encoding {
            Encoding::PLAIN => are_plain(values, known, self.physical).is_some(),
            Encoding::DELTA_BINARY_PACKED => {
                matches!(self.physical, PhysicalType::INT32 | PhysicalType::INT64)
                    && are_deltas(values, known).is_some()
            }
            // Codes of a dictionary mean nothing without it.
            Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY => {
                self.has_dictionary && are_codes(values, known).is_some()
            }
            _ => false,
        }
    }
}

/// The first part, whose length is told in four bytes ahead of it, and the rest.
fn behind_length(page: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = page.split_first_chunk()?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
}

/// Whether so many values are there one after the other, texts each behind its length.
fn are_plain(mut values: &[u8], count: u32, physical: PhysicalType) -> Option<()> {
    let width = match physical {
        PhysicalType::INT32 | PhysicalType::FLOAT => 4,
        PhysicalType::INT64 | PhysicalType::DOUBLE => 8,
        PhysicalType::BYTE_ARRAY => {
            for _ in 0..count {
                (_, values) = behind_length(values)?;
            }
            return Some(());
        }
        _ => return None,
    };
    (values.len() as u64 >= u64::from(count) * width).then_some(())
}

/// A run of values: one that repeats, or eight by eight with a fixed number of bits each.
enum Run<'a> {
    Same { value: &'a [u8], count: u64 },
    Packed { bytes: &'a [u8], count: u64 },
}

/// Takes a run of values of so many bits; the last of a page may be cut short.
fn next_run<'a>(rest: &mut &'a [u8], bits: usize) -> Option<Run<'a>> {
    let header = next_number(rest)?;
    let count = header >> 1;
    let (length, is_packed) = match header & 1 {
        1 => (usize::try_from(count).ok()?.checked_mul(bits)?.min(rest.len()), true),
        _ => (bits.div_ceil(8), false),
    };
    let (taken, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    Some(match is_packed {
        true => Run::Packed { bytes: taken, count: count.saturating_mul(8) },
        false => Run::Same { value: taken, count },
    })
}

/// How many of the first `count` levels, of a bit each, say that there is a value.
fn ones(mut levels: &[u8], count: u32) -> Option<u32> {
    let (mut left, mut ones) = (u64::from(count), 0);
    while left > 0 {
        match next_run(&mut levels, 1)? {
            Run::Same { count: 0, .. } | Run::Packed { bytes: [], .. } => return None,
            Run::Same { value, count } => {
                let count = count.min(left);
                ones += if value == [1] { count } else { 0 };
                left -= count;
            }
            Run::Packed { bytes, .. } => {
                for byte in bytes {
                    let count = left.min(8);
                    ones += u64::from((u16::from(*byte) & ((1 << count) - 1)).count_ones());
                    left -= count;
                }
            }
        }
    }
    u32::try_from(ones).ok()
}

/// Whether so many codes of a dictionary, behind their number of bits, are there.
fn are_codes(codes: &[u8], count: u32) -> Option<()> {
    let mut left = u64::from(count);
    let (&bits, mut rest) = if left == 0 { return Some(()) } else { codes.split_first()? };
    while left > 0 {
        match next_run(&mut rest, usize::from(bits))? {
            Run::Same { count: 0, .. } | Run::Packed { count: 0, .. } => return None,
            Run::Same { count, .. } | Run::Packed { count, .. } => {
                left = left.saturating_sub(count);
            }
        }
    }
    Some(())
}

/// More values to a block than any writer puts there.
const BLOCK_MAX: u64 = 1 << 20;

/// Whether so many differences, in blocks of small blocks with a number of bits each, are there.
fn are_deltas(mut rest: &[u8], count: u32) -> Option<()> {
    let (block, small_blocks) = (next_number(&mut rest)?, next_number(&mut rest)?);
    let (told, _first) = (next_number(&mut rest)?, next_number(&mut rest)?);
    if !(1..=BLOCK_MAX).contains(&block) || !(1..=block).contains(&small_blocks) {
        return None;
    }
    if told != u64::from(count) {
        return None;
    }
    let values = block / small_blocks;
    let mut left = told.saturating_sub(1);
    while left > 0 {
        next_number(&mut rest)?;
        let (widths, behind) = rest.split_at_checked(small_blocks as usize)?;
        rest = behind;
        for bits in widths {
            if left > 0 {
                let length = usize::from(*bits) * values as usize / 8;
                rest = &rest[length.min(rest.len())..];
            }
            left = left.saturating_sub(values);
        }
    }
    Some(())
}

/// Takes a number of seven bits a byte; the library panics over more than ten bytes.
fn next_number(rest: &mut &[u8]) -> Option<u64> {
    let length = rest.iter().take(10).position(|byte| byte & 0x80 == 0)? + 1;
    let (bytes, behind) = rest.split_at(length);
    *rest = behind;
    let digits = bytes.iter().rev().map(|byte| u64::from(byte & 0x7f));
    Some(digits.fold(0, |number, digit| number << 7 | digit))
}

impl Iterator for CheckedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for CheckedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        if let Some(page) = &page {
            self.check(page)?;
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_counted_in_runs_of_both_kinds() {
        // Three times 1, twice 0, then eight levels in a byte of which six count.
        let levels = [3 << 1, 1, 2 << 1, 0, 1 << 1 | 1, 0b1110_0101];
        assert_eq!(ones(&levels, 11), Some(3 + 3));
        assert_eq!(ones(&levels, 13), Some(3 + 5));
        assert_eq!(ones(&levels, 14), None, "there are no more");
        assert_eq!(ones(&levels[..3], 5), None);
        assert_eq!(ones(&[0xff; 20], 1), None, "a number without end");
        assert_eq!(ones(&[0, 1, 0, 1], 1), None, "runs of nothing");
    }

    #[test]
    fn texts_are_followed_by_their_lengths() {
        let texts = [2, 0, 0, 0, b'a', b'b', 0, 0, 0, 0, 1, 0, 0, 0, b'c'];
        let are_texts = |bytes, count| are_plain(bytes, count, PhysicalType::BYTE_ARRAY);
        assert_eq!(are_texts(&texts, 3), Some(()));
        assert_eq!(are_texts(&texts, 4), None);
        assert_eq!(are_texts(&texts[..14], 3), None, "the last is cut short");
        assert_eq!(are_plain(&texts, 2, PhysicalType::INT64), None);
        assert_eq!(are_plain(&texts, u32::MAX, PhysicalType::INT32), None);
    }

    #[test]
    fn blocks_of_differences_are_followed() {
        // 128 to a block in 4 small ones, 34 values, the first is 7; then the least difference, and
        // the bits of each small block: 32 differences of 2 bits and one of 8.
        let mut page = vec![0x80, 1, 4, 34, 14, 0, 2, 8, 200, 200];
        page.extend([0; 8 + 32]);
        assert_eq!(are_deltas(&page, 34), Some(()));
        assert_eq!(are_deltas(&page, 33), None, "the levels say otherwise");
        page[5..16].fill(0xff);
        assert_eq!(are_deltas(&page, 34), None, "a number without end");
        assert_eq!(are_deltas(&[0, 4, 1, 0], 1), None, "no values to a block");
    }
}
