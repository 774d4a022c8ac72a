//! Drives that hang, vanish, or fail what they offer.

use std::fs::{self, File};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use writecliff_device::{Bytes, Device, DeviceError, DeviceTime, Io, Nanos, Purge};
use writecliff_loop_device::Freezable;
use writecliff_uring::UringDevice;

use crate::machine::{Loop, Mounted, eventually, needs, open_to_destroy, run, sparse_file};

fn freezable() -> Freezable {
    eventually("a drive that can be frozen", || Freezable::new().ok())
}

fn reap(device: &mut UringDevice, span: Nanos) -> usize {
    let (until, mut done) = (device.now() + span, Vec::new());
    while device.now() < until {
        device.reap(until, &mut done).unwrap();
    }
    done.len()
}

#[test]
fn what_a_hanging_drive_has_not_answered_is_known_with_its_age() {
    needs!("mkfs.ext4", "fsfreeze");
    let drive = freezable();
    let mut device = open_to_destroy(drive.path()).unwrap();
    let frozen = drive.freeze().unwrap();
    let writes: Vec<Io> = (0..4).map(|slot| Io::write(Bytes(slot << 20), Bytes(4096))).collect();
    device.submit(&writes).unwrap();
    assert_eq!(reap(&mut device, Nanos::from_secs(1)), 0);
    let since = device.in_flight_since(DeviceTime::MAX);
    let offsets: Vec<Bytes> = since.iter().map(|waits| waits.io.offset).collect();
    assert_eq!(offsets.len(), 4, "{since:?}");
    assert!(writes.iter().all(|write| offsets.contains(&write.offset)));
    assert_eq!(device.in_flight_since(since[0].submitted), []);
    assert_eq!(device.held_by_system().as_deref(), Some("4 I/Os"));
    drop(frozen);
    let mut done = Vec::new();
    while done.len() < 4 {
        device.reap(device.now() + Nanos::from_secs(1), &mut done).unwrap();
    }
    assert!(done.iter().all(|io| io.service_time() >= Nanos::from_secs(1)), "{done:?}");
    assert_eq!((device.in_flight_since(DeviceTime::MAX), device.held_by_system()), (vec![], None));
}

#[test]
fn a_trim_that_is_not_answered_is_in_flight_like_any_other_io() {
    needs!("mkfs.ext4", "fsfreeze");
    let drive = freezable();
    // A file: the loop driver trims what is below it also where that is frozen.
    let file = sparse_file(&drive.mount().join("test"), 32);
    let mut device = open_to_destroy(&file).unwrap();
    let frozen = drive.freeze().unwrap();
    let all = [0, 4, 8].map(|place| Io::trim(Bytes::from_mib(place), Bytes::from_mib(1)));
    device.submit(&all).unwrap();
    assert_eq!(reap(&mut device, Nanos::from_secs(1)), 0);
    let waiting = device.in_flight_since(DeviceTime::MAX);
    assert!(waiting.iter().map(|waits| waits.io).eq(all), "{waiting:?}");
    assert_eq!(device.held_by_system().as_deref(), Some("3 I/Os"));
    drop(frozen);
    let mut done = Vec::new();
    while done.len() < 3 {
        device.reap(device.now() + Nanos::from_secs(1), &mut done).unwrap();
    }
    assert!(done.iter().all(|io| io.status == writecliff_device::Status::Done), "{done:?}");
    assert_eq!((device.in_flight_since(DeviceTime::MAX), device.held_by_system()), (vec![], None));
}

#[test]
fn dropping_a_device_that_hangs_takes_a_bounded_time() {
    needs!("mkfs.ext4", "fsfreeze");
    let drive = freezable();
    let mut device = open_to_destroy(drive.path()).unwrap();
    let frozen = drive.freeze().unwrap();
    device
        .submit(&[Io::write(Bytes::ZERO, Bytes(4096)), Io::read(Bytes(8192), Bytes(4096))])
        .unwrap();
    device.reap(device.now() + Nanos::from_millis(10), &mut Vec::new()).unwrap();
    let (sender, dropped) = channel();
    thread::spawn(move || {
        drop(device);
        let _ = sender.send(());
    });
    // Five seconds, and what a busy machine adds to them.
    let ended = dropped.recv_timeout(Duration::from_secs(30));
    drop(frozen);
    assert!(ended.is_ok(), "the drop waits for the drive");
}

