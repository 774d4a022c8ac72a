//! The Python package, built as a wheel and tried in clean environments.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::test::{Built, Outcome};
use crate::{cargo, run, target_directory};

/// What tests of the package ask for beside it; those that miss something are skipped.
const FOR_TESTS: [&str; 10] = [
    "distributed",
    "duckdb",
    "ipykernel",
    "mypy",
    "nbclient",
    "nbformat",
    "pandas",
    "polars",
    "pyarrow",
    "tqdm",
];

/// The oldest Python that the wheel is for.
const OLDEST_MINOR: u32 = 10;

/// An interpreter and the second part of its version.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Python {
    program: PathBuf,
    minor: u32,
}

/// Builds the wheel as pip does, and tests it on the newest Python here with all that it works with,
/// and on the oldest with nothing else.
pub(crate) fn test() -> Result<(), String> {
    let outcome = on(Pythons::NewestAndOldest, &Package::Wheel);
    match outcome.failed.is_empty() {
        true => Ok(()),
        false => Err(format!("the Python package: {} tests failed", outcome.failed.len())),
    }
}

/// What comes of the package's tests with the module that the other tests have built, or with a wheel.
pub(crate) fn outcome(built: &Built, wants_wheel: bool, pythons: Pythons) -> Outcome {
    match (&built.native, &built.writecliff) {
        _ if wants_wheel => on(pythons, &Package::Wheel),
        (Some(native), Some(program)) => {
            on(pythons, &Package::Built { native: native.clone(), program: program.clone() })
        }
        _ => Outcome::left_out("the Python package", "it did not build"),
    }
}

/// On which interpreters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pythons {
    /// The newest here, and the oldest that the wheel is for.
    NewestAndOldest,
    Newest,
}

/// What is tested.
enum Package {
    /// What pip makes of a clone.
    Wheel,
    /// The module and the program as the other tests have built them.
    Built { native: PathBuf, program: PathBuf },
}

fn on(pythons: Pythons, package: &Package) -> Outcome {
    let all = Python::all();
    let (Some(newest), Some(oldest)) = (all.first(), all.last()) else {
        let why = format!("there is no Python 3.{OLDEST_MINOR} or newer");
        return Outcome::left_out("the Python package", &why);
    };
    let mut outcome = Outcome::default();
    let mut add = |of: Result<Outcome, String>| match of {
        Ok(of) => outcome.join(of),
        Err(why) => outcome.add("its environment", Duration::ZERO, Err(why)),
    };
    add(newest.tested(package, "whole", &[&["maturin", "pytest"], &FOR_TESTS[..]].concat()));
    if oldest != newest && pythons == Pythons::NewestAndOldest {
        add(oldest.tested(package, "bare", &["pytest"]));
    }
    if pythons == Pythons::Newest {
        outcome.skip("the oldest Python", "tried when everything is tested");
    }
    outcome
}

/// Directories beside the crates that the package is built of.
const EMBEDDED: [&str; 2] = ["drives", "drives/published"];

/// Makes the source distribution, and refuses one without a file that the crates embed.
fn check_sources(python: &Path, out: &Path) -> Result<(), String> {
    let _ = fs::remove_dir_all(out);
    println!("xtask: maturin sdist");
    run(Command::new(python).args(["-m", "maturin", "sdist", "--out"]).arg(out))?;
    let list = "import glob, sys, tarfile\nfor file in glob.glob(sys.argv[1] + '/*.tar.gz'):\n    \
                print(*(name.split('/', 1)[1] for name in tarfile.open(file).getnames()), sep='\\n')";
    let packed = lines(Command::new(python).args(["-c", list]).arg(out))?;
    for directory in EMBEDDED {
        let files = fs::read_dir(directory).map_err(|error| format!("{directory}: {error}"))?;
        for file in files.filter_map(Result::ok).map(|file| file.path()).filter(|p| p.is_file()) {
            if packed.iter().all(|packed| Path::new(packed) != file) {
                let file = file.display();
                return Err(format!("the source distribution has no {file}: see pyproject.toml"));
            }
        }
    }
    Ok(())
}

/// What a command prints.
fn lines(command: &mut Command) -> Result<Vec<String>, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()),
        false => Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// The newest Python here with the package, built by this cargo profile, and other packages; `None`,
