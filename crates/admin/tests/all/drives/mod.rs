//! Drives made of bytes: what each field means, where drives differ, and damage of every kind.
mod ata;
mod damage;
mod nvme;
mod recorded;
mod scsi;

use std::io;
use std::time::Duration;

use writecliff_admin::{
    AdminPort, AtaCommand, AtaResult, Data, Facts, NvmeCommand, Protocol, ScsiCommand, ask,
};
use writecliff_device::{Bytes, Purge};

/// A drive that answers with what it was given, and refuses the rest.
#[derive(Clone)]
struct Given {
    protocol: Protocol,
    nvme: Vec<(NvmeCommand, Vec<u8>, u32)>,
    ata: Vec<(AtaCommand, Vec<u8>)>,
    /// What CHECK POWER MODE leaves in the count field.
    ata_power_mode: Option<u16>,
    scsi: Vec<(ScsiCommand, Vec<u8>)>,
}

impl Given {
    /// One that answers nothing yet.
    fn silent(protocol: Protocol) -> Self {
        let (nvme, ata, scsi) = (Vec::new(), Vec::new(), Vec::new());
        Self { protocol, nvme, ata, ata_power_mode: None, scsi }
    }
}

fn refused() -> io::Error {
    io::Error::other("refused")
}

impl AdminPort for Given {
    fn protocol(&self) -> Protocol {
        self.protocol
    }

    fn nvme(&mut self, command: NvmeCommand, data: Data<'_>) -> io::Result<u32> {
        let answer = self.nvme.iter().find(|(known, ..)| *known == command).ok_or_else(refused)?;
        give(&answer.1, data)?;
        Ok(answer.2)
    }

    fn ata(&mut self, command: AtaCommand, data: Data<'_>) -> io::Result<AtaResult> {
        if command == AtaCommand::check_power_mode() {
            let count = self.ata_power_mode.ok_or_else(refused)?;
            return Ok(AtaResult { count, ..AtaResult::default() });
        }
        let answer = self.ata.iter().find(|(known, _)| *known == command).ok_or_else(refused)?;
        give(&answer.1, data)?;
        Ok(AtaResult::default())
    }

    fn scsi(&mut self, command: ScsiCommand, data: Data<'_>) -> io::Result<()> {
        let (_, answer) =
            self.scsi.iter().find(|(known, _)| *known == command).ok_or_else(refused)?;
        // Answers of SCSI may be shorter than what was asked for.
        let Data::FromDrive(data) = data else { return Err(refused()) };
        let length = answer.len().min(data.len());
        data[..length].copy_from_slice(&answer[..length]);
        Ok(())
    }
}

/// Questions only ever move data from the drive.
fn give(answer: &[u8], to: Data<'_>) -> io::Result<()> {
    match to {
        Data::None => {}
        Data::FromDrive(data) => data.copy_from_slice(answer),
        Data::ToDrive(_) => return Err(refused()),
    }
    Ok(())
}

/// A page with these fields in it, each at its offset.
fn page(length: usize, fields: &[(usize, &[u8])]) -> Vec<u8> {
    let mut page = vec![0; length];
    for (at, bytes) in fields {
        page[*at..at + bytes.len()].copy_from_slice(bytes);
    }
    page
}

const ALL: u32 = NvmeCommand::ALL_NAMESPACES;
const OCP_GUID: [u8; 16] = [
    0xC5, 0xAF, 0x10, 0x28, 0xEA, 0xBF, 0xF2, 0xA4, 0x9C, 0x4F, 0x6F, 0x7C, 0xC9, 0x14, 0xD5, 0xAF,
];

