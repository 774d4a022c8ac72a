//! A test under way: the device, the recorder, and what has been noted so far.

use std::any::Any;
use std::ops::ControlFlow;
use std::path::Path;

use writecliff_device::{
    Bytes, Device, DeviceError, DeviceInfo, DeviceKind, DeviceTime, Encryption, ErrorKind,
    LogWrites, Nanos, Operation, PurgeOutcome, Stamping, Telemetry, split_mix,
};
use writecliff_measure::{
    Idle, Queue, RecordError, Recorded, Recorder, RunDirectoryError, Sample, Totals, Waiting,
    record,
};
use writecliff_trace::ReadError;
use writecliff_workload::Sequential;

use crate::method::estimate::is_hard_disk;
use crate::method::limits::PlanError;
use crate::method::underway::{Begun, Underway};
use crate::record::phase::Phase;
use crate::record::rate::Rate;
use crate::record::warning::{PreparationWarning, Warning};

/// What a watcher is shown every second of the device's time.
#[derive(Debug)]
pub struct Progress<'a> {
    /// The second that has just ended; `None` when a step without samples begins.
    pub sample: Option<&'a Sample>,
    /// The step under way.
    pub step: &'a str,
    /// How much of the step is done, from 0 to 1; above 1 it has taken all that it takes at least, and
    /// goes on until the drive is steady.
    pub fraction: f64,
    /// How long the step lasts in the device's time, if that is set beforehand.
    pub length: Option<Nanos>,
    /// What a real drive has not answered for a second or longer.
    pub waiting: Waiting,
}

/// Sees how a run goes on and may break it off; with a real drive from another thread than the one
/// that measures.
pub type RunWatch<'a> = &'a mut (dyn FnMut(&Progress<'_>) -> ControlFlow<()> + Send);

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
    /// A trace cannot be read.
    #[error(transparent)]
    Trace(#[from] ReadError),
    /// The drive gave up outside of a recording.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl RunError {
    /// What it asks of whoever ran the test. A refusal is for the sake of somebody's data, and
    /// nothing was written.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Plan(error) => error.kind(),
            Self::Record(error) => error.kind(),
            Self::RunDirectory(error) => error.kind(),
            Self::Trace(error) => error.kind(),
            Self::Device(error) => error.kind(),
        }
    }

    pub(crate) fn is_interruption(&self) -> bool {
        self.kind() == ErrorKind::Interrupted
    }
}

/// How a phase's end is foreseen, for the progress display.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Extent {
    /// So much device time.
    Time(Nanos),
    /// So many bytes read or written.
    Bytes(Bytes),
    /// So much of both, and then on until the drive is steady.
    AtLeast(Nanos, Bytes),
}

/// What a watcher is told is going on while the drive is purged.
pub const PURGE: &str = "purge";
/// And that of writing a file before anything is measured in it.
const LAY_OUT: &str = "lay-out";

/// A trim of this length takes a drive a moment, so that progress is seen.
const TRIM_BLOCK: Bytes = Bytes::from_mib(128);

/// The device, the recorder and the record of one run.
pub(crate) struct Session<'a> {
    device: &'a mut dyn Device,
    recorder: Recorder,
    record: &'a mut dyn Underway,
    watch: RunWatch<'a>,
}

impl<'a> Session<'a> {
    pub(crate) fn begin(
        device: &'a mut dyn Device,
        recorder: Recorder,
        record: &'a mut dyn Underway,
        watch: RunWatch<'a>,
    ) -> Self {
        Self { device, recorder, record, watch }
    }

    /// The recorder, with all that was recorded.
    pub(crate) fn end(self) -> Recorder {
        self.recorder
    }

    pub(crate) fn drive(&self) -> &DeviceInfo {
        self.device.info()
    }

    /// What the run calls its stamped blocks, unlike any other run's on the same drive. A simulated
    /// drive has no data of other runs.
    pub(crate) fn stamps_run(&self) -> u64 {
        let Begun { seed, started_unix_ns, .. } = self.record.begun();
        let begun = match self.drive().kind {
            DeviceKind::Simulated => 0,
            _ => started_unix_ns.unwrap_or(0),
        };
        split_mix(seed ^ begun)
    }

    /// Has the drive stamp blocks, and look at them.
    pub(crate) fn stamp(&mut self, stamping: Stamping) -> Result<(), RunError> {
        if self.device.stamp(stamping) {
            return Ok(());
        }
        let (option, got) = ("a look at the data of", self.drive().address.clone());
        let reason = "it keeps none that could be compared".to_owned();
        Err(PlanError { option, got, reason }.into())
    }

    /// Where the run is kept.
    pub(crate) fn directory(&self) -> &Path {
        self.recorder.directory().path()
    }

    /// Keeps the test's outcome up to now, which no recording holds.
    pub(crate) fn found(&mut self, outcome: impl Any) -> Result<(), RunError> {
        self.record.found(Box::new(outcome));
        self.write_record()
    }

