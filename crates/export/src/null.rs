//! No drive at all: whatever is asked of it is done at once. What a client sees of it is the way there and
//! back.

use writecliff_device::{
    Bytes, Completion, Device, DeviceError, DeviceInfo, DeviceKind, DeviceTime, Io, PrepareWatch,
    Purge, PurgeOutcome, Status, Telemetry,
};
use writecliff_sim::{AtPowerCut, Contents, Forgets, Model};

#[derive(Debug, Clone)]
pub(crate) struct Null {
    info: DeviceInfo,
    now: DeviceTime,
    /// Submitted since the last reap.
    done: Vec<Completion>,
}

impl Null {
    pub(crate) const CAPACITY: Bytes = Bytes::from_mib(1);

    pub(crate) fn new() -> Self {
        let info = DeviceInfo {
            model: "no drive".to_owned(),
            physical_block_size: Bytes(4096),
            io_size_max: Self::CAPACITY,
            ..DeviceInfo::of("null:", DeviceKind::Null, Self::CAPACITY)
        };
        Self { info, now: DeviceTime::default(), done: Vec::new() }
    }
}

impl Device for Null {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> DeviceTime {
        self.now
    }

    fn submit(&mut self, batch: &[Io]) -> Result<(), DeviceError> {
        let (submitted, completed, status) = (self.now, self.now, Status::Done);
        let ended = batch.iter().map(|io| Completion { io: *io, submitted, completed, status });
        self.done.extend(ended);
        Ok(())
    }

    fn reap(&mut self, until: DeviceTime, done: &mut Vec<Completion>) -> Result<(), DeviceError> {
        if self.done.is_empty() {
            self.now = until;
        }
        done.append(&mut self.done);
        Ok(())
    }

    fn purge(&mut self, how: Purge, _: PrepareWatch<'_>) -> Result<PurgeOutcome, DeviceError> {
        let (address, supported) = (self.info.address.clone(), Vec::new());
        Err(DeviceError::PurgeUnsupported { address, how, supported })
    }

    fn telemetry(&mut self) -> Telemetry {
        Telemetry::default()
    }
}

impl Contents for Null {
    fn unit(&self) -> Bytes {
        Bytes::from_kib(4)
    }

    fn real_capacity(&self) -> Bytes {
        self.info.capacity
    }

    fn forgets(&self) -> Forgets {
        Forgets::Nothing
    }

    fn compresses(&self) -> bool {
        false
    }

    fn holds(&self, _: u32) -> bool {
        true
    }

    fn has_lost(&self, _: u32) -> bool {
        false
    }

    fn takes_writes(&self) -> bool {
        true
    }

    fn next_event(&self) -> Option<DeviceTime> {
        (!self.done.is_empty()).then_some(self.now)
    }

    fn expect_power_cuts(&mut self) -> AtPowerCut {
        AtPowerCut::KeepsAll
    }

    fn cut_power(&mut self, done: &mut Vec<Completion>) {
        done.append(&mut self.done);
    }
}

impl Model for Null {
    fn duplicate(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }
}
