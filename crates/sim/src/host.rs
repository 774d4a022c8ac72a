//! The host of a simulated drive, as far as it takes time: software encryption, if it is asked for.
//!
//! One processor encrypts a write before the drive gets it, and decrypts a read before the program
//! does, one I/O after the other in the order in which they come to it. The drive gets data that no
//! longer compress or repeat, and trims only where they pass. Left out: what dm-crypt's work queues
//! and copies take besides the cipher, and further processors.

use std::collections::VecDeque;

use writecliff_device::{
    Bytes, Completion, Content, Device, DeviceError, DeviceInfo, DeviceTime, Encryption, Held,
    InFlight, Io, Nanos, Operation, PrepareWatch, Purge, PurgeOutcome, Stamping, Status, Telemetry,
};

use crate::contents::{AtPowerCut, Contents, DieRefused, Forgets, LostUnit, PowerCut, Spare};

/// A drive and the host before it, which takes no time unless it encrypts.
#[derive(Debug, Clone)]
pub(crate) struct Host<D> {
    drive: D,
    cipher: Option<Cipher>,
    /// What encryption has taken, once anybody has asked for any.
    processor: Option<Nanos>,
}

/// The processor that encrypts, and what is on its way.
#[derive(Debug, Clone)]
struct Cipher {
    with: Encryption,
    free_at: DeviceTime,
    /// Writes that the drive does not have yet, each with its place and when it goes there.
    going: VecDeque<(DeviceTime, usize)>,
    /// I/Os by their places, as they were asked for and when; free places are `None`.
    asked: Vec<Option<(Io, DeviceTime)>>,
    /// What the drive has done and the program does not have yet, the first to end first.
    returning: VecDeque<Completion>,
}

impl<D: Device> Host<D> {
    pub(crate) fn new(drive: D) -> Self {
        Self { drive, cipher: None, processor: None }
    }

    /// Hands those I/Os to the drive whose time has come.
    fn hand_over(&mut self) -> Result<(), DeviceError> {
        let Some(cipher) = &mut self.cipher else { return Ok(()) };
        while let Some((_, place)) = cipher.going.pop_front_if(|going| going.0 <= self.drive.now())
        {
            self.drive.submit(&[cipher.as_the_drive_gets_it(place)])?;
        }
        Ok(())
    }
}

impl Cipher {
    fn new(with: Encryption) -> Self {
        Self {
            with,
            free_at: DeviceTime::default(),
            going: VecDeque::new(),
            asked: Vec::new(),
            returning: VecDeque::new(),
        }
    }

    fn in_flight(&self) -> usize {
        self.asked.iter().flatten().count() + self.returning.len()
    }

    /// The processor's next work, on an I/O that is there `from` on; gives when it is done.
    fn work(&mut self, io: &Io, from: DeviceTime, spent: &mut Nanos) -> DeviceTime {
        let time = self.with.cipher.time_for(io.length);
        *spent += time;
        self.free_at = self.free_at.max(from) + time;
        self.free_at
    }

    /// Keeps an I/O until it comes back from the drive; gives its place.
    fn keep(&mut self, io: &Io, now: DeviceTime) -> usize {
        let place = self.asked.iter().position(Option::is_none).unwrap_or(self.asked.len());
        if place == self.asked.len() {
            self.asked.push(None);
        }
        self.asked[place] = Some((*io, now));
        place
    }

    /// The drive gets nothing to reduce, and the I/O's place to give back.
    fn as_the_drive_gets_it(&self, place: usize) -> Io {
        let Some((io, _)) = self.asked[place] else { unreachable!("no I/O is kept at {place}") };
        Io { content: Content::INCOMPRESSIBLE, slot: place as u16, ..io }
    }

    /// What comes back from the drive; what was read is decrypted first.
    fn take_back(&mut self, done: &Completion, spent: &mut Nanos) {
        let Some((io, submitted)) = self.asked[usize::from(done.io.slot)].take() else {
            unreachable!("nobody asked for {done:?}");
        };
        let is_read = io.operation == Operation::Read && done.status == Status::Done;
        let completed =
            if is_read { self.work(&io, done.completed, spent) } else { done.completed };
        self.give_back(Completion { io, submitted, completed, ..*done });
    }

    fn give_back(&mut self, completion: Completion) {
        let later = |other: &Completion| other.completed <= completion.completed;
        self.returning.insert(self.returning.partition_point(later), completion);
    }
}

impl<D: Device> Device for Host<D> {
    fn info(&self) -> &DeviceInfo {
        self.drive.info()
    }

    fn now(&self) -> DeviceTime {
        self.drive.now()
    }

    fn announce(&mut self, upcoming: &[Io]) {
        self.drive.announce(upcoming);
    }

