//! Trims of a range, in a thread of their own: the kernel offers no way out of a trim that the drive
//! does not answer.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use writecliff_device::{DeviceKind, DeviceTime, InFlight, Io};

use crate::{clock, discard};

/// The trims that were handed over and not answered, first come, first served.
#[derive(Debug, Default)]
pub(crate) struct Trims {
    /// None before the first trim.
    thread: Option<Thread>,
    waiting: VecDeque<InFlight>,
}

#[derive(Debug)]
struct Thread {
    orders: Sender<Io>,
    answers: Receiver<Answer>,
}

/// What the drive said to the trim that has waited longest, and by that thread's clock, when it was
/// asked and when it answered.
struct Answer {
    submitted: DeviceTime,
    completed: DeviceTime,
    result: io::Result<()>,
}

/// A trim that was answered.
pub(crate) struct Trimmed {
    pub(crate) io: Io,
    pub(crate) submitted: DeviceTime,
    pub(crate) completed: DeviceTime,
    pub(crate) result: io::Result<()>,
}

impl Trims {
    /// Hands a trim over.
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

    /// The answer to the oldest trim, if it comes within `patience`.
    pub(crate) fn next(&mut self, patience: Duration) -> Option<Trimmed> {
        let thread = self.thread.as_ref().filter(|_| !self.waiting.is_empty())?;
        let answer = thread.answers.recv_timeout(patience).ok()?;
        let InFlight { io, .. } = self.waiting.pop_front()?;
        let Answer { submitted, completed, result } = answer;
        Some(Trimmed { io, submitted, completed, result })
    }

    /// Those without an answer, the oldest first.
    pub(crate) fn waiting(&self) -> impl ExactSizeIterator<Item = &InFlight> {
        self.waiting.iter()
    }
}

impl Thread {
    fn begin(file: File, kind: DeviceKind) -> io::Result<Self> {
        let (orders, taken) = channel::<Io>();
        let (given, answers) = channel();
        let work = move || {
            for io in taken {
                let submitted = clock::now();
                let result = discard::range(&file, kind, io.offset.0, io.length.0);
                // Whoever asked may have given up.
                let _ = given.send(Answer { submitted, completed: clock::now(), result });
            }
        };
        thread::Builder::new().name("trim".to_owned()).spawn(work)?;
        Ok(Self { orders, answers })
    }
}
