//! What passed before and has not changed since: it is told with what came of it then, and not done again.
//!
//! A part is known by what may change what comes of it: the programs that cargo made for it, as they lie in
//! the target directory; the files of the tree that its tests may read; and the machine, as tests ask it
//! what they can do there (who runs them, on which kernel, with which programs beside them), but for what
//! runs in the virtual machine, which has all that it needs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::Outcome;

/// What is known of earlier runs.
#[derive(Debug)]
pub(super) struct Before {
    /// Where it is kept.
    file: PathBuf,
    /// By part: its fingerprint and what came of it.
    parts: Mutex<BTreeMap<String, Value>>,
    /// All files of the tree.
    files: Vec<PathBuf>,
    /// Everything is tried, whatever is known of it.
    is_again: bool,
}

/// Of all files that are not code, the one that no test reads: it changes with everything.
const CHANGES: &str = "CHANGELOG.md";

/// What a part is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fingerprint(u64);

impl Before {
    /// What is kept below the target directory. Where git does not tell which files there are, everything is
    /// tried.
    pub(super) fn read(target: &Path, is_again: bool) -> Self {
        let file = target.join("passed.json");
        let known = fs::read(&file).ok();
        let parts: BTreeMap<_, _> =
            known.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
        let files = files();
        let is_again = is_again || files.is_none();
        Self { file, parts: Mutex::new(parts), files: files.unwrap_or_default(), is_again }
    }

    /// Of a part that is made of these programs, in whatever order cargo told of them, and whose tests may read
    /// any file. Code reaches them in a program.
    pub(super) fn of_programs<'a>(
        &self,
        programs: impl IntoIterator<Item = &'a PathBuf>,
    ) -> Fingerprint {
        let is_read = |file: &&PathBuf| {
            file.extension().is_none_or(|ending| ending != "rs") && *file != Path::new(CHANGES)
        };
        let programs: BTreeSet<_> = programs.into_iter().collect();
        fingerprint(|hash| {
            programs.into_iter().for_each(|program| made(program, hash));
            self.files.iter().filter(is_read).for_each(|file| contents(file, hash));
            machine(hash);
        })
    }

    /// Of a part that the files in these directories decide, wherever it runs.
    pub(super) fn of_directories(&self, directories: &[PathBuf]) -> Fingerprint {
        let is_in_one =
            |file: &&PathBuf| directories.iter().any(|directory| file.starts_with(directory));
        fingerprint(|hash| {
            self.files.iter().filter(is_in_one).for_each(|file| contents(file, hash));
        })
    }

    /// What came of a part, if it passed as it is; or else of trying it now.
    pub(super) fn or_try(
        &self,
        part: &str,
        of: Fingerprint,
        done: impl FnOnce() -> Outcome,
    ) -> Outcome {
        self.known(part, of).unwrap_or_else(|| {
            let outcome = done();
            self.keep(part, of, &outcome);
            outcome
        })
    }

    /// What came of a part, if it passed as it is.
    pub(super) fn known(&self, part: &str, of: Fingerprint) -> Option<Outcome> {
        let parts = self.parts();
        let known = parts.get(part).filter(|known| !self.is_again && known["of"] == of.0)?;
        let ago = now().saturating_sub(known["at"].as_u64()?);
        let skipped =
            |one: &Value| Some((one[0].as_str()?.to_owned(), one[1].as_str()?.to_owned()));
        let mut outcome =
            Outcome { before: known["passed"].as_u64()? as usize, ..Outcome::default() };
        for (name, why) in known["skipped"].as_array()?.iter().filter_map(skipped) {
            outcome.skip(&name, &why);
        }
        println!("xtask: {part} passed {} min ago and has not changed since", ago / 60);
        Some(outcome)
    }

    /// Which tests of a part took longer than [`QUICK`](super::outcome::QUICK) when all of them were tried.
    pub(super) fn slow(&self, part: &str) -> Vec<String> {
        let parts = self.parts();
        let slow = parts.get(part).and_then(|known| known["slow"].as_array());
        let names = slow.into_iter().flatten().filter_map(Value::as_str);
        names.map(str::to_owned).collect()
    }

    /// Keeps what came of all of a part. That it cannot be kept costs time alone.
    fn keep(&self, part: &str, of: Fingerprint, outcome: &Outcome) {
        let mut parts = self.parts();
        if outcome.passed == 0 && outcome.failed.is_empty() {
            return;
        }
        let skipped = outcome.skipped.iter().map(|one| json!([one.name, one.why]));
        let slow = outcome.slow.iter().map(|(name, _)| json!(name));
        let known = json!({
            "of": outcome.failed.is_empty().then_some(of.0),
            "at": now(),
            "passed": outcome.passed,
            "skipped": skipped.collect::<Vec<Value>>(),
            "slow": slow.collect::<Vec<Value>>(),
        });
        parts.insert(part.to_owned(), known);
        let _ = fs::write(&self.file, json!(*parts).to_string());
    }

    fn parts(&self) -> MutexGuard<'_, BTreeMap<String, Value>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn fingerprint(of: impl FnOnce(&mut DefaultHasher)) -> Fingerprint {
    let mut hash = DefaultHasher::new();
    of(&mut hash);
    Fingerprint(hash.finish())
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// The files of the tree, those that are not yet committed with them.
fn files() -> Option<Vec<PathBuf>> {
    let all = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let output = Command::new("git").args(all).output().ok();
    let output = output.filter(|output| output.status.success())?;
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(names.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect())
}

