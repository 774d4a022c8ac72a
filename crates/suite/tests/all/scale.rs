//! Scale models: the levels of the whole drive, in a part of the time.
use std::ops::ControlFlow;

use writecliff_device::Nanos;
use writecliff_sim::{Build, Profile, ProfileError, catalogue, load, scaled};
use writecliff_suite::{Plan, RunOptions, consistency, run};

/// What a drive comes to after `seconds` of torture: IOPS when fresh, IOPS and write amplification
/// in steady state, MB/s of the fill.
fn levels(drive: Profile, seconds: u64) -> [f64; 4] {
    let dir = tempfile::tempdir().unwrap();
    let mut device = drive.open("sim:model");
    let duration = Nanos::from_secs(seconds);
    let plan = Plan::Consistency(consistency::Plan::lasting(duration));
    let mut watch = |_: &writecliff_suite::Progress<'_>| ControlFlow::Continue(());
    let options = RunOptions::default();
    let record = run(&plan, &mut *device, &dir.path().join("run"), options, &mut watch).unwrap();
    let figures = record.figures();
    ["fresh", "steady mean", "write amplification", "sequential fill"]
        .map(|name| figures.iter().find(|figure| figure.name == name).unwrap().value)
}

/// What the scale model comes to, in ratios to the whole drive.
fn beside_the_whole(name: &str, parts: u32, seconds: u64) -> Result<[f64; 4], ProfileError> {
    let whole = load(name).unwrap();
    let part = levels(scaled(&whole, parts)?, seconds / u64::from(parts));
    let whole = levels(whole, seconds);
    Ok(std::array::from_fn(|at| part[at] / whole[at]))
}

#[test]
fn a_scale_model_comes_to_the_levels_of_the_whole_drive() {
    let ratios = beside_the_whole("intel-x25-e-32gb", 16, 2000).unwrap();
    assert!(ratios.iter().all(|ratio| (ratio - 1.0).abs() < 0.04), "{ratios:?}");
}

#[test]
fn a_scale_model_says_what_it_is_and_what_cannot_be_one() {
    let part = scaled(&load("samsung-840-evo-250gb").unwrap(), 16).unwrap();
    let identity = part.identity();
    assert_eq!(identity.model, "Samsung SSD 840 EVO 250GB, 1/16 scale model");
    assert_eq!(identity.price_usd, None, "nobody sold it");
    let ssd = part.clone().into_ssd().unwrap();
    assert_eq!(ssd.nand.blocks_per_plane, 4096, "as many blocks");
    assert_eq!(writecliff_sim::recorded(&part.record()).unwrap(), part);
    for (name, parts) in
        [("wd-velociraptor-300gb", 16), ("jmicron-jmf602b-128gb", 16), ("tiny", 7), ("tiny", 0)]
    {
        let refused = scaled(&load(name).unwrap(), parts);
        assert!(matches!(refused, Err(ProfileError::NoScaleModel { .. })), "{name} / {parts}");
    }
}

#[test]
#[ignore = "nightly: 2000 s of torture of every simulated drive, whole and as a scale model"]
fn every_drive_has_the_levels_of_its_scale_model() {
    let mut off = Vec::new();
    for name in catalogue() {
        match beside_the_whole(name, 16, 2000) {
            Ok([fresh, steady, copied, fill]) => {
                println!("{name}: {fresh:.3} {steady:.3} {copied:.3} {fill:.3}");
                off.push((steady - 1.0).abs());
            }
            Err(error) => println!("{error}"),
        }
    }
    off.sort_by(f64::total_cmp);
    let (median, ninety) = (off[off.len() / 2], off[off.len() * 9 / 10]);
    println!("steady mean: {median:.4} off in the median, {ninety:.4} in nine of ten");
    assert!(median < 0.02 && ninety < 0.05, "{off:?}");
}
