//! What commits came to.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, Durability, Layout};

use super::{PAGE_PERCENTS, Plan, Setting};
use crate::record::figure::{Figure, Good};
use crate::record::rate::{LatencyFigures, Rate};
use crate::record::unit::Unit;

/// What commits came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Commits by themselves, in the order in which they were measured.
    pub commits: Vec<Commits>,
    /// Those beside a writer of pages that used up the spare area; `None` if the run did not come to it.
    pub cliff: Option<Cliff>,
    /// Those beside one at full and at half speed, in steady state.
    pub beside: Vec<Beside>,
}

/// How far the drive is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Purged.
    Fresh,
    /// Written full, in order.
    Full,
    /// Written at random places until it was steady.
    Steady,
    /// As it was found: in a directory.
    AsItIs,
}

impl Stage {
    /// The same in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::AsItIs => "as it is",
            other => other.name(),
        }
    }

    /// A short name, as of a phase.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Full => "full",
            Self::Steady => "steady",
            Self::AsItIs => "as-it-is",
        }
    }
}

/// Commits of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Commits {
    /// How far the drive is used.
    pub stage: Stage,
    /// Which commits.
    #[serde(flatten)]
    pub setting: Setting,
    /// What they took.
    #[serde(flatten)]
    pub took: Took,
}

/// What commits took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Took {
    /// How many there were.
    pub count: u64,
    /// Commits a second, of committers that begin the next as soon as this host lets them.
    pub per_second: f64,
    /// Their mean, in nanoseconds.
    pub mean_ns: u64,
    /// Percentiles.
    pub latency: LatencyFigures,
}

/// Through the write cliff.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cliff {
    /// How long the writer of pages wrote, in seconds.
    pub seconds: u32,
    /// All commits beside it.
    pub took: Took,
    /// Stretch by stretch, 300 at most.
    pub course: Vec<Moment>,
}

/// A second or a few on the way.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// The first of these seconds.
    pub second: u32,
    /// Pages that were written a second.
    pub pages: f64,
    /// The commits' median in nanoseconds.
    pub p50_ns: u64,
    /// Their 99 %, if there were a hundred.
    pub p99_ns: Option<u64>,
    /// The longest.
    pub max_ns: u64,
}

/// Beside a writer of pages in steady state.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    /// Its speed, in percent of full.
    pub percent: u32,
    /// What it wrote.
    pub pages: Rate,
    /// What the commits took.
    pub took: Took,
}

/// What is told of each kind of commits, the most telling first.
const FIGURES: [&str; 5] = ["p99", "a second", "p50", "p99.9", "longest"];
const THROUGH_THE_CLIFF: &str = "commits through the cliff";

fn alone_name(stage: Stage, setting: Setting) -> String {
    format!("{} {}", stage.words(), setting.words())
}

fn beside_name(percent: u32) -> String {
    format!("steady commits beside pages at {percent} %")
}

/// Of a run that comes to its end.
pub(super) fn figure_names(plan: &Plan) -> Vec<String> {
    let of_stage = |stage| plan.settings().into_iter().map(move |one| alone_name(stage, one));
    let full = alone_name(Stage::Full, plan.main());
    let kinds = [Stage::Steady, Stage::Fresh]
        .into_iter()
        .flat_map(of_stage)
        .chain([full])
        .chain(PAGE_PERCENTS.map(beside_name))
        .chain([THROUGH_THE_CLIFF.to_owned()]);
    kinds.flat_map(|kind| FIGURES.map(|figure| format!("{kind}, {figure}"))).collect()
}

impl Outcome {
    /// The commits of a kind, if they were measured.
    pub fn find(&self, stage: Stage, setting: Setting) -> Option<&Commits> {
        self.commits.iter().find(|one| one.stage == stage && one.setting == setting)
    }

    /// A write and its flush of this size by one committer into such a log, if that was measured.
    pub fn flushed(&self, stage: Stage, size: Bytes, log: Layout) -> Option<&Commits> {
        let durability = Durability::Flushed;
        self.find(stage, Setting { durability, size, committers: 1, log })
    }

    pub(super) fn figures(&self) -> Vec<Figure> {
        // In steady state first: it is what a database has.
        let stages = [Stage::Steady, Stage::Fresh, Stage::Full, Stage::AsItIs];
        let by_stage = |stage| self.commits.iter().filter(move |one| one.stage == stage);
        let alone = stages.into_iter().flat_map(by_stage).flat_map(Commits::figures);
        let beside =
            self.beside.iter().flat_map(|beside| beside.took.figures(&beside_name(beside.percent)));
        let cliff = self.cliff.iter().flat_map(|cliff| cliff.took.figures(THROUGH_THE_CLIFF));
        alone.chain(beside).chain(cliff).collect()
    }
}

impl Commits {
    fn figures(&self) -> Vec<Figure> {
        let name = alone_name(self.stage, self.setting);
        let of = |figure: Figure| match self.setting.durability {
            // What is no commit is there to compare with.
            Durability::Later => figure.unjudged(),
            _ => figure,
        };
        self.took.figures(&name).into_iter().map(of).collect()
    }
}

impl Took {
    fn figures(&self, of: &str) -> Vec<Figure> {
        let name = |figure: &str| format!("{of}, {figure}");
        let [p99, rate, p50, p999, longest] = FIGURES;
        let LatencyFigures { p50_ns, p99_ns, p999_ns, max_ns, .. } = self.latency;
        let rate = Figure::new(name(rate), self.per_second, Unit::Iops, Good::AtLeast);
        let percentile = |figure: &str, nanos| Figure::percentile(name(figure), nanos);
        let figures = [
            percentile(p99, p99_ns),
            Some(rate),
            percentile(p50, Some(p50_ns)),
            percentile(p999, p999_ns).map(Figure::unjudged),
            percentile(longest, Some(max_ns)).map(Figure::unjudged),
        ];
        figures.into_iter().flatten().map(|figure| figure.of(of)).collect()
    }
}
