//! `writecliff report`: one page over any number of drives.

use std::path::{Path, PathBuf};

use writecliff_report::{Subject, summary, verdict_text, write_page};

use super::print;
use crate::error::CliError;

pub(crate) fn report(paths: &[PathBuf], out: Option<&Path>) -> Result<(), CliError> {
    let subjects = Subject::gather(paths)?;
    let out = match (out, paths) {
        (Some(out), _) => out.to_owned(),
        (None, [single]) => single.join("report"),
        (None, _) => PathBuf::from("report"),
    };
    let page = write_page(&subjects, &out)?;
    // All figures of tests; of reviews, what they come to.
    let text = match subjects.iter().all(|subject| subject.planned.is_none()) {
        true => summary(&subjects),
        false => verdict_text(&subjects),
    };
    print(&format!("{text}\nReport: {}\n", page.display()))
}
