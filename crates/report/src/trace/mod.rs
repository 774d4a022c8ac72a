//! Traces as people read them: the table that the documents print, for the terminal, and a page with
//! the pictures.

mod figures;
mod over_time;
mod spread;
mod words;

use std::path::{Path, PathBuf};

use writecliff_trace::Description;

use crate::finish::values;
use crate::page::about::{About, RunPart, SubjectPart, Words};
use crate::page::error::ReportError;
use crate::page::{Format, write};
use crate::picture::Picture;
use crate::section::{Column, Panel, Place, Section, View, slug};
use crate::summary::{table_text, wrapped};

/// Writes `out/index.html` and `out/pictures/` about any number of traces, each file atomically, and
/// returns the page's path.
///
/// # Errors
/// [`ReportError`]; an older page is kept then.
///
/// # Panics
/// If there are no traces.
pub fn write_trace_page(traces: &[Description], out: &Path) -> Result<PathBuf, ReportError> {
    assert!(!traces.is_empty(), "a page is about at least one trace");
    let (title, lead) = match traces {
        [trace] => (trace.name.clone(), words::origin(trace)),
        _ => (
            format!("{} traces compared", traces.len()),
            "Percentages side by side have the same axis; for the rest each picture has its own, \
             because traces differ by more than a common one can show."
                .to_owned(),
        ),
    };
    let about = About {
        bench: None,
        words: WORDS,
        kind: "trace".to_owned(),
        title,
        lead,
        headline: String::new(),
        tiles: Vec::new(),
        ranking: None,
        first: None,
        of_all: Vec::new(),
        subjects: traces.iter().map(subject_part).collect(),
        specification: None,
    };
    Ok(write(&about, &sections(traces), out, Format::Html)?.page)
}

/// Where traces come from, doubts, and their figures with a column for each. Plain text.
pub fn trace_summary(traces: &[Description]) -> String {
    let mut text = String::new();
    for trace in traces {
        let synthetic = if trace.header.synthetic { " (SYNTHETIC)" } else { "" };
        text += &wrapped("", &format!("{}{synthetic}", trace.name));
        text += &wrapped("  ", &words::origin(trace));
        for doubt in words::doubts(trace) {
            text += &wrapped("  ! ", &doubt);
        }
    }
    text.push('\n');
    text += &table_text(&figures::table(traces));
    if let [trace] = traces
        && let Some(streams) = figures::streams(0, trace)
    {
        text += &format!("\n  {}\n{}", streams.title, table_text(&streams));
    }
    text
}

const WORDS: Words = Words {
    subjects: "Traces",
    findings: "At a glance",
    runs: "Where it comes from",
    mark: "synthetic",
    marked: "were made by a generator to have certain statistics; no application was recorded.",
    in_bench: false,
};

fn subject_part(trace: &Description) -> SubjectPart {
    SubjectPart {
        name: trace.name.clone(),
        marked: trace.header.synthetic,
        warnings: words::doubts(trace),
        findings: words::findings(&trace.info),
        runs: vec![RunPart { title: words::origin(trace), details: words::details(trace) }],
    }
}

fn sections(traces: &[Description]) -> Vec<Section> {
    let section = |id, title, question: &str, views: Vec<Option<View>>, tables| Section {
        id,
        title,
        question: question.to_owned(),
        doubts: Vec::new(),
        settings: Vec::new(),
        views: views.into_iter().flatten().collect(),
        tables,
        listings: Vec::new(),
    };
    let streams =
        traces.iter().enumerate().filter_map(|(index, trace)| figures::streams(index, trace));
    let tables = std::iter::once(figures::table(traces)).chain(streams).collect();
    vec![
        section("figures", "Figures", "What is asked of the drive?", spread::sizes(traces), tables),
        section("time", "Over time", "When, and where?", over_time::views(traces), Vec::new()),
        section(
            "queue",
            "Queue and pauses",
            "How much at once, and how close together?",
            spread::queue(traces),
            Vec::new(),
        ),
    ]
}

/// A column for each trace.
fn columns(traces: &[Description]) -> Vec<Column> {
    let column = |(index, trace): (usize, &Description)| Column {
        of: Place::of(index),
        name: trace.name.clone(),
    };
    traces.iter().enumerate().map(column).collect()
}

/// A view with the picture that `draw` makes of each trace, given its id and its title; none of
/// none.
fn view(
    traces: &[Description],
    (id, title, text): (&str, &str, &str),
    draw: impl Fn(&Description, String, String) -> Option<Picture>,
) -> Option<View> {
    let panel = |(index, trace): (usize, &Description)| {
        let several = traces.len() > 1;
        let suffix = format!("-{}-{}", index + 1, slug(&trace.name));
        let synthetic = if trace.header.synthetic { " (synthetic)" } else { "" };
        let picture = draw(
            trace,
            format!("{id}{}", if several { &suffix } else { "" }),
            format!("{title}: {}{synthetic}", trace.name),
        )?;
        let caption = several.then(|| trace.name.clone());
        Some(Panel { of: Place::of(index), caption, picture })
    };
    let mut panels: Vec<Panel> = traces.iter().enumerate().filter_map(panel).collect();
    share_percent_axis(&mut panels);
    for Panel { picture, .. } in &mut panels {
        picture.alt = format!("{}. {}", picture.title, values(picture));
    }
    let (id, title, text) = (id.to_owned(), title.to_owned(), text.to_owned());
    (!panels.is_empty()).then_some(View { id, title, text, more: false, panels })
}

/// Percentages of one view are comparable whatever the traces are: they have one axis.
fn share_percent_axis(panels: &mut [Panel]) {
    let axes = panels.iter().map(|panel| &panel.picture.y);
    let percent = axes.filter(|axis| axis.quantity.contains('%'));
    let Some(longest) = percent.max_by(|a, b| a.to.total_cmp(&b.to)).cloned() else { return };
    panels.iter_mut().for_each(|panel| panel.picture.y = longest.clone());
}
