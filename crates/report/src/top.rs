//! The first screen: one sentence, the figures that matter, the picture of the whole run; of several
//! drives a ranking.

use writecliff_device::Operation;
use writecliff_suite::consistency::{FallCause, WorstSecond};
use writecliff_suite::corners::Data;
use writecliff_suite::{
    FastPart, Good, Outcome, Plan, Stage, WindowState, are_apart, consistency, corners,
    is_hard_disk, storage_bench, trim,
};

use crate::number::NONE;
use crate::run::{InDoubt, Run};
use crate::section::{Cell, RankedBy, Ranking, Section, Tile, View};
use crate::sections::trim::MORE_THAN_CLEAN;
use crate::subject::Subject;
use crate::subjects::Subjects;
use crate::verdict::{headlines, is_gain_known, main as main_sentences, published};
use crate::writes::{Writes, of_writes_in, what_failed, writes};
use crate::{buffer, number};

/// What it comes to, in one sentence; empty if nothing may be concluded.
pub(crate) fn headline(subjects: &Subjects<'_>) -> String {
    if !subjects.is_result() {
        return String::new();
    }
    match subjects.all {
        [subject] => of_one(subject),
        _ if subjects.is_equal_load(consistency::Plan::NAME) => of_several(subjects),
        _ => String::new(),
    }
}

fn of_one(subject: &Subject) -> String {
    let all = writes(subject);
    let Some(main) = all.first() else {
        let of_tests = || headlines(subject).next();
        let of_writes = || main_sentences(subject).into_iter().next();
        let is_consistency = |run: &Run| matches!(run.record.plan, Plan::Consistency(_));
        let told = match subject.runs.iter().any(is_consistency) {
            true => of_writes().or_else(of_tests),
            false => of_tests().or_else(of_writes),
        };
        return told.map_or_else(String::new, |sentence| sentence.text);
    };
    let outcome = &main.outcome;
    let unused = match main.spare_percent {
        0.0 => String::new(),
        spare => format!(" with {spare} % unused"),
    };
    let block = number::size(writecliff_device::Bytes(main.block));
    let writes = format!("{block} random writes{unused}");
    let [fresh, mean] = [outcome.fresh_iops, outcome.steady_iops.mean].map(number::count);
    let fall = fall(main, &writes);
    let floor = number::count(outcome.steady_iops.floor);
    let worst = before_the_window(outcome).map_or_else(String::new, |worst| {
        let (iops, second) = (number::count(worst.iops), f64::from(worst.second));
        format!(", that of all is {iops}, after {}", number::seconds(second))
    });
    let failed = what_failed(subject).map_or_else(String::new, |failed| format!(" {failed}"));
    let undone = undone(subject) + &failed;
    if main.state == WindowState::TooShort && outcome.cliff_s.is_none() {
        let of = if main.seconds < 10.0 { "its seconds" } else { "the first ten seconds" };
        return format!(
            "{writes}, {}: {fresh} IOPS as the median of {of}, {mean} in the last part, {floor} \
             in the worst second of that; too short to say more.{undone}",
            number::seconds(main.seconds)
        );
    }
    let said = match main.state {
        WindowState::Settled => {
            format!("{fall}; the worst second of the steady state is {floor}{worst}.")
        }
        WindowState::Settling => {
            format!(
                "{fall} and have not settled; the worst second of the last part is {floor}{worst}."
            )
        }
        WindowState::TooLittle => format!(
            "{fall}; too little was written to say whether that stays; the worst second of the last part is \
             {floor}{worst}."
        ),
        WindowState::TooShort => format!("{fall}; the run was too short to say more."),
    };
    let doubtful = main.doubtful().map_or_else(String::new, |doubtful| format!(" {doubtful}"));
    format!("{said}{undone}{doubtful}")
}

