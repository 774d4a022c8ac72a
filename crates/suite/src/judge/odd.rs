//! Figures of one test that contradict each other: what a reader would stumble over is said before he
//! does, with both figures.

use writecliff_device::{Bytes, Layout};
use writecliff_workload::Gaps;

use crate::list::Outcome;
use crate::record::number::in_words;
use crate::record::rate::Rate;
use crate::record::unit::Unit;
use crate::record::warning::{MethodWarning, Warning};
use crate::tests::commit::{self, Commits, Setting, Stage};
use crate::tests::transfer_size::{self, SizeFigures};
use crate::tests::{corners, latency_at_load, queue_depth};

/// More in flight, or a larger transfer, is not slower than this share of less.
const SLOWER: f64 = 0.8;
/// A smaller transfer has at least this share of what its size would give it of a larger one's rate.
const FAIR: f64 = 1.0 / 3.0;

/// A commit takes no more than so many times what as many bytes take in commits that are smaller, nor than
/// one that has more to do.
const COMMITS: f64 = 2.0;

/// A figure and what it is of.
type Told = (String, f64);

/// One of a size's rates.
type RateOf = fn(&SizeFigures) -> Option<f64>;

/// Every pair of figures of an outcome of which one cannot be if the other is.
pub(crate) fn odd(outcome: &Outcome) -> Vec<Warning> {
    match outcome {
        Outcome::TransferSize(outcome) => transfer_sizes(outcome),
        Outcome::QueueDepth(outcome) => queue_depths(outcome),
        Outcome::Corners(outcome) => corners(outcome),
        Outcome::LatencyAtLoad(outcome) => latencies(outcome),
        Outcome::Commit(outcome) => commits(outcome),
        _ => Vec::new(),
    }
}

/// Transfers of growing size.
fn transfer_sizes(outcome: &transfer_size::Outcome) -> Vec<Warning> {
    let rates: [(&str, RateOf); 2] =
        [("writes", |figures| Some(figures.write)), ("reads", |figures| figures.read)];
    let of_rate = rates.into_iter().flat_map(|(what, rate)| {
        let sizes: Vec<(Bytes, f64)> =
            outcome.sizes.iter().filter_map(|one| Some((one.size, rate(one)?))).collect();
        let slow =
            out_of_line(sizes.iter().copied(), |large, small| large.1 < small.1 * SLOWER / 1.6);
        let slowed_by_size = |small: &(Bytes, f64), large: &(Bytes, f64)| {
            small.1 < large.1 * FAIR * small.0.0 as f64 / large.0.0 as f64
        };
        let unfair = out_of_line(sizes.iter().rev().copied(), slowed_by_size);
        let told = move |(size, rate): (Bytes, f64)| (format!("{what} of {}", size.exact()), rate);
        slow.into_iter().chain(unfair).map(move |(mut odd, than)| {
            let first = told(odd.remove(0));
            let others = odd.into_iter().map(|one| told(one).0).collect();
            contradiction_with(first, others, told(than), Unit::MegabytesPerSecond)
        })
    });
    of_rate.collect()
}

/// Those that do not go with the last before them that does, one or several after each other, and that one.
fn out_of_line<T: Copy>(
    all: impl Iterator<Item = T>,
    is_out: impl Fn(&T, &T) -> bool,
) -> Vec<(Vec<T>, T)> {
    let (mut found, mut in_line): (Vec<(Vec<T>, T)>, Option<T>) = (Vec::new(), None);
    let mut goes_on = false;
    for one in all {
        match in_line.filter(|held| is_out(&one, held)) {
            Some(held) => {
                match found.last_mut().filter(|_| goes_on) {
                    Some((out, _)) => out.push(one),
                    None => found.push((vec![one], held)),
                }
                goes_on = true;
            }
            None => (in_line, goes_on) = (Some(one), false),
        }
    }
    found
}

