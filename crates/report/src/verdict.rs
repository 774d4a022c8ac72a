//! The result in a few plain sentences, computed from the numbers, each with the picture that shows
//! it.

use writecliff_suite::consistency::FallCause;
use writecliff_suite::{Outcome, Plan, WindowState, doubts_across, is_hard_disk};

use crate::run::Run;
use crate::section::Sentence;
use crate::sections::trim::course;
use crate::sections::{InDoubt, headline, headline_in_doubt};
use crate::subject::Subject;
use crate::torture::tortures;
use crate::writes::{AS_FRESH, Writes, what_failed, writes};
use crate::{buffer, number};

/// From this share on a drive is said to hold its rate.
const HOLDS: f64 = 0.75;
/// More spare area that costs so much of the worst second's share of the mean wants a remark.
const LESS_EVEN: f64 = 0.1;

/// The verdict; of a drive without random writes, a sentence for each test. None of runs that are no
/// result.
pub(crate) fn sentences(subject: &Subject) -> Vec<Sentence> {
    let mut sentences = main(subject);
    let with_headlines = writes(subject).is_empty();
    sentences.extend(sequential(subject, with_headlines));
    match with_headlines && subject.no_result().is_none() {
        true => sentences.extend(headlines(subject)),
        false => sentences.extend(ended_early(subject)),
    }
    sentences.extend(missing(subject));
    sentences
}

/// What a review that is not finished has not begun.
pub(crate) fn missing(subject: &Subject) -> Option<Sentence> {
    let missing = subject.not_begun();
    let text = format!("Not begun: {}.", missing.join(", "));
    (!missing.is_empty()).then(|| Sentence::new(text, &[]))
}

/// A sentence for each test that the verdict is not made of.
pub(crate) fn headlines(subject: &Subject) -> impl Iterator<Item = Sentence> {
    let is_result = subject.no_result().is_none();
    let records: Vec<_> = subject.runs.iter().map(|run| &run.record).collect();
    let within: Vec<usize> = doubts_across(&records).into_iter().map(|(run, _)| run).collect();
    let runs = subject.runs.iter().enumerate().filter(move |_| is_result);
    runs.filter_map(move |(index, run)| {
        let sentence = headline_of(run, within.contains(&index))?;
        let is_doubtful = subject.is_doubtful(run.record.plan.name());
        let has_answer = is_doubtful && broken_off(run).is_none();
        Some(match has_answer.then(|| headline_in_doubt(run)) {
            None => sentence,
            Some(doubt) => with_doubt(doubt, sentence),
        })
    })
}

/// Of the tests that the verdict is not made of, which is of none where there is no result, those that did not come
/// to their end.
fn ended_early(subject: &Subject) -> impl Iterator<Item = Sentence> {
    let has_verdict = subject.no_result().is_none();
    let runs = subject.runs.iter().filter(move |run| !(has_verdict && is_of_verdict(run)));
    // Whatever it came to, the sentence is that it did not.
    let empty = || Sentence::new(String::new(), &[]);
    runs.filter(|run| broken_off(run).is_some()).map(move |run| of_run(run, empty()))
}

/// Whether the verdict says itself what came of it, and how far it came: of random writes and TRIM. Of other spare
/// areas it says what came of them alone.
fn is_of_verdict(run: &Run) -> bool {
    let is_spare_area = matches!(run.record.plan, Plan::SpareArea(_));
    (!is_spare_area && !tortures(run).is_empty())
        || matches!(run.record.outcome, Some(Outcome::Trim(_)))
}

/// Where that was which a test wrote and the fast buffer can take whole. After a rest it may have left it.
fn within_buffer(plan: &Plan) -> &'static str {
    match plan {
        Plan::Idle(_) => "On data that the fast buffer may hold",
        _ => "In the fast buffer",
    }
}

