//! A test under way: the device, the recorder, and what has been noted so far.

use std::ops::ControlFlow;
use std::path::Path;

use writecliff_device::{Device, DeviceError, DeviceInfo, DeviceKind, Io, Nanos, Purge, Telemetry};
use writecliff_measure::{
    Load, RecordError, Recorder, RunDirectory, RunDirectoryError, Sample, record,
};

use crate::meter::PowerSource;
use crate::record::{Host, Phase, RunRecord, SCHEMA_VERSION, Status};
use crate::{Plan, PlanError, Warning};

/// What a watcher is shown every second of the device's time.
#[derive(Debug)]
pub struct Progress<'a> {
    /// The second that has just ended; `None` when a step without samples begins.
    pub sample: Option<&'a Sample>,
    /// The step under way.
    pub step: &'a str,
    /// How much of the step is done, from 0 to 1.
    pub fraction: f64,
}

/// Why a run ended without its result. A run that the user interrupts is no error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The plan does not fit the drive; nothing was done to it.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The drive or the recording gave up.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The run's directory cannot be written or read.
    #[error(transparent)]
    RunDirectory(#[from] RunDirectoryError),
    /// The drive gave up outside of a recording.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl RunError {
    fn is_interruption(&self) -> bool {
        matches!(self, Self::Record(RecordError::Interrupted))
    }
}

/// How a phase's end is foreseen, for the progress display.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Extent {
    /// So much device time.
    Time(Nanos),
    /// So many bytes read or written.
    Bytes(u64),
}

/// The device, the recorder and the record of one run.
pub(crate) struct Session<'a> {
    device: &'a mut dyn Device,
    recorder: Recorder,
    record: RunRecord,
    watch: &'a mut dyn FnMut(&Progress<'_>) -> ControlFlow<()>,
}

impl<'a> Session<'a> {
    pub(crate) fn begin(
        plan: &Plan,
        device: &'a mut dyn Device,
        path: &Path,
        watch: &'a mut dyn FnMut(&Progress<'_>) -> ControlFlow<()>,
    ) -> Result<Self, RunError> {
        let every_io = match plan {
            Plan::Consistency(plan) => plan.every_io,
        };
        let (origin, started) = (device.now(), jiff::Timestamp::now());
        let record = RunRecord {
            schema_version: SCHEMA_VERSION,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            started: started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            started_unix_ns: u64::try_from(started.as_nanosecond()).ok(),
            status: Status::Running,
            plan: plan.clone(),
            drive: device.info().clone(),
            host: Host::here(),
            purge: None,
            phases: Vec::new(),
            power_source: PowerSource::default(),
            outcome: None,
            warnings: doubts_about(device.info()),
        };
        let directory = RunDirectory::create(path, &record, every_io)?;
        let recorder = Recorder::new(directory, origin, every_io);
        Ok(Self { device, recorder, record, watch })
    }

    pub(crate) fn drive(&self) -> &DeviceInfo {
        self.device.info()
    }

    /// Purges the drive in the best way it has, and notes what that is worth.
    pub(crate) fn purge(&mut self) -> Result<(), RunError> {
        let Some(&how) = self.drive().purges.first() else {
            self.record.warnings.push(Warning::NotPurged);
            return Ok(());
        };
        let progress = Progress { sample: None, step: "purge", fraction: 0.0 };
        if (self.watch)(&progress).is_break() {
            return Err(RecordError::Interrupted.into());
        }
        let outcome = self.device.purge(how)?;
        if outcome.still_readable > 0 {
            let (still_readable, sampled) = (outcome.still_readable, outcome.sampled);
            self.record.warnings.push(Warning::PurgeIneffective { still_readable, sampled });
        } else if how != Purge::SecureErase {
            self.record.warnings.push(Warning::WeakPurge { how });
        }
        self.record.purge = Some(outcome);
        Ok(self.recorder.directory().write_record(&self.record)?)
    }

    /// Runs one load as the phase `name`, every second recorded.
    pub(crate) fn record(
        &mut self,
        name: &str,
        load: Load<impl Iterator<Item = Io>>,
        extent: Extent,
    ) -> Result<(), RunError> {
        let start = self.device.now();
        let before = self.device.telemetry();
        self.begin_phase(name, start, before)?;
        let (mut nanos, mut bytes) = (0, 0);
        let watch = &mut self.watch;
        let ended = record(self.device, load, &mut self.recorder, &mut |sample| {
            nanos += sample.span_ns;
            bytes += sample.read_bytes + sample.written_bytes;
            let fraction = match extent {
                Extent::Time(all) => nanos as f64 / all.0 as f64,
                Extent::Bytes(all) => bytes as f64 / all as f64,
            };
            watch(&Progress { sample: Some(sample), step: name, fraction: fraction.min(1.0) })
        });
        let span = self.recorder.span(start, self.device.now());
        let after = self.device.telemetry();
        if let Some(phase) = self.record.phases.last_mut() {
            (phase.length, phase.after) = (span.length, after);
        }
        Ok(ended?)
    }

    fn begin_phase(
        &mut self,
        name: &str,
        start: writecliff_device::DeviceTime,
        before: Telemetry,
    ) -> Result<(), RunError> {
        let start = self.recorder.span(start, start).start;
        let name = name.to_owned();
        self.recorder.begin_phases(&[&name], before);
        let phase = Phase { name, start, length: Nanos::ZERO, before, after: before };
        self.record.phases.push(phase);
        Ok(self.recorder.directory().write_record(&self.record)?)
    }

    /// Concludes the run from what was recorded and puts its record in its final form. A failed
    /// run is concluded as well, as far as the disk allows, before its error is returned.
    pub(crate) fn end(mut self, ended: Result<(), RunError>) -> Result<RunRecord, RunError> {
        let status = match &ended {
            Ok(()) => Status::Complete,
            Err(error) if error.is_interruption() => Status::Interrupted,
            Err(error) => Status::Failed { error: error.to_string() },
        };
        let directory = self.recorder.finish();
        let concluded = directory.recording().and_then(|recording| {
            self.record.conclude(&recording, status);
            directory.close(&self.record)
        });
        match ended {
            Err(error) if !error.is_interruption() => Err(error),
            _ => Ok(concluded.map(|()| self.record)?),
        }
    }
}

fn doubts_about(drive: &DeviceInfo) -> Vec<Warning> {
    match drive.kind {
        DeviceKind::File => vec![Warning::FileNotDrive],
        DeviceKind::BlockDevice | DeviceKind::Simulated => Vec::new(),
    }
}
