//! The invariants of a page map's state, checked by walking all of it.

use super::Translation;
use super::ftl::Ftl;
use crate::ssd::array::{CellMode, Lpn, Ppa, State, SuperblockId};
use crate::ssd::front::Stream;

impl Translation {
    pub(crate) fn assert_invariants(&self) {
        if let Self::Page(ftl) = self {
            ftl.assert_maps_agree();
            ftl.assert_books_agree();
        }
    }

    /// Whether a page is mapped to anything.
    pub(crate) fn is_mapped(&self, lpn: Lpn) -> bool {
        match self {
            Self::Page(ftl) => ftl.l2p[lpn.0 as usize] != Ppa::UNMAPPED.0,
            Self::Block(map) => map.is_mapped(lpn),
        }
    }
}

impl Ftl {
    /// Every mapped page's slot leads back to it, lies in a superblock in use, and is no parity.
    fn assert_maps_agree(&self) {
        for (lpn, ppa) in self.l2p.iter().enumerate().map(|(lpn, ppa)| (lpn, Ppa(*ppa))) {
            if !self.layout.is_place(ppa) {
                continue;
            }
            assert_eq!(self.p2l[ppa.0 as usize], lpn as u32, "{ppa:?} does not lead back");
            let id = self.layout.superblock_of(ppa);
            let program = self.layout.program_of(self.layout.slot_of(ppa));
            assert!(program < self.layout.programs_in(self.superblocks.mode(id)), "{ppa:?}");
            assert!(!self.layout.is_parity(program), "{ppa:?} is parity");
            let state = self.superblocks.state(id);
            assert!(matches!(state, State::Open | State::Full | State::Victim), "{id:?} {state:?}");
        }
    }

    /// Valid counts equal a recount; every superblock is what the streams say it is.
    fn assert_books_agree(&self) {
        let blocks = &self.superblocks;
        let mut counts = vec![0; blocks.count() as usize + 1];
        for ppa in self.l2p.iter().map(|ppa| Ppa(*ppa)).filter(|ppa| self.layout.is_place(*ppa)) {
            counts[self.layout.superblock_of(ppa).0 as usize] += 1;
        }
        let mut by_state = [0; 5];
        let mut in_slc = 0;
        for id in (1..=blocks.count()).map(SuperblockId) {
            let state = blocks.state(id);
            assert_eq!(blocks.valid(id), counts[id.0 as usize], "{id:?} {state:?}");
            by_state[state as usize] += 1;
            in_slc += u32::from(blocks.mode(id) == CellMode::Slc);
        }
        let open =
            Stream::ALL.into_iter().filter(|s| self.streams[*s].superblock.is_some()).count();
        assert_eq!(by_state[State::Free as usize], blocks.free_count() as usize);
        assert_eq!(by_state[State::Open as usize], open);
        assert_eq!(by_state[State::Victim as usize], usize::from(self.evacuation.is_some()));
        assert_eq!(by_state[State::Full as usize], blocks.full().count());
        assert_eq!(by_state[State::Retired as usize], blocks.retired() as usize);
        assert_eq!(blocks.in_slc(), in_slc);
    }
}
