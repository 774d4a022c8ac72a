//! Runs a test on a device and keeps it in a directory.

use std::any::Any;
use std::path::Path;

use writecliff_device::{Device, DeviceError, DeviceInfo, DeviceKind, Purge, PurgeOutcome};
use writecliff_measure::{Recorder, RunDirectory, RunDirectoryError};

use crate::judge::conclude::not_modelled;
use crate::judge::doubts::doubts_beforehand;
use crate::list::{Plan, RunRecord};
use crate::method::limits::PlanError;
use crate::method::session::{RunError, RunWatch, Session};
use crate::method::underway::{Begun, Underway};
use crate::record::host::Host;
use crate::record::options::RunOptions;
use crate::record::phase::Phase;
use crate::record::power_source::PowerSource;
use crate::record::run_record::{SCHEMA_VERSION, Status};
use crate::record::trace_facts::TraceFacts;
use crate::record::warning::{MethodWarning, Warning};

/// Runs `plan` on `device`, recording into the new directory `path`; `watch` sees every second as
/// it passes and may break off. Returns the finished record, also of a run that was interrupted.
///
/// # Errors
/// [`RunError`]; what was recorded before it is kept in the directory.
pub fn run(
    plan: &Plan,
    device: &mut dyn Device,
    path: &Path,
    options: RunOptions,
    watch: RunWatch<'_>,
) -> Result<RunRecord, RunError> {
    let plan = &plan.clone().on(device.info());
    plan.check(device.info())?;
    check_purge(plan, device.info(), options.purge)?;
    check_poll(device.info(), options.poll)?;
    let threads = options.threads.on(device)?;
    let origin = device.now();
    let mut record = begun(plan, device.info(), options, plan.traces()?);
    let RunOptions { every_io, io_timeout, .. } = record.options;
    let directory = RunDirectory::create(path, &record, every_io)?;
    let recorder = Recorder::new(directory, origin, every_io);
    let recorder = recorder.with_io_timeout(io_timeout).with_threads(threads);
    let mut session = Session::begin(device, recorder, &mut record, watch);
    let is_modelled = not_modelled(plan, session.drive()).is_empty();
    let ended = if is_modelled { plan.run(&mut session) } else { Ok(()) };
    let recorder = session.end();
    end(record, recorder, ended)
}

/// The record of a run that begins now.
pub(super) fn begun(
    plan: &Plan,
    drive: &DeviceInfo,
    options: RunOptions,
    traces: Vec<TraceFacts>,
) -> RunRecord {
    let started = jiff::Timestamp::now();
    let quick = options.quick.then_some(Warning::Method(MethodWarning::Quick));
    RunRecord {
        schema_version: SCHEMA_VERSION,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        started: started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        started_unix_ns: u64::try_from(started.as_nanosecond()).ok(),
        status: Status::Running,
        plan: plan.clone(),
        method_version: plan.entry().method_version,
        options,
        traces,
        drive: drive.clone(),
        host: Host::here(),
        purge: None,
        phases: Vec::new(),
        power_source: PowerSource::default(),
        failed_ios: Vec::new(),
        efficiency: Vec::new(),
        outcome: None,
        warnings: doubts_beforehand(drive).into_iter().chain(quick).collect(),
    }
}

/// Concludes a run from what was recorded and puts its record in its final form. A failed run is
/// concluded as well, as far as the disk allows, before its error is returned.
fn end(
    mut record: RunRecord,
    recorder: Recorder,
    ended: Result<(), RunError>,
) -> Result<RunRecord, RunError> {
    record.failed_ios = recorder.failures().to_vec();
    let directory = recorder.finish();
    let status = match &ended {
        Ok(()) => Status::Complete,
        Err(error) if error.is_interruption() => Status::Interrupted,
        Err(error) => Status::Failed { error: error.to_string() },
    };
    let concluded = directory.recording().and_then(|recording| {
        record.conclude(&recording, status);
        directory.close(&record)
    });
    match ended {
        Err(error) if !error.is_interruption() => Err(error),
        _ => Ok(concluded.map(|()| record)?),
    }
}

impl Underway for RunRecord {
    fn begun(&self) -> Begun {
        Begun {
            seed: self.plan.seed(),
            started_unix_ns: self.started_unix_ns,
            purge: self.options.purge,
        }
    }

    fn phases(&mut self) -> &mut Vec<Phase> {
        &mut self.phases
    }

    fn warnings(&mut self) -> &mut Vec<Warning> {
        &mut self.warnings
    }

    fn purged(&mut self, outcome: PurgeOutcome) {
        self.purge = Some(outcome);
    }

    fn found(&mut self, outcome: Box<dyn Any>) {
        self.outcome = Some(self.plan.outcome(outcome));
    }

    fn write(&self, directory: &RunDirectory) -> Result<(), RunDirectoryError> {
        directory.write_record(self)
    }
}

/// Refuses a purge that the drive has not, before anything is done to it.
fn check_purge(plan: &Plan, drive: &DeviceInfo, how: Option<Purge>) -> Result<(), DeviceError> {
    match how {
        Some(how) if plan.purges() && !drive.purges.contains(&how) => {
            Err(DeviceError::PurgeUnsupported {
                address: drive.address.clone(),
                how,
                supported: drive.purges.clone(),
            })
        }
        _ => Ok(()),
    }
}

/// Refuses to ask for completions where nothing has any to ask for; of real drives, opening them knows.
fn check_poll(drive: &DeviceInfo, poll: bool) -> Result<(), PlanError> {
    let what = match drive.kind {
        DeviceKind::Simulated if poll => "a simulated drive",
        DeviceKind::Null if poll => "null:",
        _ => return Ok(()),
    };
    let reason = format!("{what} has no completions to be asked for; leave it out");
    Err(PlanError { option: "poll", got: "true".to_owned(), reason })
}
