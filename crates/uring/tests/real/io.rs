//! The device does what it is asked: the contract, the data, the failures.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::ops::ControlFlow;
use std::path::Path;
use std::thread;

use tempfile::TempDir;
use writecliff_device::{
    Bytes, Completion, Content, Device, DeviceError, DeviceKind, Durability, ErrorKind, Io, Layout,
    LogWrites, Nanos, Purge, Status, conformance,
};
use writecliff_uring::{Access, OpenError, Options, UringDevice, inspect, open};

use crate::machine::{
    Loop, Mounted, OPTIONS, needs, open_to_destroy, run, scratch, skip, sparse_file,
};

/// Runs a batch to its end.
fn complete(device: &mut UringDevice, batch: &[Io]) -> Vec<Completion> {
    device.submit(batch).unwrap();
    let mut done = Vec::new();
    while done.len() < batch.len() {
        let until = device.now() + Nanos::from_secs(30);
        let had = done.len();
        device.reap(until, &mut done).unwrap();
        assert!(done.len() > had, "silence with I/Os in flight");
    }
    done
}

#[test]
fn conformance_on_a_loop_device() {
    needs!();
    let device = Loop::new(64);
    conformance::check(&mut open_to_destroy(&device.path).unwrap());
}

#[test]
fn conformance_on_a_loop_device_with_4096_byte_sectors() {
    needs!();
    let device = Loop::with(64, &["--sector-size", "4096"]);
    let mut opened = open_to_destroy(&device.path).unwrap();
    assert_eq!(opened.info().lba_size, Bytes(4096));
    conformance::check(&mut opened);
}

#[test]
fn conformance_on_the_lanes_of_a_loop_device() {
    needs!();
    let device = Loop::new(64);
    let mut opened = open_to_destroy(&device.path).unwrap();
    let mut open = |depth| opened.lanes().unwrap().open(depth).unwrap();
    let (mut lane, mut other) = (open(8), open(3));
    assert_eq!((lane.info().queue_depth_max, other.info().queue_depth_max), (8, 3));
    // A second one beside it, in a thread of its own.
    thread::scope(|scope| {
        scope.spawn(move || {
            for round in 0..500 {
                other.submit(&[Io::read(Bytes(round * 4096), Bytes(4096))]).unwrap();
                let mut done = Vec::new();
                other.reap(other.now() + Nanos::from_secs(30), &mut done).unwrap();
                assert_eq!((done.len(), done[0].status), (1, Status::Done));
            }
        });
        conformance::check(&mut *lane);
    });
    conformance::check(&mut opened);
    assert!(opened.lanes().is_none(), "its blocks are looked at");
}

