//! The test of encryption on drives, and hosts, whose answers are known by construction.
use std::ops::ControlFlow;
use std::path::Path;

use writecliff_device::scripted::Scripted;
use writecliff_device::{Bytes, Device, Nanos, Throughput};
use writecliff_sim::{Build, Profile, load};
use writecliff_suite::encryption::{Outcome, Part, Plan, Setting};
use writecliff_suite::{
    Outcome as AnyOutcome, Plan as AnyPlan, PreparationWarning, RunOptions, RunRecord, Warning, run,
};

/// A minute of random writes, on a drive that is full after some seconds.
fn plan() -> Plan {
    Plan {
        random_duration: Nanos::from_secs(3),
        sequential_duration: Nanos::from_secs(3),
        torture: Nanos::from_secs(120),
        measurement: Nanos::from_secs(3),
        // No drive waits for this one.
        cipher: Throughput(1_000_000_000_000),
        ..Plan::default()
    }
}

fn record_in(plan: &Plan, device: &mut dyn Device, path: &Path) -> RunRecord {
    let plan = AnyPlan::Encryption(plan.clone());
    run(&plan, device, path, RunOptions::default(), &mut |_| ControlFlow::Continue(())).unwrap()
}

fn record_of(plan: &Plan, device: &mut dyn Device) -> RunRecord {
    let directory = tempfile::tempdir().unwrap();
    record_in(plan, device, &directory.path().join("run"))
}

fn outcome_of(record: &RunRecord) -> Outcome {
    match &record.outcome {
        Some(AnyOutcome::Encryption(outcome)) => outcome.clone(),
        other => panic!("{other:?}, {:?}", record.warnings),
    }
}

/// `tiny`, with or without a controller that compresses.
fn tiny(compresses: bool) -> Box<dyn Device> {
    let mut tiny = load("tiny").unwrap().into_ssd().unwrap();
    tiny.reduction.compression = compresses;
    Profile::Ssd(Box::new(tiny)).open("sim:tiny")
}

#[track_caller]
fn assert_near(got: f64, expected: f64, within_percent: f64) {
    let off = (got / expected - 1.0) * 100.0;
    assert!(off.abs() <= within_percent, "{got} is {off:+.2} % off {expected}");
}

#[test]
fn a_drive_that_compresses_loses_what_it_saved_and_another_nothing() {
    let compresses = outcome_of(&record_of(&plan(), tiny(true).as_mut()));
    let does_not = outcome_of(&record_of(&plan(), tiny(false).as_mut()));
    for setting in [Setting::Encrypted, Setting::EncryptedWithTrim] {
        // Nothing is saved of encrypted data: it is the drive that does not compress.
        for part in [Part::SequentialWrite, Part::RandomWrite, Part::Used] {
            let [one, other] = [&compresses, &does_not].map(|o| o.find(setting, part).unwrap());
            assert_near(one.value(), other.value(), 3.0);
            assert_near(does_not.kept(setting, part).unwrap(), 1.0, 3.0);
        }
        // 54 % of the data are stored, so that half of the NAND is spare area.
        assert!(compresses.kept(setting, Part::Used).unwrap() < 0.25, "{compresses:?}");
        let stored = compresses.find(Setting::Plain, Part::SequentialWrite).unwrap();
        assert_near(stored.write_amplification.unwrap(), 0.54, 1.0);
        assert_near(compresses.kept(setting, Part::SequentialWrite).unwrap(), 0.54, 2.0);
    }
}

#[test]
fn a_trim_that_does_not_pass_leaves_the_drive_dirty() {
    let outcome = outcome_of(&record_of(&plan(), tiny(false).as_mut()));
    let iops = |setting, part| outcome.find(setting, part).unwrap().value();
    let fresh = iops(Setting::Plain, Part::AfterTrim);
    assert!(fresh > iops(Setting::Plain, Part::Used) * 3.0, "{outcome:?}");
    assert_near(iops(Setting::EncryptedWithTrim, Part::AfterTrim), fresh, 3.0);
    let (dirty, used) =
        (iops(Setting::Encrypted, Part::AfterTrim), iops(Setting::Encrypted, Part::Used));
    assert!(dirty < used * 1.5 && dirty < fresh / 3.0, "{outcome:?}");
}

#[test]
fn a_slow_processor_bounds_every_rate_and_says_so() {
    let slow = Plan { cipher: Throughput(4_096_000), ..plan() };
    let outcome = outcome_of(&record_of(&slow, tiny(false).as_mut()));
    for part in [Part::RandomWrite, Part::RandomRead, Part::AfterTrim] {
        let figures = outcome.find(Setting::EncryptedWithTrim, part).unwrap();
        // 4 KiB take it a millisecond.
        // What is on its way at the end is encrypted, and counts in no rate.
        assert_near(figures.value(), 1000.0, 2.0);
        assert_near(figures.processors_busy.unwrap(), 1.0, 2.0);
        assert_near(figures.processor_s_per_gb.unwrap(), 1e9 / 4_096_000.0, 2.0);
        let plain = outcome.find(Setting::Plain, part).unwrap();
        assert_eq!(plain.processor_s_per_gb, Some(0.0));
    }
    // One at a time, the drive's own time comes to that.
    let read = |outcome: &Outcome, setting| {
        131_072.0 / 1e6 / outcome.find(setting, Part::SequentialRead).unwrap().value()
    };
    let plain = read(&outcome, Setting::Plain);
    assert_near(read(&outcome, Setting::Encrypted), plain + 0.032, 1.0);
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let bytes = |name: &str| {
        let path = directory.path().join(name);
        let record = record_in(&plan(), tiny(true).as_mut(), &path);
        let series = std::fs::read(path.join("series.parquet")).unwrap();
        (record.outcome, series, std::fs::read(path.join("histograms.parquet")).unwrap())
    };
    assert!(bytes("one") == bytes("two"));
}

#[test]
fn a_device_that_cannot_be_encrypted_is_measured_plain_with_one_warning() {
    let mut scripted = Scripted::new(Bytes::from_mib(64), |_, _| Nanos::from_micros(50));
    let record = record_of(&plan(), &mut scripted);
    let outcome = outcome_of(&record);
    assert_eq!(outcome.settings.len(), 1);
    assert_eq!(outcome.settings[0].setting, Setting::Plain);
    let is_about_it = |warning: &&Warning| {
        matches!(warning, Warning::Preparation(PreparationWarning::NoEncryption { .. }))
    };
    assert_eq!(record.warnings.iter().filter(is_about_it).count(), 1, "{:?}", record.warnings);
}

#[test]
fn figures_have_names_of_their_own_and_the_rates_are_judged() {
    let figures = record_of(&plan(), tiny(true).as_mut()).figures();
    let mut names: Vec<&str> = figures.iter().map(|figure| figure.name.as_str()).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(names.contains(&"used, encrypted, of the plain rate"), "{names:?}");
    assert_eq!(figures.iter().filter(|figure| figure.judged).count(), 18);
}

#[test]
fn a_plan_that_cannot_be_is_refused() {
    let tiny = tiny(false);
    let refused = |plan: Plan| AnyPlan::Encryption(plan).check(tiny.info()).unwrap_err().option;
    assert_eq!(refused(Plan { cipher: Throughput(0), ..plan() }), "cipher");
    assert_eq!(refused(Plan { compressible_percent: 101, ..plan() }), "compressible_percent");
    // Where it was measured is nothing that a drive notices.
    let here = Plan { cipher_of: Some("a processor".to_owned()), ..plan() };
    assert!(AnyPlan::Encryption(here).asks_as(&AnyPlan::Encryption(plan())));
}
