//! What a page says of the test of encryption: the cost, and its reason from the figures.
use crate::drives;

use std::ops::ControlFlow;
use std::path::Path;

use drives::{alone, page};
use writecliff_device::{Nanos, Throughput};
use writecliff_report::Run;
use writecliff_sim::{Build, Engine, Opal, Profile, Security, load};
use writecliff_suite::encryption::Plan;
use writecliff_suite::{DriveWarning, Plan as AnyPlan, RunOptions, run};

/// The test, shortened, on `tiny` with or without compression, and with a processor of this speed.
fn tested(compresses: bool, cipher: Throughput, path: &Path) -> Run {
    let short = Nanos::from_secs(3);
    let plan = Plan {
        random_duration: short,
        sequential_duration: short,
        torture: Nanos::from_secs(120),
        measurement: short,
        cipher,
        ..Plan::default()
    };
    let mut tiny = load("tiny").unwrap().into_ssd().unwrap();
    tiny.reduction.compression = compresses;
    tiny.security = Security {
        engine: Engine::Always,
        cipher: Some("AES-256".to_owned()),
        opal: Opal::Opal2,
        ..Security::default()
    };
    let mut drive = Profile::Ssd(Box::new(tiny)).open("sim:tiny");
    let (plan, options) = (AnyPlan::Encryption(plan), RunOptions::default());
    run(&plan, drive.as_mut(), path, options, &mut |_| ControlFlow::Continue(())).unwrap();
    Run::open(path).unwrap()
}

#[test]
fn the_cost_is_told_with_its_reason() {
    let directory = tempfile::tempdir().unwrap();
    let said = |name: &str, compresses, cipher| {
        let path = directory.path().join(name);
        let run = tested(compresses, Throughput(cipher), &path);
        page(&[alone(run)], &directory.path().join(format!("{name}-page")))
    };
    let fast = 1_000_000_000_000;
    let mut doubted = tested(false, Throughput(fast), &directory.path().join("doubted"));
    doubted.record.warnings = vec![DriveWarning::FileNotDrive.into()];
    let html = page(&[alone(doubted)], &directory.path().join("doubted-page"));
    let bars = html.split("random writes, fresh: plain").nth(1).unwrap();
    assert!(
        bars.split("</li>").next().unwrap().contains(" IOPS ?"),
        "a bar has the mark of its figure"
    );
    let saves = said("saves", true, fast);
    assert!(saves.contains("of its random writes once it is used"), "{saves}");
    assert!(saves.contains("Its controller reduces what it writes"), "{saves}");
    assert!(saves.contains("where encryption lets it pass"), "{saves}");
    assert!(saves.contains("one processor of a model&#39;s host, at a fixed speed"), "{saves}");
    assert!(saves.contains("The drive&#39;s own (AES-256, TCG Opal 2.0) is always on"), "{saves}");
    let plain = said("plain", false, fast);
    assert!(plain.contains("next to nothing"), "{plain}");
    let slow = said("slow", false, 1_000_000);
    assert!(slow.contains("The host&#39;s processor is what bounds it"), "{slow}");
}
