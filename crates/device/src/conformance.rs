//! One test body for everything that calls itself a [`Device`].

use std::ops::ControlFlow;

use crate::{
    Bytes, Completion, Content, Device, DeviceError, DeviceTime, Held, Io, Nanos, Operation, Pass,
    Stamping, Status,
};

/// Asserts the contract of [`Device`] on an idle device of at least 1 MiB. Destroys its data.
///
/// # Panics
/// Where the device breaks the contract; the message says which promise.
pub fn check(device: &mut dyn Device) {
    info_is_sane(device);
    bad_ios_are_refused_whole(device);
    idling_reaches_its_time(device);
    purge_succeeds_in_every_way_listed(device);
    every_io_completes_once(device);
    a_deadline_does_not_lose_ios(device);
    a_trim_may_cover_the_whole_device(device);
    telemetry_only_grows(device);
    stamped_blocks_come_back(device);
}

fn info_is_sane(device: &dyn Device) {
    let info = device.info();
    assert!(info.lba_size.0.is_power_of_two(), "LBA size {:?}", info.lba_size);
    assert!(info.physical_block_size >= info.lba_size);
    assert!(info.capacity.is_multiple_of(info.lba_size));
    assert!(info.capacity >= Bytes::from_mib(1), "conformance wants at least 1 MiB");
    assert!(info.queue_depth_max >= 1);
    assert!(info.io_size_max >= info.lba_size);
}

fn bad_ios_are_refused_whole(device: &mut dyn Device) {
    let info = device.info().clone();
    let good = Io::write(Bytes::ZERO, info.lba_size);
    let past_end = Io::read(info.capacity, info.lba_size);
    let overflowing = Io::read(Bytes(u64::MAX - info.lba_size.0 + 1), info.lba_size);
    for bad in [past_end, overflowing] {
        let refused = device.submit(&[good, bad]);
        assert!(matches!(refused, Err(DeviceError::OutOfRange { .. })), "{refused:?}");
    }
    let empty = Io::write(Bytes::ZERO, Bytes::ZERO);
    let odd_length = Io::write(Bytes::ZERO, Bytes(info.lba_size.0 - 1));
    let odd_offset = Io::read(Bytes(1), info.lba_size);
    let too_long = Io::write(Bytes::ZERO, info.io_size_max + info.lba_size);
    for bad in [empty, odd_length, odd_offset, too_long] {
        let refused = device.submit(&[good, bad]);
        assert!(matches!(refused, Err(DeviceError::Misaligned { .. })), "{refused:?}");
    }
    let mut done = Vec::new();
    let until = device.now() + Nanos::from_millis(20);
    device.reap(until, &mut done).expect("reap after refusals");
    assert!(done.is_empty(), "a refused batch must not be submitted in part: {done:?}");
}

fn idling_reaches_its_time(device: &mut dyn Device) {
    let until = device.now() + Nanos::from_millis(5);
    let mut done = Vec::new();
    device.reap(until, &mut done).expect("idle");
    assert!(device.now() >= until, "idling must move the clock to its end");
    assert!(done.is_empty());
    device.reap(DeviceTime(0), &mut done).expect("a deadline in the past");
    assert!(device.now() >= until, "time must not go back");
}

fn purge_succeeds_in_every_way_listed(device: &mut dyn Device) {
    for how in device.info().purges.clone() {
        let before = device.now();
        let outcome = device
            .purge(how, &mut |_| ControlFlow::Continue(()))
            .expect("a listed purge must work");
        assert_eq!(outcome.how, how);
        assert!(device.now() >= before);
    }
}

/// Writes of two content classes, reads, trims and flushes at full depth, and the answers are the questions.
fn every_io_completes_once(device: &mut dyn Device) {
    let info = device.info().clone();
    let size = info.lba_size.max(Bytes(4096)).min(info.io_size_max);
    let slots = Bytes::from_mib(1).0 / size.0;
    let content = Content { compressible_percent: 50, duplicate_percent: 25 };
    let mut asked = Vec::new();
    for index in 0..200 {
        let offset = Bytes(index * 7 % slots * size.0);
        asked.push(match index % 10 {
            3..=6 => Io::read(offset, size),
            7 if info.trim => Io::trim(offset, size),
            8 => Io::write(offset, size).with_content(content),
            9 => Io::flush(),
            _ => Io::write(offset, size),
        });
    }
    let mut answered = Vec::new();
    for batch in asked.chunks(info.queue_depth_max.min(32)) {
        let before = device.now();
        device.submit(batch).expect("submit");
        let answers = drain(device, batch.len());
        assert!(answers.iter().all(|c| c.submitted >= before), "submitted before it was asked");
        answered.extend(answers);
    }
    let key = |io: &Io| {
        let Content { compressible_percent, duplicate_percent } = io.content;
        (io.operation as u8, io.offset, io.length, compressible_percent, duplicate_percent)
    };
    let mut answers: Vec<Io> = answered.iter().map(|c| c.io).collect();
    asked.sort_by_key(key);
    answers.sort_by_key(key);
    assert_eq!(asked, answers, "every I/O must complete exactly once, as it was asked");
}

