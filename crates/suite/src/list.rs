//! The one list of tests, and what is made from it: the table, and the enums of plans and outcomes.
//!
//! A test is a line here, a module with a plan that is a [`Test`], and its part of the report
//! (`sections/` there). Nothing below names it.

use std::any::Any;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use writecliff_device::{Bytes, DeviceInfo, Mechanism, with_nearest};
use writecliff_measure::Recording;
use writecliff_trace::ReadError;

use crate::method::estimate::{Demands, Estimate, lacks};
use crate::method::fast_part::FastPart;
use crate::method::limits::{PlanError, check_duration};
use crate::method::overrides::{Choice, Overrides};
use crate::method::session::{RunError, Session};
use crate::method::test::{InReviews, Known, Test};
use crate::record::efficiency::Efficiency;
use crate::record::figure::Figure;
use crate::record::imported::ImportedFrom;
use crate::record::judged::Judged;
use crate::record::phase::Phase;
use crate::record::run_record::Record;
use crate::record::trace_facts::TraceFacts;
use crate::record::warning::Warning;

/// A row of the table of tests.
#[derive(Debug)]
pub struct TestEntry {
    /// What it is called on the command line and in files.
    pub name: &'static str,
    /// What it answers.
    pub question: &'static str,
    /// Which reviews have it.
    pub reviews: InReviews,
    /// What a user may change in its plan, beside the seed.
    pub choices: &'static [Choice],
    /// Raised when equal plans give figures that are not to be held against those of before.
    pub method_version: u32,
    /// The method's plan.
    pub plan: fn() -> Plan,
}

impl TestEntry {
    /// The test of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        TESTS.iter().find(|test| test.name == name)
    }

    /// Refuses what was changed that is no choice of this test.
    fn check(&self, overrides: &Overrides) -> Result<(), PlanError> {
        let has = |test: &Self, key| test.choices.iter().any(|choice| choice.key() == key);
        let wrong = overrides.given().into_iter().find(|(key, _)| !has(self, *key));
        let Some((option, got)) = wrong else {
            return overrides.duration.map_or(Ok(()), |time| check_duration("duration", time));
        };
        let others = TESTS.iter().filter(|test| has(test, option)).map(|test| test.name);
        let others = others.collect::<Vec<_>>().join(", ");
        let name = self.name;
        let reason = format!("{name} has no such option ({others}); what it has is in its plan");
        Err(PlanError { option, got, reason })
    }
}

/// The list of tests, in the order of a review, for whatever is made from it: `callback` is a macro
/// that takes a name of [`Plan`] and [`Outcome`] and a module for each.
#[macro_export]
macro_rules! for_each_test {
    ($callback:ident) => {
        $callback! {
            Consistency consistency
            SpareArea spare_area
            Trim trim
            WholeDrive whole_drive
            Recovery recovery
            Corners corners
            Incompressible incompressible
            TransferSize transfer_size
            Stutter stutter
            StorageBench storage_bench
            Power power
            SteadyState steady_state
            Mixed mixed
            Integrity integrity
            Encryption encryption
            Heat heat
            Idle idle
            WorkingSet working_set
            Skew skew
            Fullness fullness
            QueueDepth queue_depth
            LatencyAtLoad latency_at_load
            Commit commit
            CostModel cost_model
            ReadWriteMix read_write_mix
            Suite suite
        }
    };
}

