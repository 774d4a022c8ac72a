//! What reviewers did to drives, step by step, and what they read off: `treatments.toml`.
//!
//! A [`Treatment`] begins with a purge and reads top to bottom as its reviewer describes it. What
//! is read off one of its steps is a [`Scenario`], the situation that a published figure is about.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize, Serializer};
use writecliff_device::{Bytes, Content, Durability, Nanos, Operation};

use super::quantity::Quantity;
use super::test_system::{DESKTOP, HostCost};
use crate::tests::consistency;

/// The treatments that ship with Writecliff.
static TREATMENTS: LazyLock<Treatments> = LazyLock::new(|| {
    let text = include_str!("../../../../../drives/published/treatments.toml");
    Treatments::parse(text).unwrap_or_else(|error| panic!("treatments.toml: {error}"))
});

/// A purge and what comes after it.
#[derive(Debug)]
pub(super) struct Treatment {
    pub(super) name: String,
    /// The computer that it was done with.
    pub(super) host: HostCost,
    /// It is done to a scale model of so many parts: what it takes goes by drive writes.
    pub(super) scale: u32,
    pub(super) steps: Vec<Step>,
}

/// One step of a treatment.
#[derive(Debug)]
pub(super) enum Step {
    /// A load, until it ends, and the scenarios that are read off it.
    Do(Load, Until, Vec<Scenario>),
    /// Nothing happens for so long.
    Rest(Nanos),
    /// TRIM of every LBA.
    Trim,
}

/// I/Os of one kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    pub(super) operation: Operation,
    pub(super) order: Order,
    pub(super) block: Bytes,
    /// I/Os under way; what the drive's queue does not take waits in the host.
    pub(super) depth: usize,
    pub(super) span: Span,
    /// Of random places: all I/Os go to so many percent of them, which lie scattered over the span.
    pub(super) hot_percent: Option<u32>,
    pub(super) content: Content,
    /// When a write is complete.
    pub(super) durability: Durability,
}

impl Load {
    /// Writes of data that do not compress, 32 at a time, as reviews do them.
    pub(super) fn writes(order: Order, span: Span) -> Self {
        let block = if order == Order::Anywhere { SMALL } else { LARGE };
        Self {
            operation: Operation::Write,
            order,
            block,
            depth: DEPTH,
            span,
            hot_percent: None,
            content: Content::INCOMPRESSIBLE,
            durability: Durability::Later,
        }
    }
}

/// Which addresses follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Order {
    /// From the first one on.
    #[serde(rename = "in-order")]
    FromFirst,
    /// From where the last such load stopped.
    Onward,
    /// Uniformly random.
    Anywhere,
}

/// The part of the drive that a load goes to, from its first LBA.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Span {
    /// So many percent of it.
    Percent(f64),
    /// What the consistency test uses with so many percent of spare area.
    Spare(f64),
    /// So many bytes, or all of a smaller drive.
    First(Bytes),
    /// All but so many bytes; half of a drive that has no more.
    AllBut(Bytes),
}

/// When a load ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Until {
    /// After so long.
    After(Nanos),
    /// When so many percent of its span were moved.
    Moved(f64),
}

/// A situation that figures are published about, and how a figure is read off it.
#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    /// What it is called in files.
    pub name: &'static str,
    /// What kind of behaviour its figures show.
    pub class: Class,
    pub(super) statistic: Statistic,
    /// Its treatment, as an index into the list of them.
    pub(super) treatment: usize,
}

/// What is read off the seconds of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Statistic {
    /// While from so many to so many percent of the span were moved.
    Between(u32, u32),
    /// The slowest minute, and after how much of the span its middle came. A scale model's minute is as
    /// much shorter as it is smaller.
    SlowestMinute,
    SlowestMinuteAt,
    Mean,
    Slowest,
    Fastest,
    /// The slowest of a hundred seconds.
    P1,
    /// What a program sees that keeps its I/Os under way, wherever they queue.
    Latency,
    SteadyMean,
    SteadySlowest,
    SteadyFastest,
    SteadyP1,
}