/// More and more in flight; and what gives another figure in another order.
fn queue_depths(outcome: &queue_depth::Outcome) -> Vec<Warning> {
    let mut found = Vec::new();
    for load in &outcome.loads {
        let depends = load.depths.iter().filter_map(|depth| Some((depth, depth.iops_again?)));
        let depends = depends.filter(|(depth, again)| {
            let (less, more) = (depth.rate.iops.min(*again), depth.rate.iops.max(*again));
            less < more * SLOWER
        });
        let far = |(depth, again): &(&queue_depth::DepthFigures, f64)| {
            (depth.rate.iops / again).ln().abs()
        };
        if let Some((depth, again)) = depends.clone().max_by(|a, b| far(a).total_cmp(&far(b))) {
            let times = again / depth.rate.iops.max(f64::MIN_POSITIVE);
            let (first, unit) = counted(load.load.random, &depth.rate);
            let [first, again] = [first, first * times].map(|rate| told(rate, unit));
            let name = |depth: &queue_depth::DepthFigures| format!("QD{}", depth.queue_depth);
            let others =
                depends.map(|(one, _)| name(one)).filter(|one| *one != name(depth)).collect();
            let what = format!("{} at {}", load.load.name().replace('-', " "), name(depth));
            found.push(Warning::Method(MethodWarning::OfOrder { what, others, first, again }));
        }
        let mut depths: Vec<_> = load.depths.iter().collect();
        depths.sort_by_key(|depth| depth.queue_depth);
        for pair in depths.windows(2) {
            let [less, more] = pair else { continue };
            if more.rate.iops < less.rate.iops * SLOWER {
                let told_of = |depth: &queue_depth::DepthFigures| {
                    let name = load.load.name().replace('-', " ");
                    let (rate, _) = counted(load.load.random, &depth.rate);
                    (format!("{name} at QD{}", depth.queue_depth), rate)
                };
                let (_, unit) = counted(load.load.random, &more.rate);
                found.push(contradiction(told_of(more), told_of(less), unit));
            }
        }
    }
    found
}

/// Response times that more load shortens.
fn latencies(outcome: &latency_at_load::Outcome) -> Vec<Warning> {
    let courses = outcome.loads.iter().flat_map(|load| {
        let name = load.load.name().replace('-', " ");
        load.courses.iter().map(move |course| (name.clone(), course))
    });
    let found = courses.filter_map(|(load, course)| {
        let arrive = match course.gaps {
            Gaps::Poisson => "at random moments",
            Gaps::Steady => "at equal steps",
        };
        let (less, more) = latency_at_load::outlier(&course.steps)?;
        Some((format!("{load}, arriving {arrive}"), less, more))
    });
    let told = |step: &latency_at_load::Step| {
        in_words((step.rate.mean_ns as f64 / 1e3).round() / 1e3, Unit::Milliseconds)
    };
    let odd = found.map(|(course, less, more)| MethodWarning::NoKnee {
        course: Some(course),
        less: less.percent,
        took: told(less),
        more: more.percent,
        took_then: told(more),
    });
    odd.map(Warning::Method).collect()
}

/// Corners that differ by nothing but how much is in flight.
fn corners(outcome: &corners::Outcome) -> Vec<Warning> {
    let mut found = Vec::new();
    for less in &outcome.corners {
        for more in &outcome.corners {
            let depth = less.corner.queue_depth;
            let is_deeper = more.corner.queue_depth > depth
                && corners::Corner { queue_depth: depth, ..more.corner } == less.corner;
            if is_deeper && more.rate.iops < less.rate.iops * SLOWER {
                let told_of = |one: &corners::CornerFigures| {
                    let (rate, _) = counted(one.corner.random, &one.rate);
                    (one.corner.phase().replace('-', " "), rate)
                };
                let (_, unit) = counted(more.corner.random, &more.rate);
                found.push(contradiction(told_of(more), told_of(less), unit));
            }
        }
    }
    found
}

/// Commits that differ by nothing but their size, how many there are at once, or what their log is.
fn commits(outcome: &commit::Outcome) -> Vec<Warning> {
    let told_of = |one: &Commits| {
        let stage = if one.stage == Stage::AsItIs { "" } else { one.stage.name() };
        (format!("{stage} {}", one.setting.words()).trim_start().to_owned(), one.took.per_second)
    };
    let mut found = Vec::new();
    let mut gives_at_least = |one: &Commits, share: f64, of: &Commits| {
        if one.took.per_second < of.took.per_second * share {
            found.push(contradiction(told_of(one), told_of(of), Unit::Iops));
        }
    };
    for one in &outcome.commits {
        let Setting { size, committers, log, .. } = one.setting;
        let among = || outcome.commits.iter().filter(|other| other.stage == one.stage);
        let is_larger = |other: &&Commits| {
            other.setting.size > size && Setting { size, ..other.setting } == one.setting
        };
        if let Some(larger) = among().filter(is_larger).min_by_key(|other| other.setting.size) {
            let as_many_bytes = size.0 as f64 / larger.setting.size.0 as f64;
            gives_at_least(larger, as_many_bytes / COMMITS, one);
            gives_at_least(one, FAIR, larger);
        }
        let are_more = |other: &&Commits| {
            other.setting.committers > committers
                && Setting { committers, ..other.setting } == one.setting
        };
        if let Some(more) = among().filter(are_more).min_by_key(|other| other.setting.committers) {
            gives_at_least(more, SLOWER, one);
        }
        // Its space and its size do not change.
        let has_more_to_do = |other: &&Commits| {
            log == Layout::Overwritten
                && other.setting.log != log
                && Setting { log, ..other.setting } == one.setting
        };
        among().filter(has_more_to_do).for_each(|other| gives_at_least(one, 1.0 / COMMITS, other));
    }
    found
}

