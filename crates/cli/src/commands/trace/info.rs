//! `writecliff trace info`: what traces are like, as a table, as JSON, and as a page with pictures.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use writecliff_device::printable;
use writecliff_report::{trace_summary, write_trace_page};
use writecliff_trace::{Description, SourceOptions, Summary, describe, open, read_ahead};

use super::SEED;
use super::source::{SourceArguments, tell};
use crate::error::CliError;
use crate::output::{ProgressLine, print, print_json};
use crate::progress::gone_and_left;

#[derive(Debug, Args)]
pub(crate) struct InfoArguments {
    /// The traces, side by side if there are several: files of any format, or light-2011,
    /// heavy-2011, destroyer-2013
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<PathBuf>,
    /// Make a page with pictures in this directory, too
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print everything as JSON instead of the table: a list with an entry for each trace
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    source: SourceArguments,
}

pub(crate) fn info(arguments: &InfoArguments) -> Result<(), CliError> {
    let options = arguments.source.options();
    let describe = |path: &PathBuf| describe_trace(path, &options);
    let mut traces = arguments.traces.iter().map(describe).collect::<Result<Vec<_>, _>>()?;
    tell_apart(&mut traces, &arguments.traces);
    let page = arguments.out.as_ref().map(|out| write_trace_page(&traces, out)).transpose();
    let page = page.map_err(writecliff::Error::from)?;
    if arguments.json {
        return print_json(&traces);
    }
    let page = page.map_or_else(String::new, |page| format!("\nReport: {}\n", page.display()));
    print(&(trace_summary(&traces) + &page))
}

fn describe_trace(path: &Path, options: &SourceOptions) -> Result<Description, CliError> {
    let mut source = open(path, SEED, options)?;
    let duration = source.summary().map(Summary::duration);
    let all = source.summary().map(Summary::ios);
    let (progress, began) = (ProgressLine::begin(), Instant::now());
    let info = read_ahead(&mut source, |ios| {
        let counted = (1..).zip(ios).map(|(count, io)| {
            if count % STRIDE == 0 {
                progress.show(|| how_far(count, all, began));
            }
            io
        });
        describe(counted, duration)
    });
    drop(progress);
    tell(source.problems());
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let name = printable(&name);
    Ok(Description { name, header: source.header().clone(), info: info? })
}

/// Operations between two looks at the clock.
const STRIDE: u64 = 1 << 16;

fn how_far(count: u64, all: Option<u64>, began: Instant) -> String {
    let of_all = all.map(|all| format!(" of {all}")).unwrap_or_default();
    let done = all.map(|all| count as f64 / all.max(1) as f64);
    format!("{count}{of_all} operations, {}", gone_and_left(began, done))
}

/// Gives traces of the same name their paths as names.
fn tell_apart(traces: &mut [Description], paths: &[PathBuf]) {
    let names: Vec<String> = traces.iter().map(|trace| trace.name.clone()).collect();
    for (trace, path) in traces.iter_mut().zip(paths) {
        if names.iter().filter(|name| **name == trace.name).count() > 1 {
            trace.name = printable(&path.display().to_string());
        }
    }
}
