//! What the stamped blocks of a simulated drive hold, as it would give them back now.
//!
//! The models move no data. For whoever looks at stamped blocks this keeps, of every page that the
//! host wrote, the pass that wrote it: allocated with the first look that is asked for, and by no
//! other run. Whether a page holds anything at all is the map's to say; a page that a power cut takes
//! back is [restored](Stamps::restore) by the map that undoes it.

use writecliff_device::{Bytes, Held, Io, Part, Pass, Stamping};

/// Blocks are looked at in parts of a page of the map, or of this if that is larger.
const CELL_MAX: u64 = 4096;
/// What a part of a block is counted in.
const SECTOR: u64 = 512;

/// What a part of a page holds: the pass that wrote it, and how often the places of the drive had
/// begun again where the host wrote it, in 16 bits each. Zero is data without a stamp: memory is
/// taken when a cell is first written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cell(u32);

/// The stamps of all pages of a drive.
#[derive(Debug, Clone)]
pub struct Stamps {
    block: u64,
    /// Bytes that a page of the map, and a cell, hold.
    unit: u64,
    cell: u64,
    /// Bytes after which the places of the drive begin again.
    real: u64,
    cells: Vec<u32>,
    found: Vec<Held>,
}

impl Stamps {
    /// Of a drive that maps `unit`s and has `real` bytes, of which nothing is known yet.
    pub fn new(stamping: Stamping, unit: Bytes, real: Bytes) -> Self {
        let cell = unit.0.min(CELL_MAX);
        let cells = vec![0; real.0.div_ceil(cell) as usize];
        let (block, found) = (stamping.block.0, Vec::new());
        Self { block, unit: unit.0, cell, real: real.0, cells, found }
    }

    /// The host has written this.
    pub fn write(&mut self, io: &Io) {
        for offset in self.places(io.offset.0, io.length.0) {
            let turn = u16::try_from(offset / self.real).expect("a claim within its limit");
            let pass = io.stamp.map_or(0, Pass::get);
            let place = self.place(offset);
            self.cells[place] = u32::from(pass) << 16 | u32::from(turn);
        }
    }

    /// What a page of the map holds.
    pub(crate) fn page(&self, page: u32) -> Vec<Cell> {
        self.cells[self.cells_of(page)].iter().copied().map(Cell).collect()
    }

    /// A page holds again what it held before.
    pub(crate) fn restore(&mut self, page: u32, before: &[Cell]) {
        let cells = self.cells_of(page);
        self.cells[cells].iter_mut().zip(before).for_each(|(cell, before)| *cell = before.0);
    }

    /// A page holds nothing: what is written to a part of it stands among data without stamps.
    pub fn clear(&mut self, page: u32) {
        let cells = self.cells_of(page);
        self.cells[cells].fill(0);
    }

    /// Looks at the blocks that a read brought. `holds` says whether there is anything at a byte of
    /// the real drive.
    pub fn look(&mut self, io: &Io, holds: impl Fn(u64) -> bool) {
        let sectors = (self.cell / SECTOR) as u32;
        let mut parts = Vec::with_capacity((self.block / self.cell) as usize);
        for block in (io.offset.0..io.offset.0 + io.length.0).step_by(self.block as usize) {
            parts.clear();
            let places = self.places(block, self.block);
            parts.extend(places.map(|offset| self.part(block, offset, &holds)));
            self.found.push(Held::of_parts(Bytes(block), sectors, &parts));
        }
    }

    /// Hands over what was found since the last time.
    pub fn take(&mut self, found: &mut Vec<Held>) {
        found.append(&mut self.found);
    }

    fn part(&self, block: u64, offset: u64, holds: &impl Fn(u64) -> bool) -> Part {
        let within = offset % self.real;
        let cell = self.cells[self.place(offset)];
        let turn = u64::from(cell as u16);
        match Pass::new((cell >> 16) as u16) {
            _ if !holds(within) => Part::Zeros,
            None => Part::Unstamped,
            Some(pass) => {
                let meant_for = turn * self.real + within;
                // A block that begins behind its part's end would begin before the drive.
                let offset = Bytes(meant_for.saturating_sub(offset - block));
                Part::Stamped { offset, pass }
            }
        }
    }

    /// The first byte of every cell in a range of the claimed drive.
    fn places(&self, offset: u64, length: u64) -> impl Iterator<Item = u64> + use<> {
        let first = offset / self.cell * self.cell;
        (first..offset + length).step_by(self.cell as usize)
    }

    fn place(&self, offset: u64) -> usize {
        (offset % self.real / self.cell) as usize
    }

    fn cells_of(&self, page: u32) -> std::ops::Range<usize> {
        let per_page = (self.unit / self.cell) as usize;
        let first = page as usize * per_page;
        first..first + per_page
    }
}
