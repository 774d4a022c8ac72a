//! The examples in documentation, compiled and run by rustdoc.

use std::process::{Command, Stdio};
use std::time::Duration;

use super::Outcome;
use super::built::with_clippy;

/// Runs all: those of single packages would be built anew, with features of their own.
pub(super) fn outcome() -> Outcome {
    let mut command = Command::new("cargo");
    command.args(["test", "--doc", "--no-fail-fast", "--quiet", "--workspace"]);
    with_clippy(&mut command);
    let mut outcome = Outcome::default();
    match command.stdin(Stdio::null()).stderr(Stdio::piped()).output() {
        Ok(output) => {
            let told = String::from_utf8_lossy(&output.stdout);
            outcome.passed = told.lines().map(|line| counted(line, "passed")).sum();
            if !output.status.success() {
                let errors = String::from_utf8_lossy(&output.stderr);
                outcome.add("examples", Duration::ZERO, Err(format!("{told}\n{errors}")));
            }
        }
        Err(error) => outcome.add("examples", Duration::ZERO, Err(error.to_string())),
    }
    outcome
}

/// How many of a kind a line counts: `test result: ok. 3 passed; 0 failed; …`.
fn counted(line: &str, kind: &str) -> usize {
    let Some(counts) = line.strip_prefix("test result:") else { return 0 };
    let before = |part: &str| {
        let (count, word) = part.trim().rsplit_once(' ')?;
        (word == kind).then(|| count.rsplit(' ').next()?.parse().ok()).flatten()
    };
    counts.split(';').find_map(before).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_counted_as_rustdoc_tells_them() {
        let line = "test result: ok. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out";
        assert_eq!([counted(line, "passed"), counted(line, "failed")], [3, 1]);
        assert_eq!(counted("running 3 tests", "passed"), 0);
    }
}