/// What the random writes do: whether and when they fall, and to what.
fn fall(main: &Writes<'_>, writes: &str) -> String {
    let outcome = &main.outcome;
    let [fresh, mean] = [outcome.fresh_iops, outcome.steady_iops.mean].map(number::count);
    match (outcome.cliff_s, outcome.other_fall()) {
        (Some(second), _) if main.outcome.came_back() => {
            let second = number::seconds(f64::from(second));
            format!(
                "{writes} fall below half of {fresh} IOPS after {second} {}, and come back to {mean} on average",
                outcome.how_long()
            )
        }
        (Some(second), _) => {
            let second = number::seconds(f64::from(second));
            format!("{writes} fall after {second}, from {fresh} to {mean} IOPS on average")
        }
        (None, Some((second, cause))) => {
            let second = number::seconds(f64::from(second));
            let when = match cause {
                FallCause::Heat => "when the drive is too warm",
                FallCause::LostDie => "with a die that stopped working",
            };
            format!("{writes} fall after {second}, {when}, from {fresh} to {mean} IOPS on average")
        }
        (None, None) if let Some(first) = outcome.fell_from_iops => {
            let first = number::count(first);
            format!(
                "{writes} fall within their first seconds, from {first} to {mean} IOPS on average"
            )
        }
        (None, None) => {
            let time = number::seconds(main.seconds);
            format!(
                "{writes} meet no cliff in {time}: {mean} IOPS in the end, {}",
                main.of_fresh_in_words()
            )
        }
    }
}

/// What a run that did not come to its end says of that.
fn undone(subject: &Subject) -> String {
    let of_it = |run: &&Run| run.record.plan.name() == of_writes_in(subject) && !run.is_complete();
    let run = subject.runs.iter().find(of_it);
    run.map_or_else(String::new, |run| {
        format!(" The run is not complete: {}.", run.status_in_short())
    })
}

/// The worst second of all, if it came before the steady window and was worse than any in that.
fn before_the_window(outcome: &consistency::Outcome) -> Option<WorstSecond> {
    outcome.worst.filter(|worst| worst.iops < outcome.steady_iops.floor)
}

/// Who keeps the most, and the least, in the worst second of the steady window; of those only whose
/// figures are in no doubt.
fn of_several(subjects: &Subjects<'_>) -> String {
    let (mut floors, mut in_doubt) = (Vec::<(usize, f64)>::new(), Vec::new());
    for (index, subject) in subjects.all.iter().enumerate() {
        let all = writes(subject);
        // Drives are compared as they are sold, or not at all.
        let Some(main) = all.first().filter(|main| main.spare_percent == 0.0) else { continue };
        match subject.is_doubtful_at(Stage::Later, consistency::Plan::NAME) {
            true => in_doubt.push(subjects.full_name(index)),
            false => floors.push((index, main.outcome.steady_iops.floor)),
        }
    }
    floors.sort_by(|a, b| b.1.total_cmp(&a.1));
    let compared = match &floors[..] {
        [(best, high), .., (worst, low)] if high > low => {
            let alike = match are_apart(*high, *low) {
                true => "",
                false => ", which single runs do not tell apart",
            };
            format!(
                "In the worst second of its steady window, {} still writes {}; {} writes {}{alike}.",
                subjects.full_name(*best),
                number::iops(*high),
                subjects.full_name(*worst),
                number::count(*low),
            )
        }
        _ => String::new(),
    };
    // Where none is compared it is named here.
    let by = match compared.is_empty() {
        true => "and not ranked by the worst second of the steady window",
        false => "there, and not ranked by it",
    };
    let left_out = match &in_doubt[..] {
        [] => String::new(),
        [one] => format!(" {one} is in doubt {by}."),
        [some @ .., last] => format!(" {} and {last} are in doubt {by}.", some.join(", ")),
    };
    (compared + &left_out).trim_start().to_owned()
}

