//! `cargo xtask catalogue`: the results of the simulated drives that ship.

use std::process::Command;

/// Within the workspace; the library carries it.
const FILE: &str = "crates/bench/data/catalogue.jsonl";

/// Reviews every simulated drive and writes what comes of it.
pub(crate) fn catalogue() -> Result<(), String> {
    println!("xtask: reviewing every simulated drive; this takes a quarter of an hour");
    let mut command = Command::new("cargo");
    command.args(["run", "--release", "--package", "writecliff-bench", "--example", "catalogue"]);
    crate::run(command.args(["--", FILE]))?;
    println!("xtask: {FILE} is written");
    Ok(())
}
