//! Gauges of disks made of files, and of drives that do not answer.

use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;

use writecliff_device::Bytes;

use super::*;
use crate::drive::thermometer::NVME_PERIOD;
use crate::host::sysfs::Host;

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
    while gauges.thermometer.as_ref().unwrap().is_asking() {
        thread::yield_now();
    }
    gauges.temperature(at(second), worked)
}

fn counters(gauges: &mut Gauges) -> HostCounters {
    let io = gauges.io_counts();
    gauges.counters(io, Nanos::ZERO, Nanos::ZERO)
}

fn at(seconds: u64) -> DeviceTime {
    DeviceTime(seconds * 1_000_000_000)
}

const STAT: &str = "   10  2   800   5   20   3   1600   7   0   9   12   4   0   99999   1\n";

#[test]
fn sectors_are_of_512_bytes_and_trims_do_not_count() {
    let disk = FakeDisk::new(&[("stat", STAT)]);
    let mut gauges = disk.gauges();
    let before = counters(&mut gauges);
    assert_eq!(before.read, Some(Bytes(800 * 512)));
    assert_eq!(before.written, Some(Bytes(1600 * 512)));
    disk.set("stat", &STAT.replace("1600", "1608"));
    assert_eq!(counters(&mut gauges).transferred_since(&before), Some(Bytes(4096)));
}

#[test]
fn a_partition_tells_what_its_whole_disk_counts() {
    let partition = [("p1/dev", "259:1\n"), ("p1/partition", "1\n"), ("p1/stat", "0 0 1 0 0")];
    let disk = FakeDisk::new(&[&partition[..], &[("stat", STAT)]].concat());
    let partition = disk.node.partitions().unwrap().remove(0);
    assert_eq!(counters(&mut Gauges::of(&partition)).read, Some(Bytes(800 * 512)));
}

#[test]
fn a_system_that_does_not_count_says_nothing() {
    let off = FakeDisk::new(&[("stat", STAT), ("queue/iostats", "0\n")]);
    let damaged = FakeDisk::new(&[("stat", "1 2 three 4\n")]);
    for counters in [counters(&mut off.gauges()), counters(&mut damaged.gauges())] {
        assert_eq!((counters.read, counters.written), (None, None));
    }
    let of_a_file = counters(&mut Gauges::default());
    assert_eq!((of_a_file.read, of_a_file.written), (None, None));
}

#[test]
fn processor_time_counts_work_and_not_sleep() {
    let before = counters(&mut Gauges::default());
    std::thread::sleep(std::time::Duration::from_millis(50));
    let slept = counters(&mut Gauges::default());
    assert!(slept.cpu.0 - before.cpu.0 < 40_000_000, "sleep took processor time");
    while counters(&mut Gauges::default()).cpu.0 < slept.cpu.0 + 5_000_000 {
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
    let disk = FakeDisk::new(&[(input, "30000\n"), ("device/hwmon/hwmon2/name", "drivetemp\n")]);
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
