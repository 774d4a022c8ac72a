//! A line of text, taken apart byte by byte: nothing is copied, and no number goes through floating
//! point.

use crate::kernel::DeviceNumber;

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

    /// Goes over a whole number that is of no interest.
    #[inline]
    pub(super) fn skip_number(&mut self, expected: Expected) -> Result<(), Expected> {
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.rest = &self.rest[digits..];
        if digits > 0 { Ok(()) } else { Err(expected) }
    }

    /// A decimal number in nanoseconds, which `places` decimal places make of its unit (9 of a
    /// second); what is finer is cut off.
    #[inline]
    pub(super) fn nanos(&mut self, places: usize, expected: Expected) -> Result<u64, Expected> {
        let whole = self.number(expected)?.checked_mul(POWERS_OF_TEN[places]).ok_or(expected)?;
        if !self.take(b'.') {
            return Ok(whole);
        }
        let (mut fraction, digits) = leading_number(self.rest);
        if digits <= places {
            fraction *= POWERS_OF_TEN[places - digits];
        } else {
            fraction = leading_number(&self.rest[..places]).0;
        }
        self.rest = &self.rest[digits..];
        whole.checked_add(fraction).ok_or(expected)
    }

    /// A device's number, like `8,0`.
    #[inline]
    pub(super) fn device(&mut self) -> Result<DeviceNumber, Expected> {
        const EXPECTED: Expected = "a device as MAJOR,MINOR";
        let major = self.number(EXPECTED)?;
        self.expect(b',', EXPECTED)?;
        let minor = self.number(EXPECTED)?;
        DeviceNumber::new(major, minor).ok_or(EXPECTED)
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

/// The number that the bytes begin with, modulo 2^64, and how many digits it has. Eight digits at a
/// time are no faster: what takes time is where a number ends.
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
        for digits in 1..=19 {
            let text = &"1234567890123456789"[..digits];
            for behind in ["", ",", "/9", ":9999999", " 12345678", "\u{ff}9999999", "a1"] {
                assert_eq!(number(&format!("{text}{behind}")).ok(), text.parse().ok());
            }
        }
        for text in ["", "-1", "x", "18446744073709551616", "99999999999999999999999"] {
            assert_eq!(number(text), Err("a number"), "{text}");
        }
    }

    #[test]
    fn a_device_is_read_as_it_is_written() {
        for text in ["8,0", "259,1", "4095,1048575"] {
            assert_eq!(Fields::new(text.as_bytes()).device().unwrap().to_string(), text);
        }
        for text in ["", "8", "8,", "4096,0", "0,1048576", "sda"] {
            assert_eq!(Fields::new(text.as_bytes()).device(), Err("a device as MAJOR,MINOR"));
        }
    }

    #[test]
    fn decimal_times_are_exact_to_the_nanosecond() {
        let nanos = |text: &str, places| Fields::new(text.as_bytes()).nanos(places, "a time");
        assert_eq!(nanos("1.000000001", 9), Ok(1_000_000_001));
        assert_eq!(nanos("0.1", 9), Ok(100_000_000));
        assert_eq!(nanos("1456329600.12345678987", 9), Ok(1_456_329_600_123_456_789));
        assert_eq!(nanos("12.5", 3), Ok(12_500));
        assert_eq!(nanos("12.0019", 3), Ok(12_001));
        assert_eq!(nanos("3.", 0), Ok(3));
        assert_eq!(nanos("3.99", 0), Ok(3));
        assert_eq!(nanos("0.1234567891234567891234567891234", 9), Ok(123_456_789));
        for text in [".5", "-0.1", "18446744074", "18446744073.999999999"] {
            assert_eq!(nanos(text, 9), Err("a time"), "{text}");
        }
    }
}
