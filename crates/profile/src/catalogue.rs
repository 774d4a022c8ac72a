//! The drives that ship with Writecliff (`drives/*.toml`), and profiles loaded from a path.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use include_dir::{Dir, include_dir};

use writecliff_device::nearest;

use crate::what_if::made_from;
use crate::{Profile, ProfileError, ProfileFile};

static DRIVES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../drives");

/// The names of all shipped drives, sorted.
pub fn catalogue() -> Vec<&'static str> {
    let mut names: Vec<_> =
        DRIVES.files().filter_map(|file| file.path().file_stem()?.to_str()).collect();
    names.sort_unstable();
    names
}

/// The shipped drive of this name.
///
/// # Errors
/// [`ProfileError::Unknown`] with the nearest names.
pub fn load(name: &str) -> Result<Profile, ProfileError> {
    let mut profile = resolve(shipped(name)?)?.check()?;
    profile.origin_mut().catalogue = Some(name.to_owned());
    Ok(profile)
}

/// The file of the shipped drive of this name, as it lies in `drives/`.
pub fn shipped_text(name: &str) -> Option<&'static str> {
    DRIVES.get_file(format!("{name}.toml"))?.contents_utf8()
}

/// A drive described by the user's own file, which may inherit from a shipped drive. If it does, and
/// gives no model name of its own, it is called by what it changes.
///
/// # Errors
/// What is wrong with the file, with its line.
pub fn load_file(path: &Path) -> Result<Profile, ProfileError> {
    let text = read_text(path)
        .map_err(|source| ProfileError::Unreadable { path: path.to_owned(), source })?;
    load_text(&path.display().to_string(), &text)
}

/// Loads the text of a profile; `name` is what messages call it.
///
/// # Errors
/// What is wrong with it, with its line.
pub fn load_text(name: &str, text: &str) -> Result<Profile, ProfileError> {
    let file = ProfileFile::parse(name, text)?;
    let (parent, keys) = (file.inherits.clone(), file.keys());
    let profile = resolve(file)?.check()?;
    match parent {
        None => Ok(profile),
        Some(name) => Ok(made_from(profile, &name, &load(&name)?, &keys)),
    }
}

/// No profile is longer. A device is, and would be read to its end.
const TEXT_MAX: u64 = 1 << 20;

