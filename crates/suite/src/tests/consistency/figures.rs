//! The figures of the test, the most telling first. docs/methodology/ has the exact definitions.

use super::outcome::Outcome;
use crate::record::figure::{FigureOf, Stage, millis};
use crate::record::unit::Unit;
use crate::record::unit::Unit::{Iops, Milliseconds, Percent, Seconds};

/// The name of the figure that limits of the mean are about.
pub const MEAN: &str = "steady mean";
/// Of the worst second of the steady window.
pub(crate) const FLOOR: &str = "steady floor";
/// Of the worst second of all.
pub(crate) const WORST: &str = "worst second";
/// Of the worst second as a share of the mean.
pub(crate) const FLOOR_TO_MEAN: &str = "steady floor / mean";
/// Of the 99th percentile of the latency.
pub(crate) const P99: &str = "steady latency p99";
/// Of the 99.9th.
pub(crate) const P999: &str = "steady latency p99.9";
/// Of the 99.99th.
pub(crate) const P9999: &str = "steady latency p99.99";
/// Of the longest service time.
pub(crate) const LONGEST: &str = "longest write";
/// When the cliff comes; not there if it does not.
pub const CLIFF: &str = "write cliff";
/// What the rate of the fresh drive is called.
pub const FRESH: &str = "fresh";

type Row = FigureOf<Outcome>;

/// All figures of an outcome.
pub const FIGURES: &[Row] = &[
    Row::more(FRESH, "Fresh", Iops, |o| Some(o.fresh_iops))
        .means("random writes per second in the beginning, before any write cliff")
        .given(Stage::Fresh),
    Row::more(CLIFF, "Write cliff", Seconds, |o| o.cliff_s.map(f64::from))
        .means("when performance falls below half of fresh, for ten seconds on average")
        .unjudged()
        .given(Stage::Fresh),
    Row::more(MEAN, "Steady mean", Iops, |o| Some(o.steady_iops.mean))
        .means("average of the seconds in the steady window, which ends with the run"),
    Row::more("steady median", "Steady median", Iops, |o| Some(o.steady_iops.median))
        .means("the middle one of these seconds")
        .unjudged(),
    Row::more(FLOOR, "Floor", Iops, |o| Some(o.steady_iops.floor))
        .means("the worst second of the steady window"),
    Row::more(WORST, "Worst second", Iops, |o| o.worst.map(|worst| worst.iops))
        .means("the worst second of the whole time after the fill, wherever it is"),
    Row::more(FLOOR_TO_MEAN, "Floor / mean", Percent, |o| Some(o.floor_to_mean * 100.0))
        .means("how much of the average the floor is; 100 % is perfectly steady"),
    Row::more("steady p1", "1st percentile", Iops, |o| o.steady_iops.p1)
        .means("one second in a hundred or more is at or below this")
        .unjudged(),
    Row::less("steady variation", "Variation", Percent, |o| Some(o.steady_iops.variation * 100.0))
        .means("standard deviation over mean of the seconds in the steady window")
        .unjudged(),
    Row::less("steady latency p50", "Latency p50", Milliseconds, |o| {
        Some(millis(o.steady_latency.p50_ns))
    })
    .means("half of the writes in the steady window took at most this")
    .unjudged(),
    Row::less(P99, "Latency p99", Milliseconds, |o| o.steady_latency.p99_ns.map(millis))
        .means("99 of 100 writes took at most this"),
    Row::less(P999, "Latency p99.9", Milliseconds, |o| o.steady_latency.p999_ns.map(millis))
        .means("999 of 1,000 writes took at most this"),
    Row::less(P9999, "Latency p99.99", Milliseconds, |o| o.steady_latency.p9999_ns.map(millis))
        .means("9,999 of 10,000 writes took at most this"),
    Row::less(LONGEST, "Longest write", Milliseconds, |o| Some(millis(o.longest_ns)))
        .means("the longest service time of the whole run of random writes"),
    Row::less("dead seconds", "Dead seconds", Unit::Count, |o| Some(f64::from(o.dead_seconds)))
        .means("seconds in which nothing completed")
        .unjudged(),
    Row::less("write amplification", "Write amplification", Unit::Ratio, |o| {
        o.steady_write_amplification
    })
    .means("NAND writes per host write in the steady window, if the drive tells"),
    Row::more("sequential fill", "Sequential fill", Unit::MegabytesPerSecond, |o| {
        o.fill_megabytes_per_second
    })
    .means("average rate of writing what is tested once, in order")
    .given(Stage::Fill),
];
