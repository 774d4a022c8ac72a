//! Results, as they come from directories and files, brought together into one [`Bench`].

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use serde::{Deserialize, Serialize};
use writecliff::suite::{Status, TESTS};

use crate::model::{
    Bench, Conditions, Drive, Kind, Metric, Private, Problem, Published, Run, Value,
};

/// A run that is to be in a [`Bench`]; the fields are those of [`Run`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NewRun {
    /// [`Run::id`]; a run that is already there is left out.
    pub id: String,
    /// What was tested.
    pub drive: Drive,
    /// [`Run::variant`].
    pub variant: Option<String>,
    /// What it was done under.
    pub conditions: Conditions,
    /// [`Run::started`].
    pub started: String,
    /// [`Run::label`].
    pub label: Option<String>,
    /// [`Run::status`].
    pub status: Status,
    /// [`Run::doubts`].
    pub doubts: Vec<String>,
    /// [`Run::may_win`].
    pub may_win: bool,
    /// [`Run::undoubted`], by the metrics' ids.
    pub undoubted: Vec<String>,
    /// [`Run::seed`].
    pub seed: u64,
    /// [`Run::tool_version`].
    pub tool_version: String,
    /// Its figures.
    #[serde(skip)]
    pub figures: Vec<(Metric, f64)>,
    /// [`Run::catalogue`].
    pub catalogue: bool,
    /// [`Run::private`].
    pub private: Private,
}

/// A printed figure that is to be in a [`Bench`].
#[derive(Debug, Clone)]
pub struct NewPublished {
    /// The drive.
    pub drive: Drive,
    /// The quantity.
    pub metric: Metric,
    /// What it was got under.
    pub conditions: Conditions,
    /// The rest; its places are filled in.
    pub figure: Published,
}

/// Brings results together. [`finish`](Self::finish) sorts everything, so that the order in which
/// results are added does not show.
#[derive(Debug, Default)]
pub struct Gather {
    drives: Once<String, Drive>,
    metrics: Once<String, (usize, Metric)>,
    conditions: Once<String, Conditions>,
    runs: Once<String, Run>,
    published: Vec<Published>,
    problems: Vec<Problem>,
}

/// Values by key, each at the place where it came first.
#[derive(Debug)]
struct Once<K, V> {
    places: HashMap<K, usize>,
    all: Vec<V>,
}

impl<K, V> Default for Once<K, V> {
    fn default() -> Self {
        Self { places: HashMap::new(), all: Vec::new() }
    }
}

impl<K: Hash + Eq, V> Once<K, V> {
    fn place(&mut self, key: K, value: impl FnOnce() -> V) -> usize {
        let next = self.all.len();
        let place = *self.places.entry(key).or_insert(next);
        if place == next {
            self.all.push(value());
        }
        place
    }
}

impl Gather {
    /// Adds a run, unless one of its id is there.
    pub fn run(&mut self, new: NewRun) {
        if self.runs.places.contains_key(&new.id) {
            return;
        }
        let drive = self.drive(new.drive);
        let conditions = self.condition(new.conditions);
        let mut figures = Vec::with_capacity(new.figures.len());
        for (order, (metric, value)) in new.figures.into_iter().enumerate() {
            if value.is_finite() {
                figures.push((self.metric(order, metric), value));
            }
        }
        let undoubted = new.undoubted.iter().filter_map(|id| self.metrics.places.get(id).copied());
        let undoubted = undoubted.collect();
        let run = Run {
            id: new.id.clone(),
            drive,
            variant: new.variant,
            conditions,
            started: new.started,
            label: new.label,
            status: new.status,
            doubts: new.doubts,
            may_win: new.may_win,
            undoubted,
            same_as: None,
            seed: new.seed,
            tool_version: new.tool_version,
            figures,
            catalogue: new.catalogue,
            private: new.private,
        };
        self.runs.place(new.id, || run);
    }

    /// Adds a printed figure.
    pub fn published(&mut self, new: NewPublished) {
        let drive = self.drive(new.drive);
        let conditions = self.condition(new.conditions);
        // Where a run has it too, it stands where it stands there.
        let metric = self.metric(usize::MAX, new.metric);
        self.published.push(Published { drive, metric, conditions, ..new.figure });
    }

