//! A profile as a run keeps it, and the way back from there.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use writecliff_device::{ProfileRecord, printable};

use crate::{Profile, ProfileError, ProfileFile};

/// What a profile that a run has kept is called where a file would have a name.
const RECORDED: &str = "the recorded profile";

/// Where a profile comes from. Nothing that the drive does follows from it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// The drive of the catalogue that it is, or that it was made from.
    pub catalogue: Option<String>,
    /// The keys in which it differs from that, with their values.
    pub changes: Map<String, Value>,
}

impl Origin {
    /// What a run keeps of a profile that comes from here.
    pub(crate) fn record(&self, profile: &impl Serialize) -> ProfileRecord {
        let values = values_of(profile);
        let Self { catalogue, changes } = self.clone();
        ProfileRecord { catalogue, changes, sha256: sha256(&values), values }
    }
}

/// The profile that a run has kept.
///
/// # Errors
/// [`ProfileError::Altered`] if it is not what was kept, [`ProfileError::Recorded`] if this version
/// of the model has no such drive.
pub fn recorded(record: &ProfileRecord) -> Result<Profile, ProfileError> {
    if sha256(&record.values) != record.sha256 {
        return Err(ProfileError::Altered { expected: record.sha256.clone() });
    }
    let mut profile = of_values(&record.values)?;
    let ProfileRecord { catalogue, changes, .. } = record.clone();
    *profile.origin_mut() = Origin { catalogue, changes };
    Ok(profile)
}

/// The profile that has these values.
pub(crate) fn of_values(values: &Map<String, Value>) -> Result<Profile, ProfileError> {
    let unknown = |message: String| ProfileError::Recorded { message };
    let values = toml::Table::deserialize(Value::Object(values.clone()))
        .map_err(|error| unknown(error.to_string()))?;
    ProfileFile::of_values(RECORDED, values).check().map_err(|error| unknown(error.reason()))
}

/// Every key with its value. Texts are kept as every reader of a record would show them.
pub(crate) fn values_of(profile: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(profile) {
        Ok(Value::Object(values)) => {
            values.into_iter().map(|(key, value)| (key, shown(value))).collect()
        }
        other => unreachable!("a profile is a table of plain data: {other:?}"),
    }
}

fn shown(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(printable(&text.replace(char::is_whitespace, " "))),
        Value::Array(values) => values.into_iter().map(shown).collect(),
        Value::Object(values) => {
            values.into_iter().map(|(key, value)| (key, shown(value))).collect()
        }
        plain => plain,
    }
}

/// The hash of such values, as [`ProfileRecord::sha256`] says.
pub fn sha256(values: &Map<String, Value>) -> String {
    let mut values = values.clone();
    // Nothing follows from that but by the time that it takes: results stay those of the same drive
    // when somebody finds out what it says of its secrecy.
    if values.get("security").is_some_and(|security| security.get("page_time").is_none()) {
        values.remove("security");
    }
    let canonical = Value::Object(values).to_string();
    Sha256::digest(canonical).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use writecliff_device::Nanos;

    use super::*;
    use crate::{Engine, Security, catalogue, load};

    #[test]
    fn every_drive_comes_back_from_its_record_without_loss() {
        for name in catalogue() {
            let profile = load(name).unwrap();
            let record = profile.record();
            // As a file of JSON would bring it.
            let text = serde_json::to_string_pretty(&record).unwrap();
            let read: ProfileRecord = serde_json::from_str(&text).unwrap();
            assert_eq!(read, record, "{name}");
            assert_eq!(recorded(&read).unwrap(), profile, "{name}");
        }
    }

    #[test]
    fn the_hash_is_that_of_sorted_json_without_spaces() {
        let Value::Object(values) = serde_json::json!({"b": {"d": "x", "c": 1.5}, "a": [true]})
        else {
            unreachable!()
        };
        // printf '{"a":[true],"b":{"c":1.5,"d":"x"}}' | sha256sum
        let expected = "41f0a5ffccb3774444a6fe17aec4114b7ac5ae5598b6b9197049b9c9e2ec11da";
        assert_eq!(sha256(&values), expected);
    }

    #[test]
    fn what_a_drive_says_of_its_secrecy_makes_no_other_drive_unless_it_takes_time() {
        let Profile::Ssd(tiny) = load("tiny").unwrap() else { unreachable!() };
        let hash = |security: Security| {
            let mut own = tiny.clone();
            own.security = security;
            Profile::Ssd(own).record().sha256
        };
        let said = Security { engine: Engine::Always, ..Security::default() };
        assert_eq!(hash(said.clone()), load("tiny").unwrap().record().sha256);
        let slow = Security { page_time: Nanos(1), ..said.clone() };
        assert_ne!(hash(slow), hash(said));
    }

    #[test]
    fn a_record_that_was_changed_is_refused() {
        let mut record = load("tiny").unwrap().record();
        record.values["gc"]["quantum"] = 99.into();
        let message = recorded(&record).unwrap_err().to_string();
        assert!(message.contains("sha256") && message.contains(&record.sha256), "{message}");
    }

    #[test]
    fn a_record_with_keys_of_another_version_says_so() {
        let mut record = load("tiny").unwrap().record();
        record.values["gc"]["oracle"] = true.into();
        record.sha256 = sha256(&record.values);
        let message = recorded(&record).unwrap_err().to_string();
        assert!(message.contains("gc.oracle: unknown field"), "{message}");
        assert!(message.contains("the version"), "{message}");
    }
}
