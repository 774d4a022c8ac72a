//! What `wipefs` and `blkid` recognise on a drive: one more objection where they are installed,
//! never a permission.
//!
//! Each is run on the descriptor that was judged, opened anew for reading only, so that it neither
//! sees another drive nor shares a claim or a lock. An answer that does not come in time, or that
//! nobody can read, is a doubt. What they print is distrusted: a name is shown in plain letters.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};

use crate::guard::extent::Extent;
use crate::guard::signatures::Found;

const PLACES: &[&str] = &["/usr/sbin", "/usr/bin", "/sbin", "/bin"];
/// A USB stick that has just been written all over answers after ten seconds and more.
const PATIENCE: Duration = Duration::from_secs(30);
/// Longer than any list of marks, and what a pipe holds, so that no tool waits for us to read.
const OUTPUT_MAX: u64 = 64 << 10;
const NAME_MAX: usize = 48;
const SECTOR: u64 = 512;

/// What a tool said that was not known before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It recognises something.
    Recognised(Recognised),
    /// It gave no answer that means anything.
    Failed { tool: &'static str, problem: String },
}

/// Something that a tool recognises.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recognised {
    pub(crate) tool: &'static str,
    pub(crate) what: String,
    pub(crate) place: Option<Extent>,
    table: bool,
}

/// Asks the tools that are installed. What is `known` at the same place is not said again.
pub(crate) fn ask(drive: &File, known: &[Found]) -> Vec<Answer> {
    let mut answers = Vec::new();
    if let Some(program) = installed("wipefs") {
        answers.extend(by_wipefs(&program, drive, PATIENCE));
        answers.retain(|answer| is_news(answer, known));
    }
    if let Some(program) = installed("blkid") {
        let mut more = by_blkid(&program, drive, PATIENCE);
        more.retain(|answer| is_first_of_its_sort(answer, known, &answers));
        answers.extend(more);
    }
    answers
}

/// A tool of util-linux; other programs that answer to its name know too little.
fn installed(tool: &str) -> Option<PathBuf> {
    let paths = PLACES.iter().map(|place| Path::new(place).join(tool));
    let mut real = paths.filter_map(|path| fs::canonicalize(path).ok());
    real.find(|path| path.file_name().is_some_and(|name| name == tool))
}

fn is_news(answer: &Answer, known: &[Found]) -> bool {
    let Answer::Recognised(Recognised { place, .. }) = answer else {
        return true;
    };
    let sectors = |place: Extent| {
        let offset = place.offset / SECTOR * SECTOR;
        let end = place.offset.saturating_add(place.length).div_ceil(SECTOR) * SECTOR;
        Extent { offset, length: end - offset }
    };
    let is_here =
        |found: &Found| place.is_some_and(|place| sectors(place).overlaps(sectors(found.place)));
    !known.iter().any(is_here)
}

/// `blkid` tells no places: what it says counts where nobody found anything of the sort.
fn is_first_of_its_sort(answer: &Answer, known: &[Found], answers: &[Answer]) -> bool {
    let Answer::Recognised(Recognised { table, .. }) = answer else {
        return !answers.iter().any(|earlier| matches!(earlier, Answer::Failed { .. }));
    };
    let by_another = |earlier: &Answer| match earlier {
        Answer::Recognised(earlier) => earlier.table == *table,
        Answer::Failed { .. } => false,
    };
    !known.iter().any(|found| found.is_partition_table() == *table)
        && !answers.iter().any(by_another)
}

fn by_wipefs(program: &Path, drive: &File, patience: Duration) -> Vec<Answer> {
    let tool = "wipefs";
    let arguments = ["--no-act", "--parsable", "--output", "OFFSET,LENGTH,USAGE,TYPE"];
    let output = match run(program, &arguments, drive, patience) {
        Ok(output) => output,
        Err(problem) => return vec![Answer::Failed { tool, problem }],
    };
    if !output.status.success() {
        return vec![Answer::Failed { tool, problem: output.complaint() }];
    }
    let lines = output.text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let answers = lines.map(|line| {
        let unreadable = || Answer::Failed { tool, problem: format!("it said {}", plain(line)) };
        wipefs_line(line).map_or_else(unreadable, Answer::Recognised)
    });
    answers.collect()
}

