use std::sync::{Arc, Mutex};

use writecliff_device::{Content, conformance, split_mix};
use writecliff_sim::{
    AtPowerCut, DieRefused, LostUnit, Model, PowerCut, Profile, Spare, SsdProfile, load,
};

use super::*;
use crate::simulated::Simulated;
use crate::{ArrayName, Level, Shape};
use writecliff_sim::Build;

const KIB: u64 = 1 << 10;
const PAGE_OF_IO: Bytes = Bytes::from_kib(4);

fn built(name: &str) -> Box<dyn Model> {
    let parsed: ArrayName = name.parse().unwrap();
    let simulated = Simulated::array(load(&parsed.drive).unwrap(), parsed.shape).unwrap();
    simulated.build(name).unwrap()
}

/// An array as it is inside.
fn assembled(member: Profile, shape: Shape) -> Array {
    let array = Simulated::array(member, shape).unwrap();
    let Simulated::Array { member, shape } = &array else { unreachable!() };
    array.assemble("assembled", member, shape).unwrap()
}

fn tiny() -> SsdProfile {
    load("tiny").unwrap().into_ssd().unwrap()
}

/// Random numbers below bounds.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = split_mix(self.0);
        self.0 % bound
    }

    /// Any I/O that such a device takes.
    fn io(&mut self, info: &DeviceInfo, longest: u64) -> Io {
        let lba = info.lba_size.0;
        let length = (1 + self.below(longest / lba)) * lba;
        let offset = Bytes(self.below((info.capacity.0 - length) / lba + 1) * lba);
        let (length, content) =
            (Bytes(length), Content { compressible_percent: 40, duplicate_percent: 0 });
        match self.below(12) {
            0..4 => Io::read(offset, length),
            4..7 => Io::write(offset, length),
            7 => Io::write(offset, length).with_content(content),
            8 => Io::write(offset, length).with_durability(Durability::Forced),
            9 => Io::write(offset, length).with_durability(Durability::Flushed),
            10 if info.trim => Io::trim(offset, length),
            _ => Io::flush(),
        }
    }
}

/// Does so many random I/Os with up to `depth` in flight; gives the completions in their order.
fn random_load(device: &mut dyn Device, seed: u64, count: usize, depth: usize) -> Vec<Completion> {
    let info = device.info().clone();
    let (mut random, mut done, mut submitted) = (Random(seed), Vec::new(), 0);
    while done.len() < count {
        let room = depth - (submitted - done.len());
        let batch: Vec<Io> = (submitted..count.min(submitted + room))
            .map(|slot| Io { slot: slot as u16, ..random.io(&info, 1 << 20) })
            .collect();
        submitted += batch.len();
        device.submit(&batch).unwrap();
        let until = match random.below(8) {
            0 => device.now() + Nanos(random.below(1_000_000)),
            _ => DeviceTime::MAX,
        };
        let had = done.len();
        device.reap(until, &mut done).unwrap();
        assert!(done.len() > had || device.now() >= until, "it neither waits nor answers");
        assert!(done.iter().all(|done| done.completed <= device.now()));
    }
    done
}

fn time_of(device: &mut dyn Device, io: Io) -> Nanos {
    device.submit(&[io]).unwrap();
    let mut done = Vec::new();
    while done.is_empty() {
        device.reap(DeviceTime::MAX, &mut done).unwrap();
    }
    assert_eq!(done[0].status, Status::Done, "{io:?}");
    done[0].service_time()
}

fn fill(device: &mut dyn Device, block: u64) {
    let capacity = device.info().capacity.0;
    for offset in (0..capacity).step_by(block as usize) {
        time_of(device, Io::write(Bytes(offset), Bytes(block.min(capacity - offset))));
    }
    time_of(device, Io::flush());
}

/// A member that keeps what it was asked for, and sees to it that it may be.
struct Watched {
    model: Box<dyn Model>,
    seen: Arc<Mutex<Vec<Io>>>,
    in_flight: usize,
}

