//! The flash translation layer with a page map: where each logical page is, where the next one
//! goes. How space is won back is in [`copying`](super::copying).
//!
//! `l2p` leads from a logical page to its slot, `p2l` from a slot to the logical page that was
//! written there last. A slot is valid if the two lead to each other, so that overwriting a page
//! costs one entry and the count of its old superblock, and nothing of the slot left behind.

use std::hint::black_box;

use writecliff_device::{Content, DeviceTime, split_mix};
use writecliff_profile::{SlcKind, SsdProfile};

use super::copying::{Collector, Evacuation};
use super::map_cache::MapCache;
use super::table::Table;
use crate::ssd::array::{
    Books, CellMode, FlashArray, Layout, Lost, Lpn, Ppa, ReadOnly, Retries, Superblocks,
};
use crate::ssd::collect::Occasion;
use crate::ssd::front::{
    BufferSlots, Program, Reducer, Skipped, Stream, Streams, Temperature, Volatile,
};
use crate::stamps::Stamps;

/// The map, the books, and the streams of pages to NAND.
#[derive(Debug, Clone)]
pub(crate) struct Ftl {
    pub(super) layout: Layout,
    pub(super) l2p: Table,
    pub(super) p2l: Table,
    pub(super) superblocks: Superblocks,
    pub(super) streams: Streams,
    /// Which of the host's pages are hot, if those are kept apart.
    pub(super) temperature: Option<Temperature>,
    /// What each superblock was opened for last.
    pub(super) opened_for: Vec<Stream>,
    pub(super) evacuation: Option<Evacuation>,
    pub(super) collector: Collector,
    pub(super) buffer: BufferSlots,
    pub(super) nand: FlashArray,
    /// Superblocks that are set aside for the SLC buffer, and the most it may have.
    pub(super) slc_reserved: u32,
    pub(super) slc_most: u32,
    /// Superblocks that must be spare.
    pub(super) spare_min: u32,
    /// Pages that a native superblock holds, on the dies that work.
    pub(super) superblock_pages: u32,
    pub(super) pages: u32,
    endurance: u32,
    pub(super) map_cache: Option<MapCache>,
    reducer: Reducer,
    pub(super) retries: Retries,
    pub(super) volatile: Option<Volatile>,
    pub(super) read_only: bool,
    /// Whether the host waits until what it is writing is in NAND.
    pub(super) is_awaited: bool,
    pub(super) lost_pages: u64,
    /// What the pages hold, if somebody looks at it.
    pub(super) stamps: Option<Box<Stamps>>,
}

impl Ftl {
    pub(super) fn new(profile: &SsdProfile) -> Self {
        let layout = Layout::new(profile);
        let unit = profile.mapping.unit.0;
        let pages = (profile.identity.capacity.0 / unit) as u32;
        let superblocks = Superblocks::new(profile.superblocks(), &profile.wear);
        let buffer = profile.write_buffer.size.0.max(profile.program_size().0 * 2);
        Self {
            l2p: Table::zeroed(pages as usize),
            p2l: Table::zeroed(layout.addresses(superblocks.count())),
            superblocks,
            streams: Streams::default(),
            temperature: Temperature::new(profile),
            opened_for: vec![Stream::Host; profile.superblocks() as usize + 1],
            evacuation: None,
            collector: Collector::new(profile),
            buffer: BufferSlots::new((buffer / unit) as u32),
            nand: FlashArray::new(profile),
            slc_reserved: profile.slc_superblocks(),
            slc_most: profile.slc_superblocks_max(),
            spare_min: profile.superblocks_spare_min(),
            superblock_pages: layout.data_slots(CellMode::Native),
            layout,
            pages,
            endurance: profile.wear.endurance,
            map_cache: MapCache::new(profile),
            reducer: Reducer::new(&profile.reduction),
            retries: Retries::new(&profile.wear),
            volatile: Volatile::new(profile),
            read_only: false,
            is_awaited: false,
            lost_pages: 0,
            stamps: None,
        }
    }

