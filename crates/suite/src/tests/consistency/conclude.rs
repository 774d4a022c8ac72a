//! What comes of a recording: fresh, cliff, steady window, and what is to be doubted of them.

use writecliff_device::{DeviceInfo, Nanos, Temperature};
use writecliff_measure::{Recording, Sample, Statistics, Totals, drift};

use super::outcome::{CLIFF_SHARE, Outcome, WorstSecond};
use super::plan::{Plan, UntilSteady};
use crate::method::fast_part::FastPart;
use crate::method::faults::Faults;
use crate::method::levels::{FALL, MORE, is_too_warm};
use crate::method::settling::{DRIVE_WRITES_MAX, DRIVE_WRITES_MIN, Rounds, TIME_MAX};
use crate::record::figure::are_apart;
use crate::record::rate::{LatencyFigures, Rate, iops_of};
use crate::record::warning::{Filled, MethodWarning, Warning};

/// Seconds that fresh performance is taken from.
const FRESH_SECONDS: usize = 10;
/// The same as a time.
pub(crate) const FRESH_SPAN: Nanos = Nanos::from_secs(FRESH_SECONDS as u64);
/// A fall in them is none if a second of the first so many ...
const BEATS_WITHIN: usize = 60;
/// ... that follows it has this share of the first again.
const BACK: f64 = 0.9;
/// The cliff is a fall below [`CLIFF_SHARE`] of fresh on average over so many seconds.
const CLIFF_SECONDS: usize = 10;
/// The steady window of a run that ends with its duration begins after so many tenths of it: 1400 s of
/// 2000 s.
const STEADY_TENTHS: usize = 7;
/// More drift than this within the steady window is no steady state (SNIA PTS: 10 %).
const DRIFT_MAX: f64 = 0.10;
/// Of less than this part of a drive write nothing is learned, not even that there is no cliff.
const HARDLY_ANY: f64 = 0.005;
/// A fill with more write amplification has copied ...
const COPIED_IN_FILL: f64 = 1.2;
/// ... and random writes with more of it in the beginning, than which a fast buffer makes no more, find no room.
const COPIED_AT_FIRST: f64 = 3.0;
/// A steady window with fewer samples says little.
const WINDOW_MIN: usize = 60;

