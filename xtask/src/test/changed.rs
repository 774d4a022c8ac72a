//! Which packages a change can reach: those that it is in, and whatever stands on them.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::Options;

/// What of the tests is to run.
#[derive(Debug)]
pub(super) struct Scope {
    packages: Vec<Package>,
    has_guest: bool,
    /// Where what the virtual machine tries is made.
    guest_is_of: Vec<PathBuf>,
}

/// A package of the workspace.
#[derive(Debug, Clone)]
struct Package {
    name: String,
    directory: PathBuf,
    /// Cargo makes test programs of it.
    has_tests: bool,
    /// Others of the workspace that it or its tests are built of.
    needs: Vec<String>,
}

/// What the Python package is made of; its tests are a part of their own.
const PYTHON: &str = "writecliff-python";

/// The way to real drives: what the virtual machine is for.
const GUEST_IS_FOR: [&str; 4] =
    ["writecliff-uring", "writecliff-admin", "writecliff-loop-device", "writecliff-xtask"];
/// What asks for it, and says what came of it: where everything is tested, its cases are tried again after a
/// change of these, too.
const GUEST_SHOWS: [&str; 2] = ["writecliff-cli", "writecliff-device"];

impl Scope {
    /// Why a part does not run.
    pub(super) const UNCHANGED: &str = "the change does not reach it";

    pub(super) fn of(options: &Options) -> Result<Self, String> {
        let known = packages()?;
        let is_of_guest = |package: &&Package| {
            let name = package.name.as_str();
            GUEST_IS_FOR.contains(&name) || GUEST_SHOWS.contains(&name)
        };
        // Of the chores those that are about it.
        let made_in = |package: &Package| match package.name.as_str() {
            "writecliff-xtask" => {
                ["guest", "src/guest"].map(|part| package.directory.join(part)).into()
            }
            _ => vec![package.directory.clone()],
        };
        let guest_is_of = known.iter().filter(is_of_guest).flat_map(made_in).collect();
        let scope = Self::chosen(options, known)?;
        Ok(Self { guest_is_of, ..scope })
    }

    fn chosen(options: &Options, known: Vec<Package>) -> Result<Self, String> {
        if !options.only.is_empty() {
            let named = |name: &String| {
                let found = known.iter().find(|p| {
                    p.name.trim_start_matches("writecliff-")
                        == name.trim_start_matches("writecliff-")
                });
                found.cloned().ok_or_else(|| format!("there is no package '{name}'"))
            };
            let packages = options.only.iter().map(named).collect::<Result<_, _>>()?;
            return Ok(Self::new(packages, false));
        }
        match options.changed {
            true => Ok(Self::of_files(&files()?, known)),
            false => Ok(Self::new(known, true)),
        }
    }

    /// What these files reach; a file that belongs to no package reaches all.
    fn of_files(files: &[PathBuf], packages: Vec<Package>) -> Self {
        let mut changed: Vec<&str> = Vec::new();
        for file in files {
            match packages.iter().find(|package| file.starts_with(&package.directory)) {
                Some(package) => changed.push(&package.name),
                None if file.starts_with("python") => changed.push(PYTHON),
                None => return Self::new(packages, true),
            }
        }
        let has_guest = changed.iter().any(|name| GUEST_IS_FOR.contains(name));
        loop {
            let stands_on = |package: &&Package| {
                !changed.contains(&package.name.as_str())
                    && package.needs.iter().any(|name| changed.contains(&name.as_str()))
            };
            match packages.iter().find(stands_on) {
                Some(package) => changed.push(&package.name),
                None => break,
            }
        }
        let is_reached = |package: &&Package| changed.contains(&package.name.as_str());
        Self::new(packages.iter().filter(is_reached).cloned().collect(), has_guest)
    }

    fn new(packages: Vec<Package>, has_guest: bool) -> Self {
        Self { packages, has_guest, guest_is_of: Vec::new() }
    }

