//! Any trace as operations in order of issue, at constant memory.
//!
//! ```text
//! Source::next
//!  ├ TraceFile, Maker         the own format, and what is made, is in order and complete already
//!  └ Foreign::next
//!     ├ Records::next         unpacked bytes to lines or binary records, each parsed or a problem
//!     ├ Order                 a late one finds its place, if it is not too late
//!     ├ Pairing               issue and completion of a request become one operation
//!     └ place                 times since the first issue; queue depth, where completions are told
//! ```
//! Whatever is lost on the way is counted in [`Problems`]; too much of it ends the source with
//! [`ReadError::BadLines`].

mod blktrace;
mod detect;
mod fields;
mod foreign;
mod format;
mod input;
mod names;
mod order;
mod problems;
mod text;
mod volumes;

use std::path::{Path, PathBuf};

use writecliff_device::printable;

use crate::{Header, Maker, ReadError, Summary, TraceFile, TraceIo};
use foreign::Foreign;
use input::Input;

pub use format::{FORMATS, Format, FormatRow};
pub use problems::{BrokenLine, Place, Problems};

/// How a trace is to be read.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceOptions {
    /// The format; told from the content if `None`.
    pub format: Option<Format>,
    /// Only this stream's operations: a process, a volume, a file; in traces of the kernel also a
    /// device, like `8,0`.
    pub stream: Option<String>,
    /// How many of a hundred lines may be broken, or too far from their place in time.
    pub bad_lines_percent: f64,
    /// Whether the offsets of several volumes may become one range; else such a source ends with
    /// [`ReadError::SeveralVolumes`].
    pub mix_volumes: bool,
}

impl Default for SourceOptions {
    /// All streams and volumes of a file of any format, of which one line in a hundred may be broken.
    fn default() -> Self {
        Self { format: None, stream: None, bad_lines_percent: 1.0, mix_volumes: true }
    }
}

impl SourceOptions {
    /// All of a file in this format and no other.
    pub fn of(format: Format) -> Self {
        Self { format: Some(format), ..Self::default() }
    }
}

/// A trace in any format, or one that is made, open to be read from its beginning.
#[derive(Debug)]
pub struct Source {
    path: PathBuf,
    files: Vec<PathBuf>,
    header: Header,
    problems: Problems,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Own(Box<Own>),
    Foreign(Box<Foreign>),
    Made(Box<Made>),
    /// After the end, and after an error.
    Ended,
}

#[derive(Debug)]
struct Own {
    file: TraceFile,
    /// The only stream that was asked for.
    selected: Option<u16>,
    size: u64,
}

#[derive(Debug)]
struct Made {
    maker: Maker,
    seed: u64,
}

impl Source {
    /// Opens the trace at `path`, which may be packed with gzip or zstd. Of blktrace's files it may
    /// be any one of them, or what stands before their `.blktrace.N`.
    ///
    /// # Errors
    /// [`ReadError::Read`]; [`ReadError::Empty`]; [`ReadError::UnknownFormat`] if the content does not tell the format;
    /// [`ReadError::NoColumns`] for CSV without the columns it needs; [`ReadError::Format`] or [`ReadError::NoSuchStream`] for a trace of the own format.
    pub fn open(path: &Path, options: &SourceOptions) -> Result<Self, ReadError> {
        Self::open_files(&[path.to_owned()], options)
    }

    /// Opens a trace that is in several files, as blktrace writes them.
    ///
    /// # Errors
    /// As [`Self::open`]; [`ReadError::SeveralInputs`] for any other files than those of blktrace.
    pub fn open_files(paths: &[PathBuf], options: &SourceOptions) -> Result<Self, ReadError> {
        let processors = blktrace::files(paths);
        let (path, files) = match (&processors, paths) {
            (Some(files), [path, ..]) => (path, &files[..]),
            (None, [path]) => (path, paths),
            _ => return Err(ReadError::SeveralInputs { paths: paths.to_vec() }),
        };
        let [first, ..] = files else {
            return Err(ReadError::SeveralInputs { paths: paths.to_vec() });
        };
        let read_error = |source| ReadError::Read { path: first.clone(), source };
        let mut input = Input::open(first).map_err(read_error)?;
        let beginning = input.sample().map_err(read_error)?.to_vec();
        let format = format_of(first, &beginning, input.is_all_ahead(), options.format)?;
        let (header, kind) = match format {
            Format::Trace => Self::own(path, options)?,
            _ => Self::foreign(path, Foreign::open(files, input, format, options)?, format),
        };
        let (path, files) = (path.to_owned(), files.to_vec());
        Ok(Self { path, files, header, problems: Problems::default(), kind })
    }

    /// A trace that is made while it is read; its path is its plan's name.
    pub(crate) fn made(maker: Maker, name: &str, seed: u64) -> Self {
        Self {
            path: name.into(),
            files: Vec::new(),
            header: maker.header().clone(),
            problems: Problems::default(),
            kind: Kind::Made(Box::new(Made { maker, seed })),
        }
    }

    fn own(path: &Path, options: &SourceOptions) -> Result<(Header, Kind), ReadError> {
        if path.metadata().is_ok_and(|it| !it.is_file()) {
            return Err(ReadError::NoFile { path: path.to_owned() });
        }
        let file = TraceFile::open(path)?;
        let header = file.header().clone();
        let selected = match &options.stream {
            None => None,
            Some(name) => Some(own_stream(path, &header, name)?),
        };
        let size = file.summary().ios();
        Ok((header, Kind::Own(Box::new(Own { file, selected, size }))))
    }

