//! The bytes of stamped blocks: made for writes, examined after reads. docs/formats.md has the layout.
//!
//! Every sector of 512 bytes stands for itself, because that is what a drive may lose or mix up. It
//! begins with a mark, the run, the byte of the drive that it was meant for, and the pass; all that
//! follows is random data made from these. So no checksum is needed: whoever reads a sector makes
//! the same data again and compares every byte, and a drive that compresses or deduplicates finds
//! next to nothing to save.

use writecliff_device::{Bytes, Held, Part, Pass, SPLIT_MIX_STEP, Stamping, split_mix};

use crate::stream::{LANES, SECTOR, fill_fastest};

/// What is made in one go, aligned on the drive.
const UNIT: usize = 4096;
const MARK: [u8; 8] = *b"WRTCLIF1";
/// Where the random data of a sector begin.
const HEADER: usize = 26;

/// Makes and examines the stamped blocks of one run.
#[derive(Debug)]
pub struct Stamper {
    stamping: Stamping,
    /// What was made last for an examination, and of what.
    made: Box<[u8; UNIT]>,
    made_of: Option<(u64, Pass)>,
    parts: Vec<Part>,
    found: Vec<Held>,
}

impl Stamper {
    /// Of the run whose number and block size the stamping tells.
    pub fn new(stamping: Stamping) -> Self {
        let (made, parts, found) = (Box::new([0; UNIT]), Vec::new(), Vec::new());
        Self { stamping, made, made_of: None, parts, found }
    }

    /// Fills a buffer with the blocks from `offset` on, as they are in this pass.
    pub fn fill(&self, offset: Bytes, pass: Pass, buffer: &mut [u8]) {
        for (unit, bytes) in (offset.0..).step_by(UNIT).zip(buffer.as_chunks_mut::<UNIT>().0) {
            make(self.stamping.run, unit, pass, bytes);
        }
    }

    /// Finds out what the blocks from `offset` on hold.
    pub fn look(&mut self, offset: Bytes, buffer: &[u8]) {
        let block = self.stamping.block.0 as usize;
        for (begins, bytes) in (offset.0..).step_by(block).zip(buffer.chunks_exact(block)) {
            let held = self.held(begins, bytes);
            self.found.push(held);
        }
    }

    /// Hands over what was found since the last time.
    pub fn take(&mut self, found: &mut Vec<Held>) {
        found.append(&mut self.found);
    }

    fn held(&mut self, begins: u64, block: &[u8]) -> Held {
        self.parts.clear();
        for (within, sector) in (0..).step_by(SECTOR).zip(block.as_chunks::<SECTOR>().0) {
            let part = self.part(within, sector);
            self.parts.push(part);
        }
        Held::of_parts(Bytes(begins), 1, &self.parts)
    }

    /// What a sector holds that lies so far within its block.
    fn part(&mut self, within: u64, sector: &[u8; SECTOR]) -> Part {
        let Some(Header { run, meant_for, pass }) = Header::of(sector) else {
            return match sector.iter().all(|&byte| byte == 0) {
                true => Part::Zeros,
                false => Part::Unstamped,
            };
        };
        if !is_whole(self.made(run, meant_for, pass), meant_for, sector) {
            return Part::Damaged;
        }
        match run == self.stamping.run {
            true => Part::Stamped { offset: Bytes(meant_for.saturating_sub(within)), pass },
            false => Part::AnotherRun,
        }
    }

    /// The unit that a sector was a part of.
    fn made(&mut self, run: u64, meant_for: u64, pass: Pass) -> &[u8; UNIT] {
        let unit = meant_for / UNIT as u64 * UNIT as u64;
        if run != self.stamping.run {
            make(run, unit, pass, &mut self.made);
            self.made_of = None;
        } else if self.made_of != Some((unit, pass)) {
            make(run, unit, pass, &mut self.made);
            self.made_of = Some((unit, pass));
        }
        &self.made
    }
}

/// Whether a sector is the one of this unit that its header says.
fn is_whole(unit: &[u8; UNIT], meant_for: u64, sector: &[u8; SECTOR]) -> bool {
    let begins = meant_for as usize % UNIT;
    unit.get(begins..begins + SECTOR).is_some_and(|made| made == sector)
}

/// What a sector says of itself.
struct Header {
    run: u64,
    /// The byte of the drive.
    meant_for: u64,
    pass: Pass,
}

impl Header {
    /// `None` if it begins otherwise than a stamped one.
    fn of(sector: &[u8; SECTOR]) -> Option<Self> {
        let (words, rest) = sector.as_chunks::<8>();
        let [mark, run, meant_for, last, ..] = words else { return None };
        debug_assert!(rest.is_empty());
        let pass = Pass::new(u16::from_le_bytes([last[0], last[1]]))?;
        let (run, meant_for) = (u64::from_le_bytes(*run), u64::from_le_bytes(*meant_for));
        (*mark == MARK).then_some(Self { run, meant_for, pass })
    }

