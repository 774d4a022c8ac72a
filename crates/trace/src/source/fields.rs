//! A line of text, taken apart byte by byte: nothing is copied, and no number goes through floating
//! point.

/// What a broken line should have had, for a person.
pub(super) type Expected = &'static str;

/// What is left of a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn new(line: &'a [u8]) -> Self {
        Self { rest: line }
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    #[inline]
    pub(super) fn skip_blanks(&mut self) {
        while let [b' ' | b'\t', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }

    /// Takes `byte`, if it is next.
    #[inline]
    pub(super) fn take(&mut self, byte: u8) -> bool {
        match self.rest {
            [first, rest @ ..] if *first == byte => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    #[inline]
    pub(super) fn expect(&mut self, byte: u8, expected: Expected) -> Result<(), Expected> {
        if self.take(byte) { Ok(()) } else { Err(expected) }
    }

    /// A whole number.
    #[inline]
    pub(super) fn number(&mut self, expected: Expected) -> Result<u64, Expected> {
        let (value, digits) = leading_number(self.rest);
        // Nineteen digits always fit.
        let value = match digits {
            0 => return Err(expected),
            1..=19 => value,
            _ => long_number(&self.rest[..digits]).ok_or(expected)?,
        };
        self.rest = &self.rest[digits..];
        Ok(value)
    }

    /// A decimal number of units of `unit` nanoseconds, in nanoseconds; what is finer is cut off.
    #[inline]
    pub(super) fn nanos(&mut self, unit: u64, expected: Expected) -> Result<u64, Expected> {
        let whole = self.number(expected)?.checked_mul(unit).ok_or(expected)?;
        if !self.take(b'.') {
            return Ok(whole);
        }
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (fraction, used) = leading_number(&self.rest[..digits.min(9)]);
        self.rest = &self.rest[digits..];
        whole.checked_add(fraction * unit / POWERS_OF_TEN[used]).ok_or(expected)
    }

    /// Everything up to the next blank, which stays.
    #[inline]
    pub(super) fn word(&mut self) -> &'a [u8] {
        let length = self.rest.iter().position(|byte| matches!(byte, b' ' | b'\t'));
        let (word, rest) = self.rest.split_at(length.unwrap_or(self.rest.len()));
        self.rest = rest;
        word
    }

    /// Everything up to the next comma, which goes too.
    #[inline]
    pub(super) fn cell(&mut self) -> &'a [u8] {
        match self.rest.iter().position(|byte| *byte == b',') {
            Some(length) => {
                let cell = &self.rest[..length];
                self.rest = &self.rest[length + 1..];
                cell
            }
            None => std::mem::take(&mut self.rest),
        }
    }

    /// That nothing is left but blanks.
    #[inline]
    pub(super) fn end(mut self, expected: Expected) -> Result<(), Expected> {
        self.skip_blanks();
        if self.rest.is_empty() { Ok(()) } else { Err(expected) }
    }
}

const POWERS_OF_TEN: [u64; 10] =
    [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

/// The number that the bytes begin with, modulo 2^64, and how many digits it has.
#[inline]
fn leading_number(bytes: &[u8]) -> (u64, usize) {
    let (mut value, mut digits) = (0u64, 0);
    for byte in bytes {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        digits += 1;
    }
    (value, digits)
}

#[cold]
fn long_number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_or_refused() {
        let number = |text: &str| Fields::new(text.as_bytes()).number("a number");
        assert_eq!(number("0"), Ok(0));
        assert_eq!(number("18446744073709551615 + 0"), Ok(u64::MAX));
        assert_eq!(number("00000000000000000000000000007"), Ok(7));
        for text in ["", "-1", "x", "18446744073709551616", "99999999999999999999999"] {
            assert_eq!(number(text), Err("a number"), "{text}");
        }
    }

    #[test]
    fn decimal_times_are_exact_to_the_nanosecond() {
        let nanos = |text: &str, unit| Fields::new(text.as_bytes()).nanos(unit, "a time");
        assert_eq!(nanos("1.000000001", 1_000_000_000), Ok(1_000_000_001));
        assert_eq!(nanos("0.1", 1_000_000_000), Ok(100_000_000));
        assert_eq!(nanos("1456329600.12345678987", 1_000_000_000), Ok(1_456_329_600_123_456_789));
        assert_eq!(nanos("12.5", 1_000), Ok(12_500));
        assert_eq!(nanos("12.0019", 1_000), Ok(12_001));
        assert_eq!(nanos("3.", 1), Ok(3));
        for text in [".5", "-0.1", "18446744074", "18446744073.999999999"] {
            assert_eq!(nanos(text, 1_000_000_000), Err("a time"), "{text}");
        }
    }
}
