//! A large table of 32-bit entries, all zero at first.
//!
//! It lies on huge pages where the system has them: the map of a terabyte is looked up at random,
//! and with 4 KiB pages every look-up would cost a walk of the page table as well.

use std::ops::{Deref, DerefMut};

use memmap2::{Advice, MmapMut, MmapOptions};

/// `Vec<u32>` on huge pages, of fixed length.
#[derive(Debug)]
pub(super) struct Table {
    memory: MmapMut,
}

impl Table {
    /// `length` zeros; memory is taken when they are first written.
    ///
    /// # Panics
    /// If the system has no address space for it.
    pub(super) fn zeroed(length: usize) -> Self {
        let bytes = length.max(1) * size_of::<u32>();
        let memory = MmapOptions::new().len(bytes).map_anon().expect("address space for a map");
        // Without huge pages it is slower and otherwise the same.
        let _ = memory.advise(Advice::HugePage);
        Self { memory }
    }

    /// Sets all entries to zero.
    pub(super) fn clear(&mut self) {
        self.memory.fill(0);
    }
}

impl Clone for Table {
    fn clone(&self) -> Self {
        let mut copy = Self::zeroed(self.len());
        copy.copy_from_slice(self);
        copy
    }
}

impl Deref for Table {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        bytemuck::cast_slice(&self.memory)
    }
}

impl DerefMut for Table {
    fn deref_mut(&mut self) -> &mut [u32] {
        bytemuck::cast_slice_mut(&mut self.memory)
    }
}
