//! The formats of traces: a row for each.
//!
//! A further format of lines is a row here, what reads its lines in `text/`, its lines in
//! docs/formats.md, and a sample in `tests/formats`.

use std::fmt;
use std::str::FromStr;

use super::text::table::{ALIBABA, MSR, SPC, SYSTOR, TENCENT, Table};
use super::text::{Text, blkparse, csv, iolog};

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

/// What there is to say of a format.
#[derive(Debug, Clone, Copy)]
pub struct FormatRow {
    /// Which.
    pub format: Format,
    /// What it is called.
    pub name: &'static str,
    /// What it is, for a person.
    pub description: &'static str,
    /// Whether the times of issue are counted from 1970.
    has_unix_time: bool,
    /// What has offsets and a queue of its own.
    volumes: VolumesAre,
    /// What reads its lines; `None` if it has none.
    text: Option<fn() -> Text>,
}

/// What has offsets and a queue of its own in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VolumesAre {
    /// Nothing: there is one volume.
    One,
    /// Each stream.
    Streams,
    /// Each device that the kernel's events name.
    Devices,
}

/// All formats.
pub static FORMATS: [FormatRow; 11] = [
    FormatRow::one_volume(Format::Trace, "trace", "Writecliff's own: Parquet", None),
    FormatRow::of_kernel(
        Format::Blkparse,
        "blkparse",
        "the text that blkparse prints",
        Some(|| Text::Blkparse(blkparse::Blkparse::default())),
    ),
    FormatRow::of_kernel(
        Format::Blktrace,
        "blktrace",
        "blktrace's binary files, one for each processor",
        None,
    ),
    FormatRow::of_kernel(
        Format::Perf,
        "perf",
        "block events as text, from perf script, ftrace or trace-cmd",
        Some(|| Text::Tracepoint),
    ),
    FormatRow::of_volumes(Format::Iolog, "iolog", "fio's I/O log, version 2 or 3", false, || {
        Text::Iolog(iolog::Iolog::default())
    }),
    FormatRow::of_volumes(Format::Msr, "msr", "MSR Cambridge", true, || {
        Text::Table(Table::new(&MSR))
    }),
    FormatRow::of_volumes(Format::Systor, "systor", "SYSTOR '17", true, || {
        Text::Table(Table::new(&SYSTOR))
    }),
    FormatRow::of_volumes(Format::Alibaba, "alibaba", "Alibaba's block traces", true, || {
        Text::Table(Table::new(&ALIBABA))
    }),
    FormatRow::of_volumes(
        Format::Tencent,
        "tencent",
        "Tencent's cloud block storage",
        true,
        || Text::Table(Table::new(&TENCENT)),
    ),
    FormatRow::of_volumes(
        Format::Spc,
        "spc",
        "Storage Performance Council, as published by UMass",
        false,
        || Text::Table(Table::new(&SPC)),
    ),
    FormatRow::one_volume(
        Format::Csv,
        "csv",
        "CSV with named columns",
        Some(|| Text::Csv(csv::Csv::default())),
    ),
];

impl FormatRow {
    const fn one_volume(
        format: Format,
        name: &'static str,
        description: &'static str,
        text: Option<fn() -> Text>,
    ) -> Self {
        let volumes = VolumesAre::One;
        Self { format, name, description, has_unix_time: false, volumes, text }
    }

    /// Of the kernel's events.
    const fn of_kernel(
        format: Format,
        name: &'static str,
        description: &'static str,
        text: Option<fn() -> Text>,
    ) -> Self {
        let volumes = VolumesAre::Devices;
        Self { format, name, description, has_unix_time: false, volumes, text }
    }

    /// Of lines whose streams are volumes.
    const fn of_volumes(
        format: Format,
        name: &'static str,
        description: &'static str,
        has_unix_time: bool,
        text: fn() -> Text,
    ) -> Self {
        let (volumes, text) = (VolumesAre::Streams, Some(text));
        Self { format, name, description, has_unix_time, volumes, text }
    }
}

impl Format {
    /// What it is called.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// What it is, for a person.
    pub fn description(self) -> &'static str {
        self.row().description
    }

    /// Whether the times of issue are counted from 1970.
    pub(super) fn has_unix_time(self) -> bool {
        self.row().has_unix_time
    }

    /// What has offsets and a queue of its own.
    pub(super) fn volumes(self) -> VolumesAre {
        self.row().volumes
    }

    /// What reads its lines; `None` if it has none.
    pub(super) fn text(self) -> Option<Text> {
        self.row().text.map(|begin| begin())
    }

    fn row(self) -> &'static FormatRow {
        let row = FORMATS.iter().find(|row| row.format == self);
        row.expect("every format has a row")
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
        let row = FORMATS.iter().find(|row| row.name == text);
        row.map(|row| row.format).ok_or_else(|| {
            let names: Vec<&str> = FORMATS.iter().map(|row| row.name).collect();
            format!("no format is called '{text}'; there are {}", names.join(", "))
        })
    }
}