/// Fresh, cliff, floor, 99.9th percentile, gain from spare area; of one drive with random writes.
pub(crate) fn tiles(subjects: &Subjects<'_>) -> Vec<Tile> {
    let [subject] = subjects.all else { return Vec::new() };
    let all = writes(subject);
    let Some(main) = all.first() else { return Vec::new() };
    let outcome = &main.outcome;
    let caution = subject.no_result_in(consistency::Plan::NAME);
    let tile = |name: &str, value: String, note: String, in_doubt: bool, see: &str| Tile {
        name: name.to_owned(),
        value,
        note: caution.map_or_else(
            || if in_doubt { format!("{note}, in doubt") } else { note },
            str::to_owned,
        ),
        see: see.to_owned(),
    };
    let rate = number::megabytes_per_second(outcome.fresh_iops * main.block as f64 / 1e6);
    let latency = outcome.steady_latency;
    let InDoubt { fresh, steady, .. } = main.in_doubt;
    let mut tiles = vec![
        tile("Fresh", number::iops(outcome.fresh_iops), rate, fresh, "consistency-whole"),
        // What it falls to is of the end.
        cliff(main, &|name, value, note| {
            tile(name, value, note, fresh || steady, "consistency-whole")
        }),
        tile(
            floor_name(main),
            number::iops(outcome.steady_iops.floor),
            format!("{} of the mean", number::percent(outcome.floor_to_mean)),
            steady,
            "consistency-range",
        ),
    ];
    let half = || {
        format!("half within {}, in the {}", number::service_time(latency.p50_ns), main.window())
    };
    tiles.extend(latency.p999_ns.map(|nanos| {
        let (name, value) = ("99.9 % of writes within", number::service_time(nanos));
        tile(name, value, half(), steady, "consistency-latency-map")
    }));
    // A disk that is used in part has shorter ways, and no spare area.
    let more = published(&all[1..]).filter(|_| !is_hard_disk(subject.drive()));
    let more = more.and_then(|other| Some((other, gain(main, other)?)));
    tiles.extend(more.map(|(other, times)| {
        let value = format!("× {}", number::times(times));
        let beside = match main.spare_percent {
            0.0 => String::new(),
            spare => format!(", over that with {spare} %"),
        };
        let note = format!(
            "{} with {} % unused{beside}",
            number::iops(other.outcome.steady_iops.mean),
            other.spare_percent,
        );
        let in_doubt = steady || other.in_doubt.steady;
        tile("Gain from spare area", value, note, in_doubt, "spare-area")
    }));
    tiles
}

fn cliff(main: &Writes<'_>, tile: &dyn Fn(&str, String, String) -> Tile) -> Tile {
    let outcome = &main.outcome;
    let note = format!("then {} on average", main.of_fresh_in_words());
    match outcome.cliff_s {
        Some(second) if main.outcome.came_back() => {
            let value = number::seconds(f64::from(second));
            tile(
                "Falls after",
                value,
                format!(
                    "below half of fresh {}; in the end {} on average",
                    outcome.how_long(),
                    main.of_fresh_in_words()
                ),
            )
        }
        Some(second) => {
            let value = number::seconds(f64::from(second));
            tile("Cliff after", value, note)
        }
        None if main.is_too_short_for_a_cliff() => {
            let note = format!("{} are too short to tell", number::seconds(main.seconds));
            tile("Cliff", "not known".to_owned(), note)
        }
        None if outcome.may_have_fallen() => {
            let fell = match outcome.other_fall() {
                Some((_, FallCause::Heat)) => "while it was too warm",
                Some((_, FallCause::LostDie)) => "with a die that stopped working",
                None => "within its first seconds",
            };
            tile("Cliff", "not known".to_owned(), format!("it fell {fell}; {note}"))
        }
        None => {
            let note = format!("in {}; {note}", number::seconds(main.seconds));
            tile("Cliff", "none".to_owned(), note)
        }
    }
}

