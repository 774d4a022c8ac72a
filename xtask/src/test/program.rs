//! One test program: run, its tests counted and timed as it tells them.
//!
//! Test programs tell what they do as JSON, with times, as soon as unstable options are allowed to
//! them; `RUSTC_BOOTSTRAP` does that for the program alone, nothing is compiled with it. A program
//! that says anything else than is expected here fails.

use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::Outcome;

/// What a test prints where it cannot do its work.
const SKIPPED: &str = "SKIPPED";

/// How tests are run.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct How<'a> {
    /// They do their long sweeps.
    pub(crate) is_nightly: bool,
    /// Those of these names are not run, if the program has them.
    pub(crate) without: &'a [String],
}

/// Runs the tests of a program, from its package's directory as cargo does. Its standard input is
/// closed, so that nothing waits for a terminal.
pub(super) fn run(program: &Path, directory: &Path, how: How<'_>) -> Result<Outcome, String> {
    let told = |error: std::io::Error| format!("{}: {error}", program.display());
    let mut command = Command::new(program);
    command.args(["-Z", "unstable-options", "--format", "json", "--report-time", "--show-output"]);
    let processors = thread::available_parallelism().map_or(1, usize::from);
    command.args(["--test-threads", &processors.to_string()]);
    if !how.without.is_empty() {
        command.arg("--exact").args(how.without.iter().flat_map(|name| ["--skip", name]));
    }
    command.env("RUSTC_BOOTSTRAP", "1").env("CARGO_MANIFEST_DIR", directory);
    if how.is_nightly {
        command.env("WRITECLIFF_NIGHTLY", "1");
    }
    command.current_dir(directory).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().map_err(told)?;
    let errors = child.stderr.take().map(BufReader::new);
    // What is said on the real standard error is what the harness does not keep for itself.
    let errors = thread::spawn(move || {
        let lines = errors.into_iter().flat_map(BufRead::lines).map_while(Result::ok);
        lines.inspect(|line| eprintln!("{line}")).collect::<Vec<_>>()
    });
    let mut tests = Tests::default();
    for line in child.stdout.take().map(BufReader::new).into_iter().flat_map(BufRead::lines) {
        tests.line(&line.map_err(told)?);
    }
    let status = child.wait().map_err(told)?;
    let errors = errors.join().unwrap_or_default();
    errors.iter().for_each(|line| tests.skipped("", line));
    tests.end(status.success(), &errors.join("\n"))
}

/// What a program has told so far.
#[derive(Debug, Default)]
struct Tests {
    outcome: Outcome,
    running: HashSet<String>,
    expected: u64,
    seen: u64,
}

impl Tests {
    fn line(&mut self, line: &str) {
        // What a child of a test prints may come between.
        let Ok(event) = serde_json::from_str::<Value>(line) else { return println!("{line}") };
        let name = event["name"].as_str().unwrap_or_default();
        let said = event["stdout"].as_str().unwrap_or_default();
        let took = event["exec_time"].as_f64().unwrap_or_default();
        let took = Duration::try_from_secs_f64(took).unwrap_or_default();
        match (event["type"].as_str(), event["event"].as_str()) {
            (Some("suite"), Some("started")) => {
                self.expected = event["test_count"].as_u64().unwrap_or_default();
            }
            (Some("test"), Some("started")) => drop(self.running.insert(name.to_owned())),
            (Some("test"), Some(ended @ ("ok" | "failed" | "ignored"))) => {
                self.running.remove(name);
                self.seen += 1;
                match ended {
                    "ok" => self.outcome.add(name, took, Ok(())),
                    "failed" => self.outcome.add(name, took, Err(said.to_owned())),
                    _ => {
                        let why = event["message"].as_str().unwrap_or("only when asked for");
                        self.outcome.skip(name, why);
                    }
                }
                said.lines().for_each(|line| self.skipped(name, line));
            }
            _ => {}
        }
    }

    /// Something that a test could not do here: `SKIPPED: why`, or `SKIPPED what: why`.
    fn skipped(&mut self, test: &str, line: &str) {
        let Some(rest) = line.strip_prefix(SKIPPED) else { return };
        let (what, why) = rest.split_once(": ").unwrap_or(("", rest));
        let name = if what.trim().is_empty() { test } else { what.trim() };
        self.outcome.skip(name, why.trim());
    }

    /// A program that died, or did not run all that it has, has failed whatever it told.
    fn end(mut self, is_success: bool, errors: &str) -> Result<Outcome, String> {
        let is_whole = self.seen == self.expected && self.running.is_empty();
        if !is_whole || is_success != self.outcome.failed.is_empty() {
            let Self { seen, expected, running, .. } = &self;
            let running: Vec<&str> = running.iter().map(String::as_str).collect();
            let running = running.join(", ");
            let said = format!("{seen} of {expected} tests ended, {running} did not; {errors}");
            self.outcome.add("the program", Duration::ZERO, Err(said));
        }
        Ok(self.outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(lines: &[&str]) -> Tests {
        let mut tests = Tests::default();
        lines.iter().for_each(|line| tests.line(line));
        tests
    }

    const STARTED: &str = r#"{"type":"suite","event":"started","test_count":3}"#;
    const A: &str = r#"{"type":"test","name":"a","event":"ok","exec_time":6.5,"stdout":"SKIPPED: it needs root\n"}"#;
    const B: &str = r#"{"type":"test","name":"b","event":"failed","stdout":"as expected"}"#;

    #[test]
    fn tests_are_counted_timed_and_asked_what_they_left_out() {
        let ignored = r#"{"type":"test","name":"c","event":"ignored","message":"takes a night"}"#;
        let outcome = told(&[STARTED, A, B, ignored]).end(false, "").unwrap();
        assert_eq!((outcome.passed, outcome.failed), (1, vec!["b".to_owned()]));
        assert_eq!(outcome.slow, [("a".to_owned(), Duration::from_millis(6500))]);
        let skipped: Vec<_> =
            outcome.skipped.iter().map(|s| (s.name.as_str(), s.why.as_str())).collect();
        assert_eq!(skipped, [("a", "it needs root"), ("c", "takes a night")]);
    }

    #[test]
    fn a_program_that_dies_or_leaves_tests_out_has_failed() {
        let started = r#"{"type":"test","name":"b","event":"started"}"#;
        assert_eq!(told(&[STARTED, A, started]).end(false, "").unwrap().failed, ["the program"]);
        assert_eq!(told(&[STARTED, A]).end(true, "").unwrap().failed, ["the program"]);
        assert_eq!(told(&["nonsense"]).end(false, "").unwrap().failed, ["the program"]);
    }
}
