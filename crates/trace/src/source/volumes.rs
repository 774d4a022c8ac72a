//! The volumes of a trace: each has offsets of its own, and a trace has one range of them.

use std::collections::HashMap;
use std::fmt;

use super::event::{DeviceNumber, Event, What};
use super::names::Names;

/// How many devices are told apart.
const DEVICES_MAX: usize = 1 << 16;

/// A volume, and how much of the trace is its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Volume {
    /// What [`SourceOptions::stream`](super::SourceOptions::stream) calls it.
    pub name: String,
    /// How many operations were asked of it.
    pub operations: u64,
}

impl fmt::Display for Volume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, operations } = self;
        write!(f, "{name} ({operations} operation{})", if *operations == 1 { "" } else { "s" })
    }
}

/// Operations counted by volume, while the trace is read.
#[derive(Default)]
pub(super) struct Volumes {
    /// By the stream's number, where each stream is a volume.
    streams: Vec<u64>,
    /// Where events of the kernel tell the device.
    devices: Vec<Device>,
    places: HashMap<DeviceNumber, usize>,
    /// Of the device asked last, which is often the next one too.
    last: Option<usize>,
}

struct Device {
    number: DeviceNumber,
    requests: u64,
    /// Operations only if there are no requests, as in pairing.
    bios: u64,
}

impl Volumes {
    /// An operation of a format whose streams are volumes.
    #[inline]
    pub(super) fn add_stream(&mut self, stream: u16) {
        let stream = usize::from(stream);
        if stream >= self.streams.len() {
            self.streams.resize(stream + 1, 0);
        }
        self.streams[stream] += 1;
    }

    /// An event of the kernel; what is given back and issued again counts once.
    #[inline]
    pub(super) fn add_event(&mut self, event: &Event) {
        if event.what.is_completion() {
            return;
        }
        let Some(device) = self.device(event.device) else { return };
        match event.what {
            What::Issued => device.requests += 1,
            What::Requeued => device.requests = device.requests.saturating_sub(1),
            _ => device.bios += 1,
        }
    }

    fn device(&mut self, number: DeviceNumber) -> Option<&mut Device> {
        let last = self.last.filter(|last| self.devices[*last].number == number);
        let place = match last.or_else(|| self.places.get(&number).copied()) {
            Some(place) => place,
            None if self.devices.len() == DEVICES_MAX => return None,
            None => {
                self.devices.push(Device { number, requests: 0, bios: 0 });
                self.places.insert(number, self.devices.len() - 1);
                self.devices.len() - 1
            }
        };
        self.last = Some(place);
        self.devices.get_mut(place)
    }

    /// Those with operations, the largest first; none if there is only one.
    pub(super) fn several(&self, names: &Names) -> Vec<Volume> {
        let volume = |name: String, operations| Volume { name, operations };
        let streams = names.list().iter().zip(&self.streams);
        let streams = streams.map(|(name, operations)| volume(name.clone(), *operations));
        let devices = self.devices.iter().map(|device| {
            let Device { number, requests, bios } = *device;
            volume(number.to_string(), if requests > 0 { requests } else { bios })
        });
        let mut volumes: Vec<Volume> =
            streams.chain(devices).filter(|volume| volume.operations > 0).collect();
        volumes.sort_by_key(|volume| std::cmp::Reverse(volume.operations));
        if volumes.len() > 1 { volumes } else { Vec::new() }
    }
}
