//! fio's I/O log, version 3, for `fio --read_iolog`.

use std::io::{self, Write};

use writecliff_device::{Nanos, Operation};

use super::TextFile;
use crate::TraceIo;

/// What the log calls the drive. No name of a real one: whoever replays it must say where, with
/// fio's `--replay_redirect`.
const FILE: &str = "trace";

pub(super) struct IologWriter {
    file: TextFile,
    last_issued: Nanos,
}

impl IologWriter {
    pub(super) fn begin(mut file: TextFile) -> io::Result<Self> {
        writeln!(file, "fio version 3 iolog\n0 {FILE} add\n0 {FILE} open")?;
        Ok(Self { file, last_issued: Nanos::ZERO })
    }

    pub(super) fn write(&mut self, io: &TraceIo) -> io::Result<()> {
        self.last_issued = io.issued;
        let operation = match io.operation {
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::Trim => "trim",
            Operation::Flush => "sync",
        };
        let microseconds = io.issued.0 / 1000;
        writeln!(self.file, "{microseconds} {FILE} {operation} {} {}", io.offset.0, io.length.0)
    }

    pub(super) fn end(mut self) -> io::Result<TextFile> {
        writeln!(self.file, "{} {FILE} close", self.last_issued.0 / 1000)?;
        Ok(self.file)
    }
}
