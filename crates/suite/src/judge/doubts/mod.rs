//! Doubts that only the end of a run shows: other load on the drive, heat, a host that was too
//! slow or slept. Computed from the telemetry around every phase and from the samples;
//! docs/methodology/any-run.md has the bounds.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use writecliff_device::{
    Bytes, DeviceInfo, DeviceKind, HostCounters, Link, Mechanism, Nanos, Operation, OwnCounters,
    Rebuilding, Temperature,
};
use writecliff_measure::{Recording, Sample};

use crate::list::{Outcome, Plan, RunRecord};
use crate::method::change;
use crate::method::estimate::{lacks, scale};
use crate::method::faults::Faults;
use crate::method::loads::plural;
use crate::record::number::in_words;
use crate::record::phase::Phase;
use crate::record::run_record::Status;
use crate::record::unit::Unit;
use crate::record::warning::{
    DriveWarning, HostWarning, JobWarning, MethodWarning, Warning, others,
};
use crate::tests::consistency;

/// Other load up to this share of all that the system counted is no doubt.
const OTHER_PERCENT: f64 = 1.0;
/// Nor is any up to this size: somebody has read a partition table.
const OTHER_MIN: Bytes = Bytes::from_mib(1);
/// A drive's own count of what was written may be so much higher: it pads, and counts in units.
const OTHER_WRITTEN_PERCENT: f64 = 2.0;
const OTHER_WRITTEN_UNITS: u64 = 64;
/// Above this share of a phase the host may have been what limited it.
const BUSY_PERCENT: f64 = 90.0;
/// In a shorter phase the processor time is mostly preparation.
const BUSY_PHASE_MIN: Nanos = Nanos::from_secs(1);
/// Less is the uncertainty of reading two clocks.
const SLEEP_MIN: Nanos = Nanos::from_millis(100);

/// Shorter pauses of the measuring thread are ordinary scheduling.
const HELD_UP_MIN: Nanos = Nanos::from_millis(100);

/// Everything in `record` and `recording` that makes the result doubtful, whatever the test.
pub(crate) fn doubts(record: &RunRecord, recording: &Recording) -> Vec<Warning> {
    let mut all = Vec::new();
    // A model fails what its profile says; of a real drive's health all settings are in doubt.
    let is_simulated = record.drive.kind == DeviceKind::Simulated;
    let samples: Vec<&Sample> = recording.samples.iter().collect();
    all.extend(failed_ios(record, &samples).filter(|_| !is_simulated));
    for spare in spares(record, recording) {
        let phases =
            record.phases.iter().filter(|phase| record.plan.spare_of(&phase.name) == spare);
        let phases: Vec<&Phase> = phases.collect();
        let is_of_it = |sample: &&Sample| record.plan.spare_of(&sample.series) == spare;
        let samples: Vec<&Sample> = recording.samples.iter().filter(is_of_it).collect();
        let found = [
            other_load(record, &phases, recording),
            slowed_down(record, &samples),
            failed_ios(record, &samples).filter(|_| is_simulated),
            power_lost(record, spare),
            data_lost(record, &phases),
            too_warm(record, &samples),
            generator_busy(record, &phases),
            held_up(&phases),
        ];
        all.extend(found.into_iter().flatten().map(|doubt| doubt.at_spare(spare)));
    }
    let found = [
        written_by_others(record, recording),
        suspended(record),
        changed(record, recording),
        media_errors(record),
        rebuilt(record),
        throttled(record),
        unsafe_shutdown(record),
        die_lost(record),
        queued_in_host(record, recording),
        trims_take_no_time(record, recording),
        flushes_bring_data_only(record, recording),
    ];
    all.extend(found.into_iter().flatten());
    all
}

/// The settings of spare area that a run came to, each once; of most tests there is none.
fn spares(record: &RunRecord, recording: &Recording) -> Vec<Option<f64>> {
    let phases = record.phases.iter().map(|phase| &phase.name);
    let series = recording.samples.iter().map(|sample| &sample.series);
    let mut all: Vec<Option<f64>> =
        phases.chain(series).map(|name| record.plan.spare_of(name)).collect();
    all.sort_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
    all.dedup();
    all
}

