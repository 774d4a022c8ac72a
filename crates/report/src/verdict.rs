//! The result in five plain sentences, computed from the numbers, each with the picture that shows it.

use writecliff_suite::{Outcome, Plan, Warning, consistency};

use crate::Run;
use crate::number;
use crate::sections::consistency::tortures;
use crate::sections::headline;
use crate::subject::Subject;

/// A sentence and where to look.
pub(crate) struct Sentence {
    pub(crate) text: String,
    /// Anchors of the pictures, each with what it is called.
    pub(crate) see: Vec<(&'static str, &'static str)>,
}

/// Steadiness in words: the worst second is at least this share of the average. docs/methodology.md
/// has the same table.
const STEADINESS: [(f64, &str); 5] = [
    (0.9, "very steady"),
    (0.75, "steady"),
    (0.5, "uneven"),
    (0.02, "erratic"),
    (0.0, "it all but stops at times"),
];

/// From this share of the fresh rate on there is no difference worth a sentence.
const AS_FRESH: f64 = 0.95;
/// A remedy that gives less than so many times as much gives nothing.
const GAIN: f64 = 1.1;
/// What a person notices: 100 ms.
const NOTICED_NS: u64 = 100_000_000;

/// The random writes of one spare area.
struct Writes<'a> {
    spare_percent: f64,
    block: u64,
    seconds: f64,
    /// Whether the steady window has too few samples to be judged.
    is_short: bool,
    outcome: &'a consistency::Outcome,
}

/// The verdict; of a drive without random writes, a sentence for each test.
pub(crate) fn sentences(subject: &Subject) -> Vec<Sentence> {
    let mut sentences = five(subject);
    if writes(subject).is_empty() {
        sentences.extend(headlines(subject));
    }
    sentences
}

/// A sentence for each test that the verdict is not made of.
pub(crate) fn headlines(subject: &Subject) -> impl Iterator<Item = Sentence> {
    subject.runs.iter().filter_map(headline_of)
}

/// Fresh speed, when the cliff comes, what is left, how steady, and what would help.
pub(crate) fn five(subject: &Subject) -> Vec<Sentence> {
    let writes = writes(subject);
    let main = writes.first();
    let more = writes.get(1..).unwrap_or_default();
    let mut sentences: Vec<Sentence> = main
        .into_iter()
        .flat_map(|main| [fresh(main), cliff(main), left(main), steadiness(main)])
        .collect();
    let is_consistency = |run: &Run| matches!(run.record.plan, Plan::Consistency(_));
    if main.is_none() && subject.runs.iter().any(is_consistency) {
        let text = "No run came to its first second of random writes: there are no figures.";
        sentences.push(Sentence { text: text.to_owned(), see: Vec::new() });
    }
    match remedy(subject, main, more) {
        Some(remedy) => sentences.push(remedy),
        None if main.is_some() => {
            let text = "What more spare area or TRIM would give was not tested.".to_owned();
            sentences.push(Sentence { text, see: Vec::new() });
        }
        None => {}
    }
    sentences
}

fn headline_of(run: &Run) -> Option<Sentence> {
    let text = headline(run.record.outcome.as_ref()?)?;
    Some(Sentence { text, see: vec![(run.record.plan.name(), "pictures")] })
}

/// By spare area, the smallest first.
fn writes(subject: &Subject) -> Vec<Writes<'_>> {
    let mut all = Vec::new();
    for run in &subject.runs {
        for torture in tortures(run) {
            let Some(outcome) = torture.outcome else { continue };
            let (spare_percent, block) = (torture.spare_percent, block(&run.record.plan));
            let seconds = run.recording.series(&torture.phase).count() as f64;
            let is_short = run.record.warnings.iter().any(is_too_short);
            all.push(Writes { spare_percent, block, seconds, is_short, outcome });
        }
    }
    all.sort_by(|a, b| a.spare_percent.total_cmp(&b.spare_percent));
    all
}

fn is_too_short(warning: &Warning) -> bool {
    match warning {
        Warning::TooShort { .. } => true,
        Warning::AtSpare { doubt, .. } => is_too_short(doubt),
        _ => false,
    }
}

/// Size of a random write.
fn block(plan: &Plan) -> u64 {
    match plan {
        Plan::Consistency(plan) => plan.block.0,
        _ => consistency::Plan::default().block.0,
    }
}

fn fresh(main: &Writes<'_>) -> Sentence {
    let iops = main.outcome.fresh_iops;
    let rate = number::megabytes_per_second(iops * main.block as f64 / 1e6);
    let spare = match main.spare_percent {
        0.0 => String::new(),
        percent => format!(" with {percent} % of it left unused"),
    };
    let text = format!("Fresh{spare}, it writes {} at random places ({rate}).", number::iops(iops));
    Sentence { text, see: vec![("consistency-whole", "picture")] }
}

