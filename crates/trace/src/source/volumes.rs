//! The volumes of a trace: each has offsets of its own, and a trace has one range of them.

use std::collections::HashMap;

use super::names::Names;
use crate::kernel::DeviceNumber;
use crate::volume::Volume;

/// How many devices are told apart.
const DEVICES_MAX: usize = 1 << 16;

/// Operations counted by volume, while the trace is read.
#[derive(Default)]
pub(super) struct Volumes {
    /// By the stream's number, where each stream is a volume.
    streams: Vec<u64>,
    /// Where events of the kernel tell the device.
    devices: Vec<(DeviceNumber, u64)>,
    places: HashMap<DeviceNumber, usize>,
    /// Of the device asked last, which is often the next one too.
    last: Option<usize>,
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

    /// An operation that events of the kernel told; of more devices than are told apart, none.
    #[inline]
    pub(super) fn add_device(&mut self, number: DeviceNumber) {
        let last = self.last.filter(|last| self.devices[*last].0 == number);
        let place = match last.or_else(|| self.places.get(&number).copied()) {
            Some(place) => place,
            None if self.devices.len() == DEVICES_MAX => return,
            None => {
                self.devices.push((number, 0));
                self.places.insert(number, self.devices.len() - 1);
                self.devices.len() - 1
            }
        };
        self.last = Some(place);
        self.devices[place].1 += 1;
    }

    /// Those with operations, the largest first; none if there is only one.
    pub(super) fn several(&self, names: &Names) -> Vec<Volume> {
        let volume = |name: String, operations| Volume { name, operations };
        let streams = names.list().iter().zip(&self.streams);
        let streams = streams.map(|(name, operations)| volume(name.clone(), *operations));
        let devices = self.devices.iter();
        let devices = devices.map(|(number, operations)| volume(number.to_string(), *operations));
        let mut volumes: Vec<Volume> =
            streams.chain(devices).filter(|volume| volume.operations > 0).collect();
        volumes.sort_by_key(|volume| std::cmp::Reverse(volume.operations));
        if volumes.len() > 1 { volumes } else { Vec::new() }
    }
}