    /// Adds what cannot be shown.
    pub fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// A drive that is known already learns what it did not know of itself.
    fn drive(&mut self, drive: Drive) -> usize {
        let place = self.drives.place(drive.id.clone(), || drive.clone());
        self.drives.all[place].learn(drive);
        place
    }

    fn metric(&mut self, order: usize, metric: Metric) -> usize {
        let id = metric.id.clone();
        let place = self.metrics.place(id, || (order, metric));
        let known = &mut self.metrics.all[place].0;
        *known = order.min(*known);
        place
    }

    fn condition(&mut self, conditions: Conditions) -> usize {
        self.conditions.place(conditions.id.clone(), || conditions)
    }

    /// All of it, in order.
    pub fn finish(self) -> Bench {
        let (drives, drive_places) = sorted(self.drives.all, |drive| drive.id.clone());
        let (conditions, condition_places) =
            sorted(self.conditions.all, |one| (test_place(&one.test), one.clone()));
        let (metrics, metric_places) = sorted(self.metrics.all, |(order, metric)| {
            (test_place(&metric.test), *order, metric.id.clone())
        });
        let mut runs = self.runs.all;
        for run in &mut runs {
            run.drive = drive_places[run.drive];
            run.conditions = condition_places[run.conditions];
            run.figures.iter_mut().for_each(|(metric, _)| *metric = metric_places[*metric]);
            run.undoubted.iter_mut().for_each(|metric| *metric = metric_places[*metric]);
        }
        runs.sort_by(|a, b| {
            (a.drive, &a.started, a.seed, &a.id).cmp(&(b.drive, &b.started, b.seed, &b.id))
        });
        find_repeats(&mut runs);
        let mut published = self.published;
        for figure in &mut published {
            figure.drive = drive_places[figure.drive];
            figure.conditions = condition_places[figure.conditions];
            figure.metric = metric_places[figure.metric];
        }
        let metrics = metrics.into_iter().map(|(_, metric)| metric).collect();
        let values = values(runs.iter().enumerate(), &published, &runs);
        let problems = self.problems;
        Bench { drives, metrics, conditions, runs, published, values, problems }
    }
}

/// Where a test stands in the list of tests; what is none of ours comes last.
fn test_place(test: &str) -> usize {
    TESTS.iter().position(|entry| entry.name == test).unwrap_or(TESTS.len())
}

/// The same in order, and for each old place the new one.
fn sorted<T, K: Ord>(all: Vec<T>, key: impl Fn(&T) -> K) -> (Vec<T>, Vec<usize>) {
    let mut all: Vec<(usize, T)> = all.into_iter().enumerate().collect();
    all.sort_by_cached_key(|(_, value)| key(value));
    let mut places = vec![0; all.len()];
    for (new, (old, _)) in all.iter().enumerate() {
        places[*old] = new;
    }
    (all.into_iter().map(|(_, value)| value).collect(), places)
}

/// Says of every run that repeats an earlier one which that is. A model with one seed gives the same
/// numbers whoever runs it, and a file that is imported twice does: neither says more than once how far
/// runs lie apart. Runs that differ in the seed are runs of their own, however equal.
fn find_repeats(runs: &mut [Run]) {
    let mut first: HashMap<_, String> = HashMap::new();
    for run in runs.iter_mut().filter(|run| !run.figures.is_empty()) {
        let numbers = run.figures.iter().map(|(metric, value)| (*metric, value.to_bits()));
        let numbers: Vec<(usize, u64)> = numbers.collect();
        let key = (run.drive, run.conditions, run.variant.clone(), run.seed, numbers);
        let id = first.entry(key).or_insert_with(|| run.id.clone());
        run.same_as = Some(id.clone()).filter(|id| *id != run.id);
    }
}

/// Drive, conditions, metric, variant: what is one value.
type Key = (usize, usize, usize, Option<String>);

