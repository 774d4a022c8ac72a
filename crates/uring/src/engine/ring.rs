//! One io_uring with one registered file and a registered buffer per slot.
//!
//! Held true: a slot has at most one I/O in flight, and its buffer can be touched only when it has
//! none. Queued I/Os reach the kernel with the next [`hand_over`](Ring::hand_over), all in one call.
//! Of a polled ring, completions are asked for at the drive instead of waiting for its interrupts.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use io_uring::types::{Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode, squeue};
use libc::{iovec, sigset_t};
use rustix::io::Errno;
use writecliff_device::{Durability, Io, Nanos, Operation};

use crate::engine::arena::Arena;
use crate::host::clock;

/// The kernel's `IORING_ENTER_GETEVENTS`: collect completions, also those that it defers.
const ENTER_GET_EVENTS: u32 = 1 << 0;
/// The kernel's `IORING_ENTER_EXT_ARG`: the argument carries a timeout.
const ENTER_EXTENDED_ARGUMENT: u32 = 1 << 3;

/// The registered file's index; there is only one.
const THE_FILE: Fixed = Fixed(0);

pub(crate) struct Ring {
    // Before the arena: the ring goes first, then the memory that it works on.
    uring: IoUring,
    arena: Arena,
    busy: Vec<bool>,
    queued: u32,
    enabled: bool,
    polled: bool,
    /// Time in which a polled ring asked and nothing had come.
    asked_in_vain: Nanos,
}

/// Why a ring could not be made.
#[derive(Debug)]
pub(crate) enum RingError {
    /// The system has no io_uring for this process.
    Unavailable(io::Error),
    /// The buffers could not be pinned in memory.
    LockedMemory(io::Error),
    /// There is no memory for the buffers.
    Memory(io::Error),
}

impl From<RingError> for io::Error {
    fn from(error: RingError) -> Self {
        match error {
            RingError::Unavailable(error)
            | RingError::LockedMemory(error)
            | RingError::Memory(error) => error,
        }
    }
}

impl Ring {
    /// A ring for `slots` I/Os of at most `slot_size` bytes at a time on `file`, whose completions are
    /// `polled` or come by interrupt.
    pub(crate) fn new(
        file: &File,
        slots: usize,
        slot_size: usize,
        polled: bool,
    ) -> Result<Self, RingError> {
        let arena = Arena::new(slots, slot_size).map_err(RingError::Memory)?;
        let uring = build(slots as u32, polled).map_err(RingError::Unavailable)?;
        let submitter = uring.submitter();
        submitter.register_files(&[file.as_raw_fd()]).map_err(RingError::Unavailable)?;
        let buffers: Vec<iovec> = (0..slots)
            .map(|slot| iovec { iov_base: arena.address(slot).cast(), iov_len: arena.slot_size() })
            .collect();
        // SAFETY: the buffers live in the arena, which outlives the ring (see the field order).
        unsafe { submitter.register_buffers(&buffers) }.map_err(RingError::LockedMemory)?;
        Ok(Self {
            uring,
            arena,
            busy: vec![false; slots],
            queued: 0,
            enabled: false,
            polled,
            asked_in_vain: Nanos::ZERO,
        })
    }

    /// Works on another file from here on. Nothing may be in flight.
    ///
    /// # Errors
    /// If the ring cannot go on.
    pub(crate) fn exchange(&mut self, file: &File) -> io::Result<()> {
        assert!(!self.busy.contains(&true), "the file is exchanged with I/Os in flight");
        self.uring.submitter().unregister_files()?;
        self.uring.submitter().register_files(&[file.as_raw_fd()])
    }

    /// Whether completions are polled. Such a ring takes no flush.
    pub(crate) fn is_polled(&self) -> bool {
        self.polled
    }

    /// All the time in which a polled ring asked and nothing had come: what a ring with interrupts
    /// would have slept.
    pub(crate) fn asked_in_vain(&self) -> Nanos {
        self.asked_in_vain
    }

    /// A slot's buffer, to fill before a write or to look at after a read.
    ///
    /// # Panics
    /// If the slot has an I/O in flight.
    pub(crate) fn buffer(&mut self, slot: usize) -> &mut [u8] {
        assert!(!self.busy[slot], "slot {slot} is in flight");
        // SAFETY: nothing of this slot is in flight, by the line above.
        unsafe { self.arena.buffer(slot) }
    }

    /// Whether a slot has an I/O in flight.
    pub(crate) fn is_busy(&self, slot: usize) -> bool {
        self.busy[slot]
    }

    /// Queues a read, write or flush for the next [`hand_over`](Self::hand_over).
    ///
    /// # Panics
    /// If the slot has an I/O in flight, or its buffer is smaller than the I/O.
    pub(crate) fn queue(&mut self, slot: usize, io: &Io) {
        assert!(!self.busy[slot], "slot {slot} is in flight");
        assert!(io.length.0 <= self.arena.slot_size() as u64, "{io:?}");
        let entry = self.entry(slot, io).user_data(slot as u64);
        // SAFETY: the entry names the registered file and a buffer of the arena; `busy` keeps
        // everybody else away from it until the completion has come.
        let pushed = unsafe { self.uring.submission().push(&entry) };
        assert!(pushed.is_ok(), "the queue has an entry for every slot");
        self.busy[slot] = true;
        self.queued += 1;
    }

