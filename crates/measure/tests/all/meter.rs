//! Logs of power meters, written out by hand with what they mean.
use writecliff_measure::{Adapter, MeterError, MeterOptions, PowerSeries, Sample};

/// 2026-11-21T10:00:00Z.
const STARTED: u64 = 1_795_255_200_000_000_000;

const PLAIN: MeterOptions = MeterOptions { clock_offset_s: 0.0, adapter: None };
const MSATA: MeterOptions = MeterOptions { adapter: Some(Adapter::Msata), ..PLAIN };

fn read(log: &str, options: MeterOptions) -> Result<PowerSeries, MeterError> {
    PowerSeries::read(log.as_bytes(), Some(STARTED), &options)
}

/// The readings of a log that must be good, as (second, watts) to a microsecond and a microwatt.
fn readings(log: &str, options: MeterOptions) -> Vec<(f64, f64)> {
    let series = read(log, options).unwrap_or_else(|error| panic!("{error}"));
    let round = |number: f64| (number * 1e6).round() / 1e6;
    series.readings().iter().map(|r| (round(r.second), round(r.watts))).collect()
}

/// What a user is told of a log that must be refused.
fn refusal(log: &str, options: MeterOptions) -> String {
    read(log, options).expect_err("must be refused").to_string()
}

/// Samples of one second each.
fn samples(count: u64) -> Vec<Sample> {
    let sample = |second: u64| Sample {
        start_ns: second * 1_000_000_000,
        span_ns: 1_000_000_000,
        ..Sample::default()
    };
    (0..count).map(sample).collect()
}

/// The power of each sample in milliwatts after a log was attached.
fn attached(log: &str, count: u64) -> Vec<Option<u64>> {
    let mut samples = samples(count);
    let got = read(log, PLAIN).unwrap().attach(&mut samples).unwrap();
    let powers: Vec<_> = samples.iter().map(|s| s.power_microwatts.map(|p| p / 1000)).collect();
    assert_eq!(got, powers.iter().flatten().count());
    powers
}

#[test]
fn elapsed_seconds_and_watts_are_taken_as_they_are() {
    assert_eq!(readings("elapsed,watts\n0,1.5\n0.5,2.25\n", PLAIN), [(0.0, 1.5), (0.5, 2.25)]);
}

#[test]
fn times_of_day_count_from_the_run_s_beginning() {
    let unix = "time,watts\n1795255199.5,1\n1795255201.25,2\n";
    assert_eq!(readings(unix, PLAIN), [(-0.5, 1.0), (1.25, 2.0)]);
    let milliseconds = "timestamp_ms,watts\n1795255199500,1\n1795255201250,2\n";
    assert_eq!(readings(milliseconds, PLAIN), [(-0.5, 1.0), (1.25, 2.0)]);
    let rfc = "timestamp,watts\n2026-11-21T09:59:59.5Z,1\n2026-11-21T11:00:01.25+01:00,2\n";
    assert_eq!(readings(rfc, PLAIN), [(-0.5, 1.0), (1.25, 2.0)]);
}

#[test]
fn volts_times_amperes_are_watts_and_the_header_has_the_unit() {
    let log = "elapsed_ms,voltage_mV,current_mA\n1000,5000,400\n";
    assert_eq!(readings(log, PLAIN), [(1.0, 2.0)]);
    assert_eq!(readings("elapsed_s,volts,amperes\n1,5,0.4\n", PLAIN), [(1.0, 2.0)]);
    assert_eq!(readings("ELAPSED,POWER_MW\n1,2000\n", PLAIN), [(1.0, 2.0)]);
    assert_eq!(readings("elapsed,power_uW\n1,2000\n", PLAIN), [(1.0, 0.002)]);
    // What the meter itself calls power is preferred: its volts and amperes are rounded.
    assert_eq!(readings("elapsed,volts,amperes,watts\n1,5,0.4,1.9\n", PLAIN), [(1.0, 1.9)]);
}

#[test]
fn other_columns_blanks_and_a_byte_order_mark_are_passed_over() {
    let log = "\u{feff}elapsed , channel, watts\n 1 , probe 2, 2.5\n";
    assert_eq!(readings(log, PLAIN), [(1.0, 2.5)]);
}

#[test]
fn the_offset_is_added_to_the_meter_s_clock() {
    let late = MeterOptions { clock_offset_s: -2.5, ..PLAIN };
    assert_eq!(readings("elapsed,watts\n3,1\n", late), [(0.5, 1.0)]);
    assert_eq!(readings("time,watts\n1795255203,1\n", late), [(0.5, 1.0)]);
}

#[test]
fn behind_the_msata_adapter_the_drive_draws_what_flows_on_at_3_3_volts() {
    // (0.508 A - 0.008 A) x 3.3 V = 1.65 W; the meter sees 5 V x 0.508 A = 2.54 W.
    for log in [
        "elapsed,amperes\n1,0.508\n",
        "elapsed,volts,current_mA\n1,5.0,508\n",
        "elapsed,watts,volts\n1,2.54,5.0\n",
        "elapsed,watts,amperes\n1,2.54,0.508\n",
    ] {
        assert_eq!(readings(log, MSATA), [(1.0, 1.65)], "{log}");
    }
    let message = refusal("elapsed,watts\n1,2.54\n", MSATA);
    assert!(message.contains("no current") && message.contains("watts and volts"), "{message}");
    assert!(refusal("elapsed,watts,volts\n1,2.54,0\n", MSATA).contains("line 2"));
}

