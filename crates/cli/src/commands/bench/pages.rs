//! `writecliff bench serve` and `export`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use clap::Args;
use serde::Serialize;
use writecliff_bench::{ExportProgress, Live, REPORTS, Reports, Server, export_with};

use super::{library, say_problems};
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::open::{open, open_address};
use crate::output::{ProgressLine, print, print_json, say};
use crate::progress::gone;

#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// Show what is in these directories, and below them, instead of the library
    #[arg(value_name = "DIR")]
    directories: Vec<PathBuf>,
    /// The port to listen on; 0 is any that is free
    #[arg(long, value_name = "PORT", default_value_t = 8642)]
    port: u16,
    /// The address to listen on; 0.0.0.0 lets everybody read who can reach this machine
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    listen: IpAddr,
    /// Open the first page
    #[arg(long)]
    open: bool,
}

pub(crate) fn serve(arguments: &ServeArguments) -> Result<(), CliError> {
    let interrupt = Interrupt::catch()?;
    let server = Server::bind(SocketAddr::new(arguments.listen, arguments.port))?;
    let library = library(&arguments.directories)?;
    say_problems(&library.bench()?);
    let address = server.address();
    if !address.ip().is_loopback() {
        say("note: everybody who can reach this machine over the network can read these results");
    }
    let here = match address.ip() {
        ip if ip.is_unspecified() => SocketAddr::from((Ipv4Addr::LOCALHOST, address.port())),
        _ => address,
    };
    let url = format!("http://{here}/");
    print(&format!("Bench: {url} (Ctrl-C ends it)\n"))?;
    if arguments.open {
        open_address(&url);
    }
    Ok(server.run(Arc::new(Live::from(library)), &|| interrupt.is_raised())?)
}

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The directory for the pages, new, empty or an earlier export's
    #[arg(value_name = "OUT")]
    out: PathBuf,
    /// Export what is in these directories, and below them, instead of the library
    #[arg(value_name = "DIR")]
    directories: Vec<PathBuf>,
    /// Draw the report of every run that has one, not only of the newest 200; a tenth of a second each
    #[arg(long)]
    all_reports: bool,
    /// Print what was written as JSON
    #[arg(long)]
    json: bool,
    /// Print only the path of the page, and what went wrong
    #[arg(long, conflicts_with = "json")]
    quiet: bool,
    /// Open the first page
    #[arg(long)]
    open: bool,
}

/// What a script gets.
#[derive(Serialize)]
struct Written {
    page: PathBuf,
    written: usize,
    kept: usize,
    removed: usize,
    reports_left_out: usize,
}

pub(crate) fn export(arguments: &ExportArguments) -> Result<(), CliError> {
    let library = library(&arguments.directories)?;
    let bench = library.bench()?;
    say_problems(&bench);
    let wanted = if arguments.all_reports { Reports::All } else { Reports::Newest(REPORTS) };
    let line = ProgressLine::begin();
    let (began, drawn) = (Instant::now(), AtomicUsize::new(0));
    let watch = |progress: ExportProgress| match progress {
        ExportProgress::Courses { of, done } => {
            line.show(|| format!("{done} of {of} courses, {}", gone(began)));
        }
        ExportProgress::Report { of } => {
            let done = 1 + drawn.fetch_add(1, Ordering::Relaxed);
            line.show(|| format!("rankings are written; {done} of {of} reports, {}", gone(began)));
        }
        _ => {}
    };
    let done = export_with(&bench, &library, &arguments.out, wanted, &watch)?;
    drop(line);
    for error in &done.without {
        say(&format!("note: {error}"));
    }
    if done.left_out > 0 && !arguments.quiet && !arguments.json {
        say(&format!(
            "note: {} older reports were not drawn; --all-reports draws them, a tenth of a second each",
            done.left_out
        ));
    }
    let (written, kept, removed) = (done.written, done.kept, done.removed);
    match () {
        () if arguments.json => {
            let (page, reports_left_out) = (done.page.clone(), done.left_out);
            print_json(&Written { page, written, kept, removed, reports_left_out })?;
        }
        () if arguments.quiet => print(&format!("{}\n", done.page.display()))?,
        () => print(&format!(
            "{}: {written} files written, {kept} as they were, {removed} old ones removed\n",
            done.page.display()
        ))?,
    }
    if arguments.open {
        open(&done.page);
    }
    Ok(())
}
