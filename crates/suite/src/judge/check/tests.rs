//! Comparisons and treatments, on drives whose answers are known.

use super::quantity::{Measured, Quantity};
use super::*;
use crate::record::unit::Unit;
use writecliff_device::{Nanos, Throughput};
use writecliff_sim::{Build, ProgramTime, Ssd, SsdProfile, load};

const HEADER: &str = "drive,scenario,value,unit,kind,bound,condition,source\n";

fn comparison(scenario: &str, drive: &str, published: f64, role: Role, model: f64) -> Comparison {
    let kind = match role {
        Role::Rating => "rating",
        Role::Fitted => "fitted",
        Role::Predicted => "measured",
    };
    let row = format!("{drive},{scenario},{published},MB/s,{kind},,,a test\n");
    let figure = parse("test.csv", &format!("{HEADER}{row}")).unwrap().remove(0);
    let measured = Measured::Rate { iops: 1.0, bytes_per_second: model * 1e6 };
    Comparison::new(&figure, false, measured)
}

/// By the profile's own list, or by hand: neither is the model's own word.
#[test]
fn what_a_key_was_set_to_is_not_predicted() {
    for kind in [Role::Fitted, Role::Predicted] {
        let figure = comparison("random-read", "tiny", 100.0, kind, 100.0).figure;
        let measured = || Measured::Rate { iops: 1.0, bytes_per_second: 1e8 };
        assert_eq!(Comparison::new(&figure, false, measured()).role, kind);
        assert_eq!(Comparison::new(&figure, true, measured()).role, Role::Fitted);
    }
}

#[test]
fn a_rating_must_be_met_within_a_tenth_and_behaviour_need_not() {
    let fails = |role, model| comparison("random-read", "tiny", 200.0, role, model).fails();
    assert!(!fails(Role::Rating, 181.9) && !fails(Role::Rating, 220.0));
    assert!(fails(Role::Rating, 181.0) && fails(Role::Rating, 221.0));
    assert!(!fails(Role::Fitted, 1.0) && !fails(Role::Predicted, 1.0));
}

#[test]
fn errors_are_summed_up_by_role_and_class() {
    let rates = [1.0, 1.05, 1.2, 1.4, 3.0];
    let mut all: Vec<_> = rates
        .iter()
        .map(|factor| comparison("random-read", "tiny", 100.0, Role::Predicted, 100.0 / factor))
        .collect();
    all.push(comparison("steady-mean", "tiny", 100.0, Role::Predicted, 200.0));
    all.push(comparison("steady-mean", "tiny", 100.0, Role::Fitted, 101.0));
    let accuracy = Accuracy::of(&all);
    let errors = |role, class| {
        accuracy.errors.iter().find(|e| e.role == role && e.class == class).unwrap().clone()
    };
    let rate = errors(Role::Predicted, Some(Class::Rate));
    assert_eq!((rate.count, rate.within_1_1, rate.within_1_5), (5, 0.4, 0.8));
    assert!((rate.median - 1.2).abs() < 1e-9 && (rate.p90 - 3.0).abs() < 1e-9);
    assert_eq!(errors(Role::Predicted, None).count, 6);
    assert_eq!(errors(Role::Fitted, Some(Class::Used)).count, 1);
    assert!(accuracy.errors.iter().all(|errors| errors.role != Role::Rating));
}

#[test]
fn an_order_is_right_if_every_pair_is() {
    let drives = [("a", 100.0, 10.0), ("b", 200.0, 20.0), ("c", 203.0, 5.0), ("d", 50.0, 1.0)];
    let all = drives.map(|(drive, published, model)| {
        comparison("random-read", drive, published, Role::Predicted, model)
    });
    // b and c are a tie; a is above c in the model only.
    let order = &Accuracy::of(&all).rank_orders[0];
    assert_eq!((order.drives, order.pairs, order.wrong), (4, 5, 1));
}

/// Drives of the catalogue, fitted to nothing.
struct Catalogue;

impl Drives for Catalogue {
    type Error = CheckError;

    fn open(&self, name: &str) -> Result<Box<dyn Device>, CheckError> {
        Ok(load(name).unwrap().open(name))
    }

    fn is_fitted_to(&self, _: &str, _: Scenario) -> bool {
        false
    }
}

#[test]
fn comparisons_come_in_the_figures_order_and_are_the_same_each_time() {
    let rows: String = ["random-write", "sequential-read", "sequential-write", "random-read"]
        .iter()
        .map(|name| format!("tiny,{name},500,MB/s,measured,,,a test\n"))
        .collect();
    let figures = parse("test.csv", &format!("{HEADER}{rows}")).unwrap();
    let run = || compare(&figures, &Catalogue, |_| {}).unwrap();
    let first = run();
    assert!(first.iter().map(|c| &c.figure).eq(&figures));
    assert_eq!(first, run());
    // One alone is what it is among the others.
    let alone = compare(&figures[3..], &Catalogue, |_| {}).unwrap();
    assert_eq!(alone[0], first[3]);
}

fn tiny() -> SsdProfile {
    load("tiny").unwrap().into_ssd().unwrap()
}

fn value(profile: SsdProfile, scenario: &str, unit: Unit) -> f64 {
    let scenario = Scenario::named(scenario).unwrap();
    let mut ssd = Ssd::new(profile, "sim:tiny");
    let figures = perform::perform(scenario.treatment(), &mut ssd, &[scenario]).unwrap();
    figures[scenario.name].in_unit(unit)
}

