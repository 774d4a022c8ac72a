//! Which drive a device is, in the words that drives are told apart and filtered by.

use writecliff::device::{DeviceInfo, DeviceKind};

use crate::conditions::hash;
use crate::model::{Drive, Price, slug};

/// Names that models begin with, and whose they are. Others are their first word's.
const MAKERS: &[(&str, &str)] = &[
    ("ct", "Crucial"),
    ("micron", "Micron"),
    ("intel", "Intel"),
    ("samsung", "Samsung"),
    ("ocz", "OCZ"),
    ("wdc", "Western Digital"),
    ("wd", "Western Digital"),
    ("st", "Seagate"),
    ("sandisk", "SanDisk"),
    ("corsair", "Corsair"),
    ("plextor", "Plextor"),
    ("kingston", "Kingston"),
    ("toshiba", "Toshiba"),
    ("kioxia", "Kioxia"),
    ("hgst", "HGST"),
    ("sk", "SK hynix"),
];

/// Types of cell, as they stand in the name of NAND.
const CELLS: [&str; 5] = ["SLC", "MLC", "TLC", "QLC", "PLC"];

/// What drives are told apart and filtered by, before it is put in order.
pub(crate) struct Short {
    pub(crate) profile: String,
    pub(crate) model: String,
    pub(crate) capacity: u64,
    pub(crate) interface: Option<String>,
    pub(crate) nand: Option<String>,
    pub(crate) controller: Option<String>,
    pub(crate) form_factor: Option<String>,
    pub(crate) released: Option<String>,
    pub(crate) price_usd: Option<f64>,
    pub(crate) price_of: Option<String>,
    pub(crate) rotates: bool,
}

impl Drive {
    /// The drive that a device says it is.
    pub fn of(info: &DeviceInfo) -> Self {
        let specification = info.specification.clone();
        let drive = Self::in_short(Short {
            profile: catalogue_name(info).unwrap_or_default().to_owned(),
            model: name(info),
            capacity: info.capacity.0,
            interface: interface(info),
            nand: specification.nand,
            controller: specification.controller,
            form_factor: specification.form_factor,
            released: specification.released,
            price_usd: specification.price_usd,
            price_of: specification.price_of,
            rotates: info.rotational && info.kind != DeviceKind::File,
        });
        Self { specification: data_sheet(info), ..drive }
    }

    pub(crate) fn in_short(short: Short) -> Self {
        let Short { model, capacity, nand, controller, form_factor, released, .. } = short;
        let whole = match capacity == 0 || says_capacity(&model, capacity) {
            true => model,
            false => format!("{model} {}", size(capacity)),
        };
        let name = shortened(&whole);
        Self {
            id: id(&whole, &name),
            maker: maker(&name),
            capacity: Some(capacity).filter(|bytes| *bytes > 0),
            interface: short.interface,
            cell: nand.as_deref().and_then(cell),
            nand,
            controller,
            form_factor,
            year: released.as_deref().and_then(year),
            price: short.price_usd.map(|usd| Price { usd, of: short.price_of }),
            rotates: short.rotates,
            profile: Some(short.profile).filter(|name| !name.is_empty()),
            specification: Vec::new(),
            name,
        }
    }
}

/// The drive of the catalogue that it is, unchanged.
pub(crate) fn catalogue_name(info: &DeviceInfo) -> Option<&str> {
    let profile = info.profile.as_ref()?;
    profile.catalogue.as_deref().filter(|_| profile.changes.is_empty())
}

const FILE: &str = "File";
const NAMELESS: &str = "Block device";

/// The model, where somebody said one. What was measured as a file or by a path alone has a path for
/// a model, which is nobody's business.
fn name(info: &DeviceInfo) -> String {
    let model = info.model.trim();
    let is_path = model.starts_with('/') || model == info.address;
    match info.kind {
        _ if !is_path && model.contains(char::is_alphanumeric) => model.to_owned(),
        DeviceKind::File => FILE.to_owned(),
        _ => NAMELESS.to_owned(),
    }
}