/// An NVMe drive of 1 TB with two LBA formats, sanitize, and OCP's log.
fn nvme_drive() -> Given {
    let state = |centiwatts: u16, flags: u8, entry: u32, exit: u32| {
        let fields: [&[u8]; 4] =
            [&centiwatts.to_le_bytes(), &[0, flags], &entry.to_le_bytes(), &exit.to_le_bytes()];
        fields.concat()
    };
    let controller = page(
        4096,
        &[
            (4, b"S1234567890         "),
            (24, b"A drive of tests                        "),
            (64, b"FW01    "),
            (80, &0x0001_0400_u32.to_le_bytes()),
            (256, &[0b10]), // format
            (263, &[2]),
            (266, &343_u16.to_le_bytes()),
            (268, &358_u16.to_le_bytes()),
            (328, &[0b11]), // sanitize by crypto and by block
            (516, &[1]),
            (520, &[0b100]), // deallocate
            (524, &[0b100]), // a new key by format
            (525, &[1]),
            (2048, &state(850, 0, 0, 0)),
            (2080, &state(450, 0, 0, 0)),
            (2112, &state(500, 0b11, 1000, 9000)), // 0.05 W in steps of 0.1 mW; idle
        ],
    );
    let format = |shift: u8, rank: u8| [0, 0, shift, rank];
    let namespace = page(
        4096,
        &[
            (0, &1_953_525_168_u64.to_le_bytes()),
            (25, &[1]),
            (26, &[0]),
            (128, &format(9, 1)),
            (132, &format(12, 0)),
        ],
    );
    let health = page(
        512,
        &[
            (0, &[0b100001]),
            (1, &314_u16.to_le_bytes()),
            (3, &[98, 10, 7]),
            (32, &2_000_000_u128.to_le_bytes()),
            (48, &1_000_000_u128.to_le_bytes()),
            (112, &56_u128.to_le_bytes()),
            (128, &1234_u128.to_le_bytes()),
            (144, &7_u128.to_le_bytes()),
            (160, &3_u128.to_le_bytes()),
            (192, &5_u32.to_le_bytes()),
        ],
    );
    let ocp = page(512, &[(0, &640_000_000_000_u128.to_le_bytes()), (496, &OCP_GUID)]);
    let sanitize = page(
        512,
        &[
            (0, &0x4000_u16.to_le_bytes()),
            (2, &[2]),
            (12, &90_u32.to_le_bytes()),
            (16, &[2, 0, 0, 0]),
        ],
    );
    Given {
        nvme: vec![
            (NvmeCommand::identify(1, 0), controller, 0),
            (NvmeCommand::identify(0, 1), namespace, 0),
            (NvmeCommand::identify(2, 0), page(4096, &[(0, &[1]), (4, &[2])]), 0),
            (NvmeCommand::feature(6), Vec::new(), 1),
            (NvmeCommand::log_page(0x02, ALL, 512), health, 0),
            (NvmeCommand::log_page(0xC0, ALL, 512), ocp, 0),
            (NvmeCommand::log_page(0x81, ALL, 512), sanitize, 0),
        ],
        ..Given::silent(Protocol::Nvme { namespace: 1 })
    }
}

fn offered(facts: &Facts) -> Vec<Purge> {
    facts.purges.iter().map(|offer| offer.kind).collect()
}

