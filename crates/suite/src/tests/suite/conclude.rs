//! What comes of a recording of a suite, and what is to be doubted of it.

use writecliff_device::{DeviceInfo, Mechanism, Nanos, Operation};
use writecliff_measure::{Recording, Sample};

use super::outcome::{Figures, Outcome, StepFigures};
use super::plan::{Plan, Turn, from_second};
use super::step::Step;
use super::target::Target;
use crate::method::estimate::lacks;
use crate::method::loads::series;
use crate::record::judged::Unjudged;
use crate::record::warning::{JobWarning, Warning};
use crate::tests::mixed::{self, Uneven};

pub(super) fn conclude(
    plan: &Plan,
    recording: &Recording,
    drive: &DeviceInfo,
) -> (Option<Outcome>, Vec<Warning>) {
    let (mut steps, mut warnings) = (Vec::new(), Vec::new());
    let capacity = drive.capacity;
    for turn in plan.turns(capacity) {
        let Ok(jobs) = plan.mixed(&turn, drive) else { continue };
        let Some((figures, behind)) = figures(plan, &turn, &jobs, recording, drive) else {
            continue;
        };
        let names = jobs.series_together(&turn.name);
        if let Some(rule) = jobs.jobs.iter().find_map(|job| job.steady)
            && !mixed::was_steady(rule, &names, recording)
        {
            warnings.push(Warning::Job(JobWarning::JobNotSteady { job: turn.name.clone() }));
        }
        warnings.extend(behind.into_iter().map(Warning::Job));
        if !turn.step.prepares
            && mixed::are_at_once(&jobs.jobs)
            && let Some(Uneven { first, last, thirds }) =
                mixed::uneven(&jobs.jobs, &names, recording, figures.from_s)
        {
            let (job, of_tenths) = (turn.name.clone(), !thirds);
            let doubt = JobWarning::Uneven { job, is_step: true, of_tenths, first, last };
            warnings.push(Warning::Job(doubt));
        }
        steps.push(figures);
    }
    let is_too_large = |step: &&Step| step.needs.is_some_and(|needs| needs > capacity);
    let left_out = plan.steps.iter().filter(is_too_large).map(|step| step.targets.len() as u32);
    let targets_left_out = left_out.sum::<u32>() * plan.cycles;
    ((!steps.is_empty()).then_some(Outcome { capacity, steps, targets_left_out }), warnings)
}

/// None of a step that recorded nothing behind its ramp.
fn figures(
    plan: &Plan,
    turn: &Turn<'_>,
    jobs: &mixed::Plan,
    recording: &Recording,
    drive: &DeviceInfo,
) -> Option<(StepFigures, Vec<JobWarning>)> {
    let from = from_second(jobs);
    let from_time = Nanos::from_secs(u64::from(from));
    let names = jobs.series_together(&turn.name);
    let of_step = |sample: &&Sample| sample.second >= from && names.contains(&sample.series);
    let samples = || recording.samples.iter().filter(of_step);
    let start = samples().map(|sample| sample.start_ns).min()?;
    let end = samples().filter(|s| s.ios() > 0).map(|s| s.start_ns + s.span_ns).max()?;
    let span = Nanos(end - start);
    let of = |operation| {
        let name = series(&turn.name, operation);
        // Of a job that ends before the others, its own time.
        Figures::of(
            recording,
            &name,
            from,
            span.min(jobs.lasts(operation, from_time).unwrap_or(span)),
        )
    };
    let trims_for_nothing = lacks(drive, Mechanism::TrimTime);
    let step = StepFigures {
        name: turn.name.clone(),
        prepares: turn.step.prepares,
        from_s: from,
        seconds: span.as_secs_f64(),
        reads: of(Operation::Read),
        writes: of(Operation::Write),
        trims: of(Operation::Trim).filter(|_| !trims_for_nothing),
        flushes: of(Operation::Flush),
        targets: Vec::new(),
    };
    let done = |operation| {
        step.of(operation).map(|figures| mixed::Done {
            ios: figures.ios,
            iops: figures.iops,
            megabytes_per_second: figures.mebibytes_per_second * f64::from(1 << 20) / 1e6,
        })
    };
    let (whose, copies) =
        (format!("the step '{}'", turn.name), jobs.groups(drive.capacity).concat());
    let behind = mixed::behind(&whose, &copies, step.seconds, done);
    let says_nothing_of = |target: &Target| {
        let is_silent = |(operations, doubt): &(Vec<Operation>, JobWarning)| {
            operations.contains(&target.of)
                && matches!(doubt, JobWarning::Behind { counts_lateness: false, .. })
        };
        behind.iter().any(is_silent)
    };
    let is_whole = plan.duration.is_none() && jobs.is_whole(span + from_time);
    let judged = turn.step.targets.iter().map(|target| {
        let series = series(&turn.name, target.of);
        let name = format!("{series}, {}", target.figure);
        let figures = step.of(target.of);
        let got = figures.map(|figures| figures.value(target.figure, recording, &series, from));
        let needed = target.figure.ios_min();
        let unjudged = match figures {
            None if is_whole && !jobs.has(target.of) => Some(Unjudged::NoIos),
            _ if target.of == Operation::Trim && trims_for_nothing => {
                Some(Unjudged::NotModelled { mechanism: Mechanism::TrimTime })
            }
            _ if !is_whole => Some(Unjudged::CutShort),
            // What is too long is so however late it began.
            Some(_)
                if says_nothing_of(target)
                    && got.is_some_and(|got| target.is_kept_time(got, drive.into())) =>
            {
                Some(Unjudged::Behind)
            }
            None => Some(Unjudged::NoIos),
            Some(figures)
                if jobs.are_drawn(target.of)
                    && got.is_some_and(|got| {
                        target.is_missed_by_chance(figures.ios, got, drive.into())
                    }) =>
            {
                Some(Unjudged::Chance)
            }
            Some(figures) if figures.ios < needed => {
                Some(Unjudged::FewIos { ios: figures.ios, needed })
            }
            Some(_) if got.is_some_and(|got| target.may_be_kept(got, drive.into())) => {
                Some(Unjudged::Step)
            }
            Some(_) => None,
        };
        // Of fewer I/Os a percentile is the longest of them, whatever else leaves it unjudged.
        let got = got.filter(|_| figures.is_some_and(|figures| figures.ios >= needed));
        target.judged(&name, got, drive.into(), unjudged)
    });
    let targets = judged.collect();
    let behind = behind.into_iter().map(|(_, doubt)| doubt).collect();
    Some((StepFigures { targets, ..step }, behind))
}
