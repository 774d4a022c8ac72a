//! How fast a processor of this machine encrypts as dm-crypt does: for hosts of simulated drives, which
//! have no processor of their own. A stopwatch; nothing is protected by it.

use std::hint::black_box;
use std::time::{Duration, Instant};

use aes::Aes256;
use aes::cipher::{Block, BlockCipherEncrypt, KeyInit};
use writecliff_device::{Bytes, Throughput};

/// What dm-crypt encrypts by itself, unless it is told otherwise.
const SECTOR: usize = 512;
const BLOCK: usize = 16;
/// A turn is as much as a processor keeps near itself.
const TURN: usize = 64 * SECTOR;
/// The best of some turns of this length: a busy machine is slower, and none is faster than it is.
const SPELL: Duration = Duration::from_millis(50);
const SPELLS: usize = 20;
/// Finer than this the figure would be another one each time.
const STEP: u64 = 100_000_000;

/// What one processor of this machine encrypts with AES-256 in XTS mode, in sectors of 512 bytes,
/// rounded to 100 MB/s. Takes a second.
pub fn cipher_throughput() -> Throughput {
    let cipher = Xts::new(&[1; 32], &[2; 32]);
    let mut data = vec![0; TURN];
    let best = (0..SPELLS).map(|_| spell(&cipher, &mut data)).max().unwrap_or_default();
    Throughput((best / STEP).max(1) * STEP)
}

/// Bytes a second over one spell.
fn spell(cipher: &Xts, data: &mut [u8]) -> u64 {
    let (begun, mut bytes) = (Instant::now(), Bytes::ZERO);
    while begun.elapsed() < SPELL {
        for (nth, sector) in data.chunks_exact_mut(SECTOR).enumerate() {
            cipher.encrypt(sector, nth as u64);
        }
        black_box(&mut *data);
        bytes += Bytes(TURN as u64);
    }
    (bytes.0 as f64 / begun.elapsed().as_secs_f64()) as u64
}

/// AES-256-XTS (IEEE 1619) of whole blocks, with a sector's number as its tweak ("plain64").
struct Xts {
    data: Aes256,
    tweak: Aes256,
}

impl Xts {
    fn new(data: &[u8; 32], tweak: &[u8; 32]) -> Self {
        Self { data: Aes256::new(data.into()), tweak: Aes256::new(tweak.into()) }
    }

    /// # Panics
    /// If the data are longer than a sector, or no whole blocks.
    fn encrypt(&self, sector: &mut [u8], number: u64) {
        let mut blocks = [Block::<Aes256>::default(); SECTOR / BLOCK];
        let mut tweaks = [0u128; SECTOR / BLOCK];
        let mut tweak = self.first_tweak(number);
        let count = sector.len() / BLOCK;
        for (nth, data) in sector.chunks_exact(BLOCK).enumerate() {
            tweaks[nth] = tweak;
            let data = u128::from_le_bytes(data.try_into().unwrap_or_default());
            blocks[nth] = (data ^ tweak).to_le_bytes().into();
            tweak = doubled(tweak);
        }
        self.data.encrypt_blocks(&mut blocks[..count]);
        for (nth, data) in sector.chunks_exact_mut(BLOCK).enumerate() {
            let block = u128::from_le_bytes(blocks[nth].into());
            data.copy_from_slice(&(block ^ tweaks[nth]).to_le_bytes());
        }
    }

    fn first_tweak(&self, number: u64) -> u128 {
        let mut block: Block<Aes256> = u128::from(number).to_le_bytes().into();
        self.tweak.encrypt_block(&mut block);
        u128::from_le_bytes(block.into())
    }
}

/// Times α in the field of 2^128 elements.
fn doubled(tweak: u128) -> u128 {
    (tweak << 1) ^ if tweak >> 127 == 1 { 0x87 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vector 10 of IEEE 1619-2007: XTS-AES-256, 512 bytes, data unit ff; its first and last bytes.
    #[test]
    fn the_standard_s_own_vector_comes_out() {
        let key = |hex: &str| -> [u8; 32] {
            let byte = |at: usize| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap();
            std::array::from_fn(byte)
        };
        let data = key("2718281828459045235360287471352662497757247093699959574966967627");
        let tweak = key("3141592653589793238462643383279502884197169399375105820974944592");
        let mut sector: Vec<u8> = (0..SECTOR).map(|at| at as u8).collect();
        Xts::new(&data, &tweak).encrypt(&mut sector, 0xff);
        let begins = [0x1c, 0x3b, 0x3a, 0x10, 0x2f, 0x77, 0x03, 0x86];
        assert_eq!(sector[..8], begins, "{:02x?}", &sector[..16]);
        let ends = [0xb9, 0xc6, 0xe6, 0x93, 0xe1, 0x48, 0xc1, 0x51];
        assert_eq!(sector[SECTOR - 8..], ends, "{:02x?}", &sector[SECTOR - 16..]);
    }

    #[test]
    fn this_machine_encrypts_at_some_rate() {
        let cipher = Xts::new(&[1; 32], &[2; 32]);
        let mut data = vec![0; TURN];
        assert!(spell(&cipher, &mut data) > 1_000_000);
    }
}