fn floor_name(main: &Writes<'_>) -> &'static str {
    match main.state {
        WindowState::Settled => "Worst steady second",
        WindowState::Settling | WindowState::TooLittle | WindowState::TooShort => {
            "Worst second of the last part"
        }
    }
}

/// Of the means once full, if it is known.
fn gain(main: &Writes<'_>, other: &Writes<'_>) -> Option<f64> {
    let times = other.outcome.steady_iops.mean / main.outcome.steady_iops.mean.max(1e-9);
    is_gain_known(main, other).then_some(times)
}

/// A figure that decides between drives.
struct By {
    name: &'static str,
    unit: &'static str,
    meaning: &'static str,
    /// `None` for what is no merit: a cliff comes later on a drive that is slower before it.
    good: Option<Good>,
    /// The test that must have been the same for all.
    test: &'static str,
    /// When the drive gave it, in that test.
    stage: Stage,
    /// In which part of the test, if it has several.
    part: fn(&Subject) -> Option<String>,
    value: fn(&Subject) -> Option<Cell>,
}

const RANKED_BY: &[By] = &[
    By {
        name: "Fresh",
        unit: "IOPS",
        meaning: "random writes in the beginning, before any write cliff",
        good: Some(Good::AtLeast),
        test: consistency::Plan::NAME,
        stage: Stage::Fresh,
        part: |_| None,
        value: |subject| of_writes(subject, |main| Some(main.outcome.fresh_iops), number::count),
    },
    By {
        name: "Cliff after",
        unit: "s",
        meaning: "when random writes fall below half of fresh, for ten seconds on average",
        good: None,
        test: consistency::Plan::NAME,
        stage: Stage::Fresh,
        part: |_| None,
        value: cliff_cell,
    },
    By {
        name: "Median once full",
        unit: "IOPS",
        meaning: "the middle second of the steady window, or of the last part where there is none",
        good: Some(Good::AtLeast),
        test: consistency::Plan::NAME,
        stage: Stage::Later,
        part: |_| None,
        value: |subject| {
            of_writes(subject, |main| Some(main.outcome.steady_iops.median), number::count)
        },
    },
    By {
        name: "Floor",
        unit: "IOPS",
        meaning: "the worst second of the steady window, or of the last part",
        good: Some(Good::AtLeast),
        test: consistency::Plan::NAME,
        stage: Stage::Later,
        part: |_| None,
        value: |subject| {
            of_writes(subject, |main| Some(main.outcome.steady_iops.floor), number::count)
        },
    },
    By {
        name: "99.9 % of writes within",
        unit: "ms",
        meaning: "service time in the steady window, or in the last part",
        good: Some(Good::AtMost),
        test: consistency::Plan::NAME,
        stage: Stage::Later,
        part: |_| None,
        value: |subject| {
            let millis = |main: &Writes<'_>| {
                main.outcome.steady_latency.p999_ns.map(|nanos| nanos as f64 / 1e6)
            };
            of_writes(subject, millis, number::significant)
        },
    },
    By {
        name: "Gain from spare area",
        unit: "×",
        meaning: "average once full with about 25 % left unused, over that without",
        // Who is worst without gains the most.
        good: None,
        test: consistency::Plan::NAME,
        stage: Stage::Later,
        part: |_| None,
        value: |subject| {
            let all = writes(subject);
            let main = all.first().filter(|main| main.spare_percent == 0.0)?;
            let other = published(&all[1..])?;
            let times = gain(main, other)?;
            let in_doubt = main.in_doubt.steady || other.in_doubt.steady;
            Some(Cell { in_doubt, ..Cell::new(number::times(times), Some(times)) })
        },
    },
    By {
        name: "Sustained write",
        unit: "MB/s",
        meaning: "the sequential fill; where the drive has a fast buffer, on average beyond it",
        good: Some(Good::AtLeast),
        test: consistency::Plan::NAME,
        stage: Stage::Fill,
        part: |_| None,
        value: |subject| {
            let fill =
                || writes(subject).first().and_then(|main| main.outcome.fill_megabytes_per_second);
            of_buffer(subject, |part| part.slow_megabytes_per_second).or_else(|| fill().map(rate))
        },
    },
    By {
        name: "In the buffer",
        unit: "MB/s",
        meaning: "sequential writes into the fast buffer",
        good: Some(Good::AtLeast),
        test: consistency::Plan::NAME,
        stage: Stage::Fill,
        part: |_| None,
        value: |subject| of_buffer(subject, |part| part.fast_megabytes_per_second),
    },
    By {
        name: "Random read",
        unit: "IOPS",
        meaning: "as the corners test has them",
        good: Some(Good::AtLeast),
        test: corners::Plan::NAME,
        stage: Stage::Later,
        part: |subject| Some(corner(subject, true)?.corner.phase()),
        value: |subject| {
            let iops = corner(subject, true)?.rate.iops;
            Some(Cell::new(number::thousands(iops), Some(iops)))
        },
    },
    By {
        name: "Sequential read",
        unit: "MB/s",
        meaning: "one at a time",
        good: Some(Good::AtLeast),
        test: corners::Plan::NAME,
        stage: Stage::Later,
        part: |subject| Some(corner(subject, false)?.corner.phase()),
        value: |subject| Some(rate(corner(subject, false)?.rate.megabytes_per_second)),
    },
    By {
        name: "After TRIM",
        unit: "%",
        meaning: "a whole pass of sequential writes after TRIM, as a share of one on the clean drive",
        good: Some(Good::AtLeast),
        test: trim::Plan::NAME,
        stage: Stage::Later,
        part: |_| None,
        value: |subject| {
            let restored = restored(subject)?;
            let text = number::percent(restored).trim_end_matches(" %").to_owned();
            // More than all of it is no merit of TRIM's: the clean pass was the slow one.
            Some(Cell::new(text, Some(restored.min(1.0) * 100.0)))
        },
    },
    By {
        name: "Application trace",
        unit: "MB/s",
        meaning: "average data rate of the first trace of the storage bench",
        good: Some(Good::AtLeast),
        test: storage_bench::Plan::NAME,
        stage: Stage::Later,
        part: |_| None,
        value: |subject| {
            let served = outcome(subject, |outcome| match outcome {
                Outcome::StorageBench(outcome) => outcome.traces.first(),
                _ => None,
            })?;
            Some(rate(served.all.megabytes_per_second))
        },
    },
];

