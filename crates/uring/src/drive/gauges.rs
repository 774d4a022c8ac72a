//! What the system and the drive say while a device is in use: counters, clocks, temperature.
//!
//! Asked once a second by the measuring thread, so the files are opened once. What cannot be read
//! is `None`: a gauge never stops a run, and never waits for the drive. The counters are the
//! kernel's own memory; the temperature is a question to the drive, for which a thread of its own
//! waits: a dead NVMe drive takes a minute to leave it unanswered.

use std::fs::{self, File};

use rustix::time::{ClockId, clock_gettime};
use writecliff_device::{DeviceTime, HostCounters, Nanos, Temperature};

use crate::drive::lane_totals::LaneTotals;
use crate::drive::presence::Presence;
use crate::drive::thermometer::Thermometer;
use crate::host::clock;
use crate::host::io_counts::{IoCounter, IoCounts};
use crate::host::sysfs::Node;

/// The files of one device in sysfs, kept open.
#[derive(Debug, Default)]
pub(crate) struct Gauges {
    counter: Option<IoCounter>,
    thermometer: Option<Thermometer>,
    /// `stat` of all processors, once somebody asked for it.
    processors: Option<File>,
    pub(crate) presence: Presence,
    pub(crate) lanes: LaneTotals,
    /// Of the whole disk; 0 where the system lists none.
    pub(crate) hardware_queues: usize,
}

impl Gauges {
    /// Those of a block device; of the whole disk if it is a partition, because load on another
    /// partition disturbs as well.
    pub(crate) fn of(node: &Node) -> Self {
        let disk = node.parent().ok().flatten().unwrap_or_else(|| node.clone());
        Self {
            counter: IoCounter::of(&disk),
            thermometer: Thermometer::of(&disk),
            processors: None,
            presence: Presence::of(node, &disk),
            lanes: LaneTotals::default(),
            hardware_queues: fs::read_dir(disk.directory.join("mq")).map_or(0, Iterator::count),
        }
    }

    /// Those of a lane of the same device, which tells these here of itself and asks the drive nothing.
    pub(crate) fn of_lane(&self) -> Self {
        Self { presence: self.presence.clone(), lanes: self.lanes.to_tell(), ..Self::default() }
    }

    /// From here on the drive protects itself.
    pub(crate) fn temperature_limit(&self) -> Option<Temperature> {
        self.thermometer.as_ref()?.limit
    }

    /// The drive's temperature as it last told it, if it has worked since it was last asked: the
    /// question itself could wake one that rests.
    pub(crate) fn temperature(&mut self, now: DeviceTime, worked: bool) -> Option<Temperature> {
        self.thermometer.as_mut()?.read(now, worked)
    }

    /// Whether the drive owes an answer for so long that it may never give one.
    pub(crate) fn is_unanswered(&self) -> bool {
        self.thermometer.as_ref().is_some_and(|thermometer| thermometer.is_unanswered(clock::now()))
    }

    /// What the system counts: of the disk's I/O, and for the calling thread, which was held up for so
    /// long and asked in vain for so long, and those of the device's lanes.
    pub(crate) fn counters(
        &mut self,
        io: Option<IoCounts>,
        held_up: Nanos,
        asked_in_vain: Nanos,
    ) -> HostCounters {
        let (read, written) = io.map(|io| (io.read, io.written)).unzip();
        let computed = clock(ClockId::ThreadCPUTime).0.saturating_sub(asked_in_vain.0);
        let (cpu, held_up) = self.lanes.with(Nanos(computed), held_up);
        HostCounters { read, written, cpu, suspended: suspended(), held_up }
    }

    /// From here on [`Self::processor_time`] is told.
    pub(crate) fn count_processors(&mut self) {
        if self.processors.is_none() {
            self.processors = File::open("/proc/stat").ok();
        }
    }

    /// What all processors have computed since the system was booted, of whatever process or thread.
    pub(crate) fn processor_time(&self) -> Option<Nanos> {
        let mut text = [0; 256];
        let length = rustix::io::pread(self.processors.as_ref()?, &mut text, 0).ok()?;
        busy(std::str::from_utf8(&text[..length]).ok()?)
    }

    /// What the system counts of the whole disk's I/O; `None` where it does not.
    pub(crate) fn io_counts(&self) -> Option<IoCounts> {
        self.counter.as_ref()?.read()
    }
}

/// From `/proc/stat`, whose first line is of all processors, in hundredths of a second: `cpu`, user,
/// nice, system, idle, waiting for I/O, interrupts of both kinds; what comes after is of virtual
/// machines.
fn busy(stat: &str) -> Option<Nanos> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let times: Vec<u64> =
        line.split_ascii_whitespace().map_while(|time| time.parse().ok()).collect();
    let [user, nice, system, _idle, _waiting, interrupts, soft, ..] = times[..] else {
        return None;
    };
    Some(Nanos::from_millis(10) * (user + nice + system + interrupts + soft))
}

/// CLOCK_BOOTTIME goes on while the machine sleeps, CLOCK_MONOTONIC does not. The smallest of a
/// few differences: the thread may lose the processor between the two readings.
fn suspended() -> Nanos {
    let differences = (0..3).map(|_| {
        let awake = clock(ClockId::Monotonic);
        Nanos(clock(ClockId::Boottime).0.saturating_sub(awake.0))
    });
    differences.min().unwrap_or_default()
}

fn clock(id: ClockId) -> Nanos {
    let time = clock_gettime(id);
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

#[cfg(test)]
#[path = "gauges_tests.rs"]
mod tests;
