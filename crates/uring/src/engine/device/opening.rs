//! What a drive is opened as: its options, its facts, its ring.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rustix::io::Errno;
use writecliff_content::ContentStream;
use writecliff_device::{
    Bytes, Device, DeviceError, DeviceInfo, DeviceKind, DeviceTime, Io, Lanes, Purge,
};

use super::{Slot, UringDevice};
use crate::drive::controller::Controller;
use crate::drive::gauges::Gauges;
use crate::drive::health::Asker;
use crate::drive::identity::Identity;
use crate::drive::purge::background::StillRunning;
use crate::drive::purge::{discard, firmware};
use crate::engine::calls::Calls;
use crate::engine::lanes;
use crate::engine::options::{IO_SIZE_MAX, Options, QUEUE_DEPTH_MAX};
use crate::engine::pauses::Pauses;
use crate::engine::ring::{Ring, RingError};
use crate::guard::error::OpenError;
use crate::guard::sentry::Sentry;

/// A drive that was opened, and what is known of it.
pub(crate) struct Opened {
    pub(crate) file: File,
    pub(crate) identity: Identity,
    pub(crate) gauges: Gauges,
    /// Of a whole disk that answers to commands of its own.
    pub(crate) controller: Option<Controller>,
}

impl UringDevice {
    /// A device that can only be read.
    pub(crate) fn read_only(drive: Opened, options: &Options) -> Result<Self, OpenError> {
        Self::new(drive, options, None)
    }

    /// A device whose data may be destroyed: the guard and the consent have been passed.
    pub(crate) fn writable(
        drive: Opened,
        options: &Options,
        sentry: Sentry,
    ) -> Result<Self, OpenError> {
        Self::new(drive, options, Some(sentry))
    }

    fn new(drive: Opened, options: &Options, sentry: Option<Sentry>) -> Result<Self, OpenError> {
        let Opened { file, identity, mut gauges, controller } = drive;
        options.check(&identity)?;
        let by_system = if sentry.is_some() { by_system(&file, &identity) } else { None };
        let purges = match &sentry {
            Some(_) => purges(&identity, by_system, controller.as_ref(), options.purge)?,
            None => Vec::new(),
        };
        let depth = options.queue_depth;
        let ring = Ring::new(&file, depth, options.io_size_max.0 as usize, options.poll)
            .map_err(|error| ring_error(error, &identity, options))?;
        gauges.presence.note(&file);
        let info = DeviceInfo {
            temperature_limit: gauges.temperature_limit(),
            link: controller.as_ref().and_then(|controller| controller.facts.link),
            trim: by_system.is_some(),
            ..describe(&identity, options, purges)
        };
        let mut device = Self::idle(info, identity.path, file, (ring, options.seed), gauges);
        device.asked = sentry.as_ref().map_or_else(Arc::default, Sentry::account);
        device.sentry = sentry.map(Arc::new);
        device.asker =
            controller.as_ref().and_then(|controller| Asker::of(controller.port.again().ok()?));
        device.controller = controller;
        Ok(device)
    }

    /// One that nobody guards, with nothing in flight.
    fn idle(
        info: DeviceInfo,
        path: PathBuf,
        file: File,
        (ring, seed): (Ring, u64),
        gauges: Gauges,
    ) -> Self {
        let depth = info.queue_depth_max;
        Self {
            info,
            path,
            file,
            sentry: None,
            wrote: Arc::default(),
            asked: Arc::default(),
            ring,
            seed,
            content: ContentStream::new(seed),
            stamper: None,
            looks: Vec::new(),
            slots: vec![Slot { io: Io::flush(), submitted: DeviceTime(0) }; depth],
            free: (0..depth).rev().collect(),
            queued: Vec::with_capacity(depth),
            calls: Calls::default(),
            answered: Vec::new(),
            gauges,
            worked: false,
            handed_over: DeviceTime(0),
            pauses: Pauses::default(),
            lanes: 0,
            controller: None,
            asker: None,
            purging: StillRunning::default(),
            encryption: None,
        }
    }

    /// A device on the same open file, for one more thread.
    fn lane(&mut self, queue_depth: usize) -> Result<Self, DeviceError> {
        let file = self.stepping("opening a way into it for one more thread", File::try_clone)?;
        let io_size_max = self.info.io_size_max.0 as usize;
        let ring = Ring::new(&file, queue_depth, io_size_max, self.ring.is_polled())
            .map_err(|error| self.lost("preparing buffers for one more thread", error.into()))?;
        self.lanes += 1;
        let seed = lanes::seed(self.seed, self.lanes);
        let (info, path) = (lanes::info(&self.info, queue_depth), self.path.clone());
        let mut lane = Self::idle(info, path, file, (ring, seed), self.gauges.of_lane());
        (lane.sentry, lane.wrote) = (self.sentry.clone(), Arc::clone(&self.wrote));
        lane.asked = lane.sentry.as_ref().map_or_else(Arc::default, |sentry| sentry.account());
        Ok(lane)
    }
}