/// Where what was to be measured at one rate had several.
fn changed(record: &RunRecord, recording: &Recording) -> Option<Warning> {
    // What ran at once stands second by second.
    let mut series: BTreeMap<&str, (Vec<u64>, Vec<f64>)> = BTreeMap::new();
    let is_random = |series: &str| {
        let part = series.rsplit_once('/').map_or(series, |(_, part)| part);
        !part.starts_with("sequential")
    };
    // Half a second at the end tells a rate as well.
    let is_long = |sample: &&Sample| sample.is_whole() || sample.span_ns >= 500_000_000;
    let whole = recording.samples.iter().filter(is_long);
    for sample in whole.filter(|sample| record.plan.is_one_rate(&sample.series, sample.second)) {
        let (ios, rates) = series.entry(&sample.series).or_default();
        ios.push(sample.ios());
        rates.push(match is_random(&sample.series) {
            true => sample.iops().get(),
            false => sample.megabytes_per_second(),
        });
    }
    let measured = series.into_iter().filter(|(_, (ios, _))| !change::may_be_chance(ios));
    let found = measured.filter_map(|(name, (_, rates))| Some((name, change::changed(&rates)?)));
    let found: Vec<(&str, (f64, f64))> = found.collect();
    let times = |(first, last): (f64, f64)| (first / last.max(f64::MIN_POSITIVE)).ln().abs();
    let (most, (first, last)) = found.iter().max_by(|a, b| times(a.1).total_cmp(&times(b.1)))?;
    let unit = if is_random(most) { Unit::Iops } else { Unit::MegabytesPerSecond };
    let told = |rate: f64| match unit {
        Unit::Iops => in_words(rate.round_ties_even(), unit),
        _ => in_words(rate, unit),
    };
    Some(Warning::Method(MethodWarning::Changed {
        parts: found.len(),
        most: (*most).to_owned(),
        others: others(found.iter().map(|(name, _)| *name), most),
        first: told(*first),
        last: told(*last),
    }))
}

/// An array that was being rebuilt at some time of the run.
fn rebuilt(record: &RunRecord) -> Option<Warning> {
    let Rebuilding { member, done, of, time } = record.phases.last()?.after.rebuild?;
    // A purge may have begun it anew where the phase before had seen its end.
    let goes_on = |phase: &&Phase| {
        let states = phase.before.rebuild.zip(phase.after.rebuild);
        states.is_some_and(|(before, after)| !before.is_complete() || before.time > after.time)
    };
    let beside: Vec<&Phase> = record
        .phases
        .iter()
        .filter(goes_on)
        .filter(|phase| !prepares(&record.plan, &phase.name))
        .collect();
    let in_fill = beside.iter().all(|phase| phase.name == consistency::FILL);
    // Whatever is less far than what comes before it was begun anew.
    let states = beside.iter().flat_map(|phase| [phase.before.rebuild, phase.after.rebuild]);
    let states: Vec<Nanos> = states.flatten().map(|one| one.time).collect();
    let times = 1 + states.windows(2).filter(|pair| pair[0] > pair[1]).count();
    let phases = match times {
        1 => Vec::new(),
        _ => others(beside.iter().map(|phase| phase.name.as_str()), ""),
    };
    let doubt = DriveWarning::Rebuilt { member, done, of, time, in_fill, times, phases };
    (!beside.is_empty()).then_some(Warning::Drive(doubt))
}

/// Whether this phase only prepares the drive, so that nothing is told of it.
pub(crate) fn prepares(plan: &Plan, phase: &str) -> bool {
    let has_a_fill = matches!(plan, Plan::Mixed(_) | Plan::Suite(_) | Plan::StorageBench(_));
    has_a_fill && phase.rsplit('/').next() == Some(consistency::FILL)
}

