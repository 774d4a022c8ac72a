//! The pages as files, for any web host or to be opened from a disk.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;

use writecliff::ErrorKind;
use writecliff::suite::in_parallel;
use writecliff_output::{OutputError, check_directory, write_bytes};

use crate::model::{Bench, Pictures};
use crate::pages::{Audience, DATA, FOLDER, PAGE, Report, ReportsError, Site, reports_of};

/// How the page of an earlier export is told from other pages.
const MARK: &str = "<title>Writecliff Bench</title>";

/// So many reports are drawn unless more are asked for: a tenth of a second each.
pub const REPORTS: usize = 200;

/// Which reports are drawn. Those that are there from an earlier export stay in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reports {
    /// Those of the runs that began last.
    Newest(usize),
    /// Every one.
    All,
}

/// How far an export is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExportProgress {
    /// So many courses of runs are there.
    Courses {
        /// Of these.
        of: usize,
        /// Done.
        done: usize,
    },
    /// The page can be opened; only reports are still missing.
    Shown,
    /// Another report has been drawn or has failed.
    Report {
        /// Of these.
        of: usize,
    },
}

/// What was written.
#[derive(Debug)]
#[non_exhaustive]
pub struct Exported {
    /// The page to open.
    pub page: PathBuf,
    /// Files that are new or not as they were.
    pub written: usize,
    /// Files that were there already.
    pub kept: usize,
    /// Files of an earlier export that nothing leads to any more.
    pub removed: usize,
    /// Reports that could not be made; their runs are there without them.
    pub without: Vec<ReportsError>,
    /// Reports of older runs that were not asked for.
    pub left_out: usize,
}

/// Why there is no export.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The directory holds something else.
    #[error(
        "{} is not empty and holds no export of Bench; name a new directory, or an earlier export's",
        path.display()
    )]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
    /// A file or a directory of it cannot be read, made or removed.
    #[error("cannot export to {}: {source}; choose another place", path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file cannot be written; a block device is refused.
    #[error("no export: {0}")]
    Output(#[from] OutputError),
}

impl ExportError {
    /// What kind of "no" it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NotEmpty { .. } => ErrorKind::Usage,
            Self::Write { source, .. } => ErrorKind::of_path(source),
            Self::Output(error) => error.kind(),
        }
    }
}

/// [`export_with`] the reports of the newest runs, unwatched.
///
/// # Errors
/// As [`export_with`].
pub fn export(bench: &Bench, pictures: &dyn Pictures, out: &Path) -> Result<Exported, ExportError> {
    export_with(bench, pictures, out, Reports::Newest(REPORTS), &|_| {})
}

/// Writes all pages into the directory `out`, which is new, empty or an earlier export's. What has
/// not changed is not written again. First come the rankings and all that they lead to, with the page
/// last, then reports, then the page that leads to these; what is old goes after it. So whoever looks at
/// it meanwhile, and whoever breaks this off, has a whole one, and the next export goes on from there.
///
/// # Errors
/// [`ExportError`]; an earlier export is whole then.
pub fn export_with(
    bench: &Bench,
    pictures: &dyn Pictures,
    out: &Path,
    wanted: Reports,
    watch: &(dyn Fn(ExportProgress) + Sync),
) -> Result<Exported, ExportError> {
    check_directory(out)?;
    check_place(out)?;
    let mut export = Export { out, names: BTreeSet::new(), written: BTreeSet::new(), watch };
    let Sorted { there, asked, left_out } = export.sort(reports_of(bench), wanted);
    let site = Site::with(bench, Audience::Everybody, there.clone());
    export.site(&site, Some(pictures))?;
    watch(ExportProgress::Shown);
    let (made, without) = export.draw(asked)?;
    if !made.is_empty() {
        export.names.retain(|name| name.starts_with(FOLDER) || is_course(name));
        let site = Site::with(bench, Audience::Everybody, [there, made].concat());
        export.site(&site, None)?;
    }
    let removed = export.remove_old()?;
    let written = export.written.intersection(&export.names).count();
    let kept = export.names.len() - written;
    Ok(Exported { page: out.join(PAGE), written, kept, removed, without, left_out })
}

