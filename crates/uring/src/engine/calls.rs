//! What does not go through the ring, in threads of their own: trims, because the kernel offers no way
//! out of one that the drive does not answer; where completions are polled, flushes, because theirs
//! cannot be; and writes with the flush that makes them durable, one thread for each that is under way,
//! since that is how databases do it: what the ring's own workers take is no part of it.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, IoSlice};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::io::{ReadWriteFlags, pwritev2};
use writecliff_content::SECTOR;
use writecliff_device::{DeviceKind, DeviceTime, Durability, InFlight, Io, Operation};

use super::arena::Arena;
use crate::drive::purge::discard;
use crate::host::clock;

/// The calls that were handed over and not answered.
#[derive(Debug)]
pub(crate) struct Calls {
    /// The first has trims and flushes, first come, first served; each other one writes, one after the other.
    threads: Vec<Thread>,
    /// In the order in which they were handed over, with the number of their thread.
    waiting: VecDeque<(usize, InFlight)>,
    given: Sender<Answer>,
    answers: Receiver<Answer>,
    /// Buffers of writes that are not in use.
    buffers: Vec<Arena>,
    /// How many threads write at once: those that are handed over beyond that wait for one of them.
    writers: usize,
    /// What has not begun does not begin any more.
    is_over: Arc<AtomicBool>,
}

#[derive(Debug)]
struct Thread {
    orders: Sender<Order>,
    ends: JoinHandle<()>,
}

/// A call, with the data of a write.
struct Order {
    io: Io,
    data: Option<Arena>,
    /// What comes before it, and is not part of its time.
    first: Option<First>,
}

/// What a thread does with the file before it writes.
pub(crate) type First = Box<dyn FnOnce(&File) -> io::Result<()> + Send>;

/// What the drive said to a thread's oldest call, and by that thread's clock, when it was asked and when it
/// answered.
struct Answer {
    thread: usize,
    submitted: DeviceTime,
    completed: DeviceTime,
    result: io::Result<()>,
    data: Option<Arena>,
}

/// A call that was answered.
pub(crate) struct Answered {
    pub(crate) io: Io,
    pub(crate) submitted: DeviceTime,
    pub(crate) completed: DeviceTime,
    pub(crate) result: io::Result<()>,
}

/// How long whoever waits for threads that have enough to do leaves them alone.
const NAP: Duration = Duration::from_millis(1);
/// Writes in flight where so many threads write one after the other: enough for each until the next look.
pub(crate) fn in_flight(writers: usize) -> usize {
    writers * (IN_FLIGHT_MAX / writers.max(1)).clamp(2, 32)
}

/// Of many threads no more are asked for.
const IN_FLIGHT_MAX: usize = 128;
/// The thread of trims and flushes.
const IN_ORDER: usize = 0;

impl Default for Calls {
    fn default() -> Self {
        let (given, answers) = channel();
        let (threads, waiting, buffers) = (Vec::new(), VecDeque::new(), Vec::new());
        let (writers, is_over) = (usize::MAX, Arc::default());
        Self { threads, waiting, given, answers, buffers, writers, is_over }
    }
}

impl Calls {
    /// Has so many threads write at once from now on.
    pub(crate) fn write_by(&mut self, writers: usize) {
        self.writers = writers.max(1);
    }

    /// Whether it was said by how many threads a log is written.
    pub(crate) fn are_of_a_log(&self) -> bool {
        self.writers != usize::MAX
    }