/// Whether what a run says is so although it did not come to its end: what data were lost, and what jobs of
/// one's own did until then.
fn is_of_what_was_done(plan: &Plan) -> bool {
    matches!(plan, Plan::Integrity(_) | Plan::Mixed(_))
}

/// A run, or one that repeats it, that did not come to its end and says what it would have come to.
fn broken_off(run: &Run) -> Option<&Run> {
    let concludes = !is_of_what_was_done(&run.record.plan);
    run.and_repeats().find(|run| concludes && !run.is_complete())
}

/// Of what the fast buffer took whole it says so.
fn headline_of(run: &Run, is_within_buffer: bool) -> Option<Sentence> {
    let found = run.record.outcome.as_ref().and_then(|one| headline(one, &run.record.drive));
    let is_told = broken_off(run).is_some() && !is_of_verdict(run);
    let mut text = found.or_else(|| is_told.then(String::new))?;
    if is_within_buffer {
        text = format!("{}: {text}", within_buffer(&run.record.plan));
    }
    Some(of_run(run, Sentence::new(text, &[(run.record.plan.name(), "pictures")])))
}

/// A sentence about what a run came to: of one of several it says so, and of a run that did not come to its end
/// its question has no answer.
fn of_run(run: &Run, sentence: Sentence) -> Sentence {
    if let Some(broken_off) = broken_off(run) {
        let (test, status) = (run.record.plan.name(), broken_off.status_in_short());
        let left = match run.record.figures().is_empty() {
            true => "what it asks has no answer in what was measured until then.",
            false => {
                "it has figures of what was measured until then, and no answer to all that it asks."
            }
        };
        let text = format!("The test {test} is not complete, {status}: {left}");
        return Sentence::new(text, &[(test, "pictures")]);
    }
    let lost_die_in = run.lost_die_in().filter(|_| !is_of_what_was_done(&run.record.plan));
    if let Some(phase) = lost_die_in {
        let test = run.record.plan.name();
        let text = format!(
            "In the test {test} a die stopped working, in {phase}: its figures until then are of the whole drive, and \
             the later ones of what was left of it. Together they are no answer to what it asks."
        );
        return Sentence::new(text, &[(test, "pictures")]);
    }
    if !run.is_repeated() {
        return sentence;
    }
    let (seed, count) = (run.record.plan.seed(), run.repeats.len() + 1);
    Sentence { text: format!("With seed {seed}, one of {count}: {}", sentence.text), ..sentence }
}

/// A sentence, which says whether there is a doubt about it.
fn in_doubt(is_doubtful: bool, sentence: Sentence) -> Sentence {
    match is_doubtful {
        true => Sentence { text: format!("{} This is in doubt.", sentence.text), ..sentence },
        false => sentence,
    }
}

/// A sentence, which says how much of it is.
fn with_doubt(doubt: InDoubt, sentence: Sentence) -> Sentence {
    match doubt {
        InDoubt::Nothing => sentence,
        InDoubt::All => in_doubt(true, sentence),
        InDoubt::Some => {
            Sentence { text: format!("{} Some of this is in doubt.", sentence.text), ..sentence }
        }
    }
}

