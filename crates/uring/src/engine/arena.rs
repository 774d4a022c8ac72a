//! The memory that I/Os move data through: one page-aligned buffer per slot, mapped once.
#![allow(unsafe_code)]

use std::io;
use std::ptr::{self, NonNull};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// Buffers start on this boundary: at least the alignment that any drive wants.
const ALIGNMENT: usize = 4096;

/// Equal buffers side by side in one mapping, unmapped when dropped.
#[derive(Debug)]
pub(crate) struct Arena {
    base: NonNull<u8>,
    slots: usize,
    slot_size: usize,
}

// SAFETY: the mapping belongs to the arena alone and is not tied to a thread.
unsafe impl Send for Arena {}

impl Arena {
    /// Maps `slots` zeroed buffers of at least `slot_size` bytes.
    ///
    /// # Errors
    /// If the system has no such memory to give.
    pub(crate) fn new(slots: usize, slot_size: usize) -> io::Result<Self> {
        let slot_size = slot_size.next_multiple_of(ALIGNMENT);
        let (access, kind) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: a new anonymous mapping at an address that the kernel chooses aliases nothing.
        let base = unsafe { mmap_anonymous(ptr::null_mut(), slots * slot_size, access, kind)? };
        // Huge pages save page-table walks; a kernel without them changes nothing.
        // SAFETY: the range is the mapping just made, and this advice keeps its contents.
        let _ = unsafe { madvise(base, slots * slot_size, Advice::LinuxHugepage) };
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { base, slots, slot_size })
    }

    /// Bytes of one buffer.
    pub(crate) fn slot_size(&self) -> usize {
        self.slot_size
    }

    /// Where a slot's buffer starts.
    pub(crate) fn address(&self, slot: usize) -> *mut u8 {
        assert!(slot < self.slots, "slot {slot} of {}", self.slots);
        // SAFETY: the slot is inside the mapping, by the line above.
        unsafe { self.base.as_ptr().add(slot * self.slot_size) }
    }

    /// The first buffer of an arena that no ring knows: nobody but its owner has it.
    pub(crate) fn own(&mut self) -> &mut [u8] {
        // SAFETY: no I/O is in flight to what only plain calls use, which end before they return.
        unsafe { self.buffer(0) }
    }

    /// A slot's buffer.
    ///
    /// # Safety
    /// No I/O of this slot may be in flight: the kernel would change or read it underneath.
    pub(crate) unsafe fn buffer(&mut self, slot: usize) -> &mut [u8] {
        // SAFETY: inside the mapping, initialised to zero by the kernel, borrowed from the arena,
        // and nobody else's by the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.address(slot), self.slot_size) }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: the mapping is the arena's own and nothing borrows from it any more. I/Os that
        // the kernel still works on hold its pages by themselves.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.slots * self.slot_size) };
    }
}
