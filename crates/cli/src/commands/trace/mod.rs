//! `writecliff trace`: traces of applications, one file per command.

mod make;
mod replay;

use clap::Subcommand;

use crate::error::CliError;

/// What to do with traces.
#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// Make a synthetic trace with given statistics from a plan
    Make(make::MakeArguments),
    /// Do a trace again on a drive: storage-bench with this trace
    Replay(replay::ReplayArguments),
}

pub(crate) fn trace(command: &TraceCommand) -> Result<(), CliError> {
    match command {
        TraceCommand::Make(arguments) => make::make(arguments),
        TraceCommand::Replay(arguments) => replay::replay(arguments),
    }
}
