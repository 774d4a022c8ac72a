//! Things that do one thing at a time: a link, a processor, a channel, a die.

use writecliff_device::{DeviceTime, Nanos};

/// A resource that serves requests strictly in the order they come: a die, the firmware.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Fifo {
    free_at: DeviceTime,
}

impl Fifo {
    /// Serves `work` when the resource is free and the request is `ready`; returns its end.
    pub(super) fn serve(&mut self, ready: DeviceTime, work: Nanos) -> DeviceTime {
        self.free_at = self.free_at.max(ready) + work;
        self.free_at
    }
}

/// A shared bus that serves whatever is ready: a link, a channel.
///
/// Transfers are booked when their I/O is submitted, often long before their data are ready, and
/// a strict queue would let such a booking hold up others that could go first. So the bus only
/// sums up the work booked since it was last idle: nothing ends before all work booked ahead of it
/// could have been done, and an idle bus adds no wait.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bus {
    booked_until: DeviceTime,
}

impl Bus {
    /// Books `work` at `now` for data that are ready at `ready`; returns its end.
    pub(super) fn transfer(
        &mut self,
        now: DeviceTime,
        ready: DeviceTime,
        work: Nanos,
    ) -> DeviceTime {
        self.booked_until = self.booked_until.max(now) + work;
        self.booked_until.max(ready + work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifo_serves_in_order_and_idles_until_work_is_ready() {
        let mut die = Fifo::default();
        assert_eq!(die.serve(DeviceTime(10), Nanos(5)), DeviceTime(15));
        assert_eq!(die.serve(DeviceTime(10), Nanos(5)), DeviceTime(20));
        assert_eq!(die.serve(DeviceTime(100), Nanos(5)), DeviceTime(105));
    }

    #[test]
    fn a_bus_lets_ready_data_pass_a_booking_far_ahead_but_never_exceeds_its_rate() {
        let mut bus = Bus::default();
        assert_eq!(
            bus.transfer(DeviceTime(0), DeviceTime(1000), Nanos(10)),
            DeviceTime(1010)
        );
        assert_eq!(
            bus.transfer(DeviceTime(0), DeviceTime(50), Nanos(10)),
            DeviceTime(60)
        );
        let last = (0..100)
            .map(|_| bus.transfer(DeviceTime(0), DeviceTime(0), Nanos(10)))
            .last();
        assert_eq!(last, Some(DeviceTime(1020)));
    }
}