/// The figures of a fill and a torture by these names and the doubts about them; no figures if there
/// are no random writes of at least a second.
pub(crate) fn conclude_phases(
    plan: &Plan,
    recording: &Recording,
    drive: &DeviceInfo,
    fill_name: &str,
    torture_name: &str,
) -> (Option<Outcome>, Vec<Warning>) {
    let fill: Vec<&Sample> = recording.series(fill_name).collect();
    let torture: Vec<&Sample> = recording.series(torture_name).collect();
    let iops = iops_of(torture.iter().copied());
    let mut warnings = Vec::new();
    let whole = Totals::of(torture.iter().copied());
    let recorded = whole.span;
    let rounds = Rounds::of(plan.settling(Totals::of(fill.iter().copied()).written));
    let is_warm = |second: usize| {
        is_too_warm(torture[second], drive.temperature_limit)
            && !copies_since(&torture, second, drive.temperature_limit)
    };
    // Of a die that was lost before, the drive was without it all the time.
    let began = torture.first().map(|first| first.start_ns);
    let lost_die = Faults::of(drive).lost_die.filter(|at| began.is_some_and(|began| began <= at.0));
    let has_lost_a_die = |second: usize| {
        let ends = torture[second].start_ns + torture[second].span_ns;
        lost_die.is_some_and(|at| at.0 < ends)
    };
    let (fresh_iops, cliff) =
        fresh_and_cliff(&iops, |second| is_warm(second) || has_lost_a_die(second));
    let other_fall = match cliff {
        Some(_) => None,
        None => fresh_and_cliff(&iops, |_| false).1,
    };
    let is_of_lost_die = |second: usize| {
        let last = (second + CLIFF_SECONDS).min(iops.len()) - 1;
        has_lost_a_die(last) && !(second..=last).any(is_warm)
    };
    let is_of_lost_die = other_fall.is_some_and(is_of_lost_die);
    if recorded == Nanos::ZERO {
        // Seconds at its end in which nothing was done are not the fill's time.
        let done =
            fill.iter().rposition(|sample| sample.written_bytes > 0).map_or(0, |last| last + 1);
        let Totals { written, span: lasted, .. } = Totals::of(fill[..done].iter().copied());
        let fill = (lasted > Nanos::ZERO).then_some(Filled { written, lasted });
        warnings.push(Warning::Method(MethodWarning::NoRandomWrites { fill }));
    } else if recorded < plan.duration {
        warnings.push(Warning::Method(MethodWarning::Incomplete {
            recorded,
            planned: plan.duration,
            until_steady: plan.until_steady == UntilSteady::Yes,
            met_cliff: cliff.is_some(),
        }));
    }
    let (steady_from, unsteady) = match plan.until_steady {
        UntilSteady::Yes => last_rounds(plan, &rounds, &iops, cliff),
        UntilSteady::No | UntilSteady::IfSimulated => last_seconds(plan, &iops, cliff),
    };
    let Some(steady_iops) = Statistics::of(&iops[steady_from..]) else {
        return (None, warnings);
    };
    let window = steady_from as u32..iops.len() as u32;
    let is_long = window.len() >= WINDOW_MIN;
    // A disk has no spare area to run out of.
    let has_not_fallen = cliff.is_none() && other_fall.is_none() && !drive.rotational;
    // A fall after which nothing is erased any more in what is called fresh, whatever comes later; of a drive that
    // became too warm it is not known.
    let fell_from = fell_from(&iops, fresh_iops)
        .filter(|_| (other_fall.is_none() || is_of_lost_die) && !drive.rotational);
    warnings.extend(cliff.and_then(|cliff| at_once(&iops, cliff, fresh_iops)));
    if let Some(first) = fell_from {
        warnings.push(Warning::Method(MethodWarning::FreshFell { first, fresh: fresh_iops }));
    } else if has_not_fallen && is_long {
        // A drive that was written full once more has no spare area left that it has not used.
        let may_come = whole.written < drive.capacity;
        let no_cliff = may_come.then_some(MethodWarning::NoCliff);
        let doubt = not_fresh(&fill, &torture).or(no_cliff);
        warnings.extend(doubt.map(Warning::Method));
    }
    if !is_long {
        let seconds = iops.len() as u32;
        warnings.push(Warning::Method(MethodWarning::TooShort {
            seconds,
            window: window.len() as u32,
        }));
    } else if let Some(unsteady) = unsteady {
        warnings.push(Warning::Method(unsteady));
    } else if rounds.drive_writes(&iops) < DRIVE_WRITES_MIN
        && (cliff.is_some()
            || plan.until_steady == UntilSteady::Yes
            || (rounds.drive_writes(&iops) < HARDLY_ANY && !drive.rotational))
    {
        let drive_writes = rounds.drive_writes(&iops);
        let seconds = Nanos::from_secs(iops.len() as u64);
        let most = drive_writes * TIME_MAX.as_secs_f64() / seconds.as_secs_f64();
        let went_on =
            plan.until_steady == UntilSteady::Yes && seconds >= TIME_MAX || most < DRIVE_WRITES_MIN;
        warnings.push(Warning::Method(MethodWarning::TooFewWrites { drive_writes, went_on }));
    }
    let outcome = Outcome {
        fill_megabytes_per_second: Rate::of_series(recording, fill_name),
        fast_part: FastPart::of(&fill, drive.temperature_limit),
        fresh_iops,
        cliff_s: cliff.map(|second| second as u32),
        falls_again: cliff
            .is_some_and(|cliff| falls_again(&iops, cliff, steady_from, CLIFF_SHARE * fresh_iops)),
        warm_fall_s: other_fall.filter(|_| !is_of_lost_die).map(|second| second as u32),
        lost_die_fall_s: other_fall.filter(|_| is_of_lost_die).map(|second| second as u32),
        fell_from_iops: fell_from,
        steady_from_s: window.start,
        steady_iops,
        floor_to_mean: if steady_iops.mean > 0.0 {
            steady_iops.floor / steady_iops.mean
        } else {
            0.0
        },
        steady_latency: LatencyFigures::of(recording, torture_name, window),
        steady_write_amplification: Totals::of(torture[steady_from..].iter().copied())
            .write_amplification(),
        worst: WorstSecond::of(&iops),
        longest_ns: whole.longest.0,
        dead_seconds: iops.iter().filter(|iops| **iops == 0.0).count() as u32,
    };
    (Some(outcome), warnings)
}

