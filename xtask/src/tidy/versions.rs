//! One version of each dependency: two are compiled twice, and are two things to know.

use std::collections::BTreeMap;
use std::fs;

/// Those of which there are two, and who keeps the older one.
const NAMED: [(&str, &str); 5] = [
    ("getrandom", "ahash (parquet) and rand's older users"),
    ("miniz_oxide", "png (resvg)"),
    ("r-efi", "both of getrandom's, for a system that is none of ours"),
    ("roxmltree", "fontconfig-parser (resvg)"),
    ("syn", "zerocopy-derive and strum_macros"),
];

/// Refuses a second version that is not named, and a name that is not needed any more.
pub(super) fn check() -> Result<(), String> {
    let lock = fs::read_to_string("Cargo.lock").map_err(|error| format!("Cargo.lock: {error}"))?;
    let several = several(&lock);
    let unnamed = several.iter().filter(|(name, _)| NAMED.iter().all(|(known, _)| known != *name));
    let unnamed: Vec<String> = unnamed
        .map(|(name, versions)| format!("{name} in versions {}", versions.join(" and ")))
        .collect();
    if !unnamed.is_empty() {
        let what = unnamed.join("; ");
        return Err(format!("{what}: agree on one, or say in xtask/src/tidy/versions.rs why not"));
    }
    match NAMED.iter().find(|(name, _)| !several.contains_key(*name)) {
        Some((name, _)) => {
            Err(format!("xtask/src/tidy/versions.rs names {name}, which is one again"))
        }
        None => Ok(()),
    }
}

/// Packages with more than one version in a lock file.
fn several(lock: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in lock.split("[[package]]") {
        let (name, version) = (value(package, "name = "), value(package, "version = "));
        if let (Some(name), Some(version)) = (name, version) {
            versions.entry(name).or_default().push(version);
        }
    }
    versions.retain(|_, versions| versions.len() > 1);
    versions
}

/// What stands in quotes after a key.
fn value<'a>(package: &'a str, key: &str) -> Option<&'a str> {
    let line = package.lines().find_map(|line| line.strip_prefix(key))?;
    Some(line.trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_version_is_found() {
        let package = |name, version| {
            format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\nsource = \"x\"\n\n")
        };
        let lock = [package("syn", "2.0.1"), package("toml", "1.0.0"), package("syn", "3.0.9")];
        let lock = lock.concat();
        assert_eq!(
            several(&lock).into_iter().collect::<Vec<_>>(),
            [("syn", vec!["2.0.1", "3.0.9"])]
        );
    }
}
