//! A drive is written from end to end, and nothing beside it changes.

use std::fs;
use std::path::Path;

use writecliff_device::{Bytes, Device, Io, Nanos, Status};
use writecliff_uring::UringDevice;

use crate::machine::{Loop, Mounted, needs, open_to_destroy, run, scratch, sparse_file};

/// Writes every LBA once, many writes at a time.
fn write_everything(device: &mut UringDevice) {
    let (size, capacity) = (device.info().io_size_max, device.info().capacity);
    let mut offsets = (0..capacity.0).step_by(size.0 as usize);
    let (mut in_flight, mut done) = (0, Vec::new());
    loop {
        let room = device.info().queue_depth_max - in_flight;
        let batch: Vec<Io> = offsets
            .by_ref()
            .take(room)
            .map(|offset| Io::write(Bytes(offset), Bytes(size.0.min(capacity.0 - offset))))
            .collect();
        device.submit(&batch).unwrap();
        in_flight += batch.len();
        if in_flight == 0 {
            return;
        }
        done.clear();
        device.reap(device.now() + Nanos::from_secs(30), &mut done).unwrap();
        in_flight -= done.len();
        assert!(done.iter().all(|completion| completion.status == Status::Done));
    }
}

/// Fills a file with a pattern that our content never has.
fn mark(path: &Path) {
    let length = fs::metadata(path).unwrap().len() as usize;
    fs::write(path, vec![0x5A; length]).unwrap();
}

fn assert_all_changed(bytes: &[u8]) {
    let untouched = bytes.chunks(512).position(|sector| sector == [0x5A; 512]);
    assert_eq!(untouched, None, "a sector was not written");
}

#[test]
fn neighbours_keep_every_byte() {
    needs!("mkfs.ext4");
    let before_it = mounted_neighbour();
    let target = Loop::new(64);
    let after_it = mounted_neighbour();
    let beside = target.directory.as_ref().unwrap().path().join("neighbour");
    mark(&sparse_file(&beside, 8));
    mark(&target.backing);
    run("sync", &[]);
    let read_neighbours =
        || [&before_it.1.backing, &after_it.1.backing, &beside].map(|path| fs::read(path).unwrap());

    let before = read_neighbours();
    let mut opened = open_to_destroy(&target.path).unwrap();
    write_everything(&mut opened);
    drop(opened);
    run("sync", &[]);

    assert!(before == read_neighbours(), "a neighbour changed");
    assert_all_changed(&fs::read(&target.backing).unwrap());
    for (mount, _) in [&before_it, &after_it] {
        assert_eq!(fs::read(mount.path().join("precious")).unwrap(), vec![7; 1 << 20]);
    }
}

/// A filesystem with a file on it, mounted so that the kernel has no reason of its own to write.
fn mounted_neighbour() -> (Mounted, Loop) {
    let device = Loop::new(32);
    run("mkfs.ext4", &["-q", "-F", device.name()]);
    let mount = Mounted::new(&device.path, "rw");
    fs::write(mount.path().join("precious"), vec![7; 1 << 20]).unwrap();
    run("sync", &[]);
    run("mount", &["-o", "remount,ro", mount.path().to_str().unwrap()]);
    (mount, device)
}

#[test]
fn a_window_on_a_file_is_not_left() {
    needs!();
    let directory = scratch();
    let file = sparse_file(&directory.path().join("file"), 64);
    mark(&file);
    let window = ["--offset", "16777216", "--sizelimit", "20971520"];
    let device = Loop::on(&file, &window);
    let mut opened = open_to_destroy(&device.path).unwrap();
    write_everything(&mut opened);
    drop(opened);
    let bytes = fs::read(&file).unwrap();
    let (start, end) = (16 << 20, (16 + 20) << 20);
    assert!(bytes[..start].iter().all(|&byte| byte == 0x5A));
    assert!(bytes[end..].iter().all(|&byte| byte == 0x5A));
    assert_all_changed(&bytes[start..end]);
}

#[test]
fn a_partition_is_not_left() {
    needs!("sfdisk", "partx");
    let disk = Loop::new(96);
    mark(&disk.backing);
    let script =
        "label: gpt\nstart=16MiB,size=16MiB\nstart=32MiB,size=32MiB\nstart=64MiB,size=16MiB\n";
    let partitions = disk.partition(script, 3);
    run("sync", &[]);
    let before = fs::read(&disk.backing).unwrap();
    let mut opened = open_to_destroy(&partitions[1]).unwrap();
    write_everything(&mut opened);
    drop(opened);
    let after = fs::read(&disk.backing).unwrap();
    let (start, end) = (32 << 20, 64 << 20);
    assert!(before[..start] == after[..start] && before[end..] == after[end..]);
    assert_all_changed(&after[start..end]);
}

#[test]
fn a_file_is_written_and_nothing_beside_it() {
    let directory = scratch();
    let [left, target, right] = ["a", "b", "c"].map(|name| {
        let file = sparse_file(&directory.path().join(name), 16);
        mark(&file);
        file
    });
    let mut opened = open_to_destroy(&target).unwrap();
    write_everything(&mut opened);
    drop(opened);
    for neighbour in [left, right] {
        assert!(fs::read(neighbour).unwrap() == vec![0x5A; 16 << 20]);
    }
    let bytes = fs::read(&target).unwrap();
    assert_eq!(bytes.len(), 16 << 20);
    assert_all_changed(&bytes);
}
