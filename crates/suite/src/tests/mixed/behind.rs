//! Whether jobs that were to have a rate did less.

use writecliff_device::Operation;
use writecliff_workload::{Job, Pace};

use crate::method::change::by_chance;
use crate::method::loads::plural;
use crate::record::number::in_words;
use crate::record::warning::JobWarning;

/// Jobs may do so much less than they were to, as a share of it, besides what chance takes from arrivals: their last
/// I/Os.
const BEHIND: f64 = 0.05;
/// Of a shorter time nothing is said: what is late may yet be made up for.
const BEHIND_SECONDS: f64 = 5.0;

/// What was done in a time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Done {
    pub(crate) ios: u64,
    pub(crate) iops: f64,
    pub(crate) megabytes_per_second: f64,
}

/// Whether jobs that ran at once, for so many seconds, did less than they were to: each operation for itself, or all
/// together where a job mixes them. Nothing is known of jobs that differ in their times or in what their rates count,
/// or of which one has no rate. With the operations that each doubt is about.
pub(crate) fn behind(
    whose: &str,
    jobs: &[Job],
    seconds: f64,
    done: impl Fn(Operation) -> Option<Done>,
) -> Vec<(Vec<Operation>, JobWarning)> {
    if seconds < BEHIND_SECONDS || !are_at_once(jobs) {
        return Vec::new();
    }
    let loads: Vec<Job> = jobs.iter().flat_map(Job::by_rate).collect();
    let does = |load: &Job, operation| transfers(load).any(|one| one == operation);
    let mut operations = vec![Operation::Read, Operation::Write, Operation::Trim];
    operations.retain(|operation| loads.iter().any(|load| does(load, *operation)));
    let are_apart = loads.iter().all(|load| transfers(load).count() == 1);
    let parts = operations.chunks(if are_apart { 1 } else { operations.len().max(1) });
    let of_part = parts.filter_map(|part| {
        let of_part = |load: &&Job| does(load, part[0]) || !are_apart;
        let loads: Vec<&Job> = loads.iter().filter(of_part).collect();
        let all: Option<Vec<Done>> = part.iter().map(|operation| done(*operation)).collect();
        let all = all?.into_iter().fold(Done::default(), Done::plus);
        let (asked, done) = short_of(&loads, all)?;
        let whose = match part {
            [one] if operations.len() > 1 => format!("the {} of {whose}", plural(*one)),
            _ => whose.to_owned(),
        };
        let counts_lateness = loads.iter().all(|load| matches!(load.pace, Pace::Arrivals { .. }));
        Some((part.to_vec(), JobWarning::Behind { whose, asked, done, counts_lateness }))
    });
    of_part.collect()
}

/// Whether jobs begin and end together, as far as their plan tells.
pub(crate) fn are_at_once(jobs: &[Job]) -> bool {
    let times = |job: &Job| job.time_based.then(|| (job.start_delay, job.duration()));
    jobs.windows(2).all(|two| times(&two[0]).is_some() && times(&two[0]) == times(&two[1]))
}

/// What it reads, writes and trims: a flush comes of a write.
fn transfers(load: &Job) -> impl Iterator<Item = Operation> {
    load.operations().filter(|operation| *operation != Operation::Flush)
}

/// What jobs are to do of an operation together, by their plan, and what that is counted in: no more comes of them.
/// Nothing is known where one has no rate, has one by chance, or mixes it with others.
pub(crate) fn asked_of(jobs: &[Job], operation: Operation) -> Option<(f64, &'static str)> {
    let loads: Vec<Job> = jobs.iter().flat_map(Job::by_rate).collect();
    let does = |load: &&Job| transfers(load).any(|one| one == operation);
    let loads: Vec<&Job> = loads.iter().filter(does).collect();
    let is_known = |load: &&Job| transfers(load).count() == 1 && !is_drawn(load);
    loads.iter().all(is_known).then(|| asked(&loads))?
}

/// Whether it comes at random moments.
const fn is_drawn(load: &Job) -> bool {
    matches!(load.pace, Pace::Arrivals { .. } | Pace::Scatter(_))
}

/// The sum of their rates, if all have one, counted in the same.
fn asked(loads: &[&Job]) -> Option<(f64, &'static str)> {
    let rates: Option<Vec<(f64, &str)>> = loads.iter().map(|load| rate(load.pace)).collect();
    let rates = rates?;
    let (_, unit) = *rates.first()?;
    let are_alike = rates.iter().all(|(_, other)| *other == unit);
    are_alike.then(|| (rates.iter().map(|(rate, _)| rate).sum(), unit))
}

/// What these loads were to do and what they did, in words, if it is less.
fn short_of(loads: &[&Job], done: Done) -> Option<(String, String)> {
    let (asked, unit) = asked(loads)?;
    let did = if unit == IOPS { done.iops } else { done.megabytes_per_second };
    let ios = done.ios as f64;
    let chance = if loads.iter().any(|load| is_drawn(load)) {
        by_chance(ios) / ios.max(1.0) * did
    } else {
        0.0
    };
    let told = |rate| in_words(rate, unit);
    (did + chance < (1.0 - BEHIND) * asked).then(|| (told(asked), told(did)))
}

pub(crate) const IOPS: &str = "IOPS";

/// The rate that a load is to have, and what it is counted in.
fn rate(pace: Pace) -> Option<(f64, &'static str)> {
    match pace {
        Pace::Iops(iops) | Pace::Arrivals { iops, .. } => Some((iops as f64, IOPS)),
        Pace::Rate(rate) | Pace::Scatter(rate) => Some((rate.0 as f64 / 1e6, "MB/s")),
        Pace::Closed
        | Pace::Think { .. }
        | Pace::Muse { .. }
        | Pace::Bursts { .. }
        | Pace::Rates { .. } => None,
    }
}

impl Done {
    fn plus(self, other: Self) -> Self {
        Self {
            ios: self.ios + other.ios,
            iops: self.iops + other.iops,
            megabytes_per_second: self.megabytes_per_second + other.megabytes_per_second,
        }
    }
}
