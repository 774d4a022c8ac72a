//! Software encryption of a loop device, or word that this machine has none; either way the device is
//! afterwards as it was before.

use std::ops::ControlFlow;

use writecliff_device::{
    Bytes, Completion, Device, DeviceError, Encryption, Io, Nanos, Purge, Status, Throughput,
};
use writecliff_uring::UringDevice;

use crate::machine::{Loop, open_to_destroy};

fn complete(device: &mut UringDevice, io: Io) -> Completion {
    device.submit(&[io]).unwrap();
    let mut done = Vec::new();
    while done.is_empty() {
        let until = device.now() + Nanos::from_secs(30);
        device.reap(until, &mut done).unwrap();
    }
    done[0]
}

/// Everything but a purge works.
fn works(device: &mut UringDevice) {
    let size = Bytes::from_kib(64);
    for io in [Io::write(size, size), Io::read(size, size), Io::trim(size, size), Io::flush()] {
        assert_eq!(complete(device, io).status, Status::Done, "{io:?}");
    }
}

#[test]
fn a_device_is_itself_again_when_its_encryption_is_gone_or_was_not_to_be_had() {
    let backing = Loop::new(64);
    let mut device = open_to_destroy(&backing.path).unwrap();
    assert_eq!(device.telemetry().processor, None);
    for passes_trims in [false, true] {
        let with = Encryption { passes_trims, cipher: Throughput(1), seed: 1 };
        match device.encrypt(Some(&with)) {
            Ok(()) => {}
            Err(DeviceError::NoEncryption { why, .. }) => {
                assert!(why.contains("device mapper") || why.contains("dm-crypt"), "{why}");
            }
            Err(other) => panic!("{other}"),
        }
        works(&mut device);
        assert!(device.telemetry().processor.is_some());
        assert!(open_to_destroy(&backing.path).is_err(), "it is claimed throughout");
        device.encrypt(None).unwrap();
        works(&mut device);
        device.purge(Purge::Discard, &mut |_| ControlFlow::Continue(())).unwrap();
        assert!(open_to_destroy(&backing.path).is_err(), "it is claimed again");
    }
    drop(device);
    open_to_destroy(&backing.path).unwrap();
}