/// `0x438,2,filesystem,ext4`
fn wipefs_line(line: &str) -> Option<Recognised> {
    let mut fields = line.split(',');
    let offset = u64::from_str_radix(fields.next()?.trim().strip_prefix("0x")?, 16).ok()?;
    let length = fields.next()?.trim().parse().ok().filter(|length| (1..=4096).contains(length))?;
    let table = fields.next()? == "partition-table";
    let what = plain(fields.next()?);
    offset.checked_add(length)?;
    let place = Some(Extent { offset, length });
    Some(Recognised { tool: "wipefs", what, place, table })
}

fn by_blkid(program: &Path, drive: &File, patience: Duration) -> Vec<Answer> {
    let tool = "blkid";
    let output = match run(program, &["--probe", "--output", "export"], drive, patience) {
        Ok(output) => output,
        Err(problem) => return vec![Answer::Failed { tool, problem }],
    };
    let recognised = |what: &str, table| {
        let (what, place) = (plain(what), None);
        Answer::Recognised(Recognised { tool, what, place, table })
    };
    match output.status.code() {
        Some(0) => {
            let lines = output.text.lines().filter_map(|line| line.split_once('='));
            let kinds = lines.filter_map(|(key, value)| match key {
                "TYPE" => Some(recognised(value, false)),
                "PTTYPE" => Some(recognised(value, true)),
                _ => None,
            });
            kinds.collect()
        }
        // Nothing recognised; with a complaint, nothing looked at.
        Some(2) if output.complaints.trim().is_empty() => Vec::new(),
        Some(8) => vec![recognised("ambivalent (marks of several kinds)", false)],
        _ => vec![Answer::Failed { tool, problem: output.complaint() }],
    }
}

struct Output {
    status: ExitStatus,
    text: String,
    complaints: String,
}

impl Output {
    fn complaint(&self) -> String {
        match self.complaints.lines().next() {
            Some(line) => plain(line),
            None => self.status.to_string(),
        }
    }
}

/// Runs a tool with the drive as its standard input, which it opens again by that name.
fn run(
    program: &Path,
    arguments: &[&str],
    drive: &File,
    patience: Duration,
) -> Result<Output, String> {
    let failed = |error: io::Error| error.to_string();
    let mut child = Command::new(program)
        .args(arguments)
        .arg("/proc/self/fd/0")
        .env_clear()
        .env("LC_ALL", "C")
        .stdin(reopened(drive).map_err(failed)?)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let Some(status) = wait(&mut child, patience).map_err(failed)? else {
        return Err(format!("no answer in {} s", patience.as_secs_f32()));
    };
    let text = read(child.stdout.take()).map_err(failed)?;
    let complaints = read(child.stderr.take()).map_err(failed)?;
    Ok(Output { status, text, complaints })
}

/// The same drive, to read, without the claim or lock that our own descriptor has.
fn reopened(drive: &File) -> io::Result<File> {
    let path = format!("/proc/self/fd/{}", drive.as_raw_fd());
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

/// Waits for a tool's end. One that takes too long is killed and left alone: it may hang in a read
/// that nothing can end.
fn wait(child: &mut Child, patience: Duration) -> io::Result<Option<ExitStatus>> {
    let (start, mut pause) = (Instant::now(), Duration::from_micros(500));
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() >= patience {
            child.kill()?;
            thread::sleep(Duration::from_millis(10));
            return child.try_wait().map(|_| None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

fn read(pipe: Option<impl Read>) -> io::Result<String> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        pipe.take(OUTPUT_MAX).read_to_end(&mut bytes)?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Short, and nothing that a terminal would take for more than a letter.
fn plain(text: &str) -> String {
    let harmless = |c: char| match c {
        ' '..='~' => c,
        _ => '?',
    };
    text.trim().chars().map(harmless).take(NAME_MAX).collect()
}

#[cfg(test)]
#[path = "external_detectors_tests.rs"]
mod tests;
