//! Real drives, from what other people's tools dumped of them: `tests/recorded` says of each where it
//! is from and what its report says in words, which is what is held against here.

use writecliff_admin::{AtaCommand, Facts, Health, NvmeCommand, Protocol, ScsiCommand, ask};
use writecliff_device::{Bytes, Purge};

use super::{ALL, Given, offered, page, statistics, told};

macro_rules! recorded {
    ($($name:literal),+ $(,)?) => {
        [$(($name, include_str!(concat!("../../recorded/", $name, ".txt")))),+]
    };
}

/// All of them.
pub(super) const DRIVES: [(&str, &str); 15] = recorded![
    "adata-sx900-512gb",
    "crucial-mx200-250gb",
    "intel-x25-m-80gb",
    "lexar-nm790-4tb",
    "micron-5200-eco-7tb",
    "mydigitalssd-bp4-240gb",
    "samsung-850-evo-250gb",
    "samsung-870-qvo-4tb",
    "samsung-pm863-240gb",
    "samsung-pm981-256gb",
    "sandisk-ssd-plus-120gb",
    "seagate-savvio-10k6-300gb",
    "wd-blue-3d-500gb",
    "wd-pc-sn730-256gb",
    "xpg-gammix-s50-lite-512gb",
];

/// A drive that answers with its pages: each by its name, in lines of an offset and of bytes, or of
/// little-endian words. What was not dumped is refused, but for what is made here: see below.
pub(super) fn read(text: &str) -> Given {
    let pages = pages(text);
    let find = |wanted: &str| {
        let found = pages.iter().find(|(name, _)| name.starts_with(wanted));
        found.map(|(_, page)| page.clone())
    };
    if let Some(inquiry) = find("scsi inquiry") {
        return scsi(inquiry, &pages);
    }
    match (find("nvme controller"), find("nvme health")) {
        (Some(controller), Some(health)) => nvme(controller, health),
        _ => ata(find("ata identify").unwrap(), find("ata smart"), find("ata statistics 1")),
    }
}

/// The pages by their names.
fn pages(text: &str) -> Vec<(&str, Vec<u8>)> {
    let mut pages: Vec<(&str, Vec<u8>)> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let Some((offset, values)) = line.split_once(": ") else {
            pages.push((line, vec![0; 512]));
            continue;
        };
        let (name, page) = pages.last_mut().unwrap();
        let has_words = name.ends_with("words");
        let offset = usize::from_str_radix(offset, if has_words { 10 } else { 16 }).unwrap();
        let values = values.split(' ').map(|value| u16::from_str_radix(value, 16).unwrap());
        let bytes: Vec<u8> = match has_words {
            true => values.flat_map(u16::to_le_bytes).collect(),
            false => values.map(|value| value as u8).collect(),
        };
        let at = if has_words { 2 * offset } else { offset };
        page[at..at + bytes.len()].copy_from_slice(&bytes);
    }
    pages
}

/// Of the namespace there is no dump: one of 512-byte LBAs is made.
fn nvme(mut controller: Vec<u8>, health: Vec<u8>) -> Given {
    controller.resize(4096, 0);
    let namespace = page(4096, &[(0, &500_118_192_u64.to_le_bytes()), (128, &[0, 0, 9, 0])]);
    Given {
        nvme: vec![
            (NvmeCommand::identify(1, 0), controller, 0),
            (NvmeCommand::identify(0, 1), namespace, 0),
            (NvmeCommand::log_page(0x02, ALL, 512), health, 0),
        ],
        ..Given::silent(Protocol::Nvme { namespace: 1 })
    }
}

/// Of the statistics' list of pages there is no dump: one of what was dumped is made.
fn ata(identity: Vec<u8>, smart: Option<Vec<u8>>, general: Option<Vec<u8>>) -> Given {
    let mut ata = vec![(AtaCommand::identify(), identity)];
    ata.extend(smart.map(|page| (AtaCommand::smart(0xD0), page)));
    if let Some(general) = general {
        let mut list = statistics(0, &[]);
        list[8..11].copy_from_slice(&[2, 0, 1]);
        ata.push((AtaCommand::log(4, 0), list));
        ata.push((AtaCommand::log(4, 1), general));
    }
    Given { ata, ..Given::silent(Protocol::Ata) }
}