    /// Shows a step that is not recorded, and asks whether to go on.
    pub(crate) fn show(&mut self, step: &str, fraction: f64) -> Result<(), RunError> {
        let waiting = Waiting::default();
        let progress = Progress { sample: None, step, fraction, length: None, waiting };
        match (self.watch)(&progress).is_break() {
            true => Err(RecordError::Interrupted.into()),
            false => Ok(()),
        }
    }

    /// Purges the drive in the way that was chosen, else in the best that it has and does, and notes
    /// what that is worth. A drive that fails all of them and is still there is tested as it is, like
    /// one that has none. Whether any was done.
    pub(crate) fn purge(&mut self) -> Result<bool, RunError> {
        let chosen = self.record.begun().purge;
        let ways = chosen.map_or_else(|| self.drive().purges.clone(), |how| vec![how]);
        if ways.is_empty() {
            // A magnetic disk writes over what it holds: what that was makes no difference to it.
            if !is_hard_disk(self.drive()) {
                self.warn(PreparationWarning::NotPurged);
            }
            return Ok(false);
        }
        let watch = &mut self.watch;
        let mut show = |fraction| {
            let waiting = Waiting::default();
            watch(&Progress { sample: None, step: PURGE, fraction, length: None, waiting })
        };
        if show(0.0).is_break() {
            return Err(RecordError::Interrupted.into());
        }
        let (mut purged, mut failure) = (None, None);
        for how in ways {
            match self.device.purge(how, &mut show) {
                Ok(outcome) => {
                    purged = Some(outcome);
                    break;
                }
                Err(error @ DeviceError::PurgeFailed { .. }) if chosen.is_none() => {
                    failure = failure.or(Some(error.to_string()));
                }
                Err(error) => return Err(error.into()),
            }
        }
        let is_purged = purged.is_some();
        match (purged, failure) {
            (Some(outcome), failure) => {
                failure
                    .into_iter()
                    .for_each(|error| self.warn(PreparationWarning::BetterPurgeFailed { error }));
                self.note_purge(outcome);
            }
            (None, Some(error)) => self.warn(PreparationWarning::PurgeFailed { error }),
            (None, None) => {}
        }
        self.write_record()?;
        Ok(is_purged)
    }

    fn note_purge(&mut self, outcome: PurgeOutcome) {
        if outcome.still_readable > 0 {
            let (still_readable, sampled) = (outcome.still_readable, outcome.sampled);
            self.warn(PreparationWarning::PurgeIneffective { still_readable, sampled });
        } else if !outcome.how.is_firmware_erase() {
            self.warn(PreparationWarning::WeakPurge { how: outcome.how });
        }
        self.record.purged(outcome);
    }

