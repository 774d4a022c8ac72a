//! `cargo xtask picture`: the README's picture, drawn by the tool itself, and a picture of every
//! simulated drive beside published figures.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{cargo, run, target_directory};

/// A test of the command line holds it against what is drawn today.
const PICTURE: &str = "docs/cliff.svg";
/// What a page calls it.
const DRAWN_AS: &str = "report/pictures/consistency-whole.svg";

/// Runs the README's drive and takes the picture of the whole run from its report.
pub(crate) fn picture() -> Result<(), String> {
    cargo(&["build", "--release", "--package", "writecliff-cli"])?;
    let out = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = out.path().join("run");
    let program = target_directory()?.join("release/writecliff");
    let drive = "sim:samsung-840-evo-250gb";
    run(Command::new(&program).args(["run", "consistency", drive, "--out"]).arg(&path))?;
    fs::copy(path.join(DRAWN_AS), PICTURE).map_err(|error| format!("{PICTURE}: {error}"))?;
    println!("xtask: {PICTURE} is new");
    models(&program)
}

/// Draws every simulated drive beside what was published of the real one, to be looked at.
fn models(program: &Path) -> Result<(), String> {
    let directory = target_directory()?.join("models");
    let check = ["drives", "--check", "--pictures"];
    run(Command::new(program).args(check).arg(&directory))?;
    println!("xtask: look at {}", directory.display());
    Ok(())
}
