//! What the system counts on a device.

use std::path::{Path, PathBuf};

use writecliff_device::{Bytes, Device, HostCounters, Io, Nanos, Telemetry};
use writecliff_uring::UringDevice;

use crate::machine::{Loop, eventually, needs, open_to_destroy, run, scratch, sparse_file};

fn counters(device: &mut UringDevice) -> HostCounters {
    device.telemetry().host.unwrap()
}

fn complete(device: &mut UringDevice, io: Io) {
    device.submit(&[io]).unwrap();
    let mut done = Vec::new();
    while done.is_empty() {
        let until = device.now() + Nanos::from_secs(30);
        device.reap(until, &mut done).unwrap();
    }
}

/// Another program writes some MiB of zeros to a device, or reads them.
fn dd(device: &Path, mib: u64, reads: bool) {
    let (count, device) = (format!("count={mib}"), device.display());
    let (from, to, direct) = match reads {
        true => (format!("if={device}"), "of=/dev/null".to_owned(), "iflag=direct"),
        false => ("if=/dev/zero".to_owned(), format!("of={device}"), "oflag=direct"),
    };
    run("dd", &[&from, &to, "bs=1M", &count, direct, "conv=notrunc", "status=none"]);
}

#[test]
fn the_system_counts_what_we_and_others_move() {
    needs!("dd");
    let backing = Loop::new(64);
    let mut device = open_to_destroy(&backing.path).unwrap();
    let start = counters(&mut device);
    complete(&mut device, Io::write(Bytes(0), Bytes::from_kib(64)));
    let ours = counters(&mut device);
    assert_eq!(ours.transferred_since(&start), Some(Bytes::from_kib(64)));
    assert_eq!(ours.read, start.read);
    complete(&mut device, Io::trim(Bytes(0), Bytes::from_mib(1)));
    assert_eq!(counters(&mut device).transferred_since(&ours), Some(Bytes::ZERO));
    dd(&backing.path, 8, false);
    dd(&backing.path, 4, true);
    let theirs = counters(&mut device).transferred_since(&ours).unwrap();
    // The system itself may look at the device when a writer closes it.
    assert!((12 << 20..13 << 20).contains(&theirs.0), "{theirs}");
}

#[test]
fn a_partition_is_told_of_load_on_the_whole_disk() {
    needs!("dd", "addpart", "partx");
    let disk = Loop::new(64);
    // Sectors of two partitions of 32 MiB less what a table would take.
    for (number, from) in [("1", "2048"), ("2", "67584")] {
        run("addpart", &[disk.name(), number, from, "61440"]);
    }
    let [first, second] = [1, 2].map(|number| PathBuf::from(format!("{}p{number}", disk.name())));
    eventually("the partitions", || (first.exists() && second.exists()).then_some(()));
    let mut device = open_to_destroy(&first).unwrap();
    let start = counters(&mut device);
    dd(&second, 8, false);
    let moved = counters(&mut device).transferred_since(&start).unwrap();
    assert!(moved >= Bytes::from_mib(8), "{moved}");
}

#[test]
fn a_file_and_a_loop_device_have_no_temperature_and_a_file_no_counters() {
    let directory = scratch();
    let file = sparse_file(&directory.path().join("file"), 16);
    let Ok(mut device) = open_to_destroy(&file) else { return };
    assert_eq!(device.info().temperature_limit, None);
    let Telemetry { host, temperature, .. } = device.telemetry();
    let host = host.unwrap();
    assert_eq!((host.read, host.written, temperature), (None, None, None));
    assert!(host.cpu > Nanos::ZERO);
}
