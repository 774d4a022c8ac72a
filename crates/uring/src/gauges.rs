//! What the system and the drive say while a device is in use: counters, clocks, temperature.
//!
//! Asked once a second by the measuring thread, so the files are opened once. What cannot be read
//! is `None`: a gauge never stops a run, and never waits for the drive. The counters are the
//! kernel's own memory; the temperature is a question to the drive, for which a thread of its own
//! waits: a dead NVMe drive takes a minute to leave it unanswered.

use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use rustix::time::{ClockId, clock_gettime};
use writecliff_device::{Bytes, DeviceTime, HostCounters, Nanos, Temperature};

use crate::clock;
use crate::lanes::Told;
use crate::presence::Presence;
use crate::sysfs::Node;

/// The unit that block devices are counted in, whatever their LBA size.
const SECTOR: Bytes = Bytes(512);
/// NVMe answers beside its I/O queues: as often as somebody asks here, which is once a second.
const NVME_PERIOD: Nanos = Nanos::from_millis(500);
/// A SATA drive must finish its queue before it can tell its temperature: asked every second, the
/// question would show in the percentiles.
const QUEUED_PERIOD: Nanos = Nanos::from_secs(10);
/// A limit beyond this is one that the drive does not have: NVMe's unset one reads as 65 kK.
const LIMIT_MAX: Temperature = Temperature(200_000);

/// The files of one device in sysfs, kept open.
#[derive(Debug, Default)]
pub(crate) struct Gauges {
    stat: Option<File>,
    thermometer: Option<Thermometer>,
    /// `stat` of all processors, once somebody asked for it.
    processors: Option<File>,
    pub(crate) presence: Presence,
    pub(crate) lanes: Told,
    /// Of the whole disk; 0 where the system lists none.
    pub(crate) hardware_queues: usize,
}

