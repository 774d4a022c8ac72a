//! A run that nobody planned: what other programs did to a drive that is served to them, kept as any run
//! is.

use std::path::Path;

use writecliff_device::{DeviceInfo, Nanos, Telemetry};
use writecliff_measure::{FailedIo, LatencyHistogram, RunDirectory, RunDirectoryError, Sample};

use crate::list::{Outcome, Plan, RunRecord};
use crate::record::options::RunOptions;
use crate::record::phase::Phase;
use crate::record::run_record::Status;
use crate::record::served::Served;
use crate::runs::run::begun;
use crate::tests::mixed;

/// A run of the test `mixed` without jobs, that is being recorded. A kill costs its last second.
#[derive(Debug)]
pub struct ServedRun {
    record: RunRecord,
    directory: RunDirectory,
}

/// How a drive was at the end of a run.
#[derive(Debug, Clone)]
pub struct ServedEnd {
    /// How long it was served, by its own clock.
    pub length: Nanos,
    /// What it told of itself then.
    pub telemetry: Telemetry,
    /// How often its power went.
    pub power_cuts: u64,
    /// The first I/Os that failed.
    pub failed: Vec<FailedIo>,
    /// Why it could not go on, if it could not.
    pub broken: Option<String>,
}

impl ServedRun {
    /// Begins one in the new directory `path`. `telemetry` is what the drive tells of itself now.
    ///
    /// # Errors
    /// [`RunDirectoryError`]; nothing is left behind if the directory was not empty.
    pub fn begin(
        path: &Path,
        drive: &DeviceInfo,
        served: Served,
        seed: u64,
        telemetry: Telemetry,
    ) -> Result<Self, RunDirectoryError> {
        let plan = Plan::Mixed(mixed::Plan {
            title: None,
            prepare: mixed::Prepare::Nothing,
            duration: None,
            span: None,
            seed,
            read_as: Vec::new(),
            jobs: Vec::new(),
        });
        let mut record = begun(&plan, drive, RunOptions::default(), Vec::new());
        if let Plan::Mixed(plan) = &mut record.plan {
            plan.title = Some(served.what_was_asked(&record.started));
        }
        record.phases.push(Phase {
            name: mixed::phase(0),
            start: Nanos::ZERO,
            length: Nanos::ZERO,
            before: telemetry,
            after: telemetry,
            threads: 1,
            unfinished: true,
        });
        let outcome = mixed::Outcome { served: Some(served), ..mixed::Outcome::default() };
        record.outcome = Some(Outcome::Mixed(outcome));
        let directory = RunDirectory::create(path, &record, false)?;
        Ok(Self { record, directory })
    }

    /// Keeps a second of one of the series ([`mixed::SERVED`], [`mixed::LATENESS`]).
    ///
    /// # Errors
    /// [`RunDirectoryError::Write`].
    pub fn put(
        &mut self,
        sample: &Sample,
        latencies: &LatencyHistogram,
    ) -> Result<(), RunDirectoryError> {
        self.directory.put(sample, latencies)
    }

    /// Ends it with what its seconds come to.
    ///
    /// # Errors
    /// [`RunDirectoryError`]; what was recorded is kept.
    pub fn end(self, end: ServedEnd) -> Result<RunRecord, RunDirectoryError> {
        let Self { mut record, directory } = self;
        let ServedEnd { length, telemetry, power_cuts, failed, broken } = end;
        record.failed_ios = failed;
        if let Some(phase) = record.phases.last_mut() {
            (phase.length, phase.after) = (length, telemetry);
            phase.unfinished = broken.is_some();
        }
        if let Some(Outcome::Mixed(mixed::Outcome { served: Some(served), .. })) =
            &mut record.outcome
        {
            served.power_cuts = power_cuts;
        }
        let status = broken.map_or(Status::Complete, |error| Status::Failed { error });
        record.conclude(&directory.recording()?, status);
        directory.close(&record)?;
        Ok(record)
    }
}
