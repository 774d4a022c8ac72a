//! Zones of a span with shares of the I/Os, as fio reads them.

use super::Judged;
use super::value::Value;
use crate::{Amount, Distribution, Zone};

/// `zoned:50/5:30/15:20/`: percent of the I/Os and of the span, one zone after the other; with
/// `zoned_abs` bytes instead of the latter. What is not said is shared out alike of what is left of 100.
pub(super) fn distribution(value: &Value, in_bytes: bool) -> Judged<Distribution> {
    let (_, zones) = value.text.split_once(':').unwrap_or_default();
    if zones.contains(',') {
        return value.refuse(
            "zones for each operation are not supported; make a job of reads and one of writes, each \
             with its zones",
        );
    }
    if zones.is_empty() {
        return value.refuse("zones such as zoned:50/5:30/15:20/80 are needed");
    }
    let parts: Vec<(Option<u32>, Option<Amount>)> =
        zones.split(':').map(|text| part(value, text, in_bytes)).collect::<Judged<_>>()?;
    let ios = filled(value, "I/Os", parts.iter().map(|(ios, _)| *ios))?;
    let spans: Vec<Amount> = match in_bytes {
        true => match parts.iter().map(|(_, span)| *span).collect() {
            Some(spans) => spans,
            None => {
                return value.refuse("every zone needs its bytes, such as zoned_abs:60/20g:40/80g");
            }
        },
        false => {
            let percent = |(_, span): &(_, Option<Amount>)| match span {
                Some(Amount::Percent(percent)) => Some(*percent),
                _ => None,
            };
            filled(value, "the span", parts.iter().map(percent))?
                .into_iter()
                .map(Amount::Percent)
                .collect()
        }
    };
    let zone = |(ios, span)| Zone { ios, span };
    Ok(Distribution::Zoned(ios.into_iter().zip(spans).map(zone).collect()))
}

fn part(value: &Value, text: &str, in_bytes: bool) -> Judged<(Option<u32>, Option<Amount>)> {
    let (ios, span) = text.split_once('/').unwrap_or((text, ""));
    let percent = |text: &str| match text.trim() {
        "" => Ok(None),
        text => value.part(text).percent().map(|percent| Some(u32::from(percent))),
    };
    let span = match in_bytes && !span.trim().is_empty() {
        true => Some(Amount::Bytes(value.part(span).size()?)),
        false => percent(span)?.map(Amount::Percent),
    };
    Ok((percent(ios)?, span))
}

/// Percent that add up to 100, with what is left shared out among those that say nothing.
fn filled(
    value: &Value,
    of: &str,
    shares: impl Iterator<Item = Option<u32>> + Clone,
) -> Judged<Vec<u32>> {
    let said: u32 = shares.clone().flatten().sum();
    let silent = shares.clone().filter(Option::is_none).count() as u32;
    if said > 100 || (said < 100 && silent == 0) {
        return value.refuse(format!("the zones add up to {said} percent of {of}; make it 100"));
    }
    let rest = (100 - said).checked_div(silent).unwrap_or(0);
    Ok(shares.map(|share| share.unwrap_or(rest)).collect())
}