/// What kind of behaviour a figure shows; the model's errors are summed up by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// The rate of a drive that is fresh, or as good as.
    Rate,
    /// What is left when spare area is used up, and what rest and TRIM bring back.
    Used,
    /// How long one I/O takes, or the rate of one at a time.
    Latency,
}

impl Scenario {
    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        TREATMENTS.scenarios.get(name).copied()
    }

    /// Whether this is it, or with `*` behind it the beginning of its name.
    pub fn is_named_by(self, text: &str) -> bool {
        match text.strip_suffix('*') {
            Some(beginning) => self.name.starts_with(beginning),
            None => self.name == text,
        }
    }

    /// If it is a stretch of a course: what course, and from how many to how many percent of the span were
    /// written in it.
    pub fn stretch(self) -> Option<(&'static str, u32, u32)> {
        let Statistic::Between(from, to) = self.statistic else { return None };
        Some((self.name.split('-').next().unwrap_or(self.name), from, to))
    }

    pub(super) fn quantity(self) -> Quantity {
        match self.statistic {
            Statistic::Latency => Quantity::Time,
            Statistic::SlowestMinuteAt => Quantity::Share,
            _ => Quantity::Rate,
        }
    }

    pub(super) fn treatment(self) -> &'static Treatment {
        &TREATMENTS.treatments[self.treatment]
    }
}

/// Every scenario, by name.
pub fn scenarios() -> impl Iterator<Item = Scenario> {
    TREATMENTS.scenarios.values().copied()
}

impl PartialEq for Scenario {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Serialize for Scenario {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

/// All of a file.
#[derive(Debug)]
struct Treatments {
    treatments: Vec<Treatment>,
    scenarios: BTreeMap<&'static str, Scenario>,
}

/// The file as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    treatment: Vec<WrittenTreatment>,
    #[serde(default)]
    sequence: BTreeMap<String, WrittenSequence>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTreatment {
    name: String,
    #[serde(default)]
    used: bool,
    host: Option<HostCost>,
    #[serde(default = "whole")]
    scale: u32,
    steps: Vec<WrittenStep>,
}

fn whole() -> u32 {
    1
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenSequence {
    steps: Vec<WrittenStep>,
}

/// Every key that a step may have; which of them go together is seen when it is read.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct WrittenStep {
    write: Option<Order>,
    read: Option<Order>,
    depth: Option<usize>,
    block: Option<Bytes>,
    span: Option<String>,
    hot: Option<String>,
    content: Option<String>,
    durability: Durability,
    #[serde(rename = "for")]
    lasts: Option<Nanos>,
    over: Option<String>,
    gives: BTreeMap<String, Statistic>,
    rest: Option<Nanos>,
    trim: bool,
    again: Option<String>,
    state: String,
}

/// I/Os in flight where nothing else is said.
const DEPTH: usize = 32;
/// A transfer of a load in order, and of one anywhere: "4KB".
const LARGE: Bytes = Bytes::from_kib(128);
const SMALL: Bytes = Bytes::from_kib(4);
/// A page of such data all but vanishes, and what is left is the drive's own least share.
const REPEATING: Content = Content { compressible_percent: 100, duplicate_percent: 0 };

impl Treatments {
    fn parse(text: &str) -> Result<Self, String> {
        let written: Written = toml::from_str(text).map_err(|error| error.to_string())?;
        let mut all = Self { treatments: Vec::new(), scenarios: BTreeMap::new() };
        for WrittenTreatment { name, used, host, scale, steps } in &written.treatment {
            let steps = all.steps(steps, &written.sequence, *used);
            let steps = steps.map_err(|reason| format!("'{name}': {reason}"))?;
            let host = host.unwrap_or(DESKTOP);
            let (name, scale) = (name.clone(), *scale);
            all.treatments.push(Treatment { name, host, scale, steps });
        }
        Ok(all)
    }

