//! What is said to a server beside NBD: how it is, that its plug is pulled, and that a die is lost. A line of JSON asks, a
//! line of JSON answers, on a socket of its own.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use writecliff_device::ErrorKind;

use crate::live::Live;
use crate::status::Status;

/// How long either side may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest question, and the longest answer.
const LINE_MAX: u64 = 1 << 20;
/// What the control socket's name has more than that of the server's.
const ENDING: &str = ".ctl";

/// What can be asked of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// How its drives are.
    Status,
    /// Pull the plug.
    PowerCut,
    /// Put it in again.
    PowerOn,
    /// Have this die stop working.
    LoseDie(u32),
}

/// A question.
#[derive(Debug, Serialize, Deserialize)]
struct Question {
    order: Order,
    /// One export; all of them if `None`.
    export: Option<String>,
}

/// An answer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Answer {
    Drives(Vec<Status>),
    Refused(String),
}

/// Why a server was not asked, or did not do it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// Nobody answers.
    #[error(
        "no export answers at {}: {source}; name the socket that `writecliff export` has printed", path.display()
    )]
    NotThere {
        /// The control socket.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The server would not do it.
    #[error("{reason}")]
    Refused {
        /// In its words.
        reason: String,
    },
}

impl ControlError {
    /// What it asks of whoever asked.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NotThere { .. } => ErrorKind::Usage,
            Self::Refused { .. } => ErrorKind::Failed,
        }
    }
}

/// The control socket of the server at `socket`; that may be the control socket itself.
pub fn control_socket(socket: &Path) -> PathBuf {
    let name = socket.as_os_str();
    if name.as_encoded_bytes().ends_with(ENDING.as_bytes()) {
        return socket.to_owned();
    }
    let mut path = name.to_owned();
    path.push(ENDING);
    PathBuf::from(path)
}

/// Has the server at `socket` do something, to one of its drives or to all; gives how these are then.
///
/// # Errors
/// [`ControlError`].
pub fn ask(socket: &Path, order: Order, export: Option<&str>) -> Result<Vec<Status>, ControlError> {
    let path = control_socket(socket);
    let answer = converse(&path, &Question { order, export: export.map(str::to_owned) });
    match answer.map_err(|source| ControlError::NotThere { path, source })? {
        Answer::Drives(drives) => Ok(drives),
        Answer::Refused(reason) => Err(ControlError::Refused { reason }),
    }
}

fn converse(path: &Path, question: &Question) -> io::Result<Answer> {
    let mut stream = UnixStream::connect(path)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(&line(question))?;
    read_line(&stream)
}

/// Answers whoever has connected, once.
pub(crate) fn answer(mut stream: UnixStream, drives: &[Arc<Live>]) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let answer = match read_line(&stream) {
        Ok(question) => obey(&question, drives),
        Err(error) => Answer::Refused(format!("not understood: {error}")),
    };
    stream.write_all(&line(&answer))
}

fn obey(question: &Question, drives: &[Arc<Live>]) -> Answer {
    let is_meant =
        |live: &&Arc<Live>| question.export.as_deref().is_none_or(|name| name == live.name());
    let meant: Vec<&Arc<Live>> = drives.iter().filter(is_meant).collect();
    if meant.is_empty() {
        let names: Vec<&str> = drives.iter().map(|live| live.name()).collect();
        return Answer::Refused(format!("there is no such export; there are {}", names.join(", ")));
    }
    for live in &meant {
        let done = match question.order {
            Order::Status => Ok(()),
            Order::PowerCut => live.cut_power().map_err(|refused| refused.to_string()),
            Order::PowerOn => live.give_power().map_err(|refused| refused.to_string()),
            Order::LoseDie(die) => live.lose_die(die).map_err(|refused| refused.to_string()),
        };
        if let Err(refused) = done {
            return Answer::Refused(format!("{}: {refused}", live.name()));
        }
    }
    Answer::Drives(meant.into_iter().map(|live| live.status()).collect())
}

fn line(value: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(value).expect("plain values");
    line.push(b'\n');
    line
}

fn read_line<T: for<'a> Deserialize<'a>>(stream: &UnixStream) -> io::Result<T> {
    let mut line = Vec::new();
    BufReader::new(stream.take(LINE_MAX)).read_until(b'\n', &mut line)?;
    Ok(serde_json::from_slice(&line)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_socket_is_found_by_either_name() {
        let expected = Path::new("/run/evo.sock.ctl");
        assert_eq!(control_socket(Path::new("/run/evo.sock")), expected);
        assert_eq!(control_socket(expected), expected);
    }
}
