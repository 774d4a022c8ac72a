//! Data fetched before the host asks for them: of one stream of reads that follow each other.

use std::collections::VecDeque;
use std::ops::Range;

use writecliff_device::{Bytes, DeviceTime};
use writecliff_profile::SsdProfile;

use crate::ssd::array::Lpn;

/// What lies ahead of the last read, on its way to RAM or there.
#[derive(Debug, Clone)]
pub(crate) struct ReadAhead {
    /// Pages that are fetched ahead at most, and those of the drive.
    most: u32,
    pages: u32,
    /// The page after the last one that was read.
    next: u32,
    /// The byte after the last one that was read, and when its page was in RAM.
    end: Bytes,
    last: DeviceTime,
    /// Ends of what was fetched, in order, each with when it is in RAM.
    fetched: VecDeque<(u32, DeviceTime)>,
}

/// What a read finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    /// Whether it goes on where the last one ended.
    pub(crate) follows: bool,
    /// How many of its pages, from the first on, were fetched, and when they are in RAM.
    pub(crate) pages: u32,
    pub(crate) in_ram: DeviceTime,
}

impl ReadAhead {
    /// `None` if the profile fetches nothing ahead.
    pub(crate) fn new(profile: &SsdProfile) -> Option<Self> {
        let unit = profile.mapping.unit.0;
        let most = (profile.firmware.read_ahead.0 / unit) as u32;
        let pages = (profile.identity.capacity.0 / unit) as u32;
        let fetched = VecDeque::new();
        let is_asked_for = profile.firmware.read_ahead > Bytes::ZERO;
        is_asked_for.then_some(Self {
            most: most.max(1),
            pages,
            next: u32::MAX,
            end: Bytes(u64::MAX),
            last: DeviceTime::default(),
            fetched,
        })
    }

    /// The host reads these bytes, which are in `count` pages from `lpn` on.
    pub(crate) fn read(&mut self, lpn: Lpn, count: u32, bytes: Range<Bytes>) -> Found {
        let end = lpn.0 + count;
        let follows = bytes.start == self.end;
        // The rest of the page that the last read ended in.
        let goes_on = follows && lpn.0 < self.next;
        (self.next, self.end) = (end, bytes.end);
        let in_ram = if goes_on { self.last } else { DeviceTime::default() };
        let mut found = Found { follows, pages: u32::from(goes_on), in_ram };
        if !follows {
            self.fetched.clear();
            return found;
        }
        while found.pages < count
            && let Some((until, in_ram)) = self.fetched.front().copied()
        {
            found.pages = until.min(end) - lpn.0;
            found.in_ram = found.in_ram.max(in_ram);
            if until > end {
                break;
            }
            self.fetched.pop_front();
            if until == end {
                break;
            }
        }
        found
    }

    /// The first page that is to be fetched now, and how many.
    pub(crate) fn ahead(&self) -> (Lpn, u32) {
        let from = self.fetched.back().map_or(self.next, |(until, _)| *until);
        let until = self.next.saturating_add(self.most).min(self.pages);
        (Lpn(from), until.saturating_sub(from))
    }

    /// What [`ReadAhead::ahead`] said is in RAM at `in_ram`.
    pub(crate) fn fetches(&mut self, count: u32, in_ram: DeviceTime) {
        let (from, _) = self.ahead();
        self.fetched.push_back((from.0 + count, in_ram));
    }

    /// The last page of what was read was in RAM then.
    pub(crate) fn was_read(&mut self, in_ram: DeviceTime) {
        self.last = in_ram;
    }

    /// Forgets what was fetched.
    pub(crate) fn clear(&mut self) {
        (self.next, self.end) = (u32::MAX, Bytes(u64::MAX));
        self.fetched.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ahead() -> ReadAhead {
        let mut profile = crate::load("tiny").unwrap().into_ssd().unwrap();
        assert!(ReadAhead::new(&profile).is_none());
        profile.firmware.read_ahead = Bytes::from_kib(64);
        ReadAhead::new(&profile).unwrap()
    }

    /// Whole pages of 4 KiB.
    fn read(ahead: &mut ReadAhead, lpn: u32, count: u32) -> Found {
        let page = |lpn: u32| Bytes::from_kib(4) * u64::from(lpn);
        ahead.read(Lpn(lpn), count, page(lpn)..page(lpn + count))
    }

    #[test]
    fn halves_of_pages_follow_each_other_and_the_same_page_again_does_not() {
        let mut ahead = ahead();
        let half = |number: u64| Bytes(2048 * number)..Bytes(2048 * (number + 1));
        assert!(!ahead.read(Lpn(0), 1, half(0)).follows);
        ahead.was_read(DeviceTime(50));
        let found = ahead.read(Lpn(0), 1, half(1));
        assert_eq!((found.follows, found.pages, found.in_ram), (true, 1, DeviceTime(50)));
        ahead.fetches(16, DeviceTime(70));
        let found = ahead.read(Lpn(1), 1, half(2));
        assert_eq!((found.pages, found.in_ram), (1, DeviceTime(70)));
        assert!(!ahead.read(Lpn(1), 1, half(2)).follows);
    }

    #[test]
    fn what_follows_finds_what_was_fetched() {
        let mut ahead = ahead();
        assert!(!read(&mut ahead, 100, 8).follows);
        assert!(read(&mut ahead, 108, 8).follows);
        assert_eq!(ahead.ahead(), (Lpn(116), 16));
        ahead.fetches(16, DeviceTime(70));
        let found = read(&mut ahead, 116, 8);
        assert_eq!((found.pages, found.in_ram), (8, DeviceTime(70)));
        assert_eq!(ahead.ahead(), (Lpn(132), 8));
        ahead.fetches(8, DeviceTime(90));
        let found = read(&mut ahead, 124, 20);
        assert_eq!((found.pages, found.in_ram), (16, DeviceTime(90)), "four are to be read yet");
        assert_eq!(ahead.ahead(), (Lpn(144), 16));
    }

    #[test]
    fn a_read_elsewhere_ends_the_stream() {
        let mut ahead = ahead();
        read(&mut ahead, 0, 8);
        read(&mut ahead, 8, 8);
        ahead.fetches(16, DeviceTime(70));
        assert_eq!(read(&mut ahead, 1000, 8).pages, 0);
        assert_eq!(read(&mut ahead, 16, 8).pages, 0, "forgotten");
    }

    #[test]
    fn nothing_lies_ahead_of_the_end_of_the_drive() {
        let mut ahead = ahead();
        let pages = ahead.pages;
        read(&mut ahead, pages - 16, 8);
        read(&mut ahead, pages - 8, 8);
        assert_eq!(ahead.ahead().1, 0);
    }
}
