//! Damage of every kind, done to made drives and to real ones.

use writecliff_admin::ask;

use super::scsi::scsi_drive;
use super::{Given, ata_drive, nvme_drive, recorded};

/// Every byte of every answer at random: never a panic, and text that no terminal takes for orders.
/// A million damaged drives at night.
#[test]
fn damaged_answers_are_read_or_left_out() {
    let is_night = std::env::var_os("WRITECLIFF_NIGHTLY").is_some();
    let rounds = if is_night { 1_000_000 } else { 20_000 };
    let made = [nvme_drive(), ata_drive("Crucial_CT480M500SSD1"), scsi_drive()];
    let real = recorded::DRIVES.iter().map(|(_, text)| recorded::read(text));
    let drives: Vec<Given> = made.into_iter().chain(real).collect();
    let mut random = Random(7);
    for round in 0..rounds {
        let mut drive = drives[round % drives.len()].clone();
        damage(&mut drive, &mut random);
        let Ok(facts) = ask(&mut drive) else { continue };
        let lines = facts.lines();
        assert!(lines.iter().all(|(_, words)| !words.contains('\u{1b}')), "{lines:?}");
    }
}

/// Numbers of a generator by shifts (xorshift64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

/// Bytes of its answers become others, results and registers too, and now and then a short answer
/// ends sooner.
fn damage(drive: &mut Given, random: &mut Random) {
    drive.ata_power_mode = (random.below(8) == 0).then(|| random.next() as u16);
    for (_, _, result) in &mut drive.nvme {
        *result = random.next() as u32;
    }
    for (_, answer) in &mut drive.scsi {
        if random.below(16) == 0 {
            answer.truncate(random.below(answer.len() + 1));
        }
    }
    let pages = drive.nvme.iter_mut().map(|(_, page, _)| page);
    let pages = pages.chain(drive.ata.iter_mut().map(|(_, page)| page));
    let pages = pages.chain(drive.scsi.iter_mut().map(|(_, page)| page));
    let mut pages: Vec<_> = pages.filter(|page| !page.is_empty()).collect();
    for _ in 0..1 + random.below(300) {
        let which = random.below(pages.len());
        let page = &mut pages[which];
        let at = random.below(page.len());
        page[at] = random.next() as u8;
    }
    for (_, page) in &mut drive.ata {
        let sum = page.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        page[511] = page[511].wrapping_sub(sum);
    }
}
