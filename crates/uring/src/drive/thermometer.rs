//! A drive's temperature: a question to the drive, for which a thread of its own waits. A dead NVMe
//! drive takes a minute to leave it unanswered.

use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use writecliff_device::{DeviceTime, Nanos, Temperature};

use crate::host::sysfs::Node;

/// NVMe answers beside its I/O queues: as often as somebody asks here, which is once a second.
pub(super) const NVME_PERIOD: Nanos = Nanos::from_millis(500);

/// A SATA drive must finish its queue before it can tell its temperature: asked every second, the
/// question would show in the percentiles.
const QUEUED_PERIOD: Nanos = Nanos::from_secs(10);

/// A limit beyond this is one that the drive does not have: NVMe's unset one reads as 65 kK.
const LIMIT_MAX: Temperature = Temperature(200_000);

/// A drive's temperature, asked for by a thread of its own.
pub(super) struct Thermometer {
    pub(super) limit: Option<Temperature>,
    period: Nanos,
    ask: Option<Box<Ask>>,
    questions: Option<Sender<()>>,
    answer: Arc<Mutex<Answer>>,
    asked: Option<DeviceTime>,
    /// Since it was asked last; what it told then is not its temperature any more.
    rested: bool,
}

/// Asks the drive, for as long as that takes.
pub(super) type Ask = dyn FnMut() -> Option<Temperature> + Send;

/// What the drive told last, and whether it is being asked again.
#[derive(Debug, Default)]
struct Answer {
    told: Option<Temperature>,
    is_due: bool,
}

impl Thermometer {
    /// The one in hwmon.
    pub(super) fn of(disk: &Node) -> Option<Self> {
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

    pub(super) fn new(limit: Option<Temperature>, period: Nanos, ask: Box<Ask>) -> Self {
        let answer = Arc::default();
        Self { limit, period, ask: Some(ask), questions: None, answer, asked: None, rested: false }
    }

    pub(super) fn read(&mut self, now: DeviceTime, worked: bool) -> Option<Temperature> {
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

    /// Whether the drive is being asked.
    #[cfg(test)]
    pub(super) fn is_asking(&self) -> bool {
        locked(&self.answer).is_due
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

    pub(super) fn is_unanswered(&self, now: DeviceTime) -> bool {
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
