//! `writecliff trace convert`: any trace into our format, fio's, or CSV.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use writecliff_trace::{Conversion, OUTPUT_FORMATS, OutputFormat, Source, SourceOptions, Summary};

use super::existing;
use super::source::{SourceArguments, note, tell};
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::output::{ProgressLine, print};

#[derive(Debug, Args)]
pub(crate) struct ConvertArguments {
    /// The trace; of blktrace one file stands for those of all processors
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// What to write; its end says in which format: .trace, .iolog or .csv
    output: PathBuf,
    /// The output's format [default: told from its name]
    #[arg(long, value_name = "FORMAT", value_parser = output_formats())]
    to: Option<OutputFormat>,
    #[command(flatten)]
    source: SourceArguments,
    /// Make one range of the offsets of several volumes, which overlap in it
    #[arg(long)]
    all_volumes: bool,
    /// Replace the output if it is there already
    #[arg(long)]
    force: bool,
}

pub(crate) fn convert(arguments: &ConvertArguments) -> Result<(), CliError> {
    let path = &arguments.output;
    let format = arguments.to.or_else(|| OutputFormat::of_path(path));
    let format = format.ok_or_else(|| CliError::OutputFormat { path: path.clone() })?;
    let existing = existing(path, arguments.force)?;
    let options =
        SourceOptions { mix_volumes: arguments.all_volumes, ..arguments.source.options() };
    let mut source = Source::open_files(&arguments.inputs, &options)?;
    let interrupt = Interrupt::catch()?;
    let progress = ProgressLine::begin();
    let mut tell_progress = |source: &Source, ios| {
        progress.show(|| {
            let share = source.progress().map(|share| format!("{:3.0} %  ", share * 100.0));
            format!("{}{ios} operations", share.unwrap_or_default())
        });
        interrupt.flow()
    };
    let converted =
        writecliff_trace::convert(&mut source, path, format, existing, &mut tell_progress);
    drop(progress);
    tell(source.problems());
    let converted = converted?.ok_or(CliError::NothingWritten)?;
    let Conversion { summary, left_out } = converted;
    if !left_out.is_empty() {
        note(&format!("{format} cannot carry, and so lacks: {}", left_out.join(", ")));
    }
    print(&format!("{}: {}\n", path.display(), describe(&summary)))
}

/// `4 operations (2 reads, 1 write, 1 trim, 0 flushes), 8.19 kB read, 4.10 kB written, 1.20 s`.
fn describe(summary: &Summary) -> String {
    format!(
        "{} operations ({} reads, {} writes, {} trims, {} flushes), {} read, {} written, {}",
        summary.ios(),
        summary.reads,
        summary.writes,
        summary.trims,
        summary.flushes,
        summary.read_bytes,
        summary.written_bytes,
        summary.duration()
    )
}

fn output_formats() -> impl TypedValueParser<Value = OutputFormat> {
    let values = OUTPUT_FORMATS.iter().map(|(_, name, what)| PossibleValue::new(name).help(what));
    PossibleValuesParser::new(values).try_map(|name| name.parse())
}
