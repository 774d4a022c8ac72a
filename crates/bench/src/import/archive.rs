//! The ways in which results come packed.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::ImportError;
use super::limits::Sink;

/// What files begin with.
const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const ZIP: &[u8] = b"PK\x03\x04";
/// Where a plain tar says that it is one.
const TAR_AT: usize = 257;
const TAR: &[u8] = b"ustar";

/// Every file of an archive, whatever its name says that it is.
pub(super) fn from_file(mut file: File, sink: &mut Sink<'_>) -> Result<(), ImportError> {
    let path = sink.source().to_owned();
    let unreadable = |source| ImportError::Read { path: path.clone(), source };
    let mut head = Vec::new();
    (&mut file).take(512).read_to_end(&mut head).map_err(unreadable)?;
    file.seek(SeekFrom::Start(0)).map_err(unreadable)?;
    let file = BufReader::new(file);
    match head {
        head if head.starts_with(GZIP) => from_tar(MultiGzDecoder::new(file), sink),
        head if head.starts_with(ZSTD) => {
            let unpacked = zstd::Decoder::with_buffer(file)
                .map_err(|error| sink.damaged(&error.to_string()))?;
            from_tar(unpacked, sink)
        }
        head if head.starts_with(ZIP) => from_zip(file, sink),
        head if head.get(TAR_AT..).is_some_and(|rest| rest.starts_with(TAR)) => {
            from_tar(file, sink)
        }
        _ => Err(ImportError::Format { path }),
    }
}

fn from_tar(unpacked: impl Read, sink: &mut Sink<'_>) -> Result<(), ImportError> {
    // Also what is passed over is unpacked, and names of entries are held in memory.
    let bounded = Bounded { from: unpacked, left: sink.room(), is_over: false };
    let mut archive = tar::Archive::new(bounded);
    let read = read_tar(&mut archive, sink);
    match read {
        Err(ImportError::Damaged { .. }) if archive.into_inner().is_over => {
            Err(sink.too_much_unpacked())
        }
        read => read,
    }
}

fn read_tar(archive: &mut tar::Archive<impl Read>, sink: &mut Sink<'_>) -> Result<(), ImportError> {
    let entries = archive.entries().map_err(|error| sink.damaged(&error.to_string()))?;
    for entry in entries {
        let mut entry = entry.map_err(|error| sink.damaged(&error.to_string()))?;
        let path = entry.path().map_err(|error| sink.damaged(&error.to_string()))?.into_owned();
        match entry.header().entry_type() {
            tar::EntryType::Regular | tar::EntryType::Continuous => sink.file(&path, &mut entry)?,
            tar::EntryType::Directory => {}
            _ => sink.leave_out()?,
        }
    }
    Ok(())
}

fn from_zip(file: impl Read + Seek, sink: &mut Sink<'_>) -> Result<(), ImportError> {
    let mut archive =
        zip::ZipArchive::new(file).map_err(|error| sink.damaged(&error.to_string()))?;
    for index in 0..archive.len() {
        let mut entry =
            archive.by_index(index).map_err(|error| sink.damaged(&error.to_string()))?;
        let name = entry.name().map_err(|error| sink.damaged(&error.to_string()))?.into_owned();
        match (entry.is_dir(), entry.is_symlink()) {
            (true, _) => {}
            (_, true) => sink.leave_out()?,
            // Windows' separators are part of a name here, and such a name is none of a run's.
            _ => sink.file(Path::new(&name), &mut entry)?,
        }
    }
    Ok(())
}

/// Every file of a directory and those in it; links are not followed.
pub(super) fn from_directory(root: &Path, sink: &mut Sink<'_>) -> Result<(), ImportError> {
    look(root, root, sink)
}

fn look(root: &Path, directory: &Path, sink: &mut Sink<'_>) -> Result<(), ImportError> {
    let read = |source| ImportError::Read { path: directory.to_owned(), source };
    let mut entries = fs::read_dir(directory)
        .and_then(|entries| entries.collect::<io::Result<Vec<_>>>())
        .map_err(read)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (kind, path) = (entry.file_type().map_err(read)?, entry.path());
        let within = path.strip_prefix(root).unwrap_or(&path).to_owned();
        let is_too_deep = within.components().count() > sink.depth();
        match (kind.is_dir(), kind.is_file()) {
            (true, _) if !is_too_deep => look(root, &path, sink)?,
            (_, true) => {
                let file = File::open(&path);
                sink.file(&within, file.map_err(|source| ImportError::Read { path, source })?)?;
            }
            _ => sink.leave_out()?,
        }
    }
    Ok(())
}

/// A reader that fails after so many bytes.
struct Bounded<R> {
    from: R,
    left: u64,
    is_over: bool,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => {
                self.is_over = true;
                return Err(io::Error::other("it unpacks to too much"));
            }
        }
        Ok(read)
    }
}
