//! One client's connection: what it is sent, and how much it may ask for before it has taken that.
//!
//! Whoever has an answer for a client sends it, as far as the connection takes it at once; what it does
//! not take waits, and a thread of that client's own sends it. So a client that does not read holds
//! nobody up but itself: when too much waits for it, it is not listened to.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::net::{SendFlags, send};

/// What a client may have under way, in bytes of data asked for and not taken yet.
const UNDER_WAY_MAX: usize = 64 << 20;
/// What a request counts besides its data.
pub(crate) const REQUEST_COST: usize = 256;
/// What each further command counts that a request becomes.
pub(crate) const COMMAND_COST: usize = 64;

/// The way to a client.
#[derive(Debug)]
pub(crate) enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Stream {
    pub(crate) fn shut_down(&self) {
        // One that has gone away is shut down.
        let _ = match self {
            Self::Unix(stream) => stream.shutdown(Shutdown::Both),
            Self::Tcp(stream) => stream.shutdown(Shutdown::Both),
        };
    }

    pub(crate) fn set_patience(&self, patience: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.set_read_timeout(patience),
            Self::Tcp(stream) => stream.set_read_timeout(patience),
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(stream) => stream.as_fd(),
            Self::Tcp(stream) => stream.as_fd(),
        }
    }
}

impl Read for &Stream {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => (&*stream).read(to),
            Stream::Tcp(stream) => (&*stream).read(to),
        }
    }
}

impl Write for &Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => (&*stream).write(bytes),
            Stream::Tcp(stream) => (&*stream).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A client that has chosen its export.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) stream: Stream,
    out: Mutex<Out>,
    changed: Condvar,
}

/// What is under way to it.
#[derive(Debug, Default)]
struct Out {
    waiting: VecDeque<(Vec<u8>, Range<usize>)>,
    waiting_bytes: usize,
    /// Requests that were not answered, by their cost.
    asked: usize,
    /// A thread sends what waits.
    has_sender: bool,
    is_closed: bool,
    /// Somebody waits for a change; to wake nobody takes a call of the system, too.
    is_awaited: bool,
}

impl Client {
    pub(crate) fn new(stream: Stream) -> Self {
        Self { stream, out: Mutex::default(), changed: Condvar::new() }
    }

    fn out(&self) -> MutexGuard<'_, Out> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts what it asks for; waits before that while too much is under way. `false` if the
    /// connection is closed.
    pub(crate) fn asks(&self, cost: usize) -> bool {
        let mut out = self.out();
        while out.is_full() && !out.is_closed {
            out = self.wait(out);
        }
        out.asked += cost;
        !out.is_closed
    }

    /// Whether [`asks`](Self::asks) would wait.
    pub(crate) fn is_full(&self) -> bool {
        self.out().is_full()
    }

    /// Sends the answer to requests of this cost, or has it sent. Never waits.
    pub(crate) fn answer(self: &Arc<Self>, bytes: Vec<u8>, mut part: Range<usize>, cost: usize) {
        let mut out = self.out();
        out.asked -= cost;
        if out.waiting.is_empty() && !out.has_sender && !out.is_closed {
            self.send_at_once(&bytes, &mut part, &mut out);
        }
        if part.start < part.end && !out.is_closed {
            out.waiting_bytes += part.len();
            out.waiting.push_back((bytes, part));
            if !out.has_sender {
                out.has_sender = true;
                let client = Arc::clone(self);
                let begun = thread::Builder::new().name("sender".to_owned());
                if begun.spawn(move || client.send_waiting()).is_err() {
                    out.close(&self.stream);
                }
            }
        }
        self.wake(&mut out);
    }

    /// As much as the connection takes without waiting.
    fn send_at_once(&self, bytes: &[u8], part: &mut Range<usize>, out: &mut Out) {
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        while part.start < part.end {
            match send(&self.stream, &bytes[part.clone()], flags) {
                Ok(sent) => part.start += sent,
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return,
                Err(_) => return out.close(&self.stream),
            }
        }
    }

    fn send_waiting(&self) {
        let mut out = self.out();
        while let Some((bytes, part)) = out.waiting.pop_front() {
            drop(out);
            let sent = (&self.stream).write_all(&bytes[part.clone()]);
            out = self.out();
            if sent.is_err() || out.is_closed {
                out.close(&self.stream);
                break;
            }
            out.waiting_bytes -= part.len();
            self.wake(&mut out);
        }
        out.has_sender = false;
        self.wake(&mut out);
    }

    /// Waits until everything was answered and sent, or the connection is closed.
    pub(crate) fn wait_for_all(&self) {
        let mut out = self.out();
        while !out.is_closed && (out.asked > 0 || out.waiting_bytes > 0 || out.has_sender) {
            out = self.wait(out);
        }
    }

    fn wait<'a>(&self, mut out: MutexGuard<'a, Out>) -> MutexGuard<'a, Out> {
        out.is_awaited = true;
        self.changed.wait(out).unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self, out: &mut Out) {
        if std::mem::take(&mut out.is_awaited) {
            self.changed.notify_all();
        }
    }

    /// Whether there is nothing that it waits for.
    pub(crate) fn is_idle(&self) -> bool {
        let out = self.out();
        out.is_closed || (out.asked == 0 && out.waiting_bytes == 0)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.out().is_closed
    }

    /// Ends the connection, whatever is under way.
    pub(crate) fn close(&self) {
        let mut out = self.out();
        out.close(&self.stream);
        self.wake(&mut out);
    }
}

impl Out {
    fn is_full(&self) -> bool {
        self.asked + self.waiting_bytes > UNDER_WAY_MAX
    }

    fn close(&mut self, stream: &Stream) {
        self.is_closed = true;
        self.waiting.clear();
        self.waiting_bytes = 0;
        stream.shut_down();
    }
}
