//! The rules of accessibility that axe-core knows. It is installed by npm from the lock file beside
//! this folder, once, where builds are; without npm its test is skipped, loudly.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::browser::Browser;

/// Its script; `None`, said loudly, where it is not to be had.
pub(crate) fn source() -> Option<String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let there = Path::new(env!("CARGO_TARGET_TMPDIR")).join("npm");
    let script = there.join("node_modules/axe-core/axe.min.js");
    if !script.is_file() {
        fs::create_dir_all(&there).unwrap();
        for file in ["package.json", "package-lock.json"] {
            fs::copy(here.join(file), there.join(file)).unwrap();
        }
        let mut npm = Command::new("npm");
        let install = npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
        let _ = install.current_dir(&there).output();
    }
    let source = fs::read_to_string(script).ok();
    if source.is_none() {
        println!("SKIPPED: accessibility is not checked, npm cannot install axe-core");
    }
    source
}

/// What is seriously wrong for whoever does not see, point or hear: rule, and the elements.
pub(crate) fn violations(browser: &mut Browser, axe: &str) -> Value {
    browser.evaluate(&format!("{axe}; window.barriers = null; undefined"));
    browser.evaluate(
        "axe.run(document, { resultTypes: ['violations'], preload: false }).then((found) => { \
         window.barriers = found.violations.filter((one) => ['serious', 'critical'].includes(one.impact)) \
         .map((one) => [one.id, one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160))]); }); undefined",
    );
    browser.wait_for("window.barriers !== null");
    browser.evaluate("window.barriers")
}