#[test]
fn an_nvme_drive_is_read_field_by_field() {
    let facts = ask(&mut nvme_drive()).unwrap();
    assert_eq!(facts.speaks, "NVMe 1.4");
    assert_eq!(facts.model.as_deref(), Some("A drive of tests"));
    assert_eq!(facts.serial.as_deref(), Some("S1234567890"));
    assert_eq!(facts.firmware.as_deref(), Some("FW01"));
    assert_eq!(facts.capacity, Bytes(1_000_204_886_016));
    let formats: Vec<_> = facts.formats.iter().map(|f| (f.data.0, f.rank, f.in_use)).collect();
    assert_eq!(formats, [(512, Some(1), true), (4096, Some(0), false)]);
    assert_eq!((facts.warning_c, facts.critical_c), (Some(70), Some(85)));
    assert_eq!(facts.write_cache.unwrap().enabled, Some(true));
    let states: Vec<_> = facts.power_states.iter().map(|s| (s.max_w, s.works, s.exit)).collect();
    let exit = Some(Duration::from_micros(9000));
    assert_eq!(
        states,
        [(Some(8.5), true, None), (Some(4.5), true, None), (Some(0.05), false, exit)]
    );
    let health = facts.health.as_ref().unwrap();
    assert_eq!(health.warnings.len(), 2, "{:?}", health.warnings);
    assert_eq!((health.temperature_c, health.used_percent), (Some(41), Some(7)));
    assert_eq!((health.spare_percent, health.spare_threshold_percent), (Some(98), Some(10)));
    assert_eq!(health.host_written, Some(512_000_000_000));
    assert_eq!(health.host_read, Some(1_024_000_000_000));
    assert_eq!(health.nand_written, Some(640_000_000_000));
    assert_eq!(health.write_amplification(), Some(1.25));
    assert_eq!((health.power_on_hours, health.power_cycles), (Some(1234), Some(56)));
    assert_eq!((health.unsafe_shutdowns, health.media_errors), (Some(7), Some(3)));
    assert_eq!((health.warm_minutes, health.hot_minutes), (Some(5), Some(0)));
    use Purge::{Discard, Format, FormatCrypto, SanitizeBlock, SanitizeCrypto};
    assert_eq!(offered(&facts), [SanitizeBlock, SanitizeCrypto, Format, FormatCrypto, Discard]);
    let block = &facts.purges[0];
    assert_eq!(block.time, Some(Duration::from_secs(90)));
    assert_eq!(block.hindrances.len(), 2, "{:?}", block.hindrances);
    assert!(block.hindrances[0].contains("25 %"), "{:?}", block.hindrances);
    assert!(block.hindrances[1].contains("all 2 namespaces"), "{:?}", block.hindrances);
    assert!(facts.purges[2].hindrances.is_empty(), "a format is of its namespace alone");
}

#[test]
fn json_has_numbers_and_says_their_units() {
    let facts = serde_json::to_value(ask(&mut nvme_drive()).unwrap()).unwrap();
    assert_eq!(facts["capacity_bytes"], 1_000_204_886_016_u64);
    assert_eq!(facts["formats"][1]["data_bytes"], 4096);
    assert_eq!(facts["power_states"][2]["exit_us"], 9000);
    assert_eq!(facts["health"]["nand_written_bytes"], 640_000_000_000_u64);
    assert_eq!(facts["purges"][0]["kind"], "sanitize-block");
    assert_eq!(facts["purges"][0]["time_s"], 90);
}

#[test]
fn what_a_drive_does_not_answer_is_left_out() {
    let mut drive = nvme_drive();
    drive.nvme.truncate(2);
    let facts = ask(&mut drive).unwrap();
    assert_eq!(facts.health, None);
    assert_eq!(facts.write_cache.unwrap().enabled, None);
    assert!(facts.purges[0].hindrances[0].contains("does not tell how many"));
    drive.nvme.truncate(1);
    assert_eq!(ask(&mut drive).unwrap_err().to_string(), "refused");
    // Another maker's page at the place of OCP's log.
    let mut other = nvme_drive();
    other.nvme[5].1[500] ^= 1;
    assert_eq!(ask(&mut other).unwrap().health.unwrap().nand_written, None);
}

/// Words of 16 bits at their places in a page of 512 bytes.
fn words(fields: &[(usize, &[u16])]) -> Vec<u8> {
    let mut page = vec![0; 512];
    for (at, words) in fields {
        for (index, word) in words.iter().enumerate() {
            page[2 * (at + index)..][..2].copy_from_slice(&word.to_le_bytes());
        }
    }
    page
}

