//! A write frontier: where a stream of pages goes, program by program.

use crate::ssd::array::{CellMode, Layout, Ppa, SuperblockId};

/// The open superblock of a stream and its next slot.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frontier {
    pub(crate) superblock: Option<SuperblockId>,
    pub(crate) mode: CellMode,
    /// The program being gathered, and the number of programs there are.
    program: u32,
    programs: u32,
    /// The next slot, and the end of the program being gathered.
    slot: u32,
    program_end: u32,
    /// Slots of the program being gathered that hold the host's own pages.
    pub(crate) host_pages: u32,
}

/// A program that is complete and on its way to NAND.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Program {
    pub(crate) die: u32,
    pub(crate) page: u32,
    pub(crate) mode: CellMode,
    /// Pages of the host in it; the others are copies, or padding.
    pub(crate) host_pages: u32,
    /// Programs up to the next one that holds data: parity that is written with it, lost dies.
    pub(crate) skipped: Skipped,
}

/// Programs of a superblock, first and last plus one, that hold no data.
pub(crate) type Skipped = (u32, u32);

impl Frontier {
    /// Begins a superblock; returns the programs that it passes over.
    pub(crate) fn open(&mut self, id: SuperblockId, mode: CellMode, layout: &Layout) -> Skipped {
        let programs = layout.programs_in(mode);
        *self = Self { superblock: Some(id), mode, programs, ..Self::default() };
        self.skip_to(0, layout)
    }

    /// How much of its superblock is left, as so many parts of `one`; nothing if none is open.
    pub(crate) fn share_left(&self, one: u64) -> u64 {
        match self.superblock {
            Some(_) => {
                let left = self.programs.saturating_sub(self.program);
                u64::from(left) * one / u64::from(self.programs.max(1))
            }
            None => 0,
        }
    }

    /// Slots left in the program being gathered; none if no superblock is open.
    pub(crate) fn room(&self) -> u32 {
        self.program_end - self.slot
    }

    /// Whether `count` more pages, at most a program of them, fit the superblock.
    pub(crate) fn fits(&self, count: u32, layout: &Layout) -> bool {
        self.room() >= count || self.data_program_from(self.program + 1, layout) < self.programs
    }

    /// Whether slots of the program being gathered are taken.
    pub(crate) fn is_gathering(&self, layout: &Layout) -> bool {
        self.superblock.is_some() && self.room() < layout.slots_per_program
    }

    /// Takes the next `count` slots; returns the first.
    ///
    /// # Panics
    /// If there is less room.
    pub(crate) fn take(&mut self, count: u32, layout: &Layout) -> Ppa {
        assert!(count <= self.room(), "a program has no such room");
        let superblock = self.superblock.expect("room is in a superblock");
        let first = layout.ppa(superblock, self.slot);
        self.slot += count;
        first
    }

    /// Ends the program being gathered, whatever it holds, and begins the next.
    pub(crate) fn end_program(&mut self, layout: &Layout) -> Program {
        let program = self.program;
        let host_pages = std::mem::take(&mut self.host_pages);
        let skipped = self.skip_to(program + 1, layout);
        Program {
            die: layout.die_of(program),
            page: layout.page_of(program),
            mode: self.mode,
            host_pages,
            skipped,
        }
    }

    /// Goes on behind what may hold no data any more; nothing must be gathered.
    pub(crate) fn pass_over(&mut self, layout: &Layout) {
        if self.superblock.is_some() {
            self.skip_to(self.program, layout);
        }
    }

    /// The superblock, if it was written to its end.
    pub(crate) fn take_full(&mut self) -> Option<SuperblockId> {
        if self.program < self.programs {
            return None;
        }
        self.superblock.take()
    }

    /// Goes on with the first program from `program` that may hold data; returns those passed.
    fn skip_to(&mut self, program: u32, layout: &Layout) -> Skipped {
        self.program = self.data_program_from(program, layout);
        self.slot = self.program * layout.slots_per_program;
        let is_open = self.program < self.programs;
        self.program_end = self.slot + if is_open { layout.slots_per_program } else { 0 };
        (program, self.program)
    }

    fn data_program_from(&self, program: u32, layout: &Layout) -> u32 {
        let holds_data = |p: &u32| !layout.is_parity(*p) && !layout.is_lost(layout.die_of(*p));
        (program..self.programs).find(holds_data).unwrap_or(self.programs)
    }
}
