//! No drive at all: everything is done at once, by the real clock.
//!
//! What is measured on it is this machine and this program: how many I/Os they can issue, and how
//! well they keep to a trace's clock.

use writecliff_device::{
    Bytes, Completion, Device, DeviceError, DeviceInfo, DeviceKind, DeviceTime, Io, Lanes, Nanos,
    PrepareWatch, Purge, PurgeOutcome, Status, Telemetry,
};

use crate::drive::gauges::Gauges;
use crate::engine::lanes;
use crate::engine::options::Options;
use crate::host::clock;

/// A device of 1 TiB that does nothing. No data are made for it either.
#[derive(Debug)]
pub struct NullDevice {
    info: DeviceInfo,
    gauges: Gauges,
    /// Submitted since the last reap.
    done: Vec<Completion>,
}

impl NullDevice {
    /// A device that takes as many and as long I/Os as `options` say.
    pub fn new(options: &Options) -> Self {
        let info = DeviceInfo {
            model: "no drive".to_owned(),
            physical_block_size: Bytes(4096),
            io_size_max: options.io_size_max,
            queue_depth_max: options.queue_depth,
            trim: true,
            purges: vec![Purge::Discard],
            ..DeviceInfo::of("null:", DeviceKind::Null, Bytes::from_gib(1024))
        };
        let done = Vec::with_capacity(options.queue_depth);
        Self { info, gauges: Gauges::default(), done }
    }
}

impl NullDevice {
    /// A way into the same nothing, for one more thread.
    fn lane(&self, queue_depth: usize) -> Self {
        let info = lanes::info(&self.info, queue_depth);
        Self { info, gauges: self.gauges.of_lane(), done: Vec::with_capacity(queue_depth) }
    }
}

impl Lanes for NullDevice {
    /// One, so that it is asked for by number what further threads would gain.
    fn hardware_queues(&self) -> usize {
        1
    }

    fn open(&mut self, queue_depth: usize) -> Result<Box<dyn Device + Send>, DeviceError> {
        Ok(Box::new(self.lane(queue_depth)))
    }
}

impl Device for NullDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> DeviceTime {
        clock::now()
    }

    fn submit(&mut self, batch: &[Io]) -> Result<(), DeviceError> {
        batch.iter().try_for_each(|io| self.info.check(io))?;
        let submitted = self.now();
        for io in batch {
            let (completed, status) = (submitted, Status::Done);
            self.done.push(Completion { io: *io, submitted, completed, status });
        }
        Ok(())
    }

    fn reap(&mut self, until: DeviceTime, done: &mut Vec<Completion>) -> Result<(), DeviceError> {
        if self.done.is_empty() {
            clock::sleep_until(until);
        }
        done.append(&mut self.done);
        Ok(())
    }

    fn purge(&mut self, how: Purge, _: PrepareWatch<'_>) -> Result<PurgeOutcome, DeviceError> {
        Ok(PurgeOutcome { how, sampled: 0, still_readable: 0 })
    }

    fn lanes(&mut self) -> Option<&mut dyn Lanes> {
        Some(self)
    }

    fn telemetry(&mut self) -> Telemetry {
        Telemetry {
            host: Some(self.gauges.counters(None, Nanos::ZERO, Nanos::ZERO)),
            ..Telemetry::default()
        }
    }
}
