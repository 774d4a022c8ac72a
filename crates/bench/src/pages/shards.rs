//! The results as files: what of a [`Bench`] pages are told, and in which form.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value as Json, json};
use writecliff::sim;
use writecliff::suite::{Status, TESTS, consistency, spare_area};

use super::columns::{column, unless_all};
use super::reports::{Report, shorten};
use super::{Audience, hash, short};
use crate::model::{Bench, Drive, Kind, Picture, Run, Value};

/// How the names of files with the course of a run begin; its id follows.
pub(super) const COURSE: &str = "run-";

/// Tests whose runs have a course that is worth a picture.
const DRAWN: [&str; 2] = [consistency::Plan::NAME, spare_area::Plan::NAME];

/// All files with results.
pub(super) struct Shards {
    /// By name, without folder and ending.
    pub(super) files: Vec<(String, String)>,
    /// The name of the index.
    pub(super) index: String,
    /// Ids of the runs with a course.
    pub(super) pictured: Vec<String>,
}

pub(super) fn all(bench: &Bench, reports: &[Report], audience: Audience) -> Shards {
    let of = Places::of(bench);
    let mut files = Vec::new();
    let mut add = |name: &str, id: &str, content: &Json| {
        let hash = hash(content.to_string().as_bytes());
        let name = format!("{name}-{}-{hash}", short(id));
        files.push((name.clone(), script(&name, content)));
        hash
    };
    let metrics: Vec<String> = (0..bench.metrics.len())
        .map(|at| add("figures", &bench.metrics[at].id, &metric_file(bench, &of.metrics[at])))
        .collect();
    let links = report_links(reports);
    let drives: Vec<String> = (0..bench.drives.len())
        .map(|at| add("drive", &bench.drives[at].id, &drive_file(bench, &of, at, &links, audience)))
        .collect();
    let index = index_file(bench, &of, &drives, &metrics, audience);
    let name = format!("index-{}", hash(index.to_string().as_bytes()));
    files.push((name.clone(), script(&name, &index)));
    let pictured = bench.runs.iter().filter(|run| has_course(bench, run)).map(|run| run.id.clone());
    Shards { files, index: name, pictured: pictured.collect() }
}

/// A file with the course of a run.
pub(super) fn course(id: &str, pictures: &[Picture]) -> String {
    script(&format!("{COURSE}{id}"), &json!(pictures))
}

/// A script that hands over a value under a name. JSON is a part of JavaScript.
fn script(name: &str, content: &Json) -> String {
    format!("writecliffBench({}, {content});\n", json!(name))
}

/// What belongs to each drive and metric.
struct Places {
    /// Places in [`Bench::values`] for each metric.
    metrics: Vec<Vec<usize>>,
    /// The same for each drive.
    drives: Vec<Vec<usize>>,
    /// Places in [`Bench::runs`] for each drive.
    runs: Vec<Vec<usize>>,
    /// Places in [`Bench::published`] for each drive.
    published: Vec<Vec<usize>>,
}

impl Places {
    fn of(bench: &Bench) -> Self {
        let by = |count: usize, places: &mut dyn Iterator<Item = usize>| {
            let mut all = vec![Vec::new(); count];
            places.enumerate().for_each(|(place, of)| all[of].push(place));
            all
        };
        let drives = bench.drives.len();
        Self {
            metrics: by(bench.metrics.len(), &mut bench.values.iter().map(|value| value.metric)),
            drives: by(drives, &mut bench.values.iter().map(|value| value.drive)),
            runs: by(drives, &mut bench.runs.iter().map(|run| run.drive)),
            published: by(drives, &mut bench.published.iter().map(|figure| figure.drive)),
        }
    }
}

// --- the index

fn index_file(
    bench: &Bench,
    of: &Places,
    drive_files: &[String],
    metric_files: &[String],
    audience: Audience,
) -> Json {
    let tests: Vec<Json> =
        TESTS.iter().map(|test| json!({ "id": test.name, "question": test.question })).collect();
    let told = bench.problems.iter().filter(|_| audience.is_here());
    let problems: Vec<String> =
        told.map(|one| format!("{}: {}", one.path.display(), one.message)).collect();
    let mut conditions = json!(bench.conditions);
    if !audience.is_here() {
        shorten(&mut conditions);
    }
    json!({
        "drives": drive_columns(bench, of, drive_files),
        "tests": tests,
        "metrics": metric_columns(bench, metric_files),
        "conditions": conditions,
        "problems": problems,
    })
}