    /// Puts software encryption between the test and the drive, or takes it away. `false`, and a
    /// warning that says why, if there is none to be had here.
    pub(crate) fn encrypt(&mut self, with: Option<&Encryption>) -> Result<bool, RunError> {
        match self.device.encrypt(with) {
            Ok(()) => Ok(true),
            Err(DeviceError::NoEncryption { why, .. }) => {
                self.warn(PreparationWarning::NoEncryption { why });
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Has the drive make itself ready for a log; how many writes are to be kept in flight, or `None` if
    /// there is no such log.
    pub(crate) fn prepare_log(&mut self, log: LogWrites) -> Result<Option<usize>, RunError> {
        let (watch, mut is_broken_off) = (&mut self.watch, false);
        let prepared = self.device.prepare_log(log, &mut |fraction| {
            let waiting = Waiting::default();
            let flow =
                watch(&Progress { sample: None, step: LAY_OUT, fraction, length: None, waiting });
            is_broken_off = flow.is_break();
            flow
        });
        if is_broken_off { Err(RecordError::Interrupted.into()) } else { Ok(prepared?) }
    }

    /// Notes a doubt, once.
    pub(crate) fn warn(&mut self, warning: impl Into<Warning>) {
        let warning = warning.into();
        let warnings = self.record.warnings();
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    /// Records `supply` as the phase `name`, in one series of that name, until `duration` is over
    /// or the supply is.
    pub(crate) fn record(
        &mut self,
        name: &str,
        supply: impl Recorded,
        duration: Option<Nanos>,
        extent: Extent,
    ) -> Result<(), RunError> {
        self.record_as(name, &[name], supply, duration, extent)
    }

    /// As [`Self::record`], in the series named, by their numbers.
    pub(crate) fn record_as(
        &mut self,
        name: &str,
        series: &[&str],
        supply: impl Recorded,
        duration: Option<Nanos>,
        extent: Extent,
    ) -> Result<(), RunError> {
        self.phase(name, |session| {
            session.several(name, series, supply, duration, extent).map(drop)
        })
    }

    /// Writes `[0, span)` once, in order, as the phase `name`.
    pub(crate) fn fill(
        &mut self,
        name: &str,
        span: Bytes,
        block: Bytes,
        queue_depth: usize,
    ) -> Result<(), RunError> {
        let ios = Sequential::new(Operation::Write, span, block);
        self.record(name, Queue::new(ios, queue_depth), None, Extent::Bytes(span))
    }

    /// Trims `[0, span)` as the phase `name`.
    pub(crate) fn trim(&mut self, name: &str, span: Bytes) -> Result<(), RunError> {
        let ios = Sequential::new(Operation::Trim, span, TRIM_BLOCK);
        self.record(name, Queue::new(ios, 1), None, Extent::Bytes(span))
    }

    /// Leaves the drive alone as the phase `name`.
    pub(crate) fn idle(&mut self, name: &str, duration: Nanos) -> Result<(), RunError> {
        self.record(name, Idle, Some(duration), Extent::Time(duration))
    }

    /// Runs `what` as the phase `name` of the record: its time, and the drive's telemetry before
    /// and after it.
    pub(crate) fn phase<T>(
        &mut self,
        name: &str,
        what: impl FnOnce(&mut Self) -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        let before = self.device.full_telemetry();
        let start = self.device.now();
        self.begin_phase(name, start, before)?;
        let ended = what(self);
        let span = self.recorder.span(start, self.device.now());
        // A drive that owes answers gives no further one.
        let owes = ended.is_err() && !self.device.in_flight_since(DeviceTime::MAX).is_empty();
        let after = if owes { self.device.telemetry() } else { self.device.full_telemetry() };
        if let Some(phase) = self.record.phases().last_mut() {
            (phase.length, phase.after, phase.unfinished) = (span.length, after, ended.is_err());
        }
        ended
    }

    /// Records one load of the phase under way as the series `name`, and returns its rate.
    pub(crate) fn series(
        &mut self,
        name: &str,
        supply: impl Recorded,
        duration: Option<Nanos>,
        extent: Extent,
    ) -> Result<Option<Rate>, RunError> {
        let totals = self.several(name, &[name], supply, duration, extent)?;
        Ok(totals.first().and_then(Rate::of))
    }

    /// As [`Self::record_as`], for as long as the supply is not over; `see` has every second as it passes.
    pub(crate) fn record_seen(
        &mut self,
        name: &str,
        series: &[&str],
        supply: impl Recorded,
        extent: Extent,
        see: &mut (dyn FnMut(&Sample) + Send),
    ) -> Result<(), RunError> {
        self.phase(name, |session| {
            session.several_seen(name, series, supply, (None, extent), see).map(|_| ())
        })
    }

    /// Records one load of the phase under way in the series named, by their numbers, and returns
    /// what each of them came to. It is shown as the step `name`.
    pub(crate) fn several(
        &mut self,
        name: &str,
        series: &[&str],
        supply: impl Recorded,
        duration: Option<Nanos>,
        extent: Extent,
    ) -> Result<Vec<Totals>, RunError> {
        self.several_seen(name, series, supply, (duration, extent), &mut |_| {})
    }

    fn several_seen(
        &mut self,
        name: &str,
        series: &[&str],
        supply: impl Recorded,
        (duration, extent): (Option<Nanos>, Extent),
        see: &mut (dyn FnMut(&Sample) + Send),
    ) -> Result<Vec<Totals>, RunError> {
        let telemetry = self.device.telemetry();
        self.recorder.begin(series, telemetry);
        let mut of_series = vec![Totals::default(); series.len()];
        let mut totals = Totals::default();
        let (mut nanos, mut trimmed) = (0, 0);
        let length = match extent {
            Extent::Time(all) => Some(all),
            Extent::Bytes(_) | Extent::AtLeast(..) => None,
        };
        let watch = &mut self.watch;
        record(self.device, supply, duration, &mut self.recorder, &mut |sample, waiting| {
            see(sample);
            totals.add(sample);
            let number = series.iter().position(|name| *name == sample.series);
            number.into_iter().for_each(|number| of_series[number].add(sample));
            if sample.series == series[0] {
                nanos += sample.span_ns;
            }
            trimmed += sample.trims * TRIM_BLOCK.0;
            let of_time = |all: Nanos| nanos as f64 / all.0 as f64;
            let of_bytes = |all: Bytes| (totals.bytes().0 + trimmed) as f64 / all.0 as f64;
            let fraction = match extent {
                Extent::Time(all) => of_time(all).min(1.0),
                Extent::Bytes(all) => of_bytes(all).min(1.0),
                Extent::AtLeast(time, bytes) => of_time(time).min(of_bytes(bytes)),
            };
            watch(&Progress { sample: Some(sample), step: name, fraction, length, waiting })
        })?;
        if let Some(phase) = self.record.phases().last_mut() {
            phase.threads = phase.threads.max(self.recorder.threads_used());
        }
        Ok(of_series)
    }

    fn begin_phase(
        &mut self,
        name: &str,
        start: DeviceTime,
        before: Telemetry,
    ) -> Result<(), RunError> {
        let start = self.recorder.span(start, start).start;
        let name = name.to_owned();
        let (length, after, threads) = (Nanos::ZERO, before, 1);
        let phase = Phase { name, start, length, before, after, threads, unfinished: true };
        self.record.phases().push(phase);
        self.write_record()
    }

    fn write_record(&self) -> Result<(), RunError> {
        Ok(self.record.write(self.recorder.directory())?)
    }
}
