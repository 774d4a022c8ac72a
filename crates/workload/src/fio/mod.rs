//! Jobs from fio's job files: the options that people know, with the meaning that fio gives them.
//!
//! [`read`] follows what changes the I/O itself, notes what cannot (and says so in
//! [`FioJobs::notes`]), and refuses the rest with the line and what to do instead: a job that ran
//! otherwise than its file says would be worse than none. [`OPTIONS`] has them all. What fio does
//! was found out by running fio 3.33; the tests still compare the two.

mod engine;
mod files;
mod lines;
mod options;
mod section;
mod split;
#[cfg(test)]
mod tests;
mod value;
mod zones;

pub use engine::asks_no_drive;
use lines::{Entry, Section};
pub use options::{OPTIONS, OptionEntry, Treatment};

use writecliff_device::Nanos;

use crate::{Job, JobList};

/// What a job file asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct FioJobs {
    /// The jobs.
    pub list: JobList,
    /// What the file says and is not followed, or followed in a way that may surprise.
    pub notes: Vec<Note>,
}

/// Something about an option that the user may want to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The line in the file, from 1.
    pub line: usize,
    /// The option as it was written.
    pub option: String,
    /// What becomes of it.
    pub text: String,
}

impl Note {
    /// Whether it is about an option that is followed, in a way that may surprise, or about jobs that share the drive;
    /// `group_reporting` changes no I/O.
    pub fn is_of_the_load(&self) -> bool {
        let name = self.option.split('=').next().unwrap_or_default();
        let row = OPTIONS.iter().find(|row| row.names.contains(&name));
        let is_followed = row.is_some_and(|row| matches!(row.treatment, Treatment::Followed(_)));
        self.text == files::SHARED || is_followed && name != "group_reporting"
    }
}

/// A job file that is not followed, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct FioError {
    /// The file.
    pub file: String,
    /// The line in it, from 1.
    pub line: usize,
    /// What is wrong and what would be right.
    pub message: String,
}

/// A line of the file and what is wrong with it.
#[derive(Debug)]
struct Wrong {
    line: usize,
    message: String,
}

type Judged<T> = Result<T, Wrong>;

fn wrong<T>(line: usize, message: impl Into<String>) -> Judged<T> {
    Err(Wrong { line, message: message.into() })
}

/// Reads a job file's text. `file` is its name, for messages; `${NAME}` in an option that is
/// followed is looked up in `variable`, which is the environment for all but tests.
///
/// # Errors
/// [`FioError`] at the first line that is wrong or not supported.
pub fn read(
    file: &str,
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<FioJobs, FioError> {
    jobs(text, variable).map_err(|Wrong { line, message }| FioError {
        file: file.to_owned(),
        line,
        message,
    })
}

fn jobs(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Judged<FioJobs> {
    let mut global = Vec::<Entry>::new();
    let mut found = FioJobs { list: JobList::default(), notes: Vec::new() };
    let mut files = files::Files::default();
    let (mut group, mut summed) = (0, None);
    let sections = lines::sections(text)?;
    check_engines(&sections)?;
    for Section { name, line, entries } in sections {
        for entry in &entries {
            found.notes.extend(options::judge(entry)?);
            files.check(entry)?;
            let is_on = entry.option == "group_reporting" && entry.value.as_deref() != Some("0");
            summed = summed.or(is_on.then_some(entry.line));
        }
        if name == "global" {
            global.extend(entries);
            continue;
        }
        if found.list.jobs.iter().any(|job| job.name == name) {
            return wrong(line, format!("a second job is called '{name}'; give each its own name"));
        }
        let all = global.iter().chain(&entries);
        files.add_job(found.list.jobs.len(), (&name, line), all.clone())?;
        let (mut job, waits) =
            section::job((&name, line), all.cloned(), variable, &mut found.notes)?;
        group += u32::from(waits && !found.list.jobs.is_empty());
        job.group = group;
        check_group(&found.list.jobs, &job, line)?;
        found.list.jobs.push(job);
    }
    if found.list.jobs.is_empty() {
        return wrong(1, "the file has no job; begin one with a line such as [job1]");
    }
    found.notes.extend(files.note(&found.list.jobs));
    found.notes.extend(summed.filter(|_| has_company(&found.list.jobs)).map(note_the_sum));
    found.notes.sort_by_key(|note| note.line);
    found.notes.dedup();
    Ok(found)
}

/// Whether any jobs run at once, copies of one among them.
fn has_company(jobs: &[Job]) -> bool {
    let of_group = |group| jobs.iter().filter(move |job| job.group == group);
    let at_once = |job: &Job| of_group(job.group).map(|job| u64::from(job.copies)).sum::<u64>();
    jobs.iter().any(|job| at_once(job) > 1)
}

fn note_the_sum(line: usize) -> Note {
    let text = "every job is reported by itself, and copies of one job are, too: the group's rate is \
                the sum of theirs";
    Note { line, option: "group_reporting".to_owned(), text: text.to_owned() }
}

/// What an engine is for comes before what its own options are.
fn check_engines(sections: &[Section]) -> Judged<()> {
    let entries = sections.iter().flat_map(|section| &section.entries);
    let mut engines = entries.filter(|entry| entry.option == "ioengine");
    engines
        .try_for_each(|entry| engine::check(entry.line, entry.value.as_deref().unwrap_or_default()))
}

/// What fio counts from its own beginning, or asks of all jobs of a group alike.
fn check_group(before: &[Job], job: &Job, line: usize) -> Judged<()> {
    if job.group > 0 && job.start_delay > Nanos::ZERO {
        let message = "fio counts startdelay from its own beginning, not from the stonewall; leave \
                       it out, or begin the job with the first ones";
        return wrong(line, message);
    }
    let of_group = before.iter().filter(|other| other.group == job.group);
    if of_group.into_iter().any(|other| other.steady != job.steady) {
        return wrong(
            line,
            "fio asks steadystate of all jobs of a group alike; put it into [global]",
        );
    }
    Ok(())
}