    /// Has what its threads have not begun fail, instead of being written when nobody expects it any more.
    pub(crate) fn give_up(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Hands a trim or a flush over.
    ///
    /// # Errors
    /// If the system has no thread for it.
    pub(crate) fn submit(&mut self, file: &File, kind: DeviceKind, io: Io) -> io::Result<()> {
        self.hand_over(IN_ORDER, file, kind, Order { io, data: None, first: None })
    }

    /// Hands a write over, and its flush if it is to have one, with what `fill` makes its data, in whole sectors.
    ///
    /// # Errors
    /// If the system has no thread, or no memory, for it.
    pub(crate) fn submit_write(
        &mut self,
        file: &File,
        kind: DeviceKind,
        io: Io,
        first: Option<First>,
        fill: impl FnOnce(&mut [u8]),
    ) -> io::Result<()> {
        let length = io.length.0 as usize;
        let fits = |buffer: &Arena| buffer.slot_size() >= length;
        let mut data = match self.buffers.iter().position(fits) {
            Some(found) => self.buffers.swap_remove(found),
            None => Arena::new(1, length)?,
        };
        fill(&mut data.own()[..length.next_multiple_of(SECTOR)]);
        let waiting = |thread: usize| self.waiting.iter().filter(|(of, _)| *of == thread).count();
        // One that has nothing to do, or else that has least.
        let begun = self.threads.len().max(IN_ORDER + 1);
        let writers = IN_ORDER + 1..begun.saturating_add(1).min(self.writers.saturating_add(1));
        let thread = writers.min_by_key(|thread| waiting(*thread)).unwrap_or(IN_ORDER + 1);
        self.hand_over(thread, file, kind, Order { io, data: Some(data), first })
    }

    fn hand_over(
        &mut self,
        thread: usize,
        file: &File,
        kind: DeviceKind,
        order: Order,
    ) -> io::Result<()> {
        while self.threads.len() <= thread {
            let number = self.threads.len();
            let (given, is_over) = (self.given.clone(), self.is_over.clone());
            let begun = Thread::begin(number, file.try_clone()?, kind, given, is_over)?;
            self.threads.push(begun);
        }
        let waits = InFlight { io: order.io, submitted: clock::now() };
        // The thread lasts as long as its sender: it takes every order.
        let _ = self.threads[thread].orders.send(order);
        self.waiting.push_back((thread, waits));
        Ok(())
    }

    /// The next answer of any thread, if one comes within `patience`; may give up early while there is more
    /// to do than threads.
    pub(crate) fn next(&mut self, patience: Duration) -> Option<Answered> {
        if self.waiting.is_empty() {
            return None;
        }
        let answer = match self.answers.try_recv() {
            Ok(answer) => answer,
            // Its threads have enough to do: to be woken by each answer would take a processor from them.
            Err(_) if self.waiting.len() > self.writers => {
                thread::sleep(patience.min(NAP));
                self.answers.try_recv().ok()?
            }
            Err(_) => self.answers.recv_timeout(patience).ok()?,
        };
        let Answer { thread, submitted, completed, result, data } = answer;
        self.buffers.extend(data);
        let oldest = self.waiting.iter().position(|(of, _)| *of == thread)?;
        let (_, InFlight { io, .. }) = self.waiting.remove(oldest)?;
        // A writer goes on with its next.
        let next = self.waiting.iter_mut().find(|(of, _)| *of == thread && thread != IN_ORDER);
        if let Some((_, next)) = next {
            next.submitted = completed;
        }
        Some(Answered { io, submitted, completed, result })
    }

    /// How many have no answer.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Trims and flushes, and the writes that a thread is at, since when it is.
    pub(crate) fn under_way(&self) -> impl Iterator<Item = InFlight> {
        let is_first = |place: usize, of: usize| {
            of == IN_ORDER || self.waiting.iter().take(place).all(|(earlier, _)| *earlier != of)
        };
        let all = self.waiting.iter().enumerate();
        all.filter(move |(place, (of, _))| is_first(*place, *of)).map(|(_, (_, waits))| *waits)
    }
}

impl Drop for Calls {
    fn drop(&mut self) {
        self.give_up();
        let is_waited_for = self.waiting.is_empty();
        for Thread { orders, ends } in self.threads.drain(..) {
            drop(orders);
            // The thread holds the drive open: who opens it next must find it free. A call without an
            // answer is not waited for, since that may last for ever.
            if is_waited_for {
                let _ = ends.join();
            }
        }
    }
}

impl Thread {
    fn begin(
        number: usize,
        file: File,
        kind: DeviceKind,
        given: Sender<Answer>,
        is_over: Arc<AtomicBool>,
    ) -> io::Result<Self> {
        let (orders, taken) = channel::<Order>();
        let work = move || {
            for Order { io, mut data, first } in taken {
                let begun = match is_over.load(Ordering::Relaxed) {
                    true => Err(io::Error::from_raw_os_error(libc::ECANCELED)),
                    false => first.map_or(Ok(()), |first| first(&file)),
                };
                let submitted = clock::now();
                let result = begun.and_then(|()| call(&file, kind, &io, data.as_mut()));
                let completed = clock::now();
                // Whoever asked may have given up.
                let _ = given.send(Answer { thread: number, submitted, completed, result, data });
            }
        };
        let ends = thread::Builder::new().name("calls".to_owned()).spawn(work)?;
        Ok(Self { orders, ends })
    }
}

fn call(file: &File, kind: DeviceKind, io: &Io, data: Option<&mut Arena>) -> io::Result<()> {
    match (io.operation, data) {
        (Operation::Flush, _) => file.sync_data(),
        (Operation::Write, Some(data)) => {
            let data = &data.own()[..io.length.0 as usize];
            match io.durability {
                Durability::Later => file.write_all_at(data, io.offset.0),
                Durability::Forced => write_forced(file, data, io.offset.0),
                Durability::Flushed => {
                    file.write_all_at(data, io.offset.0)?;
                    file.sync_data()
                }
            }
        }
        _ => discard::range(file, kind, io.offset.0, io.length.0),
    }
}

/// As with `O_DSYNC`: each piece is durable when it is written.
fn write_forced(file: &File, mut data: &[u8], mut offset: u64) -> io::Result<()> {
    while !data.is_empty() {
        let slice = [IoSlice::new(data)];
        let written = pwritev2(file, &slice, offset, ReadWriteFlags::DSYNC)?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        (data, offset) = (&data[written..], offset + written as u64);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use writecliff_device::Bytes;

    #[test]
    fn whoever_comes_after_the_last_answer_finds_the_file_free() {
        for _ in 0..200 {
            let file = tempfile::tempfile().unwrap();
            file.set_len(1 << 20).unwrap();
            let mut calls = Calls::default();
            calls.submit(&file, DeviceKind::File, Io::trim(Bytes(0), Bytes(4096))).unwrap();
            assert!(calls.next(Duration::from_secs(60)).is_some());
            drop(calls);
            let name = std::fs::read_link("/proc/self/fd/".to_owned() + &fd(&file)).unwrap();
            let opened = std::fs::read_dir("/proc/self/fd").unwrap();
            let same = opened.filter(|entry| {
                std::fs::read_link(entry.as_ref().unwrap().path()).is_ok_and(|path| path == name)
            });
            assert_eq!(same.count(), 1, "only the one that was opened here");
        }
    }

    #[test]
    fn what_waits_for_its_thread_is_not_under_way_and_does_not_begin_when_it_is_given_up() {
        let file = tempfile::tempfile().unwrap();
        let mut calls = Calls::default();
        calls.write_by(1);
        let (go_on, waits) = channel::<()>();
        let (has_begun, begins) = channel::<()>();
        let mut first: Option<First> = Some(Box::new(move |_| {
            let _ = has_begun.send(());
            let _ = waits.recv();
            Ok(())
        }));
        let page = Bytes(4096);
        for number in 0..3 {
            let write = Io::write(page * number, page).with_durability(Durability::Flushed);
            let fill = |buffer: &mut [u8]| buffer.fill(1);
            calls.submit_write(&file, DeviceKind::File, write, first.take(), fill).unwrap();
        }
        assert_eq!((calls.waiting(), calls.under_way().count()), (3, 1));
        begins.recv().unwrap();
        let begun = clock::now();
        calls.give_up();
        go_on.send(()).unwrap();
        let mut answer = || loop {
            if let Some(answered) = calls.next(Duration::from_secs(60)) {
                return (
                    answered.result.map_err(|error| error.raw_os_error()),
                    calls.under_way().next(),
                );
            }
        };
        let (result, next) = answer();
        assert!(result.is_ok() && next.unwrap().submitted >= begun, "it is at the next since then");
        assert_eq!(answer().0, Err(Some(libc::ECANCELED)));
        assert_eq!(answer().0, Err(Some(libc::ECANCELED)));
        assert_eq!(file.metadata().unwrap().len(), page.0, "the others were never written");
    }

    fn fd(file: &File) -> String {
        std::os::fd::AsRawFd::as_raw_fd(file).to_string()
    }
}
