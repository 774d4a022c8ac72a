//! Fullness: every figure over how full the drive is.

use writecliff_device::{DeviceInfo, Operation};
use writecliff_suite::corners::Corner;
use writecliff_suite::fullness::{Outcome, Plan, Step};
use writecliff_suite::{Good, Plan as AnyPlan};

use super::curves::{self, Curve};
use super::{Answer, answers, number_row, table_of};
use crate::number;
use crate::picture::{Axis, nth_style};
use crate::section::{Column, Place, Row, Section, Table, View};
use crate::subjects::Subjects;

const CONDITIONS: &str = "corners and a trace on a drive of which so much is written";

/// A figure of a step.
#[derive(Clone, PartialEq)]
enum Measure {
    Corner(Corner),
    /// The data rate of the writes of the trace of this name. What it reads was in part never written
    /// while the drive is not full, and many drives answer that at once.
    Trace(String),
}

impl Measure {
    fn name(&self) -> String {
        match self {
            Self::Corner(corner) => {
                let order = if corner.random { "random" } else { "sequential" };
                let reads = corner.operation == Operation::Read;
                let operation = if reads { "reads" } else { "writes" };
                format!("{order} {operation}, QD{}", corner.queue_depth)
            }
            Self::Trace(name) => format!("{name}, writes"),
        }
    }

    /// In I/Os per second of random corners, else in MB/s.
    fn value(&self, step: &Step) -> Option<f64> {
        match self {
            Self::Corner(corner) => {
                let rate = step.corners.iter().find(|found| found.corner == *corner)?.rate;
                Some(if corner.random { rate.iops } else { rate.megabytes_per_second })
            }
            Self::Trace(name) => {
                let served = step.served.as_ref().filter(|served| served.trace == *name)?;
                let writes = &served.writes;
                (writes.operations > 0).then_some(writes.megabytes_per_second)
            }
        }
    }

    fn words(&self, value: f64) -> String {
        match self {
            Self::Corner(corner) if corner.random => number::iops(value),
            _ => number::megabytes_per_second(value),
        }
    }

    /// Of what the drive does when it is least full.
    fn share(&self, outcome: &Outcome, step: &Step) -> Option<f64> {
        let least = outcome.steps.iter().min_by_key(|step| step.percent)?;
        let (value, of) = (self.value(step)?, self.value(least)?);
        (of > 0.0).then(|| value / of)
    }
}

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let answers = answers::<Outcome>(subjects);
    if answers.is_empty() {
        return None;
    }
    let (measures, percents) = (measures(&answers), percents(&answers));
    let views = views(subjects, &answers, &measures);
    let table = match &answers[..] {
        [answer] => of_one(answer, &measures, &percents),
        _ => of_several(subjects, &answers, &measures, &percents),
    };
    let (areas, disks) = (areas(subjects, &answers), disks(subjects, &answers));
    let method = "Corners and a trace, each on a drive that was purged, where that can be, written so far, and \
         rested. The corners' own part of it is written in any case. Of the trace the writes are \
         compared: what it reads of a drive that is not full was in part never written, which many drives answer at once.";
    let method = format!("{method}{areas}{disks}");
    Some(Section::new(Plan::NAME, "Fullness", &method, views, vec![table]))
}

