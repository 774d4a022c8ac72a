//! Mixed: what each job of a load of one's own met with.

use writecliff_measure::Sample;
use writecliff_suite::mixed::{OperationFigures, Outcome, Plan};

use super::{Answer, answers, bars, highest_first};
use crate::number;
use crate::picture::{Axis, Picture, Points, nth_style};
use crate::run::NONE;
use crate::section::{Panel, Place, Row, Section, Table, View, picture_id, slug};
use crate::subject::Subjects;

/// A job's reads, writes, trims or flushes, which are a series of their own.
type Stream = (String, &'static str);

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let answers = answers::<Outcome>(subjects);
    let mut streams: Vec<Stream> = Vec::new();
    for job in answers.iter().flat_map(|answer| &answer.outcome.jobs) {
        let all = job.operations().map(|(operation, _)| (job.name.clone(), operation));
        let new: Vec<Stream> = all.filter(|stream| !streams.contains(stream)).collect();
        streams.extend(new);
    }
    if streams.is_empty() {
        return None;
    }
    let mut views = Vec::new();
    if answers.len() > 1 {
        views.extend(streams.iter().map(|stream| ranking(subjects, &answers, stream)));
    }
    views.extend(over_time(subjects, &answers, &streams));
    let table = |title, text, value: fn(&OperationFigures) -> String| {
        let row = |stream: &Stream| {
            let value = |answer: &Answer<'_, Outcome>| {
                find(answer.outcome, stream).map_or(NONE.to_owned(), value)
            };
            Row::new(&name(stream), answers.iter().map(value).collect(), "")
        };
        let columns = Table::columns_of(subjects, answers.iter().map(|answer| answer.subject));
        Table::new(title, text, columns, streams.iter().map(row).collect())
    };
    let tables = vec![table("Rates", "", rates), table("Service times", LATENCIES, latencies)];
    Some(Section::new(Plan::NAME, "Mixed", "", views, tables))
}

/// The test in a sentence.
pub(super) fn headline(outcome: &Outcome) -> Option<String> {
    let streams = outcome.jobs.iter().flat_map(|job| {
        job.operations().map(|(operation, figures)| {
            format!("{} {operation} {}", job.name, number::iops(figures.iops))
        })
    });
    let streams: Vec<String> = streams.collect();
    // More is a table, not a sentence.
    const MAX: usize = 4;
    let more = if streams.len() > MAX { ", and more" } else { "" };
    let first = streams.get(..streams.len().min(MAX)).filter(|first| !first.is_empty())?;
    Some(format!("Jobs: {}{more}.", first.join(", ")))
}

const LATENCIES: &str = "Mean / 99th percentile / 99.9th percentile / longest.";

fn rates(figures: &OperationFigures) -> String {
    let rate = number::megabytes_per_second(figures.megabytes_per_second);
    format!("{}, {rate}", number::iops(figures.iops))
}

fn latencies(figures: &OperationFigures) -> String {
    let latency = figures.latency;
    let all = [figures.mean_ns, latency.p99_ns, latency.p999_ns, latency.max_ns];
    all.map(number::service_time).join(" / ")
}

/// What the series is called in the recording as well.
fn name((job, operation): &Stream) -> String {
    format!("{job} {operation}")
}

fn find<'a>(outcome: &'a Outcome, (job, operation): &Stream) -> Option<&'a OperationFigures> {
    let job = outcome.jobs.iter().find(|one| one.name == *job)?;
    job.operations().find(|(one, _)| one == operation).map(|(_, figures)| figures)
}

fn ranking(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>], stream: &Stream) -> View {
    let iops = |outcome: &Outcome| Some(find(outcome, stream)?.iops);
    let bars = highest_first(bars(subjects, answers, iops, number::iops));
    let title = format!("Mixed: {}", name(stream));
    let id = format!("mixed-{}", slug(&name(stream)));
    View::common(&title, "Best first.", Picture::bars(id, title.clone(), "IOPS", bars, 0.0))
}

fn over_time(
    subjects: &Subjects<'_>,
    answers: &[Answer<'_, Outcome>],
    streams: &[Stream],
) -> Option<View> {
    let start = |answer: &Answer<'_, Outcome>| {
        let of_stream =
            |stream| answer.run.recording.series(&name(stream)).next().map(|s| s.start_ns);
        streams.iter().filter_map(of_stream).min().unwrap_or(0)
    };
    let points = |answer: &Answer<'_, Outcome>, stream: &Stream| -> Vec<(f64, f64)> {
        let (series, start) = (name(stream), start(answer));
        let samples = answer.run.recording.series(&series);
        let whole = samples.filter(|sample| sample.is_whole());
        let second = |s: &Sample| (s.start_ns.saturating_sub(start) / 1_000_000_000) as f64;
        whole.map(|sample| (second(sample), sample.iops().get())).collect()
    };
    let all = || {
        answers.iter().flat_map(|answer| streams.iter().flat_map(|stream| points(answer, stream)))
    };
    let end = all().map(|point| point.0 + 1.0).fold(0.0, f64::max);
    all().next()?;
    let x = Axis::span("seconds of the jobs", 0.0, end);
    let y = Axis::linear("IOPS", all().map(|point| point.1).fold(0.0, f64::max));
    let (id, title) = ("mixed-jobs", "The jobs over time");
    let panel = |answer: &Answer<'_, Outcome>| {
        let trace = |(index, stream): (usize, &Stream)| {
            Points::dots(&name(stream), nth_style(index), points(answer, stream))
        };
        let heading = format!("{title}: {}", subjects.full_name(answer.subject));
        let id = picture_id(id, subjects, answer.subject);
        let traces = streams.iter().enumerate().map(trace).collect();
        let picture = Picture::new(id, heading, x.clone(), y.clone(), traces);
        let caption = subjects.is_comparison().then(|| subjects.name(answer.subject).to_owned());
        Panel { of: Place::of(answer.subject), caption, picture }
    };
    Some(View {
        id: id.to_owned(),
        title: title.to_owned(),
        text: "Every dot is one second of a job's reads, writes, trims or flushes.".to_owned(),
        more: false,
        panels: answers.iter().map(panel).collect(),
    })
}
