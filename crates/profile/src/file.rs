//! Profile files: TOML that may inherit from another profile and then says only what differs.
//!
//! Unknown keys, missing keys and drives that cannot work are refused with the file and the line
//! to mend.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use toml::de::{DeTable, DeValue, Deserializer};
use writecliff_device::{ErrorKind, with_nearest};

use crate::{Impossibility, Profile};

/// Keys of [`Gc`](super::Gc) that belong to one policy of victims.
pub(crate) const OF_VICTIM: [&str; 2] = ["choices", "window"];

/// The price of a drive, and when and where it was asked: of the drive of this name and no other.
const PRICE: [&str; 2] = ["price_usd", "price_of"];

/// What makes other dies, or another number of them.
const GEOMETRY: [&str; 4] = ["channels", "dies_per_channel", "planes", "blocks_per_plane"];

/// A profile file's values, each key with the place that it was read from.
#[derive(Debug)]
pub(crate) struct ProfileFile {
    file: String,
    pub(crate) inherits: Option<String>,
    /// Keys of the base that are not known of this drive, as `section.key`, each with whether a base
    /// had it.
    forgets: BTreeMap<String, bool>,
    values: toml::Table,
    places: BTreeMap<String, Place>,
}

#[derive(Debug, Clone)]
struct Place {
    file: String,
    line: usize,
}

impl ProfileFile {
    /// Reads one file's text; keys are not judged yet.
    pub(crate) fn parse(file: &str, text: &str) -> Result<Self, ProfileError> {
        let syntax = |line, message: &str| ProfileError::Syntax {
            file: file.to_owned(),
            line,
            message: message.to_owned(),
        };
        let line_ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
        let line_of = |offset: usize| 1 + line_ends.partition_point(|end| *end < offset);
        let at = |error: toml::de::Error| {
            let start = error.span().map_or(0, |span| span.start);
            syntax(line_of(start), error.message())
        };
        let mut places = BTreeMap::new();
        let tables = DeTable::parse(text).map_err(at)?;
        for (key, value) in tables.get_ref() {
            let line = line_of(key.span().start);
            places.insert(key.get_ref().to_string(), Place { file: file.to_owned(), line });
            let DeValue::Table(section) = value.get_ref() else {
                continue;
            };
            for inner in section.keys() {
                let path = format!("{}.{}", key.get_ref(), inner.get_ref());
                let line = line_of(inner.span().start);
                places.insert(path, Place { file: file.to_owned(), line });
            }
        }
        let mut values = toml::Table::deserialize(Deserializer::from(tables)).map_err(at)?;
        let inherits = match values.remove("inherits") {
            None => None,
            Some(toml::Value::String(name)) => Some(name),
            Some(other) => {
                let line = places["inherits"].line;
                let message = format!("'inherits' takes a profile's name, not {other}");
                return Err(syntax(line, &message));
            }
        };
        let forgets = match values.remove("forgets") {
            None => Vec::new(),
            Some(value) => value.clone().try_into::<Vec<String>>().map_err(|_| {
                let message = format!(
                    "'forgets' takes keys of the base such as \"identity.dram\", not {value}"
                );
                syntax(places["forgets"].line, &message)
            })?,
        };
        let forgets = forgets.into_iter().map(|key| (key, false)).collect();
        Ok(Self { file: file.to_owned(), inherits, forgets, values, places })
    }

    /// Values that come from no file, called `name` in messages.
    pub(crate) fn of_values(name: &str, values: toml::Table) -> Self {
        let (inherits, forgets) = (None, BTreeMap::new());
        Self { file: name.to_owned(), inherits, forgets, values, places: BTreeMap::new() }
    }

    /// The keys that the file gives, as `section.key`, in its order.
    pub(crate) fn keys(&self) -> Vec<String> {
        let mut keys: Vec<_> = self.places.iter().filter(|(key, _)| key.contains('.')).collect();
        keys.sort_by_key(|(_, place)| place.line);
        keys.into_iter().map(|(key, _)| key.clone()).collect()
    }

    /// The file, for messages.
    pub(crate) fn name(&self) -> &str {
        &self.file
    }

