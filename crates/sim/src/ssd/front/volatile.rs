//! What a power cut takes: the pages that were acknowledged and are not yet in NAND.

use std::collections::{BTreeMap, VecDeque};

use writecliff_device::DeviceTime;

use super::Stream;
use crate::profile::SsdProfile;
use crate::ssd::array::Lpn;

/// A page that the host wrote, until its program has ended.
#[derive(Debug, Clone, Copy)]
struct Written {
    lpn: Lpn,
    /// It held nothing before.
    is_first: bool,
}

/// The pages in the write buffer, in the order of their programs. Kept only by drives whose power is to be cut.
#[derive(Debug, Default)]
pub(crate) struct Volatile {
    pages: VecDeque<Written>,
    /// When each program will have ended, and how many of the pages it carries.
    programs: VecDeque<(DeviceTime, usize)>,
    /// Pages of each stream that no program carries yet, the oldest first.
    gathering: [Vec<Written>; Stream::ALL.len()],
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

    /// A version that waits in another stream might reach NAND later than this one, and must not
    /// count then: it gives way, as in a buffer that writes a page once.
    pub(crate) fn wrote(&mut self, stream: Stream, lpn: Lpn, is_first: bool) {
        let mut is_first = is_first;
        for other in Stream::OF_HOST.into_iter().filter(|other| *other != stream) {
            self.gathering[other as usize].retain(|older| {
                is_first |= older.lpn == lpn && older.is_first;
                older.lpn != lpn
            });
        }
        self.gathering[stream as usize].push(Written { lpn, is_first });
    }

    /// All pages that a stream has gathered are on their way and in NAND at `finished`; what has ended by `now` is
    /// volatile no longer.
    pub(crate) fn programmed(&mut self, stream: Stream, finished: DeviceTime, now: DeviceTime) {
        let gathered = &mut self.gathering[stream as usize];
        self.programs.push_back((finished, gathered.len()));
        self.pages.extend(gathered.drain(..));
        while let Some((_, count)) = self.programs.front().filter(|(end, _)| *end <= now) {
            self.pages.drain(..*count);
            self.programs.pop_front();
        }
    }

    pub(crate) fn clear(&mut self) {
        self.pages.clear();
        self.programs.clear();
        self.gathering.iter_mut().for_each(Vec::clear);
    }

    /// The pages whose last write is lost at `now`, each with whether it held something before.
    pub(crate) fn lost(&self, now: DeviceTime) -> BTreeMap<Lpn, bool> {
        let ends = self.programs.iter().flat_map(|(end, count)| (0..*count).map(|_| *end));
        let ends = ends.chain(std::iter::repeat(DeviceTime::MAX));
        let mut held: BTreeMap<Lpn, (bool, bool)> = BTreeMap::new();
        let pages = self.pages.iter().chain(self.gathering.iter().flatten());
        for (page, end) in pages.zip(ends) {
            let before = !page.is_first && held.get(&page.lpn).is_none_or(|(holds, _)| *holds);
            let is_lost = end > now && !self.protected;
            held.insert(page.lpn, (before || !is_lost, is_lost));
        }
        let lost = held.into_iter().filter(|(_, (_, is_lost))| *is_lost);
        lost.map(|(lpn, (holds, _))| (lpn, holds)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn volatile() -> Volatile {
        let mut profile = crate::load("tiny").unwrap().into_ssd().unwrap();
        assert!(Volatile::new(&profile).is_none(), "nothing is kept without a cut to come");
        profile.faults.power_cuts.push(writecliff_device::Nanos::from_secs(1));
        Volatile::new(&profile).unwrap()
    }

    /// The pages lost in a cut at 100, and whether each held something before.
    fn lost(volatile: &Volatile) -> Vec<(u32, bool)> {
        volatile.lost(DeviceTime(100)).into_iter().map(|(lpn, held)| (lpn.0, held)).collect()
    }

    #[test]
    fn what_is_gathered_or_under_way_is_lost_and_what_is_in_nand_is_not() {
        let mut volatile = volatile();
        volatile.wrote(Stream::Host, Lpn(1), true);
        volatile.programmed(Stream::Host, DeviceTime(90), DeviceTime(0));
        volatile.wrote(Stream::Host, Lpn(2), true);
        volatile.programmed(Stream::Host, DeviceTime(110), DeviceTime(0));
        volatile.wrote(Stream::Host, Lpn(1), false);
        volatile.wrote(Stream::Host, Lpn(3), false);
        assert_eq!(lost(&volatile), [(1, true), (2, false), (3, true)]);
    }

    #[test]
    fn an_older_version_that_waits_in_another_stream_does_not_count() {
        let mut volatile = volatile();
        volatile.wrote(Stream::Host, Lpn(1), true);
        volatile.wrote(Stream::Hot, Lpn(1), false);
        assert_eq!(lost(&volatile), [(1, false)], "neither version is in NAND");
        volatile.programmed(Stream::Hot, DeviceTime(90), DeviceTime(0));
        assert_eq!(lost(&volatile), []);
    }
}
