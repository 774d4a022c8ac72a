//! `cargo xtask catalogue`: the results of the simulated drives that ship.

use std::process::Command;

/// Within the workspace; the library carries it.
const FILE: &str = "crates/bench/data/catalogue.jsonl";

/// Reviews the simulated drives that have changed, or all, and writes what comes of it.
pub(crate) fn catalogue(all: bool) -> Result<(), String> {
    let mut command = Command::new("cargo");
    command.args(["run", "--release", "--package", "writecliff-bench", "--example", "catalogue"]);
    command.args(["--", FILE]);
    if all {
        command.arg("--all");
    }
    crate::run(&mut command)?;
    println!("xtask: {FILE} is written");
    Ok(())
}
