//! Addresses: how the NAND is cut into superblocks, programs and slots.
//!
//! A slot holds one mapping unit, a program is what a die programs at once (a page of every plane),
//! a superblock is one block of every plane of every die. Program `p` of a superblock goes to die
//! `p % dies`, so that neighbours work in parallel. With parity, every stripe of `n + 1` programs
//! has one that holds no data, at a place that moves from stripe to stripe.

use writecliff_profile::{SlcKind, SsdProfile};

/// A logical page: the mapping unit's number in the host's address space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Lpn(pub(crate) u32);

/// A physical page slot: superblock × 2^shift + slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ppa(pub(crate) u32);

/// Index of a superblock, from 1: the addresses of superblock 0 say where a page is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SuperblockId(pub(crate) u32);

/// Written in the way that the cells are made for, or with one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum CellMode {
    #[default]
    Native,
    Slc,
}

impl Ppa {
    /// The page holds no data.
    pub(crate) const UNMAPPED: Self = Self(0);
    /// The page's data lies within another page's: it was compressed or repeats.
    pub(crate) const REDUCED: Self = Self(1);
    /// The page's data is lost; reading it fails.
    pub(crate) const LOST: Self = Self(2);
}

/// How a superblock is cut into slots, programs and dies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    shift: u32,
    /// Mapping units of one program.
    pub(crate) slots_per_program: u32,
    /// Programs of one superblock, parity included.
    pub(crate) programs: u32,
    /// Programs of one superblock in SLC mode.
    slc_programs: u32,
    pub(crate) dies: u32,
    /// Programs of a stripe with its parity; zero without parity.
    stripe: u32,
    /// A die that is not written any more.
    lost_die: Option<u32>,
}

impl Layout {
    pub(crate) fn new(profile: &SsdProfile) -> Self {
        let slots_per_program = (profile.program_size().0 / profile.mapping.unit.0) as u32;
        let (dies, programs) = (profile.dies(), profile.programs_per_superblock());
        let bits = match profile.slc_buffer.kind {
            SlcKind::None => 1,
            SlcKind::Fixed | SlcKind::Dynamic => profile.slc_buffer.bits_per_cell,
        };
        Self {
            shift: (programs * slots_per_program).next_power_of_two().trailing_zeros().max(2),
            slots_per_program,
            programs,
            slc_programs: profile.nand.pages_per_block / bits * dies,
            dies,
            stripe: if profile.parity.data == 0 { 0 } else { profile.parity.data + 1 },
            lost_die: None,
        }
    }

    /// From now on nothing is written to `die`.
    pub(crate) fn lose(&mut self, die: u32) {
        self.lost_die = Some(die);
    }

    pub(crate) fn is_lost(&self, die: u32) -> bool {
        self.lost_die == Some(die)
    }

    /// Entries of a table with one for each address of superblocks 0 to `count`.
    pub(crate) fn addresses(&self, count: u32) -> usize {
        (count as usize + 1) << self.shift
    }

    /// Whether an address is a place at all.
    pub(crate) fn is_place(&self, ppa: Ppa) -> bool {
        ppa.0 >> self.shift != 0
    }

    pub(crate) fn superblock_of(&self, ppa: Ppa) -> SuperblockId {
        SuperblockId(ppa.0 >> self.shift)
    }

    pub(crate) fn slot_of(&self, ppa: Ppa) -> u32 {
        ppa.0 & ((1 << self.shift) - 1)
    }

    pub(crate) fn ppa(&self, superblock: SuperblockId, slot: u32) -> Ppa {
        Ppa((superblock.0 << self.shift) | slot)
    }

    pub(crate) fn program_of(&self, slot: u32) -> u32 {
        slot / self.slots_per_program
    }

    pub(crate) fn die_of(&self, program: u32) -> u32 {
        program % self.dies
    }

    pub(crate) fn page_of(&self, program: u32) -> u32 {
        program / self.dies
    }

    /// Programs of a superblock that is written in `mode`.
    pub(crate) fn programs_in(&self, mode: CellMode) -> u32 {
        match mode {
            CellMode::Native => self.programs,
            CellMode::Slc => self.slc_programs,
        }
    }

    /// Whether a program holds parity instead of data.
    pub(crate) fn is_parity(&self, program: u32) -> bool {
        if self.stripe == 0 {
            return false;
        }
        let (stripe, place) = (program / self.stripe, program % self.stripe);
        let is_whole = (stripe + 1) * self.stripe <= self.programs;
        is_whole && place == self.stripe - 1 - stripe % self.stripe
    }

    /// Slots of a superblock in `mode` that can hold data on the dies that work.
    pub(crate) fn data_slots(&self, mode: CellMode) -> u32 {
        let holds = |p: &u32| !self.is_parity(*p) && !self.is_lost(self.die_of(*p));
        let programs = (0..self.programs_in(mode)).filter(holds).count() as u32;
        programs * self.slots_per_program
    }

    /// The other programs of the stripe that `program` belongs to, if they can make up for it:
    /// the stripe is whole and has no two programs on one die.
    pub(crate) fn rest_of_stripe(&self, program: u32) -> Option<impl Iterator<Item = u32>> {
        if self.stripe == 0 || self.stripe > self.dies {
            return None;
        }
        let first = program / self.stripe * self.stripe;
        let stripe = first..first + self.stripe;
        (stripe.end <= self.programs).then(|| stripe.filter(move |other| *other != program))
    }
}
