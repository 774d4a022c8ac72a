//! How formats are told apart.

use super::blktrace::BLKTRACE_MAGIC;
use super::format::{FORMATS, Format};
use super::names::Names;
use super::problems::excerpt;
use super::text::{Parsed, csv};
use crate::error::CSV_HEADER;

/// How many lines a format is told by.
const LINES: usize = 200;

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
    let fits: Vec<Fit> = FORMATS.iter().filter_map(|row| Fit::of(row.format, &lines)).collect();
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
        let mut text = format.text()?;
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
    let mut lines: Vec<&[u8]> =
        whole.split(|byte| *byte == b'\n').take(LINES).map(without_return).collect();
    // Behind the end of the last line there is no further one.
    lines.pop_if(|line| line.is_empty());
    lines
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
            doubt += &format!("; CSV needs {}, not '{}'", CSV_HEADER, excerpt(names));
        }
        return doubt;
    }
    format!("its first {count} lines could be {}", considered.join(" or "))
}
