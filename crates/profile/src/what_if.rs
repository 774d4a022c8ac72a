//! Drives made from one of the catalogue by changing something: what is different, what such a drive
//! is called, and what its box would no longer say.

use serde_json::{Map, Value};

use crate::{Identity, OF_VICTIM, Origin, Profile, ProfileError, of_values};

/// So many changes are told in a drive's name.
const CHANGES_NAMED: usize = 2;
/// A longer value is not told there.
const VALUE_MAX: usize = 24;

/// The drive with these keys changed (`section.key`); a `null` takes the key's default.
///
/// # Errors
/// [`ProfileError::Changed`] if a key or its value will not do, or the drive could not work.
pub fn changed(profile: &Profile, changes: &Map<String, Value>) -> Result<Profile, ProfileError> {
    let mut record = profile.record();
    for (key, value) in changes {
        let (section, name) = key.split_once('.').unwrap_or((key, ""));
        let section = record.values.entry(section).or_insert_with(|| Map::new().into());
        if let Value::Object(section) = section {
            if name == "victim" && section.get(name) != Some(value) {
                let is_given = |own: &&&str| changes.contains_key(&format!("gc.{own}"));
                OF_VICTIM.iter().filter(|own| !is_given(own)).for_each(|own| {
                    section.remove(*own);
                });
            }
            section.remove(name);
            if !value.is_null() {
                section.insert(name.to_owned(), value.clone());
            }
        }
    }
    let mut made = of_values(&record.values).map_err(|error| match error {
        ProfileError::Recorded { message } => ProfileError::Changed { message },
        other => other,
    })?;
    let keys: Vec<_> = changes.keys().cloned().collect();
    if let Some(name) = &record.catalogue {
        made = made_from(made, name, profile, &keys);
    }
    Ok(made)
}

/// `profile`, which a file made from the catalogue's drive `name` by giving `keys`.
pub(crate) fn made_from(
    mut profile: Profile,
    name: &str,
    original: &Profile,
    keys: &[String],
) -> Profile {
    let changes = changes(&profile.values(), &original.values(), keys);
    if !changes.is_empty() {
        let is_given = |key: &str| keys.iter().any(|given| given == key);
        let identity = profile.identity_mut();
        forget(identity, &changes, is_given);
        if !is_given("identity.model") {
            let words = in_words(&changes);
            identity.model = format!("{}, changed: {words}", original.identity().model);
        }
    }
    let changes = changes.into_iter().collect();
    *profile.origin_mut() = Origin { catalogue: Some(name.to_owned()), changes };
    profile
}

/// The given keys that make a difference, in the order of the file.
fn changes(
    own: &Map<String, Value>,
    original: &Map<String, Value>,
    keys: &[String],
) -> Vec<(String, Value)> {
    let at = |values: &Map<String, Value>, key: &str| {
        let (section, key) = key.split_once('.')?;
        values.get(section)?.get(key).cloned()
    };
    let has_effect = |key: &&String| !key.starts_with("identity.") || *key == "identity.capacity";
    let change = |key: &String| {
        let value = at(own, key);
        let is_changed = value != at(original, key);
        is_changed.then(|| (key.clone(), value.unwrap_or_default()))
    };
    keys.iter().filter(has_effect).filter_map(change).collect()
}

/// Nobody sold the changed drive: what its maker promised, and what it cost, is the original's.
fn forget(identity: &mut Identity, changes: &[(String, Value)], is_given: impl Fn(&str) -> bool) {
    if !is_given("identity.price_usd") {
        (identity.price_usd, identity.price_of) = (None, None);
    }
    if !is_given("identity.rated_writes") {
        identity.rated_writes = None;
    }
    if !is_given("identity.released") {
        identity.released = None;
    }
    let is_of_board =
        |(key, _): &(String, Value)| key.starts_with("nand.") || key == "identity.capacity";
    if changes.iter().any(is_of_board) && !is_given("identity.configuration") {
        identity.configuration = None;
    }
}

/// `gc.quantum = 4, gc.copy_dies = 8 and 3 more`; what goes wrong comes first.
fn in_words(changes: &[(String, Value)]) -> String {
    let (faults, others): (Vec<_>, Vec<_>) =
        changes.iter().partition(|(key, _)| key.starts_with("faults."));
    let named = faults.into_iter().chain(others).take(CHANGES_NAMED).map(|(key, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        if value.len() <= VALUE_MAX { format!("{key} = {value}") } else { key.clone() }
    });
    let named = named.collect::<Vec<_>>().join(", ");
    match changes.len().saturating_sub(CHANGES_NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn another_policy_of_victims_does_without_the_keys_of_the_one_before() {
        let evo = crate::load("samsung-840-evo-250gb").unwrap();
        let change = |key: &str, value| [(key.to_owned(), value)].into_iter().collect();
        let fifo = changed(&evo, &change("gc.victim", json!("fifo"))).unwrap();
        assert!(fifo.values()["gc"].get("choices").is_none_or(|choices| *choices == 1));
        let own: Map<String, Value> = [("gc.victim", json!("windowed")), ("gc.window", json!(30))]
            .map(|(k, v)| (k.to_owned(), v))
            .into_iter()
            .collect();
        assert_eq!(changed(&evo, &own).unwrap().values()["gc"]["window"], 30);
        let more = changed(&evo, &change("gc.choices", json!(4))).unwrap();
        assert_eq!(more.values()["gc"]["choices"], 4);
        let refused = changed(
            &evo,
            &[("gc.victim", json!("fifo")), ("gc.choices", json!(4))]
                .map(|(k, v)| (k.to_owned(), v))
                .into_iter()
                .collect(),
        );
        assert!(refused.unwrap_err().to_string().contains("only victim"), "asked for itself");
    }
}
