//! The figures of a consistency run: one table that page and terminal are made from.

use writecliff_suite::consistency::Outcome;

use crate::number;
use crate::run::NONE;

/// One figure: what it is called, what it means, and how to say it.
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) meaning: &'static str,
    pub(crate) value: fn(&Outcome) -> String,
}

/// All figures, the most telling first. docs/methodology.md has the exact definitions.
pub(crate) const FIGURES: &[Figure] = &[
    Figure {
        name: "Fresh",
        meaning: "random writes per second before the spare area is used up",
        value: |o| number::iops(o.fresh_iops),
    },
    Figure {
        name: "Write cliff",
        meaning: "when performance falls below half of fresh and stays there",
        value: |o| match o.cliff_s {
            Some(second) => format!("after {}", number::seconds(f64::from(second))),
            None => "none".to_owned(),
        },
    },
    Figure {
        name: "Steady mean",
        meaning: "average of the seconds in the steady window, the last 30 % of the run",
        value: |o| number::iops(o.steady_iops.mean),
    },
    Figure {
        name: "Steady median",
        meaning: "the middle one of these seconds",
        value: |o| number::iops(o.steady_iops.median),
    },
    Figure {
        name: "Floor",
        meaning: "the worst second of the steady window",
        value: |o| number::iops(o.steady_iops.floor),
    },
    Figure {
        name: "Floor / mean",
        meaning: "how much of the average the worst second gives; 100 % is perfectly steady",
        value: |o| number::percent(o.floor_to_mean),
    },
    Figure {
        name: "1st percentile",
        meaning: "one second in a hundred is at or below this",
        value: |o| number::iops(o.steady_iops.p1),
    },
    Figure {
        name: "Variation",
        meaning: "standard deviation over mean of the seconds in the steady window",
        value: |o| number::percent(o.steady_iops.variation),
    },
    Figure {
        name: "Latency p50",
        meaning: "half of the writes in the steady window took at most this",
        value: |o| number::service_time(o.steady_latency.p50_ns),
    },
    Figure {
        name: "Latency p99",
        meaning: "99 of 100 writes took at most this",
        value: |o| number::service_time(o.steady_latency.p99_ns),
    },
    Figure {
        name: "Latency p99.9",
        meaning: "999 of 1,000 writes took at most this",
        value: |o| number::service_time(o.steady_latency.p999_ns),
    },
    Figure {
        name: "Latency p99.99",
        meaning: "9,999 of 10,000 writes took at most this",
        value: |o| number::service_time(o.steady_latency.p9999_ns),
    },
    Figure {
        name: "Longest write",
        meaning: "the longest service time of the whole run of random writes",
        value: |o| number::service_time(o.longest_ns),
    },
    Figure {
        name: "Dead seconds",
        meaning: "seconds in which nothing completed",
        value: |o| number::thousands(f64::from(o.dead_seconds)),
    },
    Figure {
        name: "Write amplification",
        meaning: "NAND writes per host write in the steady window, if the drive tells",
        value: |o| o.steady_write_amplification.map_or(NONE.to_owned(), number::ratio),
    },
    Figure {
        name: "Sequential fill",
        meaning: "average rate of writing every LBA once, in order",
        value: |o| {
            o.fill_megabytes_per_second.map_or(NONE.to_owned(), number::megabytes_per_second)
        },
    },
];