/// said aloud, if there is no Python.
pub(crate) fn installed(profile: &str, others: &[&str]) -> Result<Option<PathBuf>, String> {
    let pythons = Python::all();
    let Some(newest) = pythons.first() else {
        println!("xtask: SKIPPED the Python package: there is no Python 3.{OLDEST_MINOR} or newer");
        return Ok(None);
    };
    let place = target_directory()?.join("python").join(profile);
    let python = newest.environment(&place)?;
    pip(&python, &["maturin"])?;
    pip(&python, others)?;
    let wheel = wheel(&python, profile, &place.join("wheels"))?;
    pip(&python, &["--no-deps", wheel.to_str().ok_or("the target directory is no text")?])?;
    Ok(Some(python))
}

impl Python {
    /// One of each version here that the wheel is for, the newest first.
    fn all() -> Vec<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let minors = OLDEST_MINOR..OLDEST_MINOR + 10;
        let names: Vec<String> =
            minors.map(|minor| format!("python3.{minor}")).chain(["python3".to_owned()]).collect();
        let in_path = std::env::split_paths(&path)
            .flat_map(|folder| names.iter().map(move |name| folder.join(name)).collect::<Vec<_>>());
        let all = in_path.chain(of_pyenv());
        let mut found: Vec<Self> = all.filter(|path| path.is_file()).filter_map(Self::at).collect();
        // Of each version the first in PATH.
        found.sort_by_key(|python| std::cmp::Reverse(python.minor));
        found.dedup_by_key(|python| python.minor);
        found
    }

    /// None if it cannot make environments, or is too old.
    fn at(program: PathBuf) -> Option<Self> {
        let script = "import sys, ensurepip, venv; print(*sys.version_info[:2])";
        let output = Command::new(&program).args(["-c", script]).output().ok()?;
        let told = String::from_utf8(output.stdout).ok()?;
        let minor = told.trim().strip_prefix("3 ")?.parse().ok()?;
        (minor >= OLDEST_MINOR).then_some(Self { program, minor })
    }

    /// Tests the package on this Python, in an environment that has these others.
    fn tested(&self, package: &Package, name: &str, others: &[&str]) -> Result<Outcome, String> {
        let target = target_directory()?;
        let place = target.join("python").join(name);
        let python = self.environment_with(&place, others)?;
        let has_maturin = others.contains(&"maturin");
        let mut outcome = match has_maturin {
            true => {
                Outcome::of("source distribution", check_sources(&python, &place.join("sources")))
            }
            false => Outcome::default(),
        };
        let (importable, program) = match package {
            Package::Built { native, program } => {
                let folder = target.join("python/package");
                lay_out(native, &folder)?;
                (Some(folder), program.clone())
            }
            Package::Wheel => {
                let wheels = target.join("python/wheels");
                let wheel = match has_maturin {
                    true => wheel(&python, "wheel", &wheels)?,
                    false => first_in(&wheels)?,
                };
                let wheel = wheel.to_str().ok_or("the target directory is no text")?;
                pip(&python, &["--force-reinstall", "--no-deps", wheel])?;
                cargo(&["build", "--release", "--package", "writecliff-cli"])?;
                (None, target.join("release/writecliff"))
            }
        };
        outcome.join(pytest(&python, self.minor, importable.as_deref(), &program)?);
        Ok(outcome)
    }

    /// A virtual environment with other packages; one that has them already is used again.
    fn environment_with(&self, path: &Path, others: &[&str]) -> Result<PathBuf, String> {
        let (python, list) = (path.join("bin/python"), path.join("has"));
        let wanted = format!("{} {}", self.program.display(), others.join(" "));
        if fs::read_to_string(&list).is_ok_and(|has| has == wanted) && python.exists() {
            return Ok(python);
        }
        let python = self.environment(path)?;
        pip(&python, others)?;
        fs::write(&list, wanted).map_err(|error| format!("{}: {error}", list.display()))?;
        Ok(python)
    }

    /// A new virtual environment; gives its interpreter.
    fn environment(&self, path: &Path) -> Result<PathBuf, String> {
        println!("xtask: Python 3.{} in {}", self.minor, path.display());
        run(Command::new(&self.program).args(["-m", "venv", "--clear"]).arg(path))?;
        Ok(path.join("bin/python"))
    }
}

/// What pyenv has installed, whatever it shows in PATH.
fn of_pyenv() -> Vec<PathBuf> {
    let root = Command::new("pyenv").arg("root").output().ok();
    let root = root.and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    let versions = fs::read_dir(Path::new(root.trim()).join("versions")).into_iter().flatten();
    versions.filter_map(Result::ok).map(|version| version.path().join("bin/python")).collect()
}

/// Compiles nothing: of pandas, polars and all that they stand on the tests import a part.
fn pip(python: &Path, packages: &[&str]) -> Result<(), String> {
    let install =
        ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"];
    run(Command::new(python).args(install).args(packages))
}