/// Which drives turn: their corners never leave the tracks that are fastest.
fn disks(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> String {
    let turning = answers.iter().filter(|answer| answer.run.record.drive.rotational);
    let told = turning.map(|answer| {
        let name = subjects.name(answer.subject);
        let of = if subjects.is_comparison() { name } else { "this disk" };
        format!(
            " The corners of {of} are all within its outermost tracks, however full it is: what it is slower \
             at further in is not seen here."
        )
    });
    told.collect()
}

/// From this share of a drive on, the corners' own area makes a drive full that is called empty.
const LARGE: f64 = 0.1;

/// Of which drives the corners are always of one that is so full.
fn areas(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> String {
    let area = |answer: &Answer<'_, Outcome>| {
        let AnyPlan::Fullness(plan) = &answer.run.record.plan else { return None };
        let capacity = plan.span.unwrap_or(answer.run.record.drive.capacity).0 as f64;
        let share = (plan.area.0 as f64 / capacity).min(1.0);
        let of =
            if subjects.is_comparison() { subjects.name(answer.subject) } else { "this drive" };
        let of = match plan.span {
            Some(span) => {
                format!("the first {} of {of}, which stand for all", number::bytes(span.0 as f64))
            }
            None => of.to_owned(),
        };
        (share >= LARGE).then(|| {
            format!(
                " The corners' part is {} of {of}: they are never of one less full.",
                number::percent(share)
            )
        })
    };
    answers.iter().filter_map(area).collect()
}

/// The test in a sentence.
pub(super) fn headline(outcome: &Outcome, drive: &DeviceInfo) -> Option<String> {
    // A disk's corners never leave its outermost tracks: that they are as fast there says nothing.
    if drive.rotational {
        return None;
    }
    let fullest = outcome.steps.iter().max_by_key(|step| step.percent)?;
    let measures = measures_of(fullest);
    let shares =
        measures.iter().filter_map(|measure| Some((measure, measure.share(outcome, fullest)?)));
    let (measure, share) = shares.min_by(|one, other| one.1.total_cmp(&other.1))?;
    let (name, percent) = (measure.name(), fullest.percent);
    let least = outcome.steps.iter().map(|step| step.percent).min()?;
    Some(match share {
        0.9.. => format!(
            "At {percent} % full all that is compared has at least {} of its speed at {least} %.",
            number::percent_or_more(share)
        ),
        _ => format!(
            "At {percent} % full, {name}: {} of the speed at {least} %; nothing loses more.",
            number::percent(share)
        ),
    })
}

fn measures_of(step: &Step) -> Vec<Measure> {
    let corners = step.corners.iter().map(|figures| Measure::Corner(figures.corner));
    let trace = step.served.as_ref().map(|served| Measure::Trace(served.trace.clone()));
    corners.chain(trace).collect()
}

/// Those that any drive has.
fn measures(answers: &[Answer<'_, Outcome>]) -> Vec<Measure> {
    let mut measures: Vec<Measure> = Vec::new();
    let steps = answers.iter().flat_map(|answer| &answer.outcome.steps);
    for measure in steps.flat_map(measures_of) {
        if !measures.contains(&measure) {
            measures.push(measure);
        }
    }
    measures
}

/// Of all drives, the least first.
fn percents(answers: &[Answer<'_, Outcome>]) -> Vec<u8> {
    let steps = answers.iter().flat_map(|answer| &answer.outcome.steps);
    let mut percents: Vec<u8> = steps.map(|step| step.percent).collect();
    percents.sort_unstable();
    percents.dedup();
    percents
}

fn views(
    subjects: &Subjects<'_>,
    answers: &[Answer<'_, Outcome>],
    measures: &[Measure],
) -> Vec<View> {
    let names: Vec<String> = measures.iter().map(Measure::name).collect();
    let curve = |(index, measure): (usize, &Measure)| {
        let line = |answer: &Answer<'_, Outcome>| {
            let outcome = answer.outcome;
            let point = |step: &Step| {
                Some((f64::from(step.percent), measure.share(outcome, step)? * 100.0))
            };
            (answer.subject, outcome.steps.iter().filter_map(point).collect::<Vec<_>>())
        };
        let lines = answers.iter().map(line).filter(|(_, points)| !points.is_empty()).collect();
        let heading = format!("Over fullness: {}", names[index]);
        Curve { name: &names[index], heading, style: nth_style(index), lines }
    };
    let curves: Vec<Curve<'_>> = measures.iter().enumerate().map(curve).collect();
    let x = Axis::span("written before, % of the drive", 0.0, 100.0);
    let text = "Each speed as a share of what it is when the drive is least full.";
    let title = ("fullness-curve", "Speed over fullness", text);
    curves::views(subjects, title, &x, "% of the speed when least full", CONDITIONS, &curves)
}

/// Figures down and fullness across.
fn of_one(answer: &Answer<'_, Outcome>, measures: &[Measure], percents: &[u8]) -> Table {
    let row = |measure: &Measure| {
        let number = |percent: &u8| measure.value(find(answer, *percent)?);
        let row =
            number_row(&measure.name(), Good::AtLeast, percents.iter().map(number), |value| {
                measure.words(value)
            });
        Row { good: None, ..row }
    };
    let column = |percent: &u8| Column { of: Place::default(), name: format!("{percent} % full") };
    let columns = percents.iter().map(column).collect();
    Table::new("Speed by fullness", "", columns, measures.iter().map(row).collect())
}

fn of_several(
    subjects: &Subjects<'_>,
    answers: &[Answer<'_, Outcome>],
    measures: &[Measure],
    percents: &[u8],
) -> Table {
    let rows = measures.iter().flat_map(|measure| {
        percents.iter().map(move |percent| {
            let number = |answer: &Answer<'_, Outcome>| measure.value(find(answer, *percent)?);
            let name = format!("{}: {percent} % full", measure.name());
            number_row(&name, Good::AtLeast, answers.iter().map(number), |v| measure.words(v))
        })
    });
    table_of(subjects, answers, ("Speed by fullness", ""), rows.collect())
}

fn find<'a>(answer: &Answer<'a, Outcome>, percent: u8) -> Option<&'a Step> {
    answer.outcome.steps.iter().find(|step| step.percent == percent)
}
