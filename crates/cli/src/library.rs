//! A result on its way into the user's results library: as soon as there is something, so that one
//! whose process was killed is there as well.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Once;

use writecliff_bench::{SudoUser, VARIABLE, sudo_user};

use crate::output::say;

/// A result that is being made.
pub(crate) struct Begun<'a> {
    result: &'a Path,
    is_kept: bool,
    once: Once,
}

impl<'a> Begun<'a> {
    /// One that is to be kept, if it is.
    pub(crate) const fn new(result: &'a Path, is_kept: bool) -> Self {
        Self { result, is_kept, once: Once::new() }
    }

    /// Whatever goes wrong is told when the result is [kept](keep) at its end.
    pub(crate) fn seen(&self) {
        if self.is_kept && !self.once.is_completed() && self.result.exists() {
            self.once.call_once(|| drop(add(self.result)));
        }
    }
}

/// Adds what is in a directory to the library, unless it is not to be. Where that cannot be done, the
/// result is there all the same, and a line says so.
pub(crate) fn keep(result: &Path, no_bench: bool) {
    if no_bench {
        return;
    }
    if let Err(reason) = add(result) {
        say(&format!("note: the result is not in the results library: {reason}"));
    }
}

fn add(result: &Path) -> Result<(), String> {
    match sudo_user() {
        Some(user) if std::env::var_os(VARIABLE).is_none() => keep_as(&user, result),
        _ => writecliff_bench::keep(result).map_err(|error| error.to_string()),
    }
}

/// Under sudo the library is that of the user who called it. Root writes nothing there: this program,
/// called as that user, does.
fn keep_as(user: &SudoUser, result: &Path) -> Result<(), String> {
    let home = user.home.as_ref().ok_or("the user who called sudo has no home directory here")?;
    let result = result.canonicalize().map_err(|error| error.to_string())?;
    let mut command = Command::new("/proc/self/exe");
    command.args(["bench", "add", "--quiet"]).arg(&result).uid(user.user).gid(user.group);
    command.env_clear().env("HOME", home).current_dir("/").stdin(Stdio::null());
    let output = command.output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}
