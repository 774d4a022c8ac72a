//! What the lanes of a device (further ways into it, for threads of their own) tell of themselves: what
//! their threads computed and what the drive owes them. The device that they belong to is asked once a
//! second, and adds it up.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use writecliff_device::{InFlight, Nanos};

/// What a device's lanes tell of themselves.
#[derive(Debug, Default)]
pub(crate) struct LaneTotals {
    all: Arc<All>,
    /// Of the lane that tells it; `None` for the device that hears it.
    own: Option<Told>,
}

#[derive(Debug, Default)]
struct All {
    /// Nanoseconds of processor time, of all lanes together.
    cpu: AtomicU64,
    /// Nanoseconds, of the lane that was held up longest: what stops a machine stops all of them.
    held_up: AtomicU64,
    /// Whether one had something to do since that was asked.
    worked: AtomicBool,
    /// I/Os that the drive still owed when their lane was closed.
    owed: Mutex<Vec<InFlight>>,
}

/// What a lane has told before.
#[derive(Debug)]
struct Told {
    cpu: Nanos,
    /// By the lanes before it.
    held_up_before: Nanos,
}

impl LaneTotals {
    /// For a lane that begins now, and tells it here.
    pub(crate) fn to_tell(&self) -> Self {
        let held_up_before = Nanos(self.all.held_up.load(Ordering::Relaxed));
        Self { all: Arc::clone(&self.all), own: Some(Told { cpu: Nanos::ZERO, held_up_before }) }
    }

    /// The calling thread's processor time, and for how long it was held up: a lane tells it, its owner
    /// adds what it was told.
    pub(crate) fn with(&mut self, cpu: Nanos, held_up: Nanos) -> (Nanos, Nanos) {
        let all = &self.all;
        let Some(own) = &mut self.own else {
            let of = |told: &AtomicU64| Nanos(told.load(Ordering::Relaxed));
            return (cpu + of(&all.cpu), held_up + of(&all.held_up));
        };
        all.cpu.fetch_add(cpu.0.saturating_sub(own.cpu.0), Ordering::Relaxed);
        all.held_up.fetch_max((own.held_up_before + held_up).0, Ordering::Relaxed);
        own.cpu = cpu;
        (cpu, held_up)
    }

    /// Whether this lane had something to do, or for the owner, any.
    pub(crate) fn worked(&self, worked: bool) -> bool {
        match self.own {
            Some(_) => {
                self.all.worked.fetch_or(worked, Ordering::Relaxed);
                worked
            }
            None => worked | self.all.worked.swap(false, Ordering::Relaxed),
        }
    }

    /// A lane is closed while the drive owes these.
    pub(crate) fn close(&self, owed: Vec<InFlight>) {
        if self.own.is_some() {
            self.all.owed.lock().unwrap_or_else(PoisonError::into_inner).extend(owed);
        }
    }

    /// What lanes were owed when they were closed.
    pub(crate) fn owed(&self) -> Vec<InFlight> {
        match self.own {
            Some(_) => Vec::new(),
            None => self.all.owed.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use writecliff_device::{Bytes, DeviceTime, Io};

    #[test]
    fn lanes_add_up_what_they_compute_and_are_held_up_together() {
        let mut owner = LaneTotals::default();
        let [mut one, mut other] = [owner.to_tell(), owner.to_tell()];
        one.with(Nanos(70), Nanos(5));
        one.with(Nanos(100), Nanos(5));
        other.with(Nanos(40), Nanos(7));
        assert_eq!(owner.with(Nanos(1), Nanos(10)), (Nanos(141), Nanos(17)));
        let mut later = owner.to_tell();
        later.with(Nanos(9), Nanos(3));
        assert_eq!(owner.with(Nanos(1), Nanos(10)), (Nanos(150), Nanos(20)));
    }

    #[test]
    fn the_owner_knows_once_that_a_lane_has_worked_and_what_it_is_owed() {
        let owner = LaneTotals::default();
        let lane = owner.to_tell();
        assert!(lane.worked(true) && !lane.worked(false));
        assert!(owner.worked(false) && !owner.worked(false) && owner.worked(true));
        let io = Io::read(Bytes::ZERO, Bytes(4096));
        let owed = vec![InFlight { io, submitted: DeviceTime(7) }];
        lane.close(owed.clone());
        assert_eq!((lane.owed(), owner.owed()), (Vec::new(), owed));
    }
}