fn scsi(inquiry: Vec<u8>, pages: &[(&str, Vec<u8>)]) -> Given {
    let numbered = |name: &str, kind: &str| {
        let number = name.strip_prefix(kind)?.get(..2)?;
        u8::from_str_radix(number, 16).ok()
    };
    let commands = pages.iter().filter_map(|(name, page)| {
        let vital = numbered(name, "scsi pages ").map(|page| ScsiCommand::vital_page(page, 252));
        let log = numbered(name, "scsi log ").map(|page| ScsiCommand::log(page, 512));
        Some((vital.or(log)?, page.clone()))
    });
    let inquiry = (ScsiCommand::inquiry(252), inquiry);
    let scsi = std::iter::once(inquiry).chain(commands).collect();
    Given { scsi, ..Given::silent(Protocol::Scsi) }
}

fn of(name: &str) -> Facts {
    let (_, text) = DRIVES.iter().find(|(known, _)| *known == name).unwrap();
    ask(&mut read(text)).unwrap()
}

/// The drive, and its health, after a look at what it is.
fn identified(name: &str, model: &str, speaks: &str, firmware: &str) -> (Facts, Health) {
    let facts = of(name);
    assert_eq!(facts.model.as_deref(), Some(model));
    assert_eq!((facts.speaks.as_str(), facts.firmware.as_deref()), (speaks, Some(firmware)));
    let health = facts.health.clone().unwrap();
    (facts, health)
}

/// Hours, times that power came, degrees.
fn counted(health: &Health) -> (Option<u128>, Option<u128>, Option<i32>) {
    (health.power_on_hours, health.power_cycles, health.temperature_c)
}

/// Whole GiB.
fn gib(bytes: Option<u128>) -> Option<u128> {
    bytes.map(|bytes| bytes >> 30)
}

fn link(facts: &Facts) -> Option<(Option<f64>, f64)> {
    facts.link.map(|link| (link.now_gbps, link.best_gbps))
}

const SIX: Option<(Option<f64>, f64)> = Some((Some(6.0), 6.0));

#[test]
fn samsung_870_qvo() {
    let (facts, health) =
        identified("samsung-870-qvo-4tb", "Samsung SSD 870 QVO 4TB", "ACS-4", "SVQ02B6Q");
    assert_eq!((facts.capacity.0, link(&facts)), (7_814_037_168 * 512, SIX));
    assert_eq!(counted(&health), (Some(1379), Some(196), Some(29)));
    assert_eq!((health.used_percent, gib(health.host_written)), (Some(1), Some(11_454)));
    assert!(facts.security.is_some_and(|security| security.frozen && !security.enabled));
}

#[test]
fn samsung_850_evo() {
    let (facts, health) =
        identified("samsung-850-evo-250gb", "Samsung SSD 850 EVO 250GB", "ACS-2", "EMT03B6Q");
    assert_eq!((facts.capacity.0, link(&facts)), (488_397_168 * 512, SIX));
    assert_eq!(counted(&health), (Some(25_941), Some(291), Some(36)));
    assert_eq!((health.used_percent, gib(health.host_written)), (Some(44), Some(50_347)));
    assert_eq!((health.unsafe_shutdowns, health.link_errors), (Some(0x4E), Some(0x3D3)));
    assert_eq!((health.host_read, health.nand_written), (None, None), "it counts neither");
}

#[test]
fn samsung_pm863() {
    let (facts, health) =
        identified("samsung-pm863-240gb", "SAMSUNG MZ7LM240HMHQ-00005", "ACS-2", "GXT5204Q");
    assert_eq!((facts.capacity.0, link(&facts)), (468_862_128 * 512, SIX));
    assert_eq!(counted(&health), (Some(0x40CE), Some(0x77), Some(32)), "from the statistics");
    assert_eq!(health.host_written, Some(0x2_43F4_0D17 * 512));
    assert_eq!(health.host_read, Some(0x961B_7627 * 512));
    assert_eq!((health.used_percent, health.nand_written), (Some(1), Some(0x5_EADC_9A00 * 512)));
    let amplification = health.write_amplification().unwrap();
    assert!((2.6..2.7).contains(&amplification), "{amplification}");
}