fn drive_columns(bench: &Bench, of: &Places, files: &[String]) -> Json {
    let text = |field: fn(&Drive) -> &Option<String>| column(bench.drives.iter().map(field));
    let price = |drive: &Drive| drive.price.as_ref().map(|price| price.usd);
    let price_of = |drive: &Drive| drive.price.as_ref().and_then(|price| price.of.clone());
    let runs = |kind: Kind| {
        let of_kind = |at: &usize| bench.conditions[bench.runs[*at].conditions].kind == kind;
        let is_counted = move |at: &&usize| bench.runs[**at].same_as.is_none() && of_kind(at);
        column(of.runs.iter().map(move |runs| runs.iter().filter(is_counted).count()))
    };
    json!({
        "id": column(bench.drives.iter().map(|drive| &drive.id)),
        "name": column(bench.drives.iter().map(|drive| &drive.name)),
        "maker": text(|drive| &drive.maker),
        "capacity": column(bench.drives.iter().map(|drive| drive.capacity)),
        "interface": text(|drive| &drive.interface),
        "nand": text(|drive| &drive.nand),
        "cell": text(|drive| &drive.cell),
        "controller": text(|drive| &drive.controller),
        "form_factor": text(|drive| &drive.form_factor),
        "year": column(bench.drives.iter().map(|drive| drive.year)),
        "price": column(bench.drives.iter().map(price)),
        "price_of": column(bench.drives.iter().map(price_of)),
        "rotates": column(bench.drives.iter().map(|drive| drive.rotates)),
        "simulated": runs(Kind::Simulated),
        "measured": runs(Kind::Measured),
        "published": column(of.published.iter().map(Vec::len)),
        "file": column(files.iter()),
    })
}

fn metric_columns(bench: &Bench, files: &[String]) -> Json {
    let metrics = || bench.metrics.iter();
    json!({
        "id": column(metrics().map(|metric| &metric.id)),
        "test": column(metrics().map(|metric| &metric.test)),
        "name": column(metrics().map(|metric| &metric.name)),
        "of": column(metrics().map(|metric| &metric.of)),
        "unit": column(metrics().map(|metric| &metric.unit)),
        "good": column(metrics().map(|metric| metric.good)),
        "judged": column(metrics().map(|metric| metric.judged)),
        "file": column(files.iter()),
    })
}

// --- a metric

/// Results of one metric under equal conditions; a place in each list is a drive.
#[derive(Serialize)]
struct Group<'a> {
    conditions: &'a str,
    drives: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variants: Option<Vec<Option<&'a str>>>,
    median: Vec<f64>,
    /// Left out if nothing has more than one result.
    #[serde(skip_serializing_if = "Option::is_none")]
    lowest: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    highest: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<Vec<usize>>,
    /// Places in these lists.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    doubted: Vec<usize>,
    /// The same of those that may be named better than no other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unfit: Vec<usize>,
    /// How a printed figure was got.
    #[serde(skip_serializing_if = "Option::is_none")]
    notes: Option<Vec<Option<String>>>,
}

fn metric_file(bench: &Bench, places: &[usize]) -> Json {
    let mut groups: BTreeMap<usize, Vec<&Value>> = BTreeMap::new();
    for place in places {
        let value = &bench.values[*place];
        groups.entry(value.conditions).or_default().push(value);
    }
    let groups: Vec<Group<'_>> =
        groups.into_iter().map(|(conditions, values)| group(bench, conditions, &values)).collect();
    json!({ "groups": groups })
}

