//! Block sizes with shares, as fio reads them: what it takes without a word is noted here.

use writecliff_device::Bytes;

use super::value::Value;
use super::{Judged, Note};
use crate::{Share, Sizes};

/// A size and its percent; `None` for its part of what the others leave.
type Part = (Bytes, Option<u32>);

/// `4k/60:64k/:1m/`: sizes with percent; those without share the rest.
pub(super) fn sizes(value: &Value, notes: &mut Vec<Note>) -> Judged<Sizes> {
    let parts: Vec<Part> =
        value.text.split(':').map(|text| part(value, text)).collect::<Judged<_>>()?;
    let said: u32 = parts.iter().filter_map(|(_, share)| *share).sum();
    let silent = parts.iter().filter(|(_, share)| share.is_none()).count() as u32;
    if said > 100 && silent > 0 {
        return value.refuse(format!("the shares add up to {said} percent; make it 100"));
    }
    let mut note = |text: String| {
        notes.push(Note { line: value.line, option: value.option.to_owned(), text });
    };
    if said != 100 && silent == 0 {
        note(format!(
            "the shares add up to {said} percent: as in fio, what is missing is the last one's, and \
             what is beyond 100 nobody's"
        ));
    }
    let smallest = parts.iter().map(|(size, _)| size.0).min().unwrap_or(1).max(1);
    if value.text.contains('-') || parts.iter().any(|(size, _)| !size.0.is_multiple_of(smallest)) {
        note(
            "of a range fio takes the beginning, and rounds sizes down to multiples of the shortest"
                .to_owned(),
        );
    }
    let rounded = parts.iter().map(|(size, _)| Bytes(size.0 / smallest * smallest));
    let weights = weights(&parts, said, silent);
    let shares = rounded.zip(weights).map(|(size, weight)| Share { size, weight });
    Ok(Sizes::Split(shares.collect()))
}

/// `36k-60k/29` is `36k/29` to fio.
fn part(value: &Value, text: &str) -> Judged<Part> {
    let (size, share) = text.split_once('/').unwrap_or((text, ""));
    let size = size.split('-').next().unwrap_or_default();
    let percent = match share.trim().trim_end_matches(['.', '%']) {
        "" => None,
        share => Some(u32::from(value.part(share).percent()?)),
    };
    Ok((value.part(size).size()?, percent.filter(|percent| *percent > 0)))
}

/// What every size gets of the draw, the first before the last; in parts of a percent, so that the
/// rest divides evenly.
fn weights(parts: &[Part], said: u32, silent: u32) -> Vec<u32> {
    let pieces = silent.max(1);
    let mut left = 100 * pieces;
    let mut weights: Vec<u32> = Vec::new();
    for (_, share) in parts {
        let weight = share.map_or(100_u32.saturating_sub(said), |share| share * pieces).min(left);
        left -= weight;
        weights.push(weight);
    }
    if let Some(last) = weights.last_mut() {
        *last += left;
    }
    weights
}
