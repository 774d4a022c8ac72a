//! A fleet's page.

use std::path::{Path, PathBuf};

use serde_json::Value;
use writecliff::suite::{are_apart, in_words};
use writecliff_device::Nanos;
use writecliff_report::{
    FleetDoubt, FleetDrive, FleetFigure, FleetKind, FleetPage, FleetPart, ReportError,
    fleet_summary, seconds, thousands, write_fleet_page,
};
use writecliff_sweep::RowFigure;

use crate::plan::{Fleet, Kind, Spread};
use crate::tally::{MINUTE, Minute, histogram};
use crate::total::{KindTotal, Service, SlowDrive};
use crate::variants::Variant;

/// Writes the page about these variants into the directory `out`, and returns its path.
///
/// # Errors
/// [`ReportError`]; an older page is kept then.
pub fn write_page(
    fleet: &Fleet,
    services: &[(&Variant, Service)],
    out: &Path,
) -> Result<PathBuf, ReportError> {
    write_fleet_page(&page(fleet, services), out)
}

/// The figures of these variants as a table, a column for each. Plain text.
pub fn summary(fleet: &Fleet, services: &[(&Variant, Service)]) -> String {
    fleet_summary(&page(fleet, services))
}

fn page(fleet: &Fleet, services: &[(&Variant, Service)]) -> FleetPage {
    let all: Vec<Late> = services.iter().map(|(_, service)| Late::of(service)).collect();
    let has_a_best = all.iter().any(|one| all.iter().any(|other| one.is_apart(other)));
    let mut variants: Vec<FleetPart> =
        services.iter().map(|(variant, service)| part(variant, service, has_a_best)).collect();
    if let [(first, _), others @ ..] = services {
        for (part, (variant, _)) in variants[1..].iter_mut().zip(others) {
            part.doubts.extend(unlike(&variant.fleet, &first.fleet, &first.name).map(of_all));
        }
    }
    FleetPage {
        title: fleet.title.clone().unwrap_or_else(|| "A fleet of simulated drives".to_owned()),
        lead: lead(services),
        headline: headline(services, &variants),
        limit_ns: limit(services),
        variants,
    }
}

/// What is late, if that is the same for all.
fn limit(services: &[(&Variant, Service)]) -> Option<u64> {
    let mut limits = services.iter().map(|(variant, _)| variant.fleet.limit.0);
    let first = limits.next()?;
    limits.all(|other| other == first).then_some(first)
}

/// Why the drives of a variant cannot be judged beside those of the one that is called `than`, if so.
fn unlike(this: &Fleet, other: &Fleet, than: &str) -> Option<String> {
    let time = |time: Nanos| seconds(time.as_secs_f64());
    let times = |fleet: &Fleet| {
        format!("{} after a warm_up of {}", time(fleet.duration), time(fleet.warm_up))
    };
    let what = if this.load != other.load {
        format!("Another load than that of '{than}' is asked of it")
    } else if this.limit != other.limit {
        format!("Late is what takes more than {}, and with '{than}' {}", this.limit, other.limit)
    } else if times(this) != times(other) {
        format!("It is counted for {}, and '{than}' for {}", times(this), times(other))
    } else {
        return None;
    };
    Some(format!(
        "{what}: what is better or worse here may come from that, and not from the drives."
    ))
}

/// How many drives, and what is asked of them.
fn lead(services: &[(&Variant, Service)]) -> String {
    let drives: Vec<u64> =
        services.iter().map(|(variant, _)| variant.fleet.drive_count()).collect();
    let (least, most) = (drives.iter().min().unwrap_or(&0), drives.iter().max().unwrap_or(&0));
    let count = if least == most { format!("{most}") } else { format!("{least} to {most}") };
    let requests: u64 = services.iter().map(|(_, service)| service.requests().0).sum();
    let variants = match services.len() {
        1 => String::new(),
        many => format!(" in each of {many} variants"),
    };
    let lengths = services.iter().map(|(variant, _)| variant.fleet.duration);
    let time = match (lengths.clone().min(), lengths.max()) {
        (Some(least), Some(most)) if least < most => {
            format!("{} to {}", seconds(least.as_secs_f64()), seconds(most.as_secs_f64()))
        }
        (_, most) => seconds(most.unwrap_or_default().as_secs_f64()),
    };
    format!(
        "{count} simulated drives{variants}, {time} of service, {} requests in \
         all. Response times count from when a request is due; no network and no host is simulated.",
        thousands(requests as f64)
    )
}

