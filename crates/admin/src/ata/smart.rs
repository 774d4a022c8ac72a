//! SMART attributes. The standard gives them numbers and leaves their meaning to makers: what is read
//! here are those that all drives have in common, and those of a few makers that are known. The
//! meanings of makers' attributes are those of smartmontools' drive database
//! (<https://github.com/smartmontools/smartmontools/blob/main/smartmontools/drivedb.h>).

use crate::bytes::Fields;
use crate::facts::Health;
use crate::port::{AdminPort, AtaCommand, Data};

const READ_DATA: u8 = 0xD0;
const POWER_ON_HOURS: u8 = 9;
const POWER_CYCLES: u8 = 12;
const REPORTED_UNCORRECTABLE: u8 = 187;
const TEMPERATURE: u8 = 194;
/// Of drives that have no other, Samsung's among them.
const AIRFLOW_TEMPERATURE: u8 = 190;

const SECTOR: u128 = 512;
const MIB: u128 = 1 << 20;
const GIB: u128 = 1 << 30;

/// What a family of drives says with attributes of its own.
struct Family {
    /// How model names of it begin.
    models: &'static [&'static str],
    /// Written by the host: attributes of which the first that is there counts.
    host_written: &'static [Counter],
    /// Read by the host.
    host_read: &'static [Counter],
    /// Written into NAND.
    nand_written: NandWritten,
    /// An attribute whose value counts down from 100 with the endurance left.
    life_left: Option<u8>,
    /// Power that went without a word: the first that is there counts.
    unsafe_shutdowns: &'static [u8],
    /// Damaged transfers over the link.
    link_errors: Option<u8>,
}

/// An attribute, and the bytes of its unit.
type Counter = (u8, u128);

impl Family {
    /// The coarsest unit of what is counted as written.
    fn written_unit(&self) -> u64 {
        let nand = match self.nand_written {
            NandWritten::Counted(counters) => counters,
            NandWritten::Unknown | NandWritten::Pages { .. } => &[],
        };
        let units = self.host_written.iter().chain(nand).map(|(_, unit)| *unit);
        units.max().unwrap_or(0) as u64
    }
}