#[test]
fn crucial_mx200() {
    let (facts, health) =
        identified("crucial-mx200-250gb", "Crucial_CT250MX200SSD1", "ACS-3", "MU01");
    assert_eq!((facts.capacity.0, link(&facts)), (488_397_168 * 512, SIX));
    assert_eq!(counted(&health), (Some(48_749), Some(347), Some(42)));
    assert_eq!((health.used_percent, gib(health.host_written)), (Some(70), Some(79_642)));
    assert_eq!((health.unsafe_shutdowns, health.media_errors), (Some(231), Some(0)));
    let pages = 1.0 + 0x3_3B0A_36E4_u64 as f64 / 0x1_37C3_9A02_u64 as f64;
    assert!((health.write_amplification().unwrap() - pages).abs() < 1e-6, "{pages}");
}

#[test]
fn micron_5200() {
    let (facts, health) =
        identified("micron-5200-eco-7tb", "Micron_5200_MTFDDAK7T6TDC", "ACS-3", "D1MU820");
    assert_eq!((facts.capacity.0, link(&facts)), (0x3_7E3E_92B0 * 512, SIX));
    assert_eq!(counted(&health), (Some(0x1F7B), Some(0x1B), Some(29)));
    assert_eq!(health.host_written, Some(0x1C7_0A80 * 512));
    assert_eq!(health.host_read, Some(0x5_AF29 * 512));
    assert_eq!((health.used_percent, health.unsafe_shutdowns), (Some(0), Some(25)));
    use Purge::{AtaSanitizeBlock, AtaSanitizeCrypto};
    assert_eq!(&offered(&facts)[..2], [AtaSanitizeBlock, AtaSanitizeCrypto]);
}

#[test]
fn wd_blue() {
    let (facts, health) =
        identified("wd-blue-3d-500gb", "WDC  WDS500G2B0A-00SM50", "ACS-4", "415020WD");
    assert_eq!((facts.capacity.0, link(&facts)), (976_773_168 * 512, SIX));
    assert_eq!(counted(&health), (Some(168), Some(5), Some(36)));
    assert_eq!((gib(health.host_read), gib(health.host_written)), (Some(40), Some(451)));
    // The report's 462 GB, and what was programmed in SLC mode.
    assert_eq!(gib(health.nand_written), Some(462 + 0x1EC));
    assert_eq!(health.used_percent, None, "what its wear indicator counts is not known");
}

#[test]
fn sandisk_ssd_plus() {
    let (facts, health) =
        identified("sandisk-ssd-plus-120gb", "SanDisk SSD PLUS 120 GB", "ACS-2", "UE3000RL");
    assert_eq!((facts.capacity.0, link(&facts)), (234_455_040 * 512, SIX));
    assert_eq!(counted(&health), (Some(29_061), Some(164), Some(40)));
    assert_eq!((gib(health.host_read), gib(health.host_written)), (Some(6803), Some(31_907)));
    assert_eq!((health.unsafe_shutdowns, health.media_errors), (Some(0x5B), Some(9)));
    assert_eq!(health.nand_written, None, "of it 12,167 GiB are only a part");
}

#[test]
fn adata_sx900() {
    let (facts, health) =
        identified("adata-sx900-512gb", "ADATA SSD SX900 512GB-DL2", "ATA8-ACS", "5.8.2");
    assert_eq!((facts.capacity.0, link(&facts)), (1_000_215_216 * 512, SIX));
    assert_eq!(counted(&health), (Some(44_997), Some(257), Some(35)));
    assert_eq!((gib(health.host_read), gib(health.host_written)), (Some(218_926), Some(539_160)));
    assert_eq!((health.used_percent, health.unsafe_shutdowns), (Some(24), Some(0xAB)));
}

#[test]
fn mydigitalssd_bp4() {
    let (facts, health) =
        identified("mydigitalssd-bp4-240gb", "BP4 mSATA SSD", "ATA8-ACS", "S8FM06.7");
    assert_eq!((facts.capacity.0, link(&facts)), (468_862_128 * 512, Some((None, 6.0))));
    assert_eq!(counted(&health), (Some(1123), Some(182), None));
    assert_eq!((health.unsafe_shutdowns, gib(health.host_written)), (Some(92), Some(0xE08)));
}

#[test]
fn intel_x25_m() {
    let (facts, health) =
        identified("intel-x25-m-80gb", "INTEL SSDSA2MH080G1GC", "ATA-7", "045C8820");
    assert_eq!(facts.capacity.0 >> 20, 76_319);
    assert_eq!(counted(&health), (Some(2309), Some(395), None));
    assert_eq!(health.host_written, Some(25_105 * (32 << 20)));
    assert_eq!((health.used_percent, health.unsafe_shutdowns), (Some(1), Some(323)));
    assert!(!offered(&facts).contains(&Purge::Discard), "it knows no TRIM");
}