    /// Puts `count` pages from `lpn` on, which have `arrived`, on their way to NAND: each takes a
    /// slot of the write buffer until its program has ended. Returns when the last one has its
    /// slot.
    pub(super) fn write(
        &mut self,
        lpn: Lpn,
        count: u32,
        content: Content,
        arrived: DeviceTime,
    ) -> Result<DeviceTime, ReadOnly> {
        if self.read_only {
            return Err(ReadOnly);
        }
        if self.reducer.applies_to(content) {
            return self.write_reduced(lpn, count, content, arrived);
        }
        if self.temperature.is_some() || self.slc_most > 0 {
            return self.write_to_streams(lpn, count, arrived, Self::stream_of);
        }
        self.write_to_streams(lpn, count, arrived, |_, _, most| (Stream::Host, most))
    }

    /// `stream_of` is a parameter so that a drive with one stream of the host pays for no other.
    fn write_to_streams(
        &mut self,
        lpn: Lpn,
        count: u32,
        arrived: DeviceTime,
        stream_of: impl Fn(&Self, Lpn, u32) -> (Stream, u32),
    ) -> Result<DeviceTime, ReadOnly> {
        let (mut next, end) = (lpn.0, lpn.0 + count);
        let mut admitted = arrived;
        while next < end {
            self.make_way_for_copies(admitted);
            let (stream, pages) = self.way_for(Lpn(next), end - next, admitted, &stream_of)?;
            admitted = self.buffer.admit(arrived, pages);
            self.place(stream, Lpn(next), pages, admitted);
            next += pages;
        }
        Ok(admitted)
    }

    /// As `write`, page by page: a page that is stored within others takes no slot.
    fn write_reduced(
        &mut self,
        lpn: Lpn,
        count: u32,
        content: Content,
        arrived: DeviceTime,
    ) -> Result<DeviceTime, ReadOnly> {
        let mut admitted = arrived;
        for page in (lpn.0..lpn.0 + count).map(Lpn) {
            self.make_way_for_copies(admitted);
            let (stream, _) = self.way_for(page, 1, admitted, Self::stream_of)?;
            if self.reducer.absorbs(content) {
                self.note_write(stream, page);
                let old = self.replace(page, Ppa::REDUCED);
                self.invalidate(old);
            } else {
                admitted = self.buffer.admit(arrived, 1);
                self.place(stream, page, 1, admitted);
            }
        }
        Ok(admitted)
    }

    /// The stream that a page of the host goes to, which has room, and how many of the next `most`
    /// go with it.
    #[inline(always)]
    fn way_for(
        &mut self,
        lpn: Lpn,
        most: u32,
        now: DeviceTime,
        stream_of: impl Fn(&Self, Lpn, u32) -> (Stream, u32),
    ) -> Result<(Stream, u32), ReadOnly> {
        loop {
            let (stream, alike) = stream_of(self, lpn, most);
            match self.streams[stream].room() {
                0 => self.open_for_host(stream, now)?,
                room => return Ok((stream, alike.min(room))),
            }
        }
    }

    /// The stream that a page of the host goes to, and how many of the next `most` go with it.
    fn stream_of(&self, lpn: Lpn, most: u32) -> (Stream, u32) {
        if self.streams[Stream::Slc].room() > 0 || self.slc_has_room() {
            return (Stream::Slc, most);
        }
        let Some(temperature) = &self.temperature else { return (Stream::Host, most) };
        let stream = |page| {
            temperature.stream_of(page, self.layout.is_place(Ppa(self.l2p[page.0 as usize])))
        };
        let (first, end) = (stream(lpn), lpn.0 + most.min(self.layout.slots_per_program));
        let alike = (lpn.0 + 1..end).map(Lpn).take_while(|page| stream(*page) == first).count();
        (first, 1 + alike as u32)
    }

    /// Gives admitted pages the next slots of a frontier of the host's, which has room for them.
    /// Inlined, so that it is made once more for drives with one stream of the host.
    #[inline(always)]
    fn place(&mut self, stream: Stream, lpn: Lpn, count: u32, now: DeviceTime) {
        let first = self.streams[stream].take(count, &self.layout);
        self.streams[stream].host_pages += count;
        self.superblocks.validate(self.layout.superblock_of(first), count);
        if self.volatile.is_some() || self.temperature.is_some() {
            (lpn.0..lpn.0 + count).for_each(|page| self.note_write(stream, Lpn(page)));
        }
        let slots = first.0 as usize..(first.0 + count) as usize;
        for (slot, page) in self.p2l[slots].iter_mut().zip(lpn.0..) {
            *slot = page;
        }
        let pages = lpn.0 as usize..(lpn.0 + count) as usize;
        for (entry, ppa) in self.l2p[pages].iter_mut().zip(first.0..) {
            let old = Ppa(std::mem::replace(entry, ppa));
            if self.layout.is_place(old) {
                self.superblocks.invalidate(self.layout.superblock_of(old), 1);
            }
        }
        if self.streams[stream].room() == 0 {
            let program = self.end_program(stream, now);
            let start = self.pace(&program, now);
            match self.is_awaited {
                true => self.program_awaited(stream, program, start),
                false => drop(self.program(stream, program, start)),
            }
        }
    }

