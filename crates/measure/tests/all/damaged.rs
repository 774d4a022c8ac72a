//! Runs with damage: they are read otherwise, or one error names the file; never a panic, and never
//! more than the damage can have made.
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use writecliff_device::scripted::Scripted;
use writecliff_device::{Bytes, DeviceTime, Nanos, Operation, Telemetry};
use writecliff_measure::{
    Queue, Recorder, Recording, RunDirectory, RunDirectoryError, Totals, record,
};
use writecliff_workload::RandomUniform;

/// Damaged runs of each file.
const RUNS: usize = 1500;
/// More samples than this no damage of a small file makes: a group of rows, as the writer has them.
const SAMPLES_MAX: usize = 1 << 17;

/// A run of a few seconds in two series, at `path`.
fn recorded(path: &Path) {
    let directory = RunDirectory::create(path, &"a record", false).unwrap();
    let mut recorder = Recorder::new(directory, DeviceTime(0), false);
    for series in ["fill", "torture"] {
        recorder.begin(&[series], Telemetry::default());
        let ios = RandomUniform::new(Operation::Write, Bytes::from_gib(1), Bytes(4096), 1);
        let takes = |io: &writecliff_device::Io, _| Nanos(500_000 + io.offset.0 % 1_000_000);
        let mut device = Scripted::new(Bytes::from_gib(1), takes);
        let go_on = &mut |_: &_, _| ControlFlow::Continue(());
        let (queue, duration) = (Queue::new(ios, 4), Some(Nanos::from_secs(4)));
        record(&mut device, queue, duration, &mut recorder, go_on).unwrap();
    }
    recorder.finish().close(&"a record").unwrap();
}

struct Damage(Xoshiro256PlusPlus);

impl Damage {
    fn below(&mut self, limit: usize) -> usize {
        (self.0.next_u64() % limit.max(1) as u64) as usize
    }

    /// One to four of: a bit turned, a byte made the largest, bytes gone, bytes doubled, the end cut
    /// off. Half of them fall upon the file's end, where it says what is in it.
    fn done_to(&mut self, whole: &[u8]) -> Vec<u8> {
        let mut bytes = whole.to_vec();
        for _ in 0..=self.below(4) {
            let begin = if self.below(2) == 0 { 0 } else { bytes.len().saturating_sub(3000) };
            let at = begin + self.below(bytes.len() - begin);
            let end = (at + self.below(16)).min(bytes.len());
            match self.below(8) {
                0..4 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                4 if at < bytes.len() => bytes[at] = 0xff,
                5 => drop(bytes.drain(at..end)),
                6 => {
                    let twice = bytes[at..end].to_vec();
                    bytes.splice(at..at, twice);
                }
                _ if self.below(4) == 0 => bytes.truncate(at),
                _ => {}
            }
        }
        bytes
    }
}

/// Reads all and adds it up.
fn judge(path: &Path, file: &str, run: usize) {
    match Recording::read(path) {
        Ok(recording) => {
            assert!(recording.samples.len() <= SAMPLES_MAX, "{file}, run {run}");
            let totals = Totals::of(&recording.samples);
            let figures = (totals.mean(), totals.deviation(), totals.write_amplification());
            assert!(totals.iops().get().is_finite(), "{file}, run {run}: {figures:?}");
            recording.latencies("torture", 0..u32::MAX).percentile(99.0);
        }
        Err(error) => {
            let text = error.to_string();
            assert!(matches!(error, RunDirectoryError::Read { .. }), "{file}, run {run}: {text}");
            assert!(
                text.contains(".parquet") || text.contains(".jsonl"),
                "{file}, run {run}: {text}"
            );
        }
    }
}

#[test]
fn a_damaged_run_is_read_or_told_by_its_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    recorded(&path);
    let mut damage = Damage(Xoshiro256PlusPlus::seed_from_u64(12));
    for file in ["series.parquet", "histograms.parquet"] {
        let whole = fs::read(path.join(file)).unwrap();
        for run in 0..RUNS {
            fs::write(path.join(file), damage.done_to(&whole)).unwrap();
            judge(&path, file, run);
        }
        fs::write(path.join(file), whole).unwrap();
    }
    assert_eq!(Recording::read(&path).unwrap().samples.len(), 8, "the whole run is as it was");
}

#[test]
fn a_journal_that_says_what_cannot_be_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    recorded(&path);
    let sample = |change: &str, to: &str| {
        let sample = writecliff_measure::Sample { span_ns: 1, ..Default::default() };
        let text = serde_json::to_string(&sample).unwrap().replace(change, to);
        fs::write(path.join("journal.jsonl"), format!("{{\"sample\":{text},\"latencies\":[]}}\n"))
            .unwrap();
        Recording::read(&path)
    };
    assert_eq!(sample("", "").unwrap().samples.len(), 1);
    for (what, to) in [
        ("\"second\":0", "\"second\":4000000000"),
        ("\"start_ns\":0", "\"start_ns\":18446744073709551615"),
        ("\"writes\":0", "\"writes\":18446744073709551615"),
    ] {
        let error = sample(what, to).unwrap_err().to_string();
        assert!(error.contains("journal.jsonl") && error.contains("damaged"), "{error}");
    }
}