/// Makes all that follows from the list of tests.
macro_rules! tests {
    ($($variant:ident $module:ident)*) => {
        /// All tests, in the order of a review.
        pub const TESTS: &[TestEntry] = &[$(TestEntry {
            name: crate::tests::$module::Plan::NAME,
            question: crate::tests::$module::Plan::QUESTION,
            reviews: crate::tests::$module::Plan::REVIEWS,
            choices: crate::tests::$module::Plan::CHOICES,
            method_version: crate::tests::$module::Plan::METHOD_VERSION,
            plan: || Plan::$variant(crate::tests::$module::Plan::default()),
        }),*];

        $(impl crate::tests::$module::Plan {
            /// What the test is called on the command line and in files.
            pub const NAME: &'static str = <Self as Test>::NAME;
        })*

        /// A test and what it is to do.
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(tag = "test", rename_all = "kebab-case")]
        pub enum Plan {
            $(
                #[doc = concat!("See [`", stringify!($module), "`](crate::", stringify!($module), ").")]
                $variant(crate::tests::$module::Plan),
            )*
        }

        /// A test's answer.
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(tag = "test", rename_all = "kebab-case")]
        pub enum Outcome {
            $(
                #[doc = concat!("See [`", stringify!($module), "`](crate::", stringify!($module), ").")]
                $variant(crate::tests::$module::Outcome),
            )*
        }

        impl Plan {
            /// Where the test stands in [`TESTS`].
            fn index(&self) -> usize {
                enum Place { $($variant),* }
                let place = match self { $(Self::$variant(_) => Place::$variant,)* };
                place as usize
            }

            /// Checks the plan against the drive, before anything is done to it.
            ///
            /// # Errors
            /// [`PlanError`] with what to change.
            pub fn check(&self, drive: &DeviceInfo) -> Result<(), PlanError> {
                match self { $(Self::$variant(plan) => plan.check(drive),)* }
            }

            /// The plan with what the user changed.
            ///
            /// # Errors
            /// [`PlanError`] if the test has no such option.
            pub fn with(self, overrides: &Overrides) -> Result<Self, PlanError> {
                self.entry().check(overrides)?;
                match self {
                    $(Self::$variant(plan) => {
                        let mut plan = plan.with(overrides)?;
                        plan.seed = overrides.seed.unwrap_or(plan.seed);
                        Ok(Self::$variant(plan))
                    })*
                }
            }

            /// The plan cut down to minutes: shorter, and on a small part of the drive.
            #[must_use]
            pub fn quick(self) -> Self {
                match self { $(Self::$variant(plan) => Self::$variant(plan.quick()),)* }
            }

            /// The plan as a review runs it, in which a small drive is no reason to refuse.
            #[must_use]
            pub(crate) fn fitted(self, drive: &DeviceInfo) -> Self {
                match self { $(Self::$variant(plan) => Self::$variant(plan.fitted(drive)),)* }
            }

            /// The plan with what it leaves to the kind of drive decided.
            #[must_use]
            pub(crate) fn on(self, drive: &DeviceInfo) -> Self {
                match self { $(Self::$variant(plan) => Self::$variant(plan.on(drive)),)* }
            }

            /// Decides everything that is random in the test.
            pub fn seed(&self) -> u64 {
                match self { $(Self::$variant(plan) => plan.seed,)* }
            }

            /// How large the file is that the test makes where it is run in a directory.
            pub fn file_size(&self) -> Bytes {
                match self { $(Self::$variant(plan) => plan.file_size(),)* }
            }

            /// The most I/Os in flight and the longest of them.
            pub fn demands(&self) -> Demands {
                match self { $(Self::$variant(plan) => plan.demands(),)* }
            }

            /// How long it will take and how much it will write, roughly.
            pub fn estimate(&self, drive: &DeviceInfo) -> Estimate {
                if self.needs().iter().any(|needed| lacks(drive, *needed)) {
                    return Estimate::on(drive);
                }
                match self { $(Self::$variant(plan) => plan.estimate(drive),)* }
            }

            /// Whether the test destroys what is on the drive; one that does not opens it only to
            /// read.
            pub fn writes(&self) -> bool {
                match self { $(Self::$variant(plan) => plan.writes(),)* }
            }

            /// What a model of a drive must do for the test's figures to mean anything.
            pub(crate) fn needs(&self) -> &'static [Mechanism] {
                match self { $(Self::$variant(_) => <crate::tests::$module::Plan as Test>::NEEDS,)* }
            }

            /// Whether the drive is purged for it.
            pub fn purges(&self) -> bool {
                match self { $(Self::$variant(plan) => plan.purges(),)* }
            }

            /// Whether `other` asks the same of a drive. Where a file lies is no part of that, nor
            /// is a seed that only decides the bytes written.
            pub fn asks_as(&self, other: &Self) -> bool {
                match (self, other) {
                    $((Self::$variant(plan), Self::$variant(other)) => plan.asks_as(other),)*
                    _ => false,
                }
            }

            /// The plan without what no drive notices: where a file lies, what a person calls it.
            fn as_asked(&self) -> Self {
                match self { $(Self::$variant(plan) => Self::$variant(plan.as_asked()),)* }
            }

            /// Whether the test's I/Os have due times.
            pub(crate) fn keeps_time(&self) -> bool {
                match self { $(Self::$variant(plan) => plan.keeps_time(),)* }
            }

            /// Whether the drive is to become warm.
            pub(crate) fn warms(&self) -> bool {
                match self { $(Self::$variant(plan) => plan.warms(),)* }
            }

            /// Whether all that a series of this name holds is to be one rate.
            pub(crate) fn spare_of(&self, series: &str) -> Option<f64> {
                match self { $(Self::$variant(plan) => plan.spare_of(series),)* }
            }

            /// See [`Test::is_one_rate`].
            pub(crate) fn is_one_rate(&self, series: &str, second: u32) -> bool {
                match self { $(Self::$variant(plan) => plan.is_one_rate(series, second),)* }
            }

            /// How much of a drive of this capacity the test writes at a time, if that may be less than a
            /// fast buffer which it does not find then.
            pub(crate) fn written_at_a_time(&self, capacity: Bytes) -> Option<Bytes> {
                match self { $(Self::$variant(plan) => plan.written_at_a_time(capacity),)* }
            }

            /// Reads the plan of the test of this name; `None` if there is no such test. What is
            /// left out is the method's.
            ///
            /// # Errors
            /// The deserializer's, with the key that is unknown or has the wrong type.
            pub fn read<'de, D: Deserializer<'de>>(
                test: &str,
                from: D,
            ) -> Option<Result<Self, D::Error>> {
                match test {
                    $(crate::tests::$module::Plan::NAME => {
                        Some(crate::tests::$module::Plan::deserialize(from).map(Self::$variant))
                    })*
                    _ => None,
                }
            }

            /// The names of all figures of the test's own that a run of this plan can have; `None` if
            /// one has to be seen for that.
            pub fn figure_names(&self) -> Option<Vec<String>> {
                match self { $(Self::$variant(plan) => plan.figure_names(),)* }
            }

            /// Whether a figure of this name is one that only some runs have: of what not every drive
            /// has or does, or of a phase that was long enough.
            pub fn is_not_always(&self, figure: &str) -> bool {
                let parts = match self {
                    $(Self::$variant(_) => <crate::tests::$module::Plan as Test>::NOT_ALWAYS,)*
                };
                let mut parts = parts.iter().chain(Efficiency::FIGURES);
                parts.any(|part| figure.contains(part))
                    || self.figure_names().is_none() && is_percentile(figure)
            }

            /// What is known of the traces that the test does, as they are now.
            pub(crate) fn traces(&self) -> Result<Vec<TraceFacts>, ReadError> {
                match self { $(Self::$variant(plan) => plan.traces(),)* }
            }

            pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
                match self { $(Self::$variant(plan) => plan.run(session),)* }
            }

            /// The outcome that this plan's test has found.
            ///
            /// # Panics
            /// If it is another test's.
            pub(crate) fn outcome(&self, found: Box<dyn Any>) -> Outcome {
                let found = match self {
                    $(Self::$variant(_) => found.downcast().map(|own| Outcome::$variant(*own)),)*
                };
                found.unwrap_or_else(|_| panic!("{} found another test's outcome", self.name()))
            }

            pub(crate) fn conclude(
                &self,
                recording: &Recording,
                known: &Known<'_>,
                found: Option<&Outcome>,
                phases: &[Phase],
            ) -> (Option<Outcome>, Vec<Warning>) {
                match self {
                    $(Self::$variant(plan) => {
                        let found = match found {
                            Some(Outcome::$variant(found)) => Some(found),
                            _ => None,
                        };
                        let (outcome, warnings) = plan.conclude_from(recording, known, found);
                        let outcome = outcome.map(|outcome| plan.with_phases(outcome, phases));
                        (outcome.map(Outcome::$variant), warnings)
                    })*
                }
            }
        }

        impl<'de> Deserialize<'de> for Plan {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let (test, values) = by_test(from)?;
                let read = Self::read(&test, values);
                read.ok_or_else(|| D::Error::unknown_variant(&test, NAMES))?.map_err(D::Error::custom)
            }
        }

        impl<'de> Deserialize<'de> for Outcome {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let (test, values) = by_test(from)?;
                let read = match test.as_str() {
                    $(crate::tests::$module::Plan::NAME => {
                        crate::tests::$module::Outcome::deserialize(values).map(Self::$variant)
                    })*
                    _ => return Err(D::Error::unknown_variant(&test, NAMES)),
                };
                read.map_err(D::Error::custom)
            }
        }

        /// What tests are called.
        const NAMES: &[&str] = &[$(crate::tests::$module::Plan::NAME),*];

        impl Outcome {
            /// The results as numbers, the most telling first.
            pub fn figures(&self) -> Vec<Figure> {
                match self { $(Self::$variant(outcome) => crate::tests::$module::Plan::figures(outcome),)* }
            }

            /// What the plan itself asks of the drive, and whether it was so.
            pub fn targets(&self) -> Vec<Judged> {
                match self { $(Self::$variant(outcome) => crate::tests::$module::Plan::targets(outcome),)* }
            }

            /// What the two runs were done with, by name, if it was not the same for both.
            pub fn other_input(&self, other: &Self) -> Option<String> {
                match (self, other) {
                    $((Self::$variant(outcome), Self::$variant(other)) => {
                        crate::tests::$module::Plan::other_input(outcome, other)
                    })*
                    _ => None,
                }
            }

            /// Which program measured it, if it was another one.
            pub fn imported_from(&self) -> Option<&ImportedFrom> {
                match self {
                    $(Self::$variant(outcome) => crate::tests::$module::Plan::imported_from(outcome),)*
                }
            }

            /// The drive's fast buffer, if the test found one.
            pub fn fast_part(&self) -> Option<FastPart> {
                match self { $(Self::$variant(outcome) => crate::tests::$module::Plan::fast_part(outcome),)* }
            }
        }
    };
}