/// Text as ATA has it: two letters to a word, the first in the upper byte.
fn letters(text: &str, words: usize) -> Vec<u16> {
    let padded = format!("{text:width$}", width = 2 * words);
    padded.as_bytes().chunks(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect()
}

/// An attribute: number, value, raw.
fn attributes(list: &[(u8, u8, u64)]) -> Vec<u8> {
    let mut page = vec![0; 512];
    for (index, (number, value, raw)) in list.iter().enumerate() {
        let at = 2 + 12 * index;
        (page[at], page[at + 3]) = (*number, *value);
        page[at + 5..at + 11].copy_from_slice(&raw.to_le_bytes()[..6]);
    }
    let sum = page.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    page[511] = sum.wrapping_neg();
    page
}

/// A page of the device statistics log: supported, valid values at their offsets.
fn statistics(number: u8, fields: &[(usize, u64)]) -> Vec<u8> {
    let mut page = vec![0; 512];
    page[2] = number;
    for (at, value) in fields {
        page[*at..at + 8].copy_from_slice(&value.to_le_bytes());
        page[at + 7] = 0b1100_0000;
    }
    page
}

/// A SATA drive of 480 GB that came up slower than it can, frozen by the BIOS.
fn ata_drive(model: &str) -> Given {
    let lbas: u64 = 937_703_088;
    let [l0, l1, l2, l3] = [0, 16, 32, 48].map(|shift| (lbas >> shift) as u16);
    let identity = words(&[
        (10, &letters("1234ABCD", 10)),
        (23, &letters("MU05", 4)),
        (27, &letters(model, 20)),
        (59, &[0xB000]), // sanitize: crypto, block
        (60, &[0xFFFF, 0x0FFF]),
        (76, &[0b1110]),
        (77, &[0b0100]), // 3 Gb/s
        (80, &[0x03F8]), // up to ACS-2
        (82, &[0b10_0001]),
        (83, &[0x4400]),
        (84, &[0x4020]),
        (85, &[0b10_0001]),
        (89, &[0x8002]),
        (90, &[0x0005]),
        (100, &[l0, l1, l2, l3]),
        (106, &[0x4000]),
        (128, &[0b10_1001]), // security: there, frozen, enhanced erase
        (169, &[1]),
    ]);
    let smart = attributes(&[
        (9, 100, 0x55_0000_1234),
        (12, 100, 88),
        (187, 100, 2),
        (194, 62, 0x0026_0014_0026),
        (202, 91, 9),
        (246, 100, 1_000_000_000),
        (247, 100, 20_000_000),
        (248, 100, 30_000_000),
        (174, 100, 11),
    ]);
    Given {
        ata: vec![(AtaCommand::identify(), identity), (AtaCommand::smart(0xD0), smart)],
        ..Given::silent(Protocol::Ata)
    }
}

#[test]
fn an_ata_drive_is_read_field_by_field() {
    let facts = ask(&mut ata_drive("Crucial_CT480M500SSD1")).unwrap();
    assert_eq!(facts.speaks, "ACS-2");
    assert_eq!(facts.model.as_deref(), Some("Crucial_CT480M500SSD1"));
    assert_eq!(facts.serial.as_deref(), Some("1234ABCD"));
    assert_eq!(facts.firmware.as_deref(), Some("MU05"));
    assert_eq!(facts.capacity, Bytes(480_103_981_056));
    let link = facts.link.unwrap();
    assert_eq!((link.now_gbps, link.best_gbps), (Some(3.0), 6.0));
    let security = facts.security.unwrap();
    assert!(security.frozen && !security.enabled && !security.locked);
    let health = facts.health.as_ref().unwrap();
    assert_eq!((health.power_on_hours, health.power_cycles), (Some(0x1234), Some(88)));
    assert_eq!((health.temperature_c, health.media_errors), (Some(38), Some(2)));
    assert_eq!((health.used_percent, health.unsafe_shutdowns), (Some(9), Some(11)));
    assert_eq!(health.host_written, Some(512_000_000_000));
    assert_eq!(health.write_amplification(), Some(2.5), "pages of the host and of the drive");
    use Purge::{
        AtaSanitizeBlock, AtaSanitizeCrypto, AtaSecureErase, AtaSecureEraseEnhanced, Discard,
    };
    let expected =
        [AtaSanitizeBlock, AtaSanitizeCrypto, AtaSecureEraseEnhanced, AtaSecureErase, Discard];
    assert_eq!(offered(&facts), expected);
    assert_eq!(facts.purges[2].time, Some(Duration::from_secs(600)), "five units of two minutes");
    assert_eq!(facts.purges[3].time, Some(Duration::from_secs(240)));
    assert!(facts.purges[3].hindrances[0].starts_with("frozen"), "{:?}", facts.purges[3]);
    assert!(facts.purges[0].hindrances.is_empty());
}

#[test]
fn attributes_of_an_unknown_maker_mean_only_what_they_mean_everywhere() {
    let health = ask(&mut ata_drive("Some other drive")).unwrap().health.unwrap();
    assert_eq!(health.power_cycles, Some(88));
    assert_eq!((health.host_written, health.used_percent), (None, None));
    let mut damaged = ata_drive("Crucial_CT480M500SSD1");
    damaged.ata[1].1[100] ^= 1;
    assert_eq!(ask(&mut damaged).unwrap().health, None, "the sum of its bytes is wrong");
}

#[test]
fn device_statistics_come_before_attributes() {
    let mut drive = ata_drive("Crucial_CT480M500SSD1");
    let mut list = statistics(0, &[]);
    list[8..13].copy_from_slice(&[4, 0, 1, 5, 7]);
    let general = statistics(1, &[(8, 90), (16, 5000), (24, 3_000_000_000)]);
    let mut temperature = statistics(5, &[(8, 40), (88, 70)]);
    temperature[88 + 7] = 0b1000_0000; // supported, and not valid now
    let wear = statistics(7, &[(8, 8)]);
    let pages = [(0, list), (1, general), (5, temperature), (7, wear)];
    drive.ata.extend(pages.map(|(number, page)| (AtaCommand::log(4, number), page)));
    let facts = ask(&mut drive).unwrap();
    assert_eq!(facts.critical_c, None);
    let health = facts.health.unwrap();
    assert_eq!(health.host_written, Some(1_536_000_000_000));
    assert_eq!((health.temperature_c, health.used_percent), (Some(40), Some(8)));
    assert_eq!((health.power_on_hours, health.power_cycles), (Some(5000), Some(90)));
    assert_eq!(health.unsafe_shutdowns, Some(11), "what only attributes say");
}

/// What a drive says of itself, a line for each thing.
fn told(mut drive: Given) -> String {
    let lines = ask(&mut drive).unwrap().lines();
    lines.into_iter().map(|(name, words)| format!("{name}: {words}\n")).collect()
}

#[test]
fn facts_are_told_in_words() {
    let nvme = told(nvme_drive());
    for words in [
        "speaks: NVMe 1.4",
        "LBA formats: 512 bytes in use; 4096 bytes, the best by its own word",
        "WARNING: spare blocks are below the threshold",
        "wear: 7 % of the endurance used, 98 % of the spare blocks left (warns below 10 %)",
        "write amplification 1.25",
        "temperature: 41 °C, slows down at 70 °C, stops at 85 °C, 5 min beyond the first",
        "power state: 2: 0.05 W at most, idle, entered in 1 ms, left in 9 ms",
        "can purge by: sanitize-block, 90 s by its own word; a sanitize is under way",
    ] {
        assert!(nvme.contains(words), "{words} in\n{nvme}");
    }
    let ata = told(ata_drive("Crucial_CT480M500SSD1"));
    for words in [
        "link: 3 Gb/s of 6: look at cable, slot and port",
        "security: no password is set; frozen until its power is off",
        "can purge by: ata-secure-erase, 4 min by its own word; frozen: plug its power",
        "media errors: 2: data that it could not give back",
    ] {
        assert!(ata.contains(words), "{words} in\n{ata}");
    }
}