#[test]
fn a_drive_that_vanishes_is_gone_and_not_out_of_space() {
    needs!();
    let drive = Loop::new(64);
    let mut device = open_to_destroy(&drive.path).unwrap();
    // What is left of an NVMe drive that is pulled: a node without capacity.
    File::options().write(true).open(&drive.backing).unwrap().set_len(0).unwrap();
    run("losetup", &["--set-capacity", drive.name()]);
    let error = first_error(&mut device);
    let DeviceError::Gone { evidence, .. } = &error else { panic!("{error}") };
    assert!(evidence.contains("0B now, and was 64MiB"), "{evidence}");
    let text = error.to_string();
    assert!(text.contains("is gone") && text.contains("is kept"), "{text}");
    assert!(!text.contains("space") && !text.contains("health"), "{text}");
}

#[test]
fn a_drive_that_vanishes_while_nothing_fails_is_noticed_as_well() {
    needs!("mkfs.ext4", "fsfreeze");
    let drive = freezable();
    let mut device = open_to_destroy(drive.path()).unwrap();
    let file = File::options().write(true).open(drive.mount().join("backing")).unwrap();
    file.set_len(0).unwrap();
    let frozen = drive.freeze().unwrap();
    device.submit(&[Io::write(Bytes::ZERO, Bytes(4096))]).unwrap();
    device.reap(device.now(), &mut Vec::new()).unwrap();
    run("losetup", &["--set-capacity", drive.path().to_str().unwrap()]);
    let begun = Instant::now();
    let error = loop {
        let until = device.now() + Nanos::from_secs(1);
        match device.reap(until, &mut Vec::new()) {
            Ok(()) => assert!(begun.elapsed() < Duration::from_secs(60), "nobody noticed"),
            Err(error) => break error,
        }
    };
    drop(frozen);
    assert!(matches!(error, DeviceError::Gone { .. }), "{error}");
}

#[test]
fn a_drive_that_is_resized_is_not_taken_for_one_that_is_gone() {
    needs!();
    let drive = Loop::new(64);
    let mut device = open_to_destroy(&drive.path).unwrap();
    File::options().write(true).open(&drive.backing).unwrap().set_len(96 << 20).unwrap();
    run("losetup", &["--set-capacity", drive.name()]);
    let error = first_error(&mut device);
    assert!(matches!(error, DeviceError::Resized { .. }), "{error}");
    assert!(error.to_string().contains("it has 101 MB now, and had 67.1 MB"), "{error}");
}

#[test]
fn a_drive_that_is_switched_to_read_only_says_so() {
    needs!("blockdev");
    let drive = Loop::new(64);
    let mut device = open_to_destroy(&drive.path).unwrap();
    run("blockdev", &["--setro", drive.name()]);
    let error = first_error(&mut device);
    run("blockdev", &["--setrw", drive.name()]);
    assert!(matches!(error, DeviceError::WriteProtected { .. }), "{error}");
}

/// Writes until the device cannot go on.
fn first_error(device: &mut UringDevice) -> DeviceError {
    let mut done = Vec::new();
    for slot in 0..100_000 {
        let write = Io::write(Bytes(slot % 16 * 4096), Bytes(4096));
        let until = device.now() + Nanos::from_secs(10);
        let ended = device.submit(&[write]).and_then(|()| device.reap(until, &mut done));
        if let Err(error) = ended {
            return error;
        }
    }
    panic!("it went on");
}

/// An append-only file takes no holes, and a descriptor that was opened before writes to it.
struct AppendOnly<'a>(&'a str);

impl<'a> AppendOnly<'a> {
    fn new(file: &'a Path) -> Self {
        let name = file.to_str().unwrap();
        run("chattr", &["+a", name]);
        Self(name)
    }
}

impl Drop for AppendOnly<'_> {
    fn drop(&mut self) {
        run("chattr", &["-a", self.0]);
    }
}

#[test]
fn a_purge_that_fails_says_why() {
    needs!("mkfs.ext4", "chattr");
    let below = Loop::new(128);
    run("mkfs.ext4", &["-q", below.name()]);
    let filesystem = Mounted::new(&below.path, "rw");
    let file = sparse_file(&filesystem.path().join("drive"), 32);
    fs::write(&file, vec![0x5a; 32 << 20]).unwrap();
    let mut device = open_to_destroy(&file).unwrap();
    let _locked = AppendOnly::new(&file);
    let refused = device.purge(Purge::HolePunch, &mut |_| ControlFlow::Continue(()));
    let Err(error @ DeviceError::PurgeFailed { .. }) = refused else { panic!("{refused:?}") };
    assert!(error.to_string().contains("not permitted"), "{error}");
}