/// Whether ten seconds of the steady window are below half on average, after ten that were above it; what hovers about
/// the half is neither.
fn falls_again(iops: &[f64], cliff: usize, steady_from: usize, half: f64) -> bool {
    let tens = |from: usize| {
        let tens = iops.get(from..).unwrap_or_default().windows(CLIFF_SECONDS);
        tens.map(|ten| ten.iter().sum::<f64>() / (ten.len() as f64))
    };
    let is_apart = |mean: f64| are_apart(mean, half);
    let came_back = tens(cliff).position(|mean| mean > half && is_apart(mean));
    came_back.is_some_and(|back| {
        let mut later = tens((cliff + back).max(steady_from));
        later.any(|mean| mean < half && is_apart(mean))
    })
}

/// Whether the drive was too warm in all of its fresh seconds already, and copies since: it fell for that then, and
/// not for heat.
fn copies_since(torture: &[&Sample], second: usize, limit: Option<Temperature>) -> bool {
    let (fresh, later) = torture.split_at(FRESH_SECONDS.min(second));
    let then = &later[second - fresh.len()..];
    let then = &then[..then.len().min(CLIFF_SECONDS)];
    let [fresh_work, work] = [fresh, then].map(amplification);
    let copies = fresh_work.zip(work).is_some_and(|(fresh, then)| then > fresh * MORE);
    copies && fresh.iter().all(|second| is_too_warm(second, limit))
}

fn amplification(samples: &[&Sample]) -> Option<f64> {
    Totals::of(samples.iter().copied()).write_amplification()
}

/// Whether the fill had used the spare area up, as the drive counts its writes: in order, it should have been
/// written once, or twice by way of a fast buffer; and random writes begin with no more, if any is left.
fn not_fresh(fill: &[&Sample], torture: &[&Sample]) -> Option<MethodWarning> {
    let fill = amplification(fill)?;
    let first = amplification(&torture[..FRESH_SECONDS.min(torture.len())])?;
    (fill > COPIED_IN_FILL && first > COPIED_AT_FIRST)
        .then_some(MethodWarning::NotFresh { fill, first })
}

/// Whether a cliff came so soon that what is called fresh may have part of it in it: a single second, or two of
/// which the second is lower.
fn at_once(iops: &[f64], cliff: usize, fresh: f64) -> Option<Warning> {
    let is_so = cliff == 1 || (cliff == 2 && iops[1] < FALL * iops[0]);
    let seconds = cliff as u32;
    is_so.then_some(Warning::Method(MethodWarning::CliffAtOnce { seconds, fresh }))
}

/// The rate of the first second, if what is called fresh is so much less that it fell within these seconds, and
/// did not come back: a rate that beats does.
fn fell_from(iops: &[f64], fresh: f64) -> Option<f64> {
    let first = iops.first().copied().filter(|first| fresh < FALL * first)?;
    let seconds = &iops[..iops.len().min(BEATS_WITHIN)];
    let lower = seconds.iter().skip_while(|iops| **iops >= FALL * first);
    lower.copied().all(|iops| iops < BACK * first).then_some(first)
}