/// What these runs and printed figures say of each metric under each of the conditions.
fn values<'a>(
    chosen: impl Iterator<Item = (usize, &'a Run)>,
    published: &[Published],
    runs: &[Run],
) -> Vec<Value> {
    let mut groups: HashMap<Key, Vec<(usize, f64)>> = HashMap::new();
    let chosen: Vec<(usize, &Run)> = chosen.collect();
    let there: HashSet<&str> = chosen.iter().map(|(_, run)| run.id.as_str()).collect();
    let is_counted =
        |(_, run): &(usize, &Run)| !run.same_as.as_deref().is_some_and(|id| there.contains(id));
    for (place, run) in chosen.iter().copied().filter(is_counted) {
        for (metric, value) in &run.figures {
            let key = (run.drive, run.conditions, *metric, run.variant.clone());
            groups.entry(key).or_default().push((place, *value));
        }
    }
    // Figures of runs and printed ones have no conditions in common.
    for (place, figure) in published.iter().enumerate() {
        let key = (figure.drive, figure.conditions, figure.metric, None);
        groups.entry(key).or_default().push((place, figure.value));
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by(|a, b| a.0.cmp(&b.0));
    groups
        .into_iter()
        .map(|((drive, conditions, metric, variant), found)| {
            let mut numbers: Vec<f64> = found.iter().map(|(_, value)| *value).collect();
            numbers.sort_by(f64::total_cmp);
            let of: Vec<usize> = found.into_iter().map(|(place, _)| place).collect();
            // A printed figure's place is no run under these conditions.
            let of_runs = || {
                let runs = of.iter().filter_map(|place| runs.get(*place));
                runs.filter(|run| run.conditions == conditions)
            };
            let doubted = of_runs().any(|run| run.doubts(metric));
            let may_win = of_runs().all(|run| run.may_win(metric));
            Value {
                drive,
                variant,
                conditions,
                metric,
                median: median(&numbers),
                lowest: numbers[0],
                highest: numbers[numbers.len() - 1],
                doubted,
                may_win,
                of,
            }
        })
        .collect()
}

/// Of numbers in order; at least one.
fn median(sorted: &[f64]) -> f64 {
    let (low, high) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
    low + (high - low) / 2.0
}

impl Run {
    /// Whether any of its doubts is about its figure of this metric.
    pub(crate) fn doubts(&self, metric: usize) -> bool {
        !self.doubts.is_empty() && !self.undoubted.contains(&metric)
    }

    /// Whether that figure may be named better than another's.
    fn may_win(&self, metric: usize) -> bool {
        self.may_win || (self.status == Status::Complete && !self.doubts(metric))
    }
}

impl Drive {
    /// Takes over what the other knows and this does not.
    fn learn(&mut self, other: Self) {
        let fill = |own: &mut Option<String>, other: Option<String>| {
            if own.is_none() {
                *own = other;
            }
        };
        fill(&mut self.maker, other.maker);
        fill(&mut self.interface, other.interface);
        fill(&mut self.nand, other.nand);
        fill(&mut self.cell, other.cell);
        fill(&mut self.controller, other.controller);
        fill(&mut self.form_factor, other.form_factor);
        fill(&mut self.profile, other.profile);
        self.capacity = self.capacity.or(other.capacity);
        self.year = self.year.or(other.year);
        if self.price.is_none() {
            self.price = other.price;
        }
        for (label, words) in other.specification {
            if self.specification.iter().all(|(known, _)| *known != label) {
                self.specification.push((label, words));
            }
        }
    }
}

impl Bench {
    /// What these runs alone say: a value for each of their drives, variants, conditions and metrics.
    pub fn values_of_runs(&self, places: &[usize]) -> Vec<Value> {
        let chosen = places.iter().map(|place| (*place, &self.runs[*place]));
        values(chosen, &[], &self.runs)
    }

    /// Whether figures under these conditions come from printed pages.
    pub fn is_published(&self, conditions: usize) -> bool {
        self.conditions[conditions].kind == Kind::Published
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use writecliff::suite::Good;

    fn run(id: &str, drive: &str, kind: Kind, floor: f64) -> NewRun {
        let metric = Metric {
            id: "consistency-floor".to_owned(),
            test: "consistency".to_owned(),
            name: "floor".to_owned(),
            of: None,
            unit: "IOPS".to_owned(),
            good: Good::AtLeast,
            judged: true,
        };
        let conditions = Conditions {
            test: "consistency".to_owned(),
            kind,
            id: format!("{kind:?}"),
            standard: true,
            quick: false,
            unfinished: false,
            words: String::new(),
            parts: Default::default(),
        };
        NewRun {
            id: id.to_owned(),
            drive: Drive { id: drive.to_owned(), ..Drive::default() },
            variant: None,
            conditions,
            started: String::new(),
            label: None,
            status: Status::Complete,
            doubts: Vec::new(),
            undoubted: Vec::new(),
            may_win: true,
            seed: 1,
            tool_version: String::new(),
            figures: vec![(metric, floor)],
            catalogue: false,
            private: Private::default(),
        }
    }

    fn bench(runs: &[NewRun]) -> Bench {
        let mut gather = Gather::default();
        runs.iter().for_each(|run| gather.run(run.clone()));
        gather.finish()
    }

    #[test]
    fn several_runs_are_a_median_and_each_is_reachable() {
        use Kind::{Measured, Simulated};
        let mut runs = vec![
            run("c", "b-drive", Measured, 30.0),
            run("a", "b-drive", Measured, 10.0),
            run("d", "b-drive", Simulated, 99.0),
            run("b", "b-drive", Measured, 100.0),
            run("e", "a-drive", Measured, 7.0),
            run("e", "a-drive", Measured, 7.0),
        ];
        let found = bench(&runs);
        let [alone, simulated, measured] = &found.values[..] else { panic!("{:?}", found.values) };
        let in_short = |value: &Value| {
            let runs: Vec<_> = value.of.iter().map(|run| found.runs[*run].id.as_str()).collect();
            let drive = found.drives[value.drive].id.as_str();
            (drive.to_owned(), value.lowest, value.median, value.highest, runs.concat())
        };
        assert_eq!(in_short(alone), ("a-drive".to_owned(), 7.0, 7.0, 7.0, "e".to_owned()));
        assert_eq!(in_short(measured), ("b-drive".to_owned(), 10.0, 30.0, 100.0, "abc".to_owned()));
        assert_eq!(found.conditions[simulated.conditions].kind, Simulated);
        runs.reverse();
        let other = bench(&runs);
        assert_eq!((other.values, other.drives), (found.values, found.drives));
    }

    #[test]
    fn runs_that_are_the_same_count_once_and_those_of_other_seeds_each() {
        let seeded = |id: &str, seed| NewRun { seed, ..run(id, "x", Kind::Simulated, 7.0) };
        let found = bench(&[seeded("a", 1), seeded("b", 1), seeded("c", 1), seeded("d", 2)]);
        let repeats: Vec<_> = found.runs.iter().map(|run| run.same_as.as_deref()).collect();
        assert_eq!(repeats, [None, Some("a"), Some("a"), None]);
        assert_eq!(found.values[0].of, [0, 3]);
        // Whoever names one of them alone sees it.
        assert_eq!(found.values_of_runs(&[1])[0].of, [1]);
        assert_eq!(found.values_of_runs(&[0, 1])[0].of, [0]);
    }

    #[test]
    fn a_doubt_about_some_figures_is_none_about_others() {
        let metric = |id: &str| Metric {
            id: id.to_owned(),
            ..run("", "", Kind::Measured, 1.0).figures[0].0.clone()
        };
        let doubted = |id: &str, undoubted: &[&str]| NewRun {
            figures: vec![(metric("z.fresh"), 1.0), (metric("a.floor"), 2.0)],
            doubts: vec!["It fell at once.".to_owned()],
            undoubted: undoubted.iter().map(|id| (*id).to_owned()).collect(),
            may_win: false,
            ..run(id, "x", Kind::Measured, 0.0)
        };
        let told = |runs: &[NewRun]| {
            let bench = bench(runs);
            let of = |value: &Value| {
                (bench.metrics[value.metric].id.clone(), value.doubted, value.may_win)
            };
            bench.values.iter().map(of).collect::<Vec<_>>()
        };
        let is = |id: &str, doubted: bool| (id.to_owned(), doubted, !doubted);
        let some = doubted("a", &["a.floor"]);
        assert_eq!(told(std::slice::from_ref(&some)), [is("z.fresh", true), is("a.floor", false)]);
        let (floor, fresh) = (is("a.floor", true), is("z.fresh", true));
        assert_eq!(
            told(&[some.clone(), NewRun { seed: 2, ..doubted("b", &[]) }]),
            [fresh.clone(), floor]
        );
        // Nobody may win before the end.
        let running = NewRun { status: Status::Running, ..some };
        assert_eq!(told(&[running]), [fresh, ("a.floor".to_owned(), false, false)]);
    }

    #[test]
    fn a_number_that_is_none_is_no_figure() {
        assert_eq!(bench(&[run("a", "x", Kind::Measured, f64::NAN)]).values, []);
    }
}