/// A rate as the page tells it: of random I/O in IOPS, of sequential in MB/s.
fn counted(random: bool, rate: &Rate) -> (f64, Unit) {
    match random {
        true => (rate.iops, Unit::Iops),
        false => (rate.megabytes_per_second, Unit::MegabytesPerSecond),
    }
}

fn contradiction(odd: Told, than: Told, unit: Unit) -> Warning {
    contradiction_with(odd, Vec::new(), than, unit)
}

/// The same, where others are as odd beside that one.
fn contradiction_with(
    (what, has): Told,
    others: Vec<String>,
    (than, gave): Told,
    unit: Unit,
) -> Warning {
    let (has, gave) = (told(has, unit), told(gave, unit));
    Warning::Method(MethodWarning::Odd { what, others, has, than, gave })
}

fn told(value: f64, unit: Unit) -> String {
    in_words(value.round_ties_even(), unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(rates: &[(u64, f64)]) -> Vec<String> {
        let sizes = rates.iter().map(|(kib, rate)| transfer_size::SizeFigures {
            size: Bytes::from_kib(*kib),
            write: *rate,
            read: None,
        });
        let outcome = transfer_size::Outcome { sizes: sizes.collect() };
        odd(&Outcome::TransferSize(outcome)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn sizes_that_grow_with_their_rates_are_not_odd() {
        assert_eq!(sizes(&[(1, 20.0), (2, 40.0), (4, 90.0), (8, 95.0), (16, 80.0)]), [""; 0]);
    }

    #[test]
    fn a_size_that_falls_out_of_line_is_told_with_both_figures() {
        let found = sizes(&[(2, 17.9), (4, 402.0), (8, 410.0)]);
        assert!(found[0].contains("18 MB/s of writes of 2KiB") && found[0].contains("402 MB/s"));
        assert_eq!(found.len(), 1);
        assert_eq!(sizes(&[(4, 402.0), (8, 150.0)]).len(), 1);
    }

    #[test]
    fn what_is_as_far_off_as_its_neighbour_is_named_with_it() {
        let found = sizes(&[(1, 9.0), (2, 17.9), (4, 402.0), (8, 410.0)]);
        let told = "Odd: 18 MB/s of writes of 2KiB, beside 402 MB/s of writes of 4KiB; the same is so of writes of 1KiB.";
        assert!(found.len() == 1 && found[0].starts_with(told), "{found:?}");
        let found = sizes(&[(4, 402.0), (8, 150.0), (16, 160.0), (32, 390.0), (64, 100.0)]);
        assert!(found[0].contains("of writes of 8KiB, beside 402") && found[0].contains("16KiB."));
        assert!(found[1].starts_with("Odd: 100 MB/s of writes of 64KiB, beside 390 MB/s of"));
        assert_eq!(found.len(), 2, "{found:?}");
    }

    /// Commits a second of commits of 4 KiB, and of others: KiB, committers, log.
    fn commits(others: &[(u64, usize, &str, f64)]) -> Vec<String> {
        let one = |&(kib, committers, log, per_second): &(u64, usize, &str, f64)| {
            serde_json::json!({
                "stage": "as-it-is",
                "durability": "flushed", "size": format!("{kib}KiB"), "committers": committers, "log": log,
                "count": 1000, "per_second": per_second, "mean_ns": 1,
                "latency": { "p50_ns": 1, "p99_ns": 2, "p999_ns": 3, "p9999_ns": null, "max_ns": 4 },
            })
        };
        let main = (4, 1, "overwritten", 5836.0);
        let commits: Vec<_> = std::iter::once(&main).chain(others).map(one).collect();
        let outcome = serde_json::json!({ "commits": commits, "beside": [] });
        let outcome = Outcome::Commit(serde_json::from_value(outcome).unwrap());
        odd(&outcome).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn commits_are_held_against_their_neighbours_in_size_number_and_log() {
        let overwritten = "overwritten";
        let found = commits(&[(8, 1, overwritten, 709.0), (16, 1, overwritten, 2100.0)]);
        assert!(found[0].starts_with("Odd: 709 IOPS of commits of 8KiB, beside 5"), "{found:?}");
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            commits(&[(2, 1, overwritten, 1800.0)]).len(),
            1,
            "less is more than as much slower"
        );
        assert_eq!(commits(&[(4, 16, overwritten, 4000.0)]).len(), 1);
        assert_eq!(commits(&[(4, 1, "appended", 12_000.0)]).len(), 1);
        let usual = [
            (2, 1, overwritten, 5900.0),
            (8, 1, overwritten, 5500.0),
            (64, 1, overwritten, 1400.0),
            (4, 4, overwritten, 9000.0),
            (4, 16, overwritten, 20_000.0),
            (4, 1, "preallocated", 900.0),
            (4, 1, "appended", 700.0),
        ];
        assert_eq!(commits(&usual), [""; 0]);
    }
}