/// Late requests of a service.
#[derive(Debug, Clone, Copy)]
struct Late {
    requests: u64,
    late: u64,
}

impl Late {
    fn of(service: &Service) -> Self {
        let (requests, late) = service.requests();
        Self { requests, late }
    }

    fn percent(&self) -> f64 {
        self.late as f64 / self.requests.max(1) as f64 * 100.0
    }

    /// Whether a single run tells the shares of two services apart: they differ by more than single runs do, and by
    /// more than counts of events that do not depend on each other do by chance, whose variance is their number.
    fn is_apart(&self, other: &Self) -> bool {
        let variance = |of: &Self| of.late as f64 / (of.requests.max(1) as f64).powi(2);
        let by_chance = CHANCE * 100.0 * (variance(self) + variance(other)).sqrt();
        let (one, other) = (self.percent(), other.percent());
        (one - other).abs() > by_chance && are_apart(one, other)
    }
}

/// Counts differ by more standard deviations by chance only once in some hundred cases.
const CHANCE: f64 = 3.0;

/// The variants with the fewest and the most late requests, of those that are in no doubt.
fn headline(services: &[(&Variant, Service)], parts: &[FleetPart]) -> String {
    if let [(variant, service)] = services {
        let late = percent(Late::of(service).percent());
        return format!("Above {}, and so late: {late} of the requests.", variant.fleet.limit);
    }
    // Pauses are shorter in all scale models: they are compared among each other.
    let is_sure = |part: &FleetPart| part.doubts.iter().all(|doubt| doubt.of_times);
    let sure = services.iter().zip(parts).filter(|(_, part)| is_sure(part));
    let mut sure: Vec<(&str, Late)> =
        sure.map(|((variant, service), _)| (&*variant.name, Late::of(service))).collect();
    sure.sort_by(|a, b| a.1.percent().total_cmp(&b.1.percent()));
    let doubtful: Vec<String> = services
        .iter()
        .zip(parts)
        .filter(|(_, part)| !is_sure(part))
        .map(|((variant, service), _)| {
            format!("'{}' (late: {})", variant.name, percent(Late::of(service).percent()))
        })
        .collect();
    let left_out = match &doubtful[..] {
        [] => String::new(),
        all => format!(" In doubt, and not compared: {}.", all.join("; ")),
    };
    let of_those = if doubtful.is_empty() { "" } else { " that is compared" };
    let compared = match &sure[..] {
        [] => return "All variants are in doubt: none is said to be the best.".to_owned(),
        [(only, late)] => {
            format!("Late with '{only}': {} of the requests.", percent(late.percent()))
        }
        [(_, low), .., (_, high)] if low.is_apart(high) => {
            let (fewest, have, least) = who(&sure, low);
            let (most, _, highest) = who(&sure, high);
            format!(
                "{fewest} {have} the fewest late requests, {least}; {most} the most, {highest}."
            )
        }
        [(_, low), .., (_, high)] => match [low.percent(), high.percent()] {
            [_, 0.0] => format!("No request was late in any variant{of_those}."),
            [0.0, high] => format!(
                "Late are at most {} of the requests: the variants are not told apart.",
                percent(high)
            ),
            [low, high] if low < high => format!(
                "Late are between {} and {} of the requests: the variants are not told apart.",
                percent(low),
                percent(high)
            ),
            [_, same] => {
                format!("Late in every variant{of_those}: {} of the requests.", percent(same))
            }
        },
    };
    let has_scale_models = |part: &&FleetPart| part.doubts.iter().any(|doubt| doubt.of_times);
    let with = parts.iter().filter(has_scale_models).map(|part| format!("'{}'", part.name));
    let with: Vec<String> = with.collect();
    let shorter = "whose pauses are shorter than the drives': ";
    let of_scale_models = match with.len() {
        0 => String::new(),
        all if all == parts.len() => format!("With scale models, {shorter}"),
        _ => format!("With scale models in {}, {shorter}", with.join(", ")),
    };
    format!("{of_scale_models}{compared}{left_out}")
}

