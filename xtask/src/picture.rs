//! `cargo xtask picture`: the README's picture, made by the tool itself.

use std::path::Path;
use std::process::Command;

use crate::packages;
use crate::{cargo, run, target_directory};

const PICTURE: &str = "docs/cliff.png";
/// The head of the page, the verdict and the first picture.
const WINDOW: &str = "--window-size=1040,830";

/// Runs the README's first command and takes a picture of the top of its report.
pub(crate) fn picture() -> Result<(), String> {
    packages::install(packages::FOR_TESTS)?;
    cargo(&["build", "--release", "--package", "writecliff-cli"])?;
    let out = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = out.path().join("run");
    let program = target_directory()?.join("release/writecliff");
    run(Command::new(program).arg("review").arg("--out").arg(&path))?;
    screenshot(&path.join("report/index.html"))?;
    println!("xtask: {PICTURE} is new");
    Ok(())
}

fn screenshot(page: &Path) -> Result<(), String> {
    let mut command = Command::new("chromium");
    command.args(["--headless", "--disable-gpu", "--hide-scrollbars", WINDOW]);
    command.args(["--force-device-scale-factor=1.5", "--virtual-time-budget=20000"]);
    if rustix::process::geteuid().is_root() {
        command.arg("--no-sandbox");
    }
    command.arg(format!("--screenshot={PICTURE}"));
    run(command.arg(format!("file://{}", page.display())))
}
