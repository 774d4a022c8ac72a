//! The pages as files, for any web host or to be opened from a disk.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use writecliff::ErrorKind;
use writecliff::suite::in_parallel;
use writecliff_output::{OutputError, check_directory, write_bytes};

use crate::model::{Bench, Pictures};
use crate::pages::{Audience, DATA, FOLDER, PAGE, Report, ReportsError, Site, reports_of};

/// How the page of an earlier export is told from other pages.
const MARK: &str = "<title>Writecliff Bench</title>";

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

/// Writes all pages into the directory `out`, which is new, empty or an earlier export's. What has
/// not changed is not written again. The page comes last and what is old goes after it, so that
/// whoever looks at it meanwhile, and whoever breaks this off, has a whole one.
///
/// # Errors
/// [`ExportError`]; an earlier export is whole then.
pub fn export(bench: &Bench, pictures: &dyn Pictures, out: &Path) -> Result<Exported, ExportError> {
    check_directory(out)?;
    check_place(out)?;
    let mut export = Export { out, names: BTreeSet::new(), written: 0, kept: 0 };
    let (reports, without) = export.reports(reports_of(bench))?;
    let site = Site::with(bench, Audience::Everybody, reports);
    for (name, content) in site.files.iter().filter(|(name, _)| *name != PAGE) {
        export.file(name, content)?;
    }
    for name in site.courses() {
        export.course(&site, &name, pictures)?;
    }
    export.file(PAGE, &site.files[PAGE])?;
    let removed = export.remove_old()?;
    let Export { written, kept, .. } = export;
    Ok(Exported { page: out.join(PAGE), written, kept, removed, without })
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

/// An export under way.
struct Export<'a> {
    out: &'a Path,
    /// The files that belong to it, below `out`.
    names: BTreeSet<String>,
    written: usize,
    kept: usize,
}

impl Export<'_> {
    fn file(&mut self, name: &str, content: &[u8]) -> Result<(), ExportError> {
        let path = self.place(name)?;
        if fs::read(&path).is_ok_and(|there| there == content) {
            self.kept += 1;
            return Ok(());
        }
        write_bytes(&path, content)?;
        self.written += 1;
        Ok(())
    }

    /// A complete run has one course: what is there is it.
    fn course(
        &mut self,
        site: &Site,
        name: &str,
        pictures: &dyn Pictures,
    ) -> Result<(), ExportError> {
        if self.out.join(name).is_file() {
            self.names.insert(name.to_owned());
            self.kept += 1;
            return Ok(());
        }
        match site.course(name, pictures) {
            Some(content) => self.file(name, content.as_bytes()),
            None => Ok(()),
        }
    }

    /// Makes the reports that are not there yet; gives those that are there now, and why others are
    /// not.
    fn reports(
        &mut self,
        reports: Vec<Report>,
    ) -> Result<(Vec<Report>, Vec<ReportsError>), ExportError> {
        let (mut made, mut missing) = (Vec::new(), Vec::new());
        for report in reports {
            let page = self.place(&report.path())?;
            if page.is_file() { made.push(report) } else { missing.push(report) }
        }
        self.kept += made.len();
        let folder = |report: &Report| self.out.join(FOLDER).join(&report.key);
        let done =
            in_parallel(&missing, |report| Ok::<_, Infallible>(report.write(&folder(report))));
        let Ok(done) = done;
        let mut without = Vec::new();
        for (report, done) in missing.into_iter().zip(done) {
            match done {
                Ok(()) => made.push(report),
                Err(error) => without.push(error),
            }
        }
        self.written += made.len() - self.kept;
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
                removed += 1;
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