/// Those of this share, or what single runs do not tell apart from it, as one names them, their verb, and their
/// shares; all in the order of these.
fn who(all: &[(&str, Late)], late: &Late) -> (String, &'static str, String) {
    let of_it: Vec<&(&str, Late)> = all.iter().filter(|(_, other)| !late.is_apart(other)).collect();
    let names: Vec<String> = of_it.iter().map(|(name, _)| format!("'{name}'")).collect();
    let ends = [of_it.first(), of_it.last()].map(|one| one.map_or(late, |(_, late)| late));
    let shares = match ends.map(|late| percent(late.percent())) {
        [least, most] if least == most => most,
        [least, most] => format!("{} to {most}", least.trim_end_matches(" %")),
    };
    match &names[..] {
        [one] => (one.clone(), "has", shares),
        [others @ .., last] => (format!("{} and {last}", others.join(", ")), "have", shares),
        [] => (String::new(), "has", shares),
    }
}

fn percent(share: f64) -> String {
    match share {
        0.0 => "none".to_owned(),
        0.0..0.1 => format!("{share:.4} %"),
        _ => format!("{share:.2} %"),
    }
}

fn part(variant: &Variant, service: &Service, has_a_best: bool) -> FleetPart {
    // The last one may be a part of a minute.
    let served = variant.fleet.duration.0 as f64 / MINUTE as f64;
    let end = |number: u32| f64::from(number).min(served);
    FleetPart {
        name: variant.name.clone(),
        doubts: doubts(&variant.fleet, service, has_a_best),
        figures: figures(service, has_a_best),
        longer: longer(service),
        minutes: (1..)
            .zip(&service.minutes)
            .map(|(number, minute)| (end(number), minute.percentile(99.9).0 as f64))
            .collect(),
        blame: blame(&variant.fleet, service),
        kinds: service
            .kinds
            .iter()
            .zip(&variant.fleet.drives)
            .filter(|(total, _)| total.drives > 0)
            .map(|(total, planned)| kind(total, planned, service))
            .collect(),
        slowest: service
            .slowest
            .iter()
            .take(SLOWEST)
            .map(|slow| drive(slow, &variant.fleet, service))
            .collect(),
        plan: plan(&variant.fleet),
    }
}

/// So many of the slowest drives are told.
const SLOWEST: usize = 5;

/// What a scale model keeps of its drive, and what not; behind which drives those are.
const OF_SCALE_MODELS: &str = "scale models: they have the rates of the drives they stand for, and pauses that are as much \
     shorter as they are smaller. The percentiles that pauses make are longer on the whole drives";

/// Drives that are scale models, if there are any.
/// `has_a_best` says that variants are told apart.
fn of_scale_models(fleet: &Fleet, has_a_best: bool) -> Option<String> {
    let is_one = |kind: &&Kind| kind.drive.contains("@1/");
    let which = match fleet.drives.iter().filter(is_one).count() {
        0 => return None,
        all if all == fleet.drives.len() => "Its drives are",
        _ => "Some of its drives are",
    };
    let best = if has_a_best { ", and which variant is the best may be another" } else { "" };
    Some(format!("{which} {OF_SCALE_MODELS}{best}."))
}

