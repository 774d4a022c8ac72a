//! How traces of any format are read by the commands that take them, and what is told of that.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use writecliff_trace::{FORMATS, Format, Problems, SourceOptions, Volume};

use crate::options::Percent;

#[derive(Debug, Args)]
pub(super) struct SourceArguments {
    /// The input's format [default: told from its content]
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    from: Option<Format>,
    /// Only this stream: a process, a volume, a file; in the kernel's traces also a device like 8,0
    #[arg(long, value_name = "NAME")]
    stream: Option<String>,
    /// Refuse an input of which more lines than this are broken or far out of order
    #[arg(long, value_name = "PERCENT", default_value = "1%", allow_hyphen_values = true)]
    bad_lines: Percent,
}

impl SourceArguments {
    pub(super) fn options(&self) -> SourceOptions {
        SourceOptions {
            format: self.from,
            stream: self.stream.clone(),
            bad_lines_percent: self.bad_lines.0,
            mix_volumes: true,
        }
    }
}

fn formats() -> impl TypedValueParser<Value = Format> {
    let values = FORMATS.iter().map(|row| PossibleValue::new(row.name).help(row.description));
    PossibleValuesParser::new(values).try_map(|name| name.parse())
}

/// Everything that was not as it should be, with what follows from it.
pub(super) fn tell(problems: &Problems) {
    for broken in &problems.first_broken {
        note(&broken.to_string());
    }
    for (count, one, many) in counted(problems) {
        match count {
            0 => {}
            1 => note(&format!("1 {one}")),
            _ => note(&format!("{count} {many}")),
        }
    }
    if problems.too_many_streams {
        note("more than 65,534 streams; the last one holds all others");
    }
    if !problems.volumes.is_empty() {
        let some: Vec<String> = problems.volumes.iter().take(5).map(Volume::to_string).collect();
        note(&format!(
            "{} volumes, whose offsets overlap: {}{}; take one with --stream NAME",
            problems.volumes.len(),
            some.join(", "),
            if problems.volumes.len() > some.len() { ", ..." } else { "" },
        ));
    }
}

/// What there may be any number of: in words for one, and for more.
fn counted(problems: &Problems) -> [(u64, &'static str, &'static str); 8] {
    [
        (problems.broken, "broken line, which is left out", "broken lines, which are left out"),
        (
            problems.out_of_reach,
            "line far out of order, which is left out; sort the input by time",
            "lines far out of order, which are left out; sort the input by time",
        ),
        (
            problems.lost_by_recorder,
            "event lost when it was recorded, by its own account",
            "events lost when it was recorded, by its own account",
        ),
        (
            problems.never_completed,
            "operation without a completion",
            "operations without a completion",
        ),
        (
            problems.failed,
            "operation failed: without completion",
            "operations failed: without completion",
        ),
        (
            problems.unmatched_completions,
            "completion of an operation whose issue is missing: before the beginning, or lost",
            "completions of operations whose issue is missing: before the beginning, or lost",
        ),
        (
            problems.passed_over,
            "line that is no operation passed over",
            "lines that are no operations passed over",
        ),
        (
            problems.other_streams,
            "operation or line of another stream passed over",
            "operations or lines of other streams passed over",
        ),
    ]
}

pub(super) use crate::output::say as note;
