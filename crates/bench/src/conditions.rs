//! What figures were got under: all that has to be equal before they are ranked together.

use std::collections::BTreeMap;

use serde_json::Value;
use sha2::{Digest, Sha256};
use writecliff::RunRecord;
use writecliff::device::{DeviceKind, Nanos, Purge};
use writecliff::suite::Status;

use crate::model::{Conditions, Kind};

/// Digits of the hashes that links have.
const ID_DIGITS: usize = 12;

/// A drive without anything left of what was done to it before.
const FRESH: &str = "secure erase, which a disk needs none of";

/// Key of [`Conditions::parts`]: the version of the model, of simulated results.
const MODEL: &str = "model";

impl Conditions {
    /// Those of a run; none of one without a drive.
    pub fn of(record: &RunRecord) -> Option<Self> {
        let kind = match record.drive.kind {
            DeviceKind::Simulated => Kind::Simulated,
            DeviceKind::BlockDevice | DeviceKind::File => Kind::Measured,
            DeviceKind::Directory | DeviceKind::Null => return None,
        };
        let quick = record.is_quick() || record.options.quick;
        let unfinished = record.status != Status::Complete;
        let differs = differing(record);
        let mut parts = BTreeMap::new();
        for (key, value) in record.plan.asked() {
            take_apart(plain(&key), &value, &mut parts);
        }
        parts.extend(beside_the_plan(record));
        if quick {
            parts.insert("quick".to_owned(), "yes".to_owned());
        }
        if unfinished {
            // Runs that were cut off at different times tell of different things.
            parts.insert("cut off".to_owned(), format!("after {}", lasted(record)));
        }
        let mut words = Vec::new();
        words.extend(quick.then(|| "quick, not a result".to_owned()));
        words.extend(unfinished.then(|| format!("not finished, cut off after {}", lasted(record))));
        words.push(if differs.is_empty() {
            "as the method says".to_owned()
        } else {
            differs.join(", ")
        });
        words.extend(remarks(record));
        let standard = !quick && !unfinished && differs.is_empty();
        Some(
            Self::new(record.plan.name(), kind, standard, words.join("; "), parts)
                .marked(quick, unfinished),
        )
    }

    /// With the id that follows from all the rest.
    pub(crate) fn new(
        test: &str,
        kind: Kind,
        standard: bool,
        words: String,
        parts: BTreeMap<String, String>,
    ) -> Self {
        let mut all = format!("{test}\n{kind:?}\n");
        for (key, value) in &parts {
            // Lengths keep values from being taken for keys.
            all += &format!("{}:{key}{}:{value}\n", key.len(), value.len());
        }
        let id = hash(&all);
        let test = test.to_owned();
        Self { test, kind, id, standard, quick: false, unfinished: false, words, parts }
    }

    fn marked(self, quick: bool, unfinished: bool) -> Self {
        Self { quick, unfinished, ..self }
    }
}

/// How long a run went on, in whole seconds of the drive's.
fn lasted(record: &RunRecord) -> Nanos {
    let ends = record.phases.iter().map(|phase| phase.start.0 + phase.length.0);
    Nanos::from_secs(ends.max().unwrap_or(0) / 1_000_000_000)
}

/// The beginning of a text's SHA-256.
pub(crate) fn hash(text: &str) -> String {
    let digest = Sha256::digest(text);
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    hex[..ID_DIGITS].to_owned()
}

/// In what the plan is not the method's, in words.
fn differing(record: &RunRecord) -> Vec<String> {
    let method = (record.plan.entry().plan)().asked();
    let asked = record.plan.asked();
    let mut keys: Vec<&String> = method.keys().chain(asked.keys()).collect();
    keys.sort();
    keys.dedup();
    keys.iter().flat_map(|key| told(plain(key), asked.get(*key), method.get(*key))).collect()
}

/// So many values of a list are told.
const LISTED_MAX: usize = 4;

/// In what a value is not the method's, in words; nothing where it is.
fn told(key: String, value: Option<&Value>, method: Option<&Value>) -> Vec<String> {
    let set = |value: Option<&Value>| value.filter(|value| !value.is_null()).cloned();
    let (value, method) = (set(value), set(method));
    if value == method {
        return Vec::new();
    }
    match value {
        None | Some(Value::Bool(false)) => vec![format!("no {key}")],
        Some(Value::Bool(true)) => vec![key],
        Some(Value::Object(own)) => {
            let nothing = serde_json::Map::new();
            let method = method.as_ref().and_then(Value::as_object).unwrap_or(&nothing);
            let mut keys: Vec<&String> = own.keys().chain(method.keys()).collect();
            keys.sort();
            keys.dedup();
            let each = |inner: &&String| {
                told(format!("{key} {}", plain(inner)), own.get(*inner), method.get(*inner))
            };
            keys.iter().flat_map(each).collect()
        }
        Some(Value::Array(own)) if own.iter().any(Value::is_object) => {
            let first = method.as_ref().and_then(|method| method.get(0));
            let mut listed: Vec<String> =
                own.iter().take(LISTED_MAX).map(|one| listed(&key, one, first)).collect();
            match own.len().saturating_sub(LISTED_MAX) {
                0 => {}
                more => listed.push(format!("{more} more")),
            }
            listed
        }
        Some(value) => vec![format!("{key} {}", shortened(&in_words(&value)))],
    }
}

