//! `cargo xtask same`: whether simulated drives still give the figures that an earlier commit gave.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use serde_json::Value;

use crate::revision::{Checkout, Revision};

/// What is compared with what.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The earlier commit [default: the one that this tree grew from]
    #[arg(long, value_name = "REV", value_parser = Revision::named)]
    since: Option<Revision>,
    /// An earlier release build to compare with, instead of building a commit
    #[arg(long, value_name = "FILE", conflicts_with = "since")]
    program: Option<PathBuf>,
    /// The drive that is reviewed
    #[arg(long, value_name = "DRIVE", default_value = "sim:samsung-840-evo-250gb")]
    drive: String,
    /// A quick review, and no published figures
    #[arg(long)]
    quick: bool,
}

/// Every value that the program tells, by where it stands in its JSON.
type Values = BTreeMap<String, String>;

/// Reviews a drive and checks all drives with both programs; fails if any figure differs.
pub(crate) fn same(options: &Options) -> Result<(), String> {
    let target = crate::target_directory()?;
    let now = build(Path::new("."), &target)?;
    let before = match &options.program {
        Some(program) => values(program, options)?,
        None => {
            let revision = options.since.clone().map_or_else(Revision::previous, Ok)?;
            let checkout = Checkout::new(target.join("bench-checkout"), &revision.commit)?;
            let program = build(&checkout.path, &target.join("bench-baseline"))?;
            println!("xtask: figures of {} ({})", revision.commit, revision.subject);
            values(&program, options)?
        }
    };
    println!("xtask: figures of this tree");
    let now = values(&now, options)?;
    let differences = differences(&before, &now);
    differences.iter().for_each(|difference| println!("{difference}"));
    match differences.len() {
        0 => {
            println!("xtask: all {} values are the same", before.len());
            Ok(())
        }
        count => Err(format!("{count} of {} values differ; they are above", before.len())),
    }
}

/// Builds the product as its users have it, cargo's progress shown.
fn build(tree: &Path, target: &Path) -> Result<PathBuf, String> {
    println!("xtask: cargo build --release in {}", tree.display());
    let mut command = Command::new("cargo");
    command.current_dir(tree).args(["build", "--release", "--target-dir"]).arg(target);
    crate::run(&mut command)?;
    Ok(target.join("release/writecliff"))
}

/// What the program says of the drive under every test, and of all drives beside published figures.
fn values(program: &Path, options: &Options) -> Result<Values, String> {
    let directory = tempfile::tempdir().map_err(|error| format!("no place for runs: {error}"))?;
    let mut review = Command::new(program);
    review.args(["review", &options.drive, "--json", "--out"]).arg(directory.path().join("review"));
    review.args(options.quick.then_some("--quick"));
    let mut values = Values::new();
    for run in json(&mut review)?.as_array().into_iter().flatten() {
        let test = run["plan"]["test"].as_str().unwrap_or_default();
        for part in ["plan", "drive", "purge", "outcome", "warnings"] {
            flatten(&format!("{test}.{part}"), &run[part], &mut values);
        }
    }
    if !options.quick {
        let mut check = Command::new(program);
        flatten("check", &json(check.args(["drives", "--check", "--json"]))?, &mut values);
    }
    Ok(values)
}

/// What a command prints.
fn json(command: &mut Command) -> Result<Value, String> {
    let output = command.stderr(Stdio::null()).output();
    let output = output.map_err(|error| format!("cannot run {command:?}: {error}"))?;
    serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("{command:?} ended with {} and no JSON: {error}", output.status))
}

/// Puts each value below `path` under its own path.
fn flatten(path: &str, value: &Value, values: &mut Values) {
    match value {
        Value::Object(members) => {
            members
                .iter()
                .for_each(|(key, member)| flatten(&format!("{path}.{key}"), member, values));
        }
        Value::Array(items) => {
            (0..).zip(items).for_each(|(index, item): (usize, _)| {
                flatten(&format!("{path}[{index}]"), item, values);
            });
        }
        // A key that is new and empty says nothing.
        Value::Null => {}
        leaf => {
            values.insert(path.to_owned(), leaf.to_string());
        }
    }
}

/// A line for every value that is not the same.
fn differences(before: &Values, now: &Values) -> Vec<String> {
    let nothing = || "nothing".to_owned();
    let paths = before.keys().chain(now.keys().filter(|path| !before.contains_key(*path)));
    let differs = |path: &&String| before.get(*path) != now.get(*path);
    let line = |path: &String| {
        let [was, is] = [before, now].map(|v| v.get(path).cloned().unwrap_or_else(nothing));
        format!("{path}: was {was}, is {is}")
    };
    paths.filter(differs).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Values {
        let mut values = Values::new();
        flatten("run", &serde_json::from_str(text).unwrap(), &mut values);
        values
    }

    #[test]
    fn every_value_that_changed_came_or_went_is_told() {
        let before = values(r#"{"floor": 4492.0, "curve": [1, 2], "gone": true, "empty": null}"#);
        let now = values(r#"{"floor": 4492.0, "curve": [1, 3], "new": "x"}"#);
        assert_eq!(differences(&before, &before), [""; 0]);
        assert_eq!(
            differences(&before, &now),
            [
                "run.curve[1]: was 2, is 3",
                "run.gone: was true, is nothing",
                "run.new: was nothing, is \"x\""
            ]
        );
    }
}