impl Lanes for UringDevice {
    fn hardware_queues(&self) -> usize {
        self.gauges.hardware_queues
    }

    fn open(&mut self, queue_depth: usize) -> Result<Box<dyn Device + Send>, DeviceError> {
        Ok(Box::new(self.lane(queue_depth)?))
    }
}

/// What a drive can be opened as, at most.
pub(crate) fn outline(identity: &Identity, gauges: &Gauges) -> DeviceInfo {
    let purges = match identity.kind {
        DeviceKind::File => vec![Purge::HolePunch],
        _ if identity.discard_max > Bytes::ZERO => vec![Purge::Discard],
        _ => Vec::new(),
    };
    let most = Options {
        queue_depth: QUEUE_DEPTH_MAX,
        io_size_max: IO_SIZE_MAX,
        seed: 0,
        purge: None,
        poll: false,
    };
    let temperature_limit = gauges.temperature_limit();
    let trim = !purges.is_empty();
    DeviceInfo { temperature_limit, trim, ..describe(identity, &most, purges) }
}

/// The system's way to empty it, if that works here; what can be purged this way can be trimmed in
/// parts. Whether a filesystem can punch holes shows past the file's end, where there is nothing to
/// lose.
fn by_system(file: &File, identity: &Identity) -> Option<Purge> {
    let past_end = identity.capacity.0.next_multiple_of(1 << 20) + (1 << 20);
    match identity.kind {
        DeviceKind::File if discard::punch_hole(file, past_end, 4096).is_ok() => {
            Some(Purge::HolePunch)
        }
        DeviceKind::BlockDevice if identity.discard_max > Bytes::ZERO => Some(Purge::Discard),
        _ => None,
    }
}

/// The purges that a run may use, the best first: the one that was chosen, or the drive's own that
/// nothing is in the way of, and then the system's.
fn purges(
    identity: &Identity,
    by_system: Option<Purge>,
    controller: Option<&Controller>,
    chosen: Option<Purge>,
) -> Result<Vec<Purge>, OpenError> {
    let Some(how) = chosen else {
        let offers = controller.map_or(&[][..], |controller| &controller.facts.purges).iter();
        let free = offers.filter(|offer| offer.hindrances.is_empty()).map(|offer| offer.kind);
        let usable = free.filter(|how| how.is_the_drives_own() && !how.is_by_name_only());
        return Ok(usable.chain(by_system).collect());
    };
    let why = match controller {
        _ if by_system == Some(how) => return Ok(vec![how]),
        Some(controller) if how.is_the_drives_own() => {
            match firmware::offer(&controller.facts, how) {
                Ok(_) => return Ok(vec![how]),
                Err(why) => why,
            }
        }
        _ if how.is_the_drives_own() => {
            "that is a command of a whole drive, which speaks NVMe or ATA and which only root may \
             give it"
                .to_owned()
        }
        _ => "the system has no such way for it".to_owned(),
    };
    Err(OpenError::NoPurge { path: identity.path.clone(), how, why })
}

fn describe(identity: &Identity, options: &Options, purges: Vec<Purge>) -> DeviceInfo {
    let address = identity.path.display().to_string();
    DeviceInfo {
        model: identity.model.clone().unwrap_or_else(|| address.clone()),
        serial: identity.serial.clone(),
        world_wide_name: identity.world_wide_name.clone(),
        stands_on: identity.stands_on.clone(),
        firmware: identity.firmware.clone(),
        lba_size: identity.lba_size,
        physical_block_size: identity.physical_block_size,
        io_size_max: options.io_size_max,
        queue_depth_max: options.queue_depth,
        rotational: identity.rotational,
        purges,
        scheduler: identity.scheduler.clone(),
        write_cache: identity.write_cache.clone(),
        ..DeviceInfo::of(address, identity.kind, identity.capacity)
    }
}

fn ring_error(error: RingError, identity: &Identity, options: &Options) -> OpenError {
    let out_of_memory = |error: &io::Error| Errno::from_io_error(error) == Some(Errno::NOMEM);
    match error {
        RingError::LockedMemory(source) if out_of_memory(&source) => OpenError::LockedMemory {
            needed: options.io_size_max * options.queue_depth as u64,
            source,
        },
        RingError::Unavailable(source) => OpenError::RingUnavailable { source },
        RingError::LockedMemory(source) | RingError::Memory(source) => OpenError::System {
            path: identity.path.clone(),
            doing: "preparing its buffers",
            source,
        },
    }
}