fn check_place(out: &Path) -> Result<(), ExportError> {
    let is_empty = fs::read_dir(out).map_or(true, |mut entries| entries.next().is_none());
    let is_ours = || fs::read_to_string(out.join(PAGE)).is_ok_and(|page| page.contains(MARK));
    // Left by an export that was broken off before its first page.
    let is_begun = || {
        let known = |name: &std::ffi::OsStr| {
            name == DATA || name == FOLDER || name.to_str().is_some_and(is_asset)
        };
        let entries = fs::read_dir(out).into_iter().flatten().filter_map(Result::ok);
        entries.into_iter().all(|entry| known(&entry.file_name()))
    };
    match is_empty || is_ours() || is_begun() {
        true => Ok(()),
        false => Err(ExportError::NotEmpty { path: out.to_owned() }),
    }
}

/// Whether the page's script or style sheet, of whatever version, is called so.
fn is_asset(name: &str) -> bool {
    name.starts_with("bench-") && (name.ends_with(".js") || name.ends_with(".css"))
}

/// Whether a file below the root is the course of a run.
fn is_course(name: &str) -> bool {
    name.strip_prefix(DATA).is_some_and(|rest| rest.starts_with("/run-"))
}

/// So many files are written at once.
const WRITERS: usize = 16;
/// So many courses are in memory at once.
const BATCH: usize = 256;

/// An export under way.
struct Export<'a> {
    out: &'a Path,
    /// The files that belong to it, below `out`.
    names: BTreeSet<String>,
    /// Those that were not there, or not as they are.
    written: BTreeSet<String>,
    watch: &'a (dyn Fn(ExportProgress) + Sync),
}

/// Reports by what is to be done about them.
struct Sorted {
    there: Vec<Report>,
    asked: Vec<Report>,
    left_out: usize,
}

