//! Arrays by their names: run, reviewed, done again, refused.
use std::path::Path;

use writecliff::suite::{DriveWarning, Warning};
use writecliff::{
    Again, DriveName, ErrorKind, Overrides, Review, ReviewEnd, ReviewRun, RunOptions, RunRecord,
    UNWATCHED, plan, run,
};

const ARRAY: &str = "array:raid5:4:sim:tiny,chunk=64KiB,slow=2,rebuild=1";

fn run_into(drive: &DriveName, path: &Path) -> RunRecord {
    let plan = plan("consistency").unwrap().quick();
    run(&plan, drive, None, path, RunOptions::default(), UNWATCHED).unwrap()
}

#[test]
fn a_run_of_an_array_gives_the_same_bytes_again_and_tells_of_its_rebuild() {
    let directory = tempfile::tempdir().unwrap();
    let (first, second) = (directory.path().join("first"), directory.path().join("second"));
    let record = run_into(&DriveName::from(ARRAY), &first);
    assert_eq!(
        record.drive.model,
        "RAID-5 of 4 Tiny, chunk 64KiB, NAND of member 2 slow, member 1 rebuilt"
    );
    let told = record.warnings.iter().find_map(|warning| match warning {
        Warning::Drive(DriveWarning::Rebuilt { member, done, of, time, in_fill, .. }) => {
            Some((*member, *done, *of, *time, *in_fill))
        }
        _ => None,
    });
    let (member, done, of, time, in_fill) = told.expect("a rebuild beside the fill");
    assert!(member == 1 && done == of && time.0 > 0 && in_fill, "{done} of {of} in {time}");

    let Again { plan, drive, options, .. } = Again::of(&first).unwrap();
    let again = run(&plan, &drive, None, &second, options, UNWATCHED).unwrap();
    for file in ["series.parquet", "histograms.parquet"] {
        let bytes = |run: &Path| std::fs::read(run.join(file)).unwrap();
        assert!(bytes(&first) == bytes(&second), "{file}");
    }
    assert_eq!((again.outcome, again.drive), (record.outcome, record.drive));
}

#[test]
fn an_array_of_one_has_the_figures_of_the_drive() {
    let directory = tempfile::tempdir().unwrap();
    let of = |name: &str| run_into(&name.into(), &directory.path().join(&name[..5]));
    let (alone, array) = (of("sim:tiny"), of("array:raid0:1:sim:tiny"));
    assert_eq!(alone.outcome, array.outcome);
    assert_ne!(alone.drive.profile, array.drive.profile, "and is not taken for it");
}

#[test]
fn a_review_of_an_array_is_one_as_of_any_drive() {
    let directory = tempfile::tempdir().unwrap();
    let tests = ["consistency", "corners", "trim", "integrity"].map(str::to_owned);
    let tests = Review::choose(&tests, &[]).unwrap();
    let options = RunOptions { quick: true, ..RunOptions::default() };
    let drive = DriveName::from("array:raid6:5:sim:tiny,dead=3");
    let path = directory.path().join("review");
    let review = ReviewRun::begin(drive, &tests, &Overrides::default(), options, &path).unwrap();
    assert_eq!(review.run(None, UNWATCHED).unwrap(), ReviewEnd::Complete);
}

#[test]
fn arrays_are_called_by_short_names_in_files() {
    let slug = |name: &str| DriveName::from(name).slug();
    assert_eq!(slug("array:raid5:4:sim:tiny,dead=1"), "raid5-4-tiny-dead-1");
    assert_eq!(slug("array:4+2:sim:a/b/own.toml"), "4-2-own");
    assert_eq!(slug("array:raid1:2:sim:tiny@1/4"), "raid1-2-tiny-1-4");
}

#[test]
fn arrays_that_there_cannot_be_are_wrong_usage() {
    for (name, says) in [
        ("array:raid5:2:sim:tiny", "from 3 to 32"),
        ("array:raid5:4:sim:tinny", "tiny"),
        ("array:raid5:4:sim:wd-velociraptor-300gb", "magnetic disk"),
        ("array:raid5:4:null:", "cannot be members"),
        ("array:raid5:4:sim:/nowhere.toml", "nowhere"),
    ] {
        let error = DriveName::from(name).look().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage, "{name}: {error}");
        assert!(error.to_string().contains(says), "{name}: {error}");
    }
}
