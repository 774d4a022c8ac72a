//! The formats of traces, and how they are told apart.

use std::fmt;
use std::str::FromStr;

use super::names::Names;
use super::problems::excerpt;
use super::text::{Parsed, Text, csv};

/// A format that traces come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Our own: Parquet.
    Trace,
    /// What blkparse prints.
    Blkparse,
    /// What blktrace writes, a file for each processor.
    Blktrace,
    /// Tracepoints of the block layer as text, from perf, ftrace or trace-cmd.
    Perf,
    /// fio's I/O log, version 2 or 3.
    Iolog,
    /// The traces of Microsoft Research in Cambridge.
    Msr,
    /// The traces published at SYSTOR 2017.
    Systor,
    /// Alibaba's block traces.
    Alibaba,
    /// The traces of Tencent's cloud block storage.
    Tencent,
    /// The format of the Storage Performance Council, as in UMass's repository.
    Spc,
    /// CSV whose first line names the columns.
    Csv,
}

/// All formats: what they are called on the command line, and what they are.
pub const FORMATS: [(Format, &str, &str); 11] = [
    (Format::Trace, "trace", "Writecliff's own: Parquet"),
    (Format::Blkparse, "blkparse", "the text that blkparse prints"),
    (Format::Blktrace, "blktrace", "blktrace's binary files, one for each processor"),
    (Format::Perf, "perf", "block events as text, from perf script, ftrace or trace-cmd"),
    (Format::Iolog, "iolog", "fio's I/O log, version 2 or 3"),
    (Format::Msr, "msr", "MSR Cambridge"),
    (Format::Systor, "systor", "SYSTOR '17"),
    (Format::Alibaba, "alibaba", "Alibaba's block traces"),
    (Format::Tencent, "tencent", "Tencent's cloud block storage"),
    (Format::Spc, "spc", "Storage Performance Council, as published by UMass"),
    (Format::Csv, "csv", "CSV with named columns"),
];

impl Format {
    /// What it is called on the command line.
    pub fn name(self) -> &'static str {
        self.entry().1
    }

    /// What it is, for a person.
    pub fn description(self) -> &'static str {
        self.entry().2
    }

    /// Whether the times of issue are counted from 1970.
    pub(super) fn has_unix_time(self) -> bool {
        matches!(self, Self::Msr | Self::Systor | Self::Alibaba | Self::Tencent)
    }

    /// Whether each stream is a volume of its own, with its own offsets.
    pub(super) fn has_volumes(self) -> bool {
        matches!(
            self,
            Self::Iolog | Self::Msr | Self::Systor | Self::Alibaba | Self::Tencent | Self::Spc
        )
    }

    /// Whether it tells the kernel's events, and of which device each is.
    pub(super) fn has_devices(self) -> bool {
        matches!(self, Self::Blkparse | Self::Blktrace | Self::Perf)
    }

    fn entry(self) -> &'static (Self, &'static str, &'static str) {
        let entry = FORMATS.iter().find(|(format, _, _)| *format == self);
        entry.expect("every format is in the table")
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let entry = FORMATS.iter().find(|(_, name, _)| *name == text);
        entry.map(|entry| entry.0).ok_or_else(|| {
            let names: Vec<&str> = FORMATS.iter().map(|(_, name, _)| *name).collect();
            format!("no format is called '{text}'; there are {}", names.join(", "))
        })
    }
}

/// How many lines a format is told by.
const LINES: usize = 200;

/// The first word of a binary record of blktrace, without its version.
pub(super) const BLKTRACE_MAGIC: u32 = 0x6561_7400;

/// The format that a file begins like, or what speaks for which format.
///
/// Binary formats have a magic number, and CSV names its columns. Another text is of the one format in
/// which most of its first lines make sense.
pub(super) fn detect(beginning: &[u8], is_all: bool) -> Result<Format, String> {
    if beginning.starts_with(b"PAR1") {
        return Ok(Format::Trace);
    }
    if let [a, b, c, d, ..] = *beginning {
        let word = [a, b, c, d];
        let is_magic = |word: u32| word & !0xff == BLKTRACE_MAGIC;
        if is_magic(u32::from_le_bytes(word)) || is_magic(u32::from_be_bytes(word)) {
            return Ok(Format::Blktrace);
        }
    }
    let lines = first_lines(beginning, is_all);
    if names(&lines).is_some_and(csv::names_columns) {
        return Ok(Format::Csv);
    }
    let fits: Vec<Fit> = FORMATS.iter().filter_map(|entry| Fit::of(entry.0, &lines)).collect();
    let mut likely = fits.iter().filter(|fit| fit.operations > fit.broken);
    match (likely.next(), likely.next()) {
        (Some(only), None) => Ok(only.format),
        _ => Err(doubt(&fits, &lines)),
    }
}

/// That a file in CSV begins with the names of its columns, or what is there instead.
pub(super) fn check_columns(beginning: &[u8], is_all: bool) -> Result<(), String> {
    let lines = first_lines(beginning, is_all);
    let names = names(&lines).unwrap_or_default();
    if csv::names_columns(names) { Ok(()) } else { Err(excerpt(names)) }
}

/// The line that names the columns, if any does: the first with anything in it.
fn names<'a>(lines: &[&'a [u8]]) -> Option<&'a [u8]> {
    lines.iter().copied().find(|line| !line.is_empty())
}

/// How well a format explains the first lines.
struct Fit {
    format: Format,
    operations: usize,
    broken: usize,
}

impl Fit {
    fn of(format: Format, lines: &[&[u8]]) -> Option<Self> {
        let mut text = Text::of(format)?;
        let mut names = Names::new(None);
        let mut fit = Self { format, operations: 0, broken: 0 };
        for line in lines {
            match text.line(line, &mut names) {
                Ok(Parsed::Io(_) | Parsed::Event(_)) => fit.operations += 1,
                Ok(_) => {}
                Err(_) => fit.broken += 1,
            }
        }
        Some(fit)
    }
}

/// Whole lines only, unless the last one is the file's.
fn first_lines(beginning: &[u8], is_all: bool) -> Vec<&[u8]> {
    let whole = match beginning.iter().rposition(|byte| *byte == b'\n') {
        Some(end) if !is_all => &beginning[..end],
        _ => beginning,
    };
    let without_return = |line| <[u8]>::strip_suffix(line, b"\r").unwrap_or(line);
    whole.split(|byte| *byte == b'\n').take(LINES).map(without_return).collect()
}

fn doubt(fits: &[Fit], lines: &[&[u8]]) -> String {
    let count = lines.len();
    let considered: Vec<String> = fits
        .iter()
        .filter(|fit| fit.operations > 0)
        .map(|fit| {
            format!("{} (operations in {} of {count} lines)", fit.format.name(), fit.operations)
        })
        .collect();
    if considered.is_empty() {
        let all: Vec<&str> = fits.iter().map(|fit| fit.format.name()).collect();
        let mut doubt = format!("its first {count} lines hold no operation in {}", all.join(", "));
        if let Some(names) = names(lines).filter(|line| csv::seems_to_name_columns(line)) {
            doubt += &format!("; CSV needs {}, not '{}'", csv::HEADER, excerpt(names));
        }
        return doubt;
    }
    format!("its first {count} lines could be {}", considered.join(" or "))
}
