//! Mixed: how fast and how late each job of a load was, or what programs did to an exported drive.

mod served;

use writecliff_device::{Bytes, DeviceInfo, DeviceKind};
use writecliff_measure::Sample;
use writecliff_suite::Good;
use writecliff_suite::mixed::{JobFigures, OperationFigures, Outcome, Plan};

use super::{
    Answer, Latency, answers, number_row, per_drive, ranked_bars, service_times, table_of,
};
use crate::number;
use crate::picture::{Axis, Picture, Points, latency, nth_style};
use crate::section::{Row, Section, Table, View, slug};
use crate::subjects::Subjects;

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
        let free = streams.iter().filter(|stream| !is_held(&answers, stream));
        views.extend(free.map(|stream| ranking(subjects, &answers, stream)));
    }
    for (quantity, is_of) in &OVER_TIME {
        let is_told = |stream: &&Stream| {
            answers.iter().filter_map(|answer| find(answer.outcome, stream)).any(is_of)
        };
        let told: Vec<Stream> = streams.iter().filter(is_told).cloned().collect();
        views.extend(over_time(subjects, &answers, (&streams, &told), quantity));
    }
    let served = served::table(subjects, &answers);
    if served.is_some() {
        let views_of_it = served::over_time().into_iter();
        views.extend(views_of_it.filter_map(|(quantity, told)| {
            over_time(subjects, &answers, (&streams, &told), &quantity)
        }));
    }
    let both = [rates(subjects, &answers, &streams), latencies(subjects, &answers, &streams)];
    let tables = served.into_iter().chain(both).collect();
    let is_in_directory = |answer: &Answer<'_, Outcome>| {
        subjects.all[answer.subject].drive().kind == DeviceKind::Directory
    };
    let method = match answers.iter().any(is_in_directory) {
        true => "A file in a directory is written through the page cache, whatever `direct` says.",
        false => "",
    };
    Some(Section::new(Plan::NAME, "Mixed", method, views, tables))
}

/// The test in a sentence.
pub(super) fn headline(outcome: &Outcome, _: &DeviceInfo) -> Option<String> {
    // More is a table, not a sentence; a job is told whole, with what held it back.
    const MAX: usize = 4;
    let mut told = 0;
    let is_told = |job: &&JobFigures| {
        told += job.operations().count();
        told <= MAX
    };
    let in_sentence = |job: &JobFigures| {
        let held = job.held.as_ref().map(|held| format!(" ({held})")).unwrap_or_default();
        let all = job.operations();
        let all = all.map(|(name, figures)| format!("{} {name} {}", job.name, in_words(figures)));
        all.collect::<Vec<_>>().join(", ") + &held
    };
    let first: Vec<String> = outcome.jobs.iter().take_while(is_told).map(in_sentence).collect();
    let more = if first.len() < outcome.jobs.len() { ", and more" } else { "" };
    if first.is_empty() {
        return None;
    }
    let what = match &outcome.served {
        Some(served) => {
            let busy = outcome.jobs.iter().map(|job| job.seconds).fold(0.0, f64::max);
            let busy = number::seconds(busy);
            format!(
                "As a block device, {}, each over the seconds in which it was asked for, which count whole and are {busy} together",
                served::speed(served)
            )
        }
        None if outcome.jobs.len() == 1 => "Job".to_owned(),
        None => "Jobs".to_owned(),
    };
    Some(format!("{what}: {}{more}.", first.join(", ")))
}

/// Blocks of this size and more are counted in MB/s, smaller ones in IOPS.
/// A little less, since rates of exactly that are off by a rounding.
const LARGE_BLOCK: f64 = 65_536.0 * 0.999;

/// Whether MB/s are what a person counts these I/Os in.
fn is_large(figures: &OperationFigures) -> bool {
    figures.megabytes_per_second * 1e6 >= LARGE_BLOCK * figures.iops.max(f64::MIN_POSITIVE)
}

fn rate(figures: &OperationFigures) -> f64 {
    if is_large(figures) { figures.megabytes_per_second } else { figures.iops }
}

fn in_words(figures: &OperationFigures) -> String {
    match is_large(figures) {
        true => number::megabytes_per_second(figures.megabytes_per_second),
        false => number::iops(figures.iops),
    }
}

fn rates(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>], streams: &[Stream]) -> Table {
    type Rate = (&'static str, fn(&OperationFigures) -> f64, fn(f64) -> String);
    const RATES: [Rate; 2] = [
        ("IOPS", |figures| figures.iops, number::iops),
        ("data rate", |figures| figures.megabytes_per_second, number::megabytes_per_second),
    ];
    let moves_data = |stream: &&Stream| {
        let found = answers.iter().filter_map(|answer| find(answer.outcome, stream));
        found.map(|figures| figures.bytes).any(|bytes| bytes > Bytes::ZERO)
    };
    let rows = streams.iter().flat_map(|stream| {
        // A flush moves none.
        let told = if moves_data(&stream) { &RATES[..] } else { &RATES[..1] };
        told.iter().map(move |(what, value, words)| {
            let of = |answer: &Answer<'_, Outcome>| find(answer.outcome, stream).map(*value);
            let title = format!("{}: {what}", name(stream));
            let row = number_row(&title, Good::AtLeast, answers.iter().map(of), *words);
            Row { good: row.good.filter(|_| !is_held(answers, stream)), ..row }
        })
    });
    table_of(subjects, answers, ("Rates", ""), rows.collect())
}

fn latencies(
    subjects: &Subjects<'_>,
    answers: &[Answer<'_, Outcome>],
    streams: &[Stream],
) -> Table {
    const LATENCIES: [Latency<OperationFigures>; 4] = [
        ("mean", |figures| figures.mean_ns),
        ("99 %", |figures| figures.latency.p99_ns),
        ("99.9 %", |figures| figures.latency.p999_ns),
        ("longest", |figures| figures.latency.max_ns),
    ];
    service_times(subjects, answers, streams, (name, find), &LATENCIES)
}

/// What the series is called in the recording as well.
fn name((job, operation): &Stream) -> String {
    format!("{job} {operation}")
}

fn find<'a>(outcome: &'a Outcome, (job, operation): &Stream) -> Option<&'a OperationFigures> {
    let job = outcome.jobs.iter().find(|one| one.name == *job)?;
    job.operations().find(|(one, _)| one == operation).map(|(_, figures)| figures)
}

