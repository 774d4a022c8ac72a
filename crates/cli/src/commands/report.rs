//! `writecliff report`: one page over any number of drives.

use std::path::{Path, PathBuf};

use writecliff::RunRecord;
use writecliff::measure::REPORT;

use super::run::show;
use crate::error::CliError;
use crate::open::open;
use crate::options::ShownOptions;
use crate::output::print_json;

pub(crate) fn report(
    paths: &[PathBuf],
    out: Option<&Path>,
    shown: &ShownOptions,
) -> Result<(), CliError> {
    let out = match (out, paths) {
        (Some(out), _) => out.to_owned(),
        (None, [single]) => single.join(REPORT),
        (None, _) => PathBuf::from(REPORT),
    };
    let report = writecliff::report(paths, &out)?;
    if shown.json {
        print_json(&report.records.iter().map(RunRecord::with_figures).collect::<Vec<_>>())?;
    } else {
        show(&report, shown)?;
    }
    if shown.open {
        open(&report.page);
    }
    Ok(())
}