fn doubts(fleet: &Fleet, service: &Service, has_a_best: bool) -> Vec<FleetDoubt> {
    let mut doubts = Vec::new();
    let of_scale_models = of_scale_models(fleet, has_a_best);
    doubts.extend(of_scale_models.map(|text| FleetDoubt { text, of_times: true }));
    let failed: u64 = service.kinds.iter().map(|kind| kind.failed).sum();
    if failed > 0 {
        doubts.push(of_all(format!(
            "{} failed on their drives; they count as answers, as if another fragment had been at hand at once.",
            in_words(failed as f64, "I/Os")
        )));
    }
    doubts.extend(unsettled(fleet, &service.minutes).map(of_all));
    doubts
}

/// A doubt about all figures.
fn of_all(text: String) -> FleetDoubt {
    FleetDoubt { text, of_times: false }
}

/// The last minute of so long a service, whole or not.
fn part_of_minute(duration: Nanos) -> String {
    match Nanos(duration.0 % MINUTE) {
        Nanos::ZERO => "minute".to_owned(),
        part => seconds(part.as_secs_f64()),
    }
}

/// Whether the minutes that are counted are not alike: the figures are then of how long was counted.
fn unsettled(fleet: &Fleet, minutes: &[Minute]) -> Option<String> {
    let of = |minutes: &[Minute]| {
        let mut all: Vec<Nanos> = minutes.iter().map(|minute| minute.percentile(99.9)).collect();
        all.sort_unstable();
        all.get(all.len() / 2).copied().unwrap_or_default()
    };
    let first = minutes.first()?;
    if let Some(doubt) = minutes.last().and_then(|last| behind(fleet, last)) {
        return Some(doubt);
    }
    let third = minutes.len().div_ceil(3);
    let (first, last) = (first.percentile(99.9), of(&minutes[minutes.len() - third..]));
    let at_last = match third {
        1 => format!("in the last {}", part_of_minute(fleet.duration)),
        minutes => format!("in the middle one of the last {minutes} minutes"),
    };
    let differs =
        |less: Nanos, more: Nanos| more.0 > less.0.saturating_mul(UNLIKE).max(fleet.limit.0);
    let said = format!("99.9 % of the requests are served within {first}, {at_last} within {last}");
    if differs(first, last) {
        return Some(format!(
            "In the first minute {said}: either a part of the fleet falls behind, and its figures \
             grow with the length of the service, or its drives had not come to rest; a longer \
             warm_up tells."
        ));
    }
    differs(last, first).then(|| {
        format!(
            "In the first minute {said}: the fleet had not come to rest when the counting began; a \
             longer warm_up leaves such a time out."
        )
    })
}

/// Whether requests waited for so much of the service that others had come and gone by then.
fn behind(fleet: &Fleet, last: &Minute) -> Option<String> {
    let whole = fleet.warm_up + fleet.duration;
    let slow = last.percentile(99.0);
    (slow.0 > whole.0 / BEHIND).then(|| {
        format!(
            "In the last {} one of 100 requests took {slow} or longer, of a service of {whole}: a part of the \
             fleet falls behind, and its figures grow with the length of the service.",
            part_of_minute(fleet.duration)
        )
    })
}

/// Who waits for so large a part of a service waits for what has piled up.
const BEHIND: u64 = 20;

/// Minutes of one service that are alike differ by less.
const UNLIKE: u64 = 3;

/// `has_a_best` says that shares of late requests are told apart.
fn figures(service: &Service, has_a_best: bool) -> Vec<FleetFigure> {
    let figure = |RowFigure { name, value, unit, good, .. }| {
        let good = match &*name {
            // How often a further drive was asked is neither good nor bad.
            "hedged reads" => None,
            LATE => Some(good).filter(|_| has_a_best),
            _ => Some(good),
        };
        let meaning =
            MEANINGS.iter().find(|(of, _)| **of == name).map_or("", |(_, meaning)| meaning);
        // Shares are of late requests and of such that were asked twice; a median is of no pause.
        let of_times = ["ms", "%"].contains(&&*unit) && !name.ends_with("p50");
        FleetFigure { name, value, unit, good, meaning, of_times }
    };
    service.figures().into_iter().map(figure).collect()
}