#[test]
fn samsung_pm981() {
    let (facts, health) =
        identified("samsung-pm981-256gb", "SAMSUNG MZVLB256HBHQ-000L7", "NVMe 1.3", "5M2QEXH7");
    assert_eq!((facts.warning_c, facts.critical_c), (Some(84), Some(85)));
    assert_eq!(counted(&health), (Some(2331), Some(1282), Some(31)));
    assert_eq!((health.unsafe_shutdowns, health.media_errors), (Some(96), Some(0)));
    assert_eq!((health.used_percent, health.logged_errors), (Some(3), Some(0x3D4)));
    assert_eq!(health.host_written.map(|bytes| bytes / 512_000), Some(0x19E_9FDE));
    use Purge::{Format, SanitizeBlock, SanitizeCrypto};
    assert_eq!(offered(&facts), [SanitizeBlock, SanitizeCrypto, Format]);
}

#[test]
fn lexar_nm790() {
    let (facts, health) = identified("lexar-nm790-4tb", "Lexar SSD NM790 4TB", "NVMe 2.0", "12237");
    assert_eq!((facts.warning_c, facts.critical_c), (Some(90), Some(95)));
    assert_eq!(counted(&health), (Some(0), Some(3), Some(33)));
    let memory = facts.host_memory.unwrap();
    assert_eq!((memory.preferred, memory.least), (Bytes(40 << 20), Bytes(40 << 20)));
    // What comes after its first 512 bytes, such as whether it can discard, was not dumped.
    assert_eq!(offered(&facts), [Purge::SanitizeBlock, Purge::Format]);
}

#[test]
fn wd_pc_sn730() {
    let (facts, health) =
        identified("wd-pc-sn730-256gb", "WDC PC SN730 SDBQNTY-256G-1001", "NVMe 1.3", "11170101");
    assert_eq!((facts.warning_c, facts.critical_c), (Some(84), Some(88)));
    assert_eq!(counted(&health), (Some(2949), Some(524_443), Some(48)));
    assert_eq!((gib(health.host_read), gib(health.host_written)), (Some(37_219), Some(28_673)));
    assert_eq!((health.used_percent, health.unsafe_shutdowns), (Some(9), Some(11)));
    assert_eq!((health.media_errors, health.logged_errors), (Some(0), Some(9)));
    use Purge::{Format, SanitizeBlock, SanitizeCrypto};
    assert_eq!(offered(&facts), [SanitizeBlock, SanitizeCrypto, Format]);
}

#[test]
fn xpg_gammix_s50() {
    let (facts, health) =
        identified("xpg-gammix-s50-lite-512gb", "XPG GAMMIX S50 Lite", "NVMe 1.4", "82A7TBAA");
    assert_eq!((facts.warning_c, facts.critical_c), (Some(75), Some(80)));
    assert_eq!(counted(&health), (Some(1054), Some(12), Some(43)));
    assert_eq!((gib(health.host_read), gib(health.host_written)), (Some(2021), Some(21_035)));
    assert_eq!((health.used_percent, health.unsafe_shutdowns), (Some(11), Some(2)));
    assert_eq!(facts.host_memory, None);
}

#[test]
fn seagate_savvio() {
    let (facts, health) =
        identified("seagate-savvio-10k6-300gb", "SEAGATE ST300MM0006", "SPC-4", "B001");
    assert_eq!(facts.serial.as_deref(), Some("00000000000000000000"));
    assert_eq!(health.host_read, Some(68_674_406_166_528));
    assert_eq!(health.host_written, Some(20_233_417_674_752));
    assert_eq!((health.media_errors, health.warnings.len()), (Some(0), 0));
}

/// No drive's serial number is in this repository, and its words are printable.
#[test]
fn recorded_drives_are_nobodys() {
    for (name, text) in DRIVES {
        let serial = of(name).serial.unwrap_or_default();
        // What is left of any names its maker.
        assert!(serial.chars().filter(|c| *c != '0').count() <= 4, "{name}: {serial}");
        let words = told(read(text));
        assert!(words.chars().all(|c| c == '\n' || !c.is_control()), "{words}");
    }
}