fn cliff(main: &Writes<'_>) -> Sentence {
    let text = match main.outcome.cliff_s {
        Some(second) => {
            let second = f64::from(second);
            let written = main.outcome.fresh_iops * second * main.block as f64;
            let after = number::seconds(second);
            format!("After {after}, some {}, comes the write cliff.", number::bytes(written))
        }
        None => format!("No write cliff came in {}.", number::seconds(main.seconds)),
    };
    Sentence { text, see: vec![("consistency-whole", "picture")] }
}

fn left(main: &Writes<'_>) -> Sentence {
    let mean = main.outcome.steady_iops.mean;
    let share = mean / main.outcome.fresh_iops.max(f64::MIN_POSITIVE);
    let (mean, percent) = (number::iops(mean), number::percent(share));
    let text = match share {
        AS_FRESH.. => format!("It keeps up: {mean} on average in the end, as fast as fresh."),
        _ => format!("What is left is {mean} on average, {percent} of fresh."),
    };
    Sentence { text, see: vec![("consistency-steady-log", "picture")] }
}

fn steadiness(main: &Writes<'_>) -> Sentence {
    let share = main.outcome.floor_to_mean;
    let word = STEADINESS.iter().find(|(least, _)| share >= *least).map_or("", |(_, word)| word);
    let p99 = main.outcome.steady_latency.p99_ns;
    let judgement = match (main.is_short, p99) {
        (true, _) => "not judged, the run was too short".to_owned(),
        (false, NOTICED_NS..) => {
            format!("{word}, but one write in a hundred takes over {}", number::latency(p99))
        }
        (false, _) => word.to_owned(),
    };
    let text = format!(
        "Its worst second once full gives {}, {} of the average: {judgement}.",
        number::iops(main.outcome.steady_iops.floor),
        number::percent(share),
    );
    Sentence { text, see: vec![("consistency-steady-linear", "picture")] }
}

/// What more spare area gives and what TRIM gives, in one sentence; `None` if neither is known.
fn remedy(subject: &Subject, main: Option<&Writes<'_>>, more: &[Writes<'_>]) -> Option<Sentence> {
    let spare = main.zip(published(more)).map(|(main, other)| spare_area(main, other));
    let mut trims = subject.runs.iter().rev().filter_map(|run| match &run.record.outcome {
        Some(Outcome::Trim(outcome)) => Some(trim(outcome)),
        _ => None,
    });
    match (spare, trims.next()) {
        (Some(spare), Some(trim)) => {
            let text = format!("{}; {}.", spare.text, trim.text);
            Some(Sentence { text, see: [spare.see, trim.see].concat() })
        }
        (Some(Sentence { text, see }), None) | (None, Some(Sentence { text, see })) => {
            Some(Sentence { text: text + ".", see })
        }
        (None, None) => None,
    }
}

/// The setting that is nearest to the 25 % of the published reviews.
fn published<'a, 'b>(more: &'b [Writes<'a>]) -> Option<&'b Writes<'a>> {
    let distance = |writes: &Writes<'_>| (writes.spare_percent - 25.0).abs();
    more.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// As a part of a sentence, as [`trim`].
fn spare_area(main: &Writes<'_>, other: &Writes<'_>) -> Sentence {
    let mean = other.outcome.steady_iops.mean;
    let times = mean / main.outcome.steady_iops.mean.max(f64::MIN_POSITIVE);
    let (percent, iops) = (other.spare_percent, number::iops(mean));
    let text = match times {
        GAIN.. => format!(
            "Leaving {percent} % of it unused gives {iops} once full, {} times as many, with a \
             worst second of {} of the average",
            number::times(times),
            number::percent(other.outcome.floor_to_mean),
        ),
        _ => format!("Leaving {percent} % of it unused gains nothing: {iops} once full"),
    };
    Sentence { text, see: vec![("spare-area", "spare area")] }
}

fn trim(outcome: &writecliff_suite::trim::Outcome) -> Sentence {
    let rate = number::megabytes_per_second;
    let text = match (outcome.dirty, outcome.after_trim, outcome.restored()) {
        (Some(dirty), Some(after), _) if after < dirty * GAIN => format!(
            "TRIM brings nothing: {} of sequential writes on the dirty drive, {} after",
            rate(dirty),
            rate(after),
        ),
        (Some(dirty), Some(after), Some(share)) => format!(
            "TRIM brings sequential writes from {} on the dirty drive to {}, {} of clean",
            rate(dirty),
            rate(after),
            number::percent(share),
        ),
        _ => "what TRIM brings back is not known".to_owned(),
    };
    Sentence { text, see: vec![("trim", "TRIM")] }
}
