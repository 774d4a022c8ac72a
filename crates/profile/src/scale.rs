//! Scale models: a drive with a part of the capacity that behaves as the whole one does, in the same
//! part of the time.
//!
//! What is made smaller is the block, not the number of blocks: garbage collection chooses among as
//! many, keeps as many free and has as many open, so its levels and its thresholds stay what they
//! are. Whatever follows from how much was written passes so many times as fast. `docs/model.md` has
//! what that leaves out, and how far off it is.

use crate::what_if::made_from;
use crate::{MappingKind, Profile, ProfileError, SsdProfile};
use writecliff_device::{Bytes, Nanos};

/// What is divided.
const KEYS: [&str; 9] = [
    "identity.capacity",
    "nand.pages_per_block",
    "nand.erase_time",
    "slc_buffer.size",
    "slc_buffer.erase_time",
    "mapping.cache",
    "host_cache.size",
    "host_cache.dirty",
    "faults.real_capacity",
];

/// The drive with one part in `parts` of its capacity.
///
/// # Errors
/// [`ProfileError::NoScaleModel`] of a drive that cannot be divided so.
pub fn scaled(profile: &Profile, parts: u32) -> Result<Profile, ProfileError> {
    let model = profile.identity().model.clone();
    let refused = |reason: String| ProfileError::NoScaleModel { model: model.clone(), reason };
    let Profile::Ssd(whole) = profile else {
        return Err(refused("it is a magnetic disk, whose arm has the same way to go".to_owned()));
    };
    let part = divided(whole, parts).map_err(refused)?;
    let mut part = match &whole.origin.catalogue {
        Some(name) => made_from(part, name, profile, &KEYS.map(str::to_owned)),
        None => part,
    };
    // What was changed of the whole drive is changed of its part, divided or not.
    let changes = &mut part.origin_mut().changes;
    for (key, value) in &whole.origin.changes {
        changes.entry(key.clone()).or_insert_with(|| value.clone());
    }
    let identity = part.identity_mut();
    identity.model = format!("{model}, 1/{parts} scale model");
    // What is on the whole drive's board is on nobody's.
    (identity.dram, identity.configuration) = (None, None);
    match part.impossibility() {
        Some((_, reason)) => Err(refused(reason)),
        None => Ok(part),
    }
}

fn divided(whole: &SsdProfile, parts: u32) -> Result<Profile, String> {
    let pages = whole.nand.pages_per_block;
    if whole.mapping.kind == MappingKind::Block {
        return Err("its map is of blocks, and smaller ones are merged faster".to_owned());
    }
    if parts == 0 || !pages.is_multiple_of(parts) {
        let possible = (1..=pages).filter(|parts| pages.is_multiple_of(*parts));
        let possible = possible.map(|parts| format!("1/{parts}")).collect::<Vec<_>>().join(", ");
        return Err(format!("a block of {pages} pages can be divided to {possible}"));
    }
    let bytes = |all: Bytes| Bytes(all.0 / u64::from(parts));
    let whole_units =
        |all: Bytes| whole.mapping.unit * (bytes(all).0 / whole.mapping.unit.0.max(1));
    let time = |all: Nanos| Nanos(all.0 / u64::from(parts));
    let mut part = whole.clone();
    part.identity.capacity = whole_units(whole.identity.capacity);
    part.nand.pages_per_block = pages / parts;
    part.nand.erase_time = time(whole.nand.erase_time);
    part.slc_buffer.size = bytes(whole.slc_buffer.size);
    part.slc_buffer.erase_time = time(whole.slc_buffer.erase_time);
    part.mapping.cache = whole.mapping.cache.map(whole_units);
    part.host_cache.size = bytes(whole.host_cache.size);
    part.host_cache.dirty = bytes(whole.host_cache.dirty);
    part.faults.real_capacity = whole.faults.real_capacity.map(whole_units);
    Ok(Profile::Ssd(Box::new(part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of a scale model says what of the whole drive was changed before.
    #[test]
    fn what_was_changed_of_the_whole_is_changed_of_its_part() {
        let whole = crate::load("samsung-840-evo-250gb").unwrap();
        let given = [("firmware.copy_time".to_owned(), "20us".into())];
        let changed = crate::changed(&whole, &given.into_iter().collect()).unwrap();
        let part = scaled(&changed, 16).unwrap().record();
        assert_eq!(part.changes["firmware.copy_time"], "20us");
        assert!(part.changes.contains_key("identity.capacity"));
    }
}