/// Of several drives that did the same; columns that only one of them has are left out.
pub(crate) fn ranking(subjects: &Subjects<'_>) -> Option<Ranking> {
    if !subjects.is_comparison() || !subjects.is_result() {
        return None;
    }
    let (mut columns, mut cells) = (Vec::new(), Vec::new());
    for by in RANKED_BY.iter().filter(|by| subjects.is_equal_load(by.test)) {
        let cell = |subject: &Subject| {
            let test = match by.test {
                consistency::Plan::NAME => of_writes_in(subject),
                other => other,
            };
            let part = (by.part)(subject);
            let in_doubt = subject.is_part_doubtful_at(by.stage, test, part.as_deref());
            (by.value)(subject).map(|cell| Cell { in_doubt: in_doubt || cell.in_doubt, ..cell })
        };
        let values: Vec<Option<Cell>> = subjects.all.iter().map(cell).collect();
        if values.iter().flatten().count() > 1 {
            let (name, meaning) = (by.name.to_owned(), by.meaning.to_owned());
            columns.push(RankedBy { name, unit: by.unit.to_owned(), meaning, good: by.good });
            cells.push(values);
        }
    }
    let row = |index: usize| {
        let cell = |values: &Vec<Option<Cell>>| {
            values[index].clone().unwrap_or_else(|| Cell::from(NONE.to_owned()))
        };
        cells.iter().map(cell).collect()
    };
    let rows = (0..subjects.all.len()).map(row).collect();
    let mut ranking = (!columns.is_empty()).then(|| Ranking::new(columns, rows))?;
    let is_more_than_all =
        |subject| restored(subject).is_some_and(|share| number::percent(share.max(1.0)) != "100 %");
    if subjects.is_equal_load(trim::Plan::NAME) && subjects.all.iter().any(is_more_than_all) {
        let note = format!("{} {}", ranking.note, MORE_THAN_CLEAN);
        note.trim_start().clone_into(&mut ranking.note);
    }
    Some(ranking)
}

/// What a whole pass after TRIM has of the clean drive's rate.
fn restored(subject: &Subject) -> Option<f64> {
    outcome(subject, |outcome| match outcome {
        Outcome::Trim(outcome) => outcome.restored(),
        _ => None,
    })
}

fn rate(megabytes_per_second: f64) -> Cell {
    let text = number::significant(megabytes_per_second);
    Cell::new(text, Some(megabytes_per_second))
}

