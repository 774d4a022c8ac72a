//! Somebody at a terminal of his own.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

const WRITECLIFF: &str = env!("CARGO_BIN_EXE_writecliff");

/// The program, with a library of results that is nobody's: that of whoever runs the tests stays as it is.
pub(crate) fn command() -> Command {
    let mut command = Command::new(WRITECLIFF);
    command.env("WRITECLIFF_BENCH", Path::new(env!("CARGO_TARGET_TMPDIR")).join("library"));
    command
}

/// A user with a library of his own.
pub(crate) struct User {
    directory: TempDir,
}

impl User {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command();
        command.args(arguments).current_dir(self.path()).stdin(Stdio::null());
        command.env("WRITECLIFF_BENCH", self.path().join("library"));
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        let output = self.command(arguments).output().unwrap();
        assert!(!errors(&output).contains("panicked"), "{arguments:?}: {}", errors(&output));
        output
    }

    pub(crate) fn well(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", errors(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs that are not those of the catalogue.
    pub(crate) fn runs(&self) -> Vec<Value> {
        let listed: Value =
            serde_json::from_str(&self.well(&["bench", "list", "--runs", "--json"])).unwrap();
        let runs = listed["runs"].as_array().unwrap().clone();
        runs.into_iter().filter(|run| run["catalogue"] == false).collect()
    }
}

pub(crate) fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