    fn entry(&self, slot: usize, io: &Io) -> squeue::Entry {
        let (buffer, length, index) = (self.arena.address(slot), io.length.0 as u32, slot as u16);
        match io.operation {
            Operation::Read => {
                opcode::ReadFixed::new(THE_FILE, buffer, length, index).offset(io.offset.0).build()
            }
            Operation::Write => {
                let write = opcode::WriteFixed::new(THE_FILE, buffer, length, index);
                let is_forced = io.durability == Durability::Forced;
                let flags = if is_forced { libc::RWF_DSYNC } else { 0 };
                write.offset(io.offset.0).rw_flags(flags).build()
            }
            Operation::Flush => opcode::Fsync::new(THE_FILE).flags(FsyncFlags::DATASYNC).build(),
            Operation::Trim => unreachable!("a trim does not go through the ring"),
        }
    }

    /// Hands over what is queued, without waiting for anything; gives how many I/Os were handed
    /// over. What completes at once is there when it returns.
    ///
    /// # Errors
    /// If the ring cannot go on.
    pub(crate) fn hand_over(&mut self) -> io::Result<u32> {
        self.enable()?;
        // SAFETY: there is no argument that would have to live.
        let entered = unsafe {
            self.uring.submitter().enter::<sigset_t>(self.queued, 0, ENTER_GET_EVENTS, None)
        };
        self.handed_over(entered)
    }

    /// Hands over what is queued and waits for a completion, `patience` at most, in one system call;
    /// gives how many I/Os were handed over. May return early. A polled ring asks the drive all the
    /// time.
    ///
    /// # Errors
    /// If the ring cannot go on.
    pub(crate) fn hand_over_and_wait(&mut self, patience: Nanos) -> io::Result<u32> {
        match self.polled {
            true => self.poll(patience),
            false => self.sleep(patience),
        }
    }

    /// The thread that enables the ring is its only user from then on: so it is the one that runs the
    /// device, not the one that opened it.
    fn enable(&mut self) -> io::Result<()> {
        if !self.enabled {
            self.uring.submitter().register_enable_rings()?;
            self.enabled = true;
        }
        Ok(())
    }

    fn handed_over(&mut self, entered: io::Result<usize>) -> io::Result<u32> {
        let handed_over = match entered {
            Ok(count) => count as u32,
            Err(error) if interrupted(&error) => 0,
            Err(error) => return Err(error),
        };
        self.queued -= handed_over;
        Ok(handed_over)
    }

    /// Asks until a completion is there: a wait in the kernel would know no end but that.
    fn poll(&mut self, patience: Nanos) -> io::Result<u32> {
        let begun = clock::now();
        let (mut now, until, mut handed_over) = (begun, begun + patience, 0);
        loop {
            handed_over += self.hand_over()?;
            if self.has_completed() || now >= until {
                self.asked_in_vain += now.since(begun);
                return Ok(handed_over);
            }
            now = clock::now();
        }
    }

    fn sleep(&mut self, patience: Nanos) -> io::Result<u32> {
        self.enable()?;
        let timeout = Timespec::new()
            .sec(patience.0 / 1_000_000_000)
            .nsec((patience.0 % 1_000_000_000) as u32);
        let arguments = SubmitArgs::new().timespec(&timeout);
        let flags = ENTER_GET_EVENTS | ENTER_EXTENDED_ARGUMENT;
        // SAFETY: the argument and the timeout that it points to live until the call returns.
        let entered =
            unsafe { self.uring.submitter().enter(self.queued, 1, flags, Some(&arguments)) };
        self.handed_over(entered)
    }

    /// Whether a completion has come that was not given yet.
    pub(crate) fn has_completed(&mut self) -> bool {
        !self.uring.completion().is_empty()
    }

    /// Gives every completion that has come, as its slot and the system call's result, and frees
    /// the slot.
    pub(crate) fn drain(&mut self, mut completed: impl FnMut(usize, i32)) {
        for entry in self.uring.completion() {
            let slot = entry.user_data() as usize;
            self.busy[slot] = false;
            completed(slot, entry.result());
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // Both calls wait for what is in flight, on some kernels for ever.
        if self.busy.contains(&true) {
            return;
        }
        // The kernel tears a ring down some time after its last descriptor is closed. Giving the
        // file back by hand makes the drive free for others at once; where that fails, later.
        let _ = self.uring.submitter().unregister_files();
        let _ = self.uring.submitter().unregister_buffers();
    }
}

/// Whether a call that handed nothing over, or waited, ended by its timeout or by a signal.
fn interrupted(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::TIME | Errno::INTR))
}

/// The best ring that this kernel has: completions run only when asked for (6.1), or at least
/// without interrupting (5.19), or plain (5.11: the first with timeouts in the enter call).
fn build(entries: u32, polled: bool) -> io::Result<IoUring> {
    let refused = |error: &io::Error| Errno::from_io_error(error) == Some(Errno::INVAL);
    match builder(polled)
        .setup_submit_all()
        .setup_single_issuer()
        .setup_coop_taskrun()
        .setup_defer_taskrun()
        .build(entries)
    {
        Err(error) if refused(&error) => {}
        made_or_unavailable => return made_or_unavailable,
    }
    match builder(polled).setup_submit_all().setup_coop_taskrun().build(entries) {
        Err(error) if refused(&error) => builder(polled).build(entries),
        made_or_unavailable => made_or_unavailable,
    }
}

/// What every ring has: the thread that uses it enables it.
fn builder(polled: bool) -> io_uring::Builder {
    let mut builder = IoUring::builder();
    builder.setup_r_disabled();
    if polled {
        builder.setup_iopoll();
    }
    builder
}
