//! The table of crates in docs/architecture.md, drawn from the crates themselves.
//!
//! What a crate is stands in its `Cargo.toml`, and why it is one of its own below it, as
//! `package.metadata.reason`. Sizes are rounded, and may be a fifth off before anybody is asked to
//! draw the table again.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::metadata;

const PAGE: &str = "docs/architecture.md";
const BEGIN: &str = "<!-- crates: made by `cargo xtask tidy --fix` -->\n";
const END: &str = "<!-- end of crates -->\n";

/// A row of the table.
#[derive(Debug, PartialEq, Eq)]
struct Crate {
    name: String,
    what: String,
    reason: String,
    lines: usize,
    /// Others of the workspace that it is built of.
    needs: Vec<String>,
}

/// Refuses a table that does not tell what is there.
pub(super) fn check() -> Result<(), String> {
    let (page, crates) = (read()?, crates()?);
    let (_, written, _) = parts(&page)?;
    match agree(written, &table(&crates)) {
        true => Ok(()),
        false => Err(format!("{PAGE} tells other crates than there are: `cargo xtask tidy --fix`")),
    }
}

/// Draws the table anew.
pub(super) fn fix() -> Result<(), String> {
    let page = read()?;
    let (before, _, after) = parts(&page)?;
    let text = format!("{before}{BEGIN}{}{END}{after}", table(&crates()?));
    fs::write(PAGE, text).map_err(|error| format!("{PAGE}: {error}"))
}

fn read() -> Result<String, String> {
    fs::read_to_string(PAGE).map_err(|error| format!("{PAGE}: {error}"))
}

/// What stands before the table, the table, and what stands behind it.
fn parts(page: &str) -> Result<(&str, &str, &str), String> {
    let cut = page.split_once(BEGIN).and_then(|(before, rest)| {
        let (table, after) = rest.split_once(END)?;
        Some((before, table, after))
    });
    cut.ok_or_else(|| format!("{PAGE} has no place for the table of crates: '{}'", BEGIN.trim()))
}

/// Whether two tables tell the same, sizes roughly.
fn agree(written: &str, drawn: &str) -> bool {
    let rows = |table: &str| table.lines().map(sized).collect::<Vec<_>>();
    let (written, drawn) = (rows(written), rows(drawn));
    let is_close = |(a, b): (&(String, f64), &(String, f64))| {
        a.0 == b.0 && (a.1 - b.1).abs() <= 0.2 * a.1.max(b.1).max(500.0)
    };
    written.len() == drawn.len() && written.iter().zip(&drawn).all(is_close)
}

/// A row without its size, and its size.
fn sized(row: &str) -> (String, f64) {
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    let size = cells.get(3).and_then(|cell| cell.replace(',', "").parse().ok());
    match size {
        Some(size) => ([&cells[..3], &cells[4..]].concat().join("|"), size),
        None => (row.to_owned(), 0.0),
    }
}

/// From the top floor down: a crate stands above all that it is built of.
fn table(crates: &[Crate]) -> String {
    let mut floors: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in crates {
        for one in crates {
            let below = one.needs.iter().filter_map(|name| floors.get(name.as_str())).max();
            let floor = below.map_or(0, |floor| floor + 1);
            floors.insert(&one.name, floor);
        }
    }
    let mut sorted: Vec<&Crate> = crates.iter().collect();
    sorted.sort_by_key(|one| (std::cmp::Reverse(floors[one.name.as_str()]), &one.name));
    let mut text =
        "| floor | crate | lines | what it is | a crate of its own because | stands on |\n\
                    |--:|---|--:|---|---|---|\n"
            .to_owned();
    for Crate { name, what, reason, lines, needs } in sorted {
        let floor = floors[name.as_str()];
        let needs = needs.join(", ");
        let lines = lines.div_ceil(100) * 100;
        text += &format!("| {floor} | `{name}` | {lines} | {what} | {reason} | {needs} |\n");
    }
    text
}

fn crates() -> Result<Vec<Crate>, String> {
    let metadata = metadata()?;
    let all = metadata["packages"].as_array().ok_or("cargo metadata names no packages")?;
    all.iter().map(one).collect()
}

fn one(package: &Value) -> Result<Crate, String> {
    let short = |name: &Value| {
        let name = name.as_str().unwrap_or_default();
        name.strip_prefix("writecliff-").unwrap_or(name).to_owned()
    };
    let name = short(&package["name"]);
    let reason = package["metadata"]["reason"].as_str();
    let reason = reason.ok_or_else(|| {
        format!("crate {name} does not say why it is one: reason in its Cargo.toml")
    })?;
    let dependencies = package["dependencies"].as_array().into_iter().flatten();
    let ours = dependencies.filter(|one| one["path"].is_string() && one["kind"].is_null());
    let mut needs: Vec<String> = ours.map(|one| short(&one["name"])).collect();
    needs.sort();
    let manifest = package["manifest_path"].as_str().unwrap_or_default();
    let source = Path::new(manifest).parent().unwrap_or(Path::new(".")).join("src");
    Ok(Crate {
        name,
        what: package["description"].as_str().unwrap_or_default().to_owned(),
        reason: reason.to_owned(),
        lines: lines(&source)?,
        needs,
    })
}

/// Lines of Rust below a folder.
fn lines(folder: &Path) -> Result<usize, String> {
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut sum = 0;
    for entry in fs::read_dir(folder).map_err(told)? {
        let path = entry.map_err(told)?.path();
        if path.is_dir() {
            sum += lines(&path)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sum += fs::read_to_string(&path).map_err(told)?.lines().count();
        }
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(name: &str, lines: usize, needs: &[&str]) -> Crate {
        Crate {
            name: name.to_owned(),
            what: "it".to_owned(),
            reason: "so".to_owned(),
            lines,
            needs: needs.iter().map(|&need| need.to_owned()).collect(),
        }
    }

    #[test]
    fn a_crate_stands_above_what_it_is_built_of() {
        let table = table(&[
            made("device", 2_000, &[]),
            made("cli", 900, &["sim"]),
            made("sim", 9_000, &["device"]),
        ]);
        let names: Vec<&str> =
            table.lines().skip(2).map(|row| row.split('`').nth(1).unwrap()).collect();
        assert_eq!(names, ["cli", "sim", "device"]);
    }

    #[test]
    fn sizes_may_differ_a_little_and_nothing_else_may() {
        let of = |lines, needs: &[&str]| table(&[made("sim", lines, needs)]);
        assert!(agree(&of(9_000, &[]), &of(10_000, &[])));
        assert!(!agree(&of(9_000, &[]), &of(13_000, &[])));
        assert!(!agree(&of(9_000, &[]), &of(9_000, &["device"])));
    }
}
