//! Sockets by which a server is reached: made, and gone when it ends.

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::fs::Mode;
use rustix::process::umask;

use crate::error::ExportError;

/// A unix socket of this process; its file goes with it.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) listener: UnixListener,
    path: PathBuf,
}

impl Socket {
    /// Listens at `path`, for this user alone. A socket that is there and that nobody listens at any more
    /// is replaced.
    pub(crate) fn bind(path: &Path) -> Result<Self, ExportError> {
        let failed = |source| ExportError::Socket { path: path.to_owned(), source };
        match fs::symlink_metadata(path) {
            Ok(found) if !found.file_type().is_socket() => {
                return Err(ExportError::NoSocket { path: path.to_owned() });
            }
            Ok(_) => match UnixStream::connect(path) {
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    fs::remove_file(path).map_err(failed)?;
                }
                _ => return Err(ExportError::SocketTaken { path: path.to_owned() }),
            },
            Err(_) => {}
        }
        let before = umask(Mode::RWXG | Mode::RWXO);
        let listener = UnixListener::bind(path);
        umask(before);
        let listener = listener.map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Self { listener, path: path.to_owned() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // Who has removed it already wanted it gone, too.
        let _ = fs::remove_file(&self.path);
    }
}
