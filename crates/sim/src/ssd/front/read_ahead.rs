//! Data fetched before the host asks for them: of one stream of reads that follow each other.

use std::collections::VecDeque;

use writecliff_device::{Bytes, DeviceTime};

use crate::profile::SsdProfile;
use crate::ssd::array::Lpn;

/// What lies ahead of the last read, on its way to RAM or there.
#[derive(Debug, Clone)]
pub(crate) struct ReadAhead {
    /// Pages that are fetched ahead at most, and those of the drive.
    most: u32,
    pages: u32,
    /// The page after the last one that was read.
    next: u32,
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
        is_asked_for.then_some(Self { most: most.max(1), pages, next: u32::MAX, fetched })
    }

    /// The host reads `count` pages from `lpn` on.
    pub(crate) fn read(&mut self, lpn: Lpn, count: u32) -> Found {
        let end = lpn.0 + count;
        let follows = lpn.0 == self.next;
        self.next = end;
        let mut found = Found { follows, pages: 0, in_ram: DeviceTime::default() };
        if !follows {
            self.fetched.clear();
            return found;
        }
        while let Some((until, in_ram)) = self.fetched.front().copied() {
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

    /// Forgets what was fetched.
    pub(crate) fn clear(&mut self) {
        self.next = u32::MAX;
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

    #[test]
    fn what_follows_finds_what_was_fetched() {
        let mut ahead = ahead();
        assert!(!ahead.read(Lpn(100), 8).follows);
        assert!(ahead.read(Lpn(108), 8).follows);
        assert_eq!(ahead.ahead(), (Lpn(116), 16));
        ahead.fetches(16, DeviceTime(70));
        let found = ahead.read(Lpn(116), 8);
        assert_eq!((found.pages, found.in_ram), (8, DeviceTime(70)));
        assert_eq!(ahead.ahead(), (Lpn(132), 8));
        ahead.fetches(8, DeviceTime(90));
        let found = ahead.read(Lpn(124), 20);
        assert_eq!((found.pages, found.in_ram), (16, DeviceTime(90)), "four are to be read yet");
        assert_eq!(ahead.ahead(), (Lpn(144), 16));
    }

    #[test]
    fn a_read_elsewhere_ends_the_stream() {
        let mut ahead = ahead();
        ahead.read(Lpn(0), 8);
        ahead.read(Lpn(8), 8);
        ahead.fetches(16, DeviceTime(70));
        assert_eq!(ahead.read(Lpn(1000), 8).pages, 0);
        assert_eq!(ahead.read(Lpn(16), 8).pages, 0, "forgotten");
    }

    #[test]
    fn nothing_lies_ahead_of_the_end_of_the_drive() {
        let mut ahead = ahead();
        ahead.read(Lpn(ahead.pages - 16), 8);
        ahead.read(Lpn(ahead.pages - 8), 8);
        assert_eq!(ahead.ahead().1, 0);
    }
}