impl Device for Watched {
    fn info(&self) -> &DeviceInfo {
        self.model.info()
    }
    fn now(&self) -> DeviceTime {
        self.model.now()
    }
    fn submit(&mut self, batch: &[Io]) -> Result<(), DeviceError> {
        self.in_flight += batch.len();
        assert!(self.in_flight <= self.info().queue_depth_max, "more than it takes");
        self.seen.lock().unwrap().extend(batch);
        self.model.submit(batch)
    }
    fn reap(&mut self, until: DeviceTime, done: &mut Vec<Completion>) -> Result<(), DeviceError> {
        let had = done.len();
        self.model.reap(until, done)?;
        self.in_flight -= done.len() - had;
        Ok(())
    }
    fn purge(&mut self, how: Purge, watch: PrepareWatch<'_>) -> Result<PurgeOutcome, DeviceError> {
        self.model.purge(how, watch)
    }
    fn telemetry(&mut self) -> Telemetry {
        self.model.telemetry()
    }
}

impl Contents for Watched {
    fn unit(&self) -> Bytes {
        self.model.unit()
    }
    fn real_capacity(&self) -> Bytes {
        self.model.real_capacity()
    }
    fn forgets(&self) -> Forgets {
        self.model.forgets()
    }
    fn compresses(&self) -> bool {
        self.model.compresses()
    }
    fn holds(&self, unit: u32) -> bool {
        self.model.holds(unit)
    }
    fn takes_writes(&self) -> bool {
        self.model.takes_writes()
    }
    fn next_event(&self) -> Option<DeviceTime> {
        self.model.next_event()
    }
    fn expect_power_cuts(&mut self) -> AtPowerCut {
        self.model.expect_power_cuts()
    }
    fn volatile(&self) -> Vec<LostUnit> {
        self.model.volatile()
    }
    fn cut_power(&mut self, done: &mut Vec<Completion>) {
        self.model.cut_power(done);
    }
    fn take_power_cut(&mut self) -> Option<PowerCut> {
        self.model.take_power_cut()
    }
    fn has_lost(&self, unit: u32) -> bool {
        self.model.has_lost(unit)
    }
    fn lose_die(&mut self, die: u32) -> Result<(), DieRefused> {
        self.model.lose_die(die)
    }
    fn spare(&self) -> Option<Spare> {
        self.model.spare()
    }
}

impl Model for Watched {
    fn duplicate(&self) -> Box<dyn Model> {
        let (model, seen) = (self.model.duplicate(), Arc::clone(&self.seen));
        Box::new(Self { model, seen, in_flight: self.in_flight })
    }
}

type Seen = Vec<Arc<Mutex<Vec<Io>>>>;

/// An array whose members are watched, from now on.
fn watched(name: &str) -> (Array, Seen) {
    let name: ArrayName = name.parse().unwrap();
    let mut array = assembled(load(&name.drive).unwrap(), name.shape);
    let mut seen = Seen::new();
    array.members = std::mem::take(&mut array.members)
        .into_iter()
        .map(|member| {
            seen.push(Arc::default());
            let seen = Arc::clone(&seen[seen.len() - 1]);
            let watched = Watched { model: member.model, seen, in_flight: 0 };
            Member::new(Box::new(watched), member.is_dead)
        })
        .collect();
    (array, seen)
}

/// Reads and writes that members have seen since this was asked last.
fn counted(seen: &Seen) -> (usize, usize) {
    let all: Vec<Io> =
        seen.iter().flat_map(|seen| std::mem::take(&mut *seen.lock().unwrap())).collect();
    let of = |operation| all.iter().filter(|io| io.operation == operation).count();
    (of(Operation::Read), of(Operation::Write))
}

#[test]
fn every_level_keeps_a_device_s_promises() {
    for name in [
        "array:raid0:3:sim:tiny,chunk=64KiB",
        "array:raid1:2:sim:tiny",
        "array:raid10:4:sim:tiny",
        "array:raid5:3:sim:tiny,chunk=16KiB",
        "array:raid6:5:sim:tiny,dead=1",
        "array:2+1:sim:tiny,rebuild=0",
        "array:raid1:2:sim:tiny,rebuild=1",
        "array:raid10:4:sim:tiny,dead=1,slow=2",
    ] {
        conformance::check(&mut *built(name));
    }
}

#[test]
fn an_array_of_one_is_the_drive() {
    for drive in ["tiny", "samsung-840-evo-120gb"] {
        let mut alone = load(drive).unwrap().build("alone");
        let mut array = built(&format!("array:raid0:1:sim:{drive}"));
        assert_eq!(array.info().capacity, alone.info().capacity);
        let (count, depth) = (3_000, alone.info().queue_depth_max);
        let expected = random_load(&mut *alone, 1, count, depth);
        assert_eq!(random_load(&mut *array, 1, count, depth), expected, "{drive}");
        assert_eq!(array.telemetry(), alone.telemetry());
        let watch = &mut |_| std::ops::ControlFlow::Continue(());
        array.purge(Purge::SecureErase, watch).unwrap();
        alone.purge(Purge::SecureErase, watch).unwrap();
        let expected = random_load(&mut *alone, 2, 1_000, depth);
        assert_eq!(random_load(&mut *array, 2, 1_000, depth), expected, "{drive}, purged");
    }
}