impl Gauges {
    /// Those of a block device; of the whole disk if it is a partition, because load on another
    /// partition disturbs as well.
    pub(crate) fn of(node: &Node) -> Self {
        let disk = node.parent().ok().flatten().unwrap_or_else(|| node.clone());
        let counting = disk.number_of("queue/iostats").is_ok_and(|on| on != 0);
        Self {
            stat: counting.then(|| File::open(disk.directory.join("stat")).ok()).flatten(),
            thermometer: Thermometer::of(&disk),
            processors: None,
            presence: Presence::of(node, &disk),
            lanes: Told::default(),
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

    /// What the system counts, for the calling thread, which was held up for so long and asked in vain
    /// for so long, and those of the device's lanes.
    pub(crate) fn counters(&mut self, held_up: Nanos, asked_in_vain: Nanos) -> HostCounters {
        let (read, written) = self.transferred().unzip();
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

    /// Bytes read and written; sysfs makes the text anew for every read from its beginning.
    fn transferred(&self) -> Option<(Bytes, Bytes)> {
        let mut text = [0; 512];
        let length = rustix::io::pread(self.stat.as_ref()?, &mut text, 0).ok()?;
        sectors(std::str::from_utf8(&text[..length]).ok()?)
    }
}

/// From a `stat` file: the third number counts sectors read, the seventh sectors written. Trims
/// have counters of their own.
fn sectors(stat: &str) -> Option<(Bytes, Bytes)> {
    let mut numbers = stat.split_ascii_whitespace().map(str::parse::<u64>);
    let read = numbers.nth(2)?.ok()?;
    let written = numbers.nth(3)?.ok()?;
    Some((SECTOR * read, SECTOR * written))
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

/// A drive's temperature, asked for by a thread of its own.
struct Thermometer {
    limit: Option<Temperature>,
    period: Nanos,
    ask: Option<Box<Ask>>,
    questions: Option<Sender<()>>,
    answer: Arc<Mutex<Answer>>,
    asked: Option<DeviceTime>,
    /// Since it was asked last; what it told then is not its temperature any more.
    rested: bool,
}

/// Asks the drive, for as long as that takes.
type Ask = dyn FnMut() -> Option<Temperature> + Send;

/// What the drive told last, and whether it is being asked again.
#[derive(Debug, Default)]
struct Answer {
    told: Option<Temperature>,
    is_due: bool,
}

impl Thermometer {
    /// The one in hwmon.
    fn of(disk: &Node) -> Option<Self> {
        let directory = hwmon_of(&disk.directory)?;
        let number = |name| thousandths(&fs::read_to_string(directory.join(name)).ok()?);
        let mut limits = ["temp1_max", "temp1_crit"].into_iter().filter_map(number);
        let limit = limits.find(|limit| (1..=LIMIT_MAX.0).contains(&limit.0));
        let is_nvme = fs::read_to_string(directory.join("name")).is_ok_and(|n| n.trim() == "nvme");
        let period = if is_nvme { NVME_PERIOD } else { QUEUED_PERIOD };
        let input = File::open(directory.join("temp1_input")).ok()?;
        let ask = move || {
            let mut text = [0; 32];
            let length = rustix::io::pread(&input, &mut text, 0).ok()?;
            thousandths(std::str::from_utf8(&text[..length]).ok()?)
        };
        Some(Self::new(limit, period, Box::new(ask)))
    }

    fn new(limit: Option<Temperature>, period: Nanos, ask: Box<Ask>) -> Self {
        let answer = Arc::default();
        Self { limit, period, ask: Some(ask), questions: None, answer, asked: None, rested: false }
    }

    fn read(&mut self, now: DeviceTime, worked: bool) -> Option<Temperature> {
        match self.asked {
            Some(asked) if now.since(asked) < self.period => {}
            Some(_) if !worked => {
                self.rested = true;
                return None;
            }
            _ => self.question(now),
        }
        let answer = locked(&self.answer);
        // What was told before the drive fell silent is not its temperature now.
        let is_silent = answer.is_due && self.asked.is_some_and(|a| now.since(a) >= self.period);
        answer.told.filter(|_| !is_silent)
    }

    /// Asks the drive, unless it still owes an answer.
    fn question(&mut self, now: DeviceTime) {
        let mut answer = locked(&self.answer);
        if answer.is_due {
            return;
        }
        if std::mem::take(&mut self.rested) {
            answer.told = None;
        }
        (answer.is_due, self.asked) = (true, Some(now));
        drop(answer);
        if let Some(ask) = self.ask.take() {
            self.questions = listen(ask, Arc::clone(&self.answer));
        }
        if let Some(questions) = &self.questions {
            let _ = questions.send(());
        }
    }

    fn is_unanswered(&self, now: DeviceTime) -> bool {
        locked(&self.answer).is_due && self.asked.is_some_and(|a| now.since(a) >= self.period)
    }
}

/// Starts the thread that asks. It ends with the last sender, or when the drive answers after that:
/// nobody waits for it. Without a thread there is no temperature.
fn listen(mut ask: Box<Ask>, answer: Arc<Mutex<Answer>>) -> Option<Sender<()>> {
    let (questions, asked) = channel();
    let work = move || {
        for () in asked {
            let told = ask();
            *locked(&answer) = Answer { told, is_due: false };
        }
    };
    thread::Builder::new().name("thermometer".to_owned()).spawn(work).ok()?;
    Some(questions)
}

/// An answer is whole at any moment, whatever became of the thread that gave it.
fn locked(answer: &Mutex<Answer>) -> MutexGuard<'_, Answer> {
    answer.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Thermometer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thermometer")
            .field("limit", &self.limit)
            .field("period", &self.period)
            .field("asked", &self.asked)
            .finish_non_exhaustive()
    }
}

/// Thousandths of a degree; below freezing is no temperature of a working drive.
fn thousandths(text: &str) -> Option<Temperature> {
    text.trim().parse().ok().map(Temperature)
}

/// The hwmon directory of a disk. Its place depends on the driver and the kernel:
/// `device/hwmon/hwmonN` for SATA (drivetemp), `device/hwmonN` for NVMe,
/// `device/nvmeN/hwmonN` for NVMe with several paths, `device/device/hwmon/hwmonN` for NVMe on
/// kernels before 5.7.
fn hwmon_of(disk: &Path) -> Option<PathBuf> {
    let device = disk.join("device");
    let mut places = vec![device.clone(), device.join("hwmon"), device.join("device/hwmon")];
    places.extend(named(&device, "nvme"));
    let mut found = places.iter().flat_map(|place| named(place, "hwmon"));
    found.find(|directory| directory.join("temp1_input").exists())
}

/// What is in a directory under `prefix` and a number, in order.
fn named(directory: &Path, prefix: &str) -> Vec<PathBuf> {
    let is_numbered = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        let digits = name.and_then(|name| name.strip_prefix(prefix));
        digits.is_some_and(|d| !d.is_empty() && d.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_numbered).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sysfs::Host;

    /// A disk of plain files below a machine of its own.
    struct FakeDisk {
        directory: tempfile::TempDir,
        node: Node,
    }

    impl FakeDisk {
        fn new(files: &[(&str, &str)]) -> Self {
            let directory = tempfile::TempDir::new().unwrap();
            let sys = directory.path().join("sys");
            let disk = sys.join("dev/block/259:0");
            put(&disk, &[("dev", "259:0\n"), ("queue/iostats", "1\n")]);
            put(&disk, files);
            let (proc, dev) = (sys.join("proc"), sys.join("dev"));
            let node = Host { sys, proc, dev }.node("259:0".parse().unwrap()).unwrap();
            Self { directory, node }
        }

        fn set(&self, name: &str, value: &str) {
            put(&self.directory.path().join("sys/dev/block/259:0"), &[(name, value)]);
        }

        fn gauges(&self) -> Gauges {
            Gauges::of(&self.node)
        }
    }

    fn put(directory: &Path, files: &[(&str, &str)]) {
        for (name, value) in files {
            let file = directory.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, value).unwrap();
        }
    }

    /// What the drive tells at a time, as soon as it has told it.
    fn told(gauges: &mut Gauges, second: u64, worked: bool) -> Option<Temperature> {
        gauges.temperature(at(second), worked);
        while locked(&gauges.thermometer.as_ref().unwrap().answer).is_due {
            thread::yield_now();
        }
        gauges.temperature(at(second), worked)
    }

    fn at(seconds: u64) -> DeviceTime {
        DeviceTime(seconds * 1_000_000_000)
    }

    const STAT: &str = "   10  2   800   5   20   3   1600   7   0   9   12   4   0   99999   1\n";

    #[test]
    fn sectors_are_of_512_bytes_and_trims_do_not_count() {
        let disk = FakeDisk::new(&[("stat", STAT)]);
        let mut gauges = disk.gauges();
        let counters = gauges.counters(Nanos::ZERO, Nanos::ZERO);
        assert_eq!(counters.read, Some(Bytes(800 * 512)));
        assert_eq!(counters.written, Some(Bytes(1600 * 512)));
        disk.set("stat", &STAT.replace("1600", "1608"));
        assert_eq!(
            gauges.counters(Nanos::ZERO, Nanos::ZERO).transferred_since(&counters),
            Some(Bytes(4096))
        );
    }

    #[test]
    fn a_partition_tells_what_its_whole_disk_counts() {
        let partition = [("p1/dev", "259:1\n"), ("p1/partition", "1\n"), ("p1/stat", "0 0 1 0 0")];
        let disk = FakeDisk::new(&[&partition[..], &[("stat", STAT)]].concat());
        let partition = disk.node.partitions().unwrap().remove(0);
        assert_eq!(
            Gauges::of(&partition).counters(Nanos::ZERO, Nanos::ZERO).read,
            Some(Bytes(800 * 512))
        );
    }

    #[test]
    fn a_system_that_does_not_count_says_nothing() {
        let off = FakeDisk::new(&[("stat", STAT), ("queue/iostats", "0\n")]);
        let damaged = FakeDisk::new(&[("stat", "1 2 three 4\n")]);
        for counters in [
            off.gauges().counters(Nanos::ZERO, Nanos::ZERO),
            damaged.gauges().counters(Nanos::ZERO, Nanos::ZERO),
        ] {
            assert_eq!((counters.read, counters.written), (None, None));
        }
        let of_a_file = Gauges::default().counters(Nanos::ZERO, Nanos::ZERO);
        assert_eq!((of_a_file.read, of_a_file.written), (None, None));
    }

    #[test]
    fn processor_time_counts_work_and_not_sleep() {
        let before = Gauges::default().counters(Nanos::ZERO, Nanos::ZERO);
        std::thread::sleep(std::time::Duration::from_millis(50));
        let slept = Gauges::default().counters(Nanos::ZERO, Nanos::ZERO);
        assert!(slept.cpu.0 - before.cpu.0 < 40_000_000, "sleep took processor time");
        while Gauges::default().counters(Nanos::ZERO, Nanos::ZERO).cpu.0 < slept.cpu.0 + 5_000_000 {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn the_temperature_is_found_wherever_the_kernel_puts_it() {
        for place in [
            "device/hwmon4",
            "device/hwmon/hwmon2",
            "device/nvme0/hwmon1",
            "device/device/hwmon/hwmon0",
        ] {
            let file = |name: &str| format!("{place}/{name}");
            let disk = FakeDisk::new(&[
                (&file("temp1_input"), "41850\n"),
                (&file("temp1_max"), "84850\n"),
                (&file("temp1_crit"), "94850\n"),
            ]);
            let mut gauges = disk.gauges();
            assert_eq!(gauges.temperature_limit(), Some(Temperature(84_850)), "{place}");
            assert_eq!(told(&mut gauges, 0, false), Some(Temperature(41_850)), "{place}");
        }
    }

    #[test]
    fn limits_that_the_drive_does_not_have_are_no_limits() {
        let with = |limits: &[(&str, &str)]| {
            let input = [("device/hwmon1/temp1_input", "30000\n")];
            FakeDisk::new(&[&input[..], limits].concat()).gauges().temperature_limit()
        };
        let unset = ("device/hwmon1/temp1_max", "65261850\n");
        assert_eq!(with(&[]), None);
        assert_eq!(with(&[unset]), None);
        let critical = ("device/hwmon1/temp1_crit", "85000\n");
        assert_eq!(with(&[unset, critical]), Some(Temperature(85_000)));
        assert_eq!(with(&[("device/hwmon1/temp1_max", "0\n")]), None);
    }

    #[test]
    fn a_sata_drive_is_asked_every_ten_seconds_and_not_while_it_rests() {
        let input = "device/hwmon/hwmon2/temp1_input";
        let disk =
            FakeDisk::new(&[(input, "30000\n"), ("device/hwmon/hwmon2/name", "drivetemp\n")]);
        let mut gauges = disk.gauges();
        assert_eq!(told(&mut gauges, 0, false), Some(Temperature(30_000)));
        disk.set(input, "40000\n");
        assert_eq!(told(&mut gauges, 9, true), Some(Temperature(30_000)));
        assert_eq!(told(&mut gauges, 10, true), Some(Temperature(40_000)));
        assert_eq!(gauges.temperature(at(60), false), None);
        assert_eq!(told(&mut gauges, 61, true), Some(Temperature(40_000)));
    }

    #[test]
    fn an_nvme_drive_is_asked_every_second() {
        let input = "device/hwmon2/temp1_input";
        let disk = FakeDisk::new(&[(input, "30000\n"), ("device/hwmon2/name", "nvme\n")]);
        let mut gauges = disk.gauges();
        assert_eq!(told(&mut gauges, 0, true), Some(Temperature(30_000)));
        disk.set(input, "31000\n");
        assert_eq!(told(&mut gauges, 1, true), Some(Temperature(31_000)));
        disk.set(input, "-5000\n");
        assert_eq!(told(&mut gauges, 2, true), None);
    }

    #[test]
    fn a_drive_without_a_thermometer_has_no_temperature() {
        let mut gauges = FakeDisk::new(&[("stat", STAT)]).gauges();
        assert_eq!((gauges.temperature_limit(), gauges.temperature(at(0), true)), (None, None));
    }

    #[test]
    fn a_drive_that_does_not_tell_its_temperature_holds_nobody_up() {
        let (answers, drive) = channel();
        let ask = move || drive.recv().ok();
        let thermometer = Thermometer::new(None, NVME_PERIOD, Box::new(ask));
        let mut gauges = Gauges { thermometer: Some(thermometer), ..Gauges::default() };
        assert_eq!(gauges.temperature(at(0), true), None);
        answers.send(Temperature(40_000)).unwrap();
        assert_eq!(told(&mut gauges, 0, true), Some(Temperature(40_000)));
        // Asked and not answered: known for as long as that is fresh, then not known.
        assert_eq!(gauges.temperature(at(1), true), Some(Temperature(40_000)));
        assert_eq!(gauges.temperature(at(2), true), None);
        assert!(gauges.is_unanswered());
        // Nor does the end wait for it: `answers` lives on.
        drop(gauges);
        drop(answers);
    }
}
