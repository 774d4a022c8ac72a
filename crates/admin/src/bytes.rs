//! Fields of what drives answer: little-endian numbers, and text padded with spaces.

/// A structure that a drive gave, whose fields are found by their offset. All offsets asked for lie
/// within: structures have a fixed length.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl Fields<'_> {
    pub(crate) fn byte(self, at: usize) -> u8 {
        self.0[at]
    }

    pub(crate) fn u16(self, at: usize) -> u16 {
        self.number(at, 2) as u16
    }

    pub(crate) fn u32(self, at: usize) -> u32 {
        self.number(at, 4) as u32
    }

    pub(crate) fn u64(self, at: usize) -> u64 {
        self.number(at, 8) as u64
    }

    pub(crate) fn u128(self, at: usize) -> u128 {
        self.number(at, 16)
    }

    /// Of `length` bytes, sixteen at most.
    pub(crate) fn number(self, at: usize, length: usize) -> u128 {
        let bytes = &self.0[at..at + length];
        bytes.iter().rev().fold(0, |number, byte| number << 8 | u128::from(*byte))
    }

    pub(crate) fn bit(self, at: usize, bit: u32) -> bool {
        self.byte(at) >> bit & 1 == 1
    }

    /// Text without the spaces and zeros around it; what is no ASCII letter or sign is left out.
    pub(crate) fn text(self, at: usize, length: usize) -> Option<String> {
        text(self.0[at..at + length].iter().copied())
    }
}

pub(crate) fn text(bytes: impl Iterator<Item = u8>) -> Option<String> {
    let text: String = bytes.filter(|byte| (0x20..0x7F).contains(byte)).map(char::from).collect();
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
