//! The Python package, built as a wheel and tried in clean environments.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{run, target_directory};

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

/// Builds the wheel, and tests it on the newest Python here with all that it works with, and on the
/// oldest with nothing else.
pub(crate) fn test() -> Result<(), String> {
    let pythons = Python::all();
    let (Some(newest), Some(oldest)) = (pythons.first(), pythons.last()) else {
        println!("xtask: SKIPPED the Python package: there is no Python 3.{OLDEST_MINOR} or newer");
        return Ok(());
    };
    let target = target_directory()?;
    let place = target.join("python");
    let whole = newest.environment(&place.join("whole"))?;
    pip(&whole, &["maturin", "pytest"])?;
    pip(&whole, &FOR_TESTS)?;
    check_sources(&whole, &place.join("sources"))?;
    // With the settings of the other tests, so that what they have built is there.
    let wheel = wheel(&whole, "dev", &place.join("wheels"))?;
    pytest(&whole, &wheel, &target)?;
    if oldest != newest {
        let bare = oldest.environment(&place.join("bare"))?;
        pip(&bare, &["pytest"])?;
        pytest(&bare, &wheel, &target)?;
    }
    Ok(())
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

fn pip(python: &Path, packages: &[&str]) -> Result<(), String> {
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    run(Command::new(python).args(install).args(packages))
}

/// Builds it by this cargo profile.
fn wheel(python: &Path, profile: &str, out: &Path) -> Result<PathBuf, String> {
    // An earlier one would be taken for this one.
    let _ = fs::remove_dir_all(out);
    println!("xtask: maturin build");
    let build = ["-m", "maturin", "build", "--quiet", "--locked", "--profile", profile, "--out"];
    run(Command::new(python).args(build).arg(out))?;
    let made = fs::read_dir(out).map_err(|error| format!("{}: {error}", out.display()))?;
    let mut wheels = made.filter_map(Result::ok).map(|entry| entry.path());
    wheels.next().ok_or_else(|| "maturin made no wheel".to_owned())
}

/// Installs the wheel and runs its tests from a directory where nothing else can be imported.
fn pytest(python: &Path, wheel: &Path, target: &Path) -> Result<(), String> {
    let wheel = wheel.to_str().ok_or("the target directory is no text")?;
    pip(python, &["--force-reinstall", "--no-deps", wheel])?;
    let tests = std::env::current_dir().map_err(|error| error.to_string())?.join("python/tests");
    println!("xtask: pytest");
    let mut command = Command::new(python);
    command.args(["-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider"]).arg(tests);
    command.env("WRITECLIFF_PROGRAM", target.join("debug/writecliff"));
    run(command.env("WRITECLIFF_BENCH", "off").env("PYTHONDONTWRITEBYTECODE", "1"))
}
