//! A trace in a format that is not ours.

use std::fmt;
use std::path::{Path, PathBuf};

use writecliff_device::Nanos;

use super::SourceOptions;
use super::blktrace::Blktrace;
use super::format::{Format, VolumesAre};
use super::input::{Input, Line, Progress};
use super::names::{NOT_ASKED_FOR, Names};
use super::order::{Order, Timed};
use super::problems::{Place, Problems};
use super::text::{Parsed, Text};
use super::volumes::Volumes;
use crate::depth::Queues;
use crate::kernel::{DeviceNumber, Event, Paired, Pairing};
use crate::{Header, ReadError, TraceIo};

/// How often the share of broken lines is looked at, in lines.
const CHECK_EVERY: u64 = 1024;

pub(super) struct Foreign {
    format: Format,
    records: Records,
    progress: Vec<Progress>,
    names: Names,
    ios: Order<TraceIo>,
    events: Order<Event>,
    /// Of the event read last.
    last_event_ns: u64,
    pairing: Pairing,
    /// Of each volume or device, which share nothing.
    depths: Queues,
    volumes: Volumes,
    volumes_are: VolumesAre,
    /// Whether a completion was told: only then are queue depths known.
    has_completions: bool,
    /// By the trace's own clock.
    first_issue: Option<Nanos>,
    bad_lines_percent: f64,
    mix_volumes: bool,
    is_selective: bool,
    is_ending: bool,
}

/// Where parsed lines and records come from.
enum Records {
    Text { path: PathBuf, input: Input, text: Text },
    Binary(Blktrace),
}

impl Timed for Event {
    fn time(&self) -> u64 {
        self.time_ns
    }
}

impl Timed for TraceIo {
    fn time(&self) -> u64 {
        self.issued.0
    }
}

impl Foreign {
    pub(super) fn open(
        files: &[PathBuf],
        input: Input,
        format: Format,
        options: &SourceOptions,
    ) -> Result<Self, ReadError> {
        let (records, progress) = match format.text() {
            Some(text) => {
                let progress = vec![input.progress().clone()];
                (Records::Text { path: files[0].clone(), input, text }, progress)
            }
            None => {
                let blktrace = Blktrace::open(files)?;
                let progress = blktrace.progress();
                (Records::Binary(blktrace), progress)
            }
        };
        Ok(Self {
            format,
            records,
            progress,
            names: Names::new(options.stream.as_deref()),
            ios: Order::new(),
            events: Order::new(),
            last_event_ns: 0,
            // Its events are put in order before.
            pairing: Pairing::new(0),
            depths: Queues::default(),
            volumes: Volumes::default(),
            volumes_are: format.volumes(),
            has_completions: false,
            first_issue: None,
            bad_lines_percent: options.bad_lines_percent,
            mix_volumes: options.mix_volumes,
            is_selective: options.stream.is_some(),
            is_ending: false,
        })
    }

    /// The next operation in order of issue.
    pub(super) fn next(&mut self, problems: &mut Problems) -> Result<Option<TraceIo>, ReadError> {
        loop {
            if let Some(paired) = self.pop() {
                match self.place(paired, problems) {
                    Some(io) => return Ok(Some(io)),
                    None => continue,
                }
            }
            if self.is_ending {
                return Ok(None);
            }
            let parsed = self.records.next(&mut self.names, problems)?;
            self.take(parsed, problems);
            if problems.lines.is_multiple_of(CHECK_EVERY) {
                self.check(problems, false)?;
            }
        }
    }

    #[inline]
    fn take(&mut self, parsed: Option<Parsed>, problems: &mut Problems) {
        let is_in_reach = match parsed {
            Some(Parsed::Io(io)) => {
                self.has_completions |= io.completed.is_some();
                self.ios.push(io)
            }
            Some(Parsed::Event(event)) => {
                self.last_event_ns = event.time_ns;
                self.push(event)
            }
            Some(Parsed::PassedOver) => {
                problems.passed_over += 1;
                true
            }
            Some(Parsed::OtherStream) => {
                problems.other_streams += 1;
                true
            }
            Some(Parsed::Lost(count)) => {
                problems.lost_by_recorder = problems.lost_by_recorder.saturating_add(count);
                self.push(Event::gap(self.last_event_ns));
                true
            }
            Some(Parsed::Frame | Parsed::Broken) => true,
            None => {
                self.end();
                true
            }
        };
        problems.out_of_reach += u64::from(!is_in_reach);
    }

    /// Takes an event; `false` if it comes too late for its place in time.
    #[inline]
    fn push(&mut self, event: Event) -> bool {
        let is_in_reach = self.events.push(event);
        self.pair();
        is_in_reach
    }

    #[inline]
    fn pair(&mut self) {
        while let Some(event) = self.events.pop() {
            self.has_completions |= event.what.is_completion();
            self.pairing.push(event);
        }
    }

    fn end(&mut self) {
        self.is_ending = true;
        self.ios.end();
        self.events.end();
        self.pair();
        self.pairing.end();
    }