    fn submit(&mut self, batch: &[Io]) -> Result<(), DeviceError> {
        let (Some(cipher), Some(spent)) = (&mut self.cipher, &mut self.processor) else {
            return self.drive.submit(batch);
        };
        let info = self.drive.info();
        batch.iter().try_for_each(|io| info.check(io))?;
        let depth = cipher.in_flight() + batch.len();
        assert!(depth <= info.queue_depth_max, "{depth} I/Os exceed the queue");
        let now = self.drive.now();
        for io in batch {
            let is_swallowed = io.operation == Operation::Trim && !cipher.with.passes_trims;
            if is_swallowed {
                let (submitted, completed, status) = (now, now, Status::Done);
                cipher.give_back(Completion { io: *io, submitted, completed, status });
                continue;
            }
            let place = cipher.keep(io, now);
            if io.operation == Operation::Write {
                let encrypted = cipher.work(io, now, spent);
                cipher.going.push_back((encrypted, place));
            } else {
                self.drive.submit(&[cipher.as_the_drive_gets_it(place)])?;
            }
        }
        self.hand_over()
    }

    fn reap(&mut self, until: DeviceTime, done: &mut Vec<Completion>) -> Result<(), DeviceError> {
        let mut from_drive = Vec::new();
        loop {
            let (Some(cipher), Some(spent)) = (&mut self.cipher, &mut self.processor) else {
                return self.drive.reap(until, done);
            };
            let back = cipher.returning.front().map(|first| first.completed);
            let due = cipher.going.front().map(|going| going.0);
            let next = [back, due].into_iter().flatten().fold(until, DeviceTime::min);
            self.drive.reap(next, &mut from_drive)?;
            if !from_drive.is_empty() {
                from_drive.drain(..).for_each(|done| cipher.take_back(&done, spent));
                continue;
            }
            let now = self.drive.now();
            let had = done.len();
            while let Some(first) = cipher.returning.pop_front_if(|first| first.completed <= now) {
                done.push(first);
            }
            self.hand_over()?;
            if done.len() > had || now >= until {
                return Ok(());
            }
        }
    }

    fn purge(&mut self, how: Purge, watch: PrepareWatch<'_>) -> Result<PurgeOutcome, DeviceError> {
        assert!(self.cipher.is_none(), "a purge through software encryption");
        self.drive.purge(how, watch)
    }

    fn encrypt(&mut self, with: Option<&Encryption>) -> Result<(), DeviceError> {
        let in_flight = self.cipher.as_ref().map_or(0, Cipher::in_flight);
        assert!(in_flight == 0, "encryption is changed with {in_flight} I/Os in flight");
        self.cipher = with.map(|with| Cipher::new(*with));
        self.processor.get_or_insert(Nanos::ZERO);
        Ok(())
    }

    fn telemetry(&mut self) -> Telemetry {
        Telemetry { processor: self.processor, ..self.drive.telemetry() }
    }

    fn full_telemetry(&mut self) -> Telemetry {
        Telemetry { processor: self.processor, ..self.drive.full_telemetry() }
    }

    fn stamp(&mut self, stamping: Stamping) -> bool {
        self.drive.stamp(stamping)
    }

    fn take_held(&mut self, held: &mut Vec<Held>) {
        self.drive.take_held(held);
    }

    fn in_flight_since(&self, before: DeviceTime) -> Vec<InFlight> {
        self.drive.in_flight_since(before)
    }
}

/// What the drive says; encryption changes no place, and has no memory of its own.
impl<D: Contents + Device> Contents for Host<D> {
    fn unit(&self) -> Bytes {
        self.drive.unit()
    }

    fn real_capacity(&self) -> Bytes {
        self.drive.real_capacity()
    }

    fn forgets(&self) -> Forgets {
        self.drive.forgets()
    }

    fn compresses(&self) -> bool {
        self.drive.compresses()
    }

    fn holds(&self, unit: u32) -> bool {
        self.drive.holds(unit)
    }

    fn has_lost(&self, unit: u32) -> bool {
        self.drive.has_lost(unit)
    }

    fn takes_writes(&self) -> bool {
        self.drive.takes_writes()
    }

    fn next_event(&self) -> Option<DeviceTime> {
        assert!(self.cipher.is_none(), "nobody looks inside a drive behind encryption");
        self.drive.next_event()
    }

    fn expect_power_cuts(&mut self) -> AtPowerCut {
        self.drive.expect_power_cuts()
    }

    fn volatile(&self) -> Vec<LostUnit> {
        self.drive.volatile()
    }

    fn cut_power(&mut self, done: &mut Vec<Completion>) {
        assert!(self.cipher.is_none(), "nobody looks inside a drive behind encryption");
        self.drive.cut_power(done);
    }

    fn take_power_cut(&mut self) -> Option<PowerCut> {
        self.drive.take_power_cut()
    }

    fn lose_die(&mut self, die: u32) -> Result<(), DieRefused> {
        self.drive.lose_die(die)
    }

    fn spare(&self) -> Option<Spare> {
        self.drive.spare()
    }
}

#[cfg(test)]
mod tests {
    use writecliff_device::scripted::Scripted;
    use writecliff_device::{Throughput, conformance};

    use super::*;
    use crate::{Profile, load};

    const PAGE: Bytes = Bytes::from_kib(4);
    /// What a page of an encrypted I/O takes at 4.096 GB/s.
    const TIME: Nanos = Nanos::from_micros(1);

