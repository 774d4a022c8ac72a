//! `writecliff report`: one page over any number of drives.

use std::path::{Path, PathBuf};

use writecliff::ReportOptions;
use writecliff::measure::REPORT;

use crate::error::CliError;
use crate::output::print;

pub(crate) fn report(paths: &[PathBuf], out: Option<&Path>) -> Result<(), CliError> {
    let out = match (out, paths) {
        (Some(out), _) => out.to_owned(),
        (None, [single]) => single.join(REPORT),
        (None, _) => PathBuf::from(REPORT),
    };
    let report = writecliff::report(paths, &out, &ReportOptions::default())?;
    print(&format!("{}\nReport: {}\n", report.summary, report.page.display()))
}
