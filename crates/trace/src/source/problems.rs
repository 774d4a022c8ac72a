//! What was not as it should be in a source, counted and in part told.

use std::fmt;
use std::path::{Path, PathBuf};

use writecliff_device::printable;

use super::fields::Expected;
use crate::volume::Volume;

/// How many broken lines are kept to be told in detail.
const TOLD: usize = 10;
/// How much of a broken line is kept.
const EXCERPT: usize = 80;
/// Before so many lines a share says little.
const LINES_FOR_A_SHARE: u64 = 4096;

/// What was met in a source beside operations; complete once the source has ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Problems {
    /// Lines, or records of a binary format.
    pub lines: u64,
    /// Those that are broken.
    pub broken: u64,
    /// The first ten that are broken.
    pub first_broken: Vec<BrokenLine>,
    /// Operations or events lost since they stood too far from their place in time.
    pub out_of_reach: u64,
    /// Events that the source itself says were lost when it was recorded.
    pub lost_by_recorder: u64,
    /// Lines that are no operations: comments, summaries, events of other kinds, empty ranges. Not
    /// those that the format itself needs, like the names of columns.
    pub passed_over: u64,
    /// Operations, or lines, of streams that were not asked for.
    pub other_streams: u64,
    /// Operations whose completion the format tells and the source does not.
    pub never_completed: u64,
    /// Operations whose completion tells an error: they have none.
    pub failed: u64,
    /// Completions of operations that were not seen to be issued.
    pub unmatched_completions: u64,
    /// Whether there were more than 65,534 streams; the last one holds all others then.
    pub too_many_streams: bool,
    /// Volumes whose offsets overlap in this trace, the largest first; empty if there is only one.
    pub volumes: Vec<Volume>,
}

/// A line that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenLine {
    /// The file it is in.
    pub path: PathBuf,
    /// Where in the file.
    pub place: Place,
    /// What it should have had.
    pub expected: &'static str,
    /// Its beginning.
    pub found: String,
}

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A line, counted from 1.
    Line(u64),
    /// A byte of a binary file, counted from 0.
    Byte(u64),
}

impl Problems {
    /// Operations known to be missing.
    pub fn lost(&self) -> u64 {
        self.broken + self.out_of_reach + self.lost_by_recorder
    }

    pub(super) fn add_broken(
        &mut self,
        path: &Path,
        place: Place,
        expected: Expected,
        found: &[u8],
    ) {
        self.broken += 1;
        if self.first_broken.len() < TOLD {
            let found = excerpt(found);
            self.first_broken.push(BrokenLine { path: path.to_owned(), place, expected, found });
        }
    }

    /// Whether broken and misplaced lines are more than this share of all so far; at the end any
    /// number of lines decides.
    pub(super) fn are_too_many(&self, percent: f64, is_end: bool) -> bool {
        let bad = self.broken + self.out_of_reach;
        let share = bad as f64 * 100.0 / self.lines.max(1) as f64;
        (is_end || self.lines >= LINES_FOR_A_SHARE) && share > percent
    }
}

/// The beginning of a line, fit to be printed.
pub(super) fn excerpt(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(4 * EXCERPT)]);
    let mut excerpt: String = printable(&text).chars().take(EXCERPT).collect();
    if text.chars().nth(EXCERPT).is_some() {
        excerpt.push('…');
    }
    excerpt
}

impl fmt::Display for BrokenLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, place, expected, found } = self;
        write!(f, "{}:{place}: expected {expected}, found '{found}'", path.display())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "{line}"),
            Self::Byte(byte) => write!(f, "byte {byte}"),
        }
    }
}