/// The figure's name.
const LATE: &str = "late requests";

const MEANINGS: [(&str, &str); 6] = [
    (LATE, "above the limit"),
    (
        "cost of a TB a year",
        "of data; a drive is kept five years, or until its rated writes, if known, are used up",
    ),
    ("p99.9 of the worst minute", "of all requests"),
    ("hedged reads", "asked further drives"),
    (
        "write amplification",
        "of the drives, their warm-up included: NAND bytes for each byte that one is given",
    ),
    ("NAND writes for a byte of data", "of the whole: copies and parity are in it"),
];

/// A point for each bucket of the response times.
fn longer(service: &Service) -> Vec<(f64, f64)> {
    let all = service.minutes.iter().flat_map(|minute| minute.reads.iter().chain(&minute.writes));
    let responses = histogram(all);
    let mut left = responses.count();
    let total = left.max(1) as f64;
    let points = responses.counts().map(|counted| {
        left -= counted.count;
        (counted.latency as f64, left as f64 / total * 100.0)
    });
    thinned(points.collect())
}

/// Points that would lie on the same place are left out.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    let last = points.len().saturating_sub(1);
    for (index, point) in points.into_iter().enumerate() {
        let is_near = kept.last().is_some_and(|(x, y): &(f64, f64)| {
            point.0 < x * NEAR && point.1 > y / NEAR && point.1 > 0.0
        });
        if !is_near || index == last {
            kept.push(point);
        }
    }
    kept
}

/// Times and shares that differ by less look the same on axes of decades.
const NEAR: f64 = 1.03;

/// The drives that most late requests waited for first.
fn blame(fleet: &Fleet, service: &Service) -> Vec<(f64, f64)> {
    let all: u64 = service.slowest.iter().map(|slow| slow.drive.late).sum();
    if all == 0 {
        return Vec::new();
    }
    let (drives, mut sum) = (fleet.drive_count() as f64, 0);
    let mut points = vec![(0.0, 0.0)];
    points.extend((1..).zip(&service.slowest).map(|(count, slow)| {
        sum += slow.drive.late;
        (f64::from(count) / drives * 100.0, sum as f64 / all as f64 * 100.0)
    }));
    points.push((100.0, 100.0));
    points
}

fn kind(kind: &KindTotal, planned: &Kind, service: &Service) -> FleetKind {
    let full = match planned.full_percent {
        Spread::Same(percent) => format!("{percent} % full"),
        Spread::Between(low, high) => format!("{low} to {high} % full"),
    };
    let all = |of: fn(&KindTotal) -> u64| service.kinds.iter().map(of).sum::<u64>().max(1) as f64;
    let overwritten = match planned.overwrites {
        Spread::Same(0.0) => String::new(),
        Spread::Same(times) => format!(", overwritten {times} times"),
        Spread::Between(low, high) => format!(", overwritten {low} to {high} times"),
    };
    let changes = planned.profile.iter().map(|(key, value)| format!(", {key} = {value}"));
    let changes: String = changes.collect();
    FleetKind {
        drive: format!("{}, {full}{overwritten}{changes}", kind.drive),
        drives: kind.drives,
        waited_percent: kind.waited_for as f64 / all(|kind| kind.waited_for) * 100.0,
        late_percent: kind.late as f64 / all(|kind| kind.late) * 100.0,
        write_amplification: kind
            .nand_written
            .filter(|_| kind.written > 0)
            .map(|nand| nand as f64 / kind.written as f64),
        years: kind.years,
        dollars_a_year: kind.dollars_a_year,
    }
}