/// Builds it by this cargo profile.
fn wheel(python: &Path, profile: &str, out: &Path) -> Result<PathBuf, String> {
    // An earlier one would be taken for this one.
    let _ = fs::remove_dir_all(out);
    println!("xtask: maturin build");
    let build = ["-m", "maturin", "build", "--quiet", "--locked", "--profile", profile, "--out"];
    run(Command::new(python).args(build).arg(out))?;
    first_in(out)
}

fn first_in(folder: &Path) -> Result<PathBuf, String> {
    let made = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut wheels = made.filter_map(Result::ok).map(|entry| entry.path());
    wheels.next().ok_or_else(|| "maturin made no wheel".to_owned())
}

/// The package as pip would install it, of the module that is built.
fn lay_out(native: &Path, folder: &Path) -> Result<(), String> {
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    let package = folder.join("writecliff");
    let _ = fs::remove_dir_all(&package);
    fs::create_dir_all(&package).map_err(told)?;
    for entry in fs::read_dir("python/writecliff").map_err(told)? {
        let path = entry.map_err(told)?.path();
        if let (true, Some(name)) = (path.is_file(), path.file_name()) {
            fs::copy(&path, package.join(name)).map_err(told)?;
        }
    }
    fs::copy(native, package.join("_native.abi3.so")).map_err(told)?;
    Ok(())
}

/// Runs the package's tests; `importable` is where it lies, if it is not installed.
fn pytest(
    python: &Path,
    minor: u32,
    importable: Option<&Path>,
    program: &Path,
) -> Result<Outcome, String> {
    let tests = std::env::current_dir().map_err(|error| error.to_string())?.join("python/tests");
    println!("xtask: pytest on Python 3.{minor}");
    let mut command = Command::new(python);
    command.args(["-m", "pytest", "-q", "-ra", "-p", "no:cacheprovider"]);
    command.args(["--durations=20", "--durations-min=5"]).arg(tests);
    command.env("WRITECLIFF_PROGRAM", program).env("WRITECLIFF_BENCH", "off");
    // Compiled once, and not beside the sources.
    command.env("PYTHONPYCACHEPREFIX", target_directory()?.join("python/compiled"));
    command.stdin(Stdio::null());
    if let Some(importable) = importable {
        command.env("PYTHONPATH", importable);
    }
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("cannot run pytest: {error}"))?;
    let told = String::from_utf8_lossy(&output.stdout);
    print!("{told}");
    let mut outcome = told_by_pytest(&told);
    if output.status.success() != outcome.failed.is_empty() || outcome.passed == 0 {
        outcome.add("pytest", Duration::ZERO, Err(format!("ended with {}", output.status)));
    }
    Ok(outcome)
}

/// What pytest tells with `-ra` and `--durations`: a line for what failed or was skipped, and counts.
fn told_by_pytest(told: &str) -> Outcome {
    let mut outcome = Outcome::default();
    for line in told.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["FAILED" | "ERROR", test, ..] => outcome.failed.push(test.to_owned()),
            // `SKIPPED [1] python/tests/test_x.py:4: why`
            ["SKIPPED", _, place, ..] => {
                let why = line.split_once(place).map_or("", |(_, why)| why.trim());
                outcome.skip(place.trim_end_matches(':'), why);
            }
            [time, "call" | "setup", test] => {
                let time = time.strip_suffix('s').and_then(|time| time.parse().ok());
                let time = Duration::from_secs_f64(time.unwrap_or_default());
                outcome.slow.push((test.to_owned(), time));
            }
            _ => {}
        }
        // `1 failed, 58 passed, 1 skipped in 9.99s`
        if let Some((counts, _)) = line.split_once(" passed") {
            let count = counts.rsplit(' ').next().and_then(|count| count.parse().ok());
            outcome.passed = count.unwrap_or(outcome.passed);
        }
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pytest_is_understood() {
        let told = "..F [100%]\n============ slowest 20 durations ============\n\
                    7.50s call     test_runs.py::test_b\n\
                    SKIPPED [1] ../tests/test_sweeps.py:9: could not import 'dask'\n\
                    FAILED test_runs.py::test_c - AssertionError: no\n\
                    1 failed, 58 passed, 1 skipped in 9.99s\n";
        let outcome = told_by_pytest(told);
        assert_eq!((outcome.passed, outcome.failed), (58, vec!["test_runs.py::test_c".to_owned()]));
        assert_eq!(outcome.skipped[0].why, "could not import 'dask'");
        assert_eq!(outcome.slow[0].1, Duration::from_millis(7500));
        assert_eq!(told_by_pytest("59 passed in 44.10s\n").passed, 59);
    }
}
