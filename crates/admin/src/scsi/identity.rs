//! What a SCSI drive is: standard INQUIRY data (SPC-4, 6.6.2), vital product data (SPC-4, 7.8; page
//! B2h: SBC-4, 6.6), READ CAPACITY (16) (SBC-4, 5.21.2) and the caching mode page (SBC-4, 6.5).

use writecliff_device::Bytes;

use super::{Answer, INQUIRY_LENGTH, LENGTH, answer, number};
use crate::bytes::text;
use crate::facts::{LbaFormat, WriteCache};
use crate::port::{AdminPort, Data, ScsiCommand};

const SUPPORTED: u8 = 0x00;
const SERIAL: u8 = 0x80;
const PROVISIONING: u8 = 0xB2;
const CACHING: u8 = 0x08;

/// What every SCSI device tells.
pub(super) struct Identity {
    /// `SPC-4`: the primary commands that it claims.
    pub(super) version: String,
    /// Vendor and product.
    pub(super) model: Option<String>,
    pub(super) firmware: Option<String>,
}

impl Identity {
    pub(super) fn parse(page: &Answer) -> Self {
        let field = |at: usize, length: usize| text(page[at..at + length].iter().copied());
        let model: Vec<String> = [field(8, 8), field(16, 16)].into_iter().flatten().collect();
        Self {
            version: match page[2] {
                3 => "SPC".to_owned(),
                version @ 4..=7 => format!("SPC-{}", version - 2),
                0x0D => "SPC-6".to_owned(),
                _ => "SCSI".to_owned(),
            },
            model: (!model.is_empty()).then(|| model.join(" ")),
            firmware: field(32, 4),
        }
    }
}

/// The pages of vital product data that there are.
pub(super) fn vital_pages(port: &mut dyn AdminPort) -> Vec<u8> {
    vital_page(port, SUPPORTED).unwrap_or_default()
}

/// The unit serial number.
pub(super) fn serial(port: &mut dyn AdminPort, pages: &[u8]) -> Option<String> {
    let page = pages.contains(&SERIAL).then(|| vital_page(port, SERIAL)).flatten()?;
    text(page.into_iter())
}

/// Whether it takes UNMAP, or WRITE SAME with the unmap bit.
pub(super) fn can_discard(port: &mut dyn AdminPort, pages: &[u8]) -> bool {
    const UNMAP_OR_WRITE_SAME: u8 = 0b1100_0000;
    let page = pages.contains(&PROVISIONING).then(|| vital_page(port, PROVISIONING)).flatten();
    page.and_then(|page| page.get(1).copied()).is_some_and(|bits| bits & UNMAP_OR_WRITE_SAME != 0)
}

/// What is behind the header of a page, if that is the page asked for.
fn vital_page(port: &mut dyn AdminPort, page: u8) -> Option<Vec<u8>> {
    let command = |length| ScsiCommand::vital_page(page, length);
    let bytes = answer(port, command, INQUIRY_LENGTH).ok()?;
    let end = 4 + number(&bytes[2..4]) as usize;
    (bytes[1] == page).then(|| bytes[4..end.min(INQUIRY_LENGTH.into())].to_vec())
}

/// How many LBAs there are, and of which size.
pub(super) struct Capacity {
    lbas: u64,
    pub(super) format: Option<LbaFormat>,
}

impl Capacity {
    /// None of a drive without a medium.
    pub(super) fn ask(port: &mut dyn AdminPort) -> Self {
        let mut data = [0; 32];
        let asked = port.scsi(ScsiCommand::read_capacity(), Data::FromDrive(&mut data));
        let block = number(&data[8..12]) as u64;
        if asked.is_err() || !(512..=1 << 20).contains(&block) {
            return Self { lbas: 0, format: None };
        }
        let is_protected = data[12] & 1 == 1;
        let format = LbaFormat {
            data: Bytes(block),
            metadata: if is_protected { Bytes(8) } else { Bytes::ZERO },
            rank: None,
            in_use: true,
        };
        Self { lbas: (number(&data[..8]) as u64).saturating_add(1), format: Some(format) }
    }

    pub(super) fn total(&self) -> Bytes {
        let block = self.format.map_or(0, |format| format.data.0);
        Bytes(self.lbas.saturating_mul(block))
    }
}

/// The bit WCE of the caching mode page: whether the volatile write cache is on.
pub(super) fn write_cache(port: &mut dyn AdminPort) -> Option<WriteCache> {
    let bytes = answer(port, |length| ScsiCommand::mode(CACHING, length), LENGTH).ok()?;
    let descriptors = number(&bytes[6..8]) as usize;
    let page = bytes.get(8 + descriptors..)?;
    let is_it = page.first()? & 0x3F == CACHING;
    let flags = *page.get(2)?;
    is_it.then_some(WriteCache { enabled: Some(flags >> 2 & 1 == 1) })
}
