//! What members have behind them when an array begins: each something else, so that they do not march in
//! step.
//!
//! Drives of one profile that get their parts of one load would collect garbage in the same moments. No
//! drives do: they were tested, and had other blocks to begin with. So member `i` of `n` has written, and
//! trimmed, `i / n` of a superblock; the first one is as new.

use writecliff_device::{Bytes, DeviceError, DeviceTime, Io};
use writecliff_sim::Model;

const BLOCK: u64 = 128 << 10;

/// Gives a fresh drive its past: `share` of what is `superblock`.
pub(crate) fn give(
    model: &mut dyn Model,
    superblock: Bytes,
    (of, all): (usize, usize),
) -> Result<(), DeviceError> {
    let most = superblock.0.min(model.info().capacity.0 / 2);
    let length = most * of as u64 / all as u64 / BLOCK * BLOCK;
    if length == 0 {
        return Ok(());
    }
    for offset in (0..length).step_by(BLOCK as usize) {
        do_one(model, Io::write(Bytes(offset), Bytes(BLOCK)))?;
    }
    if model.info().trim {
        do_one(model, Io::trim(Bytes::ZERO, Bytes(length)))?;
    }
    do_one(model, Io::flush())
}

fn do_one(model: &mut dyn Model, io: Io) -> Result<(), DeviceError> {
    model.submit(&[io])?;
    let mut done = Vec::new();
    while done.is_empty() {
        model.reap(DeviceTime::MAX, &mut done)?;
    }
    Ok(())
}