    pub(super) fn replace(&mut self, lpn: Lpn, ppa: Ppa) -> Ppa {
        Ppa(std::mem::replace(&mut self.l2p[lpn.0 as usize], ppa.0))
    }

    pub(super) fn invalidate(&mut self, old: Ppa) {
        if self.layout.is_place(old) {
            self.superblocks.invalidate(self.layout.superblock_of(old), 1);
        }
    }

    /// Before a page's entry changes: for the mechanisms that keep account of single pages.
    fn note_write(&mut self, stream: Stream, lpn: Lpn) {
        let old = Ppa(self.l2p[lpn.0 as usize]);
        if let Some(volatile) = &mut self.volatile {
            let before = self.stamps.as_ref().map_or_else(Vec::new, |stamps| stamps.page(lpn.0));
            volatile.wrote(stream, lpn, old == Ppa::UNMAPPED, before);
        }
        if let Some(temperature) = &mut self.temperature {
            temperature.wrote(lpn, self.layout.is_place(old));
        }
    }

    /// Opens a superblock for a stream of the host: a native one after collection has seen to it that
    /// another is left to copy into; none if the SLC buffer has room again.
    fn open_for_host(&mut self, stream: Stream, now: DeviceTime) -> Result<(), ReadOnly> {
        self.collect(Occasion::Opening, now);
        if stream == Stream::Slc {
            // What waits for the rest of a native program might wait for long.
            self.program_host(now);
            self.open(stream, CellMode::Slc, now);
        } else if !self.slc_has_room() {
            self.reserve_superblock(now)?;
            // Collection into a shared frontier may have opened one already.
            if self.streams[stream].room() == 0 {
                self.open(stream, CellMode::Native, now);
            }
        }
        Ok(())
    }

    /// Opens a free superblock for a stream.
    pub(super) fn open(&mut self, stream: Stream, mode: CellMode, now: DeviceTime) {
        let id = self.superblocks.open(mode, stream == Stream::Copies);
        self.opened_for[id.0 as usize] = stream;
        let skipped = self.streams[stream].open(id, mode, &self.layout);
        self.program_parity(skipped, mode, now);
    }

    fn slc_has_room(&self) -> bool {
        let is_below_most = self.superblocks.in_slc() < self.slc_most;
        let slc = &self.collector.policy.slc;
        match slc.kind {
            SlcKind::None => false,
            SlcKind::Fixed => is_below_most && self.superblocks.free_count() > 0,
            SlcKind::Dynamic => is_below_most && self.native_free() > slc.free_min.max(2),
        }
    }

    /// Free superblocks that are not set aside for the SLC buffer.
    pub(super) fn native_free(&self) -> u32 {
        let set_aside = self.slc_reserved.saturating_sub(self.superblocks.in_slc());
        self.superblocks.free_count().saturating_sub(set_aside)
    }

    /// Ends the program that a stream has gathered, and its superblock if that is full.
    pub(super) fn end_program(&mut self, stream: Stream, now: DeviceTime) -> Program {
        let program = self.streams[stream].end_program(&self.layout);
        if let Some(full) = self.streams[stream].take_full() {
            self.superblocks.close(full, now);
        }
        program
    }

    /// Sends a program, and the parity that goes with it, to its die; the host's pages in it keep
    /// their slots of the write buffer until it has ended.
    pub(super) fn program(
        &mut self,
        stream: Stream,
        program: Program,
        ready: DeviceTime,
    ) -> DeviceTime {
        let finished = self.nand.program(ready, program.die, program.mode, program.page);
        self.programming(stream, program, ready, finished)
    }

