//! Doubts that only several tests of one drive together give rise to.

use writecliff_device::Bytes;

use crate::{FastPart, Outcome, Plan, RunRecord, Warning};

/// What the tests of one drive say of each other's results: the index of a record, and the doubt
/// about it. A fast buffer that one test found may hold all that another wrote at a time.
pub fn doubts_across(records: &[&RunRecord]) -> Vec<(usize, Warning)> {
    let Some(buffer) = records.iter().find_map(|record| fast_part(record)).map(|p| p.bytes) else {
        return Vec::new();
    };
    let within = records.iter().enumerate().filter_map(|(index, record)| {
        let written = written_at_a_time(&record.plan).filter(|bytes| *bytes <= buffer)?;
        Some((index, Warning::WithinBuffer { part: None, written, buffer }))
    });
    within.collect()
}

fn fast_part(record: &RunRecord) -> Option<FastPart> {
    match record.outcome.as_ref()? {
        Outcome::Consistency(outcome) => outcome.fast_part,
        Outcome::Trim(outcome) => outcome.fast_part,
        Outcome::Corners(outcome) => outcome.fast_part,
        _ => None,
    }
}

/// Of the tests that write little and do not look for the buffer themselves.
fn written_at_a_time(plan: &Plan) -> Option<Bytes> {
    match plan {
        Plan::Incompressible(plan) => Some(plan.amount),
        Plan::TransferSize(plan) => Some(plan.span),
        _ => None,
    }
}