/// A die that stopped working while something was measured.
fn die_lost(record: &RunRecord) -> Option<Warning> {
    let lost = |phase: &&Phase| phase.after.lost_dies > phase.before.lost_dies;
    let phase = record.phases.iter().find(lost)?;
    let after = Faults::of(&record.drive).lost_die.map(|at| into(phase, at));
    // Fills of other settings come before it and after.
    let of_all_stages = matches!(record.plan, Plan::SpareArea(_))
        || phase.name.rsplit('/').next() == Some(consistency::FILL)
        || after.and_then(|after| is_past_fresh(record, &phase.name, after)) == Some(false);
    // A purge brings no die back: what comes later, at whatever setting, is without it.
    Some(Warning::Drive(DriveWarning::DieLost { phase: phase.name.clone(), after, of_all_stages }))
}

/// Whether a phase is the random writes of the consistency test, or of a setting of the spare area.
fn is_of_writes(record: &RunRecord, phase: &str) -> bool {
    let is_plan = matches!(record.plan, Plan::Consistency(_) | Plan::SpareArea(_));
    is_plan && phase.starts_with(consistency::TORTURE)
}

/// Whether a moment in such random writes comes when what is called fresh is over.
fn is_past_fresh(record: &RunRecord, phase: &str, after: Nanos) -> Option<bool> {
    is_of_writes(record, phase).then(|| after >= consistency::FRESH_SPAN)
}

/// When power went while something was measured, and in which phase.
fn power_cuts(record: &RunRecord) -> Vec<(&Phase, Nanos)> {
    // Between two phases the next one meets it.
    let begin = record.phases.first().map_or(Nanos(u64::MAX), |phase| phase.start);
    let in_which = |at: &Nanos| {
        let meets = |phase: &&Phase| *at < phase.start + phase.length;
        Some((record.phases.iter().find(meets).filter(|_| begin <= *at)?, *at))
    };
    Faults::of(&record.drive).power_cuts.iter().filter_map(in_which).collect()
}

/// Power that went while something was measured, at one setting of the spare area, but for a test that is about it.
fn power_lost(record: &RunRecord, spare: Option<f64>) -> Option<Warning> {
    let mut cuts = power_cuts(record);
    cuts.retain(|(phase, _)| record.plan.spare_of(&phase.name) == spare);
    let mut moments = cuts.iter().map(|(phase, at)| (phase.name.clone(), into(phase, *at)));
    let (phase, after) = moments.next().filter(|_| !is_about_power(record))?;
    let (times, later) = (cuts.len(), moments.collect());
    let only_later = is_past_fresh(record, &phase, after) == Some(true);
    let back_at_once = Faults::of(&record.drive).recovery_time == Nanos::ZERO;
    let lost = DriveWarning::PowerLost { times, phase, after, later, back_at_once, only_later };
    Some(Warning::Drive(lost))
}

fn is_about_power(record: &RunRecord) -> bool {
    matches!(record.plan, Plan::Integrity(_))
}

fn into(phase: &Phase, at: Nanos) -> Nanos {
    Nanos(at.0.saturating_sub(phase.start.0))
}

/// Data that a drive lost, where that is not what the test looks for, or tells itself.
fn data_lost(record: &RunRecord, phases: &[&Phase]) -> Option<Warning> {
    let is_told = match (&record.plan, &record.outcome) {
        (Plan::Integrity(_), _) => true,
        (_, Some(Outcome::Mixed(outcome))) => outcome.served.is_some(),
        _ => false,
    };
    let lost = |phase: &&Phase| {
        let lost = phase.after.lost_pages?.checked_sub(phase.before.lost_pages?)?;
        (lost > 0).then(|| (phase.name.clone(), lost))
    };
    let (phases, lost): (Vec<String>, Vec<u64>) = phases.iter().filter_map(lost).unzip();
    let pages = lost.iter().sum();
    // What is lost makes no write slower that came before.
    let only_later = phases.iter().all(|phase| is_of_writes(record, phase));
    let doubt = DriveWarning::DataLost { pages, phases, only_later };
    (!is_told && !lost.is_empty()).then_some(Warning::Drive(doubt))
}