/// A file by what is in it; one that is not there is known by that.
fn contents(file: &Path, hash: &mut impl Hasher) {
    (file, fs::read(file).ok()).hash(hash);
}

/// A program by when it was made: cargo makes none again that would be the same.
fn made(program: &Path, hash: &mut impl Hasher) {
    let made = fs::metadata(program).ok().map(|data| (data.len(), data.modified().ok()));
    (program, made).hash(hash);
}

/// Who runs the tests, on which kernel, and the programs that they may find.
fn machine(hash: &mut impl Hasher) {
    rustix::process::getuid().as_raw().hash(hash);
    contents(Path::new("/proc/version"), hash);
    for directory in std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()) {
        let programs = fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
        let mut names: Vec<_> = programs.map(|program| program.file_name()).collect();
        names.sort_unstable();
        names.hash(hash);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(passed: usize) -> Outcome {
        Outcome { passed, ..Outcome::default() }
    }

    /// A directory with a program in it.
    fn with_a_program() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("program");
        fs::write(&program, "one").unwrap();
        (directory, program)
    }

    #[test]
    fn what_passed_is_told_until_its_program_changes() {
        let (directory, program) = with_a_program();
        let tried = |part: &str, is_again, comes: &Outcome| {
            let before = Before::read(directory.path(), is_again);
            before.or_try(part, before.of_programs([&program]), || comes.clone())
        };
        let mut first = passed(3);
        first.skip("a", "it needs a drive");
        assert_eq!(tried("part", false, &first), first);

        let told = tried("part", false, &passed(9));
        assert_eq!((told.passed, told.before, &told.skipped), (0, 3, &first.skipped));
        assert_eq!(tried("other", false, &passed(1)), passed(1));
        assert_eq!(tried("part", true, &passed(9)), passed(9));

        fs::write(&program, "another").unwrap();
        assert_eq!(tried("part", false, &passed(4)), passed(4));
    }

    #[test]
    fn what_failed_is_tried_again() {
        let (directory, program) = with_a_program();
        let before = Before::read(directory.path(), false);
        let of = before.of_programs([&program]);
        let failed = Outcome { failed: vec!["b".to_owned()], ..passed(3) };
        assert_eq!(before.or_try("part", of, || failed.clone()), failed);
        assert_eq!(before.or_try("part", of, || passed(4)), passed(4));
        assert_eq!(before.or_try("part", of, || failed.clone()).before, 4);
    }

    #[test]
    fn programs_are_the_same_in_any_order() {
        let (directory, program) = with_a_program();
        let other = directory.path().join("other");
        fs::write(&other, "two").unwrap();
        let before = Before::read(directory.path(), false);
        assert_eq!(before.of_programs([&program, &other]), before.of_programs([&other, &program]));
        assert_ne!(before.of_programs([&program, &other]), before.of_programs([&program]));
    }

    #[test]
    fn a_part_of_directories_is_known_by_their_files_alone() {
        let before = Before::read(Path::new("target"), true);
        let of = |directory: &str| before.of_directories(&[directory.into()]);
        assert_eq!(of("src"), of("src"));
        assert_ne!(of("src"), of("guest"));
    }
}
