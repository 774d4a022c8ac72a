//! How long the writes took: all of them as a heat map, and the percentiles of each second.

use super::seconds::marks;
use super::series::{Ranges, Series, view};
use crate::number;
use crate::picture::{Axis, BLUE, GREEN, Heat, ORANGE, PURPLE, Picture, Points, Trace, latency};
use crate::section::View;
use writecliff_measure::Sample;

/// Columns of a heat map at most: each is a few pixels wide on a large screen.
const COLUMNS_MAX: usize = 250;
/// Rows of a heat map: each is a few pixels high.
const ROWS: usize = 60;

const QUANTITY: &str = "service time, ns";

pub(super) fn views(series: &[Series<'_>], ranges: &Ranges) -> Vec<View> {
    let heat_text = "Every write. The darker (on a dark page: the brighter) a place, the more of \
                     that moment's writes took so long; a lone pale dot may be a single one.";
    let percentiles_text = "Service time of the writes of each second. Of fewer than 1,000 writes there is no \
                            p99.9, of fewer than 100 no p99. Logarithmic.";
    let views = [
        view(series, ("latency-map", "Latency of every write", heat_text), |one, id, title| {
            heat_map(one, ranges, id, title)
        }),
        view(series, ("latency", "Latency percentiles", percentiles_text), |one, id, title| {
            Some(percentiles(one, ranges, id, title))
        })
        .map(View::on_demand),
    ];
    views.into_iter().flatten().collect()
}

fn axes(one: &Series<'_>, ranges: &Ranges) -> (Axis, Axis) {
    let time = ranges.time(one);
    (time, Axis::decades(QUANTITY, ranges.latency, false, latency).untitled())
}

fn percentiles(one: &Series<'_>, ranges: &Ranges, id: String, title: String) -> Picture {
    // A percentile of few I/Os would be the longest of them.
    let trace = |name, style, ios_min, value: fn(&Sample) -> u64| {
        let points = one.points(|sample| (sample.ios() >= ios_min).then(|| value(sample) as f64));
        (!points.is_empty()).then(|| Points::dots(name, style, points))
    };
    let traces = [
        trace("longest", ORANGE, 1, |sample| sample.latency_max_ns),
        trace("p99.9", PURPLE, 1000, |sample| sample.latency_p999_ns),
        trace("p99", BLUE, 100, |sample| sample.latency_p99_ns),
        trace("p50", GREEN, 1, |sample| sample.latency_p50_ns),
    ];
    let (x, y) = axes(one, ranges);
    Picture::new(id, title, x, y, traces.into_iter().flatten().collect())
}

/// Where columns of whole seconds begin and end. On a broken axis the documents' part has half of them.
fn columns_of(x: &Axis, one: &Series<'_>, ranges: &Ranges) -> Vec<f64> {
    let end = ranges.end(one);
    let Some(documents) = ranges.documents(one) else {
        let width = (end as usize).div_ceil(COLUMNS_MAX).max(1);
        return (0..=(end as usize).div_ceil(width))
            .map(|column| (column * width) as f64)
            .collect();
    };
    // Columns of the same width on the picture, as the page reads them.
    let width = (documents as usize).div_ceil(COLUMNS_MAX / 2).max(1);
    let step = x.place(width as f64) - x.place(0.0);
    let edges = (0..).map(|column| x.value(x.place(0.0) + step * f64::from(column)));
    let mut edges: Vec<f64> = edges.take_while(|edge| *edge < end).collect();
    edges.push(x.value(x.place(0.0) + step * edges.len() as f64));
    edges
}

fn heat_map(one: &Series<'_>, ranges: &Ranges, id: String, title: String) -> Option<Picture> {
    let (x, y) = axes(one, ranges);
    let x_edges = columns_of(&x, one, ranges);
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for (sample, counts) in one.latencies() {
        let second = f64::from(sample.second);
        let column = x_edges.partition_point(|edge| *edge <= second).saturating_sub(1);
        columns.resize(columns.len().max(column + 1), vec![0.0; ROWS]);
        for counted in counts {
            let row = (y.place(counted.latency as f64) * ROWS as f64) as usize;
            columns[column][row.min(ROWS - 1)] += counted.count as f64;
        }
    }
    for column in &mut columns {
        let all: f64 = column.iter().sum();
        column.iter_mut().filter(|count| **count > 0.0).for_each(|count| *count *= 100.0 / all);
    }
    let x_edges = x_edges.into_iter().take(columns.len() + 1).collect();
    let height = (y.to / y.from).powf(1.0 / ROWS as f64);
    let y_edges = (0..=ROWS).map(|row| y.from * height.powi(row as i32)).collect();
    if columns.is_empty() {
        return None;
    }
    let heat = Trace::Heat(Heat {
        x_edges,
        y_edges,
        columns,
        quantity: "percent",
        unit: "% of the I/Os",
        full: 100.0,
    });
    let mut picture = Picture::new(id, title, x, y, vec![heat]);
    picture.marks = marks(one, ranges, 0.0);
    if let Some(outcome) = one.outcome {
        let latency = outcome.steady_latency;
        picture.alt = format!(
            "{}: in the {} half of the writes took at most {}{}; the longest of the whole run took {}.",
            one.name,
            one.window(),
            number::service_time(latency.p50_ns),
            latency.p999_ns.map_or_else(String::new, |nanos| {
                format!(", 99.9 % at most {}", number::service_time(nanos))
            }),
            number::service_time(outcome.longest_ns)
        );
    }
    Some(picture)
}