    /// This file's values, and the base's where this file is silent. A mechanism of another kind
    /// shares nothing with the base's, another policy of victims not the other one's own keys.
    pub(crate) fn over(mut self, mut base: Self) -> Self {
        self.forget_what_was_the_base_s(&mut base);
        for (section, value) in self.values {
            match (base.values.get_mut(&section), value) {
                (Some(toml::Value::Table(below)), toml::Value::Table(above)) => {
                    if above.get("kind").is_some_and(|kind| Some(kind) != below.get("kind")) {
                        below.clear();
                    }
                    if above.get("victim").is_some_and(|victim| Some(victim) != below.get("victim"))
                    {
                        OF_VICTIM.iter().for_each(|key| drop(below.remove(*key)));
                    }
                    below.extend(above);
                }
                (_, value) => drop(base.values.insert(section, value)),
            }
        }
        // What it forgets of its base it forgets of that one's base as well.
        base.forgets.extend(self.forgets);
        base.places.extend(self.places);
        Self { file: self.file, inherits: base.inherits, ..base }
    }

    /// What is said to be unknown of it. A drive of another name has not the base's price, and one of other dies not what a review
    /// listed of the base's.
    fn forget_what_was_the_base_s(&mut self, base: &mut Self) {
        for (path, was_there) in &mut self.forgets {
            let (section, key) = path.split_once('.').unwrap_or((path, ""));
            if let Some(toml::Value::Table(below)) = base.values.get_mut(section) {
                *was_there |= below.remove(key).is_some();
            }
        }
        let gives = |section, key| {
            self.values.get(section).is_some_and(|own: &toml::Value| own.get(key).is_some())
        };
        let Some(toml::Value::Table(identity)) = base.values.get_mut("identity") else { return };
        if gives("identity", "model") {
            let has_price = gives("identity", "price_usd");
            identity.retain(|key, _| has_price || !PRICE.contains(&key));
            identity.remove("fitted");
        }
        if GEOMETRY.iter().any(|key| gives("nand", key)) && !gives("identity", "configuration") {
            identity.remove("configuration");
        }
    }

    /// The profile, every key known and present, and the drive able to work.
    pub(crate) fn check(self) -> Result<Profile, ProfileError> {
        let Self { file, values, places, forgets, .. } = self;
        // A key that nobody wrote is looked for where its section begins.
        let place_of = |path: &str| {
            let section = path.split('.').next().unwrap_or(path);
            let place = places.get(path).or_else(|| places.get(section));
            place.cloned().unwrap_or_else(|| Place { file: file.clone(), line: 1 })
        };
        if let Some((key, _)) = forgets.iter().find(|(_, was_there)| !**was_there) {
            let Place { file, line } = place_of("forgets");
            let message = format!("forgets: no profile that this one inherits from has '{key}'");
            return Err(ProfileError::Syntax { file, line, message });
        }
        let is_disk = values.contains_key("mechanics");
        let profile = if is_disk {
            serde_path_to_error::deserialize(values).map(|disk| Profile::Disk(Box::new(disk)))
        } else {
            serde_path_to_error::deserialize(values).map(|ssd| Profile::Ssd(Box::new(ssd)))
        };
        let profile = profile.map_err(|error: serde_path_to_error::Error<toml::de::Error>| {
            let path = error.path().to_string();
            let Place { file, line } = place_of(&path);
            let message = told(path.trim_start_matches('.'), error.inner().message());
            ProfileError::Syntax { file, line, message }
        })?;
        if let Some((keys, reason)) = nameless(&profile).or_else(|| profile.impossibility()) {
            // The user's own file is to blame rather than the one that it inherits from.
            let is_own = |key: &&&str| places.get(**key).is_some_and(|place| place.file == file);
            let key = keys.iter().find(is_own).copied().unwrap_or(keys[0]);
            let Place { file, line } = place_of(key);
            return Err(ProfileError::Impossible { file, line, key, reason });
        }
        Ok(profile)
    }
}

/// A drive without a name could not be told from another on any page.
fn nameless(profile: &Profile) -> Option<Impossibility> {
    let is_nameless = profile.identity().model.trim().is_empty();
    is_nameless.then(|| (vec!["identity.model"], "it has no name; give it one".to_owned()))
}