    fn foreign(path: &Path, foreign: Foreign, format: Format) -> (Header, Kind) {
        let name = path.file_name().unwrap_or(path.as_os_str());
        let header = Header {
            source: printable(&name.to_string_lossy()),
            recorded_by: format!("unknown; read as {}", format.description()),
            ..Header::default()
        };
        (header, Kind::Foreign(Box::new(foreign)))
    }

    /// What the trace amounts to, if that is known beforehand: of one that is made, and of one in
    /// the own format unless only one of its streams is read.
    pub fn summary(&self) -> Option<&Summary> {
        match &self.kind {
            Kind::Own(own) if own.selected.is_none() => Some(own.file.summary()),
            Kind::Made(made) => Some(made.maker.summary()),
            Kind::Own(_) | Kind::Foreign(_) | Kind::Ended => None,
        }
    }

    /// What tells it from other traces of the same name, if anything does beforehand.
    pub fn identity(&self) -> Option<String> {
        if let Kind::Made(made) = &self.kind {
            return Some(format!("seed {}", made.seed));
        }
        let digest = self.summary()?.digest;
        (digest != 0).then(|| format!("{digest:016x}"))
    }

    /// Reads it to its end: what is damaged is better known before a drive is purged and filled for
    /// it. What is made cannot be damaged.
    ///
    /// # Errors
    /// The first that reading gives; [`ReadError::Format`] if the operations are not those of the
    /// [`summary`](Self::summary).
    pub fn verify(self) -> Result<(), ReadError> {
        if let Kind::Made(_) = self.kind {
            return Ok(());
        }
        let (path, told) = (self.path.clone(), self.summary().copied());
        let mut sum = Summary::new();
        for io in self {
            sum.add(&io?);
        }
        let is_as_told = |told: Summary| {
            sum.ios() == told.ios() && (told.digest == 0 || sum.digest == told.digest)
        };
        if told.is_none_or(is_as_told) {
            return Ok(());
        }
        Err(ReadError::Format { path, reason: "its rows are not those of its summary".to_owned() })
    }

    /// Where the trace comes from; complete once the iterator has ended.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The file, or the first of several; the plan's name of a trace that is made.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All files that it is read from.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The name of a stream that an operation has carried, if it has one.
    pub fn stream(&self, number: u16) -> Option<&str> {
        match &self.kind {
            Kind::Foreign(foreign) => foreign.stream(number),
            Kind::Own(_) | Kind::Made(_) | Kind::Ended => {
                self.header.streams.get(usize::from(number)).map(String::as_str)
            }
        }
    }

    /// What was met beside operations; complete once the iterator has ended.
    pub fn problems(&self) -> &Problems {
        &self.problems
    }

    /// The share of the source that has been read, 0 to 1; `None` if its size is not known.
    pub fn progress(&self) -> Option<f64> {
        let (done, size) = match &self.kind {
            Kind::Own(own) => (self.problems.lines, own.size),
            Kind::Foreign(foreign) => foreign.progress(),
            Kind::Made(made) => made.progress(),
            Kind::Ended => (1, 1),
        };
        (size > 0).then(|| (done as f64 / size as f64).min(1.0))
    }

    #[inline]
    fn next_io(&mut self) -> Result<Option<TraceIo>, ReadError> {
        match &mut self.kind {
            Kind::Own(own) => own.next(&mut self.problems),
            Kind::Foreign(foreign) => match foreign.next(&mut self.problems)? {
                Some(io) => Ok(Some(io)),
                None => {
                    foreign.conclude(&self.path, &mut self.header, &mut self.problems)?;
                    Ok(None)
                }
            },
            Kind::Made(made) => Ok(made.maker.next()),
            Kind::Ended => Ok(None),
        }
    }
}

impl Iterator for Source {
    type Item = Result<TraceIo, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_io().transpose();
        if !matches!(next, Some(Ok(_))) {
            self.kind = Kind::Ended;
        }
        next
    }
}

impl Own {
    fn next(&mut self, problems: &mut Problems) -> Result<Option<TraceIo>, ReadError> {
        for io in &mut self.file {
            let io = io?;
            problems.lines += 1;
            if self.selected.is_none_or(|stream| stream == io.stream) {
                return Ok(Some(io));
            }
            problems.other_streams += 1;
        }
        Ok(None)
    }
}

impl Made {
    /// Operations made, and all.
    fn progress(&self) -> (u64, u64) {
        let (all, left) = (self.maker.summary().ios(), self.maker.size_hint().0 as u64);
        (all.saturating_sub(left), all)
    }
}

/// The format that was told, or else what the file's beginning says; CSV must name its columns.
fn format_of(
    path: &Path,
    beginning: &[u8],
    is_all: bool,
    told: Option<Format>,
) -> Result<Format, ReadError> {
    let path = || path.to_owned();
    // One processor may have nothing to tell.
    if beginning.is_empty() && told != Some(Format::Blktrace) {
        return Err(ReadError::Empty { path: path() });
    }
    let format = told.map_or_else(|| detect::detect(beginning, is_all), Ok);
    let format =
        format.map_err(|considered| ReadError::UnknownFormat { path: path(), considered })?;
    if format == Format::Csv {
        detect::check_columns(beginning, is_all)
            .map_err(|found| ReadError::NoColumns { path: path(), found })?;
    }
    Ok(format)
}

/// The number of a stream of the own format.
fn own_stream(path: &Path, header: &Header, name: &str) -> Result<u16, ReadError> {
    let number = header.streams.iter().position(|stream| stream == name);
    number.and_then(|number| u16::try_from(number).ok()).ok_or_else(|| ReadError::NoSuchStream {
        path: path.to_owned(),
        name: name.to_owned(),
        streams: header.streams.iter().take(20).cloned().collect(),
    })
}
