//! What every page must hold, kept beside the drive.

use std::collections::BTreeMap;

use writecliff_device::{Completion, Device, Operation, Status};
use writecliff_profile::{MappingKind, SsdProfile, TrimKind};

use crate::ssd::Ssd;

/// What a page must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holding {
    Data,
    Nothing,
    /// Both are right: it was not flushed, or the drive does not promise it.
    Either,
}

use Holding::{Data, Either, Nothing};

/// What every page must hold now, and what it must hold at least after a power cut.
pub(super) struct Oracle {
    pub(super) pages: BTreeMap<u32, (Holding, Holding)>,
    pub(super) unit: u64,
    /// Acknowledged writes survive a power cut.
    is_durable: bool,
    trims_surely: bool,
}

impl Oracle {
    pub(super) fn new(profile: &SsdProfile) -> Self {
        let in_ram = profile.write_buffer.size.0 > 0 && profile.mapping.kind == MappingKind::Page;
        Self {
            pages: BTreeMap::new(),
            unit: profile.mapping.unit.0,
            is_durable: profile.write_buffer.protected || !in_ram,
            trims_surely: profile.trim.kind == TrimKind::Immediate,
        }
    }

    /// `was_cut`: the power went while it was in flight with others.
    pub(super) fn completed(&mut self, completion: &Completion, was_cut: bool) {
        let io = completion.io;
        let (start, end) = (io.offset.0, io.offset.0 + io.length.0);
        let touched = (start / self.unit) as u32..end.div_ceil(self.unit) as u32;
        let whole = start.div_ceil(self.unit) as u32..(end / self.unit) as u32;
        let failed = completion.status != Status::Done;
        match io.operation {
            Operation::Write if failed || (was_cut && !self.is_durable) => {
                touched.for_each(|page| self.unsettle(page));
            }
            Operation::Write => touched.for_each(|page| self.hold(page, !io.durability.is_later())),
            Operation::Trim => whole.for_each(|page| self.forget(page, failed || was_cut)),
            Operation::Flush if !failed && !was_cut => {
                self.pages.values_mut().for_each(|(now, kept)| *kept = *now);
            }
            Operation::Flush | Operation::Read => {}
        }
    }

    fn hold(&mut self, page: u32, is_flushed: bool) {
        let (now, kept) = self.pages.entry(page).or_insert((Nothing, Nothing));
        *now = Data;
        if self.is_durable || is_flushed {
            *kept = Data;
        }
    }

    /// A write that failed: the page holds what it held, or the new data.
    fn unsettle(&mut self, page: u32) {
        let (now, kept) = self.pages.entry(page).or_insert((Nothing, Nothing));
        if *now != Data {
            *now = Either;
        }
        if *kept != Data {
            *kept = Either;
        }
    }

    fn forget(&mut self, page: u32, failed: bool) {
        if let Some((now, kept)) = self.pages.get_mut(&page) {
            *now = if self.trims_surely && !failed { Nothing } else { Either };
            if *kept == Data {
                *kept = Either;
            }
        }
    }

    /// The power was cut: what was not flushed may be gone.
    pub(super) fn cut(&mut self) {
        for (now, kept) in self.pages.values_mut() {
            *now = if now == kept { *now } else { Either };
            *kept = *now;
        }
        if !self.trims_surely {
            self.pages
                .values_mut()
                .filter(|(now, _)| *now == Nothing)
                .for_each(|p| *p = (Either, Either));
        }
    }

    /// A die is lost and nothing makes up for it.
    pub(super) fn lose(&mut self) {
        self.pages.values_mut().for_each(|page| *page = (Either, Either));
    }

    pub(super) fn check(&self, ssd: &Ssd) {
        let pages = (ssd.info().capacity.0 / self.unit) as u32;
        for page in 0..pages {
            let expected = self.pages.get(&page).map_or(Nothing, |(now, _)| *now);
            match expected {
                Data => assert!(ssd.holds(page), "page {page} is lost"),
                Nothing => assert!(!ssd.holds(page), "page {page} came from nowhere"),
                Either => {}
            }
        }
    }
}
