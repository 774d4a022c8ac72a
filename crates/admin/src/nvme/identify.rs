//! Identify Controller and Identify Namespace: Base Specification 2.1, figure 313; NVM Command Set
//! Specification 1.1, figure 114. Offsets are bytes.

use std::time::Duration;

use writecliff_device::Bytes;

use crate::bytes::Fields;
use crate::facts::{LbaFormat, PowerState};

/// Zero degrees Celsius in kelvins, as drives round it.
pub(super) const ZERO_C: i32 = 273;

/// What is of use of a controller.
#[derive(Debug, Clone)]
pub(super) struct Controller {
    pub(super) serial: Option<String>,
    pub(super) model: Option<String>,
    pub(super) firmware: Option<String>,
    version: u32,
    /// Security Send and Receive.
    pub(super) has_security: bool,
    pub(super) can_format: bool,
    /// Where it begins to slow down, where it stops.
    pub(super) warning_c: Option<i32>,
    pub(super) critical_c: Option<i32>,
    /// SANICAP.
    sanitize: u32,
    pub(super) can_deallocate: bool,
    /// FNA: a format is of all namespaces, an erasure is, a new key is possible.
    pub(super) format_is_of_all: bool,
    pub(super) erasure_is_of_all: bool,
    pub(super) has_crypto_erase: bool,
    pub(super) write_cache: bool,
    pub(super) power_states: Vec<PowerState>,
    /// APSTA.
    pub(super) can_change_power_state: bool,
    /// ELPE: how many errors it remembers.
    pub(super) error_places: usize,
    /// HMPRE and HMMIN: memory of the host that it would like, and can use at least.
    pub(super) host_memory: Option<(Bytes, Bytes)>,
}

impl Controller {
    pub(super) fn parse(page: Fields<'_>) -> Self {
        let pages = |count: u32| Bytes(u64::from(count) * 4096);
        let celsius = |kelvins: u16| (kelvins > 0).then(|| i32::from(kelvins) - ZERO_C);
        let last_state = page.byte(263).min(31);
        Self {
            serial: page.text(4, 20),
            model: page.text(24, 40),
            firmware: page.text(64, 8),
            version: page.u32(80),
            has_security: page.bit(256, 0),
            can_format: page.bit(256, 1),
            warning_c: celsius(page.u16(266)),
            critical_c: celsius(page.u16(268)),
            sanitize: page.u32(328),
            can_deallocate: page.bit(520, 2),
            format_is_of_all: page.bit(524, 0),
            erasure_is_of_all: page.bit(524, 1),
            has_crypto_erase: page.bit(524, 2),
            write_cache: page.bit(525, 0),
            power_states: (0..=last_state).map(|number| power_state(page, number)).collect(),
            can_change_power_state: page.bit(265, 0),
            error_places: usize::from(page.byte(262)) + 1,
            host_memory: (page.u32(272) > 0).then(|| (pages(page.u32(272)), pages(page.u32(276)))),
        }
    }

    /// `NVMe 1.4`; drives before 1.2 say nothing of their version.
    pub(super) fn version(&self) -> String {
        let [_, minor, major_low, major_high] = self.version.to_le_bytes();
        match u16::from_le_bytes([major_low, major_high]) {
            0 => "NVMe".to_owned(),
            major => format!("NVMe {major}.{minor}"),
        }
    }

    pub(super) fn can_sanitize_crypto(&self) -> bool {
        self.sanitize & 1 != 0
    }

    pub(super) fn can_sanitize_block(&self) -> bool {
        self.sanitize & 2 != 0
    }

    pub(super) fn can_sanitize_overwrite(&self) -> bool {
        self.sanitize & 4 != 0
    }

    pub(super) fn can_sanitize(&self) -> bool {
        self.sanitize & 7 != 0
    }
}

/// A power state descriptor of 32 bytes: figure 314.
fn power_state(page: Fields<'_>, number: u8) -> PowerState {
    let at = 2048 + 32 * usize::from(number);
    let power = f64::from(page.u16(at));
    let step = if page.bit(at + 3, 0) { 0.0001 } else { 0.01 };
    let time = |micros: u32| (micros > 0).then(|| Duration::from_micros(micros.into()));
    PowerState {
        number,
        max_w: (power > 0.0).then_some(power * step),
        works: !page.bit(at + 3, 1),
        entry: time(page.u32(at + 4)),
        exit: time(page.u32(at + 8)),
    }
}

/// What is of use of a namespace.
#[derive(Debug, Clone)]
pub(super) struct Namespace {
    lbas: u64,
    pub(super) formats: Vec<LbaFormat>,
}

impl Namespace {
    pub(super) fn parse(page: Fields<'_>) -> Self {
        // Bits 4 and 5 of the format's number are apart, where there are more than 16 of them.
        let in_use = (page.byte(26) & 0x0F) | (page.byte(26) >> 1 & 0x30);
        let last = page.byte(25).min(63);
        let format = |number: u8| {
            let entry = page.u32(128 + 4 * usize::from(number));
            let data_shift = entry >> 16 & 0xFF;
            // A format of less than 512 bytes is one that is not available.
            (9..=20).contains(&data_shift).then(|| LbaFormat {
                data: Bytes(1 << data_shift),
                metadata: Bytes(u64::from(entry & 0xFFFF)),
                rank: Some((entry >> 24 & 3) as u8),
                in_use: number == in_use,
            })
        };
        Self { lbas: page.u64(0), formats: (0..=last).filter_map(format).collect() }
    }

    /// What the host can address; zero if the format in use makes no sense.
    pub(super) fn capacity(&self) -> Bytes {
        let lba =
            self.formats.iter().find(|format| format.in_use).map_or(0, |format| format.data.0);
        Bytes(self.lbas.saturating_mul(lba))
    }
}