    /// The same of the host's pages where somebody waits until they are in NAND.
    fn program_awaited(&mut self, stream: Stream, program: Program, ready: DeviceTime) {
        let Program { die, mode, page, .. } = program;
        let finished = self.nand.program_awaited(ready, die, mode, page);
        self.programming(stream, program, ready, finished);
    }

    /// What becomes of a program that is on its way to its die and will have `finished`.
    fn programming(
        &mut self,
        stream: Stream,
        program: Program,
        ready: DeviceTime,
        finished: DeviceTime,
    ) -> DeviceTime {
        let Program { mode, host_pages, skipped, .. } = program;
        if host_pages > 0 {
            self.buffer.hold(host_pages, finished);
        }
        if let (1.., Some(volatile)) = (host_pages, &mut self.volatile) {
            volatile.programmed(stream, finished, self.nand.now());
        }
        if skipped.0 < skipped.1 {
            self.program_parity(skipped, mode, ready);
        }
        finished
    }

    /// Writes the parity among the programs that a frontier has passed over.
    pub(super) fn program_parity(&mut self, skipped: Skipped, mode: CellMode, ready: DeviceTime) {
        for program in skipped.0..skipped.1 {
            let die = self.layout.die_of(program);
            if self.layout.is_parity(program) && !self.layout.is_lost(die) {
                self.nand.program(ready, die, mode, self.layout.page_of(program));
            }
        }
    }

    /// Programs what is gathered; returns when everything is in NAND.
    pub(super) fn flush(&mut self, now: DeviceTime) -> DeviceTime {
        self.program_host(now);
        let drained = self.buffer.drained_at(now);
        if let Some(volatile) = &mut self.volatile {
            let now = self.nand.now();
            Stream::OF_HOST.into_iter().for_each(|s| volatile.programmed(s, drained, now));
        }
        drained
    }

    /// Programs what the host has gathered, padded if a program is not full.
    fn program_host(&mut self, now: DeviceTime) {
        for stream in Stream::OF_HOST {
            if self.streams[stream].is_gathering(&self.layout) {
                let program = self.end_program(stream, now);
                self.program_awaited(stream, program, now);
            }
        }
    }

    /// Brings `count` pages to RAM; a page without data is answered from the map. Pages that lie
    /// side by side in one program are sensed together.
    pub(super) fn read(
        &mut self,
        lpn: Lpn,
        count: u32,
        ready: DeviceTime,
    ) -> Result<DeviceTime, Lost> {
        let (mut next, end) = (lpn.0, lpn.0 + count);
        let (mut in_ram, mut outcome) = (ready, Ok(()));
        while next < end {
            let first = Ppa(self.l2p[next as usize]);
            let pages = self.pages_in_program(next, end, first);
            match self.read_program(Lpn(next), first, pages, ready) {
                Ok(read) => in_ram = in_ram.max(read),
                Err(lost) => outcome = Err(lost),
            }
            next += pages;
        }
        outcome.map(|()| in_ram)
    }

    /// How many of the pages from `next` to `end` follow each other in the program of `first`.
    fn pages_in_program(&self, next: u32, end: u32, first: Ppa) -> u32 {
        if next + 1 == end || !self.layout.is_place(first) {
            return 1;
        }
        let left = self.layout.slots_per_program
            - self.layout.slot_of(first) % self.layout.slots_per_program;
        let map = &self.l2p[next as usize..end as usize];
        let follows = |(place, ppa): &(usize, &u32)| **ppa == first.0 + *place as u32;
        map.iter().enumerate().take(left as usize).take_while(follows).count() as u32
    }

    fn read_program(
        &mut self,
        lpn: Lpn,
        ppa: Ppa,
        pages: u32,
        ready: DeviceTime,
    ) -> Result<DeviceTime, Lost> {
        if !self.layout.is_place(ppa) {
            return match ppa {
                Ppa::UNMAPPED => Ok(ready),
                Ppa::REDUCED => Ok(self.read_reduced(lpn, ready)),
                _ => Err(Lost),
            };
        }
        let superblock = self.layout.superblock_of(ppa);
        let slot = self.layout.slot_of(ppa);
        let program = self.layout.program_of(slot);
        let (mode, die) = (self.superblocks.mode(superblock), self.layout.die_of(program));
        let senses = self.retries.senses(&self.superblocks, superblock, ppa, ready);
        if self.layout.is_lost(die) {
            return self.reconstruct(program, mode, ready).ok_or(Lost);
        }
        let first = slot % self.layout.slots_per_program;
        Ok(self.nand.read_units(ready, die, mode, first..first + pages, senses))
    }

