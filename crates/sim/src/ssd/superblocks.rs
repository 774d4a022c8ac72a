//! The books on every superblock: free, open or full, how many of its pages are valid, and which
//! full one has the fewest.

use std::collections::VecDeque;

/// Index of a superblock: one NAND block of every plane of every die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SuperblockId(pub(super) u32);

/// What a superblock is at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Erased.
    Free,
    /// Being written.
    Open,
    /// Written to its end; a candidate for collection.
    Full,
    /// Being collected.
    Victim,
}

#[derive(Debug, Clone, Copy)]
struct Superblock {
    state: State,
    /// Pages that the mapping points to.
    valid: u32,
    /// Neighbours in the list of full superblocks with the same `valid`.
    previous: u32,
    next: u32,
}

/// No neighbour, end of list.
const NONE: u32 = u32::MAX;

/// All superblocks of a drive, the free ones as a queue, the full ones sorted by valid pages.
#[derive(Debug)]
pub(super) struct Superblocks {
    all: Vec<Superblock>,
    /// In the order of erasure, so that wear spreads.
    free: VecDeque<u32>,
    /// For each number of valid pages, the first full superblock that has it.
    by_valid: Vec<u32>,
    /// No full superblock has fewer valid pages than this.
    fewest_valid: u32,
    erases: u64,
}

impl Superblocks {
    /// `count` erased superblocks of `pages` pages each.
    pub(super) fn new(count: u32, pages: u32) -> Self {
        let erased = Superblock { state: State::Free, valid: 0, previous: NONE, next: NONE };
        Self {
            all: vec![erased; count as usize],
            free: (0..count).collect(),
            by_valid: vec![NONE; pages as usize + 1],
            fewest_valid: 0,
            erases: 0,
        }
    }

    pub(super) fn free_count(&self) -> u32 {
        self.free.len() as u32
    }

    pub(super) fn count(&self) -> u32 {
        self.all.len() as u32
    }

    pub(super) fn erases(&self) -> u64 {
        self.erases
    }

    pub(super) fn state(&self, id: SuperblockId) -> State {
        self.all[id.0 as usize].state
    }

    pub(super) fn valid(&self, id: SuperblockId) -> u32 {
        self.all[id.0 as usize].valid
    }

    /// Opens the superblock that has been free longest.
    ///
    /// # Panics
    /// If none is free; garbage collection must have seen to that.
    pub(super) fn open(&mut self) -> SuperblockId {
        let id = self.free.pop_front().expect("garbage collection keeps a superblock free");
        self.all[id as usize].state = State::Open;
        SuperblockId(id)
    }

    /// The open superblock is written to its end: it may be collected from now on.
    pub(super) fn close(&mut self, id: SuperblockId) {
        debug_assert_eq!(self.state(id), State::Open);
        self.all[id.0 as usize].state = State::Full;
        self.link(id.0);
    }

    /// Takes the full superblock with the fewest valid pages (greedy); `None` if no full
    /// superblock has an invalid page, when collecting could gain nothing.
    pub(super) fn take_victim(&mut self) -> Option<SuperblockId> {
        let pages = self.by_valid.len() as u32 - 1;
        while self.fewest_valid < pages && self.by_valid[self.fewest_valid as usize] == NONE {
            self.fewest_valid += 1;
        }
        if self.fewest_valid == pages {
            return None;
        }
        let id = self.by_valid[self.fewest_valid as usize];
        self.unlink(id);
        self.all[id as usize].state = State::Victim;
        Some(SuperblockId(id))
    }

    /// The victim holds nothing valid any more and is erased.
    pub(super) fn erase(&mut self, id: SuperblockId) {
        let block = &mut self.all[id.0 as usize];
        assert_eq!((block.state, block.valid), (State::Victim, 0), "erased a superblock in use");
        block.state = State::Free;
        self.free.push_back(id.0);
        self.erases += 1;
    }

    /// A page of this superblock became valid.
    pub(super) fn validate(&mut self, id: SuperblockId, pages: u32) {
        self.all[id.0 as usize].valid += pages;
    }

    /// A page of this superblock is no longer mapped.
    pub(super) fn invalidate(&mut self, id: SuperblockId) {
        if self.all[id.0 as usize].state != State::Full {
            self.all[id.0 as usize].valid -= 1;
            return;
        }
        self.unlink(id.0);
        self.all[id.0 as usize].valid -= 1;
        self.link(id.0);
    }

    /// Erases everything, whatever its state; returns how many superblocks were not free.
    pub(super) fn erase_all(&mut self) -> u32 {
        let used = self.count() - self.free_count();
        let erases = self.erases + u64::from(used);
        *self = Self::new(self.count(), self.by_valid.len() as u32 - 1);
        self.erases = erases;
        used
    }

    fn link(&mut self, id: u32) {
        let valid = self.all[id as usize].valid;
        let first = std::mem::replace(&mut self.by_valid[valid as usize], id);
        self.all[id as usize].previous = NONE;
        self.all[id as usize].next = first;
        if first != NONE {
            self.all[first as usize].previous = id;
        }
        self.fewest_valid = self.fewest_valid.min(valid);
    }

    fn unlink(&mut self, id: u32) {
        let Superblock { valid, previous, next, .. } = self.all[id as usize];
        match previous {
            NONE => self.by_valid[valid as usize] = next,
            before => self.all[before as usize].next = next,
        }
        if next != NONE {
            self.all[next as usize].previous = previous;
        }
    }

    /// The full superblocks as the victim lists hold them, with the list each is in.
    #[cfg(test)]
    pub(super) fn listed(&self) -> impl Iterator<Item = (u32, SuperblockId)> {
        self.by_valid.iter().enumerate().flat_map(|(valid, first)| {
            let step = |id: &u32| Some(self.all[*id as usize].next).filter(|next| *next != NONE);
            let list = std::iter::successors(Some(*first).filter(|id| *id != NONE), step);
            list.map(move |id| (valid as u32, SuperblockId(id)))
        })
    }
}