impl Export<'_> {
    /// All of a site but its reports, the page last; its courses, if there is something to make them of.
    fn site(&mut self, site: &Site, pictures: Option<&dyn Pictures>) -> Result<(), ExportError> {
        let but_the_page = site.files.iter().filter(|(name, _)| *name != PAGE);
        let files: Vec<(&str, &[u8])> =
            but_the_page.map(|(name, content)| (name.as_str(), &**content)).collect();
        self.files(&files)?;
        if let Some(pictures) = pictures {
            self.courses(site, pictures)?;
        }
        self.files(&[(PAGE, &site.files[PAGE])])
    }

    /// A complete run has one course: what is there is it.
    fn courses(&mut self, site: &Site, pictures: &dyn Pictures) -> Result<(), ExportError> {
        let all: Vec<String> = site.courses().collect();
        let (there, missing): (Vec<String>, Vec<String>) =
            all.into_iter().partition(|name| self.out.join(name).is_file());
        self.names.extend(there);
        for (batch, names) in missing.chunks(BATCH).enumerate() {
            (self.watch)(ExportProgress::Courses { of: missing.len(), done: batch * BATCH });
            let courses =
                names.iter().filter_map(|name| Some((name, site.course(name, pictures)?)));
            let courses: Vec<(&String, String)> = courses.collect();
            let files = courses.iter().map(|(name, course)| (name.as_str(), course.as_bytes()));
            self.files(&files.collect::<Vec<_>>())?;
        }
        Ok(())
    }

    /// Writes what is not there as it is to be. Each file is safely on disk before it has its name,
    /// which is mostly waiting: several wait at once.
    fn files(&mut self, files: &[(&str, &[u8])]) -> Result<(), ExportError> {
        let mut new: Vec<(&str, &[u8], PathBuf)> = Vec::new();
        for (name, content) in files {
            let path = self.place(name)?;
            if !fs::read(&path).is_ok_and(|there| there == *content) {
                new.push((name, content, path));
            }
        }
        let write = |part: &[(&str, &[u8], PathBuf)]| {
            part.iter().try_for_each(|(_, content, path)| write_bytes(path, content))
        };
        thread::scope(|scope| {
            let parts = new.chunks(new.len().div_ceil(WRITERS).max(1));
            let writers: Vec<_> = parts.map(|part| scope.spawn(move || write(part))).collect();
            let joined = writers.into_iter().map(|writer| match writer.join() {
                Ok(written) => written,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            joined.collect::<Result<Vec<()>, OutputError>>()
        })?;
        self.written.extend(new.into_iter().map(|(name, ..)| name.to_owned()));
        Ok(())
    }

    /// Which reports are there, and which of the others are wanted.
    fn sort(&mut self, reports: Vec<Report>, wanted: Reports) -> Sorted {
        let mut newest: Vec<&Report> = reports.iter().collect();
        newest.sort_by(|one, other| other.began.cmp(&one.began));
        let count = match wanted {
            Reports::Newest(count) => count,
            Reports::All => newest.len(),
        };
        let wanted: BTreeSet<String> =
            newest.iter().take(count).map(|report| report.key.clone()).collect();
        let is_there = |report: &Report| self.out.join(report.path()).is_file();
        let (there, missing): (Vec<_>, Vec<_>) = reports.into_iter().partition(is_there);
        self.names.extend(there.iter().map(Report::path));
        let is_wanted = |report: &Report| wanted.contains(&report.key);
        let (asked, left): (Vec<_>, Vec<_>) = missing.into_iter().partition(is_wanted);
        Sorted { there, asked, left_out: left.len() }
    }

    /// Makes these reports; gives those that are there now, and why others are not.
    fn draw(
        &mut self,
        asked: Vec<Report>,
    ) -> Result<(Vec<Report>, Vec<ReportsError>), ExportError> {
        for report in &asked {
            self.place(&report.path())?;
        }
        let folder = |report: &Report| self.out.join(FOLDER).join(&report.key);
        let draw = |report: &Report| {
            let drawn = report.write(&folder(report));
            (self.watch)(ExportProgress::Report { of: asked.len() });
            Ok::<_, Infallible>(drawn)
        };
        let Ok(done) = in_parallel(&asked, draw);
        let (mut made, mut without) = (Vec::new(), Vec::new());
        for (report, done) in asked.into_iter().zip(done) {
            match done {
                Ok(()) => {
                    self.written.insert(report.path());
                    made.push(report);
                }
                Err(error) => {
                    self.names.remove(&report.path());
                    without.push(error);
                }
            }
        }
        Ok((made, without))
    }

    /// Where a file is, in a folder that is there.
    fn place(&mut self, name: &str) -> Result<PathBuf, ExportError> {
        self.names.insert(name.to_owned());
        let path = self.out.join(name);
        let folder = path.parent().unwrap_or(self.out);
        fs::create_dir_all(folder)
            .map_err(|source| ExportError::Write { path: folder.to_owned(), source })?;
        Ok(path)
    }

    /// Removes what an earlier export wrote and this one does not have, and nothing that has not the
    /// form of it.
    fn remove_old(&self) -> Result<usize, ExportError> {
        let is_data = |name: &str| {
            let begins =
                ["index-", "figures-", "drive-", "run-"].iter().any(|b| name.starts_with(b));
            begins && name.ends_with(".js")
        };
        let is_report = |name: &str| name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let mut removed = 0;
        for (folder, is_ours) in
            [("", is_asset as fn(&str) -> bool), (DATA, is_data), (FOLDER, is_report)]
        {
            for name in entries(&self.out.join(folder)) {
                let below = [folder, &name].join("/");
                let below = below.trim_start_matches('/');
                let page = format!("{below}/{PAGE}");
                if !is_ours(&name) || self.names.contains(below) || self.names.contains(&page) {
                    continue;
                }
                let path = self.out.join(below);
                let gone = if folder == FOLDER {
                    fs::remove_dir_all(&path)
                } else {
                    fs::remove_file(&path)
                };
                gone.map_err(|source| ExportError::Write { path, source })?;
                // What led to reports that were still missing is no earlier export's.
                removed += usize::from(!self.written.contains(below));
            }
        }
        Ok(removed)
    }
}

/// The names in a directory; none if there is no such directory.
fn entries(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}
