//! The files that jobs are on: no more than one drive here, as a run has one, and all share it.

use super::lines::Entry;
use super::{Judged, Note, wrong};
use crate::{Amount, Job};

/// What a job file says of them so far.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// The first that is named, and where.
    drive: Option<(usize, String)>,
    /// Jobs that name none: which of all they are, and the line of each.
    unnamed: Vec<(usize, usize)>,
}

impl Files {
    /// Refuses a second drive.
    pub(super) fn check(&mut self, entry: &Entry) -> Judged<()> {
        match entry.option.as_str() {
            "filename" => self.add(entry.line, entry.value.as_deref().unwrap_or_default()),
            _ => Ok(()),
        }
    }

    /// The job that comes `index`th: one that names no file is on the device that its section is called
    /// after, or on files of its own.
    pub(super) fn add_job<'a>(
        &mut self,
        index: usize,
        (name, line): (&str, usize),
        mut entries: impl Iterator<Item = &'a Entry>,
    ) -> Judged<()> {
        if entries.any(|entry| entry.option == "filename") {
            return Ok(());
        }
        if name.starts_with("/dev/") {
            return self.add(line, name);
        }
        self.unnamed.push((index, line));
        Ok(())
    }

    fn add(&mut self, line: usize, name: &str) -> Judged<()> {
        let (first, known) = self.drive.get_or_insert_with(|| (line, name.to_owned()));
        if known == name && !name.contains(':') {
            return Ok(());
        }
        let message = format!(
            "filename={name} is one more drive than a run has (line {first} names the first); make a \
             file for each and run them one by one"
        );
        wrong(line, message)
    }

    /// Said once, of the first job that has a file to itself in fio, and company on the drive here.
    pub(super) fn note(&self, jobs: &[Job]) -> Option<Note> {
        let (_, line) = *self.unnamed.iter().find(|(index, _)| has_company(jobs, *index))?;
        Some(Note { line, option: "filename".to_owned(), text: SHARED.to_owned() })
    }
}

/// What is said where no job names a file and several run at once.
pub(super) const SHARED: &str = "is left out, which gives every job and every copy files of its own in fio; here they \
                                 share the drive, where offset and offset_increment keep them apart";

/// Whether another job, or a copy of this one, begins at the same time and place.
fn has_company(jobs: &[Job], index: usize) -> bool {
    let job = &jobs[index];
    let is_beside = |other: &Job| other.group == job.group && other.offset == job.offset;
    let mut others = jobs.iter().enumerate().filter(|(other, _)| *other != index);
    let has_copies = job.copies > 1 && job.offset_increment == Amount::ZERO;
    has_copies || others.any(|(_, other)| is_beside(other))
}