/// Jobs of one's own with more in flight than the drive takes, in some second.
fn queued_in_host(record: &RunRecord, recording: &Recording) -> Option<Warning> {
    let wanted = match &record.plan {
        Plan::Mixed(plan) => plan.in_flight(),
        Plan::Suite(plan) => plan.in_flight(&record.drive),
        _ => return None,
    };
    // Series that go on at once are recorded over the same seconds.
    let mut in_flight: BTreeMap<u64, f64> = BTreeMap::new();
    let told = told_from(record);
    let is_told = |sample: &&Sample| {
        let from = told.get(&sample.series);
        sample.is_whole() && from.is_some_and(|from| sample.second >= *from)
    };
    for sample in recording.samples.iter().filter(is_told) {
        *in_flight.entry(sample.start_ns).or_default() += sample.queue_depth;
    }
    let most = in_flight.into_values().fold(0.0, f64::max).round() as usize;
    // What came to its end in a second may have begun long before.
    let (wanted, taken) = (most.min(wanted), record.drive.queue_depth_max);
    let doubt = JobWarning::QueuedInHost { wanted, taken };
    (wanted > taken).then_some(Warning::Job(doubt))
}

/// The series of jobs that figures are of, and from which of its seconds on.
fn told_from(record: &RunRecord) -> BTreeMap<String, u32> {
    match &record.plan {
        Plan::Mixed(plan) => plan.told_from(),
        Plan::Suite(plan) => plan.told_from(&record.drive),
        _ => BTreeMap::new(),
    }
}

/// A load of trims beside reads and writes, on a model that has no time for them.
fn trims_take_no_time(record: &RunRecord, recording: &Recording) -> Option<Warning> {
    let may_trim = matches!(record.plan, Plan::Mixed(_) | Plan::Suite(_) | Plan::StorageBench(_));
    let trims = format!(" {}", plural(Operation::Trim));
    let told = told_from(record);
    let is_told = |series: &str| match &record.plan {
        Plan::Suite(_) => series.ends_with(&trims) && told.contains_key(series),
        _ => true,
    };
    let mut trimmed = recording.samples.iter().filter(|sample| sample.trims > 0);
    let mut has_trims = || trimmed.any(|sample| is_told(&sample.series));
    let is_so = may_trim && lacks(&record.drive, Mechanism::TrimTime) && has_trims();
    is_so.then_some(Warning::Job(JobWarning::TrimsTakeNoTime))
}

/// Flushes of a model that makes nothing durable but their data.
fn flushes_bring_data_only(record: &RunRecord, recording: &Recording) -> Option<Warning> {
    let has_flushes = || recording.samples.iter().any(|sample| sample.flushes > 0);
    let is_about_them = match record.plan {
        Plan::Commit(_) => true,
        Plan::Mixed(_) | Plan::Suite(_) => has_flushes(),
        _ => false,
    };
    let is_so = is_about_them && lacks(&record.drive, Mechanism::FlushTime);
    is_so.then_some(Warning::Method(MethodWarning::FlushOfDataOnly))
}

/// The phase that did not come to its end, and how long it lasted, if something was recorded of it.
pub(crate) fn broken_off(record: &RunRecord, recording: &Recording) -> Option<(String, Nanos)> {
    let phase = record.phases.last().filter(|phase| phase.unfinished)?;
    let samples = recording.samples.iter().filter(|sample| sample.start_ns >= phase.start.0);
    let end = samples.map(|sample| sample.start_ns + sample.span_ns).max()?;
    Some((phase.name.clone(), Nanos(end - phase.start.0)))
}

/// Bytes that the system counted in the phases beyond the run's own.
fn other_load(record: &RunRecord, among: &[&Phase], recording: &Recording) -> Option<Warning> {
    let (mut other, mut all, mut phases) = (0, 0, Vec::new());
    for phase in among.iter().filter(|phase| !lacks_samples(record, phase)) {
        let Some((before, after)) = host(phase) else { continue };
        let counted = after.transferred_since(&before).unwrap_or_default().0;
        let own = own_bytes(phase, recording) + uncounted(record, phase, recording);
        let beyond = counted.saturating_sub(own);
        if beyond > OTHER_MIN.0 && percent(beyond, counted) > OTHER_PERCENT {
            other += beyond;
            all += counted;
            phases.push(phase.name.clone());
        }
    }
    let percent = percent(other, all);
    (other > 0).then_some(Warning::Host(HostWarning::OtherLoad {
        bytes: Bytes(other),
        percent,
        phases,
    }))
}

