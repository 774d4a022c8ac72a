//! The threads that a run's loads are spread over.

use std::thread::available_parallelism;

use writecliff_device::{Device, DeviceKind};
use writecliff_measure::Threads;

use crate::method::limits::PlanError;
use crate::record::thread_count::{MOST, ThreadCount};

/// What one thread keeps busy as well as two would: below this, figures are those of one ring.
const DEPTH_MIN: usize = 32;

impl ThreadCount {
    /// The threads for a device's loads.
    ///
    /// # Errors
    /// If several were asked for by number and it is a simulated drive.
    pub(crate) fn on(self, device: &mut dyn Device) -> Result<Threads, PlanError> {
        match (self, device.info().kind) {
            (Self::Exactly(count @ 2..), DeviceKind::Simulated) => Err(PlanError {
                option: "threads",
                got: count.to_string(),
                reason:
                    "a simulated drive is computed by one thread, in its own time; leave it out"
                        .to_owned(),
            }),
            (Self::Exactly(most), _) => Ok(Threads { most, depth_min: 1 }),
            (Self::Auto, _) => {
                let queues = device.lanes().map_or(1, |lanes| lanes.hardware_queues());
                let processors = available_parallelism().map_or(1, usize::from);
                let most = queues.min(processors - 1).clamp(1, MOST);
                Ok(Threads { most, depth_min: DEPTH_MIN })
            }
        }
    }
}
