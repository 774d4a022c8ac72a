//! What figures were got under: all that has to be equal before they are ranked together.

use std::collections::BTreeMap;

use serde_json::Value;
use sha2::{Digest, Sha256};
use writecliff::RunRecord;
use writecliff::device::{DeviceKind, Purge};
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
            DeviceKind::Null => return None,
        };
        let quick = record.is_quick() || record.options.quick;
        let unfinished = record.status != Status::Complete;
        let differs = differing(record);
        let mut parts: BTreeMap<String, String> =
            record.plan.asked().iter().map(|(key, value)| (plain(key), in_words(value))).collect();
        parts.extend(beside_the_plan(record));
        if quick {
            parts.insert("quick".to_owned(), "yes".to_owned());
        }
        if unfinished {
            parts.insert("ended".to_owned(), "no".to_owned());
        }
        let mut words = Vec::new();
        words.extend(quick.then(|| "quick, not a result".to_owned()));
        words.extend(unfinished.then(|| "not finished".to_owned()));
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
    let told = |key: &&String| {
        let value = asked.get(*key);
        (value != method.get(*key)).then(|| match value {
            None => format!("no {}", plain(key)),
            Some(value) => format!("{} {}", plain(key), shortened(&in_words(value))),
        })
    };
    keys.iter().filter_map(told).collect()
}

fn beside_the_plan(record: &RunRecord) -> Vec<(String, String)> {
    let mut parts = vec![
        ("method".to_owned(), record.method_version.to_string()),
        ("purge".to_owned(), purge(record).to_owned()),
    ];
    match record.drive.kind {
        DeviceKind::Simulated => parts.push((MODEL.to_owned(), record.tool_version.clone())),
        DeviceKind::File => parts.push(("device".to_owned(), "a file".to_owned())),
        DeviceKind::BlockDevice | DeviceKind::Null => {}
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
        DeviceKind::BlockDevice | DeviceKind::Null => {}
    }
    remarks.extend(record.imported_from().map(|from| format!("measured by {}", from.program)));
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