    fn encryption(passes_trims: bool) -> Encryption {
        Encryption { passes_trims, cipher: Throughput(4_096_000_000), seed: 1 }
    }

    /// A drive that does everything side by side, in 10 µs each, with this between it and the host.
    fn scripted(passes_trims: bool) -> Host<Scripted> {
        let drive = Scripted::new(Bytes::from_mib(1), |_, _| Nanos::from_micros(10));
        let mut host = Host::new(drive.side_by_side());
        host.encrypt(Some(&encryption(passes_trims))).unwrap();
        host
    }

    /// How long each of these took, all asked for at once, in the order in which they came back.
    fn times(device: &mut dyn Device, ios: &[Io]) -> Vec<Nanos> {
        device.submit(ios).unwrap();
        let mut done = Vec::new();
        while done.len() < ios.len() {
            device.reap(DeviceTime::MAX, &mut done).unwrap();
        }
        assert!(done.iter().is_sorted_by_key(|done| done.completed), "{done:?}");
        done.iter().map(Completion::service_time).collect()
    }

    #[test]
    fn it_keeps_a_device_s_promises_with_and_without() {
        let Profile::Ssd(tiny) = load("tiny").unwrap() else { unreachable!() };
        let mut host = Host::new(crate::Ssd::new(*tiny, "sim:tiny"));
        conformance::check(&mut host);
        assert_eq!(host.telemetry().processor, None);
        let mut drive = Unpurged(host);
        drive.0.encrypt(Some(&encryption(true))).unwrap();
        conformance::check(&mut drive);
    }

    /// Takes the encryption away for a purge, as a test does.
    struct Unpurged<D>(Host<D>);

    impl<D: Device> Device for Unpurged<D> {
        fn info(&self) -> &DeviceInfo {
            self.0.info()
        }
        fn now(&self) -> DeviceTime {
            self.0.now()
        }
        fn submit(&mut self, batch: &[Io]) -> Result<(), DeviceError> {
            self.0.submit(batch)
        }
        fn reap(&mut self, to: DeviceTime, done: &mut Vec<Completion>) -> Result<(), DeviceError> {
            self.0.reap(to, done)
        }
        fn purge(
            &mut self,
            how: Purge,
            watch: PrepareWatch<'_>,
        ) -> Result<PurgeOutcome, DeviceError> {
            self.0.encrypt(None)?;
            let outcome = self.0.purge(how, watch)?;
            self.0.encrypt(Some(&encryption(true)))?;
            Ok(outcome)
        }
        fn telemetry(&mut self) -> Telemetry {
            self.0.telemetry()
        }
    }

    #[test]
    fn one_processor_encrypts_before_and_decrypts_after_the_drive() {
        let alone = Nanos::from_micros(10);
        let pages = |operation| -> Vec<Io> {
            (0..4).map(|nth| Io::new(operation, PAGE * nth, PAGE)).collect()
        };
        for operation in [Operation::Write, Operation::Read] {
            let expected: Vec<Nanos> = (1..=4).map(|nth| alone + TIME * nth).collect();
            assert_eq!(times(&mut scripted(true), &pages(operation)), expected, "{operation:?}");
        }
        let mut host = scripted(true);
        assert_eq!(times(&mut host, &[Io::flush(), Io::trim(PAGE, PAGE)]), [alone, alone]);
        assert_eq!(host.telemetry().processor, Some(Nanos::ZERO));
        times(&mut host, &pages(Operation::Write));
        assert_eq!(host.telemetry().processor, Some(TIME * 4));
    }

    #[test]
    fn trims_that_do_not_pass_are_done_at_once() {
        let mut host = scripted(false);
        assert_eq!(times(&mut host, &[Io::trim(PAGE, PAGE)]), [Nanos::ZERO]);
        // Beside others, too.
        let both = [Io::read(PAGE, PAGE), Io::trim(PAGE, PAGE)];
        assert_eq!(times(&mut host, &both), [Nanos::ZERO, Nanos::from_micros(11)]);
    }

    #[test]
    fn io_comes_back_as_it_was_asked_for_and_the_drive_gets_what_does_not_compress() {
        let gets = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let noted = std::sync::Arc::clone(&gets);
        let drive = Scripted::new(Bytes::from_mib(1), move |io, _| {
            noted.lock().unwrap().push(io.content);
            TIME
        });
        let mut host = Host::new(drive);
        let content = Content { compressible_percent: 46, duplicate_percent: 10 };
        let io = Io { slot: 7, series: 3, ..Io::write(PAGE, PAGE).with_content(content) };
        for (with, expected) in [(None, content), (Some(encryption(true)), Content::default())] {
            host.encrypt(with.as_ref()).unwrap();
            host.submit(&[io]).unwrap();
            let mut done = Vec::new();
            host.reap(DeviceTime::MAX, &mut done).unwrap();
            assert_eq!((done[0].io, gets.lock().unwrap().pop()), (io, Some(expected)));
        }
    }
}
