//! Texts into files, pipes and terminals.

use std::fs::{FileType, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use crate::block_device::{check_file, refused};
use crate::{Existing, OutputError, WholeFile};

/// Writes a text to a file, which takes the place of an earlier one.
///
/// # Errors
/// As [`WholeFile::create`] and [`WholeFile::finish`].
pub fn write_text(path: &Path, text: &str) -> Result<(), OutputError> {
    write_bytes(path, text.as_bytes())
}

/// [`write_text`] of what is no text.
///
/// # Errors
/// As [`write_text`].
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), OutputError> {
    let mut file = WholeFile::create(path, Existing::Replaced)?;
    let written = file.write_all(bytes);
    written.map_err(|source| OutputError::Write { path: path.to_owned(), source })?;
    file.finish()
}

/// Writes a text to whatever a name stands for: a file as [`write_text`] does; a pipe, a terminal,
/// /dev/null and anything behind a link (/dev/stdout) as it is.
///
/// # Errors
/// [`OutputError::BlockDevice`]; [`OutputError::Write`].
pub fn send_text(path: &Path, text: &str) -> Result<(), OutputError> {
    check_file(path)?;
    match path.symlink_metadata() {
        Ok(there) if !there.is_file() => stream(path, text),
        _ => write_text(path, text),
    }
}

/// Only what is open cannot become something else meanwhile.
fn stream(path: &Path, text: &str) -> Result<(), OutputError> {
    let failed = |source| OutputError::Write { path: path.to_owned(), source };
    // Nothing of it is changed by opening it.
    let opened = OpenOptions::new().write(true).create(true).truncate(false).open(path);
    let mut file = opened.map_err(failed)?;
    let kind: FileType = file.metadata().map_err(failed)?.file_type();
    if kind.is_block_device() {
        return refused(path);
    }
    let emptied = if kind.is_file() { file.set_len(0) } else { Ok(()) };
    emptied.and_then(|()| file.write_all(text.as_bytes())).map_err(failed)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use writecliff_device::ErrorKind;

    use super::*;
    use crate::check_directory;
    use rustix::fs::{CWD, FileType as NodeType, Mode, makedev, mknodat};
    use std::io::{self, Read};
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;
    use std::thread;

    /// A node of a block device that no driver has; `None`, said loudly, without root's rights.
    fn device(directory: &Path) -> Option<PathBuf> {
        let path = directory.join("drive");
        let number = makedev(240, 77);
        let made = mknodat(CWD, &path, NodeType::BlockDevice, Mode::from_raw_mode(0o600), number);
        if let Err(error) = made {
            let _ = writeln!(io::stderr(), "SKIPPED a test of block devices: mknod: {error}");
            return None;
        }
        Some(path)
    }

    #[test]
    fn no_way_of_writing_leads_to_a_block_device() {
        let directory = tempfile::tempdir().unwrap();
        let Some(drive) = device(directory.path()) else { return };
        let link = directory.path().join("link");
        symlink(&drive, &link).unwrap();
        let refused = |done: Result<(), OutputError>| {
            assert!(matches!(&done, Err(error) if error.kind() == ErrorKind::Refused), "{done:?}");
        };
        for path in [&drive, &link] {
            refused(write_text(path, "x"));
            refused(send_text(path, "x"));
            for existing in [Existing::Stays, Existing::Replaced] {
                refused(WholeFile::create(path, existing).map(drop));
            }
            refused(check_directory(&path.join("a/b")));
            assert!(path.symlink_metadata().is_ok());
        }
        let error = write_text(&drive, "x").unwrap_err().to_string();
        assert!(error.contains("is a block device") && error.ends_with("name a file"), "{error}");
        check_directory(&directory.path().join("new/new")).unwrap();
    }

    #[test]
    fn a_file_is_replaced_and_what_a_link_leads_to_is_written() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("file"), directory.path().join("link"));
        symlink(&file, &link).unwrap();
        for (path, text) in [(&link, "made through a link"), (&file, "new"), (&link, "n")] {
            send_text(path, text).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
        send_text(Path::new("/dev/null"), "x").unwrap();
        assert!(matches!(send_text(directory.path(), "x").unwrap_err(), OutputError::Write { .. }));
    }

    #[test]
    fn a_pipe_gets_the_text() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        let mode = Mode::from_raw_mode(0o600);
        mknodat(CWD, &pipe, NodeType::Fifo, mode, 0).unwrap();
        let reader = thread::spawn({
            let pipe = pipe.clone();
            move || {
                let mut text = String::new();
                fs::File::open(pipe).unwrap().read_to_string(&mut text).unwrap();
                text
            }
        });
        send_text(&pipe, "through").unwrap();
        assert_eq!(reader.join().unwrap(), "through");
    }
}
