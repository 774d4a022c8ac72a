//! `writecliff report`: one page over any number of runs.

use std::path::{Path, PathBuf};

use writecliff_report::{Run, summary, write_page};

use super::print;
use crate::error::CliError;

pub(crate) fn report(paths: &[PathBuf], out: Option<&Path>) -> Result<(), CliError> {
    let runs: Vec<Run> = paths.iter().map(|path| Run::open(path)).collect::<Result<_, _>>()?;
    let out = match (out, paths) {
        (Some(out), _) => out.to_owned(),
        (None, [single]) => single.join("report"),
        (None, _) => PathBuf::from("report"),
    };
    let page = write_page(&runs, &out)?;
    print(&format!("{}\nReport: {}\n", summary(&runs), page.display()))
}
