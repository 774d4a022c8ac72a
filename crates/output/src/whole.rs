//! A file that is whole or absent.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, linkat, openat, renameat_with};
use rustix::io::Errno;

use crate::OutputError;
use crate::block_device::check_file;

/// What becomes of a file that is there already under an output's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and the output is refused: at the beginning, and at the end if it came meanwhile.
    Stays,
    /// It stays until the output is whole, which then takes its place.
    Replaced,
}

/// Has no name until it is finished, so that nobody can mistake it for whole and nothing of it stays
/// whatever ends the process. Where the filesystem has no files without names (NFS, FAT), it goes by
/// a hidden name of its own, which only SIGKILL and a power cut leave behind.
#[derive(Debug)]
pub struct WholeFile {
    path: PathBuf,
    existing: Existing,
    file: File,
    /// Removed when dropped; `None` while the file has no name.
    hidden: Option<HiddenName>,
}

impl WholeFile {
    /// Begins the file that will be called `path`.
    ///
    /// # Errors
    /// [`OutputError::BlockDevice`]; [`OutputError::Exists`]; [`OutputError::NoFile`] for another
    /// device, a directory, a link; [`OutputError::Write`].
    pub fn create(path: &Path, existing: Existing) -> Result<Self, OutputError> {
        check(path, existing)?;
        let made = match unnamed(directory(path)) {
            Some(file) => Ok((file, None)),
            None => named(directory(path)).map(|(file, hidden)| (file, Some(hidden))),
        };
        let (file, hidden) =
            made.map_err(|source| OutputError::Write { path: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned(), existing, file, hidden })
    }

    /// What is written to.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Puts the file safely on disk, gives it its name, and sees to it that a power cut takes neither
    /// back.
    ///
    /// # Errors
    /// [`OutputError::Exists`]; [`OutputError::Write`]. Nothing is left behind then.
    pub fn finish(mut self) -> Result<(), OutputError> {
        let named = self.file.sync_all().and_then(|()| self.take_name());
        named.and_then(|()| sync_directory(directory(&self.path))).map_err(|source| {
            match (source.kind(), self.existing) {
                (ErrorKind::AlreadyExists, Existing::Stays) => {
                    OutputError::Exists { path: self.path.clone() }
                }
                _ => OutputError::Write { path: self.path.clone(), source },
            }
        })
    }

    fn take_name(&mut self) -> io::Result<()> {
        match (&self.hidden, self.existing) {
            (None, Existing::Stays) => link(&self.file, &self.path),
            (None, Existing::Replaced) => {
                // Only a rename replaces, and only what has a name.
                let ((), name) = hidden(directory(&self.path), |name| link(&self.file, name))?;
                fs::rename(&name.0, &self.path)
            }
            (Some(hidden), Existing::Stays) => rename_to_new(&hidden.0, &self.path),
            (Some(hidden), Existing::Replaced) => fs::rename(&hidden.0, &self.path),
        }
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A name that is removed when dropped; after a rename there is nothing under it any more.
#[derive(Debug)]
struct HiddenName(PathBuf);

impl Drop for HiddenName {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Makes something under a hidden name that nobody else has.
fn hidden<T>(
    directory: &Path,
    make: impl Fn(&Path) -> io::Result<T>,
) -> io::Result<(T, HiddenName)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = directory.join(format!("{HIDDEN}{}-{count}{UNFINISHED}", process::id()));
        match make(&path) {
            // Of a process with this number: on another machine, or killed long ago.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => return Ok((made?, HiddenName(path))),
        }
    }
}

/// A name can be given only to what is not there, or to a file like those that are written here: a
/// rename would put a file in the place of a device.
fn check(path: &Path, existing: Existing) -> Result<(), OutputError> {
    check_file(path)?;
    match (fs::symlink_metadata(path), existing) {
        (Ok(_), Existing::Stays) => Err(OutputError::Exists { path: path.to_owned() }),
        (Ok(there), Existing::Replaced) if !there.is_file() => {
            Err(OutputError::NoFile { path: path.to_owned() })
        }
        _ => Ok(()),
    }
}

fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."))
}

/// Puts a directory's names on disk, where the filesystem lets them be put there at all.
fn sync_directory(path: &Path) -> io::Result<()> {
    match File::open(path).and_then(|directory| directory.sync_all()) {
        Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
        // It may be one that nobody may list, but put files into.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(()),
        synced => synced,
    }
}