#[test]
fn a_header_that_says_too_little_or_too_much_is_refused() {
    for (log, expected) in [
        ("watts\n1\n", "no times: its columns are watts; name a column time, timestamp or elapsed"),
        ("seconds,power\n1,2\n", "no times: its columns are seconds, power;"),
        ("elapsed,power\n1,2\n", "a column power, and does not say in what unit; name it power_W"),
        ("elapsed,volts\n1,5\n", "no power"),
        ("elapsed;watts\n1;5\n", "no times: its columns are elapsed;watts;"),
        ("elapsed,watts,power_mW\n1,2,2000\n", "watts and power_mW for the same thing"),
        ("elapsed,watts\n", "no readings"),
        ("", "no times"),
    ] {
        let message = refusal(log, PLAIN);
        assert!(message.contains(expected), "{log:?}: {message}");
    }
}

#[test]
fn what_is_no_number_is_refused_with_its_line() {
    for (log, expected) in [
        (
            "elapsed,watts\n1,2\n2,OL\n",
            "line 3 of the meter's log: watts is 'OL', which is not a number",
        ),
        ("elapsed,watts\n1,NaN\n", "line 2 of the meter's log: watts is 'NaN'"),
        ("elapsed,watts\n1,\n", "line 2 of the meter's log: watts is ''"),
        ("elapsed,watts\nnoon,2\n", "line 2 of the meter's log: elapsed is 'noon'"),
        ("time,watts\n10:00:00,2\n", "not seconds since 1970 or RFC 3339 with its zone"),
        ("time,watts\n2026-11-21T10:00:00,2\n", "RFC 3339 with its zone"),
        ("elapsed,watts\n1,2,3\n", "line: 2"),
        ("elapsed,watts\n1,-2\n", "line 2 of the meter's log makes -2.000 W; check the polarity"),
    ] {
        let message = refusal(log, PLAIN);
        assert!(message.contains(expected), "{log:?}: {message}");
    }
}

#[test]
fn time_that_goes_backwards_is_refused() {
    let message = refusal("elapsed,watts\n1,2\n3,2\n2.75,2\n", PLAIN);
    assert!(message.contains("line 4 of the meter's log is 0.250 s earlier"), "{message}");
}

#[test]
fn readings_of_the_same_time_are_one_of_their_mean() {
    let log = "elapsed,watts\n1,2\n1,4\n2,5\n";
    assert_eq!(readings(log, PLAIN), [(1.0, 3.0), (2.0, 5.0)]);
}

#[test]
fn times_of_day_need_the_run_s_exact_start() {
    let log = |text: &str| PowerSeries::read(text.as_bytes(), None, &PLAIN);
    let message = log("time,watts\n1795255200,1\n").unwrap_err().to_string();
    assert!(message.contains("column elapsed"), "{message}");
    assert!(log("elapsed,watts\n0,1\n").is_ok());
}

#[test]
fn a_sample_has_the_mean_over_its_span() {
    // Every reading stands for the half second around it.
    let twice_a_second = "elapsed,watts\n0.25,1\n0.75,2\n1.25,3\n1.75,5\n";
    assert_eq!(attached(twice_a_second, 2), [Some(1500), Some(4000)]);
    // At 0, 1 and 2 s: half of a sample is the one's, half the other's.
    assert_eq!(attached("elapsed,watts\n0,1\n1,3\n2,4\n", 2), [Some(2000), Some(3500)]);
    // Uneven: 1 W up to 0.4 s, 6 W from there on.
    assert_eq!(attached("elapsed,watts\n0.2,1\n0.6,6\n1.4,6\n", 1), [Some(4000)]);
}

#[test]
fn a_slow_meter_s_reading_reaches_the_samples_beside_it_and_no_further() {
    // A reading at 1.5 s reaches from 0.5 s to 2.5 s; at 8.5 s, to 9.5 s.
    let powers = attached("elapsed,watts\n1.5,2\n8.5,4\n", 11);
    let (two, four) = (Some(2000), Some(4000));
    let none = None;
    assert_eq!(powers, [two, two, two, none, none, none, none, four, four, four, none]);
}

#[test]
fn a_new_log_replaces_what_the_samples_had() {
    let mut samples = samples(3);
    samples[2].power_microwatts = Some(7);
    // 20 mW below zero are the meter's inexact zero.
    let series = read("elapsed,watts\n0.25,-0.02\n0.75,-0.02\n", PLAIN).unwrap();
    assert_eq!(series.attach(&mut samples).unwrap(), 1);
    let powers = samples.iter().map(|sample| sample.power_microwatts);
    assert_eq!(powers.collect::<Vec<_>>(), [Some(0), None, None]);
}

#[test]
fn streams_of_one_second_have_the_same_power() {
    let mut both = [samples(2), samples(2)].concat();
    both.sort_by_key(|sample| sample.start_ns);
    let series = read("elapsed,watts\n0.5,1\n1.5,2\n", PLAIN).unwrap();
    assert_eq!(series.attach(&mut both).unwrap(), 4);
    let powers: Vec<_> = both.iter().filter_map(|sample| sample.power_microwatts).collect();
    assert_eq!(powers, [1_000_000, 1_000_000, 2_000_000, 2_000_000]);
}

#[test]
fn a_log_of_another_time_is_refused_with_both_spans() {
    let mut samples = samples(100);
    let series = read("elapsed,watts\n3600,1\n3700,1\n", PLAIN).unwrap();
    let message = series.attach(&mut samples).unwrap_err().to_string();
    assert!(message.contains("3600.0 s to 3700.0 s"), "{message}");
    assert!(message.contains("the run 0.0 s to 100.0 s"), "{message}");
    assert!(message.contains("by an offset"), "{message}");
    assert!(samples.iter().all(|sample| sample.power_microwatts.is_none()));
}
