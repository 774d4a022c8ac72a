//! Any bytes as a trace of any format: never a panic, and operations in order.
#![no_main]

use std::io::Write;

use libfuzzer_sys::fuzz_target;
use writecliff_trace::{FORMATS, Source, SourceOptions, Summary};

// The first byte chooses how the rest is read: the number of a format, or anything else to let the
// content tell. Seeds are whole files, whose first bytes are such anything.
fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    let format = FORMATS.get(usize::from(*first)).map(|row| row.format);
    let content = if format.is_some() { rest } else { bytes };
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(content).expect("room for the file");
    let options = SourceOptions { format, bad_lines_percent: 100.0, ..SourceOptions::default() };
    let Ok(source) = Source::open(file.path(), &options) else { return };
    let mut summary = Summary::new();
    for io in source {
        let Ok(io) = io else { return };
        assert!(io.issued >= summary.last_issued);
        summary.add(&io);
    }
});