fn read_text(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(TEXT_MAX + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > TEXT_MAX {
        true => Err(io::Error::other("it is longer than any profile")),
        false => String::from_utf8(bytes).map_err(|_| io::Error::other("it is no text")),
    }
}

/// Lays a file over everything it inherits from.
fn resolve(mut file: ProfileFile) -> Result<ProfileFile, ProfileError> {
    let mut seen = Vec::new();
    while let Some(parent) = file.inherits.take() {
        let base = shipped(&parent)?;
        if seen.contains(&parent) {
            return Err(ProfileError::InheritsItself { file: file.name().to_owned(), parent });
        }
        seen.push(parent);
        file = file.over(base);
    }
    Ok(file)
}

fn shipped(name: &str) -> Result<ProfileFile, ProfileError> {
    let file = format!("{name}.toml");
    match shipped_text(name) {
        Some(text) => ProfileFile::parse(&format!("drives/{file}"), text),
        None => {
            let near = nearest(name, catalogue()).into_iter().map(str::to_owned).collect();
            Err(ProfileError::Unknown { name: name.to_owned(), nearest: near })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Identity;

    #[test]
    fn what_a_drive_forgets_of_its_base_nobody_has_given() {
        let drive = |text: &str| load_text("own.toml", text).map(|profile| profile.record().values);
        let base = "inherits = \"generic-datacenter-nvme-960gb\"\n";
        let has = |values: &serde_json::Map<String, serde_json::Value>, key| {
            values["identity"].get(key).is_some()
        };
        let whole = drive(base).unwrap();
        assert!(has(&whole, "dram") && has(&whole, "released"));
        // The base's own base gives both as well.
        let forgets = "forgets = [\"identity.dram\", \"identity.released\"]\n";
        let less = drive(&format!("{base}{forgets}[identity]\nreleased = \"2020\"\n")).unwrap();
        assert!(!has(&less, "dram"));
        assert_eq!(less["identity"]["released"], "2020", "what it gives itself it has");
        let wrong = drive(&format!("{base}forgets = 3\n")).unwrap_err().to_string();
        assert!(wrong.contains("own.toml:2") && wrong.contains("keys of the base"), "{wrong}");
        let needed = drive(&format!("{base}forgets = [\"nand.channels\"]\n")).unwrap_err();
        assert!(needed.to_string().contains("channels"), "{needed}");
    }

    #[test]
    fn every_shipped_drive_loads_and_has_spare_area() {
        let names = catalogue();
        assert!(names.len() >= 9, "{names:?}");
        for name in names {
            let profile = load(name).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(profile.identity().capacity.0 > 0, "{name}");
            if let Profile::Ssd(ssd) = profile {
                assert!(ssd.spare_area() > 0.0, "{name}");
                assert!(ssd.usable_capacity() > ssd.identity.capacity, "{name}");
            }
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest_ones() {
        let message = load("samsung-840-evo-256gb").expect_err("no such drive").to_string();
        assert!(message.contains("did you mean samsung-840-evo-250gb"), "{message}");
    }

    fn error_of(text: &str) -> String {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("own.toml");
        std::fs::write(&path, text).unwrap();
        load_file(&path).expect_err(text).to_string()
    }

    #[test]
    fn a_profile_of_ones_own_inherits_and_differs() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("own.toml");
        std::fs::write(&path, "inherits = \"tiny\"\n[gc]\nquantum = 3\n").unwrap();
        let own = load_file(&path).unwrap().into_ssd().unwrap();
        let tiny = load("tiny").unwrap().into_ssd().unwrap();
        assert_eq!(own.gc.quantum, 3);
        assert_eq!((own.nand, own.link), (tiny.nand, tiny.link));
    }

    fn own(text: &str) -> Profile {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("own.toml");
        std::fs::write(&path, text).unwrap();
        load_file(&path).unwrap()
    }

    #[test]
    fn a_changed_drive_is_called_by_what_was_changed() {
        const EVO: &str = "Samsung SSD 840 EVO 250GB";
        let inherits = "inherits = \"samsung-840-evo-250gb\"\n";
        let cases = [
            ("", EVO.to_owned()),
            ("[gc]\nfree_high = 28\n", EVO.to_owned()),
            ("[gc]\nfree_high = 30\n", format!("{EVO}, changed: gc.free_high = 30")),
            (
                "[gc]\nfree_high = 30\nquantum = 9\n[faults]\nlost_die_at = \"20s\"\n",
                format!("{EVO}, changed: faults.lost_die_at = 20s, gc.free_high = 30 and 1 more"),
            ),
            (
                "[nand]\nerase_time = \"3ms\"\n[gc]\nvictim = \"fifo\"\nfree_high = 30\nfree_low = 10\n",
                format!("{EVO}, changed: nand.erase_time = 3ms, gc.victim = fifo and 1 more"),
            ),
            ("[identity]\nmodel = \"Mine\"\n[gc]\nfree_high = 30\n", "Mine".to_owned()),
            ("[identity]\nnote = \"Looked at again.\"\n", EVO.to_owned()),
        ];
        for (text, expected) in cases {
            assert_eq!(own(&format!("{inherits}{text}")).identity().model, expected, "{text}");
        }
        let record = own(&format!("{inherits}[gc]\nfree_high = 30\n")).record();
        assert_eq!(record.catalogue.as_deref(), Some("samsung-840-evo-250gb"));
        assert_eq!(serde_json::to_string(&record.changes).unwrap(), "{\"gc.free_high\":30}");
        assert_eq!(record.values["gc"]["free_high"], 30);
        assert_ne!(record.sha256, load("samsung-840-evo-250gb").unwrap().record().sha256);
    }

    #[test]
    fn spare_area_is_what_the_board_has_beyond_the_capacity() {
        // 256 GiB of NAND for 250.06 GB, for 240.06 GB; 264 GiB for 200.05 GB.
        let cases = [
            ("samsung-840-evo-250gb", 274.877_906_944 / 250.059_350_016 - 1.0),
            ("crucial-m500-240gb", 274.877_906_944 / 240.057_409_536 - 1.0),
            ("intel-dc-s3700-200gb", 283.467_841_536 / 200.049_647_616 - 1.0),
        ];
        for (name, expected) in cases {
            let spare = load(name).unwrap().into_ssd().unwrap().spare_area();
            assert!((spare - expected).abs() < 1e-4, "{name}: {spare} is not {expected}");
        }
    }

    #[test]
    fn a_price_and_what_a_review_listed_are_of_one_drive() {
        let price = |name: &str| load(name).unwrap().identity().price_usd;
        assert_eq!(price("intel-335-240gb"), Some(220.0));
        assert_eq!(price("ocz-vertex-3-240gb"), None, "inherits from the 335");
        assert_eq!(price("samsung-840-evo-750gb"), None, "inherits from the 1TB");
        assert_eq!(price("samsung-840-evo-500gb"), Some(325.0));
        let configuration = |name: &str| load(name).unwrap().identity().configuration.clone();
        assert!(configuration("samsung-840-evo-1tb").is_some());
        assert_eq!(configuration("samsung-840-evo-750gb"), None);
    }

    #[test]
    fn what_was_sold_is_not_said_of_a_drive_that_was_changed() {
        let evo = load("samsung-840-evo-250gb").unwrap();
        assert!(evo.identity().price_usd.is_some() && evo.identity().configuration.is_some());
        let inherits = "inherits = \"samsung-840-evo-250gb\"\n";
        let policy = own(&format!("{inherits}[gc]\nquantum = 4\n"));
        let Identity { price_usd, price_of, released, configuration, controller, .. } =
            policy.identity();
        assert_eq!((price_usd, price_of, released), (&None, &None, &None));
        assert!(configuration.is_some() && controller.is_some(), "the same board");
        let nand = own(&format!(
            "{inherits}[identity]\nprice_usd = 99.0\n[nand]\nprogram_time = \"1ms\"\n"
        ));
        let Identity { price_usd, configuration, .. } = nand.identity();
        assert_eq!((price_usd, configuration), (&Some(99.0), &None));
    }

    #[test]
    fn mistakes_are_told_with_file_and_line() {
        let cases = [
            (
                "inherits = \"tiny\"\n[gc]\nquantum = 3\nquantm = 4\n",
                "own.toml:4: gc.quantm: unknown field",
            ),
            ("inherits = \"tiny\"\n\n[gcc]\nx = 1\n", "own.toml:3: gcc: unknown field"),
            (
                "inherits = \"tiny\"\n[nand]\nread_time = \"5 parsecs\"\n",
                "own.toml:3: nand.read_time",
            ),
            (
                "inherits = \"tiny\"\n[nand]\nplanes = \"two\"\n",
                "own.toml:3: nand.planes: invalid type",
            ),
            ("[nand]\nplanes = 2\n", "missing field"),
            ("inherits = \"tiny\"\n[gc\n", "own.toml:2"),
            ("inherits = 7\n", "own.toml:1: 'inherits' takes"),
            ("inherits = \"tniy\"\n", "did you mean tiny"),
        ];
        for (text, expected) in cases {
            let message = error_of(text);
            assert!(message.contains(expected), "{text}\n gave: {message}\n not: {expected}");
        }
    }

    #[test]
    fn drives_that_cannot_work_are_refused_at_the_key_that_says_so() {
        let cases = [
            ("[nand]\npage_size = \"2KiB\"\n", "own.toml:3: 'nand.page_size'"),
            ("[nand]\nchannels = 0\n", "own.toml:3: 'nand.channels'"),
            ("[identity]\ncapacity = \"1TB\"\n", "own.toml:3: 'identity.capacity'"),
            ("[nand]\nblocks_reserved_per_plane = 50\n", "own.toml:3: 'nand.blocks_reserved"),
            ("[nand]\nblocks_reserved_per_plane = 9999\n", "own.toml:3: 'nand.blocks_reserved"),
            ("[write_buffer]\nsize = \"16TiB\"\n", "own.toml:3: 'write_buffer.size'"),
            ("[nand]\npage_size = \"2MiB\"\n", "own.toml:3: 'nand.page_size'"),
            (
                "[nand]\nchannels = 1024\ndies_per_channel = 1024\nblocks_per_plane = 1000000\n",
                "own.toml:5: 'nand.blocks_per_plane'",
            ),
            ("[gc]\nfree_low = 1\n", "own.toml:3: 'gc.free_low'"),
            ("[gc]\nfree_high = 1\n", "own.toml:3: 'gc.free_high'"),
            (
                "[gc]\nseparate_copies = false\nseparate_hot = true\n",
                "own.toml:4: 'gc.separate_hot'",
            ),
            ("[gc]\nseparate_copies = false\ngenerations = 2\n", "own.toml:4: 'gc.generations'"),
            ("[gc]\nwindow = 9\n", "own.toml:3: 'gc.window'"),
            ("[wear]\nstatic_every = 4\n", "own.toml:3: 'wear.static_every'"),
            (
                "[wear]\nlevelling = \"static\"\nstatic_gap = 3\nstatic_every = 1\n",
                "own.toml:5: 'wear.static_every'",
            ),
            (
                "[gc]\ngenerations = 2\n[wear]\nlevelling = \"static\"\nstatic_gap = 3\nstatic_apart = true\n",
                "own.toml:7: 'wear.static_apart'",
            ),
            ("[gc]\nquantum = 0\n", "own.toml:3: 'gc.quantum'"),
            ("[write_buffer]\nsize = \"4KiB\"\n", "own.toml:3: 'write_buffer.size'"),
            ("[link]\nread_throughput = \"1B/s\"\n", "own.toml:3: 'link.read_throughput'"),
            ("[nand]\nerase_time = \"1h\"\n", "own.toml:3: 'nand.erase_time'"),
            ("[identity]\ncapacity = \"1000B\"\n", "own.toml:3: 'identity.capacity'"),
            ("[nand]\npages_per_block = 16\n", "own.toml:3: 'nand.pages_per_block'"),
            ("[nand]\nblocks_reserved_per_plane = 4294967295\n", "own.toml:3: 'nand.blocks_res"),
            ("[nand]\nfactory_bad_blocks = 16000000\n", "own.toml:3: 'nand.factory_bad_blocks'"),
            ("[parity]\ndata = 200\n", "own.toml:3: 'parity.data'"),
            ("[mapping]\nunit = \"3KiB\"\n", "own.toml:3: 'mapping.unit'"),
            ("[mapping]\nunit = \"16KiB\"\n", "own.toml:3: 'mapping.unit'"),
            ("[mapping]\nkind = \"block\"\n", "own.toml:3: 'mapping.kind'"),
            ("[mapping]\ncache_time = \"1us\"\n", "own.toml:3: 'mapping.cache_time'"),
            ("[slc_buffer]\nkind = \"fixed\"\n", "own.toml:2: 'slc_buffer.bits_per_cell'"),
            (
                "[slc_buffer]\nkind = \"fixed\"\nbits_per_cell = 3\nsize = \"100MiB\"\n",
                "own.toml:5: 'slc_buffer.size'",
            ),
            ("[security]\ncrypto_erase = true\n", "own.toml:3: 'security.crypto_erase'"),
            ("[security]\nopal = \"opal-2\"\npsid = \"1234\"\n", "own.toml:4: 'security.psid'"),
            ("[power]\nidle = \"2000W\"\n", "own.toml:3: 'power.idle'"),
            ("[wear]\nretries_aged = 1\n", "own.toml:3: 'wear.retries_aged'"),
            ("[wear]\nlevelling = \"static\"\n", "own.toml:3: 'wear.levelling'"),
            ("[faults]\nlost_die = 4\n", "own.toml:3: 'faults.lost_die'"),
            ("[faults]\npower_cuts = [\"2s\", \"1s\"]\n", "own.toml:3: 'faults.power_cuts'"),
        ];
        for (text, expected) in cases {
            let message = error_of(&format!("inherits = \"tiny\"\n{text}"));
            assert!(message.contains(expected), "{text}\n gave: {message}\n not: {expected}");
        }
    }
}
