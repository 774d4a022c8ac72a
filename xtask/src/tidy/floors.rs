//! The floors of `suite`: what every test builds on names no test, and no floor a higher one.

use std::fs;
use std::path::Path;

/// From the ground up.
const FLOORS: [&str; 5] = ["record", "method", "tests", "judge", "runs"];

/// Refuses a file that imports from a floor above its own.
pub(super) fn check() -> Result<(), String> {
    let source = Path::new("crates/suite/src");
    let mut wrong = Vec::new();
    for (nth, floor) in FLOORS.iter().enumerate() {
        let mut files = Vec::new();
        collect(&source.join(floor), &mut files)?;
        for (file, text) in files {
            let is_used = |above: &&&str| text.contains(&format!("crate::{above}::"));
            for above in FLOORS[nth + 1..].iter().filter(is_used) {
                wrong.push(format!("{file}: a file of {floor}/ names something of {above}/"));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Every file below a folder, with its text.
fn collect(folder: &Path, files: &mut Vec<(String, String)>) -> Result<(), String> {
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(told)? {
        let path = entry.map_err(told)?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            let text = fs::read_to_string(&path).map_err(told)?;
            files.push((path.display().to_string(), text));
        }
    }
    Ok(())
}