    #[inline]
    fn pop(&mut self) -> Option<Paired> {
        let told = |io: TraceIo| {
            let device = DeviceNumber(u32::from(io.stream));
            Paired { io, device, is_failed: false }
        };
        self.ios.pop().map(told).or_else(|| self.pairing.pop())
    }

    /// Moves an operation's times to the trace's beginning, and counts what is in flight with it,
    /// of all streams; `None` if its own was not asked for.
    #[inline]
    fn place(&mut self, paired: Paired, problems: &mut Problems) -> Option<TraceIo> {
        let Paired { mut io, device, is_failed } = paired;
        let queue = if self.volumes_are == VolumesAre::One { 0 } else { device.0 };
        if self.has_completions {
            let depth = self.depths.of(queue).at_issue(&io);
            io.queue_depth = io.queue_depth.or(depth);
        }
        if self.is_selective && io.stream == NOT_ASKED_FOR {
            problems.other_streams += 1;
            return None;
        }
        problems.failed += u64::from(is_failed);
        let is_missing = self.has_completions && io.completed.is_none() && !is_failed;
        problems.never_completed += u64::from(is_missing);
        let first = *self.first_issue.get_or_insert(io.issued);
        io.issued = Nanos(io.issued.0 - first.0);
        match self.volumes_are {
            VolumesAre::One => {}
            VolumesAre::Streams => self.volumes.add_stream(io.stream),
            VolumesAre::Devices => self.volumes.add_device(device),
        }
        io.completed = io.completed.map(|completed| Nanos(completed.0.saturating_sub(first.0)));
        Some(io)
    }

    /// Tells what is known only at the end.
    pub(super) fn conclude(
        &self,
        path: &Path,
        header: &mut Header,
        problems: &mut Problems,
    ) -> Result<(), ReadError> {
        self.check(problems, true)?;
        if let Some((name, streams)) = self.names.missing() {
            return Err(ReadError::NoSuchStream {
                path: path.to_owned(),
                name,
                streams: streams.to_vec(),
            });
        }
        let volumes = self.volumes.several(&self.names);
        if !self.mix_volumes && !volumes.is_empty() {
            return Err(ReadError::SeveralVolumes { path: path.to_owned(), volumes });
        }
        problems.volumes = volumes;
        problems.too_many_streams = self.names.is_full();
        if !self.is_selective {
            problems.unmatched_completions = self.pairing.unmatched();
        }
        header.streams = self.names.list().to_vec();
        header.lost = problems.lost();
        header.began_unix_ns = self.began_unix_ns();
        Ok(())
    }

    fn check(&self, problems: &Problems, is_end: bool) -> Result<(), ReadError> {
        if !problems.are_too_many(self.bad_lines_percent, is_end) {
            return Ok(());
        }
        Err(ReadError::BadLines {
            path: self.records.path().to_owned(),
            broken: problems.broken,
            out_of_reach: problems.out_of_reach,
            lines: problems.lines,
            percent: self.bad_lines_percent,
            format: self.format.name(),
        })
    }

    fn began_unix_ns(&self) -> Option<u64> {
        let first = i128::from(self.first_issue?.0);
        let offset = match &self.records {
            Records::Binary(blktrace) => blktrace.unix_offset_ns()?,
            Records::Text { .. } if self.format.has_unix_time() => 0,
            Records::Text { .. } => return None,
        };
        u64::try_from(first + offset).ok()
    }

    pub(super) fn stream(&self, number: u16) -> Option<&str> {
        self.names.list().get(usize::from(number)).map(String::as_str)
    }

    /// Bytes read, and bytes in all, of the files as they are on disk.
    pub(super) fn progress(&self) -> (u64, u64) {
        let files = self.progress.iter().map(Progress::get);
        files.fold((0, 0), |sum, file| (sum.0 + file.0, sum.1 + file.1))
    }
}

impl Records {
    fn path(&self) -> &Path {
        match self {
            Self::Text { path, .. } => path,
            Self::Binary(blktrace) => blktrace.path(),
        }
    }

    #[inline]
    fn next(
        &mut self,
        names: &mut Names,
        problems: &mut Problems,
    ) -> Result<Option<Parsed>, ReadError> {
        let (path, input, text) = match self {
            Self::Text { path, input, text } => (path, input, text),
            Self::Binary(blktrace) => return blktrace.next(names, problems),
        };
        let line = input.line();
        let line = line.map_err(|source| ReadError::Read { path: path.clone(), source })?;
        let Some(line) = line else { return Ok(None) };
        problems.lines += 1;
        let (parsed, found) = match line {
            Line::Whole(line) => (text.line(line, names), line),
            Line::TooLong(beginning) => (Err("a line of at most 256 KiB"), beginning),
        };
        parsed.map(Some).or_else(|expected| {
            problems.add_broken(path, Place::Line(problems.lines), expected, found);
            Ok(Some(Parsed::Broken))
        })
    }
}

impl fmt::Debug for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Foreign").field("format", &self.format).finish_non_exhaustive()
    }
}
