//! fio's log files (`write_iops_log` and its kin) as seconds.
//!
//! A line is `time, value, direction, block size, offset`, of newer versions with more behind it. With
//! `log_avg_msec` a value is the average of the interval that ends at its time; without it every I/O
//! has a line in the logs of latencies.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use writecliff_device::{Nanos, Operation};
use writecliff_measure::LatencyHistogram;

/// A second of an operation, as far as logs tell.
#[derive(Debug, Default)]
pub(super) struct Second {
    pub(super) ios: f64,
    pub(super) bytes: f64,
    pub(super) latency_sum_ns: f64,
    /// I/Os whose latency is in the sum.
    pub(super) timed: f64,
    /// Of every I/O, if each has a line.
    pub(super) latencies: LatencyHistogram,
    pub(super) latency_max_ns: u64,
}

/// The seconds of one operation, from the job's beginning.
pub(super) type Seconds = Vec<Second>;

/// All that the logs of a job tell, by operation.
#[derive(Debug, Default)]
pub(super) struct Logs {
    by_operation: [Seconds; 4],
    /// When the last line of each operation was written, in seconds: of rates, and of latencies.
    ends: [[f64; 4]; 2],
}

/// What a log is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    Iops,
    Bandwidth,
    Latency,
}

/// Longer runs than ten days have no logs of ours: a time beyond it is a mistake of the file's.
const SECONDS_MAX: f64 = 864_000.0;
/// Times above this are of a clock, in milliseconds since 1970, and not from the job's beginning.
const OF_A_CLOCK_MS: f64 = 1e11;

impl Logs {
    /// Adds a file's lines; `averaged` if a line is an interval's average.
    ///
    /// # Errors
    /// What is wrong with the file, and in which line.
    pub(super) fn add(
        &mut self,
        path: &Path,
        quantity: Quantity,
        averaged: bool,
    ) -> Result<(), String> {
        let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut zero = None;
        let mut ended = [0.0; 4];
        for (number, line) in BufReader::new(file).lines().enumerate() {
            let line = line.map_err(|error| format!("{}: {error}", path.display()))?;
            if line.trim().is_empty() {
                continue;
            }
            let wrong = |what: &str| format!("{}:{}: {what}", path.display(), number + 1);
            let entry = Line::read(&line).ok_or_else(|| {
                wrong("this is no line of fio's logs: time, value, direction, block size")
            })?;
            let zero = *zero.get_or_insert(if entry.ms > OF_A_CLOCK_MS { entry.ms } else { 0.0 });
            let end = (entry.ms - zero) / 1e3;
            if !(0.0..SECONDS_MAX).contains(&end) {
                return Err(wrong("its time is not one of this job"));
            }
            let operation = entry.operation as usize;
            let last = &mut self.ends[usize::from(quantity == Quantity::Latency)][operation];
            *last = end.max(*last);
            let seconds = &mut self.by_operation[operation];
            match (quantity, averaged) {
                (Quantity::Latency, false) => at(seconds, end).count(&entry),
                // Without intervals a rate is one I/O's, and its latency has counted it.
                (_, false) => {}
                (_, true) => {
                    let start = std::mem::replace(&mut ended[operation], end);
                    spread(seconds, (start, end), quantity, entry.value);
                }
            }
        }
        Ok(())
    }

    /// Of I/Os of `size` bytes each: how many there were follows from the bytes where only those were logged,
    /// and the other way about.
    pub(super) fn complete(&mut self, operation: Operation, size: f64) {
        let seconds = &mut self.by_operation[operation as usize];
        let ios_are_told = seconds.iter().any(|second| second.ios > 0.0);
        let bytes_are_told = seconds.iter().any(|second| second.bytes > 0.0);
        for second in seconds.iter_mut().filter(|_| size > 0.0) {
            match (ios_are_told, bytes_are_told) {
                (false, true) => second.ios = second.bytes / size,
                (true, false) => second.bytes = second.ios * size,
                (true, true) | (false, false) => {}
            }
        }
    }

    pub(super) fn of(&self, operation: Operation) -> &[Second] {
        &self.by_operation[operation as usize]
    }

    /// How much of the second `at` the logs tell: less than all of the last. How many I/Os there were the logs of
    /// rates tell, if there are any, however much longer that of latencies goes on.
    pub(super) fn span(&self, operation: Operation, at: u32) -> Nanos {
        let [rates, latencies] = self.ends.map(|ends| ends[operation as usize]);
        let told = if rates > 0.0 { rates } else { latencies } - f64::from(at);
        Nanos((told.clamp(0.0, 1.0) * 1e9) as u64)
    }
}