/// The last five rounds of a torture that goes on until they are steady, and that they are not; without what comes
/// before the cliff, where it was broken off so soon.
fn last_rounds(
    plan: &Plan,
    rounds: &Rounds,
    iops: &[f64],
    cliff: Option<usize>,
) -> (usize, Option<MethodWarning>) {
    let Some(last) = rounds.last(iops) else { return last_seconds(plan, iops, cliff) };
    let unsteady = || MethodWarning::NotSteadyWithin {
        drive_writes: rounds.drive_writes(iops),
        most: DRIVE_WRITES_MAX,
        range: last.window.range * 100.0,
        percent: last.window.rise * 100.0,
    };
    (last.from.max(cliff.unwrap_or(0)), (!last.window.is_steady()).then(unsteady))
}

/// The last seconds of a torture that ends with its duration, and that they are not steady. What comes before
/// the cliff is none of them, however late that is.
fn last_seconds(plan: &Plan, iops: &[f64], cliff: Option<usize>) -> (usize, Option<MethodWarning>) {
    let from = steady_from(plan, iops.len()).max(cliff.unwrap_or(0));
    let drift = drift(&iops[from..]);
    let unsteady = MethodWarning::NotSteady { percent: drift * 100.0 };
    (from, (drift.abs() > DRIFT_MAX).then_some(unsteady))
}

/// The first second of the documents' steady window: the last 30 % of the plan, or of what was recorded if that is
/// less.
pub(crate) fn steady_from(plan: &Plan, recorded: usize) -> usize {
    let planned = (plan.duration.0 / 1_000_000_000) as usize;
    planned.min(recorded) * STEADY_TENTHS / 10
}

/// Fresh IOPS, the median of the first ten seconds or of those before the cliff; and the cliff, the
/// first second that is, like the mean of the ten seconds from there, below half of fresh; not while the
/// drive is too warm, which is a fall of another kind, and within the seconds that are called fresh not if a second of
/// the first minute has nine tenths of fresh again.
fn fresh_and_cliff(iops: &[f64], is_warm: impl Fn(usize) -> bool) -> (f64, Option<usize>) {
    let fresh_before = |second: usize| {
        let seconds = &iops[..second.min(FRESH_SECONDS).min(iops.len())];
        Statistics::of(seconds).map_or(0.0, |figures| figures.median)
    };
    // A run of a few seconds cannot show a lasting fall; half of it must do.
    let lasting = CLIFF_SECONDS.min(iops.len() / 2).max(1);
    let is_cliff = |second: &usize| {
        let next = &iops[*second..*second + lasting];
        let mean = next.iter().sum::<f64>() / lasting as f64;
        let limit = fresh_before(*second) * CLIFF_SHARE;
        let comes_back = *second < FRESH_SECONDS
            && iops[*second..iops.len().min(BEATS_WITHIN)]
                .iter()
                .any(|iops| *iops >= BACK * fresh_before(*second));
        iops[*second] < limit
            && mean < limit
            && !comes_back
            && !(*second..*second + lasting).any(&is_warm)
    };
    let cliff = (1..(iops.len() + 1).saturating_sub(lasting)).find(is_cliff);
    (fresh_before(cliff.unwrap_or(iops.len())), cliff)
}

#[cfg(test)]
mod tests {
    use writecliff_device::Bytes;

    use super::*;

    fn cold(iops: &[f64]) -> (f64, Option<usize>) {
        fresh_and_cliff(iops, |_| false)
    }

    #[test]
    fn a_fall_while_too_warm_is_no_cliff_and_the_one_that_stays_is() {
        let falls = |back: f64| [vec![1000.0; 100], vec![300.0; 60], vec![back; 100]].concat();
        let is_warm = |second: usize| (95..160).contains(&second);
        assert_eq!(fresh_and_cliff(&falls(900.0), is_warm), (1000.0, None));
        assert_eq!(fresh_and_cliff(&falls(200.0), is_warm), (1000.0, Some(160)));
        assert_eq!(cold(&falls(900.0)), (1000.0, Some(100)));
    }

