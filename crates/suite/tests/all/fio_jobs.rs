//! docs/fio-jobs.md: what becomes of each public job file is what happens to it here.

use writecliff_device::{Bytes, Device, DeviceInfo};
use writecliff_sim::{Ssd, load};
use writecliff_suite::Plan;
use writecliff_workload::fio;

const PAGE: &str = include_str!("../../../../docs/fio-jobs.md");
const HEAD: &str = "| file | asks for | here |";

#[test]
fn every_public_job_file_becomes_what_its_row_says() {
    let lines = PAGE.lines().filter(|line| line.starts_with("| ") && *line != HEAD);
    let rows: Vec<Row<'_>> =
        lines.map(|line| Row::of(line).unwrap_or_else(|| panic!("no row: {line}"))).collect();
    assert!(rows.len() >= 50, "only {} rows", rows.len());
    let drive = large_drive();
    let wrong: Vec<String> = rows.iter().filter_map(|row| row.wrong(&drive)).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// A row of one of the page's tables.
struct Row<'a> {
    file: &'a str,
    options: &'a str,
    becomes: &'a str,
}

impl<'a> Row<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let (file, rest) = line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | `")?;
        let (options, becomes) = rest.split_once("` | ")?;
        Some(Self { file, options, becomes })
    }

    /// `[name]`, and a line for each option.
    fn text(&self) -> String {
        let section = |text: &str| {
            let (name, options) = text.split_once(": ").unwrap_or((text, ""));
            let line = |option: &str| format!("{}\n", option.replacen("include=", "include ", 1));
            format!("[{name}]\n{}", options.split_whitespace().map(line).collect::<String>())
        };
        self.options.split("; ").map(section).collect()
    }

    /// The options that are noted, in the order of their lines; or the refusal.
    fn result(&self, drive: &DeviceInfo) -> Result<Vec<String>, String> {
        let jobs = fio::read(self.file, &self.text(), &variable).map_err(|error| error.message)?;
        let mut noted = Vec::new();
        for note in &jobs.notes {
            let name = note.option.split('=').next().unwrap_or_default().to_owned();
            if !noted.contains(&name) {
                noted.push(name);
            }
        }
        Plan::Mixed(jobs.into()).check(drive).map_err(|error| error.to_string())?;
        Ok(noted)
    }

    /// What is wrong with the row, and what it should begin with.
    fn wrong(&self, drive: &DeviceInfo) -> Option<String> {
        let (is_right, right) = match self.result(drive) {
            Ok(noted) if noted.is_empty() => {
                (self.becomes.starts_with("Followed."), "Followed.".to_owned())
            }
            Ok(noted) => {
                let beginning = format!("Followed, noted: `{}`.", noted.join("`, `"));
                (self.becomes.starts_with(&beginning), beginning)
            }
            Err(message) => {
                let refused =
                    self.becomes.strip_prefix("Refused: `").and_then(|rest| rest.split_once('`'));
                let is_named = refused.is_some_and(|(name, _)| names(&message, name));
                (is_named, format!("Refused: {message}"))
            }
        };
        (!is_right).then(|| format!("{}: {right}", self.file))
    }
}

/// Whether a refusal is about this: it is a word of it, with or without quotes and a colon.
fn names(message: &str, option: &str) -> bool {
    let words = message.split_whitespace();
    let mut bare = words.map(|word| word.trim_end_matches(':').trim_matches('\''));
    bare.any(|word| word == option)
}

/// What those who run the files set.
fn variable(name: &str) -> Option<String> {
    let value = match name {
        "BLKSIZE" | "FIO_BS" => "4k",
        "SIZE" => "100%",
        "DEV" => "/dev/sda",
        _ => "16",
    };
    Some(value.to_owned())
}

/// Large enough for all of them.
fn large_drive() -> DeviceInfo {
    let tiny = Ssd::new(load("tiny").unwrap().into_ssd().unwrap(), "sim:tiny");
    DeviceInfo { capacity: Bytes::from_gib(4096), ..tiny.info().clone() }
}