fn assert_near(got: f64, expected: f64, percent: f64) {
    let error = (got / expected - 1.0) * 100.0;
    assert!(error.abs() <= percent, "{got} instead of {expected}: {error:.2} %");
}

/// NAND that takes no time: what is left is link and firmware.
fn link_bound() -> SsdProfile {
    let mut profile = tiny();
    profile.nand.read_time = Nanos(1);
    profile.nand.program_time = Nanos(1).into();
    profile.nand.erase_time = Nanos(1);
    profile.nand.channel_throughput = Throughput(100_000_000_000);
    profile
}

#[test]
fn sequential_rates_are_the_link_s_where_nothing_else_takes_time() {
    // 128 KiB at 550 MB/s and 2 us for the command.
    let expected = 131_072.0 / (131_072.0 / 550.0 + 2.0);
    for scenario in ["sequential-read", "sequential-write"] {
        assert_near(value(link_bound(), scenario, Unit::MegabytesPerSecond), expected, 1.0);
    }
    let mebi = value(link_bound(), "sequential-read", Unit::MebibytesPerSecond);
    assert_near(mebi, expected / 1.048_576, 1.0);
}

#[test]
fn a_read_one_at_a_time_takes_the_sum_of_its_parts_and_of_the_computer_s() {
    // Firmware, NAND, 4 KiB on the channel, command and 4 KiB on the link; 11 us of the computer.
    let us = 5.0 + 50.0 + 4096.0 / 400.0 + 2.0 + 4096.0 / 550.0 + 11.0;
    assert_near(value(tiny(), "random-read-qd1", Unit::Iops), 1e6 / us, 0.5);
}

#[test]
fn repeating_data_are_written_as_much_faster_as_the_drive_stores_less_of_them() {
    let array_bound = |compression| {
        let mut profile = slow();
        profile.reduction.compression = compression;
        profile.reduction.stored_percent_min = 25;
        profile
    };
    for scenario in ["sequential-write-compressible", "random-write-compressible"] {
        let rate = |compression| value(array_bound(compression), scenario, Unit::Iops);
        assert_near(rate(true) / rate(false), 4.0, 5.0);
    }
}

#[test]
fn latency_is_queue_depth_over_rate() {
    let mut profile = link_bound();
    profile.firmware.write_time = Nanos::from_millis(2);
    let latency = value(profile.clone(), "random-write-qd3-latency", Unit::Milliseconds);
    assert_near(latency, 6.0, 1.0);
    profile.link.queue_depth = 1; // the others wait in the host
    let latency = value(profile, "random-write-qd3-latency", Unit::Milliseconds);
    assert_near(latency, 6.0, 1.5);
}

#[test]
fn consistency_figures_are_those_of_the_test() {
    let floor = value(slow(), "steady-floor", Unit::Iops);
    let mean = value(slow(), "steady-mean", Unit::Iops);
    let spare = value(slow(), "steady-mean-spare25", Unit::Iops);
    assert!(floor > 0.0 && floor <= mean, "{floor} {mean}");
    assert!(spare > 1.5 * mean, "{spare} {mean}");
}

/// A tenth of the speed: virtual time passes at the same cost with a tenth of the I/Os.
fn slow() -> SsdProfile {
    let mut profile = tiny();
    let times = profile.nand.program_time.0.iter();
    profile.nand.program_time = ProgramTime(times.map(|time| *time * 10).collect());
    profile.nand.erase_time = profile.nand.erase_time * 10;
    profile
}

#[test]
fn trim_brings_the_clean_rate_back_to_a_drive_that_forgets_at_once() {
    let clean = value(slow(), "trim-clean", Unit::Iops);
    let dirty = value(slow(), "trim-dirty-40min", Unit::Iops) / clean;
    let after = value(slow(), "trim-after-40min", Unit::Iops) / clean;
    assert!(dirty < 0.8, "{dirty}");
    // A clean drive has nothing to erase; here 32 pages of 6 ms may wait for 30 ms of erasing.
    let erasing = 32.0 * 6.0 / (32.0 * 6.0 + 30.0);
    assert!((0.99 * erasing..1.01).contains(&after), "{after}");
}

#[test]
fn every_treatment_gives_all_that_it_says() {
    let mut treatments: Vec<Vec<Scenario>> = Vec::new();
    for scenario in scenarios() {
        match treatments.iter_mut().find(|those| those[0].treatment == scenario.treatment) {
            Some(those) => those.push(scenario),
            None => treatments.push(vec![scenario]),
        }
    }
    for wanted in treatments {
        let treatment = wanted[0].treatment();
        let mut ssd = Ssd::new(slow(), "sim:slow");
        let figures = perform::perform(treatment, &mut ssd, &wanted).unwrap();
        assert_eq!(figures.len(), wanted.len(), "{}", treatment.name);
        for scenario in wanted {
            let unit = match scenario.quantity() {
                Quantity::Rate => Unit::Iops,
                Quantity::Time => Unit::Milliseconds,
                Quantity::Share => Unit::Percent,
            };
            let value = figures[scenario.name].in_unit(unit);
            assert!(value > 0.0 && value.is_finite(), "{scenario}: {value}");
        }
    }
}
