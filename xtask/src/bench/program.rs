//! Programs that hold benches: how cargo builds them, how they run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::divan::{self, Rate};

/// One file of benches, built.
pub(crate) struct Program {
    /// The package's folder and the bench's name: `sim/ssd`.
    pub(crate) name: String,
    executable: PathBuf,
    /// Where cargo would run it.
    folder: PathBuf,
}

/// Builds all benches of the workspace in `tree`, cargo's progress shown.
pub(crate) fn build(tree: &Path, target: &Path) -> Result<Vec<Program>, String> {
    let arguments = ["bench", "--no-run", "--workspace", "--bench", "*"];
    println!("xtask: cargo {} in {}", arguments.join(" "), tree.display());
    let mut command = Command::new("cargo");
    command.current_dir(tree).args(arguments).arg("--target-dir").arg(target);
    command.args(["--message-format", "json-render-diagnostics"]).stderr(Stdio::inherit());
    let output = command.output().map_err(|error| format!("cannot run cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo bench ended with {}; its output is above", output.status));
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    Ok(messages.lines().filter_map(built).collect())
}

/// The program that one of cargo's messages announces, if it does.
fn built(message: &str) -> Option<Program> {
    let message: Value = serde_json::from_str(message).ok()?;
    if message["target"]["kind"][0] != "bench" {
        return None;
    }
    let executable = PathBuf::from(message["executable"].as_str()?);
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    let package = folder.file_name()?.to_string_lossy();
    let name = format!("{package}/{}", message["target"]["name"].as_str()?);
    Some(Program { name, executable, folder })
}

impl Program {
    /// Each bench's name and its rate in the fastest sample.
    pub(crate) fn run(&self, only: Option<&str>) -> Result<Vec<(String, Rate)>, String> {
        let mut command = Command::new(&self.executable);
        command.current_dir(&self.folder).arg("--bench");
        command.args(["--color", "never", "--bytes-format", "decimal"]);
        command.args(only.map(literal));
        let output =
            command.output().map_err(|error| format!("cannot run {command:?}: {error}"))?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{command:?} ended with {}: {message}", output.status));
        }
        Ok(divan::rates(&String::from_utf8_lossy(&output.stdout)))
    }
}

/// divan takes its filter for a regular expression.
fn literal(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || c == '_' || c == ' ' || !c.is_ascii();
    name.chars()
        .flat_map(|c| if is_plain(c) { [None, Some(c)] } else { [Some('\\'), Some(c)] })
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_benches_are_taken_from_what_cargo_builds() {
        let bench = r#"{"reason":"compiler-artifact","manifest_path":"/w/crates/sim/Cargo.toml",
            "target":{"kind":["bench"],"name":"ssd"},"executable":"/w/target/release/deps/ssd-1"}"#;
        let program = built(bench).unwrap();
        assert_eq!(program.name, "sim/ssd");
        assert_eq!(program.executable, Path::new("/w/target/release/deps/ssd-1"));
        assert_eq!(program.folder, Path::new("/w/crates/sim"));

        assert!(built(&bench.replace("[\"bench\"]", "[\"lib\"]")).is_none());
        assert!(built(&bench.replace("\"/w/target/release/deps/ssd-1\"", "null")).is_none());
        assert!(built(r#"{"reason":"build-finished","success":true}"#).is_none());
        assert!(built("not JSON").is_none());
    }

    #[test]
    fn a_name_is_no_regular_expression() {
        assert_eq!(literal("random_writes"), "random_writes");
        assert_eq!(literal("ssd::fill.*-1"), r"ssd\:\:fill\.\*\-1");
        assert_eq!(literal("-x"), r"\-x");
    }
}