/// A figure of the fast buffer, in doubt where that of the run is which found it.
fn of_buffer(subject: &Subject, value: fn(FastPart) -> f64) -> Option<Cell> {
    let (run, part) = buffer::found(subject)?;
    Some(Cell { in_doubt: buffer::is_in_doubt(run), ..rate(value(part)) })
}

/// A figure of the random writes without more spare area.
fn of_writes(
    subject: &Subject,
    value: fn(&Writes<'_>) -> Option<f64>,
    words: fn(f64) -> String,
) -> Option<Cell> {
    let all = writes(subject);
    let main = all.first().filter(|main| main.spare_percent == 0.0)?;
    let number = value(main)?;
    // Too few seconds are shown and not ranked.
    let ranked = (main.state != WindowState::TooShort).then_some(number);
    Some(Cell::new(words(number), ranked))
}

/// A drive without a cliff has at least not met it as long as it was tested.
fn cliff_cell(subject: &Subject) -> Option<Cell> {
    let all = writes(subject);
    let main = all.first().filter(|main| main.spare_percent == 0.0)?;
    // Having no cliff is worth something only if there was time for one.
    let had_time = |run: &Run| run.had_time_for_a_cliff(consistency::TORTURE);
    let is_disk = subject.runs.iter().any(|run| run.record.drive.rotational);
    Some(match main.outcome.cliff_s.map(f64::from) {
        None if main.outcome.may_have_fallen() || main.is_too_short_for_a_cliff() => {
            Cell::new("not known".to_owned(), None)
        }
        Some(second) => Cell::new(number::thousands(second), Some(second)),
        None if is_disk => Cell::new("none".to_owned(), None),
        None => Cell::new(
            format!("over {}", number::thousands(main.seconds)),
            subject.runs.iter().any(had_time).then_some(main.seconds),
        ),
    })
}

fn corner(subject: &Subject, random: bool) -> Option<&corners::CornerFigures> {
    let outcome = outcome(subject, |outcome| match outcome {
        Outcome::Corners(outcome) => Some(outcome),
        _ => None,
    })?;
    let is_it = |figures: &&corners::CornerFigures| {
        let corner = figures.corner;
        (corner.operation, corner.random, corner.data) == (Operation::Read, random, Data::Random)
    };
    outcome.corners.iter().find(is_it)
}

fn outcome<'a, T>(subject: &'a Subject, of: impl Fn(&'a Outcome) -> Option<T>) -> Option<T> {
    let outcomes = subject.runs.iter().rev().filter_map(|run| run.record.outcome.as_ref());
    outcomes.filter_map(of).next()
}

/// Takes the picture of the first screen out of the sections: the first that is not shown on demand
/// only.
pub(crate) fn first(sections: &mut [Section]) -> Option<View> {
    let views = sections.iter_mut().map(|section| &mut section.views);
    views
        .filter_map(|views| {
            let at = views.iter().position(|view| !view.more)?;
            Some(views.remove(at))
        })
        .next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::writes::tests::{outcome, settled};

    #[test]
    fn writes_that_fall_and_come_back_meet_no_cliff() {
        let tile = |name: &str, value: String, note: String| Tile {
            name: name.to_owned(),
            value,
            note,
            see: String::new(),
        };
        // Of 60,000 fresh, below half after 60 s.
        let told = |iops: f64| {
            let outcome = outcome(&[iops; 100], 1_000, 2_000);
            let writes = settled(&outcome, &[iops; 100]);
            let tile = cliff(&writes, &tile);
            (fall(&writes, "They"), format!("{} {}: {}", tile.name, tile.value, tile.note))
        };
        let (low, back) = (told(20_000.0), told(45_000.0));
        assert_eq!(low.0, "They fall after 60 s, from 60,000 to 20,000 IOPS on average");
        assert_eq!(low.1, "Cliff after 60 s: then 33 % of fresh on average");
        assert_eq!(
            back.0,
            "They fall below half of 60,000 IOPS after 60 s for a while, and come back to 45,000 on average"
        );
        assert_eq!(
            back.1,
            "Falls after 60 s: below half of fresh for a while; in the end 75 % of fresh on average"
        );
    }
}
