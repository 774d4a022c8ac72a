//! What a drive was asked, as a trace: every command that the model got, with when it got it and when it
//! was complete.
//!
//! A trace is in the order of issue, and commands complete in another: what was issued waits here for its
//! completion, and for those before it. A thread of its own writes the file. So many commands may wait for
//! it; then the drive does: a trace without some of them would be of another load, and answers that are late
//! for it are counted as late.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{SystemTime, UNIX_EPOCH};

use writecliff_device::{Bytes, Completion, DeviceInfo, DeviceTime, Io, Operation};
use writecliff_trace::{Existing, Header, Summary, TraceIo, TraceWriter, WriteError};

/// So many commands may wait to be written: some seconds of the fastest drives, in some megabytes.
const COMMANDS_WAITING_MAX: usize = 1 << 17;

/// A trace that is being recorded.
pub(crate) struct Recording {
    to: SyncSender<TraceIo>,
    begun: DeviceTime,
    /// Commands in the order of their issue, from the first that is not complete; complete or not.
    waiting: VecDeque<(TraceIo, bool)>,
    /// How many went to the file before those.
    written: u64,
    /// Of each slot which command it has, counted from the first.
    by_slot: Vec<u64>,
}

/// The thread that writes the file.
pub(crate) struct Scribe {
    path: PathBuf,
    thread: JoinHandle<Result<Summary, WriteError>>,
}

impl Recording {
    /// Begins a new file for what is asked of this drive from `now` on.
    pub(crate) fn begin(
        path: &Path,
        drive: &DeviceInfo,
        now: DeviceTime,
    ) -> Result<(Self, Scribe), WriteError> {
        let writer = TraceWriter::create(path, Existing::Stays)?;
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let header = Header {
            source: format!("{} (simulated {})", drive.address, drive.model),
            recorded_by: "writecliff export".to_owned(),
            clock: Some("the simulated drive's own".to_owned()),
            began_unix_ns: since.ok().and_then(|since| u64::try_from(since.as_nanos()).ok()),
            device_size: Some(drive.capacity),
            ..Header::default()
        };
        let (to, from) = sync_channel(COMMANDS_WAITING_MAX);
        let thread = thread::spawn(move || write(writer, &from, &header));
        let (waiting, by_slot) = (VecDeque::new(), Vec::new());
        let recording = Self { to, begun: now, waiting, written: 0, by_slot };
        Ok((recording, Scribe { path: path.to_owned(), thread }))
    }

    /// The model gets this, as one of so many in flight.
    pub(crate) fn issued(&mut self, io: &Io, now: DeviceTime, in_flight: usize) {
        let slot = usize::from(io.slot);
        if self.by_slot.len() <= slot {
            self.by_slot.resize(slot + 1, 0);
        }
        self.by_slot[slot] = self.written + self.waiting.len() as u64;
        let (offset, length) = match io.operation {
            Operation::Flush => (Bytes::ZERO, Bytes::ZERO),
            _ => (io.offset, io.length),
        };
        let issued = now.since(self.begun);
        let command = TraceIo::new(issued, io.operation, offset, length);
        let queue_depth = u32::try_from(in_flight).ok();
        self.waiting.push_back((TraceIo { queue_depth, ..command }, false));
    }

    /// One of these is complete.
    pub(crate) fn completed(&mut self, completion: &Completion) {
        let number = self.by_slot[usize::from(completion.io.slot)];
        let (command, is_complete) = &mut self.waiting[(number - self.written) as usize];
        // What has failed has no completion.
        if completion.errno().is_none() {
            command.completed = Some(completion.completed.since(self.begun));
        }
        *is_complete = true;
        while let Some((command, _)) = self.waiting.pop_front_if(|(_, is_complete)| *is_complete) {
            self.send(command);
        }
    }

    /// What is in flight will not be complete: the power went, or it is over.
    pub(crate) fn lost_all(&mut self) {
        for (command, _) in std::mem::take(&mut self.waiting) {
            self.send(command);
        }
    }

    fn send(&mut self, command: TraceIo) {
        self.written += 1;
        // Who does not write any more tells why at the end.
        let _ = self.to.send(command);
    }
}

impl Scribe {
    /// Waits for the file, which is whole when the recording is gone.
    pub(crate) fn finish(self) -> Result<(PathBuf, Summary), WriteError> {
        let ended = self.thread.join();
        let written = ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        written.map(|summary| (self.path, summary))
    }
}

/// What cannot be written ends the file, and all before it stays.
fn write(
    mut writer: TraceWriter,
    from: &Receiver<TraceIo>,
    header: &Header,
) -> Result<Summary, WriteError> {
    let cut_off = from.iter().find_map(|command| writer.write(&command).err());
    let finished = writer.finish(header)?;
    cut_off.map_or(Ok(finished), Err)
}
