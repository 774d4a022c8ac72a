//! The books on every superblock: free, open or full, how many of its pages are valid, how often
//! it was erased.

use writecliff_device::{DeviceTime, split_mix};
use writecliff_profile::{Levelling, Wear};

use super::{CellMode, SuperblockId};

/// No page can be written any more: the NAND that still works is needed for the data there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReadOnly;

/// Reading a page failed: its data is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lost;

/// What the books say, for telemetry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Books {
    pub(crate) free: u32,
    pub(crate) erases: u64,
    pub(crate) wear_permille: Option<u64>,
    pub(crate) retired: u32,
    pub(crate) lost_pages: u64,
}

/// What a superblock is at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Erased.
    Free,
    /// Being written.
    Open,
    /// Written to its end; a candidate for collection.
    Full,
    /// Being collected.
    Victim,
    /// Worn out and out of use.
    Retired,
}

/// Set in a count of valid pages: the superblock is no candidate for collection. So the choice of
/// the emptiest one is a plain search for the smallest number.
const NO_CANDIDATE: u32 = 1 << 31;

/// All superblocks of a drive. Arrays are indexed by id; superblock 0 does not exist.
#[derive(Debug, Clone)]
pub(crate) struct Superblocks {
    state: Vec<State>,
    mode: Vec<CellMode>,
    /// Pages that the mapping points to, and [`NO_CANDIDATE`].
    valid: Vec<u32>,
    /// When each was filled: by what number, and at what time.
    closed: Vec<u64>,
    closed_at: Vec<DeviceTime>,
    erases: Vec<u32>,
    /// Erases after which each is worn out; zero for never.
    limit: Vec<u32>,
    /// Ids, in the order of erasure.
    free: Vec<u32>,
    in_slc: u32,
    closed_count: u64,
    erase_count: u64,
    retired: u32,
    replacements: u32,
    replacements_at_first: u32,
    levelling: Levelling,
}

impl Superblocks {
    /// `count` erased superblocks.
    pub(crate) fn new(count: u32, wear: &Wear) -> Self {
        let length = count as usize + 1;
        let mut state = vec![State::Free; length];
        state[0] = State::Retired;
        Self {
            state,
            mode: vec![CellMode::Native; length],
            valid: vec![NO_CANDIDATE; length],
            closed: vec![0; length],
            closed_at: vec![DeviceTime::default(); length],
            erases: vec![0; length],
            limit: (0..=count).map(|id| limit_of(id, wear)).collect(),
            free: (1..=count).collect(),
            in_slc: 0,
            closed_count: 0,
            erase_count: 0,
            retired: 0,
            replacements: wear.replacements,
            replacements_at_first: wear.replacements,
            levelling: wear.levelling,
        }
    }

    /// How many there are, the retired ones included.
    pub(crate) fn count(&self) -> u32 {
        self.state.len() as u32 - 1
    }

    pub(crate) fn free_count(&self) -> u32 {
        self.free.len() as u32
    }

    /// Superblocks in SLC mode: open, full or being collected.
    pub(crate) fn in_slc(&self) -> u32 {
        self.in_slc
    }

    pub(crate) fn erases(&self) -> u64 {
        self.erase_count
    }

    pub(crate) fn erases_of(&self, id: SuperblockId) -> u32 {
        self.erases[id.0 as usize]
    }

    /// Of all superblocks that are in use, whole ones.
    pub(crate) fn mean_erases(&self) -> u32 {
        (self.erases() / u64::from(self.count().max(1))) as u32
    }

    pub(crate) fn retired(&self) -> u32 {
        self.retired
    }

    /// Those that are not retired.
    pub(crate) fn in_use(&self) -> u32 {
        self.count() - self.retired
    }

    /// Others, for the next ones to wear out.
    pub(crate) fn replacements(&self) -> u32 {
        self.replacements
    }

    pub(crate) fn state(&self, id: SuperblockId) -> State {
        self.state[id.0 as usize]
    }

    pub(crate) fn mode(&self, id: SuperblockId) -> CellMode {
        self.mode[id.0 as usize]
    }

    pub(crate) fn valid(&self, id: SuperblockId) -> u32 {
        self.valid[id.0 as usize] & !NO_CANDIDATE
    }

    /// The number under which it was filled: smaller is older.
    pub(crate) fn closed(&self, id: SuperblockId) -> u64 {
        self.closed[id.0 as usize]
    }

    pub(crate) fn closed_count(&self) -> u64 {
        self.closed_count
    }

    /// When it was filled; data in it is at least so old. `None` while it is being written.
    pub(crate) fn closed_at(&self, id: SuperblockId) -> Option<DeviceTime> {
        (self.state(id) != State::Open).then_some(self.closed_at[id.0 as usize])
    }

    /// All full superblocks.
    pub(crate) fn full(&self) -> impl Iterator<Item = SuperblockId> {
        let is_full = |id: &u32| self.state[*id as usize] == State::Full;
        (1..=self.count()).filter(is_full).map(SuperblockId)
    }

    /// The full superblock with the fewest valid pages, the first of several.
    pub(crate) fn emptiest(&self) -> Option<SuperblockId> {
        let fewest = *self.valid.iter().min()?;
        if fewest & NO_CANDIDATE != 0 {
            return None;
        }
        let id = self.valid.iter().position(|valid| *valid == fewest)?;
        Some(SuperblockId(id as u32))
    }

