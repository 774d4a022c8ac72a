//! `docs/model.md`: its example is a drive, and it names every key of a profile. And tables of simulated
//! figures in all docs are of today's model.

use std::path::Path;

use writecliff_sim::load_file;

use crate::mechanisms::golden::{EVERYTHING, modern};
use crate::mechanisms::*;

const MODEL: &str = include_str!("../../../../../docs/model.md");

/// The profiles in the docs, in their order.
fn examples() -> Vec<SsdProfile> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("example.toml");
    let blocks = MODEL.split("```toml\n").skip(1);
    let load = |block: &str| {
        std::fs::write(&path, block.split_once("```").unwrap().0).unwrap();
        load_file(&path).unwrap().into_ssd().unwrap()
    };
    blocks.map(load).collect()
}

#[test]
fn the_example_in_the_docs_is_a_drive_that_works() {
    let mut drive = Drive::new(examples().remove(0));
    drive.fill(0..1000);
    assert_eq!(drive.ssd.telemetry().host_written, Some(PAGE * 1000));
}

#[test]
fn the_failing_drives_in_the_docs_fail_as_they_say() {
    let [_, cut, without_die] = <[SsdProfile; 3]>::try_from(examples()).unwrap();
    let after = |profile| {
        let mut drive = Drive::new(profile);
        drive.fill(0..1000);
        drive.flush();
        drive.idle_until(DeviceTime::default() + Nanos::from_millis(1900));
        drive.write(2001);
        drive.idle_until(DeviceTime::default() + Nanos::from_secs(4));
        drive.fill(1000..2000);
        (0..2000).for_each(|page| assert!(drive.read(page) > Nanos::ZERO));
        drive.ssd.telemetry().lost_pages
    };
    assert_eq!(after(cut), Some(1), "half a program was in RAM when the power went");
    assert_eq!(after(without_die), Some(0), "parity makes up for the die");
}

/// Tables of simulated figures stand below a comment with the fingerprint of the model that gave them. Who
/// changes the model measures them again, by the commands beside them, and gives them the new one.
#[test]
fn simulated_figures_in_the_docs_are_of_todays_model() {
    const MARK: &str = "<!-- model ";
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut marked = 0;
    for directory in [docs.clone(), docs.join("methodology")] {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|kind| kind != "md") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            for (line, text) in text.lines().enumerate() {
                let Some((_, of)) = text.split_once(MARK) else { continue };
                let (place, today) = (path.display(), format!("{EVERYTHING} -->"));
                assert_eq!(of, today, "{place}:{}: the figures are of another model", line + 1);
                marked += 1;
            }
        }
    }
    assert!(marked >= 10, "only {marked} tables say which model they are of");
}

/// A new key of the profile must get a line in `everything.toml` or in `modern`, and one in the docs.
#[test]
fn the_docs_name_every_key() {
    let profile = toml::Table::try_from(modern()).unwrap();
    let mut count = 0;
    for (section, values) in &profile {
        for key in values.as_table().unwrap().keys() {
            assert!(MODEL.contains(&format!("`{section}.{key}`")), "{section}.{key}");
            count += 1;
        }
    }
    assert!(count >= 97, "only {count} keys");
}