/// Whether any drive's rate of it was bounded by what was asked for: no merit of the drive.
fn is_held(answers: &[Answer<'_, Outcome>], (job, _): &Stream) -> bool {
    let jobs = answers.iter().flat_map(|answer| &answer.outcome.jobs);
    jobs.filter(|one| one.name == *job).any(|one| one.held.is_some())
}

fn ranking(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>], stream: &Stream) -> View {
    let mut found = answers.iter().filter_map(|answer| find(answer.outcome, stream));
    let is_large = found.all(is_large);
    let (unit, words): (_, fn(f64) -> String) = match is_large {
        true => ("MB/s", number::megabytes_per_second),
        false => ("IOPS", number::iops),
    };
    let value = |outcome: &Outcome| {
        let figures = find(outcome, stream)?;
        Some(if is_large { rate(figures) } else { figures.iops })
    };
    let bars = ranked_bars(subjects, answers, Good::AtLeast, value, words);
    let title = format!("Mixed: {}", name(stream));
    let id = format!("mixed-{}", slug(&name(stream)));
    View::common(&title, "Longer is better.", Picture::bars(id, title.clone(), unit, bars, 0.0))
}

/// Something that is shown second by second, of the streams that it is told by.
struct OverTime {
    id: &'static str,
    title: &'static str,
    text: &'static str,
    value: fn(&Sample) -> Option<f64>,
    axis: fn(lowest: f64, highest: f64) -> Axis,
}

/// What is shown of operations of a kind.
type OfKind = (OverTime, fn(&OperationFigures) -> bool);

const OVER_TIME: [OfKind; 3] = [
    (
        OverTime {
            id: "mixed-jobs",
            title: "IOPS over time",
            text: "Every dot is one second of a job's reads, writes, trims or flushes.",
            // Of another program's logs one may be known and not the other.
            value: |sample| {
                let is_told = sample.ios() > 0 || sample.read_bytes + sample.written_bytes == 0;
                is_told.then(|| sample.iops().get())
            },
            axis: |_, highest| Axis::linear("IOPS", highest),
        },
        |figures| !is_large(figures),
    ),
    (
        OverTime {
            id: "mixed-rates",
            title: "Data rates over time",
            text: "Jobs of blocks of 64 KiB and more. Every dot is one second.",
            value: |sample| {
                let is_told = sample.read_bytes + sample.written_bytes > 0 || sample.ios() == 0;
                is_told.then(|| sample.megabytes_per_second())
            },
            axis: |_, highest| Axis::linear("MB/s", highest),
        },
        is_large,
    ),
    (
        OverTime {
            id: "mixed-latencies",
            title: "Longest service time of each second",
            text: "Logarithmic.",
            // Not known of another program's averages.
            value: |sample| (sample.latency_max_ns > 0).then_some(sample.latency_max_ns as f64),
            axis: |lowest, highest| times("service time", lowest, highest),
        },
        |_| true,
    ),
];

/// An axis of times.
fn times(of: &str, lowest: f64, highest: f64) -> Axis {
    let ends = (lowest.max(1.0), highest.max(2.0));
    let mut axis = Axis::decades(&format!("{of}, ns"), ends, false, latency);
    axis.title = of.to_owned();
    axis
}

fn over_time(
    subjects: &Subjects<'_>,
    answers: &[Answer<'_, Outcome>],
    (streams, told): (&[Stream], &[Stream]),
    OverTime { id, title, text, value, axis }: &OverTime,
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
        let second = |s: &Sample| s.start_ns.saturating_sub(start) as f64 / 1e9;
        whole.filter_map(|sample| Some((second(sample), value(sample)?))).collect()
    };
    let all =
        || answers.iter().flat_map(|answer| told.iter().flat_map(|stream| points(answer, stream)));
    let end = all().map(|point| point.0 + 1.0).fold(0.0, f64::max);
    all().next()?;
    let x = Axis::span("seconds of the jobs", 0.0, end);
    let lowest = all().map(|point| point.1).fold(f64::INFINITY, f64::min);
    let y = axis(lowest, all().map(|point| point.1).fold(0.0, f64::max));
    per_drive(subjects, answers, (id, title, text), |answer, id, heading| {
        let trace = |stream: &Stream| {
            // A stream has its style in all pictures.
            let index = streams.iter().position(|one| one == stream).unwrap_or(0);
            Points::dots(&name(stream), nth_style(index), points(answer, stream))
        };
        let traces = told.iter().map(trace).collect();
        let mut picture = Picture::new(id, heading, x.clone(), y.clone(), traces);
        picture.conditions = "a load of several jobs".to_owned();
        Some(picture)
    })
}
