//! Energy by operations and time, sleep states of the link, heat and the throttle.

use writecliff_device::{Temperature, Throughput};
use writecliff_sim::SleepState;

use crate::mechanisms::*;

fn watts(milliwatts: u64) -> Power {
    Power(milliwatts * 1000)
}

fn energy(drive: &mut Drive) -> u64 {
    drive.ssd.telemetry().energy.unwrap().0
}

/// Energy as the meter adds it up, but for less than a nanojoule in every sum.
fn assert_energy(measured: u64, expected: u64) {
    assert!(measured.abs_diff(expected) < 100, "{measured} nJ instead of {expected} nJ");
}

/// Every part of the model drains something that no other does.
fn hungry() -> SsdProfile {
    let mut profile = tiny();
    profile.power.idle = watts(300);
    profile.power.active = watts(2000);
    profile.power.read = Energy(7_000);
    profile.power.program = Energy(65_000);
    profile.power.erase = Energy(900_000);
    profile.power.transfer = Energy(11);
    profile
}

#[test]
fn energy_is_that_of_every_operation_and_of_the_time() {
    let mut drive = Drive::new(hungry());
    let mut busy: u64 = (0..8).map(|page| drive.write(page).0).sum();
    busy += drive.read(0).0;
    drive.idle_until(DeviceTime(10_000_000_000));
    // 8 pages are 4 programs; nine pages crossed the link.
    let operations = 4 * 65_000 + 7_000 + 9 * 11;
    let expected = operations + 300 * 10_000_000 + 2000 * busy / 1000;
    assert_energy(energy(&mut drive), expected);

    // The one superblock in use has a block on each of four dies.
    let erase = drive.purge();
    assert_energy(energy(&mut drive), expected + 4 * 900_000 + 2300 * erase.0 / 1000);
}

#[test]
fn all_planes_of_a_die_take_part_in_a_program() {
    let of_one_program = |planes: u32| {
        let mut profile = tiny();
        profile.nand.planes = planes;
        profile.nand.blocks_per_plane = 256;
        profile.power.idle = Power(1);
        profile.power.program = COUNT;
        let mut drive = Drive::new(profile);
        drive.write(0);
        drive.flush();
        drive.counted()
    };
    assert_eq!([1, 2, 4].map(of_one_program), [1, 2, 4]);
}

#[test]
fn a_profile_without_power_has_no_meter() {
    let mut drive = Drive::new(tiny());
    drive.write(0);
    let telemetry = drive.ssd.telemetry();
    assert_eq!((telemetry.energy, telemetry.temperature), (None, None));
}

/// Slumber after a second, DevSleep after five.
fn sleepy() -> SsdProfile {
    let state = |name: &str, after, exit_millis, milliwatts| SleepState {
        name: name.to_owned(),
        after: Nanos::from_secs(after),
        exit_time: Nanos::from_millis(exit_millis),
        power: watts(milliwatts),
    };
    let mut profile = tiny();
    profile.power.idle = watts(300);
    profile.link.sleep = vec![state("slumber", 1, 10, 50), state("DevSleep", 5, 100, 5)];
    profile
}

#[test]
fn the_first_command_after_a_rest_waits_for_the_link_to_wake() {
    for (profile, exits) in [(sleepy(), [0, 10, 100]), (tiny(), [0, 0, 0])] {
        let mut drive = Drive::new(profile.clone());
        for (rest, exit) in [500, 2000, 9000].into_iter().zip(exits) {
            drive.idle(Nanos::from_millis(rest));
            let awake = unmapped_read(&profile, PAGE);
            assert_eq!(drive.read(0), awake + Nanos::from_millis(exit), "after {rest} ms");
            assert_eq!(drive.read(0), awake);
        }
    }
}

#[test]
fn a_sleeping_link_draws_less() {
    let mut drive = Drive::new(sleepy());
    drive.idle(Nanos::from_secs(10));
    assert_energy(energy(&mut drive), (300 + 4 * 50 + 5 * 5) * 1_000_000);
    let mut awake = Drive::new(SsdProfile { link: tiny().link, ..sleepy() });
    awake.idle(Nanos::from_secs(10));
    assert_energy(energy(&mut awake), 3_000_000_000);
}

/// A drive that settles at 65 degrees when it works without a pause: 4 W at 10 degrees each.
fn warm(throttle_at: u64) -> SsdProfile {
    let mut profile = tiny();
    // Without pauses for erases.
    profile.nand.erase_time = Nanos::ZERO;
    profile.power.idle = watts(1000);
    profile.power.active = watts(3000);
    profile.power.ambient = Temperature(25_000);
    profile.power.rise_per_watt = Temperature(10_000);
    profile.power.time_constant = Nanos::from_secs(10);
    profile.power.throttle_at = Temperature(throttle_at);
    profile.power.throttled_throughput = Some(Throughput(5_000_000));
    profile
}

/// Writes without a pause for `span`; returns bytes per second.
fn write_for(drive: &mut Drive, span: Nanos) -> f64 {
    let (start, chunks) = (drive.ssd.now(), drive.pages() / 32);
    let mut count = 0;
    while drive.ssd.now() - start < span {
        drive.time(write(count % chunks * 32, 32));
        count += 1;
    }
    rate(PAGE * 32 * count, drive.ssd.now() - start)
}

#[test]
fn temperature_follows_power_and_throttling_follows_temperature() {
    let array = rate(tiny().program_size() * 4, tiny().nand.program_time.mean());
    let second = Nanos::from_secs(1);
    let mut drive = Drive::new(warm(55_000));
    // 40 (1 - 1/e) degrees above ambient after one time constant.
    assert_close(write_for(&mut drive, second * 10), array, 0.02);
    let degrees = drive.ssd.telemetry().temperature.unwrap().0 as f64 / 1000.0;
    assert_close(degrees, 25.0 + 40.0 * (1.0 - (-1.0_f64).exp()), 0.01);
    // 55 degrees are reached after ln 4 = 1.39 time constants. After 1.45 of them it is 0.62 degrees
    // too warm: the throttled rate by 1.62; after 1.68 it is 2.54, the rate by 4 x 1.54.
    write_for(&mut drive, Nanos::from_millis(4400));
    assert_close(write_for(&mut drive, Nanos::from_millis(200)), 5e6 / 1.62, 0.05);
    write_for(&mut drive, Nanos::from_millis(2100));
    assert_close(write_for(&mut drive, Nanos::from_millis(200)), 5e6 / (4.0 * 1.54), 0.1);
    drive.idle(second * 30);
    assert_close(write_for(&mut drive, second), array, 0.05);

    let mut cool = Drive::new(warm(0));
    write_for(&mut cool, second * 30);
    assert_close(write_for(&mut cool, second * 10), array, 0.02);
}
