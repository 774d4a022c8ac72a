//! What groups and jobs are called among the phases and series of a run.

use writecliff_workload::Job;

pub use crate::method::loads::series;

pub(super) fn series_of(group: &[Job]) -> Vec<String> {
    group.iter().flat_map(series_of_job).collect()
}

pub(super) fn series_of_job(job: &Job) -> Vec<String> {
    job.operations().map(|operation| series(&job.name, operation)).collect()
}

/// What a group is called among the phases.
pub fn phase(group: u32) -> String {
    format!("group {group}")
}