/// Whether the run did more in a phase than its samples have: one that failed has none of its last second.
fn lacks_samples(record: &RunRecord, phase: &Phase) -> bool {
    phase.unfinished && matches!(record.status, Status::Failed { .. })
}

/// Bytes that the drive itself counts as written, beyond the run's own: what passes by the kernel's block
/// layer is counted there alone.
fn written_by_others(record: &RunRecord, recording: &Recording) -> Option<Warning> {
    let last = record.phases.last().filter(|phase| !lacks_samples(record, phase))?;
    let (first, last) = (record.phases.first()?.before, last.after);
    let unit = last.own?.written_unit;
    let counted = last.host_written?.0.checked_sub(first.host_written?.0)?;
    let told: u64 = recording.samples.iter().map(|sample| sample.written_bytes).sum();
    let hidden: u64 = record.phases.iter().map(|phase| uncounted(record, phase, recording)).sum();
    // Of a partition it is the whole disk's, as the system's is.
    let by_system = first
        .host
        .zip(last.host)
        .and_then(|(first, last)| last.written?.0.checked_sub(first.written?.0));
    let known = (told + hidden).max(by_system.unwrap_or(0));
    let most = known as f64 * (1.0 + OTHER_WRITTEN_PERCENT / 100.0);
    (counted as f64 > most + (OTHER_WRITTEN_UNITS * unit.0) as f64).then_some(Warning::Drive(
        DriveWarning::WrittenByOthers { counted: Bytes(counted), own: Bytes(told) },
    ))
}

/// Bytes that the run itself read and wrote in a phase, as its samples have them.
fn own_bytes(phase: &Phase, recording: &Recording) -> u64 {
    samples_of(phase, recording).map(|sample| sample.read_bytes + sample.written_bytes).sum()
}

/// The most that the run itself may have moved without a trace in its samples: what was in flight
/// when each series of the phase ended, and what failed.
fn uncounted(record: &RunRecord, phase: &Phase, recording: &Recording) -> u64 {
    let in_flight = |sample: &Sample| match sample.second {
        0 => record.drive.queue_depth_max as u64,
        _ => 0,
    };
    let ios = samples_of(phase, recording).map(|sample| in_flight(sample) + sample.failed);
    ios.sum::<u64>() * record.drive.io_size_max.0
}

/// The samples that began in a phase, whatever their series is called: one phase may record
/// several.
fn samples_of<'a>(phase: &Phase, recording: &'a Recording) -> impl Iterator<Item = &'a Sample> {
    let span = phase.start.0..phase.start.0 + phase.length.0;
    recording.samples.iter().filter(move |sample| span.contains(&sample.start_ns))
}

/// The phase that a sample is of; its series where none is known.
fn phase_of<'a>(record: &'a RunRecord, sample: &'a Sample) -> &'a str {
    let is_of = |phase: &&Phase| {
        (phase.start.0..phase.start.0 + phase.length.0.max(1)).contains(&sample.start_ns)
    };
    record.phases.iter().find(is_of).map_or(&sample.series, |phase| &phase.name)
}

