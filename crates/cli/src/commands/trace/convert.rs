//! `writecliff trace convert`: any trace into our format, fio's, or CSV.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use writecliff_trace::{Conversion, OUTPUT_FORMATS, OutputFormat, Source, SourceOptions, Summary};

use super::existing;
use super::source::{SourceArguments, note, tell};
use crate::commands::print;
use crate::error::CliError;
use crate::interrupt::Interrupt;

/// How often the terminal's line is written anew.
const REDRAW: Duration = Duration::from_millis(200);

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
    let mut progress = ProgressLine::begin();
    let mut tell_progress = |source: &Source, ios| {
        progress.show(source, ios);
        interrupt.flow()
    };
    let converted =
        writecliff_trace::convert(&mut source, path, format, existing, &mut tell_progress);
    progress.end();
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

/// A line of the terminal that is written anew now and then; nothing elsewhere.
struct ProgressLine {
    last: Option<Instant>,
}

impl ProgressLine {
    fn begin() -> Self {
        Self { last: std::io::stderr().is_terminal().then(Instant::now) }
    }

    fn show(&mut self, source: &Source, ios: u64) {
        let Some(last) = self.last.as_mut().filter(|last| last.elapsed() >= REDRAW) else { return };
        *last = Instant::now();
        let share =
            source.progress().map_or(String::new(), |share| format!("{:3.0} %  ", share * 100.0));
        let _ = write!(std::io::stderr(), "\r{share}{ios} operations");
    }

    /// Clears the line.
    fn end(&self) {
        if self.last.is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

fn output_formats() -> impl TypedValueParser<Value = OutputFormat> {
    let values = OUTPUT_FORMATS.iter().map(|(_, name, what)| PossibleValue::new(name).help(what));
    PossibleValuesParser::new(values).try_map(|name| name.parse())
}
