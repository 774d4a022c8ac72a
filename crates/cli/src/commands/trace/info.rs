//! `writecliff trace info`: what traces are like, as a table, as JSON, and as a page with pictures.

use std::path::{Path, PathBuf};

use clap::Args;
use writecliff_report::{trace_summary, write_trace_page};
use writecliff_trace::{Description, TraceError, TraceFile, describe, read_ahead};

use crate::commands::print;
use crate::error::CliError;

#[derive(Debug, Args)]
pub(crate) struct InfoArguments {
    /// The traces, side by side if there are several
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<PathBuf>,
    /// Make a page with pictures in this directory, too
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print everything as JSON instead of the table: a list with an entry for each trace
    #[arg(long)]
    json: bool,
}

pub(crate) fn info(arguments: &InfoArguments) -> Result<(), CliError> {
    let describe = |path: &PathBuf| describe_file(path);
    let traces = arguments.traces.iter().map(describe).collect::<Result<Vec<_>, _>>()?;
    let page = arguments.out.as_ref().map(|out| write_trace_page(&traces, out)).transpose()?;
    if arguments.json {
        return print(&format!("{}\n", serde_json::to_string(&traces).unwrap_or_default()));
    }
    let page = page.map_or_else(String::new, |page| format!("\nReport: {}\n", page.display()));
    print(&(trace_summary(&traces) + &page))
}

fn describe_file(path: &Path) -> Result<Description, TraceError> {
    let mut file = TraceFile::open(path)?;
    let duration = file.summary().duration();
    let info = read_ahead(&mut file, |ios| describe(ios, duration))?;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    Ok(Description { name, header: file.header().clone(), info })
}
