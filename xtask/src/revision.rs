//! Earlier commits, in working trees of their own.

use std::path::PathBuf;
use std::process::Command;

/// A commit that exists in this repository.
#[derive(Clone, Debug)]
pub(crate) struct Revision {
    /// Abbreviated, and unambiguous.
    pub(crate) commit: String,
    pub(crate) subject: String,
}

impl Revision {
    /// The commit that `name` (a branch, a tag, `HEAD~3`) stands for.
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        let commit = format!("{name}^{{commit}}");
        let commit = git(&["rev-parse", "--verify", "--short", "--end-of-options", &commit])
            .map_err(|_| format!("git finds no such commit: {name}"))?;
        let subject = git(&["log", "--max-count=1", "--format=%s", &commit])?;
        Ok(Self { commit, subject })
    }

    /// What this tree grew from: HEAD if anything has changed since, else the commit before it.
    pub(crate) fn previous() -> Result<Self, String> {
        let is_changed = !git(&["status", "--porcelain"])?.is_empty();
        Self::named(if is_changed { "HEAD" } else { "HEAD~1" })
    }
}

/// A working tree of git's that goes with this value.
pub(crate) struct Checkout {
    pub(crate) path: PathBuf,
}

impl Checkout {
    /// What a killed run left at the path makes room; git is told to forget it by `--force`.
    pub(crate) fn new(path: PathBuf, commit: &str) -> Result<Self, String> {
        if path.exists() {
            std::fs::remove_dir_all(&path)
                .map_err(|error| format!("cannot remove {}: {error}", path.display()))?;
        }
        let checkout = Self { path };
        let path = checkout.path.display().to_string();
        git(&["worktree", "add", "--quiet", "--force", "--detach", &path, commit])?;
        Ok(checkout)
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        let path = self.path.display().to_string();
        if let Err(error) = git(&["worktree", "remove", "--force", &path]) {
            eprintln!("xtask: {path} is left over: {error}");
        }
    }
}

/// What git printed, without the last line's end.
fn git(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("git").args(arguments).output();
    let output = output.map_err(|error| format!("cannot run git: {error}"))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("git {}: {}", arguments.join(" "), message.trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}