    #[test]
    fn a_fall_that_goes_on_into_the_window_is_one() {
        let level = |share: f64, seconds: usize| vec![1000.0 * share; seconds];
        let again = |parts: &[Vec<f64>], steady_from: usize| {
            falls_again(&parts.concat(), 100, steady_from, 500.0)
        };
        let once = [level(1.0, 100), level(0.3, 60), level(0.9, 100)];
        assert!(!again(&once, 120) && !again(&once, 200));
        let twice = [&once[..], &[level(0.4, 20), level(0.9, 20)]].concat();
        assert!(again(&twice, 120) && again(&twice, 200));
        // Before the window, for which others are told.
        assert!(!again(&twice, 285));
        assert!(!again(&[level(1.0, 100), level(0.3, 200)], 150), "it never came back");
        let hovers = [level(0.51, 20), level(0.49, 20)].concat().repeat(5);
        assert!(!again(&[level(1.0, 100), hovers], 150), "it hovers about the half");
    }

    #[test]
    fn what_is_too_warm_from_its_first_second_on_falls_for_what_it_copies() {
        let second = |nand: u64, throttled: u64| Sample {
            written_bytes: 1 << 20,
            nand_written_bytes: Some(nand << 20),
            throttled_ns: Some(throttled),
            ..Sample::default()
        };
        let told = |first: u64, work: u64| {
            let before = (0..20).map(|_| second(1, first));
            let all: Vec<Sample> = before.chain((0..20).map(|_| second(work, 1))).collect();
            copies_since(&all.iter().collect::<Vec<_>>(), 20, None)
        };
        assert!(told(1, 3));
        assert!(!told(0, 3), "it became too warm");
        assert!(!told(1, 1), "and has no more to do");
    }

    #[test]
    fn a_rate_that_beats_has_not_fallen_within_its_first_seconds() {
        let falls = [vec![1000.0, 900.0], vec![300.0; 100]].concat();
        assert_eq!(fell_from(&falls, 300.0), Some(1000.0));
        let beats: Vec<f64> = (0..100).map(|s| if s % 6 < 2 { 1000.0 } else { 600.0 }).collect();
        assert_eq!(fell_from(&beats, 600.0), None);
        assert_eq!(fell_from(&[1000.0; 20], 1000.0), None);
        let noisy = [vec![1000.0], vec![300.0; 11], vec![1400.0, 800.0], vec![900.0; 100]].concat();
        assert_eq!(cold(&noisy).1, None, "eleven seconds of something else");
    }

    #[test]
    fn the_cliff_is_the_first_second_of_a_lasting_fall() {
        let mut iops = vec![1000.0; 100];
        iops.extend(vec![100.0; 100]);
        assert_eq!(cold(&iops), (1000.0, Some(100)));
        let mut dip = vec![1000.0; 100];
        dip[50] = 10.0;
        assert_eq!(cold(&dip), (1000.0, None));
        let mut last = vec![1000.0; 100];
        last[99] = 10.0;
        assert_eq!(cold(&last), (1000.0, None));
    }

    #[test]
    fn random_writes_on_a_drive_that_its_fill_had_used_up_are_not_called_fresh() {
        let written = |nand: u64| Sample {
            written_bytes: 1 << 20,
            nand_written_bytes: Some(nand << 20),
            ..Sample::default()
        };
        let doubt = |fill: u64, torture: u64| {
            let (fill, torture) = (written(fill), written(torture));
            not_fresh(&[&fill], &[&torture])
        };
        assert_eq!(doubt(2, 5), Some(MethodWarning::NotFresh { fill: 2.0, first: 5.0 }));
        assert_eq!(doubt(2, 2), None, "by way of a fast buffer");
        assert_eq!(doubt(1, 50), None, "a map of blocks has no other speed");
        let silent = Sample { nand_written_bytes: None, ..written(1) };
        assert_eq!(not_fresh(&[&silent], &[&silent]), None);
    }

