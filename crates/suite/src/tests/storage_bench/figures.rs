//! The figures of one trace, the most telling first.

use super::outcome::{Served, Share, Times};
use crate::record::figure::{Figure, FigureOf, figures_of, millis};
use crate::record::unit::Unit::{MegabytesPerSecond, Milliseconds, Seconds};

type Row = FigureOf<Served>;

/// All figures of a trace. Those of operations that it did not have are not there.
pub const FIGURES: &[Row] = &[
    Row::more("average data rate", "Average data rate", MegabytesPerSecond, |s| {
        Some(s.all.megabytes_per_second)
    })
    .means("bytes over disk busy time"),
    Row::more("data rate of reads", "... of reads", MegabytesPerSecond, |s| rate(&s.reads))
        .means("bytes read over the reads' busy time")
        .unjudged(),
    Row::more("data rate of writes", "... of writes", MegabytesPerSecond, |s| rate(&s.writes))
        .means("the same of writes")
        .unjudged(),
    Row::less("disk busy time", "Disk busy time", Seconds, |s| busy(&s.all))
        .means("with anything in flight; no idle time")
        .unjudged(),
    Row::less("busy time with reads", "... with reads", Seconds, |s| busy(&s.reads))
        .means("with at least one read in flight")
        .unjudged(),
    Row::less("busy time with writes", "... with writes", Seconds, |s| busy(&s.writes))
        .means("with at least one write in flight")
        .unjudged(),
    Row::less("average service time", "Average service time", Milliseconds, |s| {
        Some(millis(s.all.service.mean_ns))
    })
    .means("submitted to completed, all operations"),
    Row::less("service time of reads", "... of reads", Milliseconds, |s| {
        time(s.reads.service.mean_ns)
    })
    .unjudged(),
    Row::less("service time of writes", "... of writes", Milliseconds, |s| {
        time(s.writes.service.mean_ns)
    })
    .unjudged(),
    Row::less("standard deviation", "Standard deviation", Milliseconds, |s| {
        Some(millis(s.all.service.deviation_ns))
    })
    .means("of the service times: smaller is steadier"),
    Row::less("p50", "Service time p50", Milliseconds, |s| time(s.all.service.percentiles.p50_ns))
        .means("half of the operations took at most this")
        .unjudged(),
    Row::less("p99", "Service time p99", Milliseconds, |s| {
        s.all.service.percentiles.p99_ns.map(millis)
    })
    .means("99 of 100 took at most this")
    .unjudged(),
    Row::less("p99.9", "Service time p99.9", Milliseconds, |s| {
        s.all.service.percentiles.p999_ns.map(millis)
    })
    .means("999 of 1,000"),
    Row::less("p99.99", "Service time p99.99", Milliseconds, |s| {
        s.all.service.percentiles.p9999_ns.map(millis)
    })
    .means("9,999 of 10,000")
    .unjudged(),
    Row::less("longest", "Longest", Milliseconds, |s| time(s.all.service.percentiles.max_ns))
        .means("the slowest operation")
        .unjudged(),
    Row::less("average response time", "Average response time", Milliseconds, |s| {
        of(s.response, |response| response.mean_ns)
    })
    .means("due to completed, by the trace's clock")
    .unjudged(),
    Row::less("response time p99", "Response time p99", Milliseconds, |s| {
        s.response.and_then(|response| response.percentiles.p99_ns).map(millis)
    })
    .means("99 of 100 were done so long after they were due")
    .unjudged(),
    Row::less("response time p99.9", "Response time p99.9", Milliseconds, |s| {
        s.response.and_then(|response| response.percentiles.p999_ns).map(millis)
    })
    .means("999 of 1,000")
    .unjudged(),
    Row::less("lateness p99", "Began late, p99", Milliseconds, |s| {
        s.lateness.and_then(|lateness| lateness.percentiles.p99_ns).map(millis)
    })
    .means("due to submitted: a full queue or a busy host")
    .unjudged(),
];

impl Served {
    pub(super) fn figures(&self) -> Vec<Figure> {
        let figures = figures_of(FIGURES, self).into_iter();
        let named = |figure: Figure| {
            let name = format!("{}, {}", self.trace, figure.name);
            Figure { name, ..figure }.of(&self.trace)
        };
        figures.map(named).collect()
    }
}

fn rate(share: &Share) -> Option<f64> {
    Some(share.megabytes_per_second).filter(|rate| *rate > 0.0)
}

fn busy(share: &Share) -> Option<f64> {
    (share.busy_ns > 0).then(|| share.busy_ns as f64 / 1e9)
}

fn time(nanos: u64) -> Option<f64> {
    (nanos > 0).then(|| millis(nanos))
}

fn of(times: Option<Times>, nanos: fn(Times) -> u64) -> Option<f64> {
    time(nanos(times?))
}
