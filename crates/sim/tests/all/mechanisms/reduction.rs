//! Compression and elimination of duplicates: NAND writes are the share that is stored.

use writecliff_device::Content;
use writecliff_sim::Reduction;

use crate::mechanisms::*;

/// NAND writes for each write of data of this kind.
fn stored(reduction: &Reduction, compressible_percent: u8, duplicate_percent: u8) -> f64 {
    let mut profile = tiny();
    profile.reduction = reduction.clone();
    let mut drive = Drive::new(profile);
    let content = Content { compressible_percent, duplicate_percent };
    drive.amplification(|drive| {
        for first in (0..4000).step_by(20) {
            drive.time(write(first, 20).with_content(content));
        }
    })
}

#[test]
fn what_compresses_or_repeats_is_not_written() {
    let with = |compression, deduplication| Reduction {
        compression,
        deduplication,
        stored_percent_min: 10,
    };
    let (compression, deduplication) = (with(true, false), with(false, true));
    let both = with(true, true);
    for (compressible, duplicate, expected) in
        [(0, 0, [1.0; 4]), (50, 0, [1.0, 0.5, 1.0, 0.5]), (0, 75, [1.0, 1.0, 0.25, 0.25])]
    {
        let none = Reduction::default();
        let measured = [&none, &compression, &deduplication, &both]
            .map(|options| stored(options, compressible, duplicate));
        assert_eq!(measured, expected);
    }
    assert_eq!(stored(&both, 50, 50), 0.25);
}

#[test]
fn something_is_left_of_any_data() {
    for stored_percent_min in [0, 10, 40] {
        let compression = Reduction { compression: true, deduplication: false, stored_percent_min };
        assert_eq!(stored(&compression, 100, 0), f64::from(stored_percent_min) / 100.0);
    }
}

#[test]
fn a_page_stored_within_another_is_read_from_nand_and_lowers_write_amplification() {
    let mut profile = tiny();
    profile.reduction.compression = true;
    let half = Content { compressible_percent: 50, duplicate_percent: 0 };
    let mut drive = Drive::new(profile.clone());
    for page in 0..drive.pages() {
        drive.time(write(page, 1).with_content(half));
    }
    drive.idle(Nanos::from_secs(1));
    assert!((0..20).all(|page| drive.read(page) == mapped_read(&profile)));
    // The data fill only 112 MiB of 256: greedy collection with large superblocks then leaves a
    // share v of valid pages to copy with ln v = -(1 - v) / fill.
    let fill = 112.0 / 256.0;
    let copied = (0..100).fold(0.0_f64, |v, _| (-(1.0 - v) / fill).exp());
    let (pages, mut random) = (drive.pages(), dice(5));
    let mut write_all = |drive: &mut Drive| {
        (0..pages).for_each(|_| _ = drive.time(write(random(pages), 1).with_content(half)));
    };
    write_all(&mut drive);
    let amplification = drive.amplification(write_all);
    assert_close(amplification, 0.5 / (1.0 - copied), 0.03);
}
