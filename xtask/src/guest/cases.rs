//! The cases: functions of shell scripts, each with a remark that says when it runs.

use std::fs;
use std::path::Path;
use std::time::Duration;

/// Against a case that hangs, and nothing else: one that takes 30 s here takes 130 s on a busy machine.
const USUAL_LIMIT: Duration = Duration::from_secs(400);

/// A case, as its heading tells it: `NAME() { # quick` or `NAME() { # full paths both 90s`.
#[derive(Debug, PartialEq)]
pub(super) struct Case {
    pub(super) file: String,
    pub(super) name: String,
    /// Part of the quick set, which every test run does.
    pub(super) is_quick: bool,
    /// Needs a guest in which every path to an NVMe namespace is a device of its own.
    pub(super) wants_paths: bool,
    /// Depends on what the kernel tells, so that it is to be right on every kernel.
    pub(super) is_of_the_kernel: bool,
    pub(super) limit: Duration,
}

/// Every case in a folder of scripts.
pub(super) fn read(folder: &Path) -> Result<Vec<Case>, String> {
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    let entries = fs::read_dir(folder).map_err(told)?;
    let mut paths = entries.map(|e| Ok(e?.path())).collect::<Result<Vec<_>, _>>().map_err(told)?;
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let text = fs::read_to_string(&path).map_err(told)?;
        cases.extend(text.lines().filter_map(|line| case(&file, line)));
    }
    Ok(cases)
}

/// The case that begins in this line, if one does: functions without a remark serve the cases.
fn case(file: &str, line: &str) -> Option<Case> {
    let (name, remark) = line.split_once("() { # ")?;
    let mut case = Case {
        file: file.to_owned(),
        name: name.to_owned(),
        is_quick: false,
        wants_paths: false,
        is_of_the_kernel: false,
        limit: USUAL_LIMIT,
    };
    for word in remark.split_whitespace() {
        match word {
            "quick" => case.is_quick = true,
            "full" => case.is_quick = false,
            "paths" => case.wants_paths = true,
            "both" => case.is_of_the_kernel = true,
            limit => case.limit = Duration::from_secs(limit.strip_suffix('s')?.parse().ok()?),
        }
    }
    Some(case)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_tells_name_set_machine_and_limit() {
        let case = case("paths.sh", "W4-second-path() { # full paths 90s").unwrap();
        assert_eq!((&*case.file, &*case.name), ("paths.sh", "W4-second-path"));
        assert!(!case.is_quick && case.wants_paths);
        assert_eq!(case.limit, Duration::from_secs(90));
    }

    #[test]
    fn what_serves_the_cases_is_none() {
        assert_eq!(case("words.sh", "fresh() {"), None);
        assert_eq!(case("words.sh", "  # a remark"), None);
    }

    /// A heading that is misspelt would never run, and nobody would miss it.
    #[test]
    fn every_function_of_the_cases_is_a_case_or_says_what_it_is() {
        let folder = super::super::here().join("cases");
        let names: Vec<String> = read(&folder).unwrap().into_iter().map(|case| case.name).collect();
        for entry in fs::read_dir(&folder).unwrap() {
            let text = fs::read_to_string(entry.unwrap().path()).unwrap();
            let headings = text.lines().filter_map(|line| line.split_once("() {"));
            for (name, rest) in headings.filter(|(name, _)| !name.starts_with(' ')) {
                let is_case = names.iter().any(|known| known == name);
                assert_eq!(is_case, !rest.is_empty(), "{name}");
            }
        }
        assert!(names.len() > 50, "{} cases", names.len());
    }
}
