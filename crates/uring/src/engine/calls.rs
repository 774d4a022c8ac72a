//! What does not go through the ring, in a thread of its own: trims, because the kernel offers no way
//! out of one that the drive does not answer; and where completions are polled, flushes, because
//! theirs cannot be.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use writecliff_device::{DeviceKind, DeviceTime, InFlight, Io, Operation};

use crate::drive::purge::discard;
use crate::host::clock;

/// The calls that were handed over and not answered, first come, first served.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// None before the first call.
    thread: Option<Thread>,
    waiting: VecDeque<InFlight>,
}

#[derive(Debug)]
struct Thread {
    orders: Sender<Io>,
    answers: Receiver<Answer>,
    ends: JoinHandle<()>,
}

/// What the drive said to the call that has waited longest, and by that thread's clock, when it was
/// asked and when it answered.
struct Answer {
    submitted: DeviceTime,
    completed: DeviceTime,
    result: io::Result<()>,
}

/// A trim or flush that was answered.
pub(crate) struct Answered {
    pub(crate) io: Io,
    pub(crate) submitted: DeviceTime,
    pub(crate) completed: DeviceTime,
    pub(crate) result: io::Result<()>,
}

impl Calls {
    /// Hands a trim or a flush over.
    ///
    /// # Errors
    /// If the system has no thread for it.
    pub(crate) fn submit(&mut self, file: &File, kind: DeviceKind, io: Io) -> io::Result<()> {
        let thread = match self.thread.take() {
            Some(thread) => thread,
            None => Thread::begin(file.try_clone()?, kind)?,
        };
        // The thread lasts as long as its sender: it takes every order.
        let _ = thread.orders.send(io);
        self.thread = Some(thread);
        self.waiting.push_back(InFlight { io, submitted: clock::now() });
        Ok(())
    }

    /// The answer to the oldest call, if it comes within `patience`.
    pub(crate) fn next(&mut self, patience: Duration) -> Option<Answered> {
        let thread = self.thread.as_ref().filter(|_| !self.waiting.is_empty())?;
        let answer = thread.answers.recv_timeout(patience).ok()?;
        let InFlight { io, .. } = self.waiting.pop_front()?;
        let Answer { submitted, completed, result } = answer;
        Some(Answered { io, submitted, completed, result })
    }

    /// Those without an answer, the oldest first.
    pub(crate) fn waiting(&self) -> impl ExactSizeIterator<Item = &InFlight> {
        self.waiting.iter()
    }
}

impl Drop for Calls {
    fn drop(&mut self) {
        let Some(Thread { orders, ends, .. }) = self.thread.take() else { return };
        drop(orders);
        // The thread holds the drive open: who opens it next must find it free. A call without an
        // answer is not waited for, since that may last for ever.
        if self.waiting.is_empty() {
            let _ = ends.join();
        }
    }
}

impl Thread {
    fn begin(file: File, kind: DeviceKind) -> io::Result<Self> {
        let (orders, taken) = channel::<Io>();
        let (given, answers) = channel();
        let work = move || {
            for io in taken {
                let submitted = clock::now();
                let result = match io.operation {
                    Operation::Flush => file.sync_data(),
                    _ => discard::range(&file, kind, io.offset.0, io.length.0),
                };
                // Whoever asked may have given up.
                let _ = given.send(Answer { submitted, completed: clock::now(), result });
            }
        };
        let ends = thread::Builder::new().name("calls".to_owned()).spawn(work)?;
        Ok(Self { orders, answers, ends })
    }
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

    fn fd(file: &File) -> String {
        std::os::fd::AsRawFd::as_raw_fd(file).to_string()
    }
}