/// Fresh speed, when the cliff comes, what is left, how steady, and what would help.
pub(crate) fn main(subject: &Subject) -> Vec<Sentence> {
    if subject.no_result().is_some() {
        return Vec::new();
    }
    let writes = writes(subject);
    let main = writes.first();
    let more = writes.get(1..).unwrap_or_default();
    let mut sentences: Vec<Sentence> = main
        .into_iter()
        .flat_map(|main| [fresh(main), cliff(main), left(main), range(main)])
        .collect();
    let failed = main.and_then(|_| what_failed(subject));
    sentences.extend(failed.map(|text| Sentence::new(text, &[("consistency-whole", "picture")])));
    // Before it has settled its seconds vary because it has not.
    let settled = main.filter(|main| main.state == WindowState::Settled && subject.is_simulated());
    sentences.extend(settled.map(|main| scatter(subject, main)));
    let doubtful = main.and_then(Writes::doubtful);
    sentences.extend(doubtful.map(|text| Sentence::new(text, &[])));
    let is_consistency = |run: &Run| matches!(run.record.plan, Plan::Consistency(_));
    if main.is_none() && subject.runs.iter().any(is_consistency) {
        let text = "The test consistency did not come to its first second of random writes, and has no figures of \
                    them.";
        sentences.push(Sentence::new(text.to_owned(), &[]));
    }
    let remedies = remedies(subject, main, more);
    // A magnetic disk has neither spare area nor TRIM.
    if remedies.is_empty() && main.is_some() && !is_hard_disk(subject.drive()) {
        let text = "What more spare area or TRIM would give was not tested.".to_owned();
        sentences.push(Sentence::new(text, &[]));
    }
    sentences.extend(remedies);
    sentences.extend(main.and_then(|main| less_even(main, more)));
    sentences
}

/// How fast sequential writes are in the fast buffer and after it, where no headline says it.
pub(crate) fn sequential(subject: &Subject, with_headlines: bool) -> Option<Sentence> {
    // Another sentence is in the headline's place where the test did not come to its end, or lost a die.
    let has_own = |run: &Run| {
        let is_it = matches!(run.record.plan, Plan::WholeDrive(_)) && run.record.outcome.is_some();
        is_it && broken_off(run).is_none() && run.lost_die_in().is_none()
    };
    if with_headlines && subject.runs.iter().any(has_own) {
        return None;
    }
    let (run, part) = buffer::found(subject)?;
    let text = format!("Sequential writes: {}.", buffer::speeds(part));
    Some(in_doubt(buffer::is_in_doubt(run), Sentence::new(text, &[])))
}

/// Seconds that scatter by less than this share of their mean are all the same.
const EVEN: f64 = 0.001;
/// Seconds that deviate by less than this number of I/Os do so by being counted.
const COUNTED: f64 = 1.0;

fn fresh(main: &Writes<'_>) -> Sentence {
    let iops = main.outcome.fresh_iops;
    let rate = number::megabytes_per_second(iops * main.block as f64 / 1e6);
    let spare = match main.spare_percent {
        0.0 => String::new(),
        percent => format!(" with {percent} % of it left unused"),
    };
    let text = format!("Fresh{spare}, it writes {} at random places ({rate}).", number::iops(iops));
    Sentence::new(text, &[("consistency-whole", "picture")])
}

fn cliff(main: &Writes<'_>) -> Sentence {
    let text = match main.outcome.cliff_s {
        Some(second) if main.outcome.came_back() => format!(
            "After {} it falls below half of that {}, and comes back.",
            number::seconds(f64::from(second)),
            main.outcome.how_long()
        ),
        None if let Some((second, cause)) = main.outcome.other_fall() => format!(
            "After {} it falls below half of that {}: whether a write cliff came is not known.",
            number::seconds(f64::from(second)),
            match cause {
                FallCause::Heat => "while it is too warm, and slows down for that",
                FallCause::LostDie => "with a die that stopped working",
            }
        ),
        None if let Some(first) = main.outcome.fell_from_iops => format!(
            "That is the median of its first seconds, within which it fell from {}: whether a write cliff came is not \
             known.",
            number::iops(first)
        ),
        None if main.is_too_short_for_a_cliff() => {
            format!(
                "{} are too short to tell whether there is a write cliff.",
                number::seconds(main.seconds)
            )
        }
        Some(second) => {
            let written = number::bytes(main.written_before_cliff.unwrap_or(0.0));
            let second = number::seconds(f64::from(second));
            format!("The write cliff comes after {second}, some {written}{}.", until_then(main))
        }
        None => format!("No write cliff came in {}.", number::seconds(main.seconds)),
    };
    Sentence::new(text, &[("consistency-whole", "picture")])
}