/// One of several of a kind, such as jobs, held against the method's first: its name, and what it does
/// otherwise.
fn listed(key: &str, one: &Value, method: Option<&Value>) -> String {
    let name =
        one["name"].as_str().map_or_else(String::new, |name| format!(" {}", shortened(name)));
    let without_name = |value: &Value| {
        let mut value = value.clone();
        value.as_object_mut().map(|all| all.remove("name"));
        value
    };
    let differs = told(String::new(), Some(&without_name(one)), method.map(without_name).as_ref());
    let differs: Vec<&str> = differs.iter().map(|words| words.trim_start()).collect();
    match differs.is_empty() {
        true => format!("{key}{name}"),
        false => format!("{key}{name} ({})", differs.join(", ")),
    }
}

/// A value as parts: those of what is in it have keys of their own, `job 1 queue depth`, so that it can
/// be said where two differ.
fn take_apart(key: String, value: &Value, parts: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(all) => {
            for (inner, value) in all.iter().filter(|(_, value)| !value.is_null()) {
                take_apart(format!("{key} {}", plain(inner)), value, parts);
            }
        }
        Value::Array(all) if all.iter().any(Value::is_object) => {
            for (at, value) in all.iter().enumerate() {
                take_apart(format!("{key} {}", at + 1), value, parts);
            }
        }
        value => drop(parts.insert(key, in_words(value))),
    }
}

fn beside_the_plan(record: &RunRecord) -> Vec<(String, String)> {
    let mut parts = vec![
        ("method".to_owned(), record.method_version.to_string()),
        ("purge".to_owned(), purge(record).to_owned()),
    ];
    match record.drive.kind {
        DeviceKind::Simulated => parts.push((MODEL.to_owned(), record.tool_version.clone())),
        DeviceKind::File => parts.push(("device".to_owned(), "a file".to_owned())),
        DeviceKind::BlockDevice => parts.push(("device".to_owned(), "a drive".to_owned())),
        DeviceKind::Directory | DeviceKind::Null => {}
    }
    if let Some(from) = record.imported_from() {
        parts.push(("measured by".to_owned(), from.program.clone()));
        parts.push(("asked beside the plan".to_owned(), from.beside.join(", ")));
    }
    for trace in &record.traces {
        let identity = trace.identity.as_deref().unwrap_or("not told");
        parts.push((format!("trace {}", trace.name), format!("{identity}, {}", trace.operations)));
    }
    parts
}

/// What of that a person is told beside the plan.
fn remarks(record: &RunRecord) -> Vec<String> {
    let mut remarks = Vec::new();
    match record.drive.kind {
        DeviceKind::Simulated => remarks.push(format!("model of {}", record.tool_version)),
        DeviceKind::File => remarks.push("in a file".to_owned()),
        DeviceKind::BlockDevice | DeviceKind::Directory | DeviceKind::Null => {}
    }
    remarks.extend(record.imported_from().map(|from| format!("measured by {}", from.program)));
    if let Some(served) = record.served() {
        let load = served.load.as_deref().unwrap_or("a load that is not told");
        remarks.push(format!("as a block device: {load}, after {}", served.state));
    }
    if record.drive.kind != DeviceKind::Simulated && record.imported_from().is_none() {
        remarks.push(format!("purged by {}", purge(record)));
    }
    if record.method_version != record.plan.entry().method_version {
        remarks.push(format!("version {} of the method", record.method_version));
    }
    remarks
}

/// How fresh the drive was. A magnetic disk is that always; loop devices only say that they turn.
fn purge(record: &RunRecord) -> &'static str {
    let drive = &record.drive;
    let is_disk =
        drive.rotational && (drive.kind == DeviceKind::Simulated || drive.serial.is_some());
    match record.purge.as_ref().map(|purge| purge.how) {
        None if is_disk => FRESH,
        None => "nothing",
        Some(how) if how.is_firmware_erase() => FRESH,
        Some(Purge::HolePunch) => "hole punching",
        Some(how) => how.name(),
    }
}

fn plain(key: &str) -> String {
    key.replace('_', " ")
}

fn in_words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) if values.iter().all(|value| !value.is_object()) => {
            values.iter().map(in_words).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

/// So many characters of a value are told.
const CHARACTERS_MAX: usize = 60;

fn shortened(text: &str) -> String {
    match text.char_indices().nth(CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