/// So many characters of a name are shown: a table's row stays one that can be read.
const NAME_MAX: usize = 60;

/// Of a longer one so many characters at its end: there stands which part of a drive it is a model of.
const END_MAX: usize = 24;

fn shortened(name: &str) -> String {
    let count = name.chars().count();
    if count <= NAME_MAX {
        return name.to_owned();
    }
    let beginning = name.chars().take(NAME_MAX - 1 - END_MAX);
    beginning.chain(['…']).chain(name.chars().skip(count - END_MAX)).collect()
}

/// The name as links have it. Letters that those do not take, and what was cut off, tell drives apart
/// all the same.
fn id(whole: &str, shown: &str) -> String {
    let is_lost = |c: char| c.is_alphanumeric() && !c.is_ascii();
    let id = slug(shown);
    match whole != shown || whole.contains(is_lost) {
        true => format!("{id}-{}", hash(whole)).trim_start_matches('-').to_owned(),
        false => id,
    }
}

fn says_capacity(model: &str, capacity: u64) -> bool {
    let packed = model.replace(' ', "").to_uppercase();
    let numbers: Vec<&str> =
        model.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty()).collect();
    let says_terabytes = terabytes(capacity).is_some_and(|tb| packed.contains(&format!("{tb}TB")));
    let says_hundredths = packed.contains(&format!("{:.2}TB", capacity as f64 / 1e12));
    says_terabytes || says_hundredths || numbers.contains(&gigabytes(capacity).to_string().as_str())
}

fn gigabytes(bytes: u64) -> u64 {
    (bytes as f64 / 1e9).round() as u64
}

/// Whole ones, as drives are sold: 4000.8 GB are 4 TB.
fn terabytes(bytes: u64) -> Option<u64> {
    let exact = bytes as f64 / 1e12;
    let whole = exact.round();
    (whole >= 1.0 && (exact - whole).abs() < whole * 0.01).then_some(whole as u64)
}

/// `250GB`, `1TB`; what is no whole number of gigabytes is a small device that nobody sells: `64MiB`.
fn size(bytes: u64) -> String {
    let (exact, whole) = (bytes as f64 / 1e9, gigabytes(bytes));
    match terabytes(bytes) {
        Some(terabytes) => format!("{terabytes}TB"),
        None if (exact - whole as f64).abs() < exact * 0.01 => format!("{whole}GB"),
        None => format!("{}MiB", bytes >> 20),
    }
}

fn maker(name: &str) -> Option<String> {
    if name.starts_with(FILE) || name.starts_with(NAMELESS) {
        return None;
    }
    let word = name.split([' ', '_', '-']).next().filter(|word| !word.is_empty())?;
    // `CT240M500SSD1`, `ST4000DM000`.
    let letters: String = word.chars().take_while(|c| !c.is_ascii_digit()).collect();
    let known = MAKERS
        .iter()
        .find(|(start, _)| letters.eq_ignore_ascii_case(start) || word.eq_ignore_ascii_case(start));
    Some(known.map_or(word, |(_, maker)| maker).to_owned())
}

fn interface(info: &DeviceInfo) -> Option<String> {
    let link = info.profile.as_ref().and_then(|profile| profile.values.get("link"));
    let told = link.and_then(|link| link["interface"].as_str()).map(str::to_owned);
    told.or_else(|| info.address.starts_with("/dev/nvme").then(|| "NVMe".to_owned()))
}

fn cell(nand: &str) -> Option<String> {
    let upper = nand.to_uppercase();
    let words: Vec<&str> = upper.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    CELLS.iter().find(|cell| words.contains(*cell)).map(|cell| (*cell).to_owned())
}

/// The first four digits of `2013-07`.
fn year(released: &str) -> Option<u16> {
    released.get(..4)?.parse().ok().filter(|year| (1950..2200).contains(year))
}

