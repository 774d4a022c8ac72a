//! `docs/model.md`: its example is a drive, and it names every key of a profile.

use writecliff_sim::load_file;

use crate::golden::everything;
use crate::*;

const MODEL: &str = include_str!("../../../../docs/model.md");

#[test]
fn the_example_in_the_docs_is_a_drive_that_works() {
    let (_, from_example) = MODEL.split_once("```toml\n").unwrap();
    let (example, _) = from_example.split_once("```").unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("example.toml");
    std::fs::write(&path, example).unwrap();
    let mut drive = Drive::new(load_file(&path).unwrap().into_ssd().unwrap());
    drive.fill(0..1000);
    assert_eq!(drive.ssd.telemetry().host_written, Some(PAGE * 1000));
}

/// A new key of the profile must get a line in `everything.toml`, and one in the docs.
#[test]
fn the_docs_name_every_key() {
    let profile = toml::Table::try_from(everything()).unwrap();
    let mut count = 0;
    for (section, values) in &profile {
        for key in values.as_table().unwrap().keys() {
            assert!(MODEL.contains(&format!("`{section}.{key}`")), "{section}.{key}");
            count += 1;
        }
    }
    assert!(count >= 95, "only {count} keys");
}