    /// The packages that are reached and have tests of their own.
    pub(super) fn tested(&self) -> Vec<&str> {
        let tested = self.packages.iter().filter(|package| package.has_tests);
        tested.map(|package| package.name.as_str()).collect()
    }

    pub(super) fn reaches_python(&self) -> bool {
        self.packages.iter().any(|package| package.name == PYTHON)
    }

    pub(super) fn reaches_guest(&self) -> bool {
        self.has_guest
    }

    pub(super) fn guest_is_of(&self) -> &[PathBuf] {
        &self.guest_is_of
    }
}

/// What is not committed, or what the last commit changed if everything is.
fn files() -> Result<Vec<PathBuf>, String> {
    let dirty = git(&["ls-files", "--modified", "--others", "--exclude-standard"])?;
    let staged = git(&["diff", "--name-only", "--cached"])?;
    match [dirty, staged].concat() {
        files if files.is_empty() => git(&["diff", "--name-only", "HEAD~1"]),
        files => Ok(files),
    }
}

fn git(arguments: &[&str]) -> Result<Vec<PathBuf>, String> {
    let output = Command::new("git").args(arguments).output();
    let output = output.map_err(|error| format!("cannot run git: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).lines().map(PathBuf::from).collect()),
        false => Err(format!("git: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// The workspace's packages, their directories as seen from its root.
fn packages() -> Result<Vec<Package>, String> {
    let metadata = crate::metadata()?;
    let root = metadata["workspace_root"].as_str().map(Path::new).unwrap_or(Path::new("."));
    let all = metadata["packages"].as_array().ok_or("cargo metadata names no packages")?;
    let of = |package: &Value| {
        let name = package["name"].as_str()?.to_owned();
        let manifest = Path::new(package["manifest_path"].as_str()?);
        let directory = manifest.parent()?.strip_prefix(root).ok()?.to_owned();
        let needs = package["dependencies"].as_array()?.iter();
        let needs = needs.filter(|needed| needed["path"].is_string());
        let needs = needs.filter_map(|needed| Some(needed["name"].as_str()?.to_owned())).collect();
        let has_tests = package["targets"].as_array()?.iter().any(|target| target["test"] == true);
        Some(Package { name, directory, has_tests, needs })
    };
    Ok(all.iter().filter_map(of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached(files: &[&str]) -> Scope {
        let package = |name: &str, directory: &str, needs: &[&str]| Package {
            name: name.to_owned(),
            directory: directory.into(),
            has_tests: name != PYTHON,
            needs: needs.iter().map(|&need| need.to_owned()).collect(),
        };
        let packages = [
            package("writecliff-cli", "crates/cli", &["writecliff-suite", "writecliff-uring"]),
            package("writecliff-python", "crates/python", &["writecliff-suite"]),
            package("writecliff-suite", "crates/suite", &["writecliff-device"]),
            package("writecliff-uring", "crates/uring", &["writecliff-device"]),
            package("writecliff-device", "crates/device", &[]),
        ];
        let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
        Scope::of_files(&files, packages.to_vec())
    }

    #[test]
    fn a_change_reaches_what_stands_on_it() {
        let suite = reached(&["crates/suite/src/lib.rs"]);
        assert_eq!(suite.tested(), ["writecliff-cli", "writecliff-suite"]);
        assert!(!suite.reaches_guest() && suite.reaches_python());
        let uring = reached(&["crates/uring/src/lib.rs"]);
        assert!(uring.reaches_guest() && !uring.reaches_python());
        let python = reached(&["python/tests/test_runs.py"]);
        assert!(python.tested().is_empty() && python.reaches_python());
    }

    #[test]
    fn what_belongs_to_no_package_reaches_everything() {
        let all = reached(&["crates/cli/src/main.rs", "Cargo.lock"]);
        assert!(all.tested().len() == 4 && all.reaches_guest() && all.reaches_python());
    }
}