#[test]
fn the_same_seed_gives_the_same_completions_and_so_does_a_duplicate() {
    let name = "array:raid5:4:sim:tiny,chunk=64KiB,rebuild=2";
    let (mut one, mut other) = (built(name), built(name));
    assert_eq!(random_load(&mut *one, 3, 2_000, 32), random_load(&mut *other, 3, 2_000, 32));
    let mut twin = one.duplicate();
    assert_eq!(random_load(&mut *one, 4, 500, 32), random_load(&mut *twin, 4, 500, 32));
}

#[test]
fn any_io_on_any_level_comes_back_once_and_no_member_gets_too_much() {
    for (seed, name) in [
        "array:raid0:2:sim:tiny",
        "array:raid1:3:sim:tiny,dead=1",
        "array:raid1:2:sim:tiny,rebuild=0",
        "array:raid10:6:sim:tiny,chunk=4KiB,dead=0,rebuild=3",
        "array:raid5:3:sim:tiny,chunk=4KiB",
        "array:raid5:5:sim:tiny,dead=4",
        "array:raid6:6:sim:tiny,chunk=64KiB,dead=0,dead=3",
        "array:raid6:4:sim:tiny,chunk=16KiB,dead=2,rebuild=1",
        "array:3+3:sim:tiny,dead=1,slow=0,rebuild=2",
        "array:1+1:sim:tiny,rebuild=1",
    ]
    .iter()
    .enumerate()
    {
        let (mut array, _) = watched(name);
        let (count, depth) = (1_500, array.info.queue_depth_max.min(64));
        let done = random_load(&mut array, seed as u64, count, depth);
        let mut slots: Vec<u16> = done.iter().map(|done| done.io.slot).collect();
        slots.sort_unstable();
        assert_eq!(slots, (0..count as u16).collect::<Vec<_>>(), "{name}");
        assert!(done.iter().all(|done| done.status == Status::Done), "{name}");
        assert!(done.iter().is_sorted_by_key(|done| done.completed), "{name}");
        // What the host wrote is held, whatever is missing.
        let unit = array.unit().0;
        for Completion { io, .. } in
            done.iter().filter(|done| done.io.operation == Operation::Write)
        {
            let units = io.offset.0 / unit..(io.offset.0 + io.length.0).div_ceil(unit);
            let is_held = |unit: u64| array.holds(unit as u32);
            assert!(array.info.trim || units.clone().all(is_held), "{name}: {io:?}");
        }
        let dead = array.members.iter().filter(|member| member.is_dead).count();
        assert_eq!(dead, name.matches("dead").count(), "nobody was taken out");
    }
}

/// Members lose a die each, until more of a stripe is gone than its parity makes up for.
#[test]
fn what_is_lost_is_what_cannot_be_read() {
    let mut lost_of_each = Vec::new();
    for name in ["array:raid0:2:sim:tiny", "array:raid1:2:sim:tiny", "array:raid5:4:sim:tiny"] {
        let (mut array, _) = watched(name);
        let (capacity, block) = (array.info.capacity.0, 64 * KIB);
        let whole = (0..capacity / block).map(|nth| Io::write(Bytes(nth * block), Bytes(block)));
        whole.for_each(|io| assert_eq!(status(&mut array, io), Status::Done));
        let unit = array.unit();
        for member in 0..2 {
            array.members[member].model.lose_die(1).unwrap();
            let units = (0..(capacity / unit.0) as u32).step_by(7);
            let mut lost = 0;
            for number in units {
                let read = status(&mut array, Io::read(unit * u64::from(number), unit));
                assert_eq!(array.has_lost(number), read != Status::Done, "{name}: {number}");
                lost += usize::from(array.has_lost(number));
            }
            lost_of_each.push(lost > 0);
        }
    }
    assert_eq!(lost_of_each, [true, true, false, true, false, true]);
}

/// What becomes of an I/O that is alone.
fn status(array: &mut Array, io: Io) -> Status {
    let mut done = Vec::new();
    array.submit(&[io]).unwrap();
    while done.is_empty() {
        array.reap(DeviceTime::MAX, &mut done).unwrap();
    }
    done[0].status
}

