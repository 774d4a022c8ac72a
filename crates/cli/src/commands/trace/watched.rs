//! The command that a recording is made around.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::{Child, Command, ExitStatus};

use rustix::process::{Pid, Signal, kill_process};

use crate::error::CliError;
use crate::output::say;

/// A command that runs, or none; it is never ended by force.
pub(crate) struct Watched {
    child: Option<Child>,
    status: Option<ExitStatus>,
}

impl Watched {
    /// Starts the command and its arguments; with no words, there is no command.
    pub(crate) fn start(words: &[OsString]) -> Result<Self, CliError> {
        let child = match words {
            [] => None,
            [command, arguments @ ..] => {
                let started = Command::new(command).args(arguments).spawn();
                Some(started.map_err(|source| {
                    let command = command.to_string_lossy().into_owned();
                    CliError::CommandNotRun { command, source }
                })?)
            }
        };
        Ok(Self { child, status: None })
    }

    /// Whether there is still something to record: always without a command.
    pub(crate) fn goes_on(&mut self) -> bool {
        if let (Some(child), None) = (&mut self.child, self.status) {
            // A child that cannot be asked is asked again when it is waited for.
            self.status = child.try_wait().unwrap_or_default();
        }
        self.status.is_none()
    }

    /// Passes Ctrl-C on. A terminal has done so already: it tells all that run on it.
    pub(crate) fn interrupt(&mut self) {
        if std::io::stdin().is_terminal() || !self.goes_on() {
            return;
        }
        let process = self.child.as_ref().and_then(|child| Pid::from_raw(child.id() as i32));
        if let Some(process) = process {
            // Only one that has just ended cannot be told.
            let _ = kill_process(process, Signal::INT);
        }
    }

    /// Waits for the command's end; `None` if there is none.
    pub(crate) fn wait(&mut self) -> Result<Option<ExitStatus>, CliError> {
        let Some(child) = &mut self.child else {
            return Ok(None);
        };
        if self.status.is_none() {
            say("recorded; waiting for the command to end");
        }
        let status = child.wait().map_err(|source| CliError::CommandLost { source })?;
        Ok(Some(status))
    }
}
