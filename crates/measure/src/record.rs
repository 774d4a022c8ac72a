//! The one way to record: any supply of I/Os, on any device.

use writecliff_device::{Device, Nanos};

use crate::cycle::Cycle;
use crate::error::{RecordError, Watch};
use crate::recorder::Recorder;
use crate::supply::Supply;

/// Runs `supply` on `device`, a sample a second of each of its series into `recorder`, which must
/// have begun them: until `duration` is over, or until the supply is if that is `None` or later.
/// I/Os in flight when the duration ends are waited for but not counted, unless a real device
/// leaves them waiting for a whole second: then the load goes on until they are back. `watch` sees
/// every sample and may break off.
///
/// # Errors
/// [`RecordError`]; what was recorded up to then is on disk.
pub fn record(
    device: &mut dyn Device,
    supply: impl Supply,
    duration: Option<Nanos>,
    recorder: &mut Recorder,
    watch: Watch<'_>,
) -> Result<(), RecordError> {
    let info = device.info().clone();
    recorder.during(&info, watch, |counter, sink, io_timeout| {
        Cycle::new(device, supply, duration, (counter, sink), io_timeout).run()
    })
}