#[test]
fn members_see_what_the_level_asks_of_them() {
    let small = Io::write(Bytes::from_kib(8), PAGE_OF_IO);
    for (name, write, read) in [
        ("array:raid0:4:sim:tiny", (0, 1), (1, 0)),
        ("array:raid1:3:sim:tiny", (0, 3), (1, 0)),
        ("array:raid10:4:sim:tiny", (0, 2), (1, 0)),
        ("array:raid5:5:sim:tiny", (2, 2), (1, 0)),
        ("array:raid6:6:sim:tiny", (3, 3), (1, 0)),
        ("array:4+3:sim:tiny", (3, 4), (1, 0)),
        // Member 0 has the first chunk: read of the others.
        ("array:raid5:5:sim:tiny,dead=0", (3, 1), (4, 0)),
        ("array:raid6:6:sim:tiny,dead=1", (3, 2), (4, 0)),
    ] {
        let (mut array, seen) = watched(name);
        time_of(&mut array, small);
        assert_eq!(counted(&seen), write, "{name}");
        time_of(&mut array, Io::read(Bytes::from_kib(8), PAGE_OF_IO));
        assert_eq!(counted(&seen), read, "{name}");
    }
    let (mut array, seen) = watched("array:raid5:5:sim:tiny");
    let stripe = array.layout.stripe();
    time_of(&mut array, Io::write(Bytes(stripe), Bytes(stripe)));
    assert_eq!(counted(&seen), (0, 5), "a full stripe");
}

#[test]
fn writes_to_the_same_rows_follow_each_other_and_others_do_not_wait() {
    let both = |second: u64| {
        let mut array = built("array:raid5:5:sim:tiny");
        let ios = [Io::write(Bytes(0), PAGE_OF_IO), Io::write(Bytes(second), PAGE_OF_IO)];
        array.submit(&ios).unwrap();
        let mut done = Vec::new();
        while done.len() < 2 {
            array.reap(DeviceTime::MAX, &mut done).unwrap();
        }
        (done[0].service_time(), done[1].service_time())
    };
    // The same rows of the next column: they share the parity.
    let (first, second) = both(512 * KIB);
    assert!(second.0 > first.0 * 19 / 10, "{first} and {second}");
    // The next rows of the same column.
    let (first, second) = both(4 * KIB);
    assert!(second.0 < first.0 * 3 / 2, "{first} and {second}");
}

#[test]
fn a_mirror_writes_with_the_slowest_and_reads_from_one() {
    let profile = Profile::Ssd(Box::new(tiny()));
    let time = |slow: &[u32], io: Io| {
        let shape = Shape { slow: slow.to_vec(), ..Shape::new(Level::Raid1, 3) };
        let mut array = Simulated::array(profile.clone(), shape).unwrap().build("mirror").unwrap();
        time_of(&mut *array, Io::write(Bytes::ZERO, PAGE_OF_IO));
        time_of(&mut *array, Io::flush());
        time_of(&mut *array, io)
    };
    // A forced write has the time of a program on each of them: ten times that on the slow one.
    let forced = Io::write(Bytes::ZERO, PAGE_OF_IO).with_durability(Durability::Forced);
    let (program, of_slow) = (time(&[], forced), time(&[2], forced));
    let mut more = tiny().nand.program_time.0[0];
    more = Nanos(more.0 * 9);
    assert_eq!(of_slow, program + more, "the slowest of three");
    let read = Io::read(Bytes::ZERO, PAGE_OF_IO);
    assert_eq!(time(&[1, 2], read), time(&[], read), "the first is not slow");
    let more = Nanos(tiny().nand.read_time.0 * 9);
    assert_eq!(time(&[0], read), time(&[], read) + more);
}