fn group<'a>(bench: &'a Bench, conditions: usize, values: &[&'a Value]) -> Group<'a> {
    let counts = unless_all(&1, values.iter().map(|value| value.of.len()).collect());
    let spread = |of: fn(&Value) -> f64| {
        counts.as_ref().map(|_| values.iter().map(|value| of(value)).collect())
    };
    let places = |is_so: fn(&Value) -> bool| {
        let so = values.iter().enumerate().filter(|(_, value)| is_so(value));
        so.map(|(at, _)| at).collect()
    };
    Group {
        conditions: &bench.conditions[conditions].id,
        drives: values.iter().map(|value| bench.drives[value.drive].id.as_str()).collect(),
        variants: unless_all(&None, values.iter().map(|value| value.variant.as_deref()).collect()),
        median: values.iter().map(|value| value.median).collect(),
        lowest: spread(|value| value.lowest),
        highest: spread(|value| value.highest),
        doubted: places(|value| value.doubted),
        unfit: places(|value| !value.may_win),
        notes: unless_all(&None, values.iter().map(|value| note(bench, value)).collect()),
        runs: counts,
    }
}

/// What is to be known of a printed figure where it stands among others.
fn note(bench: &Bench, value: &Value) -> Option<String> {
    if !bench.is_published(value.conditions) {
        return None;
    }
    let [place] = value.of[..] else { return None };
    let figure = &bench.published[place];
    let said = [figure.bound.clone(), figure.condition.clone(), Some(figure.source.clone())];
    Some(said.into_iter().flatten().collect::<Vec<_>>().join("; "))
}

// --- a drive

fn drive_file(
    bench: &Bench,
    of: &Places,
    at: usize,
    links: &BTreeMap<&str, String>,
    audience: Audience,
) -> Json {
    let drive = &bench.drives[at];
    let runs: Vec<Json> = of.runs[at]
        .iter()
        .map(|place| run_part(bench, &bench.runs[*place], links, audience))
        .collect();
    let published: Vec<Json> =
        of.published[at].iter().map(|place| published_part(bench, *place)).collect();
    let profile = drive
        .profile
        .as_deref()
        .and_then(|name| Some(json!({ "name": name, "text": sim::shipped_text(name)? })));
    json!({
        "specification": drive.specification,
        "profile": profile,
        "values": value_parts(bench, &of.drives[at]),
        "runs": runs,
        "published": published,
    })
}

/// The figures of a drive, those under equal conditions together: for each metric its median, its
/// lowest, its highest, how many there are, 1 if they may be named better than another, and 1 if they are
/// in doubt.
fn value_parts(bench: &Bench, places: &[usize]) -> Vec<Json> {
    let mut parts: BTreeMap<(usize, &Option<String>), BTreeMap<&str, Json>> = BTreeMap::new();
    for value in places.iter().map(|place| &bench.values[*place]) {
        let figures = parts.entry((value.conditions, &value.variant)).or_default();
        let numbers = json!([
            value.median,
            value.lowest,
            value.highest,
            value.of.len(),
            u8::from(value.may_win),
            u8::from(value.doubted),
        ]);
        figures.insert(&bench.metrics[value.metric].id, numbers);
    }
    let part = |((conditions, variant), figures)| {
        let conditions: usize = conditions;
        json!({
            "conditions": bench.conditions[conditions].id,
            "variant": variant,
            "figures": figures,
        })
    };
    parts.into_iter().map(part).collect()
}

fn run_part(bench: &Bench, run: &Run, links: &BTreeMap<&str, String>, audience: Audience) -> Json {
    let named = run.figures.iter().map(|(metric, value)| (&bench.metrics[*metric].id, value));
    let figures: BTreeMap<_, _> = named.collect();
    // An error's text names files of this machine.
    let error = match &run.status {
        Status::Failed { error } if audience.is_here() => Some(error),
        _ => None,
    };
    let mut doubts = json!(run.doubts);
    if !audience.is_here() {
        shorten(&mut doubts);
    }
    json!({
        "id": run.id,
        "conditions": bench.conditions[run.conditions].id,
        "variant": run.variant,
        "started": run.started,
        "label": run.label,
        "status": json!(run.status)["state"],
        "error": error,
        "doubts": doubts,
        "seed": run.seed.to_string(),
        "version": run.tool_version,
        "catalogue": run.catalogue,
        "same_as": run.same_as,
        "report": links.get(run.id.as_str()),
        "pictured": has_course(bench, run),
        "figures": figures,
    })
}

fn published_part(bench: &Bench, place: usize) -> Json {
    let figure = &bench.published[place];
    json!({
        "metric": bench.metrics[figure.metric].id,
        "conditions": bench.conditions[figure.conditions].id,
        "value": figure.value,
        "bound": figure.bound,
        "rated": figure.rated,
        "condition": figure.condition,
        "source": figure.source,
        "url": figure.url,
    })
}

/// Whether a run has a course to draw.
fn has_course(bench: &Bench, run: &Run) -> bool {
    let is_drawn = DRAWN.contains(&bench.conditions[run.conditions].test.as_str());
    let is_kept = run.catalogue || run.private.directory.is_some();
    is_drawn && is_kept && run.status == Status::Complete
}

/// Where the report of each run is.
fn report_links(reports: &[Report]) -> BTreeMap<&str, String> {
    let links = reports
        .iter()
        .flat_map(|report| report.runs.iter().map(|run| (run.as_str(), report.path())));
    links.collect()
}
