//! A device whose every service time is written down beforehand: for tests whose answers are to be
//! known.

use std::fmt;
use std::io;

use crate::{
    Bytes, Completion, Device, DeviceError, DeviceInfo, DeviceKind, DeviceTime, InFlight, Io,
    Nanos, PrepareWatch, Purge, PurgeOutcome, Status, Telemetry,
};

/// Serves one I/O after the other, or all side by side, each in the time that a script gives for it
/// and the moment. [`Scripted::NEVER`] is the service time of an I/O that does not come back.
pub struct Scripted {
    info: DeviceInfo,
    now: DeviceTime,
    free_at: DeviceTime,
    in_flight: Vec<Completion>,
    status: Box<StatusScript>,
    side_by_side: bool,
    script: Box<Script>,
    gone_from: DeviceTime,
    purge: PurgeScript,
    telemetry: Telemetry,
}

/// What an I/O that begins then takes.
type Script = dyn FnMut(&Io, DeviceTime) -> Nanos + Send;
/// How an I/O that begins then ends.
type StatusScript = dyn FnMut(&Io, DeviceTime) -> Status + Send;

/// What becomes of a purge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PurgeScript {
    Done,
    Fails(i32),
    /// The first in the list does.
    BestFails(i32),
    /// Goes on until the watcher breaks it off.
    Endless,
}

impl Scripted {
    /// What an I/O takes that never ends.
    pub const NEVER: Nanos = Nanos(u64::MAX / 2);

    /// A device that is idle at time zero. `script` gives what an I/O takes that begins then.
    pub fn new(
        capacity: Bytes,
        script: impl FnMut(&Io, DeviceTime) -> Nanos + Send + 'static,
    ) -> Self {
        let info = DeviceInfo {
            model: "Scripted".to_owned(),
            physical_block_size: Bytes(4096),
            trim: true,
            purges: vec![Purge::SecureErase],
            ..DeviceInfo::of("scripted", DeviceKind::Simulated, capacity)
        };
        Self {
            info,
            now: DeviceTime(0),
            free_at: DeviceTime(0),
            in_flight: Vec::new(),
            status: Box::new(|_, _| Status::Done),
            side_by_side: false,
            script: Box::new(script),
            gone_from: DeviceTime::MAX,
            purge: PurgeScript::Done,
            telemetry: Telemetry::default(),
        }
    }

    /// The same device, but no I/O waits for another.
    #[must_use]
    pub fn side_by_side(self) -> Self {
        Self { side_by_side: true, ..self }
    }

    /// The same device with another time on its clock.
    #[must_use]
    pub fn at(self, now: DeviceTime) -> Self {
        Self { now, free_at: now, ..self }
    }

    /// The same device, but every I/O ends like this.
    #[must_use]
    pub fn ending(self, status: Status) -> Self {
        self.ending_by(move |_, _| status)
    }

    /// The same device, but an I/O that begins then ends as `script` says.
    #[must_use]
    pub fn ending_by(self, script: impl FnMut(&Io, DeviceTime) -> Status + Send + 'static) -> Self {
        Self { status: Box::new(script), ..self }
    }

    /// The same device, treated like hardware: it tells what is in flight, and nobody can make its
    /// clock wait.
    #[must_use]
    pub fn real(mut self) -> Self {
        self.info.kind = DeviceKind::BlockDevice;
        self
    }

    /// The same device, but it is no longer there from then on.
    #[must_use]
    pub fn gone_from(self, moment: DeviceTime) -> Self {
        Self { gone_from: moment, ..self }
    }

    /// The same device, but its purge fails with this system error.
    #[must_use]
    pub fn failing_its_purge(self, errno: i32) -> Self {
        Self { purge: PurgeScript::Fails(errno), ..self }
    }

    /// The same device, but the better of two purges fails with this system error.
    #[must_use]
    pub fn failing_its_best_purge(mut self, errno: i32) -> Self {
        self.info.purges = vec![Purge::Format, Purge::Discard];
        Self { purge: PurgeScript::BestFails(errno), ..self }
    }

    /// The same device, but its purge ends only when it is broken off.
    #[must_use]
    pub fn purging_for_ever(self) -> Self {
        Self { purge: PurgeScript::Endless, ..self }
    }

    /// The same device, telling this of itself all the time.
    #[must_use]
    pub fn telling(self, telemetry: Telemetry) -> Self {
        Self { telemetry, ..self }
    }

    fn check_presence(&self) -> Result<(), DeviceError> {
        if self.now < self.gone_from {
            return Ok(());
        }
        let evidence = "the script says so".to_owned();
        Err(DeviceError::Gone { address: self.info.address.clone(), evidence })
    }
}

fn failed(address: String, how: Purge, errno: i32) -> DeviceError {
    let (offset, source) = (Some(Bytes::ZERO), io::Error::from_raw_os_error(errno));
    DeviceError::PurgeFailed { address, how, offset, source }
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scripted at {:?} with {} in flight", self.now, self.in_flight.len())
    }
}

impl Device for Scripted {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> DeviceTime {
        self.now
    }

    fn submit(&mut self, batch: &[Io]) -> Result<(), DeviceError> {
        self.check_presence()?;
        for io in batch {
            let begins = if self.side_by_side { self.now } else { self.free_at.max(self.now) };
            let takes = (self.script)(io, begins);
            let completed = begins + takes;
            if takes < Self::NEVER {
                self.free_at = completed;
            }
            let (submitted, status) = (self.now, (self.status)(io, begins));
            self.in_flight.push(Completion { io: *io, submitted, completed, status });
        }
        self.in_flight.sort_by_key(|io| io.completed);
        Ok(())
    }

    fn reap(&mut self, until: DeviceTime, done: &mut Vec<Completion>) -> Result<(), DeviceError> {
        let next = self.in_flight.first().map_or(DeviceTime::MAX, |io| io.completed);
        self.now = self.now.max(next.min(until).min(self.gone_from));
        self.check_presence()?;
        let now = self.now;
        done.extend(self.in_flight.extract_if(.., |io| io.completed <= now));
        Ok(())
    }

    fn purge(&mut self, how: Purge, watch: PrepareWatch<'_>) -> Result<PurgeOutcome, DeviceError> {
        let address = self.info.address.clone();
        match self.purge {
            PurgeScript::BestFails(errno) if self.info.purges.first() == Some(&how) => {
                Err(failed(address, how, errno))
            }
            PurgeScript::Done | PurgeScript::BestFails(_) => {
                Ok(PurgeOutcome { how, sampled: 0, still_readable: 0 })
            }
            PurgeScript::Fails(errno) => Err(failed(address, how, errno)),
            PurgeScript::Endless => {
                while watch(0.5).is_continue() {}
                Err(DeviceError::PurgeStopped { address, goes_on: false })
            }
        }
    }

    fn telemetry(&mut self) -> Telemetry {
        self.telemetry
    }

    fn in_flight_since(&self, before: DeviceTime) -> Vec<InFlight> {
        let in_flight = self.in_flight.iter().filter(|io| io.submitted < before);
        let mut found: Vec<InFlight> =
            in_flight.map(|&Completion { io, submitted, .. }| InFlight { io, submitted }).collect();
        found.sort_by_key(|waits| waits.submitted);
        found
    }
}