/// With nothing else to do a rebuild is as fast as its new member takes what it gets, or as the others give it.
#[test]
fn a_rebuild_takes_as_long_as_its_bottleneck() {
    for (level, members) in [(Level::Raid1, 2), (Level::Raid5, 4), (Level::Raid6, 6)] {
        let mut profile = tiny();
        // The link decides, which has one rate.
        profile.nand.program_time = Nanos(1_000).into();
        profile.nand.read_time = Nanos(1_000);
        profile.nand.erase_time = Nanos(1_000);
        let rate = profile.link.write_throughput;
        let command = profile.link.command_time;
        let shape = Shape { rebuild: Some(1), ..Shape::new(level, members) };
        let mut array = assembled(Profile::Ssd(Box::new(profile)), shape);
        time_of(&mut array, Io::read(Bytes::ZERO, PAGE_OF_IO));
        while array.is_rebuilding() {
            array.advance(DeviceTime::MAX).unwrap();
        }
        let rebuilt = array.telemetry().rebuild.unwrap();
        assert!(rebuilt.is_complete() && rebuilt.of == Bytes(array.layout.used));
        let steps = rebuilt.of.0.div_ceil(512 << 10);
        let expected = rate.time_for(rebuilt.of).0 + command.0 * steps;
        let ratio = rebuilt.time.0 as f64 / expected as f64;
        assert!((0.95..1.05).contains(&ratio), "{level}: {} of {}", rebuilt.time, Nanos(expected));
    }
}

#[test]
fn a_rebuild_is_served_degraded_until_it_is_there_and_begins_again_after_a_purge() {
    let (mut array, seen) = watched("array:raid5:5:sim:tiny,rebuild=0");
    let last = Bytes(array.info.capacity.0 - array.layout.stripe());
    // In the first stripe member 0 has the first chunk.
    let of_new = (0..array.layout.columns as u64)
        .map(|column| last + Bytes(array.layout.chunk) * column)
        .find(|at| {
            let place = array.layout.place(at.0);
            array.layout.member_of(place.stripe, place.column) == 0
        });
    let read = Io::read(of_new.unwrap_or(last), PAGE_OF_IO);
    let reads_of = |seen: &Seen| {
        let is_it = |io: &&Io| io.operation == Operation::Read && io.length == PAGE_OF_IO;
        let of = |member: &Arc<Mutex<Vec<Io>>>| member.lock().unwrap().iter().filter(is_it).count();
        seen.iter().map(of).sum::<usize>()
    };
    time_of(&mut array, read);
    assert_eq!(reads_of(&seen), 4, "not there yet");
    while array.is_rebuilding() {
        array.advance(DeviceTime::MAX).unwrap();
    }
    counted(&seen);
    time_of(&mut array, read);
    assert_eq!(reads_of(&seen), 1, "there");
    array.purge(Purge::SecureErase, &mut |_| std::ops::ControlFlow::Continue(())).unwrap();
    assert_eq!(array.telemetry().rebuild.unwrap().done, Bytes::ZERO);
    counted(&seen);
    // Purged while it is at it.
    time_of(&mut array, read);
    array.purge(Purge::SecureErase, &mut |_| std::ops::ControlFlow::Continue(())).unwrap();
    assert_eq!(array.telemetry().rebuild.unwrap().done, Bytes::ZERO);
}

#[test]
fn a_lost_die_is_made_good_from_the_others() {
    let mut profile = tiny();
    (profile.faults.lost_die, profile.faults.lost_die_at) = (Some(0), Nanos::from_secs(3600));
    let level = Level::Code { data: 2, parity: 1 };
    let member = Profile::Ssd(Box::new(profile));
    let mut array = assembled(member, Shape::new(level, 3));
    // All members lose the same die: only one of them is to.
    for member in 1..3 {
        array.members[member].model = Profile::Ssd(Box::new(tiny())).build("whole");
        array.members[member].idle_until(array.now).unwrap();
    }
    fill(&mut array, 1 << 20);
    let mut done = Vec::new();
    array.reap(DeviceTime::default() + Nanos::from_secs(3700), &mut done).unwrap();
    for offset in (0..array.info.capacity.0 / 2).step_by(1 << 20) {
        time_of(&mut array, Io::read(Bytes(offset), Bytes::from_mib(1)));
    }
    assert!(array.telemetry().lost_pages.is_some_and(|lost| lost > 0), "nothing was lost at all");
}

#[test]
fn members_begin_apart() {
    let mut array = assembled(load("tiny").unwrap(), Shape::new(Level::Raid1, 4));
    fill(&mut array, 1 << 20);
    let pages = array.info.capacity.0 / PAGE_OF_IO.0;
    let mut random = Random(1);
    for _ in 0..20_000 {
        time_of(&mut array, Io::write(PAGE_OF_IO * random.below(pages), PAGE_OF_IO));
    }
    let written: Vec<_> =
        array.members.iter_mut().map(|member| member.model.telemetry().nand_written).collect();
    assert!(written.windows(2).any(|two| two[0] != two[1]), "they march in step: {written:?}");
}
