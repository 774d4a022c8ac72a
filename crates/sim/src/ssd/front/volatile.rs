//! What a power cut takes: the pages that were acknowledged and are not yet in NAND.

use std::collections::{BTreeMap, VecDeque};

use writecliff_device::DeviceTime;
use writecliff_profile::SsdProfile;

use super::Stream;
use crate::ssd::array::Lpn;
use crate::stamps::Cell;

/// A page that the host wrote, until its program has ended.
#[derive(Debug, Clone)]
struct Written {
    lpn: Lpn,
    /// How many writes of the host this is: those that gave way to it are among them.
    writes: u32,
    /// It held nothing before.
    is_first: bool,
    /// The stamps that it held before; none if nobody looks at them.
    before: Vec<Cell>,
}

/// A page whose last write is lost.
#[derive(Debug, Clone, Default)]
pub(crate) struct LostWrite {
    /// How many of the host's last writes to it are lost.
    pub(crate) writes: u32,
    /// It held something before.
    pub(crate) held_before: bool,
    /// The stamps of that, if somebody looks at them.
    pub(crate) before: Vec<Cell>,
}

/// The pages in the write buffer, in the order of their programs. Kept only by drives whose power is to be cut,
/// or may be.
#[derive(Debug, Clone, Default)]
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
        let is_needed = !profile.faults.power_cuts.is_empty();
        is_needed.then(|| Self::of(profile))
    }

    /// Of a drive whose buffer is empty, and whose power may go at any moment.
    pub(crate) fn of(profile: &SsdProfile) -> Self {
        Self { protected: profile.write_buffer.protected, ..Self::default() }
    }

    /// A version that waits in another stream might reach NAND later than this one, and must not
    /// count then: it gives way, as in a buffer that writes a page once.
    pub(crate) fn wrote(&mut self, stream: Stream, lpn: Lpn, is_first: bool, before: Vec<Cell>) {
        let mut written = Written { lpn, writes: 1, is_first, before };
        for other in Stream::OF_HOST.into_iter().filter(|other| *other != stream) {
            self.gathering[other as usize].retain_mut(|older| {
                let is_same = older.lpn == lpn;
                if is_same {
                    written.writes += older.writes;
                    written.is_first |= older.is_first;
                    written.before = std::mem::take(&mut older.before);
                }
                !is_same
            });
        }
        self.gathering[stream as usize].push(written);
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

    /// The pages whose last write is lost at `now`, each with what it held before.
    pub(crate) fn lost(&self, now: DeviceTime) -> BTreeMap<Lpn, LostWrite> {
        let ends = self.programs.iter().flat_map(|(end, count)| (0..*count).map(|_| *end));
        let ends = ends.chain(std::iter::repeat(DeviceTime::MAX));
        let mut held: BTreeMap<Lpn, (LostWrite, bool)> = BTreeMap::new();
        let pages = self.pages.iter().chain(self.gathering.iter().flatten());
        for (page, end) in pages.zip(ends) {
            let earlier = held.get_mut(&page.lpn);
            let before =
                !page.is_first && earlier.as_ref().is_none_or(|(lost, _)| lost.held_before);
            let is_lost = end > now && !self.protected;
            let (stamps, older) = match earlier {
                // Of several that are lost the first one's.
                Some((lost, true)) if is_lost => (std::mem::take(&mut lost.before), lost.writes),
                _ => (page.before.clone(), 0),
            };
            let writes = older + page.writes;
            let lost = LostWrite { writes, held_before: before || !is_lost, before: stamps };
            held.insert(page.lpn, (lost, is_lost));
        }
        let lost = held.into_iter().filter(|(_, (_, is_lost))| *is_lost);
        lost.map(|(lpn, (lost, _))| (lpn, lost)).collect()
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
        let lost = volatile.lost(DeviceTime(100)).into_iter();
        lost.map(|(lpn, lost)| (lpn.0, lost.held_before)).collect()
    }

    /// The same, with how many writes of each are lost.
    fn writes_lost(volatile: &Volatile) -> Vec<(u32, u32)> {
        let lost = volatile.lost(DeviceTime(100)).into_iter();
        lost.map(|(lpn, lost)| (lpn.0, lost.writes)).collect()
    }

    #[test]
    fn as_many_writes_of_a_page_are_lost_as_came_after_the_last_that_is_in_nand() {
        let mut volatile = volatile();
        volatile.wrote(Stream::Host, Lpn(1), true, Vec::new());
        volatile.programmed(Stream::Host, DeviceTime(90), DeviceTime(0));
        volatile.wrote(Stream::Host, Lpn(1), false, Vec::new());
        volatile.wrote(Stream::Host, Lpn(1), false, Vec::new());
        assert_eq!(writes_lost(&volatile), [(1, 2)]);
        // What gives way to a newer version in another stream is one of them.
        volatile.wrote(Stream::Hot, Lpn(1), false, Vec::new());
        assert_eq!(writes_lost(&volatile), [(1, 3)]);
        // A newer one that is in NAND is there whatever becomes of an older one.
        volatile.programmed(Stream::Hot, DeviceTime(95), DeviceTime(0));
        assert_eq!(writes_lost(&volatile), []);
    }

    #[test]
    fn what_is_gathered_or_under_way_is_lost_and_what_is_in_nand_is_not() {
        let mut volatile = volatile();
        volatile.wrote(Stream::Host, Lpn(1), true, Vec::new());
        volatile.programmed(Stream::Host, DeviceTime(90), DeviceTime(0));
        volatile.wrote(Stream::Host, Lpn(2), true, Vec::new());
        volatile.programmed(Stream::Host, DeviceTime(110), DeviceTime(0));
        volatile.wrote(Stream::Host, Lpn(1), false, Vec::new());
        volatile.wrote(Stream::Host, Lpn(3), false, Vec::new());
        assert_eq!(lost(&volatile), [(1, true), (2, false), (3, true)]);
    }

    #[test]
    fn an_older_version_that_waits_in_another_stream_does_not_count() {
        let mut volatile = volatile();
        volatile.wrote(Stream::Host, Lpn(1), true, Vec::new());
        volatile.wrote(Stream::Hot, Lpn(1), false, Vec::new());
        assert_eq!(lost(&volatile), [(1, false)], "neither version is in NAND");
        volatile.programmed(Stream::Hot, DeviceTime(90), DeviceTime(0));
        assert_eq!(lost(&volatile), []);
    }
}