fn a_deadline_does_not_lose_ios(device: &mut dyn Device) {
    let size = device.info().lba_size;
    let depth = device.info().queue_depth_max.min(8);
    let batch: Vec<Io> = (0..depth as u64).map(|i| Io::write(size * i, size)).collect();
    device.submit(&batch).expect("submit");
    let mut done = Vec::new();
    let now = device.now();
    let waiting = device.in_flight_since(DeviceTime::MAX);
    assert!(waiting.len() <= depth, "more in flight than were submitted: {waiting:?}");
    assert!(waiting.is_sorted_by_key(|waits| waits.submitted), "not oldest first: {waiting:?}");
    device.reap(now, &mut done).expect("an immediate deadline");
    let rest = drain(device, depth - done.len());
    assert_eq!(done.len() + rest.len(), depth);
    assert_eq!(device.in_flight_since(DeviceTime::MAX), [], "what has completed is not in flight");
}

fn a_trim_may_cover_the_whole_device(device: &mut dyn Device) {
    if !device.info().trim {
        return;
    }
    let capacity = device.info().capacity;
    device.submit(&[Io::trim(Bytes::ZERO, capacity)]).expect("submit");
    assert_eq!(drain(device, 1)[0].io.operation, Operation::Trim);
}

fn telemetry_only_grows(device: &mut dyn Device) {
    let before = device.telemetry();
    let size = device.info().lba_size;
    device.submit(&[Io::write(Bytes::ZERO, size)]).expect("submit");
    drain(device, 1);
    let after = device.telemetry();
    assert!(after.host_written >= before.host_written);
    assert!(after.nand_written >= before.nand_written);
    assert!(after.erases >= before.erases);
}

/// If the device stamps: what was written whole, over, in long and short I/Os, and not at all.
fn stamped_blocks_come_back(device: &mut dyn Device) {
    let info = device.info().clone();
    let block = info.lba_size.max(Bytes(4096));
    let run = 0x5eed_0000 + device.now().0;
    if info.io_size_max < block * 4 || !device.stamp(Stamping { run, block }) {
        return;
    }
    let [first, second] = [1, 2].map(|number| Pass::new(number).expect("not zero"));
    let (long, place) = (block * 4, |index: u64| block * index);
    let write = |index, length, pass| Io::write(place(index), length).with_stamp(pass);
    let unstamped = Io::write(place(8), block);
    let wrote = [
        write(0, long, first),
        write(4, long, first),
        write(2, block, second),
        write(8, block, first),
        unstamped,
        Io::flush(),
    ];
    assert_eq!(found_by(device, &wrote), [], "nothing was looked at");
    let stamped = |index, pass| Held::Stamped { offset: place(index), pass };
    let look = |index, length| Io::read(place(index), length).with_stamp(Pass::FIRST);
    let found =
        found_by(device, &[look(0, long), look(7, block * 2), look(2, block), look(1, block)]);
    let expected = [
        stamped(0, first),
        stamped(1, first),
        stamped(2, second),
        stamped(3, first),
        stamped(7, first),
        Held::Unstamped,
        stamped(2, second),
        stamped(1, first),
    ];
    assert_eq!(found, expected, "block after block, as they were written");
    assert_eq!(
        found_by(device, &[Io::read(place(0), block)]),
        [],
        "a read without a pass looks at nothing"
    );
    if info.trim {
        let after = found_by(device, &[Io::trim(place(4), block), look(4, block), look(5, block)]);
        assert!(after[0] == Held::Zeros || after[0] == stamped(4, first), "{:?}", after[0]);
        assert_eq!(after[1], stamped(5, first), "trimmed beside it");
    }
    assert!(device.stamp(Stamping { run: run + 1, block }));
    let others = found_by(device, &[look(0, block), write(0, block, second), look(0, block)]);
    assert_eq!(others[1], stamped(0, second));
    assert_ne!(others[0], stamped(0, first), "another run's block is not this one's");
}

/// Does these, one after the other, and gives what was found by the looks among them.
fn found_by(device: &mut dyn Device, ios: &[Io]) -> Vec<Held> {
    for io in ios {
        device.submit(&[*io]).expect("submit");
        drain(device, 1);
    }
    let mut held = Vec::new();
    device.take_held(&mut held);
    held
}

/// Reaps until `count` completions are in, asserting what holds for each of them.
fn drain(device: &mut dyn Device, count: usize) -> Vec<Completion> {
    let mut done = Vec::new();
    while done.len() < count {
        let had = done.len();
        let until = device.now() + Nanos::from_secs(30);
        device.reap(until, &mut done).expect("reap");
        assert!(done.len() > had, "{count} I/Os in flight, {had} completed, then 30 s of silence");
        assert!(done[had..].is_sorted_by_key(|c| c.completed), "out of order: {done:?}");
    }
    assert_eq!(done.len(), count, "more completions than I/Os");
    for completion in &done {
        assert!(completion.completed >= completion.submitted, "{completion:?}");
        assert!(completion.completed <= device.now(), "completed in the future: {completion:?}");
        assert_eq!(completion.status, Status::Done, "{completion:?}");
    }
    done
}
