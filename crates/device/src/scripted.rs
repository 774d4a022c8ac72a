//! A device whose every service time is written down beforehand: for tests whose answers are to be
//! known.

use std::fmt;

use crate::{
    Bytes, Completion, Device, DeviceError, DeviceInfo, DeviceKind, DeviceTime, Io, Nanos, Purge,
    PurgeOutcome, Specification, Status, Telemetry,
};

/// Serves one I/O after the other, or all side by side, each in the time that a script gives for it
/// and the moment.
pub struct Scripted {
    info: DeviceInfo,
    now: DeviceTime,
    free_at: DeviceTime,
    in_flight: Vec<Completion>,
    status: Status,
    side_by_side: bool,
    script: Box<Script>,
}

/// What an I/O that begins then takes.
type Script = dyn FnMut(&Io, DeviceTime) -> Nanos;

impl Scripted {
    /// A device that is idle at time zero. `script` gives what an I/O takes that begins then.
    pub fn new(capacity: Bytes, script: impl FnMut(&Io, DeviceTime) -> Nanos + 'static) -> Self {
        let info = DeviceInfo {
            address: "scripted".to_owned(),
            kind: DeviceKind::Simulated,
            model: "Scripted".to_owned(),
            serial: None,
            world_wide_name: None,
            stands_on: Vec::new(),
            firmware: None,
            capacity,
            lba_size: Bytes(512),
            physical_block_size: Bytes(4096),
            io_size_max: Bytes::from_mib(32),
            queue_depth_max: 32,
            rotational: false,
            trim: true,
            purges: vec![Purge::SecureErase],
            scheduler: None,
            temperature_limit: None,
            specification: Specification::default(),
        };
        let (now, free_at) = (DeviceTime(0), DeviceTime(0));
        let (in_flight, status) = (Vec::new(), Status::Done);
        let (side_by_side, script) = (false, Box::new(script));
        Self { info, now, free_at, in_flight, status, side_by_side, script }
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
        Self { status, ..self }
    }
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
        for io in batch {
            let begins = if self.side_by_side { self.now } else { self.free_at.max(self.now) };
            self.free_at = begins + (self.script)(io, begins);
            let (submitted, completed, status) = (self.now, self.free_at, self.status);
            self.in_flight.push(Completion { io: *io, submitted, completed, status });
        }
        self.in_flight.sort_by_key(|io| io.completed);
        Ok(())
    }

    fn reap(&mut self, until: DeviceTime, done: &mut Vec<Completion>) -> Result<(), DeviceError> {
        let next = self.in_flight.first().map_or(DeviceTime::MAX, |io| io.completed);
        self.now = self.now.max(next.min(until));
        let now = self.now;
        done.extend(self.in_flight.extract_if(.., |io| io.completed <= now));
        Ok(())
    }

    fn purge(&mut self, how: Purge) -> Result<PurgeOutcome, DeviceError> {
        Ok(PurgeOutcome { how, sampled: 0, still_readable: 0 })
    }

    fn telemetry(&mut self) -> Telemetry {
        Telemetry::default()
    }
}
