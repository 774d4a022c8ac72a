//! What comes of a recording.

use writecliff_device::{DeviceInfo, DeviceKind, Durability, Layout};
use writecliff_measure::{Recording, Totals};

use super::outcome::{Beside, Cliff, Commits, Moment, Outcome, Stage, Took};
use super::{CLIFF, COMMITS, PAGE_PERCENTS, Plan, Setting, beside_commits, beside_phase};
use crate::method::estimate::is_hard_disk;
use crate::record::number::thousands;
use crate::record::rate::{LatencyFigures, Rate};
use crate::record::warning::{MethodWarning, Warning};

/// Stretches of the way through the cliff.
const MOMENTS: usize = 300;
/// A flush that costs anything makes a commit take so many times as long as its write.
const COSTS: f64 = 1.25;

pub(super) fn conclude(
    plan: &Plan,
    recording: &Recording,
    drive: &DeviceInfo,
) -> (Option<Outcome>, Vec<Warning>) {
    let mut warnings = Vec::new();
    let mut ended = |phase: String| {
        if warnings.is_empty() {
            warnings.push(Warning::Method(MethodWarning::Ended { phase, lasted: None }));
        }
    };
    let mut commits = Vec::new();
    let in_directory = drive.kind == DeviceKind::Directory;
    let (mut way, mut beside) = (None, Vec::new());
    let stages = match in_directory {
        true => &[Stage::AsItIs][..],
        false => &[Stage::Fresh, Stage::Full, Stage::Steady],
    };
    for stage in stages.iter().copied() {
        let settings = match stage {
            Stage::AsItIs => plan.settings_in_directory(),
            Stage::Full => vec![plan.main()],
            Stage::Fresh | Stage::Steady => plan.settings(),
        };
        // In the order of the run.
        if stage == Stage::Steady {
            way = cliff(recording);
            if way.is_none() {
                ended(CLIFF.to_owned());
            }
            for percent in PAGE_PERCENTS {
                let pages = Rate::of(&Totals::of(recording.series(&beside_phase(percent))));
                match pages.zip(took(recording, &beside_commits(percent))) {
                    Some((pages, took)) => beside.push(Beside { percent, pages, took }),
                    None => ended(beside_phase(percent)),
                }
            }
        }
        for setting in settings {
            let phase = setting.phase(stage);
            match took(recording, &phase) {
                Some(took) => commits.push(Commits { stage, setting, took }),
                // Not every file system has it.
                None if setting.log == Layout::Preallocated => {}
                None => ended(phase),
            }
        }
    }
    if commits.is_empty() {
        return (None, warnings);
    }
    // A run that ended before it called nothing steady.
    let is_past = !beside.is_empty() || commits.iter().any(|one| one.stage == Stage::Steady);
    // A magnetic disk has nothing to come to rest from.
    if is_past && !is_hard_disk(drive) {
        warnings.extend(plan.settling(drive).never_steady(CLIFF, recording));
    }
    let outcome = Outcome { commits, cliff: way, beside };
    warnings.extend(costs_nothing(plan, &outcome, drive));
    (Some(outcome), warnings)
}

/// `None` if there was no commit.
fn took(recording: &Recording, series: &str) -> Option<Took> {
    let totals = Totals::of(recording.series(series));
    let rate = Rate::of(&totals).filter(|_| totals.ios > 0)?;
    Some(Took {
        count: totals.ios,
        per_second: rate.iops,
        mean_ns: rate.mean_ns,
        latency: LatencyFigures::of(recording, series, 0..u32::MAX),
    })
}

fn cliff(recording: &Recording) -> Option<Cliff> {
    let took = took(recording, COMMITS)?;
    let whole = |series| recording.series(series).filter(|sample| sample.is_whole());
    let seconds = whole(CLIFF).count();
    let pages: Vec<f64> = whole(CLIFF).map(|sample| sample.iops().get()).collect();
    let stretch = seconds.div_ceil(MOMENTS).max(1);
    let moment = |from: usize| {
        let to = (from + stretch).min(seconds);
        let window = from as u32..to as u32;
        let latency = LatencyFigures::of(recording, COMMITS, window.clone());
        let pages = pages[from..to].iter().sum::<f64>() / (to - from) as f64;
        let LatencyFigures { p50_ns, p99_ns, max_ns, .. } = latency;
        Moment { second: window.start, pages, p50_ns, p99_ns, max_ns }
    };
    let course = (0..seconds).step_by(stretch).map(moment).filter(|moment| moment.max_ns > 0);
    Some(Cliff { seconds: seconds as u32, took, course: course.collect() })
}

/// A flush that costs nothing where nobody says that capacitors make it so.
fn costs_nothing(plan: &Plan, outcome: &Outcome, drive: &DeviceInfo) -> Option<Warning> {
    let plain = Setting { durability: Durability::Later, ..plan.main() };
    let stage = outcome.commits.first()?.stage;
    let median = |setting| Some(outcome.find(stage, setting)?.took.latency.p50_ns as f64);
    let (commit, write) = (median(plan.main())?, median(plain)?);
    let is_free = drive.kind != DeviceKind::Simulated && commit < COSTS * write;
    let told = |nanos: f64| format!("{} µs", thousands((nanos / 1e3).round()));
    is_free.then(|| {
        Warning::Method(MethodWarning::FlushCostsNothing {
            write_cache: drive.write_cache.clone(),
            commit: told(commit),
            write: told(write),
        })
    })
}
