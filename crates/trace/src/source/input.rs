//! Bytes of a file, uncompressed, through a buffer that lines and records are cut from.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;

/// What is read at once, and the longest line.
const BUFFER: usize = 1 << 18;

/// What some programs, Excel among them, begin a text in UTF-8 with.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A file being read; gzip and zstd are told by their first bytes and unpacked on the way. A text's
/// byte order mark is passed over.
pub(super) struct Input {
    reader: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    at_end: bool,
    progress: Progress,
}

/// How much of a file, as it is on disk, has been read.
#[derive(Debug, Clone)]
pub(super) struct Progress {
    read: Arc<AtomicU64>,
    size: u64,
}

/// What was cut off the input.
pub(super) enum Line<'a> {
    /// A line without its end.
    Whole(&'a [u8]),
    /// The first bytes of a line that is longer than any format's; its rest is gone.
    TooLong(&'a [u8]),
}

impl Input {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let read = Arc::new(AtomicU64::new(0));
        let progress = Progress { read: Arc::clone(&read), size: file.metadata()?.len() };
        let reader = unpacked(Counted { file, read })?;
        let buffer = vec![0; BUFFER];
        let mut input = Self { reader, buffer, start: 0, end: 0, at_end: false, progress };
        if input.ahead(BYTE_ORDER_MARK.len())?.starts_with(BYTE_ORDER_MARK) {
            input.skip(BYTE_ORDER_MARK.len());
        }
        Ok(input)
    }

    pub(super) fn progress(&self) -> &Progress {
        &self.progress
    }

    /// The bytes ahead, at least `count` of them (which must fit the buffer) unless the input ends.
    pub(super) fn ahead(&mut self, count: usize) -> io::Result<&[u8]> {
        while self.end - self.start < count && !self.at_end {
            self.fill()?;
        }
        Ok(&self.buffer[self.start..self.end])
    }

    /// Everything that the buffer takes, from the beginning; what a format is told by.
    pub(super) fn sample(&mut self) -> io::Result<&[u8]> {
        self.ahead(BUFFER)
    }

    /// Whether [`Self::ahead`] shows all that is left.
    pub(super) fn is_all_ahead(&self) -> bool {
        self.at_end
    }

    /// Goes on by `count` bytes of those ahead.
    pub(super) fn skip(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
    }

    /// The next line, without its end (LF or CR LF); the last one need not have any.
    pub(super) fn line(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut searched = 0;
        loop {
            let ahead = &self.buffer[self.start + searched..self.end];
            if let Some(found) = memchr::memchr(b'\n', ahead) {
                let from = self.start;
                let to = from + searched + found;
                self.start = to + 1;
                return Ok(Some(Line::Whole(without_return(&self.buffer[from..to]))));
            }
            searched = self.end - self.start;
            if self.at_end {
                let from = std::mem::replace(&mut self.start, self.end);
                let last = &self.buffer[from..self.end];
                return Ok((!last.is_empty()).then(|| Line::Whole(without_return(last))));
            }
            if searched == BUFFER {
                return self.too_long().map(Some);
            }
            self.fill()?;
        }
    }

    /// Keeps the beginning of the line that fills the whole buffer, and drops the rest.
    fn too_long(&mut self) -> io::Result<Line<'_>> {
        let beginning = BUFFER / 2;
        loop {
            self.end = beginning;
            self.start = 0;
            while self.end < BUFFER && !self.at_end {
                self.read()?;
            }
            match memchr::memchr(b'\n', &self.buffer[beginning..self.end]) {
                Some(found) => self.start = beginning + found + 1,
                None if self.at_end => self.start = self.end,
                None => continue,
            }
            return Ok(Line::TooLong(&self.buffer[..beginning]));
        }
    }

    /// Reads on behind what is ahead, which moves to the buffer's front.
    fn fill(&mut self) -> io::Result<()> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        self.read()
    }

    fn read(&mut self) -> io::Result<()> {
        if self.end == BUFFER {
            return Ok(());
        }
        loop {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.at_end = true,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            return Ok(());
        }
    }
}

impl Progress {
    /// Bytes read, and bytes in all: zero for what is no regular file.
    pub(super) fn get(&self) -> (u64, u64) {
        (self.read.load(Ordering::Relaxed), self.size)
    }
}

struct Counted {
    file: File,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Unpacks gzip (RFC 1952, of any number of members) and zstd (RFC 8878, of any number of frames,
/// also skippable ones); all else is left as it is.
fn unpacked(mut file: Counted) -> io::Result<Box<dyn Read + Send>> {
    let mut magic = Vec::with_capacity(4);
    file.by_ref().take(4).read_to_end(&mut magic)?;
    let is_gzip = magic.starts_with(&[0x1f, 0x8b]);
    let is_zstd = matches!(magic[..], [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18]);
    let whole = Cursor::new(magic).chain(file);
    Ok(match (is_gzip, is_zstd) {
        (true, _) => Box::new(MultiGzDecoder::new(BufReader::with_capacity(1 << 16, whole))),
        (_, true) => Box::new(zstd::Decoder::new(whole)?),
        _ => Box::new(whole),
    })
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t");
        std::fs::write(&path, bytes).unwrap();
        let mut input = Input::open(&path).unwrap();
        let mut lines = Vec::new();
        while let Some(line) = input.line().unwrap() {
            lines.push(match line {
                Line::Whole(line) => line.to_vec(),
                Line::TooLong(beginning) => [&beginning[..1], b"..."].concat(),
            });
        }
        assert_eq!(input.progress().get(), (bytes.len() as u64, bytes.len() as u64));
        lines
    }

    #[test]
    fn lines_end_in_any_way_and_the_last_one_need_not() {
        assert_eq!(lines(b""), Vec::<Vec<u8>>::new());
        assert_eq!(lines(b"a\n\r\nb\r\nc"), [&b"a"[..], b"", b"b", b"c"]);
        assert_eq!(lines(b"x"), [b"x"]);
    }

    #[test]
    fn lines_across_the_buffers_end_are_whole() {
        let line = "0123456789abcdef".repeat(7);
        let text = format!("{line}\n").repeat(20_000);
        let lines = lines(text.as_bytes());
        assert_eq!(lines.len(), 20_000);
        assert!(lines.iter().all(|other| other == line.as_bytes()));
    }

    #[test]
    fn a_line_without_end_takes_no_memory_and_only_itself() {
        for length in [BUFFER - 1, BUFFER, BUFFER + 1, 3 * BUFFER, 5 * BUFFER + 7] {
            let text = [b"a\n", "y".repeat(length).as_bytes(), b"\nb\n"].concat();
            let lines = lines(&text);
            let is_whole = length < BUFFER;
            assert_eq!(lines[1].len(), if is_whole { length } else { 4 }, "{length}");
            assert_eq!([&lines[0][..], &lines[2][..]], [b"a", b"b"], "{length}");
        }
        let endless = "y".repeat(4 * BUFFER);
        assert_eq!(lines(endless.as_bytes()), [b"y..."]);
    }
}