/// `, at 43,820 IOPS on average until then`, where that is not what it does fresh.
fn until_then(main: &Writes<'_>) -> String {
    let seconds = main.outcome.cliff_s.map_or(1.0, f64::from).max(1.0);
    let ios = main.written_before_cliff.unwrap_or(0.0) / main.block as f64;
    let (mean, fresh) = (ios / seconds, main.outcome.fresh_iops);
    match (fresh / APART..=fresh * APART).contains(&mean) {
        true => String::new(),
        false => format!(", at {} on average until then", number::iops(mean)),
    }
}

/// From this ratio on a mean is another figure than a median.
const APART: f64 = 1.1;

fn left(main: &Writes<'_>) -> Sentence {
    let mean = main.outcome.steady_iops.mean;
    let share = main.of_fresh();
    let (mean, of_fresh) = (number::iops(mean), main.of_fresh_in_words());
    let text = match (share, main.state) {
        (_, WindowState::Settling | WindowState::TooLittle | WindowState::TooShort) => {
            let last = number::seconds(main.seconds - f64::from(main.outcome.steady_from_s));
            format!("Over the last {last} of the run it gives {mean} on average, {of_fresh}.")
        }
        (HOLDS..AS_FRESH, _) => {
            let percent = number::percent(share);
            format!("Once full it holds {percent} of that: {mean} on average.")
        }
        _ => format!("Once full it gives {mean} on average, {of_fresh}."),
    };
    Sentence::new(text, &[("consistency-steady-linear", "picture")])
}

fn range(main: &Writes<'_>) -> Sentence {
    let seconds = main.outcome.steady_iops;
    let [floor, median] = [seconds.floor, seconds.median].map(number::count);
    // Half of them or more are the worst.
    let half = if floor == median { "at least half of them at" } else { "half of them at" };
    let more = if floor == median { "" } else { " or more" };
    let peak = number::iops(seconds.peak);
    let steadiness = main.steadiness();
    let text = match floor == number::count(seconds.peak) {
        true => format!("Each of its seconds then has {peak}: {steadiness}."),
        false => format!(
            "Its seconds then range from {floor} to {peak}, {half} {median}{more}: {steadiness}."
        ),
    };
    Sentence::new(text, &[("consistency-range", "picture")])
}

/// How far a model's seconds vary, and that those of drives may do so in other ways (docs/model.md, "Where the
/// model fails").
fn scatter(subject: &Subject, main: &Writes<'_>) -> Sentence {
    let variation = main.outcome.steady_iops.variation;
    let text = match variation {
        _ if main.power_lost => format!(
            "Its seconds vary by {} of their mean, with those in which it had no power among them.",
            number::percent(variation)
        ),
        _ if variation < EVEN => "That its seconds are nearly all the same is the profile's pacing, and no measurement: those of \
                 real drives scatter."
            .to_owned(),
        _ if variation * main.outcome.steady_iops.mean < COUNTED => format!(
            "That its seconds vary by {} of their mean is what whole I/Os make of so few a second.",
            number::percent(variation)
        ),
        _ if main.course.is_some() => format!(
            "What its seconds vary by, {} of their mean, is mostly that course, which is the model's.",
            number::percent(variation)
        ),
        _ => format!(
            "Its seconds vary by {} of their mean, which is the model's; a real {} may vary in other ways.",
            number::percent(variation),
            if is_hard_disk(subject.drive()) { "disk's" } else { "drive's" }
        ),
    };
    Sentence::new(text, &[])
}