/// Where a drive that tells of it slowed down because it was too warm, and for how much of the time.
fn slowed_down(record: &RunRecord, samples: &[&Sample]) -> Option<Warning> {
    if samples.iter().all(|sample| sample.throttled_ns.unwrap_or(0) == 0) {
        return None;
    }
    // What goes on at once in several series was kept waiting once.
    let mut seen = BTreeSet::new();
    let samples: Vec<(&str, &Sample)> = samples
        .iter()
        .map(|sample| (phase_of(record, sample), *sample))
        .filter(|(phase, sample)| seen.insert((*phase, sample.start_ns)))
        .collect();
    let mut series: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for (phase, sample) in samples.iter().filter(|_| !record.plan.warms()) {
        let (throttled, all) = series.entry(phase).or_default();
        *throttled += sample.throttled_ns.unwrap_or(0);
        *all += sample.span_ns;
    }
    series.retain(|_, (throttled, _)| *throttled > 0);
    let shares = series.iter().map(|(name, (throttled, all))| (*name, percent(*throttled, *all)));
    let (most, share) = shares.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let (parts, most, percent) = (series.len(), most.to_owned(), share.min(100.0));
    let others = others(series.keys().copied(), &most);
    let slowed = samples.iter().filter(|(_, sample)| sample.throttled_ns.unwrap_or(0) > 0);
    let last = slowed.max_by_key(|(_, sample)| sample.start_ns);
    let last = last.map(|(phase, sample)| format!("in second {} of {phase}", sample.second));
    Some(Warning::Drive(DriveWarning::SlowedDown { parts, most, others, percent, last }))
}

/// Whether a drive that does not tell whether it slows down ever became as warm as its own protection
/// allows.
fn too_warm(record: &RunRecord, samples: &[&Sample]) -> Option<Warning> {
    let limit = record.drive.temperature_limit.filter(|_| !record.plan.warms())?;
    let silent = samples.iter().filter(|sample| sample.throttled_ns.is_none());
    let temperatures = silent.filter_map(|sample| sample.temperature_millicelsius);
    let temperature = Temperature(temperatures.max()?);
    (temperature >= limit).then_some(Warning::Drive(DriveWarning::TooWarm { temperature, limit }))
}

/// The phase in which the measuring threads computed most, each of them on average, if that was nearly all the time. One that
/// keeps to a clock spends its waits computing, and tells how late it was by itself.
fn generator_busy(record: &RunRecord, phases: &[&Phase]) -> Option<Warning> {
    if record.plan.keeps_time() {
        return None;
    }
    // What was measured once more only shows that the order matters.
    let is_figure = |phase: &&&Phase| {
        !matches!(record.plan, Plan::QueueDepth(_)) || !phase.name.ends_with("-again")
    };
    let long = phases.iter().filter(|phase| phase.length >= BUSY_PHASE_MIN).filter(is_figure);
    let busy = long.filter_map(|phase| {
        let (before, after) = host(phase)?;
        let cpu = after.cpu.0.saturating_sub(before.cpu.0);
        Some((percent(cpu, phase.length.0 * phase.threads as u64), phase))
    });
    let (percent, phase) = busy.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let (phase, threads) = (phase.name.clone(), phase.threads);
    (percent > BUSY_PERCENT).then_some(Warning::Host(HostWarning::GeneratorBusy {
        percent,
        phase,
        threads,
    }))
}

/// The time that the machine slept from the first phase to the last.
fn suspended(record: &RunRecord) -> Option<Warning> {
    let (first, _) = host(record.phases.first()?)?;
    let (_, last) = host(record.phases.last()?)?;
    let span = Nanos(last.suspended.0.saturating_sub(first.suspended.0));
    (span >= SLEEP_MIN).then_some(Warning::Host(HostWarning::Suspended { span }))
}

/// The pauses of the measuring thread in phases in which they came to more than a moment.
fn held_up(among: &[&Phase]) -> Option<Warning> {
    let (mut span, mut phases) = (Nanos::ZERO, Vec::new());
    for phase in among {
        let Some((before, after)) = host(phase) else { continue };
        let held_up = Nanos(after.held_up.0.saturating_sub(before.held_up.0));
        if held_up >= HELD_UP_MIN {
            span += held_up;
            phases.push(phase.name.clone());
        }
    }
    (!phases.is_empty()).then_some(Warning::Host(HostWarning::HeldUp { span, phases }))
}