/// Whether a figure of this name is one that few I/Os do not make.
fn is_percentile(figure: &str) -> bool {
    figure.split([' ', ',']).any(|word| word.starts_with("p99"))
}

for_each_test!(tests);

/// A run of any of the tests, as `run.json` holds it.
pub type RunRecord = Record<Plan, Outcome>;

/// A table's values, without the name of the test that they belong to. All of it is read before any
/// test's part, so that those are compiled for this one kind of value and not for whatever a table may
/// be written in.
fn by_test<'de, D: Deserializer<'de>>(from: D) -> Result<(String, Value), D::Error> {
    let mut values = Map::<String, Value>::deserialize(from)?;
    match values.remove("test") {
        Some(Value::String(test)) => Ok((test, Value::Object(values))),
        Some(other) => Err(D::Error::custom(format!("the name of a test is no {other}"))),
        None => Err(D::Error::missing_field("test")),
    }
}

impl Plan {
    /// The test's row in the table.
    pub fn entry(&self) -> &'static TestEntry {
        &TESTS[self.index()]
    }

    /// The test's name.
    pub fn name(&self) -> &'static str {
        self.entry().name
    }

    /// The plan with these of its keys changed; as on the command line, who sets a duration wants that, and
    /// no more until the drive is steady.
    ///
    /// # Errors
    /// [`PlanError`] with the first key that it does not have, or whose value will not do.
    pub fn with_keys(self, keys: &Map<String, Value>) -> Result<Self, PlanError> {
        let is_cut = keys.contains_key("duration") && self.values().contains_key("until_steady");
        let ends = (is_cut && !keys.contains_key("until_steady"))
            .then(|| ("until_steady".to_owned(), Value::from("no")));
        let ends = ends.as_ref().map(|(key, value)| (key, value));
        keys.iter().chain(ends).try_fold(self, |plan, (key, value)| {
            let mut values = plan.values();
            values.insert(key.clone(), value.clone());
            values.remove("test");
            let read = Self::read(plan.name(), Value::Object(values)).unwrap_or(Ok(plan));
            read.map_err(|error| PlanError {
                option: "the plan's key",
                got: format!("{key} = {value}"),
                reason: with_nearest(&error.to_string()),
            })
        })
    }

    /// Every key with its value, and the test's name as `test`.
    fn values(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(values)) => values,
            other => unreachable!("a plan is a table of plain data: {other:?}"),
        }
    }

    /// What was asked, key by key, without the seed: runs that agree in it, in the test and in its
    /// [method version](TestEntry::method_version) were given the same to do.
    pub fn asked(&self) -> Map<String, Value> {
        let mut asked = self.as_asked().values();
        asked.remove("test");
        asked.remove("seed");
        asked
    }
}