    fn write(&self, sector: &mut [u8; SECTOR]) {
        sector[..8].copy_from_slice(&MARK);
        sector[8..16].copy_from_slice(&self.run.to_le_bytes());
        sector[16..24].copy_from_slice(&self.meant_for.to_le_bytes());
        sector[24..HEADER].copy_from_slice(&self.pass.get().to_le_bytes());
    }
}

/// Makes the 4 KiB that begin at this byte of the drive: random data of run, place and pass, over
/// which every sector's header is laid.
fn make(run: u64, begins: u64, pass: Pass, bytes: &mut [u8; UNIT]) {
    let seed = split_mix(run ^ split_mix(begins ^ split_mix(u64::from(pass.get()))));
    let lane =
        |index: usize| split_mix(seed.wrapping_add(SPLIT_MIX_STEP.wrapping_mul(index as u64)));
    let mut lanes = std::array::from_fn::<u64, LANES, _>(|index| lane(index).max(1));
    fill_fastest(&mut lanes, bytes);
    for (meant_for, sector) in (begins..).step_by(SECTOR).zip(bytes.as_chunks_mut::<SECTOR>().0) {
        Header { run, meant_for, pass }.write(sector);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: Bytes = Bytes(4096);
    const HERE: Bytes = Bytes(40 * 4096);

    fn pass(number: u16) -> Pass {
        Pass::new(number).unwrap()
    }

    fn stamper(run: u64) -> Stamper {
        Stamper::new(Stamping { run, block: BLOCK })
    }

    fn written(run: u64, offset: Bytes, number: u16) -> Vec<u8> {
        let mut buffer = vec![0; 4096];
        stamper(run).fill(offset, pass(number), &mut buffer);
        buffer
    }

    /// What run 1 finds at a place.
    fn found(block: &[u8]) -> Held {
        let mut stamper = stamper(1);
        stamper.look(HERE, block);
        let mut found = Vec::new();
        stamper.take(&mut found);
        found[0]
    }

    #[test]
    fn each_kind_is_told_apart() {
        let (new, old) = (written(1, HERE, 9), written(1, HERE, 8));
        assert_eq!(found(&new), Held::Stamped { offset: HERE, pass: pass(9) });
        assert_eq!(found(&old), Held::Stamped { offset: HERE, pass: pass(8) });
        let there = Bytes(7 * 4096);
        let misplaced = Held::Stamped { offset: there, pass: pass(9) };
        assert_eq!(found(&written(1, there, 9)), misplaced);
        assert_eq!(found(&written(2, HERE, 9)), Held::AnotherRun);
        assert_eq!(found(&[0; 4096]), Held::Zeros);
        assert_eq!(found(&[7; 4096]), Held::Unstamped);
        let torn = [&new[..2048], &old[2048..]].concat();
        assert_eq!(found(&torn), Held::Torn { oldest: Some(pass(8)), newest: pass(9) });
        let half = [&new[..512], &[0; 3584][..]].concat();
        assert_eq!(found(&half), Held::Torn { oldest: None, newest: pass(9) });
    }

    #[test]
    fn no_bit_of_a_block_can_flip_unseen() {
        let block = written(1, HERE, 9);
        for bit in 0..block.len() * 8 {
            let mut flipped = block.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let sector = (bit / 8 / SECTOR) as u32;
            assert_eq!(found(&flipped), Held::Damaged { sector }, "bit {bit}");
        }
    }

    #[test]
    fn what_is_shifted_by_less_than_a_block_is_misplaced_by_so_much() {
        let mut stamper = stamper(1);
        let mut two = vec![0; 8192];
        stamper.fill(Bytes(1 << 20), pass(3), &mut two);
        stamper.look(HERE, &two[512..512 + 4096]);
        let mut held = Vec::new();
        stamper.take(&mut held);
        assert_eq!(held, [Held::Stamped { offset: Bytes((1 << 20) + 512), pass: pass(3) }]);
    }

    #[test]
    fn larger_blocks_are_looked_at_as_one() {
        let block = Bytes(16384);
        let mut stamper = Stamper::new(Stamping { run: 1, block });
        let mut buffer = vec![0; 3 * 16384];
        stamper.fill(block, pass(3), &mut buffer);
        buffer[16384 + 9000] ^= 4;
        stamper.look(block, &buffer);
        let mut held = Vec::new();
        stamper.take(&mut held);
        let whole = |index| Held::Stamped { offset: block * index, pass: pass(3) };
        assert_eq!(held, [whole(1), Held::Damaged { sector: 17 }, whole(3)]);
    }

    #[test]
    fn neither_a_compressor_nor_a_deduplicator_finds_much() {
        let stamper = stamper(1);
        let mut data = vec![0; 1 << 20];
        stamper.fill(Bytes::ZERO, pass(1), &mut data);
        let packed = zstd::bulk::compress(&data, 19).unwrap();
        assert!(packed.len() > data.len() * 95 / 100, "{} bytes", packed.len());
        let later = written(1, Bytes::ZERO, 2);
        let equal = later.chunks(16).zip(data.chunks(16)).filter(|(a, b)| a == b).count();
        assert!(equal <= 8, "{equal} of 256 pieces are those of the pass before");
    }
}
