//! Purges: what places hold before and after, and the erasing in between.

use std::io;
use std::ops::ControlFlow;

use writecliff_device::{
    Bytes, Device, DeviceError, DeviceInfo, Io, Nanos, PrepareWatch, Purge, PurgeOutcome, Status,
    split_mix,
};

use super::UringDevice;
use crate::drive::purge::background::Unfinished;
use crate::drive::purge::{discard, firmware};

/// Places that are read back after a purge.
const PURGE_SAMPLES: u64 = 64;

/// So often the watcher is asked while a place is read back after a purge.
const READ_BACK_WATCH: Nanos = Nanos::from_millis(100);

impl UringDevice {
    /// Erases everything by a way that the drive has, and looks at places before and after.
    pub(super) fn purge_and_read_back(
        &mut self,
        how: Purge,
        watch: PrepareWatch<'_>,
    ) -> Result<PurgeOutcome, DeviceError> {
        let before = self.sample(how, watch)?;
        self.ask_the_sentry()?;
        if how == Purge::Discard {
            self.asked.note(&Io::trim(Bytes::ZERO, self.info.capacity));
        }
        let ended = self.erase(how, watch);
        self.look_for_intruders()?;
        ended.map_err(|unfinished| self.unfinished(how, unfinished))?;
        let after = self.sample(how, watch)?;
        self.read_back(how, &before, after)
    }

    /// Reads evenly spread places: of each what its data hash to, `None` where there are none (every
    /// byte the same) or where it cannot be read.
    fn sample(&mut self, how: Purge, watch: PrepareWatch<'_>) -> Result<Vec<Sampled>, DeviceError> {
        let length = self.info.lba_size.0;
        let blocks = self.info.capacity.0 / length;
        let count = blocks.min(PURGE_SAMPLES);
        let place = |index| {
            let (first, next) = (blocks * index / count, blocks * (index + 1) / count);
            Bytes((first + split_mix(index) % (next - first)) * length)
        };
        let ios = (0..count).map(|index| Io::read(place(index), self.info.lba_size));
        ios.collect::<Vec<_>>().iter().map(|io| self.held_at(io, how, watch)).collect()
    }

    /// What a place holds. Read by the ring, so that the watcher can break off what the drive does not
    /// answer.
    fn held_at(
        &mut self,
        io: &Io,
        how: Purge,
        watch: PrepareWatch<'_>,
    ) -> Result<Sampled, DeviceError> {
        let slot = self.free.last().copied().unwrap_or(0);
        self.queue(io);
        let mut done = Vec::new();
        loop {
            self.reap(self.now() + READ_BACK_WATCH, &mut done)?;
            match done.pop().map(|completion| completion.status) {
                Some(Status::Done) => break,
                Some(Status::Failed(errno)) => {
                    return Ok(Sampled::Unreadable(io::Error::from_raw_os_error(errno)));
                }
                None if watch(1.0).is_break() => {
                    return Err(self.unfinished(how, Unfinished::Stopped { goes_on: false }));
                }
                None => {}
            }
        }
        let buffer = &self.ring.buffer(slot)[..io.length.0 as usize];
        Ok(match buffer.iter().all(|&byte| byte == buffer[0]) {
            true => Sampled::Nothing,
            false => Sampled::Data(hash(buffer)),
        })
    }

    /// What became of a purge that did not come to its end.
    fn unfinished(&self, how: Purge, unfinished: Unfinished) -> DeviceError {
        match self.check_presence() {
            Err(gone) => gone,
            Ok(()) => unfinished.told(self.info.address.clone(), how),
        }
    }

    /// Erases everything, while intruders are looked for.
    fn erase(&self, how: Purge, watch: PrepareWatch<'_>) -> Result<(), Unfinished> {
        let watch = &mut |share| match self.look_for_intruders() {
            Ok(()) => watch(share),
            Err(_) => ControlFlow::Break(()),
        };
        let DeviceInfo { kind, capacity, .. } = self.info;
        match (&self.controller, how) {
            (Some(controller), how) if how.is_the_drives_own() => {
                let time =
                    firmware::offer(&controller.facts, how).ok().and_then(|offer| offer.time);
                let port = controller.port.again().map_err(Unfinished::Refused)?;
                firmware::all(port, how, time, &self.purging, watch)
            }
            _ => discard::all(&self.file, kind, capacity, &self.purging, watch),
        }
    }

    /// What places held before the purge and hold now. One that returns what it held has not been
    /// erased; after a new key, or on a drive whose trimmed LBAs are anything, others may return
    /// what nobody wrote.
    fn read_back(
        &self,
        how: Purge,
        before: &[Sampled],
        after: Vec<Sampled>,
    ) -> Result<PurgeOutcome, DeviceError> {
        let sampled = after.len() as u32;
        let mut still_readable = 0;
        for (before, after) in before.iter().zip(after) {
            match (before, after) {
                (Sampled::Data(before), Sampled::Data(after)) => {
                    still_readable += u32::from(*before == after);
                }
                (_, Sampled::Unreadable(error)) => {
                    return Err(self.lost("reading back after the purge", error));
                }
                _ => {}
            }
        }
        Ok(PurgeOutcome { how, sampled, still_readable })
    }
}

/// What a place of a drive held when it was read.
enum Sampled {
    /// Every byte the same, zero mostly.
    Nothing,
    /// Something that hashes to this.
    Data(u64),
    Unreadable(io::Error),
}

/// FNV-1a: whether two places hold the same is all that is asked.
fn hash(data: &[u8]) -> u64 {
    data.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3)
    })
}