/// The I/Os that the drive failed, and where.
fn failed_ios(record: &RunRecord, samples: &[&Sample]) -> Option<Warning> {
    let failing = || samples.iter().filter(|sample| sample.failed > 0);
    let count = failing().map(|sample| sample.failed).sum();
    let mut phases: Vec<String> = Vec::new();
    for name in failing().map(|sample| phase_of(record, sample)) {
        if !phases.iter().any(|known| known == name) {
            phases.push(name.to_owned());
        }
    }
    let only_later = failing().all(|sample| {
        let begin = Nanos::from_secs(sample.second.into());
        is_past_fresh(record, phase_of(record, sample), begin) == Some(true)
    });
    let simulated = record.drive.kind == DeviceKind::Simulated;
    let power_cuts = if is_about_power(record) { power_cuts(record).len() } else { 0 };
    let doubt = DriveWarning::FailedIos { count, simulated, power_cuts, phases, only_later };
    (count > 0).then_some(Warning::Drive(doubt))
}

fn media_errors(record: &RunRecord) -> Option<Warning> {
    let count = counted_since(record, |own| own.media_errors)?;
    (count > 0).then_some(Warning::Drive(DriveWarning::MediaErrors { count }))
}

fn throttled(record: &RunRecord) -> Option<Warning> {
    let minutes = counted_since(record, |own| own.throttled_minutes)?;
    (minutes > 0).then_some(Warning::Drive(DriveWarning::Throttled { minutes }))
}

fn unsafe_shutdown(record: &RunRecord) -> Option<Warning> {
    let count = counted_since(record, |own| own.unsafe_shutdowns)?;
    (count > 0).then_some(Warning::Drive(DriveWarning::UnsafeShutdown { count }))
}

/// What the drive itself counted from the first phase to the last that it was asked after.
fn counted_since(record: &RunRecord, of: fn(&OwnCounters) -> Option<u64>) -> Option<u64> {
    let first = record.phases.first()?.before.own.as_ref().and_then(of)?;
    let last =
        record.phases.iter().rev().find_map(|phase| phase.after.own.as_ref().and_then(of))?;
    last.checked_sub(first)
}

/// What the system counted before and after a phase, on a real device.
fn host(phase: &Phase) -> Option<(HostCounters, HostCounters)> {
    phase.before.host.zip(phase.after.host)
}

fn percent(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64 * 100.0
}

/// What is to be doubted before anything is done, because of what the drive is.
pub(crate) fn doubts_beforehand(drive: &DeviceInfo) -> Vec<Warning> {
    let reduced = drive
        .link
        .filter(Link::is_reduced)
        .map(|link| Warning::Drive(DriveWarning::ReducedLink { link }));
    let scale = scale(drive).map(|parts| Warning::Drive(DriveWarning::ScaleModel { parts }));
    reduced.into_iter().chain(scale).chain(doubts_about_kind(drive)).collect()
}

fn doubts_about_kind(drive: &DeviceInfo) -> Vec<Warning> {
    match drive.kind {
        DeviceKind::Null => vec![Warning::Drive(DriveWarning::NoDrive)],
        DeviceKind::Directory => doubts_about_filesystem(drive),
        _ if drive.is_on_a_file() => vec![Warning::Drive(DriveWarning::FileNotDrive)],
        _ => Vec::new(),
    }
}

/// File systems whose flush reaches no drive of this machine, or one by way of another file system.
const NO_DRIVE_BELOW: [&str; 14] = [
    "tmpfs",
    "ramfs",
    "overlay",
    "aufs",
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "9p",
    "virtiofs",
    "ceph",
    "glusterfs",
    "afs",
    "vboxsf",
];

fn doubts_about_filesystem(drive: &DeviceInfo) -> Vec<Warning> {
    let Some(filesystem) = drive.stands_on.first().cloned() else { return Vec::new() };
    let is_elsewhere =
        NO_DRIVE_BELOW.contains(&filesystem.as_str()) || filesystem.starts_with("fuse");
    let sends_none = drive.stands_on.iter().any(|one| one == DeviceInfo::WITHOUT_BARRIERS);
    let elsewhere = is_elsewhere.then_some(DriveWarning::FlushElsewhere { filesystem });
    let none = sends_none.then_some(DriveWarning::WithoutBarriers);
    elsewhere.into_iter().chain(none).map(Warning::Drive).collect()
}

#[cfg(test)]
mod tests;
