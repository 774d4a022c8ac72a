//! `writecliff trace`: traces of applications, one file per command.

mod convert;
mod info;
mod make;
mod record;
mod replay;
mod source;
mod watched;

use std::path::Path;

use clap::Subcommand;
use writecliff_output::{Existing, check_file};

use crate::error::CliError;
use crate::help;

/// What to do with traces.
#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// Record what is asked of a block device: for a time, around a command, or until Ctrl-C
    #[command(after_help = help::RECORD)]
    Record(record::RecordArguments),
    /// Write a trace in another format, or another tool's in ours
    #[command(after_help = help::CONVERT)]
    Convert(convert::ConvertArguments),
    /// Describe traces: operations, sizes, queue depths, busy time, footprint; pictures with --out
    #[command(after_help = help::INFO)]
    Info(info::InfoArguments),
    /// Make a synthetic trace with given statistics from a plan
    #[command(after_help = help::MAKE)]
    Make(make::MakeArguments),
    /// Do a trace again on a drive: storage-bench with this trace
    #[command(after_help = help::REPLAY)]
    Replay(replay::ReplayArguments),
}

/// What the storage bench makes the traces that ship with.
const SEED: u64 = 1;

pub(crate) fn trace(command: &TraceCommand) -> Result<(), CliError> {
    match command {
        TraceCommand::Record(arguments) => record::record(arguments),
        TraceCommand::Convert(arguments) => convert::convert(arguments),
        TraceCommand::Info(arguments) => info::info(arguments),
        TraceCommand::Make(arguments) => make::make(arguments),
        TraceCommand::Replay(arguments) => replay::replay(arguments),
    }
}

/// Whether what is at `path` may be replaced; refused before anything is done if it may not.
fn existing(path: &Path, force: bool) -> Result<Existing, CliError> {
    check_file(path)?;
    match (force, path.symlink_metadata()) {
        (true, _) => Ok(Existing::Replaced),
        (false, Err(_)) => Ok(Existing::Stays),
        (false, Ok(_)) => Err(CliError::OutputExists { path: path.to_owned() }),
    }
}
