//! CSV with the columns of the own format.

use std::io::{self, Write};

use writecliff_device::Operation;

use super::TextFile;
use crate::TraceIo;

const HEADER: &str = "issued_ns,completed_ns,operation,offset,length,queue_depth,\
                      compressible_percent,duplicate_percent,stream";

pub(super) struct CsvWriter {
    file: TextFile,
}

impl CsvWriter {
    pub(super) fn begin(mut file: TextFile) -> io::Result<Self> {
        writeln!(file, "{HEADER}")?;
        Ok(Self { file })
    }

    pub(super) fn write(&mut self, io: &TraceIo, stream: Option<&str>) -> io::Result<()> {
        let operation = match io.operation {
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::Trim => "trim",
            Operation::Flush => "flush",
        };
        let file = &mut self.file;
        write!(file, "{},", io.issued.0)?;
        cell(file, io.completed.map(|completed| completed.0))?;
        write!(file, "{operation},{},{},", io.offset.0, io.length.0)?;
        cell(file, io.queue_depth)?;
        cell(file, io.content.map(|content| content.compressible_percent))?;
        cell(file, io.content.map(|content| content.duplicate_percent))?;
        match stream {
            Some(name) => quoted(file, name)?,
            None if io.stream > 0 => write!(file, "{}", io.stream)?,
            None => {}
        }
        file.write_all(b"\n")
    }

    pub(super) fn end(self) -> TextFile {
        self.file
    }
}

/// A number, or nothing, and a comma.
fn cell(file: &mut TextFile, value: Option<impl std::fmt::Display>) -> io::Result<()> {
    match value {
        Some(value) => write!(file, "{value},"),
        None => file.write_all(b","),
    }
}

/// A name on one line, in quotes if it needs them.
fn quoted(file: &mut TextFile, name: &str) -> io::Result<()> {
    if !name.contains(|c: char| matches!(c, ',' | '"') || c.is_control()) {
        return file.write_all(name.as_bytes());
    }
    let name = name.replace('"', "\"\"").replace(char::is_control, " ");
    write!(file, "\"{name}\"")
}