    /// The data of a reduced page lies in some other page, on any die.
    fn read_reduced(&mut self, lpn: Lpn, ready: DeviceTime) -> DeviceTime {
        let die = (split_mix(u64::from(lpn.0)) % u64::from(self.layout.dies)) as u32;
        self.nand.read(ready, die, CellMode::Native, 1, 1)
    }

    /// Reads the rest of a stripe to make up for a program that cannot be read; `None` if parity
    /// does not reach so far.
    pub(super) fn reconstruct(
        &mut self,
        program: u32,
        mode: CellMode,
        ready: DeviceTime,
    ) -> Option<DeviceTime> {
        let mut in_ram = ready;
        for other in self.layout.rest_of_stripe(program)? {
            let (die, units) = (self.layout.die_of(other), self.layout.slots_per_program);
            in_ram = in_ram.max(self.nand.read(ready, die, mode, units, 1));
        }
        Some(in_ram)
    }

    /// Looks an entry of the map up, and fetches it from NAND if it is not in RAM.
    pub(super) fn look_up(
        &mut self,
        lpn: Lpn,
        count: u32,
        change: bool,
        ready: DeviceTime,
    ) -> DeviceTime {
        match &mut self.map_cache {
            Some(cache) => cache.look_up(lpn, count, change, ready, &mut self.nand),
            None => ready,
        }
    }

    /// Forgets `count` pages' data.
    pub(super) fn trim(&mut self, lpn: Lpn, count: u32) {
        // Where there are fewer superblocks to look at than pages: a drive that holds nothing.
        if count > self.superblocks.count() && self.is_empty() {
            return;
        }
        for page in lpn.0..lpn.0 + count {
            let old = self.replace(Lpn(page), Ppa::UNMAPPED);
            self.invalidate(old);
        }
    }

    /// Whether no page can hold anything: none is in NAND, none was lost, and none was stored within
    /// others.
    fn is_empty(&self) -> bool {
        self.superblocks.hold_nothing() && self.lost_pages == 0 && !self.reducer.ever_applies()
    }

    /// Whether a page holds anything.
    pub(super) fn holds(&self, lpn: Lpn) -> bool {
        self.l2p[lpn.0 as usize] != Ppa::UNMAPPED.0
    }

    /// Reads the map entries of pages that will be asked for soon, so that the processor has them
    /// at hand; a model of nothing.
    pub(super) fn touch(&self, pages: impl Iterator<Item = Lpn>) {
        let entries = pages.map(|lpn| self.l2p.get(lpn.0 as usize).copied().unwrap_or(0));
        black_box(entries.fold(0, |sum, entry| sum ^ entry));
    }

    /// Erases every superblock that is not free and forgets all data; returns when that is done.
    pub(super) fn erase_all(&mut self, now: DeviceTime) -> DeviceTime {
        self.l2p.clear();
        self.streams = Streams::default();
        self.evacuation = None;
        self.collector.reset();
        self.buffer.clear();
        if let Some(temperature) = &mut self.temperature {
            temperature.clear();
        }
        if let Some(volatile) = &mut self.volatile {
            volatile.clear();
        }
        if let Some(cache) = &mut self.map_cache {
            cache.clear();
        }
        let mut finished = now;
        for _ in 0..self.superblocks.erase_all() {
            finished = finished.max(self.nand.erase_superblock(now, CellMode::Native));
        }
        finished
    }

    /// Programs what is gathered.
    pub(super) fn program_gathered(&mut self, now: DeviceTime) {
        self.program_host(now);
        for stream in Stream::OF_COPIES {
            if self.streams[stream].is_gathering(&self.layout) {
                self.program_copies(stream, now);
            }
        }
    }

    pub(super) fn books(&self) -> Books {
        Books {
            free: self.superblocks.free_count(),
            erases: self.superblocks.erases(),
            wear_permille: self.superblocks.wear_permille(self.endurance),
            retired: self.superblocks.retired(),
            lost_pages: self.lost_pages,
        }
    }
}