/// What of the data sheet has no field of its own.
fn data_sheet(info: &DeviceInfo) -> Vec<(String, String)> {
    let specification = &info.specification;
    let lines = [
        ("Released", specification.released.clone()),
        ("RAM", specification.dram.map(|bytes| bytes.to_string())),
        ("NAND packages", specification.nand_configuration.clone()),
        ("Raw NAND", specification.nand_capacity.map(|bytes| bytes.to_string())),
        (
            "Spare area",
            specification.spare_area(info.capacity).map(|share| format!("{:.1} %", share * 100.0)),
        ),
        ("Rated writes", specification.rated_writes.map(|bytes| bytes.to_string())),
        ("Queue", Some(format!("{} commands", info.queue_depth_max))),
    ];
    lines.into_iter().filter_map(|(label, words)| Some((label.to_owned(), words?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capacity_that_a_model_says_is_not_said_twice() {
        let cases = [
            ("Samsung SSD 840 EVO 250GB", 250_059_350_016, true),
            ("Kioxia CM7-R 3.84TB", 3_840_755_982_336, true),
            ("Samsung SSD 840 EVO 1TB", 1_000_204_886_016, true),
            ("Generic 1 TB", 1_000_204_886_016, true),
            ("CT240M500SSD1", 240_057_409_536, true),
            ("Samsung SSD 840 EVO", 250_059_350_016, false),
            ("WDC WD40EFRX", 4_000_787_030_016, false),
            ("X4000", 400_000_000_000, false),
        ];
        for (model, capacity, says) in cases {
            assert_eq!(says_capacity(model, capacity), says, "{model}");
        }
        assert_eq!(size(4_000_787_030_016), "4TB");
        assert_eq!(size(960_197_124_096), "960GB");
        assert_eq!([64, 512, 1297].map(|mib| size(mib << 20)), ["64MiB", "512MiB", "1297MiB"]);
        assert_eq!(size(3_840_755_982_336), "3841GB");
    }

    #[test]
    fn names_of_any_letters_and_any_length_are_drives_of_their_own() {
        let named = |model: &str| {
            Drive::in_short(Short {
                profile: String::new(),
                model: model.to_owned(),
                capacity: 960_197_124_096,
                interface: None,
                nand: None,
                controller: None,
                form_factor: None,
                released: None,
                price_usd: None,
                price_of: None,
                rotates: false,
            })
        };
        assert_eq!(named("Samsung SSD 870").id, "samsung-ssd-870-960gb");
        let (one, other) = (named("Диск 870"), named("Склад 870"));
        assert_eq!(one.name, "Диск 870 960GB");
        assert_ne!(one.id, other.id);
        let long = ["A", "B"].map(|end| named(&format!("{}{end}", "x".repeat(5000))));
        assert_ne!(long[0].id, long[1].id);
        for drive in [&one, &other, &named("数据"), &long[0], &long[1]] {
            assert!(drive.name.chars().count() <= NAME_MAX, "{drive:?}");
            assert!(drive.id.len() < 100 && slug(&drive.id) == drive.id, "{drive:?}");
        }
    }

    #[test]
    fn makers_are_known_by_what_their_models_begin_with() {
        let maker = |name| maker(name).unwrap();
        assert_eq!(maker("CT240M500SSD1"), "Crucial");
        assert_eq!(maker("INTEL SSDSC2CW240A3"), "Intel");
        assert_eq!(maker("OCZ-VERTEX4"), "OCZ");
        assert_eq!(maker("ST4000DM000-1F2168"), "Seagate");
        assert_eq!(maker("Mushkin Atlas 240GB"), "Mushkin");
        assert_eq!(maker("SAMSUNG_MZ7"), "Samsung");
    }

    #[test]
    fn cells_and_years_are_read_off_words() {
        assert_eq!(cell("Samsung 19 nm TLC, 128 Gbit dies").as_deref(), Some("TLC"));
        assert_eq!(cell("Intel 25nm MLC-HET"), Some("MLC".to_owned()));
        assert_eq!(cell("nothing told"), None);
        assert_eq!(year("2013-07"), Some(2013));
        assert_eq!(year("soon"), None);
    }
}
