//! Our I/Os beside fio's own, for the same job files: what fio does exactly must be exact here,
//! what it draws at random must be within the bounds of chance.
use crate::beside;

use std::process::Command;

use beside::{Alike, compare, compare_on_a_loop_device, has_fio};
use writecliff_workload::fio::OPTIONS;

#[test]
fn exact_counts_bytes_sizes_and_places() {
    for (file, text) in [
        ("random-write.fio", include_str!("../jobs/random-write.fio")),
        ("sequential-read.fio", include_str!("../jobs/sequential-read.fio")),
        ("two-copies.fio", include_str!("../jobs/two-copies.fio")),
        ("copies-apart.fio", include_str!("../jobs/copies-apart.fio")),
        ("one-after-the-other.fio", include_str!("../jobs/one-after-the-other.fio")),
        ("offset-and-amount.fio", include_str!("../jobs/offset-and-amount.fio")),
        ("uneven.fio", include_str!("../jobs/uneven.fio")),
        ("think.fio", include_str!("../jobs/think.fio")),
        ("flush.fio", include_str!("../jobs/flush.fio")),
        ("offset-align.fio", include_str!("../jobs/offset-align.fio")),
        ("filesize.fio", include_str!("../jobs/filesize.fio")),
    ] {
        compare(file, text, Alike::Exactly);
    }
}

#[test]
fn exact_counts_at_random_places() {
    for (file, text) in [
        ("number.fio", include_str!("../jobs/number.fio")),
        ("filesize-random.fio", include_str!("../jobs/filesize-random.fio")),
        ("aligned.fio", include_str!("../jobs/aligned.fio")),
    ] {
        compare(file, text, Alike::InNumber);
    }
}

#[test]
fn mixes_and_sizes_within_the_bounds_of_chance() {
    for (file, text) in [
        ("random-mix.fio", include_str!("../jobs/random-mix.fio")),
        ("sequential-mix.fio", include_str!("../jobs/sequential-mix.fio")),
        ("block-split.fio", include_str!("../jobs/block-split.fio")),
        ("sizes-by-direction.fio", include_str!("../jobs/sizes-by-direction.fio")),
        ("range.fio", include_str!("../jobs/range.fio")),
        ("split-as-it-comes.fio", include_str!("../jobs/split-as-it-comes.fio")),
        ("partly-random.fio", include_str!("../jobs/partly-random.fio")),
    ] {
        compare(file, text, Alike::OnAverage);
    }
}

#[test]
fn favourite_places_have_the_same_share() {
    compare("zipf.fio", include_str!("../jobs/zipf.fio"), Alike::InFavourites);
    compare("zoned.fio", include_str!("../jobs/zoned.fio"), Alike::InFavourites);
}

#[test]
fn trims_on_a_block_device() {
    compare_on_a_loop_device("trim.fio", include_str!("../jobs/trim.fio"));
}

/// `fio --cmdhelp=all` lists a line an option, with its name before the colon.
#[test]
fn every_option_of_the_installed_fio_has_a_row() {
    if !has_fio() {
        return;
    }
    let output = Command::new("fio").arg("--cmdhelp=all").output().unwrap();
    let listed = String::from_utf8(output.stdout).unwrap();
    let names: Vec<&str> =
        listed.lines().filter_map(|line| Some(line.split_once(':')?.0.trim())).collect();
    assert!(names.contains(&"rw") && names.len() > 100, "{names:?}");
    let known = |name: &&&str| OPTIONS.iter().any(|row| row.names.contains(name));
    let missing: Vec<_> = names.iter().filter(|name| !known(name)).collect();
    assert_eq!(missing, [] as [&&str; 0]);
}
