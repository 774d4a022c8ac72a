//! Doubts that only several tests of one drive together give rise to.

use crate::list::{Outcome, RunRecord};
use crate::record::warning::{MethodWarning, Warning};

/// What the tests of one drive say of each other's results: the index of a record, and the doubt
/// about it. A fast buffer that one test found may hold all that another wrote at a time.
pub fn doubts_across(records: &[&RunRecord]) -> Vec<(usize, Warning)> {
    let outcomes = records.iter().filter_map(|record| record.outcome.as_ref());
    let Some(buffer) = outcomes.filter_map(Outcome::fast_part).map(|part| part.bytes).next() else {
        return Vec::new();
    };
    let within = records.iter().enumerate().filter_map(|(index, record)| {
        let finds_itself = record.outcome.as_ref().and_then(Outcome::fast_part).is_some();
        if finds_itself {
            return None;
        }
        let written = record
            .plan
            .written_at_a_time(record.drive.capacity)
            .filter(|bytes| *bytes <= buffer)?;
        Some((
            index,
            Warning::Method(MethodWarning::WithinBuffer {
                part: None,
                written,
                again: false,
                buffer,
                or_heat: false,
            }),
        ))
    });
    within.collect()
}
