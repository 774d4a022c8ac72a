//! `writecliff trace`: traces of applications, one file per command.

mod info;
mod replay;

use clap::Subcommand;

use crate::error::CliError;

/// What to do with traces.
#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// Describe traces: operations, sizes, queue depths, busy time, footprint; pictures with --out
    Info(info::InfoArguments),
    /// Do a trace again on a drive: storage-bench with this trace
    Replay(replay::ReplayArguments),
}

pub(crate) fn trace(command: &TraceCommand) -> Result<(), CliError> {
    match command {
        TraceCommand::Info(arguments) => info::info(arguments),
        TraceCommand::Replay(arguments) => replay::replay(arguments),
    }
}
