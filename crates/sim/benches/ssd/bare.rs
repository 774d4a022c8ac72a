//! What a simulated drive's writes are held against: a loop over a map with the same copies and without anything
//! else, no times, no dies, no wear.

use memmap2::{Advice, MmapMut, MmapOptions};

/// Pages of a superblock.
const SUPERBLOCK: usize = 8192;
/// Superblocks beyond those that the pages take, as a share: so many that it has the write amplification of the
/// 840 EVO 250GB, 8.5.
const SPARE: f64 = 0.064;
/// So many entries of a victim are looked up before they are copied.
const AHEAD: usize = 256;
/// It is no candidate.
const OPEN: u32 = u32::MAX;

/// A map from pages to places and back, with greedy collection.
pub(crate) struct BareMap {
    places: MmapMut,
    pages: MmapMut,
    /// Valid pages of each superblock.
    valid: Vec<u32>,
    /// The same of those that are full, and [`OPEN`] of others.
    candidates: Vec<u32>,
    free: Vec<usize>,
    host: Frontier,
    copies: Frontier,
}

/// Where the next page goes.
struct Frontier {
    superblock: usize,
    page: usize,
}

impl BareMap {
    /// With so many pages, each written once.
    pub(crate) fn filled(pages: usize) -> Self {
        let superblocks = (pages as f64 * (1.0 + SPARE)) as usize / SUPERBLOCK;
        // Place 0 is nowhere.
        let mut free: Vec<usize> = (1..=superblocks).collect();
        let mut frontier = || Frontier { superblock: free.pop().expect("many"), page: 0 };
        let (host, copies) = (frontier(), frontier());
        let mut map = Self {
            places: table(pages),
            pages: table((superblocks + 1) * SUPERBLOCK),
            valid: vec![0; superblocks + 1],
            candidates: vec![OPEN; superblocks + 1],
            free,
            host,
            copies,
        };
        (0..pages).for_each(|page| map.write(page));
        map
    }

    pub(crate) fn write(&mut self, page: usize) {
        if self.host.page == SUPERBLOCK {
            self.candidates[self.host.superblock] = self.valid[self.host.superblock];
            while self.free.len() < 2 {
                self.collect();
            }
            self.host = Frontier { superblock: self.free.pop().expect("collected"), page: 0 };
        }
        let old = entries(&mut self.places)[page] as usize / SUPERBLOCK;
        put(&mut self.places, &mut self.pages, &mut self.valid, &mut self.host, page);
        if old != 0 {
            self.valid[old] -= 1;
            if self.candidates[old] != OPEN {
                self.candidates[old] -= 1;
            }
        }
    }

    fn collect(&mut self) {
        let least = self.candidates.iter().min().copied().unwrap_or(OPEN);
        let victim = self.candidates.iter().position(|valid| *valid == least).expect("one is full");
        self.candidates[victim] = OPEN;
        let (first, mut ahead) = (victim * SUPERBLOCK, [0; AHEAD]);
        for from in (first..first + SUPERBLOCK).step_by(AHEAD) {
            ahead.copy_from_slice(&entries(&mut self.pages)[from..from + AHEAD]);
            let places = entries(&mut self.places);
            // The processor has many look-ups under way at once; copies wait for each.
            let found: u32 = ahead.iter().map(|page| places[*page as usize]).fold(0, |a, b| a ^ b);
            divan::black_box(found);
            for (place, page) in (from..).zip(ahead) {
                if entries(&mut self.places)[page as usize] as usize != place {
                    continue;
                }
                if self.copies.page == SUPERBLOCK {
                    self.candidates[self.copies.superblock] = self.valid[self.copies.superblock];
                    let superblock = self.free.pop().expect("one is kept for copies");
                    self.copies = Frontier { superblock, page: 0 };
                }
                let to = &mut self.copies;
                put(&mut self.places, &mut self.pages, &mut self.valid, to, page as usize);
            }
        }
        self.valid[victim] = 0;
        self.free.push(victim);
    }
}

fn put(
    places: &mut MmapMut,
    pages: &mut MmapMut,
    valid: &mut [u32],
    to: &mut Frontier,
    page: usize,
) {
    let place = to.superblock * SUPERBLOCK + to.page;
    entries(pages)[place] = page as u32;
    entries(places)[page] = place as u32;
    valid[to.superblock] += 1;
    to.page += 1;
}

/// So many zeros, on huge pages as those of the simulator.
fn table(length: usize) -> MmapMut {
    let memory = MmapOptions::new().len(length * size_of::<u32>()).map_anon().expect("memory");
    let _ = memory.advise(Advice::HugePage);
    memory
}

fn entries(table: &mut MmapMut) -> &mut [u32] {
    bytemuck::cast_slice_mut(table)
}