/// What more spare area gives and what TRIM gives, as far as that is known.
fn remedies(subject: &Subject, main: Option<&Writes<'_>>, more: &[Writes<'_>]) -> Vec<Sentence> {
    // A disk that is used in part has shorter ways, and no spare area.
    let has_spare = !is_hard_disk(subject.drive());
    let spare = main.zip(published(more)).filter(|_| has_spare);
    let spare = spare.map(|(main, other)| {
        // Where no gain is told, nothing is of the drive without it.
        let of_main = main.in_doubt.steady && is_gain_known(main, other);
        in_doubt(of_main || other.in_doubt.steady, spare_area(main, other))
    });
    let mut trims = subject.runs.iter().rev().filter_map(|run| match &run.record.outcome {
        Some(Outcome::Trim(outcome)) => Some((run, of_run(run, trim(outcome, &run.record.plan)))),
        _ => None,
    });
    // That a drive takes no TRIM the sentence says itself.
    let has_trim = subject.drive().trim;
    let trim = trims.next().map(|(run, part)| {
        match has_trim && subject.is_doubtful("trim") && broken_off(run).is_none() {
            true => with_doubt(headline_in_doubt(run), part),
            false => part,
        }
    });
    spare.into_iter().chain(trim).collect()
}

/// The setting that is nearest to the 25 % of the published reviews.
pub(crate) fn published<'a, 'b>(more: &'b [Writes<'a>]) -> Option<&'b Writes<'a>> {
    let distance = |writes: &Writes<'_>| (writes.spare_percent - 25.0).abs();
    more.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// `gains nothing`, `gains 9 %`, `gives 3.5 times as much`, `costs 12 %`.
fn gain(times: f64) -> String {
    match times {
        ..0.97 => format!("costs {}", number::percent(1.0 - times)),
        ..1.03 => "gains nothing".to_owned(),
        ..2.0 => format!("gains {}", number::percent(times - 1.0)),
        _ => format!("gives {} times as much", number::times(times)),
    }
}

/// The same over a drive that was in two states: `gives 4.8 to 25 times as much`.
fn gain_over(before: [f64; 2], after: f64) -> String {
    let mut times = before.map(|rate| after / rate.max(f64::MIN_POSITIVE));
    times.sort_by(f64::total_cmp);
    match (times[0], times[1]) {
        (least @ 2.0.., most) => {
            format!("gives {} to {} times as much", number::times(least), number::times(most))
        }
        (_, most @ 2.0..) => format!("gives up to {} times as much", number::times(most)),
        (_, most) => gain(most),
    }
}

/// A median by so many times below the mean is told.
const FAR_BELOW: f64 = 1.5;

/// Whether both had settled, and are of one drive: not the one of it whole, and the other of what a lost die left.
pub(crate) fn is_gain_known(main: &Writes<'_>, other: &Writes<'_>) -> bool {
    let is_settled = |writes: &&Writes<'_>| writes.state == WindowState::Settled;
    [main, other].iter().all(is_settled) && main.lost_dies == other.lost_dies
}

fn spare_area(main: &Writes<'_>, other: &Writes<'_>) -> Sentence {
    let (mean, floor) = (other.outcome.steady_iops.mean, other.outcome.steady_iops.floor);
    let times = mean / main.outcome.steady_iops.mean.max(f64::MIN_POSITIVE);
    if !is_gain_known(main, other) {
        let text = format!(
            "With {} % of it unused it gives {} in the {}, {} in the worst second of that; what that gains is not \
             known, since {}.",
            other.spare_percent,
            number::iops(mean),
            match other.state {
                WindowState::Settled => "steady window of that",
                _ => "last part of the run",
            },
            number::count(floor),
            match main.state.max(other.state) {
                WindowState::TooShort => "the run was too short",
                WindowState::TooLittle => "too little was written",
                WindowState::Settling => "not both had settled",
                WindowState::Settled =>
                    "only one of the two is of the whole drive, before a die of it stopped working",
            }
        );
        return Sentence::new(text, &[("spare-area", "spare area")]);
    }
    let beside = match main.spare_percent {
        0.0 => String::new(),
        spare => format!(" over leaving {spare} %"),
    };
    // An average that most seconds are far below is no speed that one gets.
    let median = other.outcome.steady_iops.median;
    let (on_average, half) = match median * FAR_BELOW < mean {
        true => {
            (" on average", format!(", half of its seconds at {} or less", number::count(median)))
        }
        false => ("", String::new()),
    };
    let text = format!(
        "Leaving {} % of it unused {}{beside}{on_average}: {} once full{half}, {} in the worst steady second.",
        other.spare_percent,
        gain(times),
        number::iops(mean),
        number::count(floor),
    );
    Sentence::new(text, &[("spare-area", "spare area")])
}

/// A share of the first seconds that is lower than that of the whole pass by this is told.
const FAST_PART_IS_LESS: f64 = 0.9;

fn trim(outcome: &writecliff_suite::trim::Outcome, plan: &Plan) -> Sentence {
    let first = match plan {
        Plan::Trim(plan) => {
            // A whole pass may be over before.
            let or_less =
                if outcome.after_trim == outcome.whole_after_trim { " or less" } else { "" };
            format!("the first {}{or_less} of ", number::seconds(plan.measurement.as_secs_f64()))
        }
        _ => String::new(),
    };
    let over_all = match (outcome.whole_dirty, outcome.whole_after_trim) {
        (Some(dirty), Some(after)) if outcome.is_dirty_alike() => {
            let (times, dirty, after) = (
                gain(after / dirty.max(f64::MIN_POSITIVE)),
                number::megabytes_per_second(dirty),
                number::megabytes_per_second(after),
            );
            format!(
                "; over a whole pass, beside one after a later torture, it {times}: {dirty} and {after}"
            )
        }
        _ => String::new(),
    };
    let rate = number::megabytes_per_second;
    let told = |figure: &str, value: f64| {
        rate(value) + &outcome.changed(figure).map_or_else(String::new, |rate| course(rate, value))
    };
    let share = outcome.restored().map_or_else(String::new, |share| {
        // What a whole pass has of it, its fast part need not.
        let first = outcome.after_trim.map(|after| after / outcome.clean.max(f64::MIN_POSITIVE));
        let first = first.filter(|first| *first < share * FAST_PART_IS_LESS);
        // A share of two rates, or of one that was two, is two shares.
        let thirds = |name: &str, mean: f64| {
            outcome.changed(name).map_or([mean, mean], |rate| [rate.first, rate.last])
        };
        let is_two = ["clean", "after TRIM"].iter().any(|name| outcome.changed(name).is_some());
        let first = first.zip(outcome.after_trim).map_or_else(String::new, |(first, after)| {
            let [early, late] = thirds("after TRIM", after);
            let [clean_early, clean_late] = thirds("clean", outcome.clean);
            let of_thirds = [early / clean_early, late / clean_late].map(number::percent);
            match (is_two, of_thirds) {
                (false, _) => {
                    format!(", and its first seconds {} of the clean ones", number::percent(first))
                }
                (true, [early, late]) => format!(
                    ", and its first seconds {early} of the clean ones in their first third and {late} in their last"
                ),
            }
        });
        format!(
            "; a whole pass after it is {} of one on the clean drive{first}",
            number::percent(share)
        )
    });
    let after_idle = outcome.slower_after_idle().map_or_else(String::new, |idle| {
        let idle = told("after idle time", idle);
        format!("; idle time after the last torture leaves it slower than a torture, {idle}")
    });
    let share = share + &after_idle;
    let text = match (outcome.dirty, outcome.dirty_again, outcome.after_trim, outcome.gain()) {
        (Some(dirty), Some(again), Some(after), Some(times)) if !outcome.is_dirty_alike() => {
            let what = match times {
                1.0 => format!("gives no more than a dirty drive has in {first}sequential writes"),
                _ => format!("{} in {first}sequential writes", gain_over([dirty, again], after)),
            };
            format!(
                "TRIM {what}: {} right before it and {} after a later torture, {} after it{share}.",
                told("dirty", dirty),
                told("dirty again", again),
                told("after TRIM", after),
            )
        }
        (Some(dirty), _, Some(after), Some(times)) => format!(
            "TRIM {} in {first}sequential writes: {} on the dirty drive, {} after{over_all}{share}.",
            gain(times),
            told("dirty", dirty),
            told("after TRIM", after),
        ),
        _ if outcome.after_idle.is_some() => "It takes no TRIM.".to_owned(),
        _ => "The test of TRIM did not come to its end.".to_owned(),
    };
    Sentence::new(text, &[("trim", "TRIM")])
}

/// A drive that gets less even by more spare area surprises: it is said.
fn less_even(main: &Writes<'_>, more: &[Writes<'_>]) -> Option<Sentence> {
    let share = |writes: &Writes<'_>| writes.outcome.floor_to_mean;
    let comparable = more.iter().filter(|writes| is_gain_known(main, writes));
    let least = comparable.min_by(|a, b| share(a).total_cmp(&share(b)))?;
    if share(least) > share(main) - LESS_EVEN {
        return None;
    }
    // A mean that is higher has a floor farther below it.
    let variation = |writes: &Writes<'_>| writes.outcome.steady_iops.variation;
    if variation(least) <= variation(main) {
        return None;
    }
    // It may be for another reason.
    if main.in_doubt.steady || least.in_doubt.steady {
        return None;
    }
    let without = match main.spare_percent {
        0.0 => "without".to_owned(),
        spare => format!("with {spare} %"),
    };
    let text = format!(
        "With {} % unused it is less steady: the worst steady second is {} of the mean, and {} {without}.",
        least.spare_percent,
        number::percent(share(least)),
        number::percent(share(main)),
    );
    let sentence = Sentence::new(text, &[("spare-area", "spare area")]);
    Some(in_doubt(main.in_doubt.steady || least.in_doubt.steady, sentence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::writes::tests::{outcome, settled};

    /// A mean that is higher has a floor farther below it.
    #[test]
    fn more_spare_area_makes_less_steady_only_where_seconds_vary_more() {
        let said = |without: &[f64], with: &[f64]| {
            let outcomes = [without, with].map(|seconds| outcome(seconds, 1, 1));
            let main = settled(&outcomes[0], without);
            let more = Writes { spare_percent: 25.0, ..settled(&outcomes[1], with) };
            less_even(&main, &[more]).is_some()
        };
        let bursts: Vec<f64> = (0..100).map(|at| if at < 2 { 66_000.0 } else { 6_300.0 }).collect();
        let falls: Vec<f64> = (0..100).map(|at| if at < 2 { 6_400.0 } else { 66_000.0 }).collect();
        assert!(!said(&bursts, &falls));
        assert!(said(&[6_300.0; 100], &falls));
    }

    #[test]
    fn what_trim_gives_a_drive_that_was_in_two_states_has_both_ends() {
        assert_eq!(gain_over([13.3, 70.9], 337.0), "gives 4.8 to 25 times as much");
        assert_eq!(gain_over([70.9, 13.3], 337.0), "gives 4.8 to 25 times as much");
        assert_eq!(gain_over([13.3, 270.0], 337.0), "gives up to 25 times as much");
        assert_eq!(gain_over([300.0, 250.0], 337.0), "gains 35 %");
    }

    #[test]
    fn rates_of_trim_that_were_two_are_told_as_two() {
        let rate = |figure: &str| writecliff_suite::trim::ChangedRate {
            figure: figure.to_owned(),
            first: 300.0,
            last: 146.0,
        };
        let outcome = writecliff_suite::trim::Outcome {
            clean: 180.0,
            dirty: Some(11.1),
            after_trim: Some(180.0),
            dirty_again: Some(11.1),
            after_pass: None,
            after_idle: None,
            whole_clean: None,
            whole_dirty: None,
            whole_after_trim: None,
            trim_took: None,
            fast_part: None,
            changed: vec![rate("after TRIM"), rate("after idle time")],
        };
        let said = trim(&outcome, &Plan::Trim(writecliff_suite::trim::Plan::default())).text;
        let expected = "11.1 MB/s on the dirty drive, 180 MB/s (300 MB/s in its first third, 146 MB/s in its last) after.";
        assert!(said.ends_with(expected), "{said}");
        let outcome = writecliff_suite::trim::Outcome {
            after_idle: Some(1.17),
            changed: Vec::new(),
            ..outcome
        };
        let said = trim(&outcome, &Plan::Trim(writecliff_suite::trim::Plan::default())).text;
        let expected =
            "; idle time after the last torture leaves it slower than a torture, 1.17 MB/s.";
        assert!(said.ends_with(expected), "{said}");
    }

    #[test]
    fn a_gain_that_most_seconds_do_not_have_says_so() {
        let bursts = [&[3_400.0; 80][..], &[80_000.0; 20]].concat();
        let outcomes = [&vec![3_400.0; 100], &bursts, &vec![6_800.0; 100]]
            .map(|seconds| outcome(seconds, 1_000, 2_000));
        let [main, bursts, level] = [&outcomes[0], &outcomes[1], &outcomes[2]]
            .map(|outcome| settled(outcome, &[3_400.0; 100]));
        let said = spare_area(&main, &bursts).text;
        assert!(
            said.contains("times as much on average: ")
                && said.contains(", half of its seconds at 3,400 or less, "),
            "{said}"
        );
        assert!(!spare_area(&main, &level).text.contains("average"));
    }

    #[test]
    fn what_spare_area_gives_is_not_told_from_what_a_die_took() {
        let seconds = [100.0; 100];
        let outcomes =
            [1.0, 2.0].map(|times| outcome(&seconds.map(|rate| rate * times), 1_000, 2_000));
        let told = |lost_dies: [u64; 2]| {
            let [main, other] = [(0, 0.0), (1, 25.0)].map(|(at, spare_percent)| Writes {
                spare_percent,
                lost_dies: lost_dies[at],
                ..settled(&outcomes[at], &seconds)
            });
            spare_area(&main, &other).text
        };
        for (lost_dies, is_known) in
            [([0, 0], true), ([1, 1], true), ([1, 0], false), ([0, 1], false)]
        {
            let text = told(lost_dies);
            assert_eq!(text.contains("times as much"), is_known, "{text}");
            assert_eq!(text.contains("a die of it stopped working"), !is_known, "{text}");
        }
    }

    #[test]
    fn only_the_spare_area_that_makes_it_less_steady_is_said_to() {
        let seconds = |floor: f64| [&[floor][..], &[100.0; 99]].concat();
        let [sold, better, worse] = [85.0, 97.0, 57.0].map(seconds);
        let outcomes = [&sold, &better, &worse].map(|seconds| outcome(seconds, 1_000, 2_000));
        let writes = |at: usize, seconds: &[f64], spare_percent: f64| Writes {
            spare_percent,
            ..settled(&outcomes[at], seconds)
        };
        let main = writes(0, &sold, 0.0);
        let more = |with_worse: bool| {
            let mut more = vec![writes(1, &better, 10.0)];
            more.extend(with_worse.then(|| writes(2, &worse, 40.0)));
            less_even(&main, &more).map(|sentence| sentence.text)
        };
        assert_eq!(more(false), None);
        let mut in_doubt = writes(2, &worse, 40.0);
        in_doubt.in_doubt.steady = true;
        assert!(less_even(&main, &[in_doubt]).is_none(), "it may be for another reason");
        assert_eq!(
            more(true).unwrap(),
            "With 40 % unused it is less steady: the worst steady second is 57 % of the mean, and 85 % without."
        );
    }

    #[test]
    fn a_gain_of_9_percent_is_not_nothing() {
        let said = [0.88, 0.99, 1.02, 1.09, 3.46].map(gain);
        let expected = [
            "costs 12 %",
            "gains nothing",
            "gains nothing",
            "gains 9 %",
            "gives 3.5 times as much",
        ];
        assert_eq!(said, expected);
    }
}
