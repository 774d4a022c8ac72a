//! Hot pages and cold ones: which stream a page goes to, if hot ones are kept apart.
//!
//! Pages that are overwritten at about the same time leave whole superblocks empty, so that little
//! is left to copy. How soon a page will be overwritten is expected from how long its last version
//! lived: one that is overwritten more often than the mean of what is overwritten is hot (by update
//! frequency, as Stoica and Ailamaki divide pages, VLDB 2013, estimated from the last interval
//! alone). What survives in a superblock of hot pages has a second chance in one with its like; who
//! survives that is cold (`map/copying.rs`).
//!
//! Time is pages written by the host, in epochs of a sixteenth of the drive: a byte for each page
//! tells intervals of up to sixteen drive writes apart, and takes longer ones for shorter.

use writecliff_profile::SsdProfile;

use super::Stream;
use crate::ssd::array::Lpn;

/// Epochs of one drive write.
const EPOCHS: u32 = 16;
/// Parts of an epoch that the mean is counted in.
const PARTS: u64 = 256;

/// When each page was written last, and how old pages are when they are overwritten.
#[derive(Debug, Clone)]
pub(crate) struct Temperature {
    epoch_pages: u32,
    /// Pages written in this epoch, those of them that overwrote something, and their ages.
    written: u32,
    overwritten: u64,
    ages: u64,
    epoch: u8,
    /// The epoch of each page's last write.
    last: Vec<u8>,
    /// The mean age of what is overwritten, in parts of an epoch: what is younger is hot.
    mean: u64,
}

impl Temperature {
    /// `None` if the profile keeps all of the host's pages together.
    pub(crate) fn new(profile: &SsdProfile) -> Option<Self> {
        let pages = (profile.identity.capacity.0 / profile.mapping.unit.0) as u32;
        profile.gc.separate_hot.then(|| Self {
            epoch_pages: pages.div_ceil(EPOCHS),
            written: 0,
            overwritten: 0,
            ages: 0,
            epoch: 0,
            last: vec![0; pages as usize],
            mean: u64::from(EPOCHS) * PARTS,
        })
    }

    /// Where the host's next version of a page goes.
    pub(crate) fn stream_of(&self, lpn: Lpn, is_overwrite: bool) -> Stream {
        let is_hot = is_overwrite && self.age(lpn) * PARTS < self.mean;
        if is_hot { Stream::Hot } else { Stream::Host }
    }

    /// The host wrote a page.
    pub(crate) fn wrote(&mut self, lpn: Lpn, is_overwrite: bool) {
        if is_overwrite {
            self.overwritten += 1;
            self.ages += self.age(lpn);
        }
        self.last[lpn.0 as usize] = self.epoch;
        self.written += 1;
        if self.written == self.epoch_pages {
            self.end_epoch();
        }
    }

    /// The mean follows what the last epochs saw, a quarter of the way each time.
    fn end_epoch(&mut self) {
        if let Some(seen) = (self.ages * PARTS).checked_div(self.overwritten) {
            self.mean = (self.mean * 3 + seen) / 4;
        }
        (self.written, self.overwritten, self.ages) = (0, 0, 0);
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// Epochs since a page was written.
    fn age(&self, lpn: Lpn) -> u64 {
        u64::from(self.epoch.wrapping_sub(self.last[lpn.0 as usize]))
    }

    /// The drive was erased: nothing is known any more.
    pub(crate) fn clear(&mut self) {
        (self.written, self.overwritten, self.ages, self.epoch) = (0, 0, 0, 0);
        self.mean = u64::from(EPOCHS) * PARTS;
        self.last.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The state of a drive of 160 pages, an epoch of which is 10.
    fn temperature() -> Temperature {
        let mut profile = crate::load("tiny").unwrap().into_ssd().unwrap();
        assert!(Temperature::new(&profile).is_none(), "off by default");
        profile.gc.separate_hot = true;
        profile.identity.capacity = profile.mapping.unit * 160;
        Temperature::new(&profile).unwrap()
    }

    #[test]
    fn what_is_overwritten_more_often_than_the_mean_is_hot() {
        let mut temperature = temperature();
        let (often, seldom) = (Lpn(0), Lpn(1));
        for round in 0..1000 {
            temperature.wrote(often, true);
            for page in (0..9).map(|n| Lpn(10 + (round * 9 + n) % 150)) {
                temperature.wrote(page, true);
            }
            if round % 12 == 0 {
                temperature.wrote(seldom, true);
            }
        }
        assert_eq!(temperature.stream_of(often, true), Stream::Hot);
        assert_eq!(temperature.stream_of(often, false), Stream::Host, "nothing was overwritten");
        (0..15).for_each(|_| temperature.end_epoch());
        assert_eq!(temperature.stream_of(often, true), Stream::Host, "not for a long time");
    }

    #[test]
    fn the_mean_follows_the_ages_of_what_is_overwritten() {
        let mut temperature = temperature();
        // Forty pages in turn: each is overwritten after four epochs.
        (0..4000).for_each(|n| temperature.wrote(Lpn(n % 40), true));
        let epochs = temperature.mean as f64 / PARTS as f64;
        assert!((epochs - 4.0).abs() < 0.1, "{epochs}");
        temperature.clear();
        assert_eq!(temperature.mean, u64::from(EPOCHS) * PARTS);
    }
}
