//! What a page says of sleep, of heat, and of what a watt buys.
use crate::drives;

use std::ops::ControlFlow;
use std::path::Path;

use drives::{alone, page};
use writecliff_device::{Nanos, Power, Temperature, Throughput};
use writecliff_report::Run;
use writecliff_sim::{Build, Profile, SleepState, SsdProfile, load};
use writecliff_suite::{Plan, RunOptions, heat, idle, run};

/// 4 W at 10 degrees each under load, 1 W without, 1 mW asleep.
fn drive(throttle_at: u64) -> SsdProfile {
    let mut profile = load("tiny").unwrap().into_ssd().unwrap();
    profile.power.idle = Power(1_000_000);
    profile.power.active = Power(3_000_000);
    profile.power.ambient = Temperature(25_000);
    profile.power.rise_per_watt = Temperature(10_000);
    profile.power.time_constant = Nanos::from_secs(10);
    profile.power.throttle_at = Temperature(throttle_at);
    profile.power.throttled_throughput = Some(Throughput(5_000_000));
    profile.link.sleep = vec![SleepState {
        name: "slumber".to_owned(),
        after: Nanos::from_secs(2),
        exit_time: Nanos::from_millis(7),
        power: Power(1000),
    }];
    profile
}

fn tested(plan: &Plan, profile: SsdProfile, path: &Path) -> Run {
    let mut drive = Profile::Ssd(Box::new(profile)).open("sim:tiny");
    let go_on = &mut |_: &writecliff_suite::Progress<'_>| ControlFlow::Continue(());
    run(plan, drive.as_mut(), path, RunOptions::default(), go_on).unwrap();
    Run::open(path).unwrap()
}

fn heat() -> Plan {
    let load = Nanos::from_secs(70);
    Plan::Heat(heat::Plan { load, rest: Nanos::from_secs(60), ..heat::Plan::default() })
}

#[test]
fn a_page_tells_when_a_drive_throttles_and_what_a_watt_buys() {
    let directory = tempfile::tempdir().unwrap();
    let cool = tested(&heat(), drive(0), &directory.path().join("cool"));
    let warm = tested(&heat(), drive(58_000), &directory.path().join("warm"));
    let text = page(&[alone(warm)], &directory.path().join("warm-page"));
    assert!(text.contains("Long reads throttle after 1"), "{text}");
    assert!(text.contains("A drive throttles when it is at its own limit."), "{text}");
    let text = page(&[alone(cool)], &directory.path().join("cool-page"));
    // No fast buffer is in its writes.
    let said = "Long reads end at 100 % of their speed, writes end at 99 % of their speed.";
    assert!(text.contains(said), "{text}");
    // 4 W over 70 s are 77.8 mWh.
    assert!(text.contains("What does a watt buy?") && text.contains("77.8 mWh"), "{text}");
}

#[test]
fn drives_are_compared_by_what_a_watt_buys() {
    let directory = tempfile::tempdir().unwrap();
    let [one, other] =
        ["one", "other"].map(|name| alone(tested(&heat(), drive(0), &directory.path().join(name))));
    let text = page(&[one, other], &directory.path().join("page"));
    assert!(text.contains("heat: MB/s per watt"), "{text}");
    assert!(!text.contains("heat: IOPS per watt"), "{text}");
    assert!(!text.contains("Not known of"), "{text}");
}

#[test]
fn a_page_tells_what_sleep_costs() {
    let directory = tempfile::tempdir().unwrap();
    let rests = [1, 10, 120].map(Nanos::from_secs).to_vec();
    let plan = Plan::Idle(idle::Plan { rests, ..idle::Plan::default() });
    let asleep = tested(&plan, drive(0), &directory.path().join("run"));
    let text = page(&[alone(asleep)], &directory.path().join("page"));
    assert!(text.contains("The first read after 10 s takes 7."), "{text}");
    assert!(text.contains("after 2 min it draws 1.00 mW."), "{text}");
}