#[test]
fn conformance_on_a_file() {
    for directory in [TempDir::new().unwrap(), scratch()] {
        let file = sparse_file(&directory.path().join("file"), 64);
        match open_to_destroy(&file) {
            Ok(mut opened) => conformance::check(&mut opened),
            Err(error @ (OpenError::NoDirectIo { .. } | OpenError::RingUnavailable { .. })) => {
                skip(&error.to_string());
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn identity_is_what_the_system_says() {
    needs!();
    let device = Loop::with(64, &["--sector-size", "4096"]);
    let opened = open_to_destroy(&device.path).unwrap();
    let info = opened.info();
    assert_eq!(info.kind, DeviceKind::BlockDevice);
    assert_eq!((info.address.as_str(), info.model.as_str()), (device.name(), device.name()));
    assert_eq!((&info.serial, &info.firmware), (&None, &None));
    assert_eq!(info.capacity, Bytes::from_mib(64));
    assert_eq!((info.queue_depth_max, info.io_size_max), (32, Bytes::from_kib(128)));
    assert!(info.trim);
    assert_eq!(info.purges, [Purge::Discard]);
    assert!(info.scheduler.is_some());
}

#[test]
fn a_file_of_odd_length_loses_its_tail() {
    let directory = scratch();
    let path = directory.path().join("odd");
    File::create(&path).unwrap().set_len((32 << 20) + 777).unwrap();
    let opened = open_to_destroy(&path).unwrap();
    assert_eq!(opened.info().capacity, Bytes::from_mib(32));
    assert_eq!(opened.info().purges, [Purge::HolePunch]);
}

#[test]
fn what_is_written_is_there_and_no_block_comes_twice() {
    needs!();
    let device = Loop::new(32);
    let mut opened = open_to_destroy(&device.path).unwrap();
    let size = Bytes(4096);
    for batch in 0..32 {
        let writes: Vec<Io> =
            (0..32).map(|index| Io::write(size * (batch * 32 + index), size)).collect();
        let done = complete(&mut opened, &writes);
        assert!(done.iter().all(|completion| completion.status == Status::Done));
    }
    complete(&mut opened, &[Io::flush()]);
    drop(opened);
    let stored = fs::read(&device.path).unwrap();
    let written = &stored[..1024 * 4096];
    let sectors: HashSet<&[u8]> = written.chunks(512).collect();
    assert_eq!(sectors.len(), 8 * 1024, "a sector came twice");
    assert!(!sectors.contains([0; 512].as_slice()), "a sector was not written");
    assert!(stored[1024 * 4096..].iter().all(|&byte| byte == 0));
    let packed = zstd::bulk::compress(written, 3).unwrap();
    assert!(packed.len() >= written.len());
}

#[test]
fn what_is_written_has_its_content_class() {
    let directory = scratch();
    let file = sparse_file(&directory.path().join("file"), 32);
    let mut opened = open_to_destroy(&file).unwrap();
    let (size, blocks) = (Bytes::from_kib(64), 4000);
    let content = Content { compressible_percent: 50, duplicate_percent: 25 };
    for index in 0..blocks / 16 {
        let write = Io::write(size * index as u64, size).with_content(content);
        let done = complete(&mut opened, &[write]);
        assert_eq!((done[0].io, done[0].status), (write, Status::Done));
    }
    drop(opened);
    let stored = fs::read(&file).unwrap();
    let written = &stored[..blocks * 4096];
    let different: HashSet<&[u8]> = written.chunks(4096).collect();
    // Three quarters never repeat, one quarter is of 16 blocks.
    assert_eq!(different.len(), blocks / 4 * 3 + 16);
    let packed = |block| zstd::bulk::compress(block, 1).unwrap().len();
    let packed: usize = written.chunks(4096).map(packed).sum();
    let saved = 1.0 - packed as f64 / written.len() as f64;
    assert!((saved - 0.5).abs() < 0.03, "{saved}");
}

#[test]
fn the_same_seed_writes_the_same_bytes() {
    needs!();
    let write = || {
        let device = Loop::new(16);
        let mut opened = open_to_destroy(&device.path).unwrap();
        for index in 0..64 {
            complete(&mut opened, &[Io::write(Bytes(index * 8192), Bytes(8192))]);
        }
        drop(opened);
        fs::read(&device.path).unwrap()
    };
    assert!(write() == write());
}

#[test]
fn queue_depth_32_keeps_every_slot_cycling() {
    needs!();
    let device = Loop::new(64);
    let mut opened = open_to_destroy(&device.path).unwrap();
    let size = Bytes(4096);
    let place = |number: u64| size * (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 50);
    let first: Vec<Io> = (0..32).map(|number| Io::write(place(number), size)).collect();
    opened.submit(&first).unwrap();
    let (mut asked, mut done) = (32, Vec::new());
    let mut answered: HashMap<u64, u32> = HashMap::new();
    while asked < 20_000 {
        done.clear();
        opened.reap(opened.now() + Nanos::from_secs(30), &mut done).unwrap();
        assert!(!done.is_empty());
        let next: Vec<Io> =
            (0..done.len() as u64).map(|index| Io::write(place(asked + index), size)).collect();
        for completion in &done {
            assert_eq!(completion.status, Status::Done);
            assert!(completion.service_time() > Nanos::ZERO);
            *answered.entry(completion.io.offset.0).or_default() += 1;
        }
        asked += next.len() as u64;
        opened.submit(&next).unwrap();
    }
    let total: u32 = answered.values().sum();
    assert_eq!(u64::from(total), asked - 32, "32 stay in flight");
}

#[test]
#[should_panic(expected = "exceed the queue depth")]
fn more_than_the_queue_depth_is_a_bug() {
    let directory = scratch();
    let file = sparse_file(&directory.path().join("file"), 16);
    let mut opened = open_to_destroy(&file).unwrap();
    let _ = opened.submit(&[Io::read(Bytes::ZERO, Bytes(4096)); 33]);
}

#[test]
#[should_panic(expected = "opened to be read only")]
fn writing_to_a_device_opened_for_reading_is_a_bug() {
    let directory = scratch();
    let file = sparse_file(&directory.path().join("file"), 16);
    let mut opened = open(&file, &Access::ReadOnly, &OPTIONS).unwrap();
    assert!(opened.info().purges.is_empty() && !opened.info().trim);
    assert!(matches!(
        opened.purge(Purge::HolePunch, &mut |_| ControlFlow::Continue(())),
        Err(DeviceError::PurgeUnsupported { .. })
    ));
    complete(&mut opened, &[Io::read(Bytes::ZERO, Bytes(4096))]);
    let _ = opened.submit(&[Io::write(Bytes::ZERO, Bytes(4096))]);
}

#[test]
fn one_thread_may_open_it_and_another_use_it() {
    let directory = scratch();
    let file = sparse_file(&directory.path().join("file"), 16);
    let mut opened = open_to_destroy(&file).unwrap();
    let run = move || complete(&mut opened, &[Io::write(Bytes::ZERO, Bytes(4096))]).len();
    assert_eq!(thread::spawn(run).join().unwrap(), 1);
}

#[test]
fn options_out_of_range_are_refused_with_the_range() {
    let directory = scratch();
    let file = sparse_file(&directory.path().join("file"), 16);
    let cases = [(0, 4096), (5000, 4096), (32, 0), (32, 100), (32, 1 << 30)];
    for (queue_depth, io_size_max) in cases {
        let options = Options {
            queue_depth,
            io_size_max: Bytes(io_size_max),
            seed: 1,
            purge: None,
            poll: false,
        };
        let error = open(&file, &Access::ReadOnly, &options).unwrap_err();
        assert!(
            matches!(error, OpenError::Options { .. }) && error.kind() == ErrorKind::Usage,
            "{error}"
        );
    }
}

#[test]
fn purge_and_trim_leave_zeros() {
    needs!();
    let device = Loop::new(32);
    let directory = scratch();
    let file = sparse_file(&directory.path().join("file"), 32);
    for (path, how) in [(&device.path, Purge::Discard), (&file, Purge::HolePunch)] {
        let mut opened = open_to_destroy(path).unwrap();
        fill(&mut opened);
        let trims = complete(&mut opened, &[Io::trim(Bytes(8192), Bytes(65536))]);
        assert_eq!(trims[0].status, Status::Done);
        let stored = fs::read(path).unwrap();
        assert!(stored[8192..8192 + 65536].iter().all(|&byte| byte == 0));
        assert!(stored[8192 + 65536..].chunks(512).all(|s| s.iter().any(|&byte| byte != 0)));
        let outcome = opened.purge(how, &mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!((outcome.how, outcome.sampled, outcome.still_readable), (how, 64, 0));
        assert!(fs::read(path).unwrap().iter().all(|&byte| byte == 0));
        assert!(matches!(
            opened.purge(Purge::SecureErase, &mut |_| ControlFlow::Continue(())),
            Err(DeviceError::PurgeUnsupported { .. })
        ));
    }
}

fn fill(device: &mut UringDevice) {
    let size = device.info().io_size_max;
    for index in 0..device.info().capacity.0 / size.0 {
        let done = complete(device, &[Io::write(size * index, size)]);
        assert_eq!(done[0].status, Status::Done);
    }
}

#[test]
fn a_trim_among_writes_completes_in_order() {
    needs!();
    let device = Loop::new(32);
    let mut opened = open_to_destroy(&device.path).unwrap();
    let size = Bytes(4096);
    for _ in 0..100 {
        let mut batch: Vec<Io> = (0..16).map(|index| Io::write(size * index, size)).collect();
        batch.insert(8, Io::trim(Bytes::from_mib(1), Bytes::from_mib(1)));
        let done = complete(&mut opened, &batch);
        assert!(done.is_sorted_by_key(|completion| completion.completed));
        assert!(done.iter().all(|completion| completion.submitted <= completion.completed));
    }
}

#[test]
fn a_device_without_discard_says_so() {
    needs!();
    // A filesystem that cannot punch holes makes a loop device that cannot discard.
    let simple = TempFilesystem::new("ramfs", "mode=700");
    let backing = sparse_file(&simple.0.path().join("backing"), 32);
    let device = Loop::cached(&backing, &[]);
    let mut opened = open_to_destroy(&device.path).unwrap();
    assert!(!opened.info().trim && opened.info().purges.is_empty());
    let done = complete(&mut opened, &[Io::trim(Bytes::ZERO, Bytes(4096))]);
    let unsupported = rustix::io::Errno::OPNOTSUPP.raw_os_error();
    assert_eq!(done[0].status, Status::Failed(unsupported));
    assert!(opened.purge(Purge::Discard, &mut |_| ControlFlow::Continue(())).is_err());
    drop(opened);
    drop(device);
}

#[test]
fn a_forced_write_reaches_the_medium_and_others_need_not() {
    needs!();
    let device = Loop::new(32);
    let name = device.path.file_name().unwrap().to_str().unwrap();
    let counts = format!("/sys/block/{name}/stat");
    // The field before the last counts what the block layer flushed (Documentation/block/stat.rst).
    let flushes = || -> u64 {
        let line = std::fs::read_to_string(&counts).unwrap();
        line.split_ascii_whitespace().nth(15).unwrap().parse().unwrap()
    };
    let mut opened = open_to_destroy(&device.path).unwrap();
    let write = Io::write(Bytes(4096), Bytes(4096));
    let mut flushes_of = |io: Io| {
        let before = flushes();
        let done = complete(&mut opened, &[io]);
        assert_eq!(done[0].status, Status::Done);
        flushes() - before
    };
    assert_eq!(flushes_of(write), 0);
    assert_eq!(flushes_of(write.with_durability(Durability::Forced)), 1);
    assert_eq!(flushes_of(write.with_durability(Durability::Flushed)), 1);
    assert_eq!(flushes_of(Io::flush()), 1);
}

#[test]
fn a_log_is_written_by_its_committers_and_not_by_lanes_beside_them() {
    needs!();
    let device = Loop::new(32);
    let mut opened = open_to_destroy(&device.path).unwrap();
    assert!(opened.lanes().is_some());
    let log = |durability| LogWrites {
        layout: Layout::Overwritten,
        durability,
        committers: 2,
        begins_anew: true,
    };
    let go_on = &mut |_| ControlFlow::Continue(());
    assert_eq!(opened.prepare_log(log(Durability::Later), go_on).unwrap(), Some(2));
    let in_flight = opened.prepare_log(log(Durability::Forced), go_on).unwrap().unwrap();
    assert!(in_flight > 2 && in_flight <= opened.info().queue_depth_max);
    assert!(opened.lanes().is_none(), "each lane would have as many committers again");
}

#[test]
fn writes_that_are_flushed_each_for_itself_are_all_there_and_beside_others() {
    needs!();
    let device = Loop::new(32);
    let mut opened = open_to_destroy(&device.path).unwrap();
    let at = |number: u64| Bytes(number * 65_536);
    let size = |number: u64| Bytes(512 << (number % 4));
    let flushed = (0..16)
        .map(|number| Io::write(at(number), size(number)).with_durability(Durability::Flushed));
    let plain = (16..32).map(|number| Io::write(at(number), size(number)));
    let both: Vec<Io> = flushed.zip(plain).flat_map(|(one, other)| [one, other]).collect();
    for _ in 0..3 {
        let done = complete(&mut opened, &both);
        assert!(done.iter().all(|completion| completion.status == Status::Done));
        assert!(done.iter().all(|completion| completion.completed > completion.submitted));
    }
    drop(opened);
    let held = std::fs::read(&device.backing).unwrap();
    for number in 0..32 {
        let from = at(number).0 as usize;
        let written = &held[from..from + size(number).0 as usize];
        let zeros = written.iter().filter(|byte| **byte == 0).count();
        assert!(zeros < written.len() / 16, "{number}: random data are hardly ever zero");
        assert!(held[from + written.len()..from + 16_384].iter().all(|byte| *byte == 0));
    }
}

#[test]
fn a_filesystem_without_direct_io_is_named_as_the_cause() {
    needs!();
    let simple = TempFilesystem::new("ramfs", "mode=700");
    let file = sparse_file(&simple.0.path().join("file"), 32);
    let error = open_to_destroy(&file).unwrap_err();
    assert!(
        matches!(error, OpenError::NoDirectIo { .. }) && error.kind() == ErrorKind::Failed,
        "{error}"
    );
}

#[test]
fn reading_past_a_shrunken_backing_file_fails_the_reads_only() {
    needs!();
    let device = Loop::new(64);
    let mut opened = open_to_destroy(&device.path).unwrap();
    shrink(&device.backing, 32);
    let (early, late) = (Bytes::from_mib(1), Bytes::from_mib(48));
    let done = complete(&mut opened, &[Io::read(early, Bytes(4096)), Io::read(late, Bytes(4096))]);
    for completion in done {
        let failed = matches!(completion.status, Status::Failed(_));
        assert_eq!(failed, completion.io.offset == late, "{completion:?}");
    }
}

fn shrink(path: &Path, mib: u64) {
    let file = File::options().write(true).open(path).unwrap();
    file.set_len(mib << 20).unwrap();
}

#[test]
fn a_full_filesystem_below_ends_the_use_and_says_so() {
    needs!();
    let small = TempFilesystem::new("tmpfs", "size=24m");
    let backing = sparse_file(&small.0.path().join("backing"), 64);
    let device = Loop::on(&backing, &[]);
    let mut opened = open_to_destroy(&device.path).unwrap();
    let size = Bytes::from_kib(128);
    let mut write = |index| {
        let mut done = Vec::new();
        opened.submit(&[Io::write(size * index, size)])?;
        while done.is_empty() {
            opened.reap(opened.now() + Nanos::from_secs(30), &mut done)?;
        }
        Ok(done[0].status)
    };
    let ended: Result<Vec<Status>, DeviceError> = (0..512).map(&mut write).collect();
    let error = ended.unwrap_err();
    assert!(matches!(error, DeviceError::NoSpace { kind: DeviceKind::BlockDevice, .. }), "{error}");
    assert!(!error.to_string().contains("cabling"), "{error}");
    drop(opened);
    drop(device);
}

/// A filesystem in memory.
struct TempFilesystem(Mounted);

impl TempFilesystem {
    fn new(kind: &str, options: &str) -> Self {
        let at = scratch();
        let place = at.path().to_str().unwrap();
        run("mount", &["-t", kind, "-o", options, "writecliff-test", place]);
        Self(Mounted { at })
    }
}

#[test]
fn inspecting_a_file_tells_its_path_as_consent() {
    let directory = scratch();
    let file = sparse_file(&directory.path().join("file"), 16);
    let inspection = inspect(&file).unwrap();
    let resolved = fs::canonicalize(&file).unwrap();
    assert_eq!(inspection.consent.name, resolved.as_os_str());
    assert_eq!(inspection.identity.kind, DeviceKind::File);
    assert_eq!(inspection.refusals, []);
}
