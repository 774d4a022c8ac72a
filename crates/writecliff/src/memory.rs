//! Memory that runs on simulated drives share: one begins when there is enough of it.

use std::sync::{Condvar, Mutex, PoisonError};

use writecliff_array::Simulated;
use writecliff_device::Bytes;
use writecliff_sim::Profile;

/// RAM for each mapping unit of a simulated drive, at most: docs/model.md.
const BYTES_PER_UNIT: u64 = 13;
/// What a run takes besides: its recording and the report of nothing.
const BESIDES: Bytes = Bytes::from_mib(64);

/// What is left.
#[derive(Debug)]
pub struct Budget {
    all: u64,
    left: Mutex<u64>,
    returned: Condvar,
}

/// A part of a budget, which is given back when dropped.
pub struct Share<'a> {
    budget: &'a Budget,
    bytes: u64,
}

impl Budget {
    /// So much to be shared.
    pub fn new(all: Bytes) -> Self {
        Self { all: all.0, left: Mutex::new(all.0), returned: Condvar::new() }
    }

    /// Waits until so much is left; for all of it if it was never so much.
    pub fn take(&self, bytes: Bytes) -> Share<'_> {
        let bytes = bytes.0.min(self.all);
        let left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let mut left = self
            .returned
            .wait_while(left, |left| *left < bytes)
            .unwrap_or_else(PoisonError::into_inner);
        *left -= bytes;
        Share { budget: self, bytes }
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        *self.budget.left.lock().unwrap_or_else(PoisonError::into_inner) += self.bytes;
        self.budget.returned.notify_all();
    }
}

/// What a run on such a drive, or such an array, takes.
pub fn memory_of(simulated: &Simulated) -> Bytes {
    let profile = simulated.profile();
    let unit = match &profile {
        Profile::Ssd(ssd) => ssd.mapping.unit.0,
        Profile::Disk(_) => return BESIDES,
    };
    let of_one = profile.identity().capacity.0 / unit.max(1) * BYTES_PER_UNIT;
    BESIDES + Bytes(of_one) * u64::from(simulated.drives())
}

/// Three quarters of what this machine has free; a guess where it does not tell.
pub fn memory_here() -> Bytes {
    let told = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let free = told.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = free.and_then(|rest| rest.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kib.map_or(Bytes::from_gib(2), |kib| Bytes::from_kib(kib * 3 / 4))
}
