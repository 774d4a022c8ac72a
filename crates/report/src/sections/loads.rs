//! Loads of reads and writes in words, and how they are drawn.

use writecliff_suite::loads::Load;

use crate::number;
use crate::picture::{ORANGE, READS, Style, WRITES};

/// `reads`, `70 % reads`, `writes`.
pub(super) fn operations(load: Load) -> String {
    match load.read_percent {
        100 => "reads".to_owned(),
        0 => "writes".to_owned(),
        percent => format!("{percent} % reads"),
    }
}

/// `random`, `sequential`.
pub(super) fn order(load: Load) -> &'static str {
    if load.random { "random" } else { "sequential" }
}

/// `4 KiB random reads`.
pub(super) fn in_words(load: Load) -> String {
    let (block, order, operations) = (number::size(load.block), order(load), operations(load));
    match load.read_percent {
        0 | 100 => format!("{block} {order} {operations}"),
        _ => format!("{block} {order}, {operations}"),
    }
}

/// What a person counts a load in: random in IOPS, sequential in MB/s.
pub(super) fn unit(load: Load) -> (&'static str, fn(f64) -> String) {
    match load.random {
        true => ("IOPS", number::iops),
        false => ("MB/s", number::megabytes_per_second),
    }
}

/// How it is drawn beside others.
pub(super) fn style(load: Load) -> Style {
    match load.read_percent {
        100 => READS,
        0 => WRITES,
        _ => ORANGE,
    }
}

/// With a capital letter.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + letters.as_str()
    })
}
