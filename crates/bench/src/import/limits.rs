//! How much is taken, and where to.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use writecliff::device::printable;

use super::ImportError;

/// More than anybody's results are; the defaults are for archives from anywhere.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Bytes of all files together.
    pub bytes: u64,
    /// Entries of an archive, taken or not.
    pub entries: usize,
    /// How many times larger than the archive its contents may be, beyond [`Self::RATIO_FREE`].
    pub ratio: u64,
    /// Directories in each other.
    pub depth: usize,
    /// Bytes of a record.
    pub record: u64,
    /// Samples of a run.
    pub samples: u64,
    /// Latency counts of a run.
    pub latencies: u64,
}

impl Limits {
    /// So much may come out of however small an archive.
    pub const RATIO_FREE: u64 = 16 << 20;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 2 << 30,
            entries: 200_000,
            ratio: 100,
            depth: 8,
            record: 2 << 20,
            samples: 2_000_000,
            latencies: 6_000_000,
        }
    }
}

/// All that is taken: a run's record and its seconds, and what several runs are.
const TAKEN: [&str; 5] =
    ["run.json", "series.parquet", "histograms.parquet", "review.json", "repeats.json"];

/// Where entries go, within the limits.
pub(super) struct Sink<'a> {
    source: &'a Path,
    into: &'a Path,
    limits: &'a Limits,
    /// Bytes that may still be written.
    left: u64,
    entries: usize,
    left_out: usize,
}

impl<'a> Sink<'a> {
    pub(super) fn new(source: &'a Path, into: &'a Path, limits: &'a Limits, size: u64) -> Self {
        let by_ratio = size.saturating_mul(limits.ratio).saturating_add(Limits::RATIO_FREE);
        Self { source, into, limits, left: limits.bytes.min(by_ratio), entries: 0, left_out: 0 }
    }

    pub(super) fn source(&self) -> &'a Path {
        self.source
    }

    pub(super) fn depth(&self) -> usize {
        self.limits.depth
    }

    /// Bytes that may come out of it, whatever becomes of them.
    pub(super) fn room(&self) -> u64 {
        self.left
    }

    /// Entries that are no part of a run.
    pub(super) fn left_out(&self) -> usize {
        self.left_out
    }

    /// Another entry that is no file, or no file of a run.
    pub(super) fn leave_out(&mut self) -> Result<(), ImportError> {
        self.left_out += 1;
        self.count()
    }

    fn count(&mut self) -> Result<(), ImportError> {
        self.entries += 1;
        match self.entries > self.limits.entries {
            true => Err(self.too_much(format!("has more than {} entries", self.limits.entries))),
            false => Ok(()),
        }
    }

    /// Takes a file, if it is one that a run has.
    pub(super) fn file(&mut self, name: &Path, content: impl Read) -> Result<(), ImportError> {
        let Some(place) = self.place(name)? else { return self.leave_out() };
        self.count()?;
        self.write(&place, content)
    }

    /// Where a name leads to, if it is that of a file of a run.
    fn place(&self, name: &Path) -> Result<Option<PathBuf>, ImportError> {
        let shown = || printable(&name.to_string_lossy());
        let mut parts = Vec::new();
        for part in name.components() {
            match part {
                Component::Normal(part) => parts.push(part),
                Component::CurDir => {}
                _ => {
                    let path = self.source.to_owned();
                    return Err(ImportError::Escapes { path, name: shown() });
                }
            }
        }
        let is_taken = parts.last().is_some_and(|last| TAKEN.iter().any(|taken| last == taken));
        if !is_taken {
            return Ok(None);
        }
        if parts.len() > self.limits.depth {
            return Err(self.too_much(format!("has directories {} deep", parts.len())));
        }
        // Names are only for people: what they say must not matter to any shell or terminal.
        let directories =
            parts[..parts.len() - 1].iter().map(|part| plain(&part.to_string_lossy()));
        let mut place: PathBuf = directories.fold(self.into.to_owned(), |at, part| at.join(part));
        place.push(parts[parts.len() - 1]);
        Ok(Some(place))
    }

    fn write(&mut self, place: &Path, content: impl Read) -> Result<(), ImportError> {
        let directory = place.parent().unwrap_or(self.into);
        let written = fs::create_dir_all(directory).and_then(|()| {
            // New: an entry that comes twice is no run's.
            let mut file = File::create_new(place)?;
            io::copy(&mut content.take(self.left.saturating_add(1)), &mut file)
        });
        let bytes = written.map_err(|error| self.damaged(&error.to_string()))?;
        let is_record = place.extension().is_some_and(|end| end == "json");
        if is_record && bytes > self.limits.record {
            return Err(self.too_much(format!("has a record of {bytes} bytes")));
        }
        match self.left.checked_sub(bytes) {
            Some(left) => self.left = left,
            None => return Err(self.too_much_unpacked()),
        }
        Ok(())
    }

    pub(super) fn damaged(&self, reason: &str) -> ImportError {
        ImportError::Damaged { path: self.source.to_owned(), reason: printable(reason) }
    }

    pub(super) fn too_much_unpacked(&self) -> ImportError {
        self.too_much("unpacks to more than results ever are".to_owned())
    }

    fn too_much(&self, what: String) -> ImportError {
        ImportError::TooMuch { path: self.source.to_owned(), what }
    }
}

/// So many characters of a name are kept.
const NAME_MAX: usize = 100;

/// Letters, digits and what stands between them. A name that is nothing else is what it was.
fn plain(name: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || "-_.+".contains(c) { c } else { '_' };
    let plain: String = name.chars().take(NAME_MAX).map(kept).collect();
    // `.hidden` is looked over, and `..` leads out.
    plain.strip_prefix('.').map_or(plain.clone(), |rest| format!("_{rest}"))
}