    /// The steps, those of a sequence in the place of `again`.
    fn steps(
        &mut self,
        steps: &[WrittenStep],
        sequences: &BTreeMap<String, WrittenSequence>,
        used: bool,
    ) -> Result<Vec<Step>, String> {
        let mut read = Vec::new();
        for step in steps {
            let Some(sequence) = &step.again else {
                read.push(self.step(step, "", used)?);
                continue;
            };
            let sequence = sequences.get(sequence).ok_or(format!("no sequence '{sequence}'"))?;
            for one in &sequence.steps {
                read.push(self.step(one, &step.state, used)?);
            }
        }
        Ok(read)
    }

    fn step(&mut self, step: &WrittenStep, state: &str, used: bool) -> Result<Step, String> {
        let (operation, order) = match (step.write, step.read, step.rest, step.trim) {
            (Some(order), None, None, false) => (Operation::Write, order),
            (None, Some(order), None, false) => (Operation::Read, order),
            (None, None, Some(rest), false) => return Ok(Step::Rest(rest)),
            (None, None, None, true) => return Ok(Step::Trim),
            _ => return Err(format!("neither one load nor rest nor trim: {step:?}")),
        };
        let anywhere = order == Order::Anywhere;
        let load = Load {
            operation,
            order,
            block: step.block.unwrap_or(if anywhere { SMALL } else { LARGE }),
            depth: step.depth.unwrap_or(DEPTH),
            span: step.span.as_deref().map_or(Ok(Span::Percent(100.0)), span)?,
            hot_percent: step.hot.as_deref().map(percent).transpose()?.map(|share| share as u32),
            content: match step.content.as_deref() {
                None => Content::INCOMPRESSIBLE,
                Some("repeating") => REPEATING,
                Some(other) => return Err(format!("content '{other}' is not repeating")),
            },
            durability: step.durability,
        };
        let until = match (step.lasts, step.over.as_deref()) {
            (Some(time), None) => Until::After(time),
            (None, over) => Until::Moved(over.map_or(Ok(100.0), percent)?),
            (Some(_), Some(_)) => return Err("'for' and 'over' exclude each other".to_owned()),
        };
        let mut gives = Vec::new();
        for (name, statistic) in &step.gives {
            let class = match statistic {
                Statistic::Latency => Class::Latency,
                _ if load.depth == 1 && load.block == SMALL => Class::Latency,
                _ if used => Class::Used,
                _ => Class::Rate,
            };
            // Kept as long as the program: there is one list.
            let name: &'static str = Box::leak(format!("{name}{state}").into_boxed_str());
            let (statistic, treatment) = (*statistic, self.treatments.len());
            let scenario = Scenario { name, class, statistic, treatment };
            if self.scenarios.insert(name, scenario).is_some() {
                return Err(format!("'{name}' is given twice"));
            }
            gives.push(scenario);
        }
        Ok(Step::Do(load, until, gives))
    }
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.parse().ok());
    number.filter(|number| (0.0..=1000.0).contains(number)).ok_or(format!("'{text}' is no share"))
}

fn span(text: &str) -> Result<Span, String> {
    let bytes = |text: &str| text.parse().map_err(|error| format!("span '{text}': {error}"));
    if let Some(spare) = text.strip_prefix("spare ") {
        return percent(spare).map(Span::Spare);
    }
    if let Some(rest) = text.strip_prefix('-') {
        return bytes(rest).map(Span::AllBut);
    }
    if text.ends_with('%') {
        percent(text).map(Span::Percent)
    } else {
        bytes(text).map(Span::First)
    }
}

impl Load {
    /// The bytes that it goes to on a drive of this capacity, in whole blocks.
    pub(super) fn span(&self, capacity: Bytes) -> Bytes {
        let share = |percent: f64| Bytes((capacity.0 as f64 * percent / 100.0) as u64);
        let bytes = match self.span {
            Span::Percent(percent) => share(percent),
            Span::Spare(spare_percent) => {
                consistency::Plan { spare_percent, ..consistency::Plan::default() }.used(capacity)
            }
            Span::First(bytes) => bytes.min(capacity),
            Span::AllBut(bytes) if capacity.0 > 2 * bytes.0 => capacity - bytes,
            Span::AllBut(_) => share(50.0),
        };
        SMALL * (bytes.0 / SMALL.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(steps: &str) -> Result<Treatments, String> {
        Treatments::parse(&format!(
            "sequence.pair.steps = [{{ rest = \"1s\" }}, {{ read = \"anywhere\", gives = {{ x = \"mean\" }} }}]\n\
             [[treatment]]\nname = \"a\"\nused = true\nsteps = [{steps}]"
        ))
    }

    #[test]
    fn steps_read_as_they_are_written() {
        let all = parse(
            "{ write = \"in-order\" }, { trim = true }, { again = \"pair\", state = \"-used\" }, \
             { read = \"anywhere\", depth = 1, span = \"1GB\", for = \"5s\", gives = { y = \"latency\" } }",
        );
        let all = all.unwrap();
        let steps = &all.treatments[0].steps;
        let [
            Step::Do(fill, Until::Moved(100.0), _),
            Step::Trim,
            Step::Rest(rest),
            Step::Do(..),
            Step::Do(read, until, _),
        ] = &steps[..]
        else {
            panic!("{steps:?}")
        };
        assert_eq!((fill.block, fill.depth, *rest), (LARGE, 32, Nanos::from_secs(1)));
        assert_eq!((read.block, read.depth), (SMALL, 1));
        assert_eq!(*until, Until::After(Nanos::from_secs(5)));
        assert_eq!(all.scenarios["x-used"].class, Class::Used);
        assert_eq!(all.scenarios["y"].class, Class::Latency);
    }

    #[test]
    fn a_step_that_cannot_be_done_says_why() {
        for (steps, expected) in [
            ("{ rest = \"1s\", trim = true }", "neither one load"),
            ("{ write = \"anywhere\", span = \"1 mile\" }", "span '1 mile'"),
            ("{ write = \"anywhere\", over = \"half\" }", "'half' is no share"),
            ("{ write = \"anywhere\", for = \"1s\", over = \"50%\" }", "exclude each other"),
            ("{ again = \"twice\" }", "no sequence 'twice'"),
            ("{ again = \"pair\" }, { again = \"pair\" }", "'x' is given twice"),
            ("{ write = \"anywhere\", gives = { x = \"median\" } }", "median"),
            ("{ wait = \"1s\" }", "wait"),
        ] {
            let error = parse(steps).expect_err(steps);
            assert!(error.contains(expected), "{steps} gave {error}");
        }
    }

    #[test]
    fn spans_are_parts_of_the_drive() {
        let load = |text| Load {
            operation: Operation::Read,
            order: Order::FromFirst,
            block: LARGE,
            depth: 1,
            span: span(text).unwrap(),
            hot_percent: None,
            content: Content::INCOMPRESSIBLE,
            durability: Durability::Later,
        };
        let all = Bytes(100_000_000_000);
        for (text, percent) in [
            ("100%", 100),
            ("50%", 50),
            ("spare 25%", 75),
            ("8GB", 8),
            ("500GB", 100),
            ("-10GB", 90),
            ("-60GB", 50),
        ] {
            let expected = all.0 * percent / 100;
            assert!(expected - load(text).span(all).0 < SMALL.0, "{text}");
        }
    }

    #[test]
    fn what_ships_can_be_done() {
        assert!(scenarios().count() > 80);
        assert_eq!(
            Scenario::named("steady-mean").map(|scenario| scenario.class),
            Some(Class::Used)
        );
    }
}