    /// Opens a free superblock, chosen as levelling says: static levelling lets one that has worn the most rest with
    /// what is likely to stay.
    ///
    /// # Panics
    /// If none is free; garbage collection must have seen to that.
    pub(crate) fn open(&mut self, mode: CellMode, is_to_rest: bool) -> SuperblockId {
        assert!(!self.free.is_empty(), "garbage collection keeps a superblock free");
        let place = match self.levelling {
            Levelling::None => self.free.len() - 1,
            Levelling::Static if is_to_rest => self.free_by_wear().max().map_or(0, |most| most.1),
            Levelling::Dynamic | Levelling::Static => {
                self.free_by_wear().min().map_or(0, |least| least.1)
            }
        };
        let id = self.free.remove(place) as usize;
        self.state[id] = State::Open;
        self.mode[id] = mode;
        self.in_slc += u32::from(mode == CellMode::Slc);
        SuperblockId(id as u32)
    }

    /// The erases of every free superblock, and its place among these.
    fn free_by_wear(&self) -> impl Iterator<Item = (u32, usize)> {
        let erases = self.free.iter().map(|id| self.erases[*id as usize]);
        erases.enumerate().map(|(place, erases)| (erases, place))
    }

    /// The open superblock is written to its end: it may be collected from now on.
    pub(crate) fn close(&mut self, id: SuperblockId, now: DeviceTime) {
        let index = id.0 as usize;
        debug_assert_eq!(self.state[index], State::Open);
        self.state[index] = State::Full;
        self.valid[index] &= !NO_CANDIDATE;
        self.closed[index] = self.closed_count;
        self.closed_at[index] = now;
        self.closed_count += 1;
    }

    /// A full superblock is to be collected.
    pub(crate) fn take(&mut self, id: SuperblockId) {
        debug_assert_eq!(self.state(id), State::Full);
        self.state[id.0 as usize] = State::Victim;
        self.valid[id.0 as usize] |= NO_CANDIDATE;
    }

    /// Its collection is broken off.
    pub(crate) fn give_back(&mut self, id: SuperblockId) {
        debug_assert_eq!(self.state(id), State::Victim);
        self.state[id.0 as usize] = State::Full;
        self.valid[id.0 as usize] &= !NO_CANDIDATE;
    }

    /// The victim holds nothing valid any more and is erased. It is free again, or retired if it
    /// is worn out, nothing replaces it, and `may_retire`.
    pub(crate) fn erase(&mut self, id: SuperblockId, may_retire: bool) {
        let index = id.0 as usize;
        assert_eq!((self.state(id), self.valid(id)), (State::Victim, 0), "erased one in use");
        self.in_slc -= u32::from(self.mode[index] == CellMode::Slc);
        self.mode[index] = CellMode::Native;
        self.erases[index] += 1;
        self.erase_count += 1;
        let is_worn = self.is_worn_out(id);
        if is_worn && self.replacements > 0 {
            self.replacements -= 1;
            self.erases[index] = 0;
        } else if is_worn && may_retire {
            self.state[index] = State::Retired;
            self.retired += 1;
            return;
        }
        self.state[index] = State::Free;
        self.free.push(id.0);
    }

    /// Whether it was erased as often as it can be.
    pub(crate) fn is_worn_out(&self, id: SuperblockId) -> bool {
        let limit = self.limit[id.0 as usize];
        limit != 0 && self.erases_of(id) >= limit
    }

    /// Whether no page of any is valid.
    pub(crate) fn hold_nothing(&self) -> bool {
        self.valid.iter().all(|valid| valid & !NO_CANDIDATE == 0)
    }

    /// `pages` pages of this superblock became valid.
    pub(crate) fn validate(&mut self, id: SuperblockId, pages: u32) {
        self.valid[id.0 as usize] += pages;
    }

    /// `pages` pages of this superblock are no longer mapped.
    pub(crate) fn invalidate(&mut self, id: SuperblockId, pages: u32) {
        self.valid[id.0 as usize] -= pages;
    }

    /// Erases everything that is in use; returns how many superblocks that were.
    pub(crate) fn erase_all(&mut self) -> u32 {
        let mut erased = 0;
        for id in 1..=self.count() {
            let index = id as usize;
            if matches!(self.state[index], State::Free | State::Retired) {
                continue;
            }
            self.state[index] = State::Victim;
            self.valid[index] = NO_CANDIDATE;
            self.erase(SuperblockId(id), false);
            erased += 1;
        }
        self.free.sort_unstable();
        erased
    }

    /// Erases of the rated ones that are used up on average, replacements included, in thousandths.
    pub(crate) fn wear_permille(&self, endurance: u32) -> Option<u64> {
        let superblocks = u64::from(self.count()) + u64::from(self.replacements_at_first);
        let rated = superblocks * u64::from(endurance);
        (rated > 0).then(|| self.erase_count * 1000 / rated)
    }
}

/// A superblock's own limit: the rated one, and up to `spread_percent` more or less.
fn limit_of(id: u32, wear: &Wear) -> u32 {
    let spread = u64::from(wear.endurance) * u64::from(wear.spread_percent) / 100;
    let offset = split_mix(u64::from(id)) % (2 * spread + 1);
    let limit = u64::from(wear.endurance) + offset - spread;
    if wear.endurance == 0 { 0 } else { limit.max(1) as u32 }
}
