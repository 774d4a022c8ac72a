//! IDENTIFY DEVICE data: ACS-4, table 48. Offsets are words of 16 bits.

use std::time::Duration;

use writecliff_device::{Bytes, Link};

use crate::bytes::{Fields, text};
use crate::facts::{LbaFormat, Security, WriteCache};

/// What is of use of an ATA drive.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub(crate) serial: Option<String>,
    pub(super) model: Option<String>,
    pub(super) firmware: Option<String>,
    /// The highest ACS or ATA version that it says it knows, a bit each.
    versions: u16,
    lbas: u64,
    pub(super) lba_size: u64,
    pub(super) link: Option<Link>,
    pub(super) write_cache: Option<WriteCache>,
    pub(super) has_smart: bool,
    /// General purpose logging.
    pub(super) has_logs: bool,
    pub(super) has_trim: bool,
    /// Trusted computing commands.
    pub(super) has_trusted: bool,
    pub(crate) security: Option<Security>,
    pub(crate) can_erase_enhanced: bool,
    pub(crate) erase_time: Option<Duration>,
    pub(crate) enhanced_erase_time: Option<Duration>,
    /// Word 59.
    sanitize: u16,
}

impl Identity {
    pub(super) fn parse(page: Fields<'_>) -> Self {
        let word = |at: usize| page.u16(2 * at);
        let bit = |at: usize, bit: u32| word(at) >> bit & 1 == 1;
        // Text has the first letter of each pair in the upper byte.
        let name =
            |at: usize, words: usize| text((at..at + words).flat_map(|at| word(at).to_be_bytes()));
        // Words that are not there are all zeros or all ones; some say so in their upper bits.
        let is_valid = |at: usize| word(at) >> 14 == 0b01;
        let lbas_28 = u64::from(page.u32(2 * 60));
        let lbas_48 = page.u64(2 * 100) & 0xFFFF_FFFF_FFFF;
        let has_48 = is_valid(83) && bit(83, 10);
        let lba_words = page.u32(2 * 117);
        let is_long = is_valid(106) && bit(106, 12) && lba_words > 0;
        Self {
            serial: name(10, 10),
            firmware: name(23, 4),
            model: name(27, 20),
            versions: if word(80) == u16::MAX { 0 } else { word(80) },
            lbas: if has_48 && lbas_48 > 0 { lbas_48 } else { lbas_28 },
            lba_size: if is_long { u64::from(lba_words) * 2 } else { 512 },
            link: link(word(76), word(77)),
            write_cache: bit(82, 5).then(|| WriteCache { enabled: Some(bit(85, 5)) }),
            has_smart: bit(82, 0) && bit(85, 0),
            has_logs: is_valid(84) && bit(84, 5),
            has_trim: bit(169, 0),
            has_trusted: is_valid(48) && bit(48, 0),
            security: bit(128, 0).then(|| Security {
                enabled: bit(128, 1),
                locked: bit(128, 2),
                frozen: bit(128, 3),
                count_expired: bit(128, 4),
            }),
            can_erase_enhanced: bit(128, 5),
            erase_time: erase_time(word(89)),
            enhanced_erase_time: erase_time(word(90)),
            sanitize: word(59),
        }
    }

    /// `ACS-4`: by the highest bit of word 80.
    pub(super) fn version(&self) -> String {
        match self.versions.checked_ilog2() {
            Some(bit @ 1..=7) => format!("ATA-{bit}"),
            Some(8) => "ATA8-ACS".to_owned(),
            Some(bit @ 9..=12) => format!("ACS-{}", bit - 7),
            _ => "ATA".to_owned(),
        }
    }

    pub(super) fn capacity(&self) -> Bytes {
        Bytes(self.lbas.saturating_mul(self.lba_size))
    }

    pub(super) fn format(&self) -> LbaFormat {
        let data = Bytes(self.lba_size);
        LbaFormat { data, metadata: Bytes::ZERO, rank: None, in_use: true }
    }

    pub(crate) fn can_sanitize(&self) -> bool {
        self.sanitize >> 12 & 1 == 1
    }

    pub(super) fn can_sanitize_crypto(&self) -> bool {
        self.can_sanitize() && self.sanitize >> 13 & 1 == 1
    }

    pub(super) fn can_sanitize_overwrite(&self) -> bool {
        self.can_sanitize() && self.sanitize >> 14 & 1 == 1
    }

    pub(super) fn can_sanitize_block(&self) -> bool {
        self.can_sanitize() && self.sanitize >> 15 & 1 == 1
    }
}

/// Words 76 and 77: what the drive can, a bit for each generation, and what was agreed on.
fn link(abilities: u16, current: u16) -> Option<Link> {
    let gbps = |generation: u32| [1.5, 3.0, 6.0].get(generation.checked_sub(1)? as usize).copied();
    let is_there = abilities != 0 && abilities != u16::MAX;
    let best = (1..=3).rev().find(|generation| is_there && abilities >> generation & 1 == 1)?;
    let now = if current == u16::MAX { None } else { gbps(u32::from(current >> 1 & 7)) };
    Some(Link { now_gbps: now, best_gbps: gbps(best)?, lanes_now: None, lanes_best: None })
}

/// Words 89 and 90: units of two minutes in eight bits, or in fifteen with bit 15 set; the largest
/// value means more than that.
fn erase_time(word: u16) -> Option<Duration> {
    let units = match word >> 15 {
        1 => word & 0x7FFF,
        _ => word & 0xFF,
    };
    (units > 0).then(|| Duration::from_secs(120 * u64::from(units)))
}
