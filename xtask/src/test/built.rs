//! One build for all parts: every test program, the program that users get, and the Python module. Clippy
//! looks at the code while it is compiled, so that nothing is gone through twice.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::Outcome;
use super::program::{self, How};

/// The compiler, which lints what it compiles.
const CLIPPY: &str = "clippy-driver";

/// Has cargo compile with clippy, if there is one here; what was compiled so is used again by those alone that
/// ask for the same.
pub(super) fn with_clippy(command: &mut Command) -> bool {
    let has_clippy = Command::new(CLIPPY).arg("--version").output();
    let has_clippy = has_clippy.is_ok_and(|output| output.status.success());
    if has_clippy {
        command.env("RUSTC_WORKSPACE_WRAPPER", CLIPPY);
    }
    has_clippy
}

fn no_warnings(count: usize) -> Result<(), String> {
    match count {
        0 => Ok(()),
        _ => Err(format!("{count} warnings; they are above")),
    }
}

/// What cargo has made.
#[derive(Debug, Default)]
pub(crate) struct Built {
    /// Test programs by package, with the package's directory.
    programs: BTreeMap<String, Vec<(PathBuf, PathBuf)>>,
    /// Everything that runs of a package: its test programs, and the programs that these start.
    made: BTreeMap<String, Vec<PathBuf>>,
    /// What the compiler and clippy had to say.
    warnings: usize,
    /// The command line's program.
    pub(crate) writecliff: Option<PathBuf>,
    /// The Python module, as a library.
    pub(crate) native: Option<PathBuf>,
}

impl Built {
    /// Builds all, and keeps the tests of these packages; what could be built is here although something failed.
    pub(super) fn make(packages: &[&str]) -> (Self, Outcome) {
        let mut command = Command::new("cargo");
        command.args(["build", "--all-targets", "--keep-going", "--workspace"]);
        command.args(["--message-format", "json"]);
        let has_clippy = with_clippy(&mut command);
        let mut built = Self::default();
        let done = built.read(&mut command);
        built.programs.retain(|package, _| packages.contains(&package.as_str()));
        let mut outcome = Outcome::of("everything builds", done);
        match has_clippy {
            true => outcome.add("lints", Duration::ZERO, no_warnings(built.warnings)),
            false => outcome.skip("lints", "clippy is not installed"),
        }
        (built, outcome)
    }

    fn read(&mut self, command: &mut Command) -> Result<(), String> {
        let told = |error: std::io::Error| format!("cannot run cargo: {error}");
        let mut child = command.stdout(Stdio::piped()).spawn().map_err(told)?;
        for line in child.stdout.take().map(BufReader::new).into_iter().flat_map(BufRead::lines) {
            if let Ok(message) = serde_json::from_str(&line.map_err(told)?) {
                self.take(&message);
            }
        }
        match child.wait().map_err(told)?.success() {
            true => Ok(()),
            false => Err("cargo's words are above".to_owned()),
        }
    }

    /// One thing that was made, or is to be said of the code.
    fn take(&mut self, message: &Value) {
        if let Some(said) = message["message"]["rendered"].as_str() {
            eprint!("{said}");
            self.warnings += usize::from(message["message"]["level"] == "warning");
        }
        let Some(manifest) = message["manifest_path"].as_str().map(Path::new) else { return };
        let executable = message["executable"].as_str().map(PathBuf::from);
        let is_bench = message["target"]["kind"][0] == "bench";
        let is_test = message["profile"]["test"] == true && !is_bench;
        if let Some(program) = executable.clone().filter(|_| !is_bench) {
            self.made.entry(package(message)).or_default().push(program);
        }
        match (executable, message["target"]["name"].as_str()) {
            (Some(program), _) if is_test => {
                let directory = manifest.parent().unwrap_or(Path::new(".")).to_owned();
                self.programs.entry(package(message)).or_default().push((program, directory));
            }
            (Some(program), Some("writecliff")) => self.writecliff = Some(program),
            (None, Some("_native")) => {
                self.native = message["filenames"][0].as_str().map(PathBuf::from);
            }
            _ => {}
        }
    }

    /// The packages that have tests.
    pub(super) fn packages(&self) -> impl Iterator<Item = &str> {
        self.programs.keys().map(String::as_str)
    }

    /// Those of `wanted` whose tests did not build.
    pub(super) fn missing<'a>(&self, wanted: &[&'a str]) -> Vec<&'a str> {
        let has_none = |package: &&&str| !self.programs.contains_key(**package);
        wanted.iter().filter(has_none).copied().collect()
    }

    /// Everything that runs of a package.
    pub(super) fn programs(&self, package: &str) -> impl Iterator<Item = &PathBuf> {
        self.made.get(package).into_iter().flatten()
    }

    /// Runs the tests of a package.
    pub(super) fn test(&self, package: &str, how: How<'_>) -> Outcome {
        let mut outcome = Outcome::default();
        for (program, directory) in self.programs.get(package).into_iter().flatten() {
            match program::run(program, directory, how) {
                Ok(of_program) => outcome.join(of_program),
                Err(why) => outcome.add("the program", Duration::ZERO, Err(why)),
            }
        }
        outcome
    }
}

/// The name in a package's id: `path+file:///…/crates/suite#writecliff-suite@0.1.0`, or without the
/// name where it is the directory's.
fn package(message: &Value) -> String {
    let id = message["package_id"].as_str().unwrap_or_default();
    let (place, name) = id.rsplit_once('#').unwrap_or_default();
    let name = match name.split_once('@') {
        Some((name, _)) => name,
        None => place.rsplit('/').next().unwrap_or_default(),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_has_its_name_however_cargo_writes_its_id() {
        let of = |id: &str| package(&serde_json::json!({ "package_id": id }));
        assert_eq!(of("path+file:///a b/crates/suite#writecliff-suite@0.1.0"), "writecliff-suite");
        assert_eq!(of("path+file:///a b/crates/writecliff#0.1.0"), "writecliff");
    }
}