/// A line of a log.
struct Line {
    ms: f64,
    value: f64,
    operation: Operation,
    bytes: f64,
}

impl Line {
    fn read(line: &str) -> Option<Self> {
        let mut fields = line.split(',').map(str::trim);
        let mut number = || fields.next()?.parse::<f64>().ok().filter(|n| *n >= 0.0);
        let (ms, value) = (number()?, number()?);
        let operation = match number()? as u32 {
            0 => Operation::Read,
            1 => Operation::Write,
            2 => Operation::Trim,
            _ => Operation::Flush,
        };
        Some(Self { ms, value, operation, bytes: number().unwrap_or(0.0) })
    }
}

impl Second {
    fn count(&mut self, line: &Line) {
        let ns = line.value as u64;
        (self.ios, self.bytes) = (self.ios + 1.0, self.bytes + line.bytes);
        (self.timed, self.latency_sum_ns) = (self.timed + 1.0, self.latency_sum_ns + line.value);
        self.latencies.record(Nanos(ns));
        self.latency_max_ns = self.latency_max_ns.max(ns);
    }
}

fn at(seconds: &mut Seconds, time: f64) -> &mut Second {
    let index = time as usize;
    if seconds.len() <= index {
        seconds.resize_with(index + 1, Second::default);
    }
    &mut seconds[index]
}

/// An interval's average is that of each of its parts.
fn spread(seconds: &mut Seconds, (start, end): (f64, f64), quantity: Quantity, value: f64) {
    let mut from = start;
    while from < end {
        let to = end.min(from.floor() + 1.0);
        let (second, part) = (at(seconds, from), to - from);
        match quantity {
            Quantity::Iops => second.ios += value * part,
            // KiB/s.
            Quantity::Bandwidth => second.bytes += value * 1024.0 * part,
            Quantity::Latency => {
                second.timed += part;
                second.latency_sum_ns += value * part;
            }
        }
        from = to;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, quantity: Quantity, averaged: bool) -> Result<Logs, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a_iops.1.log");
        std::fs::write(&path, text).unwrap();
        let mut logs = Logs::default();
        logs.add(&path, quantity, averaged).map(|()| logs)
    }

    #[test]
    fn an_average_is_shared_among_the_seconds_of_its_interval() {
        let text = "1500, 100, 0, 0, 0\n1500, 7, 1, 0, 0\n2000, 40, 0, 0, 0\n";
        let logs = read(text, Quantity::Iops, true).unwrap();
        let ios = |operation| logs.of(operation).iter().map(|s| s.ios).collect::<Vec<_>>();
        assert_eq!(ios(Operation::Read), [100.0, 70.0]);
        assert_eq!(ios(Operation::Write), [7.0, 3.5]);
        let clocked = "1795403001000, 9, 0, 0, 0\n1795403002000, 40, 0, 0, 0\n";
        let clocked = read(clocked, Quantity::Iops, true).unwrap();
        assert_eq!(clocked.of(Operation::Read).iter().map(|s| s.ios).sum::<f64>(), 40.0);
    }

    #[test]
    fn what_one_log_leaves_out_follows_from_the_other() {
        let told = |text, quantity| {
            let mut logs = read(text, quantity, true).unwrap();
            logs.complete(Operation::Read, 4096.0);
            let seconds = logs.of(Operation::Read).iter();
            seconds.map(|second| (second.ios, second.bytes)).collect::<Vec<_>>()
        };
        let both = [(100.0, 409_600.0), (0.0, 0.0), (50.0, 204_800.0)];
        assert_eq!(told("1000, 400, 0\n2000, 0, 0\n3000, 200, 0\n", Quantity::Bandwidth), both);
        assert_eq!(told("1000, 100, 0\n2000, 0, 0\n3000, 50, 0\n", Quantity::Iops), both);
        assert_eq!(told("1000, 90, 0\n", Quantity::Latency), [(0.0, 0.0)]);
    }

    #[test]
    fn without_intervals_every_line_is_an_io() {
        let text = "0, 500, 1, 4096, 0\n0, 700, 1, 4096, 8192, 0\n1002, 900, 0, 512, 0\n";
        let logs = read(text, Quantity::Latency, false).unwrap();
        let writes = &logs.of(Operation::Write)[0];
        assert_eq!((writes.ios, writes.bytes, writes.latency_max_ns), (2.0, 8192.0, 700));
        assert_eq!(logs.of(Operation::Read)[1].ios, 1.0);
        let reason = read("0, 1, 0\nwhat\n", Quantity::Latency, false).unwrap_err();
        assert!(reason.contains(":2: this is no line"), "{reason}");
        assert!(read("9e18, 1, 0\n5, 1, 0\n", Quantity::Iops, true).is_err());
    }
}