/// Whether a file of this name was left unfinished by a process that was killed.
pub fn is_unfinished(name: &str) -> bool {
    name.starts_with(HIDDEN) && name.ends_with(UNFINISHED)
}

const HIDDEN: &str = ".writecliff-";
const UNFINISHED: &str = ".partial";

/// A file without a name in this directory; `None` where there are none, or no way to name it later.
fn unnamed(directory: &Path) -> Option<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = File::from(openat(CWD, directory, flags, Mode::from_raw_mode(0o666)).ok()?);
    descriptor(&file).symlink_metadata().is_ok().then_some(file)
}

/// A new file under a hidden name.
fn named(directory: &Path) -> io::Result<(File, HiddenName)> {
    hidden(directory, |path| OpenOptions::new().write(true).create_new(true).open(path))
}

/// Where the kernel shows an open file (proc(5)).
fn descriptor(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd;
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Gives a file without a name one (open(2), `O_TMPFILE`).
fn link(file: &File, path: &Path) -> io::Result<()> {
    Ok(linkat(CWD, descriptor(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

/// Renames if nothing is there under the new name.
fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Not every filesystem can; those that cannot (NFS) have second names.
        Err(Errno::INVAL | Errno::NOSYS) => fs::hard_link(from, to),
        renamed => Ok(renamed?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// With and without a hidden name, whatever the filesystem here can.
    const BOTH: [fn(&Path, Existing) -> WholeFile; 2] =
        [|path, existing| WholeFile::create(path, existing).unwrap(), with_hidden_name];

    fn with_hidden_name(path: &Path, existing: Existing) -> WholeFile {
        let (file, hidden) = named(directory(path)).unwrap();
        WholeFile { path: path.to_owned(), existing, file, hidden: Some(hidden) }
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn what_is_finished_is_there_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t.trace");
        for existing in [Existing::Stays, Existing::Replaced] {
            for create in BOTH {
                let mut file = create(&path, existing);
                file.write_all(b"whole").unwrap();
                assert!(!path.exists());
                file.finish().unwrap();
                assert_eq!(fs::read(&path).unwrap(), b"whole");
                assert_eq!(names(directory.path()), ["t.trace"]);
                fs::remove_file(&path).unwrap();
            }
        }
    }

    #[test]
    fn what_came_meanwhile_stays_or_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t.trace");
        for create in BOTH {
            let file = create(&path, Existing::Stays);
            fs::write(&path, "precious").unwrap();
            let error = file.finish().unwrap_err();
            assert!(matches!(error, OutputError::Exists { .. }), "{error}");
            assert_eq!(fs::read(&path).unwrap(), b"precious");
            fs::remove_file(&path).unwrap();
        }
        fs::write(&path, "precious").unwrap();
        let error = WholeFile::create(&path, Existing::Stays).unwrap_err();
        assert!(matches!(error, OutputError::Exists { .. }), "{error}");
        for create in BOTH {
            let file = create(&path, Existing::Replaced);
            fs::write(&path, "old").unwrap();
            file.finish().unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"");
        }
        assert_eq!(names(directory.path()), ["t.trace"]);
    }

    #[test]
    fn only_files_are_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let link = directory.path().join("link");
        symlink("/dev/null", &link).unwrap();
        for path in [Path::new("/dev/null"), directory.path(), &link] {
            let error = WholeFile::create(path, Existing::Replaced).unwrap_err();
            assert!(matches!(error, OutputError::NoFile { .. }), "{error}");
        }
    }

    #[test]
    fn what_is_not_finished_leaves_nothing_and_touches_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t.trace");
        let partial = directory.path().join("t.trace.partial");
        fs::write(&partial, "somebody else's").unwrap();
        BOTH.into_iter().for_each(|create| drop(create(&path, Existing::Stays)));
        assert_eq!(fs::read(&partial).unwrap(), b"somebody else's");
        assert_eq!(names(directory.path()), ["t.trace.partial"]);
        // As after SIGKILL: nothing is dropped.
        let killed = WholeFile::create(&path, Existing::Stays).unwrap();
        match &killed.hidden {
            None => assert_eq!(names(directory.path()), ["t.trace.partial"]),
            Some(_) => eprintln!("SKIPPED: this filesystem has no files without names"),
        }
    }
}