/// How a drive tells what it programmed.
enum NandWritten {
    Unknown,
    /// The sum of those that are there.
    Counted(&'static [Counter]),
    /// Pages programmed for the host, and for the drive itself: their ratio is what is known.
    Pages {
        host: u8,
        own: u8,
    },
}

/// A model belongs to the first family that it begins as.
const FAMILIES: [Family; 7] = [
    Family {
        models: &["Crucial_CT", "CT", "Micron", "MICRON", "MTFDDA"],
        host_written: &[(246, SECTOR)],
        host_read: &[],
        nand_written: NandWritten::Pages { host: 247, own: 248 },
        life_left: Some(202),
        unsafe_shutdowns: &[174],
        link_errors: Some(199),
    },
    Family {
        models: &["INTEL SSDSC", "INTEL SSDSA"],
        host_written: &[(225, 32 * MIB), (241, 32 * MIB)],
        host_read: &[(242, 32 * MIB)],
        nand_written: NandWritten::Counted(&[(243, 32 * MIB), (249, GIB)]),
        life_left: Some(233),
        unsafe_shutdowns: &[174, 192],
        link_errors: Some(199),
    },
    Family {
        models: &["Samsung SSD", "SAMSUNG MZ", "MZ7"],
        host_written: &[(241, SECTOR)],
        host_read: &[(242, SECTOR)],
        nand_written: NandWritten::Counted(&[(249, GIB), (251, SECTOR)]),
        life_left: Some(177),
        unsafe_shutdowns: &[235],
        link_errors: Some(199),
    },
    // With Western Digital's and SanDisk's firmware. What is programmed in SLC mode is counted apart.
    Family {
        models: &["WDC WDS", "WDC  WDS", "WDC WDBNCE"],
        host_written: &[(241, GIB)],
        host_read: &[(242, GIB)],
        nand_written: NandWritten::Counted(&[(233, GIB), (234, GIB)]),
        life_left: None,
        unsafe_shutdowns: &[174],
        link_errors: Some(199),
    },
    // What their attribute 234 counts differs from drive to drive, so that 233 is not all of it.
    Family {
        models: &[
            "SanDisk SSD PLUS",
            "SanDisk Ultra II",
            "SanDisk SDSSDA-",
            "SanDisk SDSSDH",
            "SanDisk SDSSDXP",
            "SanDisk SD8S",
            "SanDisk SD9S",
        ],
        host_written: &[(241, GIB)],
        host_read: &[(242, GIB)],
        nand_written: NandWritten::Unknown,
        life_left: None,
        unsafe_shutdowns: &[174],
        link_errors: Some(199),
    },
    // SandForce's controllers.
    Family {
        models: &[
            "OCZ-VERTEX3",
            "OCZ-AGILITY3",
            "Corsair Force",
            "KINGSTON SH103S3",
            "SanDisk SDSSDX",
            "ADATA SSD SX900",
            "ADATA SSD SP900",
        ],
        host_written: &[(241, GIB)],
        host_read: &[(242, GIB)],
        nand_written: NandWritten::Unknown,
        life_left: Some(231),
        unsafe_shutdowns: &[174],
        link_errors: Some(199),
    },
    // Phison's controllers.
    Family {
        models: &[
            "BP4 mSATA SSD",
            "KINGSTON SA400",
            "KINGSTON  SA400",
            "KINGSTON SHSS37A",
            "KINGSTON SKC400",
            "KINGSTON SEDC4",
            "KINGSTON SEDC500",
            "PNY CS900",
            "PNY CS1311",
            "PNY CS2211",
            "Patriot Blast",
            "Patriot Blaze",
            "Patriot Burst",
        ],
        host_written: &[(241, GIB)],
        host_read: &[(242, GIB)],
        nand_written: NandWritten::Counted(&[(233, GIB)]),
        life_left: Some(231),
        unsafe_shutdowns: &[192],
        link_errors: Some(199),
    },
];

/// One of thirty.
#[derive(Clone, Copy)]
struct Attribute {
    number: u8,
    value: u8,
    raw: u64,
}

pub(super) fn ask(port: &mut dyn AdminPort, model: Option<&str>) -> Option<Health> {
    let mut page = [0; 512];
    port.ata(AtaCommand::smart(READ_DATA), Data::FromDrive(&mut page)).ok()?;
    // The bytes of the page add up to zero; some bridges answer with something else.
    let sum = page.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    (sum == 0).then(|| parse(Fields(&page), model.unwrap_or_default()))
}

fn parse(page: Fields<'_>, model: &str) -> Health {
    let attributes: Vec<Attribute> = (0..30)
        .map(|index| 2 + 12 * index)
        .map(|at| Attribute {
            number: page.byte(at),
            value: page.byte(at + 3),
            raw: page.number(at + 5, 6) as u64,
        })
        .filter(|attribute| attribute.number != 0)
        .collect();
    let of = |number: u8| attributes.iter().find(|attribute| attribute.number == number).copied();
    let raw = |number: u8| of(number).map(|attribute| u128::from(attribute.raw));
    let common = Health {
        // The upper bytes hold parts of hours, or the lowest and highest temperature.
        power_on_hours: raw(POWER_ON_HOURS).map(|raw| raw & 0xFF_FFFF),
        power_cycles: raw(POWER_CYCLES),
        media_errors: raw(REPORTED_UNCORRECTABLE),
        temperature_c: raw(TEMPERATURE)
            .or(raw(AIRFLOW_TEMPERATURE))
            .map(|raw| i32::from(raw as u8 as i8)),
        ..Health::default()
    };
    let is_of = |family: &&Family| family.models.iter().any(|begins| model.starts_with(begins));
    let Some(family) = FAMILIES.iter().find(is_of) else { return common };
    let bytes = |(number, unit): &Counter| Some(raw(*number)? * unit);
    let host_written = family.host_written.iter().find_map(bytes);
    Health {
        host_written,
        host_read: family.host_read.iter().find_map(bytes),
        nand_written: match family.nand_written {
            NandWritten::Unknown => None,
            NandWritten::Counted(counters) => {
                counters.iter().filter_map(bytes).reduce(|sum, bytes| sum + bytes)
            }
            NandWritten::Pages { host, own } => match (host_written, raw(host), raw(own)) {
                (Some(written), Some(host), Some(own)) if host > 0 => {
                    Some((written as f64 * (host + own) as f64 / host as f64) as u128)
                }
                _ => None,
            },
        },
        written_unit: Some(family.written_unit()),
        used_percent: family.life_left.and_then(of).map(|left| 100 - left.value.min(100)),
        unsafe_shutdowns: family.unsafe_shutdowns.iter().copied().find_map(raw),
        link_errors: family.link_errors.and_then(raw),
        ..common
    }
}
