//! Whether what is compared did the same, and what differs if it did not.

use std::collections::BTreeMap;

use serde_json::Value;
use writecliff_suite::{Plan, consistency};

use crate::number;
use crate::run::Run;
use crate::subject::Subject;

/// What the runs of one test did not have in common.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Difference {
    /// The test. A spare area is one more setting of the consistency test.
    pub(crate) test: &'static str,
    /// `consistency: duration 15 s (A), 33 min 20 s (B)`.
    pub(crate) text: String,
}

/// A run's part in a comparison: whose it is, and what it did.
struct Load<'a> {
    who: String,
    run: &'a Run,
    plan: Plan,
}

/// A difference for each test that was not the same everywhere. Not looked at is what leaves the
/// load alone: which settings of the spare area there are, where a trace's file lies, seeds that
/// decide nothing but the bytes.
pub(crate) fn differences(subjects: &[Subject], names: &[String]) -> Vec<Difference> {
    let mut by_test: Vec<(&'static str, Vec<Load<'_>>)> = Vec::new();
    for (subject, name) in subjects.iter().zip(names) {
        for run in &subject.runs {
            let plan = load(&run.record.plan);
            let test = plan.name();
            let load = Load { who: name.clone(), run, plan };
            match by_test.iter_mut().find(|(of, _)| *of == test) {
                Some((_, loads)) => loads.push(load),
                None => by_test.push((test, vec![load])),
            }
        }
    }
    by_test.into_iter().filter_map(|(test, loads)| difference(test, &loads)).collect()
}

/// Tests that every one of these has run, and those that only some have: what a model has no mechanism
/// for was asked of it, and not run.
pub(crate) fn in_common(subjects: &[Subject]) -> (Vec<&'static str>, Vec<&'static str>) {
    let tests_of = |subject: &Subject, is_of: fn(&Run) -> bool| -> Vec<&'static str> {
        let runs = subject.runs.iter().filter(|run| is_of(run));
        runs.map(|run| run.record.plan.name()).collect()
    };
    let each: Vec<_> = subjects.iter().map(|subject| tests_of(subject, Run::is_measured)).collect();
    let mut all: Vec<&'static str> = Vec::new();
    for test in subjects.iter().flat_map(|subject| tests_of(subject, |_| true)) {
        if !all.contains(&test) {
            all.push(test);
        }
    }
    all.into_iter().partition(|test| each.iter().all(|tests| tests.contains(test)))
}

/// The plan that is to be equal.
fn load(plan: &Plan) -> Plan {
    match plan {
        Plan::Consistency(plan) => {
            Plan::Consistency(consistency::Plan { spare_percent: 0.0, ..plan.clone() })
        }
        Plan::SpareArea(plan) => Plan::Consistency(plan.at(0.0)),
        plan => plan.clone(),
    }
}

fn difference(test: &'static str, loads: &[Load<'_>]) -> Option<Difference> {
    let first = &loads[0];
    let mut parts = Vec::new();
    if !loads.iter().all(|load| first.plan.asks_as(&load.plan)) {
        parts = differing_keys(loads);
        // Parts of the same names in another order are another load all the same.
        if parts.is_empty() {
            parts.push("its parts are not in the same order".to_owned());
        }
    }
    let other_trace = loads.iter().find_map(|load| {
        let outcomes = first.run.record.outcome.as_ref().zip(load.run.record.outcome.as_ref());
        outcomes.and_then(|(one, other)| one.other_input(other))
    });
    parts.extend(other_trace.map(|trace| format!("{trace} is not the same trace everywhere")));
    let text = format!("{test}: {}", parts.join("; "));
    (!parts.is_empty()).then_some(Difference { test, text })
}

/// The keys of the plans that have several values, each value with those who have it.
fn differing_keys(loads: &[Load<'_>]) -> Vec<String> {
    let plans: Vec<BTreeMap<String, Value>> =
        loads.iter().map(|load| keys_of(&load.plan)).collect();
    let mut keys: Vec<&String> = plans.iter().flat_map(BTreeMap::keys).collect();
    keys.sort();
    keys.dedup();
    let is_part = |key: &&&String| key.ends_with('\'');
    let has = |plan: &BTreeMap<String, Value>, key: &String| plan.contains_key(key);
    // A job that only some have is told once, and none of its keys.
    let missing: Vec<String> = keys
        .iter()
        .filter(is_part)
        .filter(|part| !plans.iter().all(|plan| has(plan, part)))
        .map(|part| {
            let who = plans.iter().zip(loads).filter(|(plan, _)| has(plan, part));
            let who: Vec<&str> = who.map(|(_, load)| load.who.as_str()).collect();
            format!("{part} only in {}", who.join(", "))
        })
        .collect();
    keys.retain(|key| {
        let part = key.rsplit_once("' ").map(|(part, _)| format!("{part}'"));
        part.is_none_or(|part| plans.iter().all(|plan| has(plan, &part)))
    });
    let in_words = |key: &&String| {
        let mut values: Vec<(String, Vec<&str>)> = Vec::new();
        for (plan, load) in plans.iter().zip(loads) {
            let value = match plan.get(*key) {
                // Plans that say nothing of it end with their duration.
                None if key.as_str() == "until_steady" => "no".to_owned(),
                value => value_in_words(value),
            };
            let at = values.iter().position(|(other, _)| *other == value).unwrap_or(values.len());
            if at == values.len() {
                values.push((value, Vec::new()));
            }
            let who = &mut values[at].1;
            if !who.contains(&load.who.as_str()) {
                who.push(&load.who);
            }
        }
        let each = values.iter().map(|(value, who)| format!("{value} ({})", who.join(", ")));
        let each = each.collect::<Vec<_>>().join(", ");
        (values.len() > 1).then(|| format!("{} {each}", key.replace('_', " ")))
    };
    keys.iter().filter(|key| !is_part(key)).filter_map(in_words).chain(missing).collect()
}

/// The plan's keys with their values; those of each of its jobs and steps by its name: `jobs 'reads' pace`.
fn keys_of(plan: &Plan) -> BTreeMap<String, Value> {
    let mut keys = BTreeMap::new();
    let Ok(Value::Object(plan)) = serde_json::to_value(plan) else { return keys };
    for (key, value) in plan {
        match value {
            Value::Array(parts) if parts.iter().any(Value::is_object) => {
                for (number, part) in (1..).zip(parts) {
                    let Value::Object(mut part) = part else { continue };
                    let name = part.remove(NAME).as_ref().map(|name| value_in_words(Some(name)));
                    let mut of = format!("{key} '{}'", name.unwrap_or_default());
                    // Of no name, or of one that another has.
                    if of.ends_with(" ''") || keys.contains_key(&of) {
                        of = format!("{key} '{number}'");
                    }
                    keys.insert(of.clone(), Value::Null);
                    keys.extend(
                        part.into_iter().map(|(key, value)| (format!("{of} {key}"), value)),
                    );
                }
            }
            value => drop(keys.insert(key, value)),
        }
    }
    keys
}

/// What tells jobs and steps of a plan apart.
const NAME: &str = "name";

/// What is left out of a plan is the method's own.
fn value_in_words(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "as in the method".to_owned(),
        Some(Value::String(text)) => number::spaced(text),
        Some(Value::Object(object)) => {
            let parts =
                object.iter().map(|(key, value)| format!("{key} {}", value_in_words(Some(value))));
            parts.collect::<Vec<_>>().join(", ")
        }
        Some(other) => other.to_string(),
    }
}