    #[test]
    fn a_cliff_that_may_be_part_of_what_is_called_fresh_is_a_doubt() {
        let told = |first: &[f64]| {
            let iops = [first, &[100.0; 60]].concat();
            let (fresh, cliff) = cold(&iops);
            at_once(&iops, cliff.unwrap(), fresh).is_some()
        };
        assert!(told(&[500.0]) && told(&[1000.0, 600.0]));
        assert!(!told(&[1000.0, 1000.0]) && !told(&[1000.0, 1000.0, 300.0]));
    }

    /// Seconds as one of the smallest drives had them with a quarter of it unused.
    #[test]
    fn a_fall_within_the_fresh_seconds_is_told_and_a_lower_second_is_none() {
        let fell = [vec![13_328.0, 9_852.0, 5_268.0, 5_732.0], vec![6_300.0; 200]].concat();
        let (fresh, cliff) = cold(&fell);
        assert_eq!((fresh, cliff), (6_300.0, None));
        assert_eq!(fell_from(&fell, fresh), Some(13_328.0));
        assert_eq!(fell_from(&[7_000.0, 6_300.0], 6_650.0), None);
        assert_eq!(fell_from(&[5_000.0, 6_300.0], 5_650.0), None);
        assert_eq!(fell_from(&[], 0.0), None);
    }

    #[test]
    fn an_early_cliff_does_not_hide_in_the_fresh_figure() {
        let mut iops = vec![1000.0; 3];
        iops.extend(vec![100.0; 100]);
        assert_eq!(cold(&iops), (1000.0, Some(3)));
        let mut slow_start = vec![100.0, 3000.0];
        slow_start.extend(vec![1400.0; 50]);
        assert_eq!(cold(&slow_start), (1400.0, None));
    }

    #[test]
    fn the_worst_second_is_the_first_of_the_lowest_wherever_it_is() {
        let mut iops = vec![1000.0; 20];
        (iops[3], iops[7]) = (2.0, 2.0);
        assert_eq!(WorstSecond::of(&iops), Some(WorstSecond { second: 3, iops: 2.0 }));
        assert_eq!(WorstSecond::of(&[]), None);
    }

    #[test]
    fn a_fall_to_more_than_half_is_no_cliff() {
        let mut iops = vec![1000.0; 20];
        iops.extend(vec![501.0; 100]);
        assert_eq!(cold(&iops), (1000.0, None));
        assert_eq!(cold(&[]), (0.0, None));
        assert_eq!(cold(&[0.0]), (0.0, None));
    }

    #[test]
    fn the_steady_window_is_the_published_one() {
        let plan = Plan::default();
        assert_eq!(steady_from(&plan, 2000), 1400);
        assert_eq!([1000, 1399, 1401].map(|n| steady_from(&plan, n)), [700, 979, 980]);
        let odd = Plan { duration: Nanos::from_secs(90), ..Plan::default() };
        assert_eq!(steady_from(&odd, 90), 63);
        assert_eq!(steady_from(&plan, 0), 0);
    }

    #[test]
    fn what_comes_before_a_late_cliff_is_in_no_steady_window() {
        let plan = Plan { duration: Nanos::from_secs(100), ..Plan::default() };
        let iops = [vec![1000.0; 80], vec![100.0; 20]].concat();
        let (_, cliff) = cold(&iops);
        assert_eq!(last_seconds(&plan, &iops, cliff), (80, None));
        assert_eq!(last_seconds(&plan, &iops[..79], None), (55, None));
    }

    #[test]
    fn spare_area_is_what_the_span_leaves() {
        let plan = Plan { spare_percent: 25.0, ..Plan::default() };
        assert_eq!(plan.used(Bytes(4096 * 100 + 512)), Bytes(4096 * 75));
        assert_eq!(Plan::default().used(Bytes(u64::MAX)).0 % 4096, 0);
    }
}