fn drive(slow: &SlowDrive, fleet: &Fleet, service: &Service) -> FleetDrive {
    let all: u64 = service.slowest.iter().map(|slow| slow.drive.late).sum();
    FleetDrive {
        place: format!("group {}, drive {}", slow.group, slow.place),
        drive: fleet
            .drives
            .get(slow.drive.kind)
            .map_or_else(String::new, |kind| kind.drive.clone()),
        full_percent: slow.drive.full_percent,
        overwrites: slow.drive.overwrites,
        late: slow.drive.late,
        late_percent: slow.drive.late as f64 / all.max(1) as f64 * 100.0,
    }
}

/// The plan as lines of keys and values.
fn plan(fleet: &Fleet) -> Vec<(String, String)> {
    let Ok(Value::Object(values)) = serde_json::to_value(fleet) else { return Vec::new() };
    let text = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    values.into_iter().map(|(key, value)| (key, text(value))).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const PLAN: &str = "groups = 1\nduration = \"6min\"\nhedge = \"1ms\"\nparity = 1\n[load]\niops = 100\n\
                        [[drives]]\ndrive = \"sim:tiny\"\n";

    /// Minutes whose requests all take so many milliseconds.
    fn service(name: &str, minutes: &[u64]) -> (Variant, Service) {
        let fleet: Fleet = toml::from_str(PLAN).unwrap();
        let minute = |millis: &u64| {
            let (longest_ns, late) = (millis * 1_000_000, if *millis > 10 { 1000 } else { 0 });
            Minute { reads: vec![(longest_ns, 1000)], writes: Vec::new(), longest_ns, late }
        };
        let variant = Variant { name: name.to_owned(), fleet };
        let none = Service::of(&variant, &[]).unwrap();
        let service = Service { minutes: minutes.iter().map(minute).collect(), ..none };
        (variant, service)
    }

    fn headline_of(all: &[(&str, &[u64])]) -> String {
        let all: Vec<_> = all.iter().map(|(name, minutes)| service(name, minutes)).collect();
        let all: Vec<_> = all.iter().map(|(variant, service)| (variant, service.clone())).collect();
        page(&all[0].0.fleet, &all).headline
    }

    #[test]
    fn minutes_that_are_not_alike_are_a_doubt() {
        let doubts = |minutes: &[u64]| {
            let (variant, service) = service("", minutes);
            let doubts = doubts(&variant.fleet, &service, false);
            doubts.into_iter().map(|doubt| doubt.text).collect::<Vec<_>>()
        };
        let cases: BTreeMap<&str, &[u64]> = BTreeMap::from([
            ("alike", &[20, 25, 20, 18, 22, 21][..]),
            ("one pause", &[20, 20, 90, 20, 20, 20]),
            ("within the limit", &[1, 1, 1, 5, 9, 9]),
            ("alone", &[90]),
        ]);
        for (case, minutes) in cases {
            assert_eq!(doubts(minutes), Vec::<String>::new(), "{case}");
        }
        let grows = doubts(&[20, 30, 40, 60, 90, 120]);
        assert!(
            grows[0].contains("in the middle one of the last 2 minutes within 120 ms: either"),
            "{grows:?}"
        );
        for piles_up in [&[30_000][..], &[29_000, 31_000]] {
            let doubt = &doubts(piles_up)[0];
            assert!(doubt.contains("of a service of") && doubt.contains("falls behind"), "{doubt}");
        }
        let begins = doubts(&[90, 30, 20, 20, 20, 20]);
        assert!(begins[0].contains("had not come to rest"), "{begins:?}");
    }

    #[test]
    fn what_is_left_of_a_minute_ends_with_the_service() {
        let (mut variant, service) = service("", &[5, 9]);
        variant.fleet.duration = Nanos::from_secs(75);
        let minutes = part(&variant, &service, false).minutes;
        let ends: Vec<f64> = minutes.iter().map(|minute| minute.0).collect();
        assert_eq!(ends, [1.0, 1.25]);
    }

    #[test]
    fn variants_that_were_not_asked_or_counted_alike_are_not_compared() {
        let calm = &[5, 5, 5][..];
        let (first, _) = service("a", calm);
        let told = |change: &dyn Fn(&mut Fleet)| {
            let (mut other, service) = service("b", calm);
            change(&mut other.fleet);
            let all = [(&first, service.clone()), (&other, service)];
            let page = page(&first.fleet, &all);
            let doubts = page.variants[1].doubts.iter().map(|doubt| doubt.text.clone());
            (doubts.collect::<Vec<_>>().join(" "), page.headline, page.limit_ns)
        };
        let limit = first.fleet.limit.0;
        assert_eq!(told(&|_| {}).0, "");
        assert_eq!(told(&|_| {}).2, Some(limit));
        let (doubt, headline, shown) = told(&|fleet| fleet.limit = Nanos::from_secs(1));
        assert!(doubt.starts_with("Late is what takes more than 1.00 s, and with 'a' "), "{doubt}");
        assert!(headline.contains("In doubt, and not compared: 'b'"), "{headline}");
        assert_eq!(shown, None);
        let (doubt, ..) = told(&|fleet| fleet.duration = Nanos(fleet.duration.0 / 2));
        assert!(doubt.starts_with("It is counted for "), "{doubt}");
        let (doubt, ..) = told(&|fleet| fleet.load.read_percent = 1);
        assert!(doubt.starts_with("Another load than that of 'a'"), "{doubt}");
    }

    #[test]
    fn variants_that_are_named_together_have_the_shares_of_both() {
        let late = |late| Late { requests: 1_000_000, late };
        let all = [("a", late(0)), ("b", late(12_830)), ("c", late(13_390))];
        let expected = ("'b' and 'c'".to_owned(), "have", "1.28 to 1.34 %".to_owned());
        assert_eq!(who(&all, &all[2].1), expected);
        assert_eq!(who(&all, &all[0].1), ("'a'".to_owned(), "has", "none".to_owned()));
    }

    #[test]
    fn a_few_requests_tell_no_variants_apart() {
        let late = |late| Late { requests: 1_000_000, late };
        for (one, other, is_apart) in [
            (0, 1, false),
            (0, 9, false),
            (0, 12, true),
            (100, 130, false),
            (100, 160, true),
            (7, 7, false),
        ] {
            assert_eq!(late(one).is_apart(&late(other)), is_apart, "{one} {other}");
        }
        let longer = Late { requests: 10_000_000, late: 1000 };
        assert!(!late(100).is_apart(&longer), "shares are compared, not counts");
    }

    #[test]
    fn what_is_in_doubt_is_not_compared() {
        let (calm, worse, doubtful) = (&[5, 5, 5][..], &[5, 20, 5][..], &[90, 5, 5][..]);
        assert_eq!(
            headline_of(&[("a", worse), ("b", calm), ("c", doubtful)]),
            "'b' has the fewest late requests, none; 'a' the most, 33.33 %. In doubt, and not compared: \
             'c' (late: 33.33 %)."
        );
        assert_eq!(
            headline_of(&[("a", worse), ("b", calm), ("c", calm), ("d", worse)]),
            "'b' and 'c' have the fewest late requests, none; 'a' and 'd' the most, 33.33 %."
        );
        assert_eq!(
            headline_of(&[("a", calm), ("b", calm), ("c", doubtful)]),
            "No request was late in any variant that is compared. In doubt, and not compared: 'c' (late: \
             33.33 %)."
        );
        assert_eq!(
            headline_of(&[("a", doubtful), ("b", doubtful)]),
            "All variants are in doubt: none is said to be the best."
        );
        assert_eq!(
            headline_of(&[("", worse)]),
            "Above 10.0 ms, and so late: 33.33 % of the requests."
        );
    }
}
