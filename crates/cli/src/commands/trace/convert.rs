//! `writecliff trace convert`: any trace into our format, fio's, or CSV.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use writecliff_trace::{
    Conversion, OUTPUT_FORMATS, OutputFormat, Source, SourceOptions, Summary, open,
};

use super::source::{SourceArguments, note, tell};
use super::{SEED, existing};
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::output::{ProgressLine, print, print_json};
use crate::progress::gone_and_left;

#[derive(Debug, Args)]
pub(crate) struct ConvertArguments {
    /// The trace: a file, or light-2011, heavy-2011, destroyer-2013; of blktrace one file stands for
    /// those of all processors
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// What to write; its end says in which format: .trace, .iolog or .csv [default: the last INPUT is
    /// that]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
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
    /// Print what was written as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn convert(arguments: &ConvertArguments) -> Result<(), CliError> {
    let (inputs, path) = inputs_and_output(arguments)?;
    let format = arguments.to.or_else(|| OutputFormat::of_path(path));
    let format = format.ok_or_else(|| CliError::OutputFormat { path: path.clone() })?;
    let existing = existing(path, arguments.force)?;
    let options =
        SourceOptions { mix_volumes: arguments.all_volumes, ..arguments.source.options() };
    let mut source = match inputs {
        // One of those that ship is a name and no file.
        [one] => open(one, SEED, &options)?,
        several => Source::open_files(several, &options)?,
    };
    let interrupt = Interrupt::catch()?;
    let (progress, began) = (ProgressLine::begin(), Instant::now());
    let mut tell_progress = |source: &Source, ios| {
        progress.show(|| {
            let done = source.progress();
            let share = done.map(|done| format!("{:3.0} %  ", done * 100.0)).unwrap_or_default();
            format!("{share}{ios} operations, {}", gone_and_left(began, done))
        });
        interrupt.flow()
    };
    let converted =
        writecliff_trace::convert(&mut source, path, format, existing, &mut tell_progress);
    drop(progress);
    tell(source.problems());
    let converted = converted?.ok_or(CliError::NothingWritten)?;
    if arguments.json {
        return print_json(&converted);
    }
    let Conversion { summary, left_out } = converted;
    if !left_out.is_empty() {
        note(&format!("{format} cannot carry, and so lacks: {}", left_out.join(", ")));
    }
    print(&format!("{}: {}\n", path.display(), describe(&summary)))
}

/// What is read, and what is written: as with `cp`, the last that is named, unless --out is given.
fn inputs_and_output(arguments: &ConvertArguments) -> Result<(&[PathBuf], &PathBuf), CliError> {
    match (&arguments.inputs[..], &arguments.out) {
        (inputs, Some(out)) => Ok((inputs, out)),
        ([inputs @ .., out], None) if !inputs.is_empty() => Ok((inputs, out)),
        (inputs, None) => Err(CliError::NoOutput { path: inputs.iter().cloned().collect() }),
    }
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