/// What the parser said of the section or key at this path, which is empty for the file as a whole.
fn told(path: &str, message: &str) -> String {
    // The parser never sees the one key that is of the file itself.
    let message = match path.contains('.') {
        false => message.replacen("expected one of", "expected one of `inherits`,", 1),
        true => message.to_owned(),
    };
    let message = with_nearest(&message);
    match path {
        "" if message.starts_with("missing field") => {
            format!("{message}; say so, or say `inherits = \"NAME\"` with a drive that is alike")
        }
        "" => message,
        path => format!("{path}: {message}"),
    }
}

/// Why a profile cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// No catalogue entry has this name.
    #[error(
        "no simulated drive is called '{name}'; {}`writecliff drives` lists them all, and \
         sim:PATH.toml loads your own",
        if nearest.is_empty() { String::new() } else { format!("did you mean {}? ", nearest.join(" or ")) }
    )]
    Unknown {
        /// The name asked for.
        name: String,
        /// Catalogue names that are spelled alike, nearest first.
        nearest: Vec<String>,
    },
    /// The file cannot be read.
    #[error("cannot read the drive profile {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// Not TOML, an unknown or missing key, or a value of the wrong kind.
    #[error("{file}:{line}: {message}")]
    Syntax {
        /// The file.
        file: String,
        /// The line in it.
        line: usize,
        /// What the parser found and what it expected.
        message: String,
    },
    /// A drive that could not work.
    #[error("{file}:{line}: '{key}' makes a drive that cannot work: {reason}")]
    Impossible {
        /// The file that says it.
        file: String,
        /// The line in it.
        line: usize,
        /// The key.
        key: &'static str,
        /// What cannot work and what would.
        reason: String,
    },
    /// A run's profile that is not the one that the run began with.
    #[error(
        "the recorded profile was changed after the run: its sha256 is no longer {expected}; write \
         the drive that you mean as a profile of its own, sim:PATH.toml"
    )]
    Altered {
        /// The hash that was kept with it.
        expected: String,
    },
    /// A run's profile that this version cannot build.
    #[error(
        "this version of writecliff cannot build the recorded drive: {message}; use the version \
         that made the run"
    )]
    Recorded {
        /// The key, and what is wrong with it.
        message: String,
    },
    /// A drive with keys changed that there is not, or that could not work.
    #[error("no drive can be changed like that: {message}")]
    Changed {
        /// The key, and what is wrong with it.
        message: String,
    },
    /// A drive that would behave otherwise if it were smaller.
    #[error("there is no such scale model of {model}: {reason}")]
    NoScaleModel {
        /// The drive.
        model: String,
        /// What is in the way, or what is possible.
        reason: String,
    },
    /// Profiles that inherit from each other.
    #[error("{file}: inherits from itself by way of '{parent}'; break the circle")]
    InheritsItself {
        /// The file that was loaded.
        file: String,
        /// The parent that closes the circle.
        parent: String,
    },
}

impl ProfileError {
    /// What is wrong, without the place: a record has no lines to mend.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Syntax { message, .. } => message.clone(),
            Self::Impossible { key, reason, .. } => format!("{key}: {reason}"),
            other => other.to_string(),
        }
    }

    /// A name or a file that will not do: always usage.
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        let tiny = include_str!("../../../drives/tiny.toml");
        let base = ProfileFile::parse("tiny.toml", tiny).unwrap();
        ProfileFile::parse("own.toml", text).unwrap().over(base).check().unwrap_err().to_string()
    }

    #[test]
    fn the_key_of_the_file_itself_is_known_when_it_is_mistyped() {
        let message = refused("inherit = \"tiny\"\n");
        let expected = "own.toml:1: inherit: unknown field `inherit`; did you mean inherits?";
        assert_eq!(message, expected);
    }

    #[test]
    fn what_no_base_has_cannot_be_forgotten() {
        for key in ["identity.drum", "identity", "nand.name"] {
            let message = refused(&format!("forgets = [\"nand.name\", \"{key}\"]\n"));
            let reason = match key {
                // It cannot do without.
                "nand.name" => "missing field".to_owned(),
                _ => format!(
                    "own.toml:1: forgets: no profile that this one inherits from has '{key}'"
                ),
            };
            assert!(message.contains(&reason), "{message}");
        }
    }

    #[test]
    fn a_drive_has_a_name() {
        for name in ["", "  "] {
            let message = refused(&format!("[identity]\nmodel = \"{name}\"\n"));
            assert!(message.starts_with("own.toml:2: 'identity.model'"), "{message}");
        }
    }
}
