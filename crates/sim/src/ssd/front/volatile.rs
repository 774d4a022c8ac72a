//! What a power cut takes: the pages that were acknowledged and are not yet in NAND.

use std::collections::{BTreeMap, VecDeque};

use writecliff_device::DeviceTime;

use crate::profile::SsdProfile;
use crate::ssd::array::Lpn;

/// A page that the host wrote, until its program has ended.
#[derive(Debug, Clone, Copy)]
struct Written {
    lpn: Lpn,
    /// It held nothing before.
    is_first: bool,
}

/// The pages in the write buffer, oldest first. Kept only by drives whose power is to be cut.
#[derive(Debug, Default)]
pub(crate) struct Volatile {
    pages: VecDeque<Written>,
    /// When each program will have ended, and how many of the pages it carries.
    programs: VecDeque<(DeviceTime, u32)>,
    /// Pages that no program carries yet.
    gathering: u32,
    /// Capacitors bring it all to NAND.
    protected: bool,
}

impl Volatile {
    /// `None` if the profile plans no power cut.
    pub(crate) fn new(profile: &SsdProfile) -> Option<Self> {
        let protected = profile.write_buffer.protected;
        let is_needed = !profile.faults.power_cuts.is_empty();
        is_needed.then(|| Self { protected, ..Self::default() })
    }

    pub(crate) fn wrote(&mut self, lpn: Lpn, is_first: bool) {
        self.pages.push_back(Written { lpn, is_first });
        self.gathering += 1;
    }

    /// All pages gathered are on their way and in NAND at `finished`; what has ended by `now` is
    /// volatile no longer.
    pub(crate) fn programmed(&mut self, finished: DeviceTime, now: DeviceTime) {
        self.programs.push_back((finished, std::mem::take(&mut self.gathering)));
        while let Some((_, count)) = self.programs.front().filter(|(end, _)| *end <= now) {
            self.pages.drain(..*count as usize);
            self.programs.pop_front();
        }
    }

    pub(crate) fn clear(&mut self) {
        self.pages.clear();
        self.programs.clear();
        self.gathering = 0;
    }

    /// The pages whose last write is lost at `now`, each with whether it held something before.
    pub(crate) fn lost(&self, now: DeviceTime) -> BTreeMap<Lpn, bool> {
        let ends = self.programs.iter().flat_map(|(end, count)| (0..*count).map(|_| *end));
        let ends = ends.chain(std::iter::repeat(DeviceTime::MAX));
        let mut held: BTreeMap<Lpn, (bool, bool)> = BTreeMap::new();
        for (page, end) in self.pages.iter().zip(ends) {
            let before = !page.is_first && held.get(&page.lpn).is_none_or(|(holds, _)| *holds);
            let is_lost = end > now && !self.protected;
            held.insert(page.lpn, (before || !is_lost, is_lost));
        }
        let lost = held.into_iter().filter(|(_, (_, is_lost))| *is_lost);
        lost.map(|(lpn, (holds, _))| (lpn, holds)).collect()
    }
}
