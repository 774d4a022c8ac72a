//! `writecliff trace`: one file per command.

mod convert;

use clap::Subcommand;

use crate::error::CliError;

#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// Write a trace in another format
    Convert(convert::ConvertArguments),
}

pub(crate) fn trace(command: &TraceCommand) -> Result<(), CliError> {
    match command {
        TraceCommand::Convert(arguments) => convert::convert(arguments),
    }
}
