//! A cost model's rates, and what a fresh drive's would have promised, in words.

use writecliff_suite::cost_model::{Coefficient, Outcome, Promise};

use crate::number;

/// What the fresh drive's rates would have promised, and by how much that is wrong.
pub(crate) fn lie(outcome: &Outcome) -> Option<String> {
    let (fresh, steady) = (outcome.fresh?, outcome.steady?);
    let Some(Promise { seconds, drive_writes, times }) = outcome.promise else {
        let (worst, times) = outcome.worst_promise()?;
        return Some(match times {
            ..1.1 => "Measured fresh it would have been the same.".to_owned(),
            _ => format!(
                "Measured fresh, {} would have been {} instead of {}.",
                worst.words(),
                words(worst, fresh.get(worst)),
                words(worst, steady.get(worst))
            ),
        });
    };
    let promised = number::count(fresh.wrandiops);
    let lasts = match seconds {
        0 => "which the drive, once full, did not do for a second".to_owned(),
        _ => format!(
            "which the drive, once full, did for {} ({} drive writes)",
            number::seconds(f64::from(seconds)),
            match drive_writes {
                ..0.01 => "less than 0.01".to_owned(),
                _ => format!("{drive_writes:.2}"),
            }
        ),
    };
    Some(format!(
        "Measured fresh it would have promised {promised} random writes a second, {lasts}, {} times what it keeps.",
        number::times(times)
    ))
}

/// A rate in the words of its unit.
pub(crate) fn words(coefficient: Coefficient, rate: f64) -> String {
    match coefficient.counts_bytes() {
        true => number::megabytes_per_second(rate / 1e6),
        false => number::iops(rate),
    }
}
